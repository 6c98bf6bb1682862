"use strict";
// Values on hover, on touch and with the arrow keys; tables to copy; figures to keep. Without this
// script the page is complete but still.
(() => {
  const make = (parent, tag, className) => {
    const element = document.createElement(tag);
    element.className = className;
    element.hidden = true;
    parent.append(element);
    return element;
  };

  // What a row of a figure's table says, as a list of "name: value".
  const facts = (figure, row) => {
    const heads = figure.querySelectorAll("thead th");
    const cells = figure.querySelectorAll("tbody tr")[row]?.cells ?? [];
    return Array.from(cells, (cell, i) => [heads[i].textContent, cell.textContent])
      .filter(([, value]) => value !== "")
      .map(([head, value]) => `${head}: ${value}`);
  };

  const read = (plot, figure) => {
    const spots = JSON.parse(plot.dataset.spots);
    const size = plot.querySelector("svg").viewBox.baseVal;
    const dot = make(plot, "div", "dot");
    const tip = make(plot, "div", "tip");
    const says = figure.querySelector(".says");
    let at = -1;

    const hide = () => { dot.hidden = tip.hidden = true; at = -1; };
    const show = (index, aloud) => {
      at = index;
      const [row, x, y] = spots[index];
      const lines = facts(figure, row);
      const [left, top] = [100 * x / size.width, 100 * y / size.height];
      dot.style.left = `${left}%`;
      dot.style.top = `${top}%`;
      tip.replaceChildren(...lines.map((line) => {
        const span = document.createElement("span");
        span.textContent = line;
        return span;
      }));
      dot.hidden = tip.hidden = false;
      // Beside the point, on the side with more room, and never beyond the window.
      const box = plot.getBoundingClientRect();
      const [px, py] = [box.width * left / 100, box.height * top / 100];
      const beside = left > 50 ? px - tip.offsetWidth - 14 : px + 14;
      const most = Math.max(0, document.documentElement.clientWidth - box.left - tip.offsetWidth - 4);
      tip.style.left = `${Math.min(Math.max(beside, -box.left + 4), most)}px`;
      tip.style.top = `${Math.max(0, Math.min(py - tip.offsetHeight / 2, box.height - tip.offsetHeight))}px`;
      if (aloud) says.textContent = `${lines.join(", ")} (${index + 1} of ${spots.length})`;
    };

    const near = (event) => {
      const box = plot.getBoundingClientRect();
      const scale = size.width / box.width;
      const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      let [best, least] = [-1, (48 * scale) ** 2];
      spots.forEach(([, sx, sy], index) => {
        const distance = (sx - x) ** 2 + ((sy - y) / 2.5) ** 2;
        if (distance < least) [best, least] = [index, distance];
      });
      if (best < 0) hide(); else if (best !== at) show(best, false);
    };
    plot.addEventListener("pointermove", near);
    plot.addEventListener("pointerdown", near);
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      const last = spots.length - 1;
      const steps = {
        ArrowRight: Math.min(at + 1, last), ArrowDown: Math.min(at + 1, last),
        ArrowLeft: at < 0 ? last : Math.max(at - 1, 0), ArrowUp: at < 0 ? last : Math.max(at - 1, 0),
        Home: 0, End: last,
      };
      if (event.key === "Escape") hide();
      else if (event.key in steps) { show(steps[event.key], true); event.preventDefault(); }
    });
  };

  const keep = (href, name) => {
    const link = document.createElement("a");
    link.href = href;
    link.download = name;
    link.click();
  };
  // The colours in the document itself are those for paper, whatever the page shows.
  const source = (figure) => new XMLSerializer().serializeToString(figure.querySelector(".plot svg"));
  const data = (svg) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;

  const actions = {
    svg(figure) { keep(data(source(figure)), `${figure.id}.svg`); },
    png(figure) {
      const image = new Image();
      image.onload = () => {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [3 * image.width, 3 * image.height];
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        keep(canvas.toDataURL("image/png"), `${figure.id}.png`);
      };
      image.src = data(source(figure));
    },
    async copy(figure, button) {
      const rows = figure.querySelectorAll("tr");
      const text = Array.from(rows, (row) => Array.from(row.cells, (c) => c.textContent).join("\t")).join("\n");
      const field = document.createElement("textarea");
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        field.value = text;
        document.body.append(field);
        field.select();
        document.execCommand("copy");
        field.remove();
      }
      const before = button.textContent;
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = before; }, 1500);
    },
  };

  for (const figure of document.querySelectorAll("figure")) {
    figure.querySelectorAll(".plot[data-spots]").forEach((plot) => read(plot, figure));
    for (const button of figure.querySelectorAll("button[data-do]")) {
      button.hidden = false;
      button.addEventListener("click", () => actions[button.dataset.do](figure, button));
    }
  }
})();
