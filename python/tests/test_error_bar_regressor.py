"""ErrorBarRegressor puts error bars on forecasters of scikit-learn's kind."""

from __future__ import annotations

import io
import pickle
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, GroupKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils import get_tags

from errbar import ErrorBarRegressor, SigmaRegressor

# The law of the paper: a Gaussian of the sigma that was learned.
PAPER = {"law": "normal", "recalibrate": False}


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
    ends = model.predict_quantiles(X[400:], [0.05, 0.95])
    np.testing.assert_allclose(ends.T, (low, high), rtol=1e-13)
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
    np.testing.assert_allclose(distribution.std(), sigma, rtol=1e-12)
    low, high = model.predict_interval(X, 0.8).T
    np.testing.assert_allclose(distribution.cdf(high) - distribution.cdf(low), 0.8, rtol=1e-12)
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
    # Words are inputs of sigma too.
    words = ErrorBarRegressor(make_pipeline(encode, RidgeCV()), POLYNOMIAL).fit(table, y)
    assert np.all(words.predict(table, return_std=True)[1] > 0)


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


def test_intervals_are_those_of_the_guarantee():
    """Errors of no Gaussian shape, of one size: what is promised holds, and a Gaussian would not say it."""
    random = np.random.default_rng(3)
    X = random.uniform(size=(4000, 1))
    y = X[:, 0] + random.standard_cauchy(4000)
    new = slice(2000, None)
    for sigma in (
        SigmaRegressor("constant", guarantee="split", **PAPER),
        SigmaRegressor("constant", guarantee="cross", **PAPER),
        make_pipeline(StandardScaler(), SigmaRegressor("constant", guarantee="split", **PAPER)),
    ):
        model = ErrorBarRegressor(DummyRegressor(strategy="median"), sigma).fit(X[:2000], y[:2000])
        low, high = model.predict_interval(X[new], level=0.9).T
        # 90% of 2,000 rows, within three standard errors, and the same again for what it was read off.
        assert abs(np.mean((low <= y[new]) & (y[new] <= high)) - 0.9) < 0.035
        gaussian = np.diff(model.predict_distribution(X[new]).interval(0.9), axis=0)
        assert not np.allclose(high - low, gaussian, rtol=0.05)
        forecast = model.predict(X[new])
        assert (low < forecast).all() and (forecast < high).all()


@pytest.mark.parametrize("guarantee", [None, "split"])
def test_several_levels_are_single_ones_side_by_side(data, guarantee):
    X, y = data
    model = ErrorBarRegressor(sigma=SigmaRegressor("constant", guarantee=guarantee)).fit(X, y)
    many = model.predict_interval(X[:50], level=[0.5, 0.9])
    assert many.shape == (50, 2, 2)
    for place, level in enumerate([0.5, 0.9]):
        assert np.array_equal(many[:, place], model.predict_interval(X[:50], level=level))
    with pytest.raises(ValueError, match="level is .*: give a number strictly between 0 and 1, or several"):
        model.predict_interval(X, level=[0.5, 90])


def test_a_guarantee_of_a_moved_forecast(data):
    X, y = data
    sigma = SigmaRegressor("polynomial", guarantee="split", debias=True)
    model = ErrorBarRegressor(DummyRegressor(), sigma).fit(X, y)
    low, high = model.predict_interval(X).T
    assert ((low < model.predict(X)) & (model.predict(X) < high)).all()
    assert np.ptp(low + high) > 1  # which the forecaster alone is not


def test_groups_reach_folds_and_sigma(data):
    X, y = data
    station = np.arange(len(X)) % 20
    for given in ({"groups": station}, {"group": pd.Series(station, name="station")}):
        model = ErrorBarRegressor(LinearRegression(), POLYNOMIAL, cv=GroupKFold(4))
        model.fit(X, y, **given)
        assert model.sigma_.validation_.whole_groups
        train, test = next(GroupKFold(4).split(X, y, station))
        want = LinearRegression().fit(X[train], y[train]).predict(X[test])
        assert np.array_equal(model.forecast_[test], want)
    # A number of folds holds out whole groups too: of 20 stations of one number each, none is known.
    random = np.random.default_rng(4)
    level = np.repeat(random.normal(size=20), 30)
    group, forecaster = np.repeat(np.arange(20), 30), KNeighborsRegressor(5)
    known = ErrorBarRegressor(forecaster, SigmaRegressor("constant")).fit(level[:, None], level)
    new = ErrorBarRegressor(forecaster, SigmaRegressor("constant"))
    new.fit(level[:, None], level, groups=group)
    assert np.abs(known.error_).max() < 1e-9 < 0.01 < np.abs(new.error_).max()
    pipeline = ErrorBarRegressor(cv=3, sigma=make_pipeline(StandardScaler(), POLYNOMIAL))
    assert pipeline.fit(X, y, groups=station).sigma_[-1].validation_.whole_groups
    # What learns sigma need not know groups.
    ErrorBarRegressor(sigma=DummyRegressor(strategy="constant", constant=1.0)).fit(
        X, y, groups=station
    )
    with pytest.raises(ValueError, match="group has 3 values but X has 600 rows"):
        ErrorBarRegressor().fit(X, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="two names of the same"):
        ErrorBarRegressor().fit(X, y, groups=station, group=station)


def test_each_group_has_its_own_promise():
    random = np.random.default_rng(5)
    X = random.uniform(size=(3000, 1))
    loud = random.random(3000) < 0.5
    y = random.normal(scale=np.where(loud, 5.0, 0.5))
    place = np.where(loud, "loud", "quiet")
    sigma = SigmaRegressor("constant", guarantee="split")
    model = ErrorBarRegressor(DummyRegressor(), sigma).fit(X[:1500], y[:1500], groups=place[:1500])
    low, high = model.predict_interval(X[1500:], group=place[1500:]).T
    inside = (low <= y[1500:]) & (y[1500:] <= high)
    for one in (loud[1500:], ~loud[1500:]):
        assert abs(inside[one].mean() - 0.9) < 0.05
    np.testing.assert_array_equal(
        model.predict_interval(X[1500:], groups=place[1500:]).T, [low, high]
    )


def test_the_seed_is_passed_on_to_what_has_none(data):
    X, y = data
    forest = ExtraTreeRegressor(max_depth=3)
    sigma = make_pipeline(StandardScaler(), SigmaRegressor("network"))
    model = ErrorBarRegressor(forest, sigma, cv=2, random_state=7).fit(X[:60], y[:60])
    assert model.estimator_.random_state == model.sigma_[-1].random_state == 7
    again = clone(model).fit(X[:60], y[:60])
    assert np.array_equal(again.predict(X, return_std=True), model.predict(X, return_std=True))
    own = ErrorBarRegressor(forest, SigmaRegressor("constant", random_state=3), random_state=7)
    assert own.fit(X, y).sigma_.random_state == 3
    none = ErrorBarRegressor(forest, SigmaRegressor("constant")).fit(X, y)
    assert none.sigma_.random_state is none.estimator_.random_state is None
    state = ErrorBarRegressor(forest, POLYNOMIAL, random_state=np.random.RandomState(1)).fit(X, y)
    assert state.estimator_.random_state == state.sigma_.random_state


def test_the_forecast_is_an_input_of_sigma(data):
    """Errors grow with what is forecast, which is no polynomial of the input."""
    random = np.random.default_rng(6)
    X = random.uniform(-1, 1, (800, 1))
    level = np.sin(25 * X[:, 0])
    y = level + random.normal(scale=0.3 * np.exp(level))
    forecaster = KNeighborsRegressor(10)
    new = slice(500, None)

    def fitted(**options):
        model = ErrorBarRegressor(forecaster, SigmaRegressor("polynomial"), **options)
        return model.fit(X[:500], y[:500])

    usual, without = fitted(), fitted(forecast_as_input=False)
    assert usual.sigma_.n_features_in_ == 2 and without.sigma_.n_features_in_ == 1
    assert usual.score(X[new], y[new]) > without.score(X[new], y[new])
    # The model is a function of the out-of-fold forecast, then of the forecast.
    known = np.column_stack([X[:500], usual.forecast_])
    want = SigmaRegressor("polynomial").fit(known, usual.error_)
    forecast = forecaster.fit(X[:500], y[:500]).predict(X[new])
    given = np.column_stack([X[new], forecast])
    assert np.array_equal(usual.predict(X[new], return_std=True)[1], want.predict(given))


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_forecast_is_a_column_of_a_table(table, data):
    X, y = data
    for name, called in (("x", "forecast"), ("forecast", "forecast_")):
        columns = table({name: X[:, 0]})
        model = ErrorBarRegressor(LinearRegression(), POLYNOMIAL).fit(columns, y)
        assert model.sigma_.feature_names_in_.tolist() == [name, called]
        assert columns.shape == (600, 1)
        plain = ErrorBarRegressor(LinearRegression(), POLYNOMIAL).fit(X, y)
        assert np.array_equal(
            model.predict(columns, return_std=True), plain.predict(X, return_std=True)
        )


def test_the_forecast_is_an_input_of_tables_without_names(data):
    X, y = data
    plain = ErrorBarRegressor(LinearRegression(), POLYNOMIAL).fit(X, y)
    numbered = ErrorBarRegressor(LinearRegression(), POLYNOMIAL).fit(pd.DataFrame(X), y)
    named = ErrorBarRegressor(LinearRegression(), POLYNOMIAL).fit(pd.DataFrame({"x": X[:, 0]}), y)
    want = plain.predict(X, return_std=True)
    assert np.array_equal(numbered.predict(pd.DataFrame(X), return_std=True), want)
    with pytest.warns(UserWarning, match="feature names"):  # which scikit-learn has to say
        assert np.array_equal(named.predict(X, return_std=True), want)


def test_a_saved_model_is_that_of_the_program(data, tmp_path, program):
    X, y = data
    table = pd.DataFrame({"x": X[:, 0]})
    file, new = tmp_path / "model.json", tmp_path / "new.csv"
    model = ErrorBarRegressor(LinearRegression(), POLYNOMIAL).fit(table, y)
    model.save(file)
    forecast, sigma = model.predict(table, return_std=True)
    table.assign(forecast=forecast).to_csv(new, index=False)
    call = [*program, "predict", str(new), "-m", str(file), "--interval", "0.9"]
    said = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    told = pd.read_csv(io.StringIO(said))
    assert np.array_equal(told["sigma"], sigma)
    ends = model.predict_interval(table, 0.9)
    # An end may lie near zero, where the digits of forecast and reach cancel.
    np.testing.assert_allclose(told[["lower_90", "upper_90"]], ends, rtol=1e-12, atol=1e-14)
    # Put on a forecaster that is fitted already, it is the same again.
    for X_, fitted in ((table, model), (X, ErrorBarRegressor(RidgeCV(), POLYNOMIAL).fit(X, y))):
        for one in (fitted, clone(fitted).set_params(forecast_as_input=False).fit(X_, y)):
            one.save(file)
            again = ErrorBarRegressor.load(file, one.estimator_)
            assert np.array_equal(
                again.predict(X_, return_std=True), one.predict(X_, return_std=True)
            )
            assert np.array_equal(again.outside(X_), one.outside(X_))
    with pytest.raises(ValueError, match="a model file holds no Pipeline: keep it by pickle"):
        ErrorBarRegressor(sigma=make_pipeline(POLYNOMIAL)).fit(X, y).save(file)
    with pytest.raises(NotFittedError):
        ErrorBarRegressor.load(file, LinearRegression())


def test_rows_outside_of_what_sigma_knows(data):
    X, y = data
    for sigma in (POLYNOMIAL, make_pipeline(StandardScaler(), POLYNOMIAL)):
        model = ErrorBarRegressor(sigma=sigma).fit(X, y)
        assert model.outside([[0.0], [7.0]]).tolist() == [False, True]
    other = ErrorBarRegressor(sigma=DummyRegressor(strategy="constant", constant=1.0)).fit(X, y)
    with pytest.raises(ValueError, match="DummyRegressor does not say which rows are outside"):
        other.outside(X)
    with pytest.raises(NotFittedError):
        ErrorBarRegressor().outside(X)


def test_gaps_may_be_where_both_parts_take_them(data):
    X, y = data
    takes = HistGradientBoostingRegressor(max_iter=5)

    def allowed(*parts):
        return get_tags(ErrorBarRegressor(*parts)).input_tags.allow_nan

    assert allowed(takes) and allowed(takes, SigmaRegressor("trees"))
    assert not allowed() and not allowed(LinearRegression())
    assert not allowed(takes, LinearRegression())
    gaps = np.where(np.arange(len(X))[:, None] % 5, X, np.nan)
    model = ErrorBarRegressor(takes, SigmaRegressor("trees"), cv=2).fit(gaps, y)
    assert np.all(model.predict(gaps, return_std=True)[1] > 0)


def test_parts_that_are_not_given_have_parameters_too(data):
    X, y = data
    model = ErrorBarRegressor().set_params(sigma__model="constant", estimator__fit_intercept=False)
    assert model.sigma.model == "constant" and not model.estimator.fit_intercept
    assert ErrorBarRegressor().get_params()["sigma__model"] == "auto"
    again = ErrorBarRegressor().set_params(sigma=None, sigma__loss="crps")
    assert again.sigma.loss == "crps" and again.estimator is None
    search = GridSearchCV(
        ErrorBarRegressor(), {"sigma__model": ["constant", "polynomial"]}, cv=2
    )
    assert search.fit(X, y).best_params_ == {"sigma__model": "polynomial"}
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        ErrorBarRegressor().set_params(sigma__nonsense=1)


def test_times_are_refused_in_a_sentence(data):
    X, y = data
    table = pd.DataFrame({"x": X[:, 0], "when": pd.date_range("2020", periods=len(X))})
    with pytest.raises(ValueError, match='the input "when" at row 0 is 2020-01-01.*, a time: give'):
        ErrorBarRegressor().fit(table, y)
