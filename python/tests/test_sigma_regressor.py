"""SigmaRegressor learns how large errors are."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import errbar
from errbar import SigmaRegressor


# Sigma as the model says it, and a Gaussian around the forecast.
PAPER = {"law": "normal", "recalibrate": False}


@pytest.fixture
def fitted(heteroskedastic):
    X, error, _ = heteroskedastic
    return SigmaRegressor("polynomial").fit(X, error)


def test_it_finds_the_sigma_that_made_the_errors(heteroskedastic):
    X, error, sigma = heteroskedastic
    model = SigmaRegressor(**PAPER).fit(X, error)
    found = model.predict(X)
    # 400 errors tell one sigma to 1/sqrt(800), and a function of two inputs less well.
    assert np.sqrt(np.mean(np.log(found / sigma) ** 2)) < 0.25
    assert model.validation_.crps_skill > 0.05
    assert model.validation_.importance[0].name == "x0"
    assert {one.model for one in model.validation_.candidates} > {"constant", model.model_}
    assert model.explanation_


def test_quantiles_and_intervals_are_those_of_scipy(heteroskedastic):
    X, error, _ = heteroskedastic
    forecast = 10 + X[:, 0]
    # The errors are too low by 3.
    model = SigmaRegressor("polynomial", debias=True, **PAPER).fit(X, error + 3)
    normal = stats.norm(forecast + model.bias(X), model.predict(X))
    levels = [0.001, 0.3, 0.975]
    expected = np.stack([normal.ppf(level) for level in levels], axis=-1)
    found = model.predict_quantiles(X, forecast, levels)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    low, high = model.predict_interval(X, forecast, 0.9).T
    np.testing.assert_allclose((low, high), normal.interval(0.9), rtol=1e-13)
    assert model.predict_quantiles(X, forecast, 0.5).shape == (len(X), 1)
    with pytest.raises(ValueError, match="need the forecast"):
        model.predict_interval(X)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        model.predict_quantiles(X, forecast, [0.5, 1.0])
    with pytest.raises(ValueError, match="forecast has 3 values"):
        model.predict_interval(X, forecast[:3])


def test_a_law_of_heavy_tails_is_found_and_used():
    """Errors of Student's t with three degrees of freedom around one sigma: a Gaussian's 99% intervals
    hold too few of new ones."""
    random = np.random.default_rng(5)
    X, t = random.uniform(size=(4000, 1)), stats.t(3)
    error = t.rvs(4000, random_state=random)
    known, new = slice(0, 2000), slice(2000, 4000)
    model = SigmaRegressor("constant").fit(X[known], error[known])
    assert "Student's t" in model.law_
    law = model.predict_distribution(X[new], np.zeros(2000))
    np.testing.assert_allclose(law.std(), model.predict(X[new]), rtol=1e-12)
    # Of 2,000 rows 1% is known to 0.2%, and the quantile of 2,000 others adds as much.
    low, high = model.predict_interval(X[new], np.zeros(2000), 0.99).T
    inside = np.mean((low <= error[new]) & (error[new] <= high))
    assert abs(inside - 0.99) < 0.0085
    np.testing.assert_allclose(law.interval(0.99), (low, high), rtol=1e-12)
    assert model.score(X[new], error[new]) == pytest.approx(-np.mean(law.crps(error[new])), rel=1e-12)
    assert SigmaRegressor("constant", law="laplace").fit(X, error).law_.endswith("Gaussian's")
    with pytest.raises(ValueError, match="normal, logistic"):
        SigmaRegressor(law="cauchy").fit(X, error)
    with pytest.raises(ValueError, match="knows sigma alone"):
        model.predict_distribution(X)


def test_it_beats_one_constant_sigma_by_its_own_score(heteroskedastic):
    X, error, _ = heteroskedastic
    model = SigmaRegressor(**PAPER).fit(X[:300], error[:300])
    constant = SigmaRegressor("constant").fit(X[:300], error[:300])
    assert model.score(X[300:], error[300:]) > constant.score(X[300:], error[300:])
    sigma = model.predict(X[300:])
    mean = -np.mean(errbar.crps(error[300:], sigma))
    assert model.score(X[300:], error[300:]) == pytest.approx(mean, rel=1e-13)


def known_models():
    """Their names, as a wrong one is refused with them."""
    try:
        SigmaRegressor("").fit([[1.0]], [1.0])
    except ValueError as refusal:
        return str(refusal).partition("give one of ")[2].split(", ")


def test_every_model_and_loss_by_name(heteroskedastic):
    X, error, _ = heteroskedastic
    assert len(known_models()) >= 5
    for model in known_models():
        fitted = SigmaRegressor(model).fit(X[:100], error[:100])
        assert fitted.model_ == model or (model == "auto" and fitted.model_ in known_models())
        assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
    for loss in ("ar", "crps", "nlpd"):
        SigmaRegressor("polynomial", loss=loss).fit(X[:100], error[:100])
    # One constant sigma of least negative log density is the root mean square; a cost tells where
    # its minimum is to half of its digits.
    constant = SigmaRegressor("constant", loss="nlpd", **PAPER).fit(X, error)
    assert constant.predict(X[:1])[0] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-7)


def test_weights_are_rows_written_twice():
    X, error = np.arange(6.0)[:, None], np.array([0.5, -1.0, 2.0, 0.1, -0.3, 1.1])
    options = {"model": "constant", "loss": "crps"}
    weighted = SigmaRegressor(**options).fit(X, error, [1, 2, 1, 0, 1, 1])
    rows = [0, 1, 1, 2, 4, 5]
    twice = SigmaRegressor(**options).fit(X[rows], error[rows])
    assert weighted.predict(X)[0] == pytest.approx(twice.predict(X)[0], rel=1e-7)


def test_few_rows_are_one_constant_whatever_the_model(heteroskedastic):
    X, error, _ = heteroskedastic
    want = SigmaRegressor("constant", loss="crps")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        want.fit(X[:19], error[:19])
    for kind in set(known_models()) - {"constant"}:
        model = SigmaRegressor(kind, loss="crps")
        with pytest.warns(UserWarning, match=rf"fewer than 20 rows \(19 here\).*{kind}"):
            model.fit(X[:19], error[:19])
        assert model.model_ == "constant"
        assert np.array_equal(model.predict(X), want.predict(X))
    with pytest.warns(UserWarning, match=r"\(2 here\)"):
        model = SigmaRegressor("trees").fit([[1.0], [2.0]], [0.5, -0.7])
    assert model.validation_ is None


def test_the_rows_used_are_told():
    random = np.random.default_rng(9)
    X, error = random.uniform(size=(3000, 1)), random.normal(size=3000)

    def fitted(rows, *words, **options):
        model = SigmaRegressor(**options)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(X[:rows], error[:rows])
        assert len(said) == bool(words), [str(one.message) for one in said]
        for word in words:
            assert word in str(said[0].message)
        return model.trained_on_

    assert fitted(300, model="polynomial") == 300
    capped = "trained on 100 of 300 rows: most_rows=100"
    assert fitted(300, capped, model="polynomial", most_rows=100) == 100
    assert fitted(600, "trained on 100 of 600", model="trees", most_rows=100) == 100
    assert fitted(3000, model="trees") == 3000
    assert fitted(600, model="constant", most_rows=100) == 600
    assert fitted(300, model="polynomial", guarantee="split") == 150
    few = fitted(3000, "of 3000 rows", "budget=10000", model="polynomial", budget=1e4)
    assert 20 <= few < 3000
    for most_rows in (0, 19):
        refused(X, error, f"train a model on are {most_rows}: give at least 20", most_rows=most_rows)


def test_several_levels_are_single_ones_side_by_side(heteroskedastic):
    X, error, _ = heteroskedastic
    smooth = SigmaRegressor("smooth").fit(X[:60], error[:60])
    promised = SigmaRegressor("constant", guarantee="split").fit(X, error)

    def interval(X, level):
        return smooth.predict_interval(X, np.zeros(len(X)), level)

    for function in (smooth.sigma_band, promised.guaranteed, interval):
        for level in ("high", None, 90, 0.0, [0.5, 1.0], [], [[0.5]], float("nan")):
            with pytest.raises(ValueError, match="level is .*: give a number strictly between 0 and 1, or several"):
                function(X, level=level)
        assert np.array_equal(function(X, level=np.float64(0.5)), function(X, level=0.5))
        assert function(X, level=0.5).shape == (len(X), 2)
        for levels in ([0.9, 0.5], np.array([0.9, 0.5]), (0.9, 0.5)):
            many = function(X, level=levels)
            assert many.shape == (len(X), 2, 2)
            for place, level in enumerate(levels):
                assert np.array_equal(many[:, place], function(X, level=level))
        assert function(X, level=[0.5]).shape == (len(X), 1, 2)
        # The wider level holds the other.
        assert (many[:, 0, 0] <= many[:, 1, 0]).all() and (many[:, 1, 1] <= many[:, 0, 1]).all()


def test_times_are_refused_in_a_sentence():
    when, error = pd.date_range("2020-01-02", periods=30), np.arange(30.0)
    told = 'the input "when" at row 0 is 2020-01-02'
    for table in (
        pd.DataFrame({"x": error, "when": when}),
        pd.DataFrame({"when": when}),
        pd.DataFrame({"x": error, "when": when.tz_localize("UTC")}),
        pl.DataFrame({"x": error, "when": list(when.to_pydatetime())}),
        pa.table({"x": error, "when": when}),
    ):
        refused(table, error, told)
        refused(table, error, "a time: give numbers")
    refused(when.to_numpy()[:, None], error, 'the input "x0" at row 0 is 2020-01-02')
    lasted = pd.DataFrame({"lasted": pd.to_timedelta(error, unit="h")})
    refused(lasted, error, 'the input "lasted" at row 0 is 0')


def test_the_same_data_give_the_same_model_on_any_number_of_threads(heteroskedastic):
    X, error, _ = heteroskedastic
    want = SigmaRegressor("network", n_jobs=1).fit(X, error).predict(X)
    assert np.array_equal(want, SigmaRegressor("network", n_jobs=2).fit(X, error).predict(X))
    assert np.array_equal(want, SigmaRegressor("network", random_state=0).fit(X, error).predict(X))
    other = SigmaRegressor("network", random_state=np.random.RandomState(5)).fit(X, error)
    assert not np.array_equal(want, other.predict(X))


def test_rows_beyond_the_known_range_are_told(fitted):
    assert fitted.outside([[0.0, 0.0], [7.0, 0.0]]).tolist() == [False, True]
    with pytest.raises(ValueError, match="fit_mean=True for a forecast"):
        fitted.forecast([[0.0, 0.0]])


def test_a_bias_is_learned_too(heteroskedastic):
    X, error, _ = heteroskedastic
    biased = error + 3 * X[:, 1]
    plain = SigmaRegressor("polynomial").fit(X[:300], biased[:300])
    model = SigmaRegressor("polynomial", debias=True, **PAPER).fit(X[:300], biased[:300])
    assert np.array_equal(plain.bias(X), np.zeros(len(X)))
    # It is 3 times the second input, which is most of what is found of it.
    true = 3 * X[300:, 1]
    assert np.mean((model.bias(X[300:]) - true) ** 2) < 0.2 * np.mean(true**2)
    assert model.score(X[300:], biased[300:]) > plain.score(X[300:], biased[300:])
    left = biased[300:] - model.bias(X[300:])
    mean = -np.mean(errbar.crps(left, model.predict(X[300:])))
    assert model.score(X[300:], biased[300:]) == pytest.approx(mean, rel=1e-12)


def test_a_band_on_sigma_itself(heteroskedastic, fitted):
    X, error, sigma = heteroskedastic
    low, high = SigmaRegressor("smooth").fit(X, error).sigma_band(X, level=0.95).T
    # Bands of single rows hold the truth about as often as they say; all rows share one fit.
    assert np.mean((low < sigma) & (sigma < high)) > 0.7
    with pytest.raises(ValueError, match='kind "polynomial" has no band'):
        fitted.sigma_band(X)


def test_groups_that_are_not_held_out_are_said_not_to_be():
    random = np.random.default_rng(3)
    X, error = random.uniform(size=(300, 1)), random.normal(size=300)
    many, few = np.arange(300) % 30, np.arange(300) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SigmaRegressor("polynomial").fit(X, error, group=many).validation_.whole_groups
    with pytest.warns(UserWarning, match="3 groups are fewer than 10") as said:
        SigmaRegressor("constant").fit(X, error, group=few)
    assert said[0].filename == __file__
    with pytest.warns(UserWarning, match="in the order of time, not whole groups"):
        SigmaRegressor("constant", time_order=True).fit(X, error, group=many)


def test_inputs_that_stand_in_for_one_another_are_one_entry():
    random = np.random.default_rng(4)
    x = random.uniform(size=2000)
    X = np.column_stack([x, random.uniform(size=2000), x + random.normal(0, 0.02, 2000)])
    error = random.normal(size=2000) * np.exp(2 * x)
    first, other = SigmaRegressor("polynomial").fit(X, error).validation_.importance
    assert (first.name, first.twins, other.name, other.twins) == ("x0", ["x2"], "x1", [])
    assert first.crps_share > 0.05 > other.crps_share
    assert first.smallest[0] < 0.3 and first.largest[0] > 0.7


def test_small_groups_are_promised_together():
    random = np.random.default_rng(9)
    group = np.concatenate([np.repeat(np.arange(40), 60), np.repeat(np.arange(40, 80), 3)])
    X, error = random.uniform(size=(group.size, 1)), random.normal(size=group.size)
    model = SigmaRegressor("constant", guarantee="split").fit(X, error, group=group)
    assert model.guaranteed_by([3, 50, 60, 99]).tolist() == [
        "3",
        "small groups together",
        "small groups together",
        None,
    ]
    low, high = model.guaranteed(X[:4], 0.9, [3, 50, 60, 99]).T
    assert high[1] == high[2] != high[0] and np.isnan(high[3]) and low[1] < 0 < high[1]


def test_intervals_with_a_guarantee():
    """Errors of no Gaussian shape and a model of one constant sigma: the promise holds all the same."""
    random = np.random.default_rng(8)
    X = random.uniform(size=(4000, 1))
    group = np.where(X[:, 0] > 0.7, "wild", "calm")
    error = random.standard_t(2, 4000) * np.where(group == "wild", 5.0, 1.0)
    model = SigmaRegressor("constant", guarantee="split")
    for method in ("split", "cross"):
        model.set_params(guarantee=method).fit(X[:2000], error[:2000])
        low, high = model.guaranteed(X[2000:]).T
        # 2,000 new rows and 1,000 known ones, within three standard errors of both.
        assert abs(np.mean((low <= error[2000:]) & (error[2000:] <= high)) - 0.9) < 3 * np.sqrt(
            0.09 * (1 / 2000 + 1 / 1000)
        )
    model.set_params(guarantee="split")
    with pytest.warns(UserWarning, match="2 groups are fewer than 10"):
        model.fit(X[:2000], error[:2000], group=group[:2000])
    low, high = model.guaranteed(X[2000:], 0.9, group[2000:]).T
    for one in ("calm", "wild"):
        here = group[2000:] == one
        inside = np.mean(((low <= error[2000:]) & (error[2000:] <= high))[here])
        assert abs(inside - 0.9) < 3 * np.sqrt(0.09 * (1 / here.sum() + 1 / 300))
    # A group that was not seen gets no promise.
    unknown = np.isnan(model.guaranteed(X[:2], 0.9, ["calm", "new"]))
    assert unknown.tolist() == [[False, False], [True, True]]
    assert model.guaranteed_by(["calm", "new"]).tolist() == ["calm", None]
    with pytest.raises(ValueError, match="group has 1 values but X has 2 rows"):
        model.guaranteed(X[:2], 0.9, ["calm"])
    with pytest.raises(ValueError, match="fitted without a guarantee"):
        SigmaRegressor("constant").fit(X, error).guaranteed(X)
    with pytest.raises(ValueError, match='guarantee is "all": give one of split, cross'):
        SigmaRegressor("constant", guarantee="all").fit(X, error)


TABLES = {
    "pandas": lambda X: pd.DataFrame(X, columns=["season", "hour"]),
    "Polars": lambda X: pl.DataFrame(X, schema=["season", "hour"]),
    "PyArrow": lambda X: pa.table({"season": X[:, 0], "hour": X[:, 1]}),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_names_are_kept_and_checked(heteroskedastic, table):
    X, error, _ = heteroskedastic
    model = SigmaRegressor("polynomial").fit(table(X), pd.Series(error))
    if table is TABLES["Polars"] and not hasattr(model, "feature_names_in_"):
        pytest.skip("this scikit-learn does not know the names of this Polars' columns")
    assert model.feature_names_in_.tolist() == ["season", "hour"]
    assert model.n_features_in_ == 2
    assert np.array_equal(
        model.predict(table(X)), SigmaRegressor("polynomial").fit(X, error).predict(X)
    )
    other = pd.DataFrame(X, columns=["hour", "season"])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(other)


def test_it_travels(fitted, heteroskedastic):
    X, error, _ = heteroskedastic
    want = fitted.predict(X)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), copy.copy(fitted)):
        assert np.array_equal(other.predict(X), want)
    fresh = clone(fitted).set_params(loss="crps")
    assert fresh.get_params()["model"] == "polynomial" and fresh.loss == "crps"
    with pytest.raises(NotFittedError):
        fresh.predict(X)


def test_pipelines_searches_and_jobs(heteroskedastic):
    X, error, _ = heteroskedastic
    pipeline = make_pipeline(StandardScaler(), SigmaRegressor("constant"))
    search = GridSearchCV(
        pipeline, {"sigmaregressor__model": ["constant", "polynomial"]}, cv=3, n_jobs=2
    )
    search.fit(X, error)
    assert search.best_params_ == {"sigmaregressor__model": "polynomial"}
    assert np.all(cross_val_score(pipeline, X, error, cv=3) < 0)


def test_progress_is_told(heteroskedastic, capfd):
    X, error, _ = heteroskedastic
    shares = []
    SigmaRegressor("network", progress=shares.append, verbose=True).fit(X, error)
    assert shares[-1] == 1.0 and shares == sorted(shares)
    assert "100%" in capfd.readouterr().err


def test_an_error_in_the_progress_function_stops_the_fit(heteroskedastic):
    X, error, _ = heteroskedastic

    def stop(share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        SigmaRegressor("constant", progress=stop).fit(X, error)


def refused(X, error, words, **options):
    weight = options.pop("sample_weight", None)
    with pytest.raises(ValueError) as caught:
        SigmaRegressor(**options).fit(X, error, sample_weight=weight)
    assert words in str(caught.value), caught.value


def test_bad_tables_are_refused():
    X, error = np.ones((30, 2)), np.arange(30.0)
    holes = X.copy()
    holes[3, 1] = np.inf
    refused(holes, error, 'the input "x1" at row 3 is inf')
    refused(pd.DataFrame(holes, columns=["a", "b"]), error, 'the input "b" at row 3 is inf')
    refused(X, error, "the budget is 0", budget=0)
    words = pd.DataFrame({"a": error, "b": ["x"] * 30})
    said = "the input \"b\" at row 0 is 'x', which is no number"
    refused(words, error, said, categorical_features=None)
    refused([["a", 1.0]] * 30, error, "the input \"x0\" at row 0 is 'a'")
    refused(pd.DataFrame(X, columns=["a", "a"]), error, 'two input columns are named "a"')
    refused(X, error[:-1], "30 values but error has 29")
    refused(X, np.full(30, np.inf), "error at row 0 is inf")
    refused(X, np.zeros(30), "all 30 errors are 0")
    refused(X, ["a"] * 30, "error at row 0 is 'a'")
    refused(X, np.ones((30, 2)), "1d array")
    refused(X, error, "weight at row 2 is -1", sample_weight=[1, 1, -1] + [1] * 27)
    refused(X, error, "weight has 1 values", sample_weight=[1])
    refused(error, error, "Reshape your data")


def test_bad_options_are_refused():
    X, error = np.arange(30.0)[:, None], np.arange(30.0)
    known = "give one of auto, constant, polynomial, smooth, network"
    refused(X, error, f'model is "gp": {known}', model="gp")
    refused(X, error, "model is 3: give its name", model=3)
    refused(X, error, 'loss is "mse": give one of ar, crps, nlpd', loss="mse")
    refused(X, error, "beta is 2", beta=2)
    refused(X, error, "hold out is 1.5", validation=1.5)
    refused(X, error, "validation is 'x'", validation="x")
    refused(X, error, "most_rows is -1", most_rows=-1)
    refused(X, error, "random_state is -1", random_state=-1)
    refused(X, error, "n_jobs is 0", n_jobs=0)
    refused(X, error, "n_jobs is 'all'", n_jobs="all")
    refused(X, error, "progress is 3", progress=3)
    with pytest.raises(ValueError, match="two names of the same"):
        SigmaRegressor().fit(X, error, y=error)


def test_a_missing_input_tells_something():
    rng = np.random.default_rng(4)
    X = rng.random((600, 2))
    X[::3, 1] = np.nan
    error = np.where(np.isnan(X[:, 1]), 3.0, 1.0) * rng.normal(size=600)
    model = SigmaRegressor("trees").fit(X, error)
    missing, known = model.predict([[0.5, np.nan], [0.5, 0.5]])
    assert 2 < missing / known < 4.5


@pytest.mark.parametrize("kind", ["auto", "constant", "polynomial", "smooth", "network", "trees"])
def test_an_input_may_be_missing_where_none_was(kind, heteroskedastic):
    X, error, _ = heteroskedastic
    model = SigmaRegressor(kind).fit(X[:100], error[:100])
    new = [[0.1, 0.1], [np.nan, 0.1], [np.nan, np.nan]]
    assert np.all(np.isfinite(model.predict(new)) & (model.predict(new) > 0))
    # To one constant sigma it is all one.
    assert model.outside(new).tolist() == [False] + 2 * [kind != "constant"]


def test_auto_says_what_it_tried_and_how():
    rng = np.random.default_rng(5)
    X = rng.random((200, 1))
    error = np.exp(2 * X[:, 0]) * rng.normal(size=200)
    model = SigmaRegressor().fit(X, error)
    found = model.validation_
    assert (found.rows, found.turns, found.whole_groups) == (200, 5, False)
    tried = [one.model for one in found.candidates]
    assert tried[:5] == ["constant", "polynomial", "smooth", "network", "trees"]
    assert model.model_ in tried
    assert found.not_tried == []
    with pytest.warns(UserWarning, match="budget=1e[+]06 had no room for .*network"):
        quick = SigmaRegressor(budget=1e6).fit(X, error)
    assert "network" in quick.validation_.not_tried
    assert quick.validation_.turns == 1


def test_whole_groups_are_held_out():
    rng = np.random.default_rng(6)
    station = np.repeat(np.arange(20), 15)
    # Which stations are noisy cannot be told from anything but the station.
    error = np.where(station % 2, 2.0, 0.2) * rng.normal(size=300)
    rows = SigmaRegressor("trees").fit(station[:, None], error).validation_
    groups = SigmaRegressor("trees").fit(station[:, None], error, group=station).validation_
    assert groups.whole_groups
    assert not rows.whole_groups
    assert rows.crps_skill > 0.05 + groups.crps_skill


def test_a_skew_that_turns_with_the_inputs(tmp_path):
    """Errors that reach six times as far below where x is small, and six times as far above where it is large: each
    row has a law of its own, the same in every answer, in a file and where the forecaster is fitted beside."""
    rng = np.random.default_rng(2)

    def draw(rows):
        x = rng.random((rows, 2))
        ratio = np.exp(1.8 * (2 * x[:, 0] - 1))
        left = rng.random(rows) < 1 / (1 + ratio)
        error = np.abs(rng.standard_normal(rows)) * np.where(left, -1, ratio)
        unit = stats.foldnorm(0).mean() * (ratio - 1)
        size = np.sqrt(1 - ratio + ratio**2 - unit**2)
        return x, (1 + x[:, 1]) * (error - unit) / size

    X, error = draw(8000)
    model = SigmaRegressor("polynomial").fit(X, error)
    assert "more to the upper side where x0 is large" in model.law_
    new, seen = draw(10_000)
    zero = np.zeros(len(new))
    law = model.predict_distribution(new, zero)
    # Their mean is the same at all skews, and their deviation is sigma.
    np.testing.assert_allclose(law.std(), model.predict(new), rtol=1e-12)
    assert np.ptp(law.mean() / model.predict(new)) < 1e-12
    for side in (new[:, 0] < 0.3, new[:, 0] > 0.7):
        for p in (0.05, 0.5, 0.95):
            assert np.mean((law.cdf(seen) < p)[side]) == pytest.approx(p, abs=0.03)
    np.testing.assert_allclose(law.ppf(0.05), model.predict_quantiles(new, zero, 0.05)[:, 0], rtol=1e-12)
    assert model.score(new, seen) == pytest.approx(-law.crps(seen).mean(), rel=1e-12)
    model.save(tmp_path / "model.json")
    again = SigmaRegressor.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_distribution(new, zero).ppf(0.9), law.ppf(0.9))
