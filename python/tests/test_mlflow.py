"""Models in MLflow, beside themselves. Left out where MLflow is not installed: ``pip install mlflow``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

mlflow = pytest.importorskip("mlflow")

import errbar.mlflow
from errbar import ErrorBarRegressor, SigmaRegressor


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    return pd.DataFrame({"height": random.uniform(0, 1, 200), "mu": random.normal(size=200)}, index=range(7, 207))


@pytest.fixture
def model(table):
    noise = np.random.default_rng(1).normal(size=200)
    return SigmaRegressor("polynomial").fit(table[["height"]], (0.1 + table["height"]) * noise)


@pytest.fixture
def server(tmp_path):
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.create_experiment("bars", artifact_location=str(tmp_path / "artifacts"))
    mlflow.set_experiment("bars")
    yield
    mlflow.set_tracking_uri(None)


def served(path, table):
    return mlflow.pyfunc.load_model(str(path)).predict(table)


def test_a_saved_model_is_a_model_file(model, table, tmp_path):
    errbar.mlflow.save_model(model, tmp_path / "m", forecast="mu", interval=[0.5, 0.9])
    kept = tmp_path / "m/data/errbar/model.json"
    model.save(tmp_path / "own.json")
    assert json.loads(kept.read_text()) == json.loads((tmp_path / "own.json").read_text())
    assert not list(Path(tmp_path / "m").rglob("*.pkl"))
    again = errbar.mlflow.load_model(str(tmp_path / "m"))
    assert np.array_equal(again.predict(table[["height"]]), model.predict(table[["height"]]))
    found = served(tmp_path / "m", table)
    assert list(found) == ["sigma", "lower_50", "upper_50", "lower_90", "upper_90", "support", "outside", "outside_input"]
    assert found.index.equals(table.index)
    assert np.array_equal(found["sigma"], model.predict(table[["height"]]))
    want = model.predict_interval(table[["height"]], table["mu"], level=[0.5, 0.9])
    got = found[["lower_50", "upper_50", "lower_90", "upper_90"]].to_numpy().reshape(-1, 2, 2)
    assert np.array_equal(got, want)
    # Columns in any order, others beside them, and none for the forecast.
    other = table.assign(station="a")[["station", "mu", "height"]]
    assert served(tmp_path / "m", other).equals(found)
    alone = served(tmp_path / "m", table[["height"]])
    assert list(alone) == ["sigma", "support", "outside", "outside_input"] and alone["sigma"].equals(found["sigma"])


def test_columns_are_known_by_name(model, table, tmp_path):
    errbar.mlflow.save_model(model, tmp_path / "m", forecast="mu")
    signature = mlflow.models.get_model_info(str(tmp_path / "m")).signature
    taken = {one.name: (one.type.name, one.required) for one in signature.inputs}
    assert taken == {"height": ("double", True), "mu": ("double", False)}
    assert signature.outputs.input_names()[:3] == ["sigma", "lower_90", "upper_90"]
    with pytest.raises(mlflow.exceptions.MlflowException, match="height"):
        served(tmp_path / "m", table[["mu"]])
    requirements = (tmp_path / "m/requirements.txt").read_text()
    assert f"errbar[mlflow]=={errbar.__version__}" in requirements


def test_models_are_logged_and_registered(model, table, server):
    with mlflow.start_run():
        logged = errbar.mlflow.log_model(
            model, name="sigma", forecast="mu", registered_model_name="bars", input_example=table[:3]
        )
    for uri in (logged.model_uri, "models:/bars/1"):
        assert np.array_equal(errbar.mlflow.load_model(uri).predict(table[["height"]]), model.predict(table[["height"]]))
    found = mlflow.pyfunc.load_model(logged.model_uri).predict(table)
    assert np.array_equal(found[["lower_90", "upper_90"]], model.predict_interval(table[["height"]], table["mu"]))


def test_categories_gaps_and_members(table, tmp_path):
    random = np.random.default_rng(2)
    where = table[["height"]].assign(station=random.choice(["Oslo", "Bergen"], 200))
    model = SigmaRegressor("polynomial").fit(where, random.normal(size=200))
    errbar.mlflow.save_model(model, tmp_path / "a")
    new = pd.DataFrame({"station": ["Oslo", "Vardo", None], "height": [0.5, np.nan, 0.1]})
    found = served(tmp_path / "a", new)
    assert np.array_equal(found["sigma"], model.predict(new[["height", "station"]])) and found["outside"].tolist()[1:] == [True, True]
    members = pd.DataFrame(random.normal(size=(200, 5)), columns=[f"m{k}" for k in range(5)])
    made = SigmaRegressor("constant", members="m*").fit(members, observation=random.normal(size=200))
    errbar.mlflow.save_model(made, tmp_path / "b")
    found = served(tmp_path / "b", members)
    np.testing.assert_allclose(found[["lower_90", "upper_90"]], made.predict_interval(members), rtol=1e-13)


def test_sigma_of_a_forecaster_with_error_bars(table, tmp_path):
    y = table["mu"] + np.random.default_rng(3).normal(size=200)
    model = ErrorBarRegressor(sigma=SigmaRegressor("polynomial")).fit(table[["height", "mu"]], y)
    errbar.mlflow.save_model(model, tmp_path / "m")
    forecast, sigma = model.predict(table[["height", "mu"]], return_std=True)
    found = served(tmp_path / "m", table.assign(forecast=forecast))
    assert np.array_equal(found["sigma"], sigma)
    np.testing.assert_allclose(found[["lower_90", "upper_90"]], model.predict_interval(table[["height", "mu"]]), rtol=1e-12)
    with pytest.raises(mlflow.exceptions.MlflowException, match="forecast"):
        served(tmp_path / "m", table)
    # A file of the program's is a model, too.
    model.save(tmp_path / "model.json")
    errbar.mlflow.save_model(tmp_path / "model.json", tmp_path / "again", interval=())
    assert list(served(tmp_path / "again", table.assign(forecast=forecast)))[0] == "sigma"


def test_what_cannot_be_is_refused(model, tmp_path):
    with pytest.raises(ValueError, match="interval is 1.5"):
        errbar.mlflow.save_model(model, tmp_path / "m", interval=1.5)
    with pytest.raises(ValueError, match="model is a int"):
        errbar.mlflow.save_model(3, tmp_path / "m")
    mlflow.pyfunc.save_model(str(tmp_path / "other"), python_model=lambda model_input: model_input, pip_requirements=[])
    with pytest.raises(ValueError, match="holds no model of errbar, but python_function"):
        errbar.mlflow.load_model(str(tmp_path / "other"))
