"""Bad input is a ValueError in one sentence, which names the place and what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import errbar

NAN, INF = float("nan"), float("inf")


def refused(call, *words):
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


def test_what_is_sparse_is_refused():
    X = sparse.csr_matrix(np.eye(30))
    y = np.arange(30.0)
    sigma = errbar.SigmaRegressor("constant").fit(np.eye(30), y)
    model = errbar.ErrorBarRegressor().fit(np.eye(30), y)
    for call in (
        lambda: errbar.SigmaRegressor().fit(X, y),
        lambda: errbar.SigmaRegressor(members=[0, 1]).fit(X, observation=y),
        lambda: errbar.SigmaRegressor(categorical_features=[0]).fit(sparse.csr_array(X), y),
        lambda: sigma.predict(X),
        lambda: errbar.ErrorBarRegressor().fit(X, y),
        lambda: model.predict(X),
    ):
        refused(call, "X is sparse: give X.toarray()")
    refused(lambda: errbar.crps(X, 1.0), "error is sparse: give error.toarray()")
    refused(lambda: errbar.report(y, y, 1.0, inputs=X), "inputs is sparse")
    # Columns of pandas that are kept so are taken.
    kept = pd.DataFrame({"a": pd.arrays.SparseArray(y), "b": y})
    with pytest.warns(UserWarning, match="sparse columns"):
        assert errbar.SigmaRegressor("constant").fit(kept, y).trained_on_ == 30


ROWS = [errbar.crps, errbar.crps_gradient, errbar.nlpd, errbar.pit]
WHOLE = [
    errbar.reliability_score,
    errbar.accuracy_reliability,
    errbar.accuracy_reliability_gradient,
    errbar.coverage,
    lambda error, sigma, weight=None: errbar.scores(error, 0.0, sigma, weight),
    lambda error, sigma, weight=None: errbar.report(error, 0.0, sigma, weight=weight),
]


@pytest.mark.parametrize("function", ROWS + WHOLE)
def test_values_that_cannot_be(function):
    refused(lambda: function([1.0, NAN], [1.0, 1.0]), "row 1", "NaN", "finite")
    refused(lambda: function([1.0, 2.0, -INF], [1.0] * 3), "row 2", "-inf", "finite")
    refused(lambda: function([1.0, 2.0], [1.0, NAN]), "sigma at row 1", "NaN")
    refused(lambda: function([1.0, 2.0], [0.0, 1.0]), "sigma at row 0 is 0", "greater than 0")
    refused(lambda: function([1.0, 2.0], [1.0, -3.0]), "sigma at row 1 is -3")
    refused(lambda: function([1.0, 2.0, 3.0], [1.0, 2.0]), "3", "2", "one value per row")


@pytest.mark.parametrize("function", ROWS + WHOLE)
def test_what_is_no_number(function):
    refused(lambda: function(["a", "b"], 1.0), "row 0", "'a'", "no number")
    refused(lambda: function(["1.5"], 1.0), "'1.5'", "no number")
    refused(
        lambda: function([1.0, 2.0], np.array([1.0, "x"], dtype=object)), "sigma at row 1", "'x'"
    )
    refused(lambda: function([1.0, [2.0, 3.0]], 1.0), "row 1", "[2.0, 3.0]")
    refused(lambda: function([1.0, None], 1.0), "row 1", "NaN")
    refused(lambda: function([10**400], 1.0), "row 0", "inf")
    refused(lambda: function(np.array(["2020"], dtype="M8[D]"), 1.0), "row 0", "no number")
    refused(lambda: function([1j], 1.0), "complex")
    refused(lambda: function(pd.Series([1.0, None], dtype="Float64"), 1.0), "row 1", "NaN")
    refused(lambda: function(pl.Series([1.0, None]), 1.0), "row 1", "NaN")
    refused(lambda: function(pa.array([1.0, None]), 1.0), "row 1", "NaN")
    refused(lambda: function(pd.Series(["a"]), 1.0), "row 0", "'a'")
    refused(lambda: function(np.ma.array([1.0, 2.0], mask=[False, True]), 1.0), "row 1", "NaN")
    refused(lambda: function(None, 1.0), "None")
    refused(lambda: function({"a": 1}, 1.0), "no number")


@pytest.mark.parametrize("function", WHOLE)
def test_rows_that_cannot_be(function):
    refused(lambda: function([], []), "no rows")
    refused(lambda: function([[1.0, 2.0]], [[1.0, 2.0]]), "2 dimensions, 1 x 2", "column")
    refused(lambda: function(1.0, 1.0), "no rows", "column")


@pytest.mark.parametrize("function", ROWS)
def test_places_in_other_shapes(function):
    refused(lambda: function([[1.0, 2.0], [3.0, NAN]], 1.0), "error at (1, 1) is NaN")
    refused(lambda: function(np.ones((2, 1)), [1.0, 2.0, 0.0]), "sigma at (0, 2) is 0")
    refused(lambda: function(1.0, 0.0), "sigma is 0")
    refused(lambda: function(np.ones((2, 3)), np.ones((2, 2))), "(2, 3)", "(2, 2)", "broadcast")


@pytest.mark.parametrize("function", ROWS + WHOLE[:-1])
def test_the_largest_numbers_are_numbers(function):
    function([1e300, -1e300], [1e300, 1e300])
    function([1e300], [1e-300])


def test_weights_that_cannot_be():
    for function in WHOLE:
        refused(lambda: function([1.0, 2.0], 1.0, weight=[1.0]), "weight has 1 values")
        refused(lambda: function([1.0, 2.0], 1.0, weight=[1.0, -1.0]), "weight at row 1 is -1")
        refused(lambda: function([1.0, 2.0], 1.0, weight=[0.0, 0.0]), "weights are 0")
        refused(lambda: function([1.0, 2.0], 1.0, weight=[1.0, NAN]), "weight at row 1 is NaN")


def test_options_that_cannot_be():
    def ar(beta):
        return lambda: errbar.accuracy_reliability([1.0, 2.0], 1.0, beta)

    refused(ar("paper"), 'beta is "paper"', "heuristic, printed")
    refused(ar(1.5), "beta is 1.5", "between 0")
    refused(ar(NAN), "beta is NaN")
    refused(ar(None), "beta is None", "heuristic")
    refused(lambda: errbar.coverage([1.0], [1.0], 90), "level", "90", "between 0 and 1")
    refused(lambda: errbar.reliability_score_min(0), "n is 0")
    refused(lambda: errbar.reliability_score_min(2.5), "n is 2.5")

    def scores(**options):
        return lambda: errbar.scores([1.0, 2.0], 0.0, 1.0, **options)

    refused(scores(levels=[0.5, 1.5]), "level", "1.5")
    refused(scores(confidence="high"), "confidence is 'high'")
    refused(scores(pit_bins=7), "7 bins", "18")
    refused(scores(pit_bins=-1), "pit_bins is -1")
    refused(scores(intervals=True, replicates=3), "replicates is 3")
    refused(scores(intervals=True, block=0), "block is 0")
    refused(scores(seed=-1), "seed is -1")
    refused(lambda: errbar.scores([1e308], [-1e308], 1.0), "row 0 overflows")


def test_reports_that_cannot_be(tmp_path):
    y = np.arange(30.0)
    refused(lambda: errbar.report(y, 0.0, 1.0, inputs={"x": y[:3]}), "x", "3", "30")
    refused(lambda: errbar.report(y, 0.0, 1.0, inputs={"x": y * NAN}), "x", "row 0", "NaN")
    refused(lambda: errbar.report(y, 0.0, 1.0, time=y[:3]), "time", "3", "30")
    refused(lambda: errbar.report(y, 0.0, 1.0, by=["a"]), "group", "1", "30")
    backwards, hole = (
        y[::-1],
        np.where(y == 3, NAN, y),
    )  # the row as it came in, not as it is sorted
    refused(lambda: errbar.report(hole, 0.0, 1.0, time=backwards), "observation at row 3 is NaN")
    refused(lambda: errbar.report(y, 0.0, hole + 1, time=backwards), "sigma at row 3 is NaN")
    refused(lambda: errbar.report(y, 0.0, 1.0, time=backwards, inputs={"x": hole}), '"x"', "row 3")
    refused(lambda: errbar.report(y, 0.0, 1.0, time=hole), '"time"', "row 3")
    twice = pd.DataFrame(np.ones((30, 2)), columns=["a", "a"])
    refused(lambda: errbar.report(y, 0.0, 1.0, inputs=twice), '"a"')
    with pytest.raises(OSError, match="cannot write .*nowhere"):
        errbar.report(y, 0.0, 1.0, path=tmp_path / "nowhere" / "page.html")
