"""Normal distributions are those of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import errbar

MEAN, STD = np.array([12.0, -3.0, 0.0]), np.array([0.5, 2.0, 1.0])
OURS, THEIRS = errbar.Normal(MEAN, STD), stats.norm(MEAN, STD)


@pytest.mark.parametrize("name", ["cdf", "sf", "pdf", "logpdf"])
def test_functions_of_a_value(name):
    x = np.linspace(-20, 20, 401)[:, None]
    got, want = getattr(OURS, name)(x), getattr(THEIRS, name)(x)
    # Where z is large, rounding it alone changes a tail by z² units.
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-300)
    assert getattr(OURS, name)(np.inf).tolist() == getattr(THEIRS, name)(np.inf).tolist()


@pytest.mark.parametrize("name", ["ppf", "isf"])
def test_quantiles(name):
    q = np.array([1e-200, 1e-9, 0.1, 0.5, 0.9, 1 - 1e-9])[:, None]
    np.testing.assert_allclose(
        getattr(OURS, name)(q), getattr(THEIRS, name)(q), rtol=1e-13, atol=1e-13
    )
    assert np.isnan(getattr(OURS, name)(1.5)).all()
    assert getattr(OURS, name)(0.0).tolist() == getattr(THEIRS, name)(0.0).tolist()


def test_moments_and_intervals():
    assert OURS.mean().tolist() == OURS.median().tolist() == MEAN.tolist()
    assert OURS.std().tolist() == STD.tolist() and OURS.var().tolist() == (STD**2).tolist()
    np.testing.assert_allclose(OURS.interval(0.9), THEIRS.interval(0.9), rtol=1e-14)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_an_interval_has_two_ends_however_many_rows(rows):
    low, high = errbar.Normal(MEAN[:rows], STD[:rows]).interval(0.9)
    want = stats.norm(MEAN[:rows], STD[:rows]).interval(0.9)
    np.testing.assert_allclose(low, want[0], rtol=1e-14)
    np.testing.assert_allclose(high, want[1], rtol=1e-14)
    low, high = errbar.Normal(0.0, 1.0).interval(0.9)
    assert type(low) is type(high) is float and low == -high


def test_several_levels_are_along_a_last_axis():
    low, high = OURS.interval([0.5, 0.9])
    # SciPy broadcasts levels against the parameters.
    want = stats.norm(MEAN[:, None], STD[:, None]).interval([0.5, 0.9])
    assert low.shape == high.shape == (3, 2)
    np.testing.assert_allclose((low, high), want, rtol=1e-14)
    np.testing.assert_allclose(errbar.Normal(0.0, 1.0).interval([0.9])[1], [stats.norm.ppf(0.95)], rtol=1e-14)


def test_rows_are_chosen_as_those_of_an_array():
    x = np.linspace(-5, 15, 7)[:, None]
    assert len(OURS) == 3 and OURS.shape == (3,)
    for key in (1, -1, slice(1, None), slice(None, None, -1), [2, 0], MEAN > -1, np.array([], int)):
        some = OURS[key]
        assert type(some) is errbar.Normal and some.shape == MEAN[key].shape
        where = x[:, 0] if np.ndim(MEAN[key]) == 0 else x
        np.testing.assert_array_equal(some.cdf(where), errbar.Normal(MEAN[key], STD[key]).cdf(where))
    assert repr(OURS[1]) == "Normal(mean=-3, std=2)"
    assert [one.mean() for one in OURS] == MEAN.tolist()
    with pytest.raises(IndexError):
        OURS[3]
    for call in (lambda: len(OURS[0]), lambda: OURS[0][0], lambda: iter(errbar.Normal(0.0, 1.0))):
        with pytest.raises(TypeError, match="this is one distribution"):
            call()


@pytest.mark.parametrize("far", [10.0, 40.0, 1e3, 1e8, 1e150])
def test_logarithms_of_tails_have_no_end(far):
    one = errbar.Normal(0.0, 1.0)
    assert one.logcdf(-far) == one.logsf(far)
    np.testing.assert_allclose(one.logcdf(-far), stats.norm.logcdf(-far), rtol=1e-14)
    # Near 1 the logarithm is minus what is missing, of all digits.
    np.testing.assert_allclose(one.logcdf(far), -stats.norm.sf(far), rtol=1e-12)
    np.testing.assert_allclose(one.logsf(-far), -stats.norm.sf(far), rtol=1e-12)


def test_random_values():
    sample = OURS.sample(20_000, random_state=0)
    assert sample.shape == (20_000, 3)
    # Means of 20,000 values, within five standard errors.
    assert np.all(np.abs(sample.mean(axis=0) - MEAN) < 5 * STD / np.sqrt(20_000))
    assert np.array_equal(sample, OURS.rvs((20_000, 3), random_state=0))
    assert OURS.rvs(random_state=0).shape == (3,)


def test_crps_is_that_of_the_errors():
    assert np.array_equal(OURS.crps([12.5, 0.0, 1.0]), errbar.crps([0.5, 3.0, 1.0], STD))


def test_one_number_gives_one_number():
    one = errbar.Normal(0.0, 1.0)
    for value in (one.cdf(0.0), one.pdf(0.0), one.ppf(0.5), one.mean(), one.crps(1.0)):
        assert type(value) is float
    assert repr(one) == "Normal(mean=0, std=1)"


def test_bad_ones_are_refused():
    with pytest.raises(ValueError, match="std at 1 is 0: it must be finite and greater than 0"):
        errbar.Normal([1.0, 2.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="mean is nan"):
        errbar.Normal(float("nan"), 1.0)
    with pytest.raises(ValueError, match="level is 90"):
        OURS.interval(90)
    for level in ([0.5, 1.0], np.array([[0.5, 0.9]]), [], "most", None):
        with pytest.raises(ValueError, match="level is .*: give a number strictly between 0 and 1, or several"):
            OURS.interval(level)
