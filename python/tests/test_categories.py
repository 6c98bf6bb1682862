"""Inputs that are texts: pandas and Polars, masks and names, pickles and files."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import errbar
from errbar import ErrorBarRegressor, SigmaRegressor

SIGMA = {"AA": 1.0, "HA": 5.0, "UA": 2.0, "B6": 0.5}
ROWS = 1200


def rows(seed=0):
    random = np.random.default_rng(seed)
    carrier = random.choice(list(SIGMA), ROWS)
    hour = random.uniform(0, 24, ROWS)
    sigma = np.array([SIGMA[one] for one in carrier])
    return carrier, hour, sigma * random.normal(size=ROWS)


CARRIER, HOUR, ERROR = rows()
NEW = {"carrier": ["HA", "B6", "ZZ"], "hour": [12.0, 12.0, 12.0]}
TABLES = {
    "pandas, text": lambda told: pd.DataFrame(told),
    "pandas, category": lambda told: pd.DataFrame(told).astype({"carrier": "category"}),
    "pandas, string": lambda told: pd.DataFrame(told).astype({"carrier": "string"}),
    "Polars, text": lambda told: pl.DataFrame(told),
    "Polars, categorical": lambda told: pl.DataFrame(told).with_columns(pl.col("carrier").cast(pl.Categorical)),
    "PyArrow": lambda told: pa.table(told),
}


def polynomial(**more):
    return SigmaRegressor("polynomial", law="normal", **more)


def check(sigma, outside):
    """Sigma of HA and B6 is what it was made, and that of a new carrier lies between."""
    # Of 300 rows a sigma is known to 4%.
    assert abs(np.log(sigma[0] / 5.0)) < 0.2 and abs(np.log(sigma[1] / 0.5)) < 0.2, sigma
    assert 0.5 < sigma[2] < 5.0
    assert outside.tolist() == [False, False, True]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_text_columns_of_tables_are_categories(table):
    model = polynomial().fit(table({"carrier": CARRIER.tolist(), "hour": HOUR}), ERROR)
    check(model.predict(table(NEW)), model.outside(table(NEW)))
    assert model.outside_input(table(NEW)) == [None, None, "carrier"]
    # Whatever a table is, the same rows say the same.
    other = pd.DataFrame(NEW)
    assert np.array_equal(model.predict(other), model.predict(table(NEW)))


def test_masks_places_and_names():
    table = pd.DataFrame({"carrier": CARRIER, "hour": HOUR})
    usual = polynomial().fit(table, ERROR).predict(pd.DataFrame(NEW))
    for asked in (["carrier"], [0], [-2], [True, False], np.array([True, False])):
        model = polynomial(categorical_features=asked).fit(table, ERROR)
        assert np.array_equal(model.predict(pd.DataFrame(NEW)), usual)
    # Rows without names: texts where they are said to be.
    mixed = np.array([CARRIER, HOUR], dtype=object).T
    model = polynomial(categorical_features=[0]).fit(mixed, ERROR)
    assert np.array_equal(model.predict([["HA", 12.0], ["B6", 12.0], ["ZZ", 12.0]]), usual)
    with pytest.raises(ValueError, match="name it in categorical_features"):
        polynomial(categorical_features=None).fit(table, ERROR)
    for asked, words in (
        (["carriers"], "names 'carriers': X has carrier, hour"),
        ([2], "has 2, but X has 2 columns"),
        ([True], "a mask of 1 values, but X has 2 columns"),
        ("carrier", "give \"from_dtype\", a mask, places or names"),
    ):
        with pytest.raises(ValueError, match=words):
            polynomial(categorical_features=asked).fit(table, ERROR)


def test_numbers_that_name_something_and_truth_values():
    station = np.array([list(SIGMA).index(one) for one in CARRIER])
    table = pd.DataFrame({"station": station, "wet": HOUR > 12})
    model = polynomial(categorical_features=["station", "wet"]).fit(table, ERROR)
    assert [levels for _, levels in model.fitted_.categories][1] in (["true", "false"], ["false", "true"])
    new = pd.DataFrame({"station": [1.0, 3.0, 7.0], "wet": [True, False, True]})
    check(model.predict(new), model.outside(new))
    # Truth values alone are numbers already.
    assert polynomial().fit(table, ERROR).fitted_.categories == []


def test_a_missing_text_is_told():
    carrier = [None if one == "HA" else one for one in CARRIER]
    table = pd.DataFrame({"carrier": carrier, "hour": HOUR})
    model = polynomial().fit(table, ERROR)
    new = pd.DataFrame({"carrier": [None, "B6", "ZZ"], "hour": [12.0] * 3})
    check(model.predict(new), model.outside(new))


def test_pickles_clones_and_files(tmp_path):
    table = pd.DataFrame({"carrier": CARRIER, "hour": HOUR})
    model = polynomial(categorical_features=["carrier"], debias=True).fit(table, ERROR)
    new = pd.DataFrame(NEW)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(new), model.predict(new))
    assert clone(model).get_params()["categorical_features"] == ["carrier"]
    model.save(tmp_path / "m.json")
    loaded = SigmaRegressor.load(tmp_path / "m.json")
    assert np.array_equal(loaded.predict(new), model.predict(new))
    assert np.array_equal(loaded.bias(new), model.bias(new))


def test_a_name_for_each_row_is_warned_about():
    table = pd.DataFrame({"flight": [f"N{row}" for row in range(ROWS)], "hour": HOUR})
    with pytest.warns(UserWarning, match="\"flight\" tells nothing, leave it out: 1200 values in 1200 rows"):
        polynomial().fit(table, ERROR)


def test_a_forecaster_with_texts_has_error_bars():
    table = pd.DataFrame({"carrier": CARRIER, "hour": HOUR})
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["carrier"]), remainder="passthrough")
    forecaster = make_pipeline(encoder, LinearRegression())
    for asked in ("from_dtype", ["carrier"], [True, False]):
        sigma = polynomial(categorical_features=asked)
        model = ErrorBarRegressor(forecaster, sigma).fit(table, HOUR + ERROR)
        _, sigma = model.predict(pd.DataFrame(NEW), return_std=True)
        check(sigma, model.outside(pd.DataFrame(NEW)))
        assert model.predict_interval(pd.DataFrame(NEW)).shape == (3, 2)


def test_rows_in_time():
    table = pd.DataFrame({"carrier": CARRIER, "hour": HOUR})
    time = np.arange(ROWS)
    model = polynomial().fit(table[:1000], ERROR[:1000], time=time[:1000])
    sigma = model.predict(pd.DataFrame(NEW), time=[2000, 2001, 2002])
    assert abs(np.log(sigma[0] / sigma[1] / 10)) < 0.3
    model.update(table[1000:], ERROR[1000:], time=time[1000:])
    assert model.predict(pd.DataFrame(NEW), time=[2000, 2001, 2002]).shape == (3,)
    walk = errbar.backtest(
        table, np.zeros(ROWS), ERROR, time, refit="never", model="polynomial", law="normal"
    )
    assert walk.crps.mean() < walk.crps_constant.mean()


def test_a_mean_takes_numbers_alone():
    with pytest.raises(ValueError, match="inputs that are texts"):
        SigmaRegressor(fit_mean=True).fit(pd.DataFrame({"carrier": CARRIER[:50]}), ERROR[:50])
