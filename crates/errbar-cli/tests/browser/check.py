"""Pages of errbar in a browser: no complaint, no request, figures seen, values on hover and by key.

    python3 check.py target/release/errbar

Runs where Chromium is found and says so where it is not (a failure when ERRBAR_BROWSER=required).
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import chromium

ROOT = pathlib.Path(__file__).resolve().parents[4]
HOSTILE = ["<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>", "x" * 10_000,
           "\u062f\u0631\u062c\u0629 \u202egnp.exe", "</title></style></script>"]

# Run inside the page. Contrast as WCAG 2 has it.
CONTRAST = """(() => {
  const parts = (color) => color.match(/[0-9.]+/g).slice(0, 3).map(Number);
  const light = (color) => {
    const [r, g, b] = parts(color).map((c) => c / 255)
      .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const ratio = (color) => {
    const [a, b] = [light(color), paper].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const words = [...document.querySelectorAll("h1, h2, h3, p, p b, li, td, th, dt, dd, a, summary, figcaption")]
    .map((e) => getComputedStyle(e).color);
  const drawn = [...document.querySelectorAll(".plot svg text")].map((e) => getComputedStyle(e).fill);
  return Math.min(...[...words, ...drawn].map(ratio));
})()"""


def write(path, heads, rows):
    quote = lambda value: '"' + str(value).replace('"', '""') + '"'
    lines = [",".join(map(quote, line)) for line in [heads, *rows]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def pages(program, folder):
    """The pages to look at: by name, their path and how many figures they have."""
    def errbar(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    chance = random.Random(5)
    errbar("demo", "--out", folder / "demo")
    table = folder / "overconfident.csv"
    rows = []
    for i in range(600):
        x = chance.random()
        forecast, sigma = 20 + 5 * x, 0.4 * (1 + x)
        seen = forecast + chance.gauss(0, 1 + x)
        day = f"2024-{1 + i // 50:02}-{1 + i // 2 % 25:02}T{12 * (i % 2):02}:00"
        rows.append([day, "north" if i % 3 else "south", x, forecast, seen, sigma])
    heads = ["time", "station", "x", "forecast", "observation", "sigma", "lead", "lat", "lon"]
    places = [(-17 + i % 4, 178 + i % 5) for i in range(600)]
    write(table, heads, [[*row, 6 * (i % 3), *places[i]] for i, row in enumerate(rows)])
    errbar("report", table, "--time", "time", "--by", "station", "--inputs", "x", "--event", "> 23",
           "-o", folder / "overconfident.html")
    hostile = folder / "hostile.csv"
    rows = [[*row[2:], HOSTILE[i % len(HOSTILE)]] for i, row in enumerate(rows)]
    write(hostile, HOSTILE, rows)
    errbar("report", hostile, "--forecast", HOSTILE[1], "--observation", HOSTILE[2], "--sigma", HOSTILE[3],
           "--by", HOSTILE[4], "--title", HOSTILE[0], "-o", folder / "hostile.html")
    errbar("reproduce", "--runs", 2, "--only", "claims", "--out", folder / "reproduction", "--quiet")
    return {
        "demo": (folder / "demo" / "report.html", 11),
        "overconfident": (folder / "overconfident.html", 19),
        "hostile": (folder / "hostile.html", 11),
        "reproduction": (folder / "reproduction" / "index.html", 3),
    }


def check(what, holds, found=""):
    if not holds:
        raise AssertionError(f"{what} {found}")


def check_figures(page, count):
    sizes = page.run("""[...document.querySelectorAll("figure")].map((figure) =>
        [...figure.querySelectorAll(".plot > svg")].map((svg) => svg.getBoundingClientRect())
          .filter((box) => box.width > 200 && box.height > 60).length)""")
    check(f"{count} figures are seen, each once", sizes == [1] * count, sizes)


def check_hover(page):
    """The pointer on a point shows its row, for the first and the last point of every figure."""
    plots = page.run("""document.querySelectorAll(".plot[data-spots]").length""")
    for plot in range(plots):
        for which in (0, -1):
            place = page.run(f"""(() => {{
              const plot = document.querySelectorAll(".plot[data-spots]")[{plot}];
              if (!plot.getClientRects().length) return null;
              plot.scrollIntoView({{ block: "center", behavior: "instant" }});
              const size = plot.querySelector("svg").viewBox.baseVal;
              const [row, x, y] = JSON.parse(plot.dataset.spots).at({which});
              // A figure may be taller than a phone.
              const top = plot.getBoundingClientRect().top + y * plot.getBoundingClientRect().width / size.width;
              scrollBy({{ top: top - innerHeight / 2, behavior: "instant" }});
              const box = plot.getBoundingClientRect();
              const cells = plot.closest("figure").querySelectorAll("tbody tr")[row].cells;
              const first = [...cells].map((c) => c.textContent).find((t) => t !== "");
              return [box.left + x * box.width / size.width, box.top + y * box.height / size.height, first];
            }})()""")
            if place is None:
                continue
            page.move(place[0], place[1])
            tip = page.run(f"""(() => {{
              const tip = document.querySelectorAll(".plot[data-spots]")[{plot}].querySelector(".tip");
              const box = tip.getBoundingClientRect();
              return [!tip.hidden, tip.textContent, box.left >= 0 && box.right <= innerWidth, box.width];
            }})()""")
            shown, text, inside, width = tip
            check("a tip is shown on hover", shown and width > 20, tip)
            check("it says the row's values", place[2] in text, [place[2], text])
            check("it stays in the window", inside, tip)
            page.move(1, 1)
            hidden = page.run(f"""document.querySelectorAll(".plot[data-spots]")[{plot}].querySelector(".tip").hidden""")
            check("it goes with the pointer", hidden)


def check_keyboard(page):
    """Tab reaches a figure; arrows move through its values and read them out."""
    for _ in range(60):
        page.key("Tab")
        if page.run("""document.activeElement.matches(".plot[data-spots]")"""):
            break
    else:
        raise AssertionError("Tab reaches no figure")
    figure = """document.activeElement.closest("figure")"""
    said = []
    for key in ("ArrowRight", "ArrowRight", "End", "ArrowLeft", "Home"):
        page.key(key)
        said.append(page.run(f"""{figure}.querySelector(".says").textContent"""))
        check("the tip is shown", page.run("""!document.activeElement.querySelector(".tip").hidden"""))
    check("every key says something else", len(set(said)) == 4 and said[0] == said[4], said)
    check("places are counted", "(1 of " in said[0] and "(2 of " in said[1], said)
    page.key("Escape")
    check("Escape hides it", page.run("""document.activeElement.querySelector(".tip").hidden"""))


def check_buttons(page, browser):
    """Figures can be kept, and numbers copied."""
    page.run("""document.querySelector("button[data-do=svg]").click()""")
    page.run("""document.querySelector("button[data-do=png]").click()""")
    folder = pathlib.Path(browser.downloads)
    deadline = time.monotonic() + 20
    while True:
        files = {f.suffix: f for f in folder.iterdir() if f.suffix in (".svg", ".png")}
        if len(files) == 2 and all(f.stat().st_size for f in files.values()):
            break
        check("a drawing can be downloaded as SVG and PNG", time.monotonic() < deadline, list(folder.iterdir()))
        time.sleep(0.05)
    svg = files[".svg"].read_text(encoding="utf-8")
    check("the SVG stands alone, in the colours of paper",
          svg.startswith("<svg") and 'fill="#ffffff"' in svg and "aria-label" in svg, svg[:200])
    check("the PNG is one", files[".png"].read_bytes().startswith(b"\x89PNG"))
    said = page.run("""(async () => {
      const button = document.querySelector("button[data-do=copy]");
      if (!button) return "Copied";
      button.click();
      for (let i = 0; i < 100 && button.textContent !== "Copied"; i++) await new Promise((f) => setTimeout(f, 20));
      return button.textContent;
    })()""")
    check("numbers can be copied", said == "Copied", said)


def look(browser, name, path, figures):
    url = path.resolve().as_uri()
    for dark in (False, True):
        page = browser.page(1200, 900, dark)
        page.open(url)
        check("there is nothing to complain of", page.troubles() == [], page.troubles())
        check_figures(page, figures)
        contrast = page.run(CONTRAST)
        check("text has a contrast of 4.5 or more", contrast >= 4.5, contrast)
        red = page.run("""Number(getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0])""")
        check("light is light and dark is dark", (red < 60) == dark, red)
        if name != "reproduction":
            check_hover(page)
            if not dark:
                check_keyboard(page)
                check_buttons(page, browser)
        check("nothing was asked for and nothing went wrong", page.troubles() == [], page.troubles())
        page.close()
    page = browser.page(390, 844, phone=True)
    page.open(url)
    width = page.run("document.documentElement.scrollWidth")
    check("nothing scrolls sideways on a phone", width <= 390, width)
    check_figures(page, figures)
    if name != "reproduction":
        check_hover(page)
    page.send("Emulation.setEmulatedMedia", media="print")
    shown = page.run("""[...document.querySelectorAll(".tools, details, .skip")].filter((e) => e.getClientRects().length).length""")
    check("paper has no buttons", shown == 0, shown)
    check("there is nothing to complain of", page.troubles() == [], page.troubles())
    page.close()


def main():
    program = chromium.path()
    if program is None:
        if os.environ.get("ERRBAR_BROWSER") == "required":
            sys.exit("Chromium is required here and was not found")
        print("SKIPPED: pages in a browser. Chromium was not found (on Debian: apt install chromium; "
              "or name one in ERRBAR_CHROMIUM)")
        return
    with tempfile.TemporaryDirectory() as folder:
        made = pages(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        for name, (path, figures) in made.items():
            with chromium.Chromium(program) as browser:
                try:
                    look(browser, name, path, figures)
                except AssertionError as error:
                    sys.exit(f"{name}: not so: {error}")
            print(f"{name}: {figures} figures, light and dark, desktop, phone and paper")


if __name__ == "__main__":
    main()
