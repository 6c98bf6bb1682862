"""Rows in time: what Python says is what the program says, and what was known by then."""

from __future__ import annotations

import datetime
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import errbar
from errbar import SigmaRegressor


def series(n: int = 420, seed: int = 0, jump: int = 330) -> pd.DataFrame:
    """Days whose errors resemble those of the day before, and grow one day."""
    rng = np.random.default_rng(seed)
    error = np.zeros(n)
    for day in range(1, n):
        error[day] = 0.6 * error[day - 1] + rng.normal() * (1.0 if day < jump else 2.5)
    forecast = rng.normal(size=n)
    return pd.DataFrame(
        {
            "date": np.datetime64("2020-01-01") + np.arange(n),
            "x": rng.uniform(size=n),
            "mu": forecast,
            "y": forecast + error,
        }
    )


def errbar_program(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "errbar", *arguments], check=True, capture_output=True)


@pytest.mark.parametrize("lag", [(), (1, 2)])
def test_a_walk_is_that_of_the_program(tmp_path, lag):
    table = series()
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    table.to_csv(path, index=False)
    told = ["--inputs", "x", "--forecast", "mu", "--observation", "y", "--time", "date"]
    told += ["--lag", ",".join(map(str, lag))] if lag else []
    told += ["--model", "polynomial", "--delay", "2" if not lag else "1", "--refit", "60"]
    errbar_program("backtest", str(path), *told, "-o", str(out))
    # As the program reads them.
    table = pd.read_csv(path, parse_dates=["date"])
    walk = errbar.backtest(
        table[["x"]],
        table["mu"],
        table["y"],
        table["date"],
        lag=lag,
        delay=1 if lag else 2,
        refit=60,
        model="polynomial",
    )
    expected = pd.read_csv(out).iloc[walk.row]
    for name, values in {
        "sigma": walk.sigma,
        "lower_90": walk.lower[:, 1],
        "upper_99": walk.upper[:, 2],
        "pit": walk.pit,
        "crps": walk.crps,
    }.items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-12, err_msg=name)
    assert len(walk.fits) == 3 and walk.fits[0].rows == (294 if lag else 293)
    assert walk.fits[0].lags_used == (True if lag else None)
    assert walk.crps.mean() < walk.crps_as_fitted.mean() < walk.crps_constant.mean()
    assert walk.coverage(0.9) == pytest.approx(np.mean(np.abs(expected["pit"] - 0.5) <= 0.45))


def test_updates_day_by_day_are_the_walk():
    table = series()
    walk = errbar.backtest(
        table[["x"]], table["mu"], table["y"], table["date"], refit="never", model="polynomial", start=0.8,
        debias=False, levels=0.9,
    )  # fmt: skip
    known, later = table.iloc[:336], table.iloc[336:]
    model = SigmaRegressor("polynomial").fit(
        known[["x"]], forecast=known["mu"], observation=known["y"], time=known["date"]
    )
    for place, (_, day) in enumerate(later.iterrows()):
        row, when = pd.DataFrame({"x": [day["x"]]}), [day["date"]]
        ends = model.predict_interval(row, [day["mu"]], time=when)
        np.testing.assert_array_equal(ends[0], [walk.lower[place, 0], walk.upper[place, 0]])
        assert model.predict(row, time=when)[0] == walk.sigma[place]
        assert model.update(row, time=when, forecast=[day["mu"]], observation=[day["y"]]).rows == 1
    # Once more: known already.
    again = model.update(row, time=when, forecast=[day["mu"]], observation=[day["y"]])
    assert again.rows == 0 and again.late == [] and again.state in ("rescaled", "refit")
    with pytest.raises(ValueError, match="follows what was observed"):
        model.predict(row)
    with pytest.raises(ValueError, match="no name"):
        model.predict_distribution(row, [0.0])


def test_guaranteed_intervals_are_kept_right(tmp_path):
    table = series(900, jump=500)
    known, later = table.iloc[:450], table.iloc[450:]
    told = {"forecast": table["mu"], "observation": table["y"], "time": table["date"]}
    levels = [0.5, 0.9]
    walk = errbar.backtest(
        table[["x"]], **told, refit="never", model="polynomial", start=0.5, debias=False, guarantee=levels
    )
    model = SigmaRegressor("polynomial", guarantee="split").fit(
        known[["x"]], forecast=known["mu"], observation=known["y"], time=known["date"]
    )
    assert model.fitted_.promised == [0.5, 0.8, 0.9, 0.95, 0.99]
    # With nothing observed any level can be asked for, and times change nothing.
    first = {"X": later[["x"]].iloc[:1], "level": 0.7}
    np.testing.assert_array_equal(
        model.guaranteed(**first), model.guaranteed(**first, time=later["date"].iloc[:1])
    )
    for place, (_, day) in enumerate(later.iloc[:60].iterrows()):
        row, when = pd.DataFrame({"x": [day["x"]]}), [day["date"]]
        for nth, level in enumerate(levels):
            least, most = model.guaranteed(row, level, time=when)[0]
            assert day["mu"] + least == pytest.approx(walk.guaranteed_lower[place, nth], rel=1e-12)
            assert day["mu"] + most == pytest.approx(walk.guaranteed_upper[place, nth], rel=1e-12)
        model.update(row, time=when, forecast=[day["mu"]], observation=[day["y"]])
    rest = later.iloc[60:]
    update = model.update(rest[["x"]], time=rest["date"], forecast=rest["mu"], observation=rest["y"])
    kept = {one.level: one for one in update.guarantee}
    for nth, one in enumerate(walk.kept):
        ends = walk.guaranteed_lower[:, nth], walk.guaranteed_upper[:, nth]
        inside = (ends[0] <= later["y"]) & (later["y"] <= ends[1])
        assert one.rows == 450 and one.held == pytest.approx(np.mean(inside))
        assert kept[one.level] == one
        # The rows that are short of the share: 20 of memory, and one.
        assert one.proven_least == pytest.approx(one.level - (20 + one.level) / 450)
        assert abs(one.held - one.level) < 0.03
    assert walk.summary()["guaranteed_90"] == walk.kept[1].held
    with pytest.raises(ValueError, match="follows what was observed"):
        model.guaranteed(row)
    with pytest.raises(ValueError, match="at 0.7: ask for one of 0.5, 0.8, 0.9"):
        model.guaranteed(row, 0.7, time=["2023-01-01"])
    model.save(tmp_path / "m.json")
    loaded = SigmaRegressor.load(tmp_path / "m.json")
    asked = {"X": row, "level": 0.9, "time": ["2023-01-01"]}
    np.testing.assert_array_equal(model.guaranteed(**asked), loaded.guaranteed(**asked))
    assert loaded.guarantee_levels == (0.5, 0.8, 0.9, 0.95, 0.99)
    with pytest.raises(ValueError, match="given twice"):
        SigmaRegressor("constant", guarantee="split", guarantee_levels=[0.9, 0.9]).fit(
            known[["x"]], forecast=known["mu"], observation=known["y"], time=known["date"]
        )


def test_lags_groups_and_saved_models(tmp_path):
    one, two = series(300, 1, 999), series(300, 2, 999)
    table = pd.concat([one.assign(station="Bern"), two.assign(station="Oslo")]).sort_values("date", kind="stable")
    known, next_day = table.iloc[:598], table.iloc[598:]
    model = SigmaRegressor("polynomial", lag=[1], debias=True).fit(
        known[["x"]], forecast=known["mu"], observation=known["y"], time=known["date"], group=known["station"]
    )
    assert model.fitted_.lags == ["error_lag_1"] and model.n_features_in_ == 1
    said = {"time": next_day["date"], "group": next_day["station"]}
    both = model.predict_quantiles(next_day[["x"]], next_day["mu"], [0.5], **said)[:, 0] - next_day["mu"]
    last = known.groupby("station").last()
    # The error of the day before, of the same station, comes back in part.
    for station, moved in zip(next_day["station"], both):
        error = last.loc[station, "y"] - last.loc[station, "mu"]
        assert moved == pytest.approx(0.6 * error, abs=0.35)
    model.update(next_day[["x"]], forecast=next_day["mu"], observation=next_day["y"], **said)
    model.save(tmp_path / "m.json")
    loaded = SigmaRegressor.load(tmp_path / "m.json")
    assert loaded.lag == ("1",) and loaded.n_features_in_ == 1
    later = {"time": ["2020-11-01"] * 2, "group": ["Bern", "Oslo"]}
    ends = [m.predict_interval([[0.5]] * 2, [0.0, 0.0], **later) for m in (model, loaded)]
    np.testing.assert_array_equal(*ends)


def test_times_of_all_kinds_are_the_same():
    table = series(200)
    dates = table["date"].to_numpy()
    given = [
        dates,
        table["date"],
        [d.item() for d in dates.astype("datetime64[s]")],
        [d.item() for d in dates.astype("datetime64[D]")],
        np.datetime_as_string(dates, unit="D"),
    ]
    walks = [
        errbar.backtest(
            table[["x"]], table["mu"], table["y"], time, model="constant", delay=delay, start="2020-05-01"
        )
        for time, delay in zip(given, [1, "1d", datetime.timedelta(days=1), np.timedelta64(1, "D"), "24h"])
    ]
    for walk in walks[1:]:
        np.testing.assert_array_equal(walk.sigma, walks[0].sigma)
    assert isinstance(walks[0].fits[0].time, np.datetime64)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"delay": 0}, "no span of time"),
        ({"delay": 1.5}, "delay is 1.5"),
        ({"lag": [1], "delay": 2}, "the lag 1 is shorter than the delay 2"),
        ({"refit": "soon"}, "refit is 'soon'"),
        ({"refit": -3}, "refit is -3"),
        ({"start": "then"}, "time is 'then'"),
        ({"start": True}, "start is True"),
        ({"start": "2030-01-01"}, "start it elsewhere"),
        ({"levels": [1.5]}, "must lie"),
        ({"model": "tree"}, "tree"),
    ],
)
def test_what_cannot_be_walked_is_named(wrong, says):
    table = series(100)
    with pytest.raises(ValueError, match=says):
        errbar.backtest(table[["x"]], table["mu"], table["y"], table["date"], **{"model": "constant", **wrong})


def test_models_without_times_do_not_follow():
    table = series(60)
    model = SigmaRegressor("constant").fit(table[["x"]], table["y"] - table["mu"])
    with pytest.raises(ValueError, match="knows no time"):
        model.update(table[["x"]], table["y"] - table["mu"], time=table["date"])
    with pytest.raises(ValueError, match="need the time"):
        SigmaRegressor("constant", lag=[1]).fit(table[["x"]], table["y"] - table["mu"])
    # Errors alone are followed too.
    model.fit(table[["x"]][:50], (table["y"] - table["mu"])[:50], time=table["date"][:50])
    told = model.update(table[["x"]][50:], (table["y"] - table["mu"])[50:], time=table["date"][50:])
    assert told.rows == 10
