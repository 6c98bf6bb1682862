"""Metadata go where scikit-learn's routing says, and as ever where there is none."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from errbar import ErrorBarRegressor, SigmaRegressor

pytestmark = pytest.mark.filterwarnings("ignore:group does not decide which rows")

SIGMA = {"model": "polynomial", "validation": 0.0}


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def data():
    random = np.random.default_rng(4)
    X = random.uniform(-1, 1, (240, 2))
    y = X[:, 0] + np.exp(X[:, 0]) * random.normal(size=240)
    return X, y, random.uniform(0.1, 2.0, 240), np.repeat(np.arange(12), 20)


def sigma(**requests):
    return SigmaRegressor(**SIGMA).set_fit_request(**requests)


def test_sigma_asks_for_what_is_not_its_target(routing):
    asked = SigmaRegressor().get_metadata_routing()
    known = {"sample_weight", "group", "forecast", "observation", "time", "prior_sigma"}
    assert set(asked.fit.requests) == known
    assert set(asked.score.requests) == {"sample_weight", "observation", "time", "prior_sigma"}
    with pytest.raises(TypeError, match="error"):
        SigmaRegressor().set_fit_request(error=True)


def test_weights_and_groups_reach_sigma_in_folds_and_pipelines(routing, data):
    X, error, weight, group = data
    folds = GroupKFold(3)
    model = sigma(sample_weight=True, group=True).set_score_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    params = {"sample_weight": weight, "group": group, "groups": group}
    by_hand = []
    for train, test in folds.split(X, error, group):
        fitted = SigmaRegressor(**SIGMA).fit(X[train], error[train], weight[train], group=group[train])
        by_hand.append(fitted.score(X[test], error[test], weight[test]))
    assert cross_val_score(model, X, error, cv=folds, params=params).tolist() == by_hand
    both = make_pipeline(scaler, model).set_score_request(sample_weight=True)  # before scikit-learn 1.8
    piped = cross_val_score(both, X, error, cv=folds, params=params)
    np.testing.assert_allclose(piped, by_hand, rtol=1e-3)
    search = GridSearchCV(model, {"model": ["constant", "polynomial"]}, cv=folds).fit(X, error, **params)
    found = search.cv_results_
    assert [found[f"split{k}_test_score"][1] for k in range(3)] == by_hand
    # Weights matter here, so that they were not lost on both ways.
    assert cross_val_score(SigmaRegressor(**SIGMA), X, error, cv=folds, params={"groups": group}).tolist() != by_hand


class Noting(RegressorMixin, BaseEstimator):
    """A forecaster that notes what it is given."""

    def fit(self, X, y, sample_weight=None, note=None):
        self.noted_ = (len(y), sample_weight, note)
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_an_error_bar_regressor_passes_on_what_its_parts_ask_for(routing, data):
    X, y, weight, group = data
    same = ErrorBarRegressor(LinearRegression(), SigmaRegressor(**SIGMA))
    with sklearn.config_context(enable_metadata_routing=False):
        want = same.fit(X, y, weight, group=group)
    both = ErrorBarRegressor(
        LinearRegression().set_fit_request(sample_weight=True), sigma(sample_weight=True, group=True)
    )
    for given in ({"group": group}, {"groups": group}):
        got = both.fit(X, y, sample_weight=weight, **given)
        assert np.array_equal(got.forecast_, want.forecast_)
        assert np.array_equal(got.predict(X, return_std=True), want.predict(X, return_std=True))
    # Another name, other metadata, and what is not wanted.
    forecaster = Noting().set_fit_request(sample_weight="w", note=True)
    model = ErrorBarRegressor(forecaster, sigma(sample_weight=False, group=False))
    noted = model.fit(X, y, sample_weight=weight, w=2 * weight, note="x").estimator_.noted_
    assert noted[0] == 240 and np.array_equal(noted[1], 2 * weight) and noted[2] == "x"
    plain = ErrorBarRegressor(Noting().set_fit_request(sample_weight=False), sigma(sample_weight=False))
    assert np.array_equal(model.sigma_.predict(np.c_[X, 0 * y]), plain.fit(X, y).sigma_.predict(np.c_[X, 0 * y]))


def test_parts_that_are_not_given_take_both(routing, data):
    X, y, weight, group = data
    with sklearn.config_context(enable_metadata_routing=False):
        want = ErrorBarRegressor().set_params(sigma__model="constant").fit(X, y, weight, group=group)
    got = ErrorBarRegressor().set_params(sigma__model="constant").fit(X, y, weight, group=group)
    assert np.array_equal(got.predict(X, return_std=True), want.predict(X, return_std=True))


def test_an_error_bar_regressor_in_folds_and_searches(routing, data):
    X, y, weight, group = data
    folds, params = GroupKFold(3), {"sample_weight": weight, "groups": group}
    part = sigma(sample_weight=True, group=True)
    model = ErrorBarRegressor(LinearRegression().set_fit_request(sample_weight=True), part)
    model.set_score_request(sample_weight=True)
    by_hand = []
    for train, test in folds.split(X, y, group):
        fitted = model.fit(X[train], y[train], weight[train], groups=group[train])
        by_hand.append(fitted.score(X[test], y[test], weight[test]))
    assert cross_val_score(model, X, y, cv=folds, params=params).tolist() == by_hand
    scaled = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
    scaled.set_score_request(sample_weight=True)  # before scikit-learn 1.8
    np.testing.assert_allclose(cross_val_score(scaled, X, y, cv=folds, params=params), by_hand, rtol=1e-3)
    search = GridSearchCV(model, {"sigma__model": ["constant", "polynomial"]}, cv=folds).fit(X, y, **params)
    assert search.cv_results_["split0_test_score"][1] == by_hand[0]


def test_folds_of_its_own_may_ask_for_groups(routing, data):
    X, y, _, group = data
    model = ErrorBarRegressor(LinearRegression(), sigma(group=False), cv=GroupKFold(4).set_split_request(groups="g"))
    model.fit(X, y, g=group)
    by_hand = np.full(len(y), np.nan)
    for train, test in GroupKFold(4).split(X, y, group):
        by_hand[test] = LinearRegression().fit(X[train], y[train]).predict(X[test])
    assert np.array_equal(model.forecast_, by_hand)


def test_bounds_in_a_pipeline(routing, data):
    X, y, _, _ = data
    rain = np.maximum(y, 0.0)
    bounded = SigmaRegressor("constant", lower=0.0)
    with sklearn.config_context(enable_metadata_routing=False):
        want = ErrorBarRegressor(sigma=make_pipeline(StandardScaler(), bounded)).fit(X, rain)
    got = ErrorBarRegressor(sigma=make_pipeline(StandardScaler(), bounded)).fit(X, rain)
    assert np.array_equal(got.predict_interval(X), want.predict_interval(X))


def test_what_nobody_decided_is_asked_about(routing, data):
    X, y, weight, group = data
    with pytest.raises(UnsetMetadataPassedError, match="set_fit_request"):
        ErrorBarRegressor(RidgeCV(), sigma(sample_weight=True)).fit(X, y, weight)
    with pytest.raises(UnsetMetadataPassedError, match="set_fit_request"):
        ErrorBarRegressor(RidgeCV(), SigmaRegressor()).fit(X, y, groups=group)
    with pytest.raises(TypeError, match="nonsense"):
        ErrorBarRegressor().fit(X, y, nonsense=1)
    with pytest.raises(ValueError, match="has no time of new rows to give to sigma: leave it out"):
        ErrorBarRegressor(sigma=sigma(time=True)).fit(X, y, time=np.arange(240.0))


def test_without_routing_all_is_as_ever(data):
    X, y, weight, group = data
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        ErrorBarRegressor().fit(X, y, nonsense=1)
    with pytest.raises(RuntimeError, match="enable_metadata_routing"):
        SigmaRegressor().set_fit_request(sample_weight=True)
    params = {"sample_weight": weight, "group": group}
    folds = GroupKFold(3)
    got = cross_val_score(SigmaRegressor(**SIGMA), X, y, cv=folds, groups=group, params=params)
    want = [
        SigmaRegressor(**SIGMA).fit(X[a], y[a], weight[a], group=group[a]).score(X[b], y[b])
        for a, b in folds.split(X, y, group)
    ]
    assert got.tolist() == want
