"""Things that go by two names, and what the program calls them."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest

import errbar
import errbar.plot

matplotlib.use("Agg")

RANDOM = np.random.default_rng(0)
ERROR, SIGMA = RANDOM.normal(size=200), RANDOM.uniform(0.5, 2.0, 200)
WEIGHT, GROUP = RANDOM.uniform(0.1, 2.0, 200), np.repeat(["a", "b"], 100)
WEIGHED = {
    "reliability_score": lambda **w: errbar.reliability_score(ERROR, SIGMA, **w),
    "accuracy_reliability": lambda **w: errbar.accuracy_reliability(ERROR, SIGMA, **w),
    "gradient": lambda **w: errbar.accuracy_reliability_gradient(ERROR, SIGMA, **w).tolist(),
    "both": lambda **w: errbar.accuracy_reliability_value_and_gradient(ERROR, SIGMA, **w)[0],
    "coverage": lambda **w: errbar.coverage(ERROR, SIGMA, **w),
    "scores": lambda **w: errbar.scores(ERROR, 0.0, SIGMA, **w).crps,
    "report": lambda **w: errbar.report(ERROR, 0.0, SIGMA, **w).headline,
    "sums": lambda **w: errbar.ScoreSums().add(ERROR, 0.0 * ERROR, SIGMA, **w).scores().crps,
    "diagram": lambda **w: errbar.plot.reliability_diagram(ERROR, SIGMA, **w).lines[0].get_ydata().tolist(),
    "pit": lambda **w: [bar.get_height() for bar in errbar.plot.pit_histogram(ERROR, SIGMA, **w).patches],
    "spread_skill": lambda **w: len(errbar.plot.spread_skill(ERROR, SIGMA, **w).lines),
}


@pytest.mark.parametrize("name", WEIGHED)
def test_weights_go_by_both_names(name):
    function = WEIGHED[name]
    assert function(weight=WEIGHT) == function(sample_weight=WEIGHT)
    with pytest.raises(ValueError, match="weight and sample_weight are two names of the same: give one"):
        function(weight=WEIGHT, sample_weight=WEIGHT)
    if name not in ("diagram", "spread_skill"):
        assert function(weight=WEIGHT) != function()


def test_seeds_go_by_both_names():
    def interval(**seed):
        return errbar.scores(ERROR, 0.0, SIGMA, intervals=True, replicates=50, **seed).intervals.crps

    assert interval(seed=3) == interval(random_state=3) != interval()
    assert interval(random_state=np.random.default_rng(1)) == interval(random_state=np.random.default_rng(1))
    assert interval(random_state=np.random.RandomState(1)) == interval(random_state=np.random.RandomState(1))
    assert interval(random_state=np.random.default_rng(1)) != interval(random_state=np.random.default_rng(2))
    with pytest.raises(ValueError, match="random_state is 'x': give a whole number"):
        interval(random_state="x")
    with pytest.raises(ValueError, match="seed and random_state are two names"):
        interval(seed=1, random_state=2)


def test_groups_of_a_report_go_by_both_names():
    both = [errbar.report(ERROR, 0.0, SIGMA, **{name: GROUP}).figures for name in ("by", "group")]
    assert both[0] == both[1] != errbar.report(ERROR, 0.0, SIGMA).figures
    with pytest.raises(ValueError, match="by and group are two names"):
        errbar.report(ERROR, 0.0, SIGMA, by=GROUP, group=GROUP)


def test_the_table_of_names_is_true(root):
    text = (root / "docs/python.md").read_text()
    table = re.search(r"\| the program \| in Python \|\n\| --- \| --- \|\n((?:\|.*\n)+)", text)[1]
    parameters = errbar.SigmaRegressor().get_params()
    rows = [[one.strip() for one in line.strip("|").split(" | ")] for line in table.splitlines()]
    told = {word: _help(word) for word in ("fit", "predict", "score", "report", "compare")}
    for program, python in rows:
        for option in re.findall(r"--[a-z-]+", program):
            where = [word for word in told if f"`{word}" in program] or ["fit"]
            assert all(re.search(rf"{option}\b", told[word]) for word in where), (option, where)
        if python.startswith("parameters of the same name"):
            for option in re.findall(r"--([a-z-]+)", program):
                assert option.replace("-", "_") in parameters
        for name in re.findall(r"`(\w+)=", python):
            assert name in parameters, name
        for name, given in re.findall(r"`(\w+)\((.*?)\)", python):
            if hasattr(errbar.SigmaRegressor, name):
                known = inspect.signature(getattr(errbar.SigmaRegressor, name)).parameters
                assert set(re.findall(r"(\w+)=", given)) <= set(known), name
    assert len(rows) > 20


def _help(word):
    call = [sys.executable, "-m", "errbar", word, "--help"]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout
