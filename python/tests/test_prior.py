"""A sigma that is there already, and the members of an ensemble."""

import numpy as np
import pytest

import errbar
from errbar import SigmaRegressor


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(1)
    x, s = random.random(800), np.exp(0.7 * random.standard_normal(800))
    return x[:, None], s, s * (0.5 + 2 * x) * random.standard_normal(800)


def test_a_prior_sigma_is_corrected(rows, tmp_path):
    x, s, error = rows
    model = SigmaRegressor("polynomial").fit(x, error, prior_sigma=s)
    at = np.array([[0.1], [0.5], [0.9]])
    for prior in (0.01, 1.0, 50.0):
        ratio = model.predict(at, prior_sigma=np.full(3, prior)) / (prior * (0.5 + 2 * at[:, 0]))
        assert np.all((ratio > 0.8) & (ratio < 1.25)), ratio
    one = model.predict_interval(at, np.zeros(3), prior_sigma=np.ones(3))
    ten = model.predict_interval(at, np.zeros(3), prior_sigma=np.full(3, 10.0))
    np.testing.assert_allclose(ten, 10 * one, rtol=1e-9)
    law = model.predict_distribution(at, np.zeros(3), prior_sigma=np.ones(3))
    np.testing.assert_allclose(law.ppf(0.95), one[:, 1], rtol=1e-9)
    constant = SigmaRegressor("constant").fit(x, error, prior_sigma=s)
    assert model.score(x, error, prior_sigma=s) > constant.score(x, error, prior_sigma=s)
    model.save(tmp_path / "m.json")
    loaded = SigmaRegressor.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict(at, prior_sigma=np.ones(3)), model.predict(at, prior_sigma=np.ones(3)))


def test_a_prior_sigma_in_time(rows):
    x, s, error = rows
    time = np.arange(800)
    model = SigmaRegressor("polynomial").fit(x[:600], error[:600], time=time[:600], prior_sigma=s[:600])
    model.update(x[600:700], error[600:700], time=time[600:700], prior_sigma=s[600:700])
    sigma = model.predict(x[700:], time=time[700:], prior_sigma=s[700:])
    np.testing.assert_allclose(model.predict(x[700:], time=time[700:], prior_sigma=2 * s[700:]), 2 * sigma)
    z = error[700:] / sigma
    assert 0.8 < np.sqrt(np.mean(z**2)) < 1.25


def test_a_prior_sigma_must_be_given_where_it_is_corrected(rows):
    x, s, error = rows
    with_prior = SigmaRegressor("constant").fit(x, error, prior_sigma=s)
    for call in (with_prior.predict, with_prior.bias, with_prior.sigma_band):
        with pytest.raises(ValueError, match='corrects the sigma "prior_sigma" of each row: give it'):
            call(x)
    with pytest.raises(ValueError, match="corrects no sigma"):
        SigmaRegressor("constant").fit(x, error).predict(x, prior_sigma=s)
    s = s.copy()
    s[5] = 0.0
    with pytest.raises(ValueError, match="sigma"):
        SigmaRegressor("constant").fit(x, error, prior_sigma=s)


def test_ensembles_against_numpy():
    random = np.random.default_rng(2)
    members = np.maximum(random.normal(1, 2, (500, 7)), 0)
    members[random.random(members.shape) < 0.1] = np.nan
    members[3] = np.nan
    with np.errstate(invalid="ignore"), pytest.warns(RuntimeWarning):
        mean, median = np.nanmean(members, axis=1), np.nanmedian(members, axis=1)
        spread = np.nanstd(members, axis=1, ddof=1)
        zeros = np.nanmean(np.where(np.isnan(members), np.nan, members == 0), axis=1)
    for center, forecast in (("mean", mean), ("median", median)):
        made = errbar.ensemble_inputs(members, center=center)
        np.testing.assert_allclose(made.forecast, forecast, rtol=1e-12)
        np.testing.assert_allclose(made.inputs, np.column_stack([forecast, spread, zeros]), rtol=1e-9)
        assert made.names == [f"members_{center}", "members_spread", "members_zeros"]
    with pytest.raises(ValueError, match="members has shape"):
        errbar.ensemble_inputs([1.0, 2.0])
    with pytest.raises(ValueError, match="center"):
        errbar.ensemble_inputs(members, center="mode")
