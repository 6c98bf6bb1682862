"""errbar.xarray against errbar itself, in memory, in chunks and on a cluster of processes."""

import doctest
import math

import numpy as np
import pytest

xr = pytest.importorskip("xarray", reason="xarray is not installed: errbar.xarray is not tested")

import errbar
import errbar.xarray as ex

ROWS = ["crps", "crps_gradient", "nlpd", "pit"]


@pytest.fixture
def case():
    """Observation, forecast and sigma over time, station and lead."""
    rng = np.random.default_rng(0)
    coords = {"time": np.arange(40), "station": ["a", "b", "c"], "lead": [1, 2]}
    named = lambda values: xr.DataArray(values, coords, tuple(coords), attrs={"units": "K"})
    sigma = rng.uniform(0.5, 2.0, (40, 3, 2))
    forecast = rng.normal(10.0, 3.0, (40, 3, 2))
    observation = forecast + sigma * rng.standard_normal((40, 3, 2))
    return named(observation), named(forecast), named(sigma)


@pytest.fixture
def pair(case):
    observation, forecast, sigma = case
    with xr.set_options(keep_attrs=True):
        return observation - forecast, sigma


@pytest.mark.parametrize("name", ROWS)
def test_rows_keep_their_labels(pair, name):
    error, sigma = pair
    found = getattr(ex, name)(error, sigma)
    assert found.name == name and found.dims == error.dims
    assert all(found[dim].equals(error[dim]) for dim in error.dims)
    assert found.attrs["long_name"] and found.attrs.get("units") == (
        "K" if name == "crps" else None
    )
    np.testing.assert_array_equal(found, getattr(errbar, name)(error.values, sigma.values))


def test_sigma_is_broadcast_by_name(pair):
    error, sigma = pair
    by_station = sigma.mean(["time", "lead"])
    expected = errbar.crps(error.values, by_station.values[None, :, None])
    np.testing.assert_array_equal(ex.crps(error, by_station), expected)
    np.testing.assert_array_equal(ex.crps(error, 0.7), errbar.crps(error.values, 0.7))
    rs = ex.reliability_score(error, by_station, dim="time").sel(station="b", lead=2)
    alone = error.sel(station="b", lead=2).values
    assert float(rs) == errbar.reliability_score(alone, float(by_station.sel(station="b")))


@pytest.mark.parametrize("dim", ["time", ["time"], ["time", "lead"], ("lead", "time"), None])
def test_reductions_are_the_librarys(pair, dim):
    error, sigma = pair
    kept = [d for d in error.dims if dim is not None and d not in np.atleast_1d(dim)]
    rs = ex.reliability_score(error, sigma, dim=dim)
    ar = ex.accuracy_reliability(error, sigma, dim=dim, beta=0.3)
    held = ex.coverage(error, sigma, [0.5, 0.9], dim=dim)
    assert list(rs.dims) == kept and rs.name == "rs" and list(ar) == ["ar", "beta", "crps", "rs"]
    assert held.name == "coverage" and set(held.dims) == {*kept, "level"}
    for place in np.ndindex(*(error.sizes[d] for d in kept)):
        at = dict(zip(kept, place))
        e, s = (array.isel(at).values.ravel() for array in (error, sigma))
        assert float(rs.isel(at)) == pytest.approx(errbar.reliability_score(e, s), rel=1e-12)
        parts = [float(ar[name].isel(at)) for name in ar]
        assert parts == pytest.approx(errbar.accuracy_reliability(e, s, 0.3), rel=1e-12)
        np.testing.assert_allclose(held.isel(at), errbar.coverage(e, s, [0.5, 0.9]), rtol=1e-12)


def test_scores_are_a_labelled_dataset(case):
    observation, forecast, sigma = case
    found = ex.scores(observation, forecast, sigma, dim="time", levels=[0.5, 0.9])
    assert found["crps"].dims == ("station", "lead") and found["crps"].attrs["units"] == "K"
    assert found["coverage"].dims == ("station", "lead", "level")
    assert found["level"].values.tolist() == [0.5, 0.9]
    at = {"station": "c", "lead": 1}
    alone = [array.sel(at).values for array in case]
    expected = errbar.scores(*alone, levels=[0.5, 0.9])
    for name in ["bias", "rmse", "crps", "crps_skill", "nlpd", "rs", "rs_by_chance", "mean_z"]:
        assert float(found[name].sel(at)) == pytest.approx(getattr(expected, name), rel=1e-12)
    assert float(found["ar"].sel(at)) == pytest.approx(expected.ar.value, rel=1e-12)
    assert float(found["rows"].sel(at)) == 40
    for name, field in [("coverage", "observed"), ("coverage_low", "low"), ("mean_width",) * 2]:
        row = [getattr(one, field) for one in expected.coverage]
        np.testing.assert_allclose(found[name].sel(at), row, rtol=1e-12)


def test_weights(pair):
    error, sigma = pair
    weight = xr.DataArray(np.arange(40) % 3, dims="time", coords={"time": error.time})
    rs = ex.reliability_score(error, sigma, dim="time", weight=weight)
    held = ex.coverage(error, sigma, 0.8, dim="time", weight=weight)
    e, s = (array.sel(station="a", lead=1).values for array in (error, sigma))
    assert float(rs.sel(station="a", lead=1)) == errbar.reliability_score(e, s, weight.values)
    expected = errbar.coverage(e, s, 0.8, weight.values)
    assert float(held.sel(station="a", lead=1)) == pytest.approx(expected, rel=1e-12)


def test_missing_rows_are_left_out(pair):
    error, sigma = pair
    error = error.copy()
    error[3, 0, 0] = sigma[7, 0, 0] = math.nan
    error[:, 1, 1] = math.nan
    assert int(ex.crps(error, sigma).isnull().sum()) == 42
    rs = ex.reliability_score(error, sigma, dim="time")
    held = ex.coverage(error, sigma, 0.8, dim="time")
    known = [i for i in range(40) if i not in (3, 7)]
    e, s = error.values[known, 0, 0], sigma.values[known, 0, 0]
    assert float(rs[0, 0]) == errbar.reliability_score(e, s)
    assert float(held[0, 0]) == pytest.approx(errbar.coverage(e, s, 0.8), rel=1e-12)
    assert rs.isnull().values.tolist() == held.isnull().values.tolist()
    assert rs.isnull().values.tolist() == [[False, False], [False, True], [False, False]]
    strict = ex.reliability_score(error, sigma, dim="time", skipna=False).isnull()
    assert strict.values.tolist() == [[True, False], [False, True], [False, False]]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda e, s: ex.crps(e, s.isel(time=slice(1, None))), "time"),
        (lambda e, s: ex.crps(e.values, s), "error is a ndarray: give an xarray.DataArray"),
        (lambda e, s: ex.crps(e, s.values), "sigma has no labels"),
        (lambda e, s: ex.crps(e, -s), r"sigma at \(0, 0, 0\)"),
        (lambda e, s: ex.reliability_score(e, s, dim="day"), "dim 'day' is no dimension of error"),
        (lambda e, s: ex.reliability_score(e, -s, dim="time"), "sigma at row 0"),
        (lambda e, s: ex.accuracy_reliability(e, s, dim="time", beta=2.0), "beta"),
        (lambda e, s: ex.coverage(e, s, 1.5), "level is 1.5"),
        (lambda e, s: ex.coverage(e, -s, 0.5), r"sigma at \(0, 0, 0\)"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(pair, call, words):
    with pytest.raises(ValueError, match=words):
        call(*pair)


def test_chunks_stay_lazy(pair):
    dask = pytest.importorskip("dask", reason="dask is not installed: chunks are not tested")
    pair_of_chunks = [array.chunk(time=10, station=2) for array in pair]

    def refuse(*arguments, **options):
        raise AssertionError("something was computed")

    with dask.config.set(scheduler=refuse):
        lazy = {name: getattr(ex, name)(*pair_of_chunks) for name in ROWS}
        lazy["coverage"] = ex.coverage(*pair_of_chunks, [0.5, 0.9], dim="time")
        one_chunk = [array.chunk(time=-1) for array in pair_of_chunks]
        lazy["reliability_score"] = ex.reliability_score(*one_chunk, dim="time")
        lazy["accuracy_reliability"] = ex.accuracy_reliability(*one_chunk, dim="time")
    assert lazy["crps"].chunksizes == pair_of_chunks[0].chunksizes
    assert lazy["reliability_score"].chunksizes["station"] == (2, 1)
    whole = {"coverage": ex.coverage(*pair, [0.5, 0.9], dim="time")}
    for name in [*ROWS, "reliability_score", "accuracy_reliability"]:
        whole[name] = getattr(ex, name)(*pair, **({} if name in ROWS else {"dim": "time"}))
    for name, found in lazy.items():
        xr.testing.assert_allclose(found.compute(), whole[name], rtol=1e-14)


def test_rows_in_several_chunks_get_a_hint(pair):
    pytest.importorskip("dask", reason="dask is not installed: chunks are not tested")
    error, sigma = pair
    for e, s, what in [
        (error.chunk(time=10), sigma, "error"),
        (error, sigma.chunk(time=10), "sigma"),
    ]:
        words = rf"{what} is in 4 chunks along 'time'.*{what}.chunk\({{'time': -1}}\)"
        with pytest.raises(ValueError, match=words):
            ex.reliability_score(e, s, dim="time")
        assert ex.reliability_score(e, s, dim="station").dims == ("time", "lead")


def test_a_cluster_of_processes_gives_the_same(case):
    distributed = pytest.importorskip(
        "distributed", reason="dask.distributed is not installed: clusters are not tested"
    )
    observation, forecast, sigma = (array.chunk(station=1) for array in case)
    cluster = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": None,
    }
    with distributed.LocalCluster(**cluster) as here, distributed.Client(here) as client:
        assert (
            client.submit(lambda: __import__("os").getpid()).result() != __import__("os").getpid()
        )
        found = ex.scores(observation, forecast, sigma, dim="time").compute()
        rows = ex.crps(observation - forecast, sigma).compute()
        bad = ex.crps(observation - forecast, -sigma)
        with pytest.raises(ValueError, match="sigma at"):
            bad.compute()
    xr.testing.assert_identical(found, ex.scores(*case, dim="time"))
    np.testing.assert_array_equal(rows, errbar.crps((case[0] - case[1]).values, case[2].values))


def test_examples_in_the_documentation_hold():
    found = doctest.testmod(errbar.xarray)
    assert found.attempted > 3 and found.failed == 0


@pytest.mark.parametrize("lazy", [False, True])
def test_inputs_made_of_members(lazy):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 11, 5)).round(1)
    values[1, 2:5, 3] = np.nan
    members = xr.DataArray(values, dims=("time", "number", "station"), coords={"time": [1, 2, 3]})
    made = errbar.xarray.ensemble_inputs(members.chunk(time=1) if lazy else members, "number", center="median")
    assert set(made) == {"members_median", "members_spread", "members_zeros"}
    assert made["members_median"].dims == ("time", "station") and made["time"].values.tolist() == [1, 2, 3]
    np.testing.assert_allclose(made["members_median"], members.median("number"))
    np.testing.assert_allclose(made["members_spread"], members.std("number", ddof=1))
    np.testing.assert_allclose(made["members_zeros"], (members == 0).where(members.notnull()).mean("number"))
    with pytest.raises(ValueError, match="'member' is no dimension of members, which has time, number, station"):
        errbar.xarray.ensemble_inputs(members)
