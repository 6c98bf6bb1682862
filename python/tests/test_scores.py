"""The scores of a table, at once."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

import errbar


@pytest.fixture
def scores():
    error = np.random.default_rng(3).normal(size=500)
    return errbar.scores(error, 0.0, 1.0, intervals=True)


def test_a_verdict_in_words():
    error = np.tile([2.0, -2.0], 50)
    verdict = errbar.scores(error, 0.0, 1.0).verdict
    assert verdict.word == "overconfident"
    assert "Multiply sigma by about 2" in str(verdict)


def test_intervals_hold_the_scores_of_a_calibrated_forecast(scores):
    intervals = scores.intervals
    for name in ("bias", "mae", "rmse", "crps", "nlpd", "rms_z"):
        low, high, standard_error = getattr(intervals, name)
        assert low <= getattr(scores, name) <= high and standard_error > 0
    # Independent errors of deviation 1: the standard error of their mean is 1 / sqrt(500).
    assert intervals.bias.standard_error == pytest.approx(500**-0.5, rel=0.15)
    assert len(intervals.coverage) == len(scores.coverage) == 5
    assert errbar.scores([1.0, 2.0], 0.0, 1.0).intervals is None


def test_the_same_seed_gives_the_same_intervals(scores):
    error = np.random.default_rng(3).normal(size=500)
    again = errbar.scores(error, 0.0, 1.0, intervals=True)
    assert again.intervals == scores.intervals
    other = errbar.scores(error, 0.0, 1.0, intervals=True, seed=1)
    assert other.intervals != scores.intervals


def test_weights_are_rows_written_twice():
    error, sigma = [0.5, -1.0, 2.0], [1.0, 0.7, 1.4]
    weighted = errbar.scores(error, 0.0, sigma, [1.0, 2.0, 1.0], beta=0.5)
    twice = errbar.scores([0.5, -1.0, -1.0, 2.0], 0.0, [1.0, 0.7, 0.7, 1.4], beta=0.5)
    for name in ("crps", "nlpd", "rs", "mae", "rmse"):
        assert getattr(weighted, name) == pytest.approx(getattr(twice, name), rel=1e-14)
    assert weighted.ar.value == pytest.approx(twice.ar.value, rel=1e-14)


def test_as_dictionaries_and_as_text(scores):
    told = json.loads(json.dumps(scores.to_dict()))
    assert told["crps"] == scores.crps
    assert told["ar"] == scores.ar._asdict()
    assert told["coverage"][2]["level"] == 0.9
    assert told["pit"]["frequency"] == scores.pit.frequency.tolist()
    assert told["intervals"]["crps"]["low"] == scores.intervals.crps.low
    assert str(scores.verdict) in repr(scores) and "CRPS" in str(scores)
    assert "<table>" in scores._repr_html_() and "crps" in scores._repr_html_()


def test_infinite_scores_stay_infinite():
    assert errbar.scores([1e300], 0.0, 1e-300).nlpd == np.inf


def test_they_travel(scores):
    for other in (pickle.loads(pickle.dumps(scores)), copy.deepcopy(scores)):
        assert other.to_dict() == scores.to_dict()


def test_levels_and_bins_are_those_asked_for():
    scores = errbar.scores(
        np.arange(-50.0, 50.0),
        0.0,
        np.arange(1.0, 101.0),
        levels=[0.7],
        pit_bins=10,
        diagram_levels=5,
        spread_skill_bins=4,
    )
    assert [one.level for one in scores.coverage] == [0.7]
    assert len(scores.pit.frequency) == 10
    assert len(scores.spread_skill) == 4
    assert np.all(np.diff(scores.diagram.observed) >= 0)
