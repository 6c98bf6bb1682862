"""Distributions and regressors for skpro. Left out where skpro is not installed: ``pip install skpro``."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("skpro")

from scipy import stats
from skpro.metrics import CRPS
from skpro.regression.residual import ResidualDouble
from skpro.utils.estimator_checks import check_estimator
from sklearn.linear_model import LinearRegression

from errbar import ErrorBarRegressor, Law, SigmaRegressor
from errbar.skpro import ErrorBarProbaRegressor, LawDistribution


@pytest.fixture
def data():
    random = np.random.default_rng(2)
    X = pd.DataFrame({"x": random.uniform(-1, 1, 400)}, index=pd.RangeIndex(5, 405))
    return X, pd.DataFrame({"y": 3 * X["x"] + random.normal(size=400) * np.exp(X["x"])})


@pytest.mark.parametrize("kind", [LawDistribution, ErrorBarProbaRegressor])
@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_skpro(kind):
    found = check_estimator(kind, verbose=False)
    assert len(found) > 50 and {name for name, how in found.items() if how != "PASSED"} == set()


def test_a_regressor_has_the_distributions_of_errbar(data):
    X, y = data
    sigma = SigmaRegressor("polynomial")
    ours = ErrorBarRegressor(LinearRegression(), sigma).fit(X[:300], y["y"][:300])
    model = ErrorBarProbaRegressor(LinearRegression(), sigma).fit(X[:300], y[:300])
    new, seen = X[300:], y[300:]
    found, law = model.predict_proba(new), ours.predict_distribution(new)
    assert found.index.equals(new.index) and found.columns.tolist() == ["y"]
    assert np.array_equal(model.predict(new)["y"], ours.predict(new))
    assert np.array_equal(found.cdf(seen)["y"], law.cdf(seen["y"]))
    assert np.array_equal(found.ppf(0.3)["y"], law.ppf(0.3))
    np.testing.assert_allclose(found.log_pdf(seen)["y"], law.logpdf(seen["y"]), rtol=1e-12)
    assert np.array_equal(found.iloc[[3, 1]].cdf(1.0)["y"], law[[3, 1]].cdf(1.0))
    assert found.loc[[new.index[7]]].mean().iloc[0, 0] == law[7].mean()
    np.testing.assert_allclose(CRPS()(seen, found), law.crps(seen["y"]).mean(), rtol=1e-10)
    rival = ResidualDouble(LinearRegression()).fit(X[:300], y[:300])
    assert CRPS()(seen, found) < CRPS()(seen, rival.predict_proba(new))


def test_intervals_and_quantiles(data):
    X, y = data
    for guarantee in (None, "split"):
        sigma = SigmaRegressor("constant", guarantee=guarantee)
        model = ErrorBarProbaRegressor(sigma=sigma).fit(X, y)
        found = model.predict_interval(X, coverage=[0.5, 0.9])
        want = model.model_.predict_interval(X, level=[0.5, 0.9])
        assert np.array_equal(found["y"][0.9].to_numpy(), want[:, 1])
        assert np.array_equal(found["y"][0.5].to_numpy(), want[:, 0])
    quantiles = model.predict_quantiles(X, alpha=[0.2])
    assert np.array_equal(quantiles["y"][0.2], model.model_.predict_quantiles(X, [0.2])[:, 0])


def test_energies_and_moments_are_those_of_formulas():
    normal = LawDistribution(Law("normal", [0.0, 1.0], [1.0, 2.0]))
    # E|X - X'| of a Gaussian is 2 sigma over the root of pi.
    np.testing.assert_allclose(normal.energy()["energy"], [2 / math.sqrt(math.pi), 4 / math.sqrt(math.pi)], rtol=1e-9)
    far = abs(normal.energy(np.full((2, 1), 1e3))["energy"] - (1e3 - normal.mean()[0]))
    assert far.max() < 1e-6
    laplace = LawDistribution(Law("laplace", 2.0, 3.0))
    assert laplace.energy() == pytest.approx(1.5 * 3.0, rel=1e-7)
    # The mean and the variance of a Gaussian that is not below 0.
    rain = LawDistribution(Law("normal", [0.5], [1.0], lower=0.0))
    mean = stats.norm.cdf(0.5) * 0.5 + stats.norm.pdf(0.5)
    square = stats.norm.cdf(0.5) * 1.25 + 0.5 * stats.norm.pdf(0.5)
    assert rain.mean().iloc[0, 0] == pytest.approx(mean, abs=1e-4)
    assert rain.var().iloc[0, 0] == pytest.approx(square - mean**2, abs=1e-3)
    assert rain.get_tag("distr:measuretype") == "mixed" != normal.get_tag("distr:measuretype")
    assert rain.cdf(0.0).iloc[0, 0] == pytest.approx(stats.norm.cdf(-0.5)) and rain.cdf(-0.1).iloc[0, 0] == 0.0


def test_what_has_no_place_is_refused():
    with pytest.raises(ValueError, match="has no place for 3 rows and 1 columns"):
        LawDistribution(Law("normal", [0.0, 1.0], 1.0), index=pd.RangeIndex(3))
    with pytest.raises(ValueError, match="has no place for"):
        LawDistribution(Law("normal", [[0.0, 1.0]], 1.0))
