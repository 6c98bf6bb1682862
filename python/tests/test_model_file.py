"""One model file for Python and for the program: the same sigma, bit for bit."""

from __future__ import annotations

import csv
import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest

from errbar import SigmaRegressor
from test_sigma_regressor import known_models

MODELS = known_models()


@pytest.fixture
def table(heteroskedastic):
    X, error, _ = heteroskedastic
    return pd.DataFrame({"season": X[:, 0], "hour": X[:, 1], "error": error})


def predicted(program, model, table, folder):
    """Sigma by the program, read with every digit."""
    table.to_csv(folder / "new.csv", index=False)
    call = ["predict", "new.csv", "--model", str(model), "-o", "out.csv", "--quiet"]
    subprocess.run([*program, *call], cwd=folder, check=True)
    return numbers(folder / "out.csv", "sigma")


def numbers(path, column):
    """A column of a CSV file, with every digit."""
    with open(path, newline="") as file:
        return np.array([float(row[column]) for row in csv.DictReader(file)])


@pytest.mark.parametrize("model", MODELS)
def test_from_python_to_the_program(program, table, tmp_path, model):
    inputs = table[["season", "hour"]]
    fitted = SigmaRegressor(model).fit(inputs, table["error"])
    fitted.save(tmp_path / "model.json")
    sigma = predicted(program, "model.json", table, tmp_path)
    assert np.array_equal(sigma, fitted.predict(inputs))
    loaded = SigmaRegressor.load(tmp_path / "model.json")
    assert np.array_equal(loaded.predict(inputs), sigma)
    assert loaded.get_params() == {**fitted.get_params(), "random_state": 0}
    assert loaded.model_ == fitted.model_
    assert loaded.validation_ == fitted.validation_


@pytest.mark.parametrize("model", MODELS)
def test_from_the_program_to_python(program, table, tmp_path, model):
    table.to_csv(tmp_path / "train.csv", index=False)
    call = ["fit", "train.csv", "--error", "error", "--model", model, "-o", "model.json", "--quiet"]
    subprocess.run([*program, *call], cwd=tmp_path, check=True, capture_output=True)
    loaded = SigmaRegressor.load(tmp_path / "model.json")
    assert loaded.feature_names_in_.tolist() == ["season", "hour"]
    inputs = table[["season", "hour"]]
    assert np.array_equal(loaded.predict(inputs), predicted(program, "model.json", table, tmp_path))
    # The same fit, by either: the file is the same to the byte.
    again = SigmaRegressor(model).fit(inputs, table["error"])
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()


def test_a_model_that_makes_the_forecast_too(program, root, tmp_path):
    data = root / "examples/data/motorcycle.csv"
    names = ["--inputs", "time_ms", "--observation", "acceleration_g"]
    call = ["fit", str(data), *names, "--fit-mean", "gp", "-o", "model.json", "--quiet"]
    subprocess.run([*program, *call], cwd=tmp_path, check=True, capture_output=True)
    loaded = SigmaRegressor.load(tmp_path / "model.json")
    rows = pd.DataFrame({"time_ms": [10.0, 30.0]})
    call = ["predict", "rows.csv", "--model", "model.json", "-o", "out.csv", "--quiet"]
    rows.to_csv(tmp_path / "rows.csv", index=False)
    subprocess.run([*program, *call], cwd=tmp_path, check=True)
    assert np.array_equal(loaded.forecast(rows), numbers(tmp_path / "out.csv", "forecast"))
    assert np.array_equal(loaded.predict(rows), numbers(tmp_path / "out.csv", "sigma"))
    # The same fit, by either.
    table = pd.read_csv(data)
    own = SigmaRegressor(fit_mean=True).fit(table[["time_ms"]], table["acceleration_g"])
    assert np.array_equal(own.forecast(rows), loaded.forecast(rows))
    assert np.array_equal(own.predict_interval(rows), loaded.predict_interval(rows))
    # Half of the observations' spread is the mean's; the error bars are smaller than one for all.
    assert -own.score(table[["time_ms"]], table["acceleration_g"]) < 15 < table["acceleration_g"].std()
    assert loaded.fit_mean
    for asked in ({"debias": True}, {"guarantee": "split"}):
        with pytest.raises(ValueError, match="fit_mean=True does not go with"):
            SigmaRegressor(fit_mean=True, **asked).fit(table[["time_ms"]], table["acceleration_g"])


def test_arrays_without_names_are_x0_and_so_on(heteroskedastic, tmp_path):
    X, error, _ = heteroskedastic
    SigmaRegressor("constant").fit(X, error).save(tmp_path / "model.json")
    saved = json.loads((tmp_path / "model.json").read_text())
    assert saved["fitted"]["names"] == ["x0", "x1"]
    loaded = SigmaRegressor.load(tmp_path / "model.json")
    assert not hasattr(loaded, "feature_names_in_")
    loaded.predict(X)  # without a warning about names, which would fail here
    assert loaded.n_features_in_ == 2


def test_a_failure_leaves_the_earlier_file(table, tmp_path):
    fitted = SigmaRegressor("constant").fit(table[["season"]], table["error"])
    path = tmp_path / "folder" / "model.json"
    with pytest.raises(OSError, match="cannot write .*there is no folder"):
        fitted.save(path)
    path.parent.mkdir()
    path.write_text("earlier")
    if os.geteuid() != 0:  # root may write anywhere
        path.parent.chmod(0o500)
        with pytest.raises(OSError, match="no permission"):
            fitted.save(path)
        assert path.read_text() == "earlier"
        path.parent.chmod(0o700)
    fitted.save(path)
    assert [one.name for one in path.parent.iterdir()] == ["model.json"]  # nothing half-written


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(OSError, match="cannot read the model .*missing.json"):
        SigmaRegressor.load(tmp_path / "missing.json")
    for text, words in [
        ("", "is empty"),
        ("{}", "no model file of errbar"),
        ('{"errbar_model": 99}', "form 99"),
        ('{"errbar_model": 1, "version": "0", "fitted": {}}', "cannot use the model"),
    ]:
        (tmp_path / "wrong.json").write_text(text)
        with pytest.raises(ValueError, match=words):
            SigmaRegressor.load(tmp_path / "wrong.json")
    with pytest.raises(OSError, match="cannot read the model"):
        SigmaRegressor.load("-")  # a name like any other
    with pytest.raises(ValueError, match="it is a folder"):
        SigmaRegressor.load(tmp_path)
