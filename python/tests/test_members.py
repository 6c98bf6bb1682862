"""Members of an ensemble as columns of the inputs: what is made of them, in and out of model files."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import errbar
from errbar import SigmaRegressor


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    rows = 400
    size = rng.uniform(0.3, 3.0, rows)
    centre = rng.normal(5.0, 2.0, rows)
    columns = {"wind": rng.normal(size=rows)}
    columns |= {f"m{k}": centre + size * rng.normal(size=rows) for k in range(1, 12)}
    columns["m4"][::7] = np.nan
    columns["y"] = centre + size * rng.normal(size=rows)
    return pd.DataFrame(columns)


def by_hand(table, center):
    members = table[[f"m{k}" for k in range(1, 12)]]
    middle = members.mean(axis=1) if center == "mean" else members.median(axis=1)
    inputs = pd.DataFrame({"wind": table["wind"], f"members_{center}": middle})
    inputs["members_spread"] = members.std(axis=1)
    inputs["members_zeros"] = (members == 0).mean(axis=1)
    return inputs, middle


@pytest.mark.parametrize("center", ["mean", "median"])
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_model_of_members_is_that_of_what_is_made_of_them(table, center, kind):
    inputs, middle = by_hand(table, center)
    plain = SigmaRegressor(model="polynomial").fit(inputs, table["y"] - middle)
    X = table.drop(columns="y")
    X = X if kind == "pandas" else pl.from_pandas(X)
    model = SigmaRegressor(model="polynomial", members="m*", center=center).fit(X, observation=table["y"])
    np.testing.assert_allclose(model.predict(X), plain.predict(inputs), rtol=1e-6)
    np.testing.assert_allclose(
        model.predict_interval(X), plain.predict_interval(inputs, middle), rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(model.forecast(X), middle, rtol=1e-12)
    law = model.predict_distribution(X)
    np.testing.assert_allclose(law.ppf(0.5), plain.predict_distribution(inputs, middle).ppf(0.5), rtol=1e-6)


def test_the_program_and_python_know_each_others_models(table, tmp_path):
    data, model_file, out = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "p.csv"
    table.to_csv(data, index=False)
    X = table.drop(columns="y")
    own = SigmaRegressor(model="polynomial", members="m*").fit(X, observation=table["y"])
    own.save(model_file)
    run = [sys.executable, "-m", "errbar"]
    subprocess.run([*run, "predict", data, "--model", model_file, "-o", out], check=True, capture_output=True)
    np.testing.assert_allclose(pd.read_csv(out)["sigma"], own.predict(X), rtol=1e-6)

    fit = ["fit", data, "--observation", "y", "--members", "m*", "--model", "polynomial", "-o", model_file]
    subprocess.run([*run, *fit], check=True, capture_output=True)
    subprocess.run([*run, "predict", data, "--model", model_file, "-o", out], check=True, capture_output=True)
    theirs = SigmaRegressor.load(model_file)
    assert theirs.members == [f"m{k}" for k in range(1, 12)] and theirs.center == "mean"
    np.testing.assert_allclose(theirs.predict(X), pd.read_csv(out)["sigma"], rtol=1e-6)
    # In any order of columns, and where what is made of them is there already.
    np.testing.assert_array_equal(theirs.predict(X[X.columns[::-1]]), theirs.predict(X))
    made, _ = by_hand(table, "mean")
    np.testing.assert_allclose(theirs.predict(made[theirs.fitted_.names]), theirs.predict(X), rtol=1e-9)


def test_members_by_place_and_beside_errors_of_another_forecast(table):
    X = table.drop(columns="y").to_numpy()
    by_place = SigmaRegressor(model="polynomial", members=list(range(1, 12))).fit(X, observation=table["y"])
    by_mask = SigmaRegressor(model="polynomial", members=[False] + 11 * [True]).fit(X, observation=table["y"])
    np.testing.assert_array_equal(by_place.predict(X), by_mask.predict(X))
    assert by_place.fitted_.names == ["x0", "members_mean", "members_spread", "members_zeros"]
    other = SigmaRegressor(model="constant", members=list(range(1, 12))).fit(X, table["y"] - 5.0)
    with pytest.raises(ValueError, match="forecast"):
        other.predict_interval(X)


def test_a_walk_with_members(table):
    X, time = table.drop(columns="y"), np.arange(len(table))
    _, middle = by_hand(table, "mean")
    kind = {"model": "constant", "refit": "never"}
    walk = errbar.backtest(X, None, table["y"], time, members="m*", **kind)
    plain = errbar.backtest(X[["wind"]], middle, table["y"], time, **kind)
    np.testing.assert_allclose(walk.crps, plain.crps, rtol=1e-9)
    series = SigmaRegressor(model="constant", members="m*").fit(X[:300], observation=table["y"][:300], time=time[:300])
    later = {"time": time[300:]}
    assert series.update(X[300:], observation=table["y"][300:], **later).rows == 100
    assert series.predict_interval(X[300:], **later).shape == (100, 2)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ("z*", "names 'z\\*', but X has wind"),
        (["m1"], "stands for 1 column only"),
        ([True], "a mask of 1 values"),
        ([40], "members has 40, but X has 12 columns"),
        ([], "give a pattern of names"),
    ],
)
def test_what_are_no_members_is_said(table, members, words):
    with pytest.raises(ValueError, match=words):
        SigmaRegressor(members=members).fit(table.drop(columns="y"), observation=table["y"])


def test_missing_observations_and_centres_are_said(table):
    X = table.drop(columns="y")
    with pytest.raises(ValueError, match="give the observation of each row"):
        SigmaRegressor(members="m*").fit(X)
    with pytest.raises(ValueError, match="mode"):
        SigmaRegressor(members="m*", center="mode").fit(X, observation=table["y"])
    model = SigmaRegressor(model="constant", members="m*").fit(X, observation=table["y"])
    with pytest.raises(ValueError, match='no column "m3"'):
        model.predict(X.drop(columns="m3"))
    with pytest.raises(ValueError, match="give the forecast of each row"):
        errbar.backtest(X, None, table["y"], np.arange(len(X)))
