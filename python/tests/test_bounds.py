"""Observations that keep to bounds, and scales other than the user's."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from errbar import ErrorBarRegressor, SigmaRegressor


def test_bounds_and_scales_are_learned(program, tmp_path):
    """The same fit as the program's, and laws that end where observations do."""
    rng = np.random.default_rng(3)
    x = rng.random((800, 1))
    forecast = 2 * rng.random(800)
    y = np.maximum(forecast + (0.5 + 1.5 * x[:, 0]) * rng.standard_normal(800), 0.0)
    model = SigmaRegressor("polynomial", lower=0).fit(x, forecast=forecast, observation=y)
    same = SigmaRegressor("polynomial", lower=0).fit(x, y - forecast, observation=y)
    assert np.array_equal(model.predict(x), same.predict(x))
    law = model.predict_distribution(x, forecast)
    assert (law.interval(0.9)[0] >= 0).all() and abs(law.cdf(0.0).mean() - (y == 0).mean()) < 0.03
    fifth = model.predict_quantiles(x, forecast, 0.05)[:, 0]
    assert np.allclose(fifth, law.ppf(0.05), rtol=1e-12, atol=1e-14)
    score = model.score(x, y - forecast, observation=y)
    assert score == pytest.approx(-law.crps(y).mean(), rel=1e-12)
    with pytest.raises(ValueError, match="bounds are those of observations"):
        SigmaRegressor("polynomial", lower=0).fit(x, y - forecast)
    with pytest.raises(ValueError, match="beyond the bound"):
        SigmaRegressor("polynomial", upper=1).fit(x, forecast=forecast, observation=y)
    around = ErrorBarRegressor(sigma=SigmaRegressor("polynomial", lower=0), law="two-piece-normal")
    around.fit(x, y)
    assert (around.predict_interval(x)[:, 0] >= 0).all() and around.sigma_.law == "two-piece-normal"

    pd = pytest.importorskip("pandas")
    positive = np.exp(0.3 * rng.standard_normal(800)) * (forecast + 0.1)
    table = pd.DataFrame({"x": x[:, 0], "forecast": forecast + 0.1, "observation": positive})
    table.to_csv(tmp_path / "t.csv", index=False)
    call = ["fit", "t.csv", "--inputs", "x", "--model", "polynomial", "--transform", "log"]
    call += ["--debias", "no", "--quiet"]
    subprocess.run([*program, *call], cwd=tmp_path, check=True, capture_output=True)
    loaded = SigmaRegressor.load(tmp_path / "model.json")
    columns = {"forecast": table["forecast"], "observation": table["observation"]}
    own = SigmaRegressor("polynomial", scale="log").fit(table[["x"]], **columns)
    assert np.allclose(own.predict(table[["x"]]), loaded.predict(table[["x"]]), rtol=1e-9)
    low, high = own.predict_interval(table[["x"]], table["forecast"]).T
    assert (low > 0).all() and 0.86 < ((low <= positive) & (positive <= high)).mean() < 0.94
    with pytest.raises(ValueError, match="on another scale"):
        own.predict_distribution(table[["x"]], table["forecast"])
    with pytest.raises(ValueError, match="no place on the scale log"):
        own.fit(table[["x"]], forecast=-table["forecast"], observation=table["observation"])
