"""Scores for ``scoring=`` are those of errbar.scores and scikit-learn, with a minus."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import errbar
from errbar import ErrorBarRegressor, SigmaRegressor
from errbar.sklearn import coverage_scorer, crps_scorer, interval_scorer, pinball_scorer

POLYNOMIAL = SigmaRegressor("polynomial")
ALL = {
    "crps": crps_scorer,
    "pinball": pinball_scorer(0.8),
    "interval": interval_scorer(0.9),
    "coverage": coverage_scorer(0.9),
}


@pytest.fixture
def data():
    random = np.random.default_rng(6)
    X = random.uniform(-1, 1, (300, 2))
    error = np.exp(X[:, 0]) * random.normal(size=300)
    return X, error, X[:, 1] + error


def expected(law, y, weight=None):
    """By functions that know nothing of estimators."""
    low, high = law.interval(0.9)
    found = errbar.scores(y, interval=(low, high), interval_level=0.9, weight=weight)
    return {
        "crps": -float(np.average(law.crps(y), weights=weight)),
        "pinball": -mean_pinball_loss(y, law.ppf(0.8), alpha=0.8, sample_weight=weight),
        "interval": -found.interval.score,
        "coverage": -abs(found.interval.coverage - 0.9),
    }


def near(got, want):
    assert set(got) == set(want)
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-10, atol=1e-12, err_msg=name)


def test_scores_of_sigma_and_of_forecasters(data):
    X, error, y = data
    sigma = POLYNOMIAL.fit(X[:200], error[:200])
    law = sigma.predict_distribution(X[200:], np.zeros(100))
    near({name: one(sigma, X[200:], error[200:]) for name, one in ALL.items()}, expected(law, error[200:]))
    np.testing.assert_allclose(crps_scorer(sigma, X[200:], error[200:]), sigma.score(X[200:], error[200:]), rtol=1e-12)
    model = ErrorBarRegressor(LinearRegression(), POLYNOMIAL).fit(X[:200], y[:200])
    law = model.predict_distribution(X[200:])
    near({name: one(model, X[200:], y[200:]) for name, one in ALL.items()}, expected(law, y[200:]))
    weight = np.linspace(0.1, 2.0, 100)
    got = {name: one(model, X[200:], y[200:], sample_weight=weight) for name, one in ALL.items()}
    near(got, expected(law, y[200:], weight))


def test_folds_searches_and_pipelines(data):
    X, error, y = data
    folds = KFold(3)
    model = ErrorBarRegressor(LinearRegression(), POLYNOMIAL)
    found = cross_validate(model, X, y, cv=folds, scoring=ALL)
    for fold, (train, test) in enumerate(folds.split(X)):
        law = model.fit(X[train], y[train]).predict_distribution(X[test])
        near({name: found[f"test_{name}"][fold] for name in ALL}, expected(law, y[test]))
    search = GridSearchCV(POLYNOMIAL, {"model": ["constant", "polynomial"]}, scoring=pinball_scorer(0.9), cv=folds)
    assert search.fit(X, error).best_params_ == {"model": "polynomial"}
    best, piped = search.best_estimator_, make_pipeline(StandardScaler(), POLYNOMIAL).fit(X, error)
    inside = piped[-1].predict_interval(StandardScaler().fit_transform(X), np.zeros(300))
    assert interval_scorer(0.9)(search, X, error) == interval_scorer(0.9)(best, X, error)
    want = -abs(np.mean((inside[:, 0] <= error) & (error <= inside[:, 1])) - 0.9)
    np.testing.assert_allclose(coverage_scorer(0.9)(piped, X, error), want, rtol=1e-12)
    nested = cross_val_score(search, X, error, scoring=crps_scorer, cv=folds)
    np.testing.assert_allclose(nested, cross_val_score(POLYNOMIAL, X, error, cv=folds), rtol=1e-12)


def test_guaranteed_intervals_and_a_mean_of_its_own(data):
    X, error, y = data
    promised = ErrorBarRegressor(sigma=SigmaRegressor("constant", guarantee="split")).fit(X, y)
    low, high = promised.predict_interval(X, level=0.8).T
    want = errbar.scores(y, interval=(low, high), interval_level=0.8).interval.score
    np.testing.assert_allclose(interval_scorer(0.8)(promised, X, y), -want, rtol=1e-12)
    own = SigmaRegressor(fit_mean=True).fit(X[:150], y[:150])
    near({name: one(own, X[150:], y[150:]) for name, one in ALL.items()}, expected(own.predict_distribution(X[150:]), y[150:]))


def test_bounds_need_observations(data):
    X, _, y = data
    rain, forecast = np.maximum(y, 0.0), np.full(300, 0.4)
    bounded = SigmaRegressor("constant", lower=0.0).fit(X, forecast=forecast, observation=rain)
    law = bounded.predict_distribution(X, forecast)
    for how in ({"y": rain - forecast, "observation": rain}, {"forecast": forecast, "observation": rain}):
        near({name: one(bounded, X, **how) for name, one in ALL.items()}, expected(law, rain))
    with pytest.raises(ValueError, match="observations have bounds: give the scorer them too"):
        crps_scorer(bounded, X, rain - forecast)
    amounts = SigmaRegressor("constant", scale="sqrt").fit(X, forecast=forecast, observation=rain)
    q = amounts.predict_quantiles(X, forecast, [0.9])[:, 0]
    got = pinball_scorer(0.9)(amounts, X, forecast=forecast, observation=rain)
    np.testing.assert_allclose(got, -mean_pinball_loss(rain, q, alpha=0.9), rtol=1e-12)


def test_weights_are_routed(data):
    X, error, _ = data
    weight, folds = np.linspace(0.1, 2.0, 300), KFold(3)
    want = []
    for train, test in folds.split(X):
        fitted = SigmaRegressor("polynomial").fit(X[train], error[train], weight[train])
        want.append(pinball_scorer(0.7)(fitted, X[test], error[test], sample_weight=weight[test]))
    with sklearn.config_context(enable_metadata_routing=True):
        asked = SigmaRegressor("polynomial").set_fit_request(sample_weight=True)
        with pytest.raises(UnsetMetadataPassedError, match=r"pinball_scorer\(0.7\)"):
            cross_val_score(asked, X, error, cv=folds, params={"sample_weight": weight}, scoring=pinball_scorer(0.7))
        scorer = pinball_scorer(0.7)
        weighted = scorer.set_score_request(sample_weight=True)
        got = cross_val_score(asked, X, error, cv=folds, params={"sample_weight": weight}, scoring=weighted)
        assert got.tolist() == want
        with pytest.raises(TypeError, match="takes no nonsense"):
            scorer.set_score_request(nonsense=True)
    assert scorer.get_metadata_routing().score.requests == {"sample_weight": None}


def test_what_cannot_be_is_refused(data):
    X, error, y = data
    for level in (0, 1.5, "high", [0.5], [0.5, 0.9], None):
        with pytest.raises((ValueError, TypeError), match="level is"):
            interval_scorer(level)
    with pytest.raises(ValueError, match="LinearRegression has no predict_distribution: such scores are for"):
        crps_scorer(LinearRegression().fit(X, y), X, y)
    sigma = SigmaRegressor("constant").fit(X, error)
    with pytest.raises(ValueError, match="give the error of each row as y, or forecast and observation"):
        crps_scorer(sigma, X)
    with pytest.raises(ValueError, match="sample_weight has 3 values but X has 300 rows"):
        crps_scorer(sigma, X, error, sample_weight=[1, 2, 3])
    with pytest.raises(TypeError, match="crps_scorer takes no weight"):
        crps_scorer(sigma, X, error, weight=1)
    with pytest.raises(RuntimeError, match="enable_metadata_routing"):
        crps_scorer.set_score_request(sample_weight=True)
    assert repr(pickle.loads(pickle.dumps(pinball_scorer(0.25)))) == "pinball_scorer(0.25)"
