"""Hour of day, day of week and season: found where they help, and asked for then."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import errbar
from errbar import SigmaRegressor


def hours(n: int = 1800, *, by_hour: bool = True, seed: int = 0) -> pd.DataFrame:
    """Hours whose errors are three times as large at noon as at midnight, or alike."""
    rng = np.random.default_rng(seed)
    size = 2 - np.cos(2 * np.pi * np.arange(n) / 24) if by_hour else np.full(n, 2.0)
    x, forecast = rng.uniform(size=n), rng.normal(size=n)
    observation = forecast + (0.5 + x) * size * rng.normal(size=n)
    time = np.datetime64("2022-01-01T00:00") + np.arange(n) * np.timedelta64(1, "h")
    return pd.DataFrame({"time": time, "x": x, "mu": forecast, "y": observation.round(4)})


def fitted(table: pd.DataFrame, **more: object) -> SigmaRegressor:
    model = SigmaRegressor("polynomial", **more)
    return model.fit(table[["x"]], forecast=table["mu"], observation=table["y"], time=table["time"])


def test_the_hour_is_found_and_asked_for(tmp_path):
    table = hours()
    known, later = table[:1500], table[1500:]
    model = fitted(known)
    assert model.calendar_ == ["hour of day"]
    assert "hour of day" in [one.name for one in model.validation_.importance]
    X, time = later[["x"]], later["time"]
    sigma = model.predict(X, time=time)
    hour = time.dt.hour.to_numpy()
    assert sigma[hour == 12].mean() > 2 * sigma[hour == 0].mean()
    # All ways to ask agree.
    law = model.predict_distribution(X, later["mu"], time=time)
    interval = model.predict_interval(X, later["mu"], time=time)
    np.testing.assert_allclose(law.ppf(0.95), interval[:, 1], rtol=1e-12)
    assert model.outside(X, time=time).shape == model.support(X, time=time).shape == (300,)
    assert not model.bias(X, time=time).any()
    assert model.outside_input([[9.0]], time=["2022-03-04T05:00"]) == ["x"]
    plain = fitted(known, calendar="no")
    assert plain.calendar_ == [] and plain.predict(X).shape == (300,)
    error = later["y"] - later["mu"]
    assert model.score(X, error, time=time) > 1.02 * plain.score(X, error)
    # A file keeps it, and the program says the same.
    model.save(tmp_path / "m.json")
    loaded = SigmaRegressor.load(tmp_path / "m.json")
    assert loaded.calendar_ == ["hour of day"] and loaded.calendar == "auto"
    np.testing.assert_array_equal(loaded.predict(X, time=time), sigma)
    plain.save(tmp_path / "no.json")
    assert SigmaRegressor.load(tmp_path / "no.json").calendar == "no"
    later.to_csv(tmp_path / "later.csv", index=False)
    told = ["predict", str(tmp_path / "later.csv"), "--model", str(tmp_path / "m.json"), "-o", str(tmp_path / "out.csv")]
    subprocess.run([sys.executable, "-m", "errbar", *told], check=True, capture_output=True)
    said = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(said["sigma"], sigma, rtol=1e-12)
    taken = model.update(X, time=time, forecast=later["mu"], observation=later["y"])
    assert taken.rows == 300


def test_nothing_is_taken_where_nothing_comes_round():
    assert fitted(hours(by_hour=False)).calendar_ == []
    table = hours(1200)
    table["time"] = np.arange(1200.0)  # numbers have no calendar
    assert fitted(table).calendar_ == []


def test_a_walk_takes_it():
    table = hours(1600)
    asked = (table[["x"]], table["mu"], table["y"], table["time"])
    told = {"model": "polynomial", "refit": "never"}
    walk, plain = errbar.backtest(*asked, **told), errbar.backtest(*asked, **told, calendar="no")
    assert walk.fitted_.calendar == ["hour of day"] and plain.fitted_.calendar == []
    assert walk.crps.mean() < 0.98 * plain.crps.mean()


def test_what_says_no_hour_is_refused():
    table = hours()
    model = fitted(table)
    X, time = table[["x"]][:2], table["time"][:2]
    for ask in (model.predict, model.predict_distribution, model.bias, model.support, model.outside_input):
        with pytest.raises(ValueError, match="takes hour of day from the time of each row: give it"):
            ask(X)
    for ask in (model.bias, model.predict):
        with pytest.raises(ValueError, match="these times are numbers"):
            ask(X, time=[1.0, 2.0])
    with pytest.raises(ValueError, match="time has 1 values but X has 2 rows"):
        model.bias(X, time=time[:1])
    with pytest.raises(ValueError, match="these times have a time zone, and those .* hour of day of had none"):
        model.predict(X, time=time.dt.tz_localize("UTC"))
    with pytest.raises(ValueError, match='calendar is True: give "auto" or "no"'):
        fitted(table, calendar=True)


def test_time_zones_are_one_clock():
    table = hours()
    table["time"] = table["time"].dt.tz_localize("UTC")
    model = fitted(table)
    X, time = table[["x"]][:48], table["time"][:48]
    here = model.predict(X, time=time)
    there = model.predict(X, time=time.dt.tz_convert("Asia/Kolkata"))
    np.testing.assert_array_equal(here, there)
