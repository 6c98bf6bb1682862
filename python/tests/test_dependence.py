"""The program, the report and the scores of Python draw dependent rows by one rule."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

import errbar


def series(rows: int) -> np.ndarray:
    """Errors with a memory and a mean that single rows would take for a bias."""
    noise = np.random.default_rng(3).normal(size=rows)
    error = np.zeros(rows)
    for row in range(1, rows):
        error[row] = 0.8 * error[row - 1] + 0.6 * noise[row]
    return error - error.mean() + 0.25


def test_the_same_rows_have_the_same_intervals_and_verdict_everywhere(tmp_path: Path) -> None:
    error = series(400)
    ours = errbar.scores(error, 0.0, 1.0, intervals=True)
    assert ours.intervals is not None
    assert ours.intervals.block > 1
    assert f"blocks of {ours.intervals.block} rows" in repr(ours)
    single = errbar.scores(error, 0.0, 1.0, intervals=True, block=1)
    assert ours.verdict.word != single.verdict.word, "the rows tell the rules apart"
    assert single.intervals is not None and single.intervals.note is None
    assert errbar.scores(error, 0.0, 1.0).verdict == ours.verdict

    page = errbar.report(error, 0.0, 1.0)
    assert page.scores.intervals == ours.intervals
    assert page.scores.verdict == ours.verdict

    table = tmp_path / "a.csv"
    lines = [f"{value!r},0,1" for value in error.tolist()]
    table.write_text("\n".join(["y,mu,sigma", *lines]) + "\n")
    run = [sys.executable, "-m", "errbar", "score", str(table), "--json"]
    told = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
    assert told["verdict"]["text"] == ours.verdict.text
    assert told["intervals"]["block"] == ours.intervals.block
    for name in ("bias", "crps", "rms_z", "rs"):
        known = told["intervals"][name]
        assert (known["low"], known["high"]) == getattr(ours.intervals, name)[:2]
