"""The page that shows whether error bars can be trusted."""

from __future__ import annotations

import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import errbar


@pytest.fixture
def rows():
    random = np.random.default_rng(4)
    x = random.uniform(-1, 1, 300)
    sigma = np.exp(x)
    return pd.DataFrame(
        {"mu": 5 * x, "y": 5 * x + random.normal(scale=sigma), "sigma": sigma, "x": x}
    )


def test_the_page_is_that_of_the_program(program, rows, tmp_path):
    page = errbar.report(rows["y"], rows["mu"], rows["sigma"], inputs=rows[["mu", "x"]], title="T")
    rows.to_csv(tmp_path / "t.csv", index=False)
    call = ["report", "t.csv", "-o", "page.html", "--title", "T", "--figures", "f", "--quiet"]
    subprocess.run([*program, *call], cwd=tmp_path, check=True)
    theirs = (tmp_path / "page.html").read_text()
    # All of it, up to how it was made.
    made = "How this page was made"
    assert page.html.split(made)[0] == theirs.split(made)[0]
    for name, svg in page.figures.items():
        assert svg == (tmp_path / "f" / f"{name}.svg").read_text()


def test_its_parts(rows, tmp_path):
    path = tmp_path / "page.html"
    page = errbar.report(rows["y"], rows["mu"], 0.1 * rows["sigma"], path=path)
    assert page.headline[0].startswith("Overconfident") and page.headline[0] in repr(page)
    assert page.advice and str(page) == "\n".join(page.headline)
    assert page.scores.verdict.word == "overconfident" and page.scores.intervals is not None
    assert path.read_text() == page.html
    shown = page._repr_html_()
    assert shown.startswith("<iframe") and "<script" not in shown  # the page itself is escaped


def test_inputs_from_every_container(rows):
    x = rows["x"].to_numpy()
    want = errbar.report(rows["y"], rows["mu"], rows["sigma"], inputs={"x": x}).html
    for table in (rows[["x"]], pl.DataFrame({"x": x}), pa.table({"x": x})):
        got = errbar.report(rows["y"], rows["mu"], rows["sigma"], inputs=table)
        assert got.html == want
    unnamed = errbar.report(rows["y"], rows["mu"], rows["sigma"], inputs={"x0": x}).html
    for array in (x, x[:, None], list(x)):
        got = errbar.report(rows["y"], rows["mu"], rows["sigma"], inputs=array)
        assert got.html == unnamed


def test_rows_are_put_in_the_order_of_time(rows):
    days = pd.date_range("2024-01-01", periods=len(rows))
    ordered = errbar.report(rows["y"], rows["mu"], rows["sigma"], time=days, by=rows["x"] > 0)
    back = rows[::-1]
    again = errbar.report(back["y"], back["mu"], back["sigma"], time=days[::-1], by=back["x"] > 0)
    assert again.html == ordered.html
    assert "2024" in ordered.html and {"order", "groups"} <= set(ordered.figures)
    for same in (
        days.strftime("%Y-%m-%dT%H:%M:%S").to_list(),
        days.strftime("%Y-%m-%dT%H:%M:%SZ").to_list(),
        list(days.tz_localize("UTC").tz_convert("Asia/Tokyo")),
        [day.date() for day in days],
        days.to_pydatetime(),
        days.to_numpy(),
        pl.Series(days),
        days.tz_localize("UTC").to_series(name="time"),
    ):
        told = errbar.report(rows["y"], rows["mu"], rows["sigma"], time=same, by=rows["x"] > 0)
        assert told.html == ordered.html, type(same)
    with pytest.raises(ValueError, match="time at row 1 is 'soon': give dates, or numbers"):
        errbar.report([1.0, 2.0], 0.0, 1.0, time=["2024-01-01", "soon"])
    numbers = errbar.report(rows["y"], rows["mu"], rows["sigma"], time=np.arange(300))
    assert "order" in numbers.figures


def test_names_are_text(rows):
    wicked = pd.Series(rows["y"], name="<script>alert(1)</script>")
    page = errbar.report(wicked, rows["mu"], rows["sigma"])
    assert "<script>alert(1)" not in page.html


def test_leads_places_and_events_have_figures():
    rng = np.random.default_rng(5)
    n = 600
    y = rng.standard_normal(n)
    lead = np.tile([6, 12, 24], n // 3)
    latitude = np.where(np.arange(n) % 2 == 0, 48.0, -10.0)
    latitude[3] = np.nan
    page = errbar.report(
        y, 0.0, 1.0, lead=lead, latitude=latitude, longitude=170.0 + lead, event=["> 1", "<= -1"],
        time=np.arange(n)[::-1],
    )
    assert {"forecast", "leads", "map", "event-1", "event-2"} <= set(page.figures)
    assert "One row has no place on Earth" in page.html
    assert "event-2" not in errbar.report(y, 0.0, 1.0, event="> 1").figures
    with pytest.raises(ValueError, match="give both"):
        errbar.report(y, 0.0, 1.0, latitude=latitude)
    with pytest.raises(ValueError, match="> 50"):
        errbar.report(y, 0.0, 1.0, event="50")
    with pytest.raises(ValueError, match="lead"):
        errbar.report(y, 0.0, 1.0, lead=lead[:5])
