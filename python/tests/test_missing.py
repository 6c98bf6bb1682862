"""What becomes of missing values in scores of single rows."""

from __future__ import annotations

import numpy as np
import pytest

import errbar

NAN = float("nan")
ROWS = [errbar.crps, errbar.crps_gradient, errbar.nlpd, errbar.pit]


@pytest.mark.parametrize("function", ROWS)
def test_rows_without_a_value(function):
    error, sigma = np.array([0.3, NAN, -1.2, 0.7, NAN]), np.array([0.8, 1.0, NAN, 2.0, NAN])
    whole = function(error[[0, 3]], sigma[[0, 3]])
    kept = function(error, sigma, nan_policy="propagate")
    assert np.isnan(kept).tolist() == [False, True, True, False, True]
    assert np.array_equal(kept[[0, 3]], whole)
    assert np.array_equal(function(error, sigma, nan_policy="omit"), whole)
    for how in ({}, {"nan_policy": "raise"}):
        with pytest.raises(ValueError, match="error at row 1 is NaN"):
            function(error, sigma, **how)
    assert error[0] == 0.3 and np.isnan(error[1]) and np.isnan(sigma[2])


@pytest.mark.parametrize("function", ROWS)
def test_shapes(function):
    error = np.array([[0.3, NAN, 0.7], [1.0, 2.0, 3.0]])
    kept = function(error, 2.0, nan_policy="propagate")
    assert kept.shape == (2, 3) and np.isnan(kept).sum() == 1 and np.isnan(kept[0, 1])
    assert function(error, 2.0, nan_policy="omit").shape == (5,)
    assert np.isnan(function(NAN, 1.0, nan_policy="propagate"))
    assert function(0.3, 1.0, nan_policy="propagate") == function(0.3, 1.0)
    assert function(NAN, 1.0, nan_policy="omit").shape == (0,)
    assert function([], [], nan_policy="propagate").shape == function([], [], nan_policy="omit").shape == (0,)


@pytest.mark.parametrize("function", ROWS)
def test_what_is_wrong_otherwise_is_refused_by_its_place(function):
    for policy in ("propagate", "omit"):
        with pytest.raises(ValueError, match="error at row 2 is inf"):
            function([NAN, 1.0, float("inf")], 1.0, nan_policy=policy)
        with pytest.raises(ValueError, match="sigma at row 1 is 0"):
            function([NAN, 1.0], [NAN, 0.0], nan_policy=policy)
    with pytest.raises(ValueError, match="nan_policy is 'ignore': give"):
        function(1.0, 1.0, nan_policy="ignore")


def test_members():
    observation = np.array([2.0, NAN, 3.0, 1.0])
    members = np.array([[1.0, 2.0, 4.0], [0.0, 1.0, 2.0], [NAN, NAN, NAN], [0.0, NAN, 2.0]])
    whole = errbar.crps_ensemble(observation[[0, 3]], members[[0, 3]])
    kept = errbar.crps_ensemble(observation, members, nan_policy="propagate")
    assert np.isnan(kept).tolist() == [False, True, True, False]
    assert np.array_equal(kept[[0, 3]], whole)
    assert np.array_equal(errbar.crps_ensemble(observation, members, nan_policy="omit"), whole)
    assert np.isnan(errbar.crps_ensemble(NAN, [1.0, 2.0], nan_policy="propagate"))
    with pytest.raises(ValueError):
        errbar.crps_ensemble(observation, members)
