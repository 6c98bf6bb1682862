"""ErrorBarRegressor puts error bars on forecasters of scikit-learn's kind."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from errbar import ErrorBarRegressor, SigmaRegressor


@pytest.fixture
def data():
    random = np.random.default_rng(2)
    X = random.uniform(-1, 1, (600, 1))
    return X, 3 * X[:, 0] + random.normal(scale=np.exp(X[:, 0]))


POLYNOMIAL = SigmaRegressor("polynomial")


def test_error_bars_hold_what_they_promise(data):
    X, y = data
    model = ErrorBarRegressor(LinearRegression(), POLYNOMIAL).fit(X[:400], y[:400])
    low, high = model.predict_interval(X[400:], level=0.9).T
    inside = np.mean((low <= y[400:]) & (y[400:] <= high))
    # 90% of 200 rows, within three standard errors.
    assert abs(inside - 0.9) < 3 * np.sqrt(0.9 * 0.1 / 200)
    forecast, sigma = model.predict(X[400:], return_std=True)
    assert np.corrcoef(np.log(sigma), X[400:, 0])[0, 1] > 0.9
    assert np.array_equal(forecast, model.predict(X[400:]))


def test_a_forecaster_that_has_seen_everything_is_not_believed(data):
    """The nearest neighbour knows its own rows exactly; its error bars must not."""
    X, y = data
    model = ErrorBarRegressor(KNeighborsRegressor(1), SigmaRegressor("constant")).fit(X, y)
    assert np.all(model.estimator_.predict(X) == y)
    # The difference of two errors, each of variance mean(exp(2 x)).
    true = np.sqrt(2 * np.mean(np.exp(2 * X[:, 0])))
    assert model.predict(X[:1], return_std=True)[1][0] == pytest.approx(true, rel=0.2)


def test_errors_are_out_of_fold(data):
    X, y = data
    folds = [(np.arange(100, 600), np.arange(100)), (np.arange(100), np.arange(100, 600))]
    model = ErrorBarRegressor(LinearRegression(), POLYNOMIAL, cv=folds).fit(X, y)
    for train, test in folds:
        forecast = LinearRegression().fit(X[train], y[train]).predict(X[test])
        assert np.array_equal(model.error_[test], y[test] - forecast)


def test_rows_in_the_order_of_time(data):
    X, y = data
    model = ErrorBarRegressor(LinearRegression(), POLYNOMIAL, cv=TimeSeriesSplit(4)).fit(X, y)
    first = len(X) - 4 * (len(X) // 5)
    assert np.isnan(model.error_[:first]).all() and np.isfinite(model.error_[first:]).all()


def test_distribution_and_score(data):
    X, y = data
    model = ErrorBarRegressor(RidgeCV(), POLYNOMIAL).fit(X, y)
    distribution = model.predict_distribution(X)
    forecast, sigma = model.predict(X, return_std=True)
    assert np.array_equal(distribution.mean(), forecast)
    assert np.array_equal(distribution.std(), sigma)
    assert model.score(X, y) == pytest.approx(-np.mean(distribution.crps(y)), rel=1e-12)
    # Better than the same forecast without error bars, whose CRPS is the absolute error.
    assert model.score(X, y) > -np.mean(np.abs(y - forecast))


def test_a_bias_moves_the_forecast(data):
    """A forecaster that knows no input, and a model of its errors that does."""
    X, y = data
    for sigma in (
        SigmaRegressor("polynomial", debias=True),
        make_pipeline(StandardScaler(), SigmaRegressor("polynomial", debias=True)),
    ):
        model = ErrorBarRegressor(DummyRegressor(), sigma).fit(X[:400], y[:400])
        plain = ErrorBarRegressor(DummyRegressor(), POLYNOMIAL).fit(X[:400], y[:400])
        assert np.corrcoef(model.predict(X[400:]), 3 * X[400:, 0])[0, 1] > 0.95
        assert np.ptp(plain.predict(X[400:])) == 0
        assert model.score(X[400:], y[400:]) > plain.score(X[400:], y[400:])


def test_weights_reach_forecaster_and_sigma(data):
    X, y = data
    weight = np.where(X[:, 0] > 0, 1.0, 0.0)
    model = ErrorBarRegressor(LinearRegression(), SigmaRegressor("constant"))
    right = model.fit(X, y, sample_weight=weight)
    want = LinearRegression().fit(X[X[:, 0] > 0], y[X[:, 0] > 0])
    assert right.estimator_.coef_ == pytest.approx(want.coef_, rel=1e-9)
    # Errors are larger there.
    assert right.predict([[0.5]], return_std=True)[1] > 1.5 * np.exp(-0.5)
    with pytest.raises(ValueError, match="KNeighborsRegressor takes no sample_weight"):
        ErrorBarRegressor(KNeighborsRegressor()).fit(X, y, sample_weight=weight)
    pipeline = ErrorBarRegressor(make_pipeline(LinearRegression()), SigmaRegressor("constant"))
    again = pipeline.fit(X, y, sample_weight=weight)
    assert again.estimator_[-1].coef_ == pytest.approx(want.coef_, rel=1e-9)


def test_tables_with_words_and_gaps(data):
    """The forecaster gets the table as it is; what learns sigma may be a pipeline too."""
    X, y = data
    table = pd.DataFrame({"x": X[:, 0], "place": np.where(np.arange(len(X)) % 2, "sea", "land")})
    encode = make_column_transformer((OneHotEncoder(), ["place"]), remainder="passthrough")
    model = ErrorBarRegressor(
        make_pipeline(encode, DecisionTreeRegressor(max_depth=4)),
        make_pipeline(clone(encode), POLYNOMIAL),
        cv=3,
    ).fit(table, y)
    assert model.feature_names_in_.tolist() == ["x", "place"]
    assert np.all(model.predict(table, return_std=True)[1] > 0)
    with pytest.raises(ValueError, match="the input \"place\" at row 0 is 'land'"):
        ErrorBarRegressor(make_pipeline(encode, RidgeCV()), POLYNOMIAL).fit(table, y)


def test_it_travels_and_is_searched(data):
    X, y = data
    model = ErrorBarRegressor(KNeighborsRegressor(), SigmaRegressor("constant"), n_jobs=2)
    fitted = clone(model).fit(X, y)
    other = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(other.predict(X, return_std=True), fitted.predict(X, return_std=True))
    search = GridSearchCV(model.set_params(n_jobs=None), {"estimator__n_neighbors": [1, 40]}, cv=3)
    assert search.fit(X, y).best_params_ == {"estimator__n_neighbors": 40}


def test_bad_input_is_refused(data):
    X, y = data

    def refused(words, X=X, y=y, **options):
        with pytest.raises(ValueError, match=words):
            ErrorBarRegressor(**{"sigma": POLYNOMIAL, **options}).fit(X, y)

    hole = y.copy()
    hole[7] = np.nan
    refused("y at row 7 is nan", y=hole)
    refused("y has 5 values but X has 600 rows", y=y[:5])
    refused("target y is None", y=None)
    refused("'a', which is no number", y=["a"] * 600)
    hole = X.copy()
    hole[9] = np.nan
    refused("contains NaN", X=hole, estimator=LinearRegression())
    refused("one number per row", estimator=Pair())


class Pair(LinearRegression):
    """Forecasts two numbers for each row."""

    def predict(self, X):
        return np.zeros((len(X), 2))
