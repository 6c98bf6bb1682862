"""errbar.dask on clusters of real processes: the same fit wherever rows lie, whoever is lost."""

import os
import signal

import numpy as np
import pandas as pd
import pytest

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed: errbar.dask is not tested")

import dask
import dask.array as da
import dask.dataframe as dd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression

import errbar
import errbar.dask
from errbar import ErrorBarRegressor, SigmaRegressor, _errbar
from errbar._dask_rounds import Bundle, Rounds
from errbar._dask_rows import numbers_of
from errbar.dask import DaskErrorBarRegressor, DaskSigmaRegressor

PARTS, ROWS = 16, 6_300


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def table():
    """Errors whose size depends on two inputs and a station, with weights."""
    rng = np.random.default_rng(7)
    rows = PARTS * ROWS
    x, hour = rng.uniform(0, 1, rows), rng.uniform(0, 24, rows)
    station = rng.choice(["a", "b", "c"], rows)
    size = 0.3 + 2 * x + 0.5 * (hour > 12) + np.select([station == "b", station == "c"], [0.5, 2.0])
    table = pd.DataFrame({"x": x, "hour": hour, "station": station, "forecast": 10 * x})
    table["y"] = table["forecast"] + size * rng.standard_normal(rows)
    table["weight"] = rng.uniform(0.5, 2.0, rows)
    return table


@pytest.fixture(scope="module")
def parts(table, tmp_path_factory):
    """The same as Parquet in 16 parts."""
    folder = tmp_path_factory.mktemp("parts")
    for part in range(PARTS):
        table.iloc[part * ROWS : (part + 1) * ROWS].to_parquet(folder / f"part-{part:02}.parquet")
    return str(folder)


def read(parts):
    return dd.read_parquet(parts)


def columns(parts, *names):
    table = read(parts)
    return table[list(names)], table["y"] - table["forecast"]


@pytest.fixture(scope="module")
def of_two(client, parts):
    """Fits by two workers, each made once."""
    made = {}

    def of(model):
        if model not in made:
            made[model] = DaskSigmaRegressor(model=model).fit(*columns(parts, "x", "hour"))
        return made[model]

    return of


def by_counts(local, table, names, weight=None):
    """The same fit with all parts in this process."""
    error = (table["y"] - table["forecast"]).to_numpy()
    inputs = np.ascontiguousarray(table[names].to_numpy(dtype=float))
    places = [_errbar.Elsewhere.candidates(part * ROWS, ROWS, len(table), False, 0) + part * ROWS for part in range(PARTS)]
    rows = np.concatenate(places)
    some = None if weight is None else np.ascontiguousarray(weight[rows])
    fit = _errbar.Elsewhere(
        inputs[rows], names, [], (error[rows], None), some, None, local._wanted(), rows, PARTS * [ROWS]
    )
    held, first = _errbar.Parts(fit.opening), []
    for part in range(PARTS):
        own = slice(part * ROWS, (part + 1) * ROWS)
        first.append(held.open(part, part * ROWS, inputs[own], error[own], None if weight is None else weight[own]))
    return fit.finish(first, lambda ask: [held.answer(ask)]).predict(inputs)[2]


@pytest.mark.parametrize("model", ["constant", "polynomial", "network", "trees", "auto"])
def test_a_fit_is_that_of_counts_here(client, table, parts, of_two, model):
    X, error = columns(parts, "x", "hour")
    two = of_two(model)
    here = by_counts(SigmaRegressor(model=model), table, ["x", "hour"])
    there = two.predict(X).compute().to_numpy()
    np.testing.assert_allclose(there, here, rtol=1e-6)
    truth = 0.3 + 2 * table["x"] + 0.5 * (table["hour"] > 12)
    if model != "constant":
        assert np.corrcoef(there, truth)[0, 1] > 0.9
    local = two.to_local()
    assert isinstance(local, SigmaRegressor) and local.model_ == two.model_
    np.testing.assert_array_equal(local.predict(table[["x", "hour"]]), there)


def test_one_worker_and_four_say_the_same_as_two(client, table, parts, of_two):
    X, error = columns(parts, "x", "hour")
    some = table[["x", "hour"]][:5000]
    [first, *_] = client.nthreads()
    with dask.config.set({"optimization.tune.active": False}):  # which would join small files
        held = X.assign(error=error).persist(workers=[first], allow_other_workers=False)
    one = DaskSigmaRegressor(model="polynomial", client=client).fit(held[["x", "hour"]], held["error"])
    assert np.array_equal(one.to_local().predict(some), of_two("polynomial").to_local().predict(some))
    with distributed.LocalCluster(
        n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster, set_as_default=False) as four_workers:
        assert len(four_workers.nthreads()) == 4
        for model in ("polynomial", "network"):
            four = DaskSigmaRegressor(model=model, client=four_workers).fit(X, error)
            two = of_two(model)
            assert np.array_equal(two.to_local().predict(some), four.to_local().predict(some))
            assert two.rounds_ == four.rounds_ > 10


def test_a_worker_that_dies_changes_nothing(client, table, parts, of_two):
    X, error = columns(parts, "x", "hour")
    calm = of_two("network")
    killed = []

    def kill(share):
        if share > 0.6 and not killed:
            worker, pid = next(iter(client.run(os.getpid).items()))
            os.kill(pid, signal.SIGKILL)
            killed.append(worker)

    hurt = DaskSigmaRegressor(model="network", progress=kill).fit(X, error)
    assert killed
    some = table[["x", "hour"]][:5000]
    assert np.array_equal(hurt.to_local().predict(some), calm.to_local().predict(some))
    client.wait_for_workers(2)


def test_parts_that_kill_their_workers_are_not_passed_on_for_ever():
    class Cluster:
        def wait_for_workers(self, n_workers):
            assert n_workers == 1

        def nthreads(self):
            return {"a": 1, "b": 2}

    rounds = Rounds(Cluster(), "fit", [], [], [], b"", None)
    bundle, seen = Bundle("fit-0", "a", 1, [0, 1]), []
    with pytest.raises(RuntimeError, match="given 2 partitions were lost 6 times: give workers more memory"):
        while True:
            rounds._move(bundle)
            seen.append((bundle.worker, bundle.threads))
    assert seen == [("b", 2), ("a", 1), ("b", 2), ("a", 1), ("b", 2)]


def test_weights_categories_and_names_are_as_here(client, table, parts):
    data = read(parts)
    X, error = data[["x", "station"]], data["y"] - data["forecast"]
    model = DaskSigmaRegressor(model="polynomial").fit(X, error, data["weight"])
    local = model.to_local()
    assert list(model.feature_names_in_) == ["x", "station"]
    assert [sorted(levels) for _, levels in local.fitted_.categories] == [["a", "b", "c"]]
    sigma = model.predict(X).compute()
    np.testing.assert_array_equal(sigma, local.predict(table[["x", "station"]]))
    worst = sigma[table["station"].to_numpy() == "c"].mean()
    assert worst > 1.5 * sigma[table["station"].to_numpy() == "a"].mean()
    # A level that the sample does not have is one that nobody knows.
    rare = table[["x", "station", "y", "forecast"]].copy()
    rare.loc[5, "station"] = "z"
    rare = dd.from_pandas(rare, npartitions=PARTS)
    again = DaskSigmaRegressor(model="polynomial").fit(rare[["x", "station"]], rare["y"] - rare["forecast"])
    assert np.isfinite(again.predict(rare[["x", "station"]]).compute()).all()

    here = by_counts(SigmaRegressor(model="polynomial"), table, ["x", "hour"], table["weight"].to_numpy())
    there = DaskSigmaRegressor(model="polynomial").fit(*columns(parts, "x", "hour"), data["weight"])
    np.testing.assert_allclose(there.predict(data[["x", "hour"]]).compute(), here, rtol=1e-6)


def test_arrays_are_taken_and_predictions_are_lazy(client, table):
    X = da.from_array(table[["x", "hour"]].to_numpy(), chunks=(ROWS, 1))
    y = da.from_array(table["y"].to_numpy(), chunks=ROWS)
    forecast = da.from_array(table["forecast"].to_numpy(), chunks=ROWS)
    model = DaskSigmaRegressor(model="polynomial").fit(X, forecast=forecast, observation=y)
    local, here = model.to_local(), table[["x", "hour"]].to_numpy()
    sigma = model.predict(X)
    assert isinstance(sigma, da.Array) and sigma.chunks == ((ROWS,) * PARTS,)
    np.testing.assert_array_equal(sigma, local.predict(here))
    np.testing.assert_array_equal(
        model.predict_interval(X, forecast, 0.8), local.predict_interval(here, table["forecast"], 0.8)
    )
    assert model.outside(X).compute().dtype == bool
    np.testing.assert_array_equal(model.bias(X), np.zeros(len(table)))
    error = (table["y"] - table["forecast"]).to_numpy()
    assert abs(model.score(X, y - forecast) - local.score(here, error)) < 1e-12


def test_intervals_of_a_table_keep_its_index(client, table, parts):
    data = read(parts)
    model = DaskSigmaRegressor(model="constant").fit(data[["x"]], data["y"] - data["forecast"])
    ends = model.predict_interval(data[["x"]], data["forecast"]).compute()
    assert list(ends.columns) == ["lower", "upper"]
    pd.testing.assert_index_equal(ends.index, table.index)
    held = (ends["lower"] < table["y"]) & (table["y"] < ends["upper"])
    assert 0.88 < held.mean() < 0.92
    quantiles = model.predict_quantiles(data[["x"]], data["forecast"], [0.1, 0.9]).compute()
    assert list(quantiles.columns) == ["q0.1", "q0.9"]


def test_few_rows_are_fitted_as_they_are_here(client, table):
    few = table[:3000]
    data = dd.from_pandas(few, npartitions=3)
    there = DaskSigmaRegressor().fit(data[["x", "hour"]], forecast=data["forecast"], observation=data["y"])
    here = SigmaRegressor().fit(few[["x", "hour"]], forecast=few["forecast"], observation=few["y"])
    np.testing.assert_array_equal(there.predict(data[["x", "hour"]]).compute(), here.predict(few[["x", "hour"]]))
    assert there.sample_rows_ == 3000 and there.rounds_ == 0


def test_groups_are_numbered_alike_everywhere():
    assert numbers_of(["a", "b"]).tolist() == numbers_of(["b", "a"])[::-1].tolist()
    assert numbers_of(None) is None


class Means(RegressorMixin, BaseEstimator):
    """A forecaster that learns from Dask collections: a line through the first input."""

    def __init__(self, client=None):
        self.client = client

    def fit(self, X, y, sample_weight=None):
        x, y = np.asarray(X["x"]), np.asarray(y)
        self.line_ = np.polyfit(x, y, 1)
        return self

    def predict(self, X):
        return X["x"] * self.line_[0] + self.line_[1]


def test_error_bars_on_a_forecaster_of_dask(client, table, parts):
    data = read(parts)
    X, y = data[["x", "hour"]], data["y"]
    model = DaskErrorBarRegressor(Means(), DaskSigmaRegressor(model="polynomial"), cv=4).fit(X, y)
    forecast, sigma = (values.compute() for values in model.predict(X, return_std=True))
    np.testing.assert_allclose(forecast, np.polyval(np.polyfit(table["x"], table["y"], 1), table["x"]))
    ends = model.predict_interval(X).compute()
    held = (ends["lower"] < table["y"]) & (table["y"] < ends["upper"])
    assert 0.88 < held.mean() < 0.92
    assert list(model.sigma_.feature_names_in_) == ["x", "hour", "forecast"]
    local = model.to_local()
    assert isinstance(local, ErrorBarRegressor) and local.estimator is model.estimator_

    # One of scikit-learn's kind, fitted to other rows.
    line = LinearRegression().fit(table[["x", "hour"]][:1000], table["y"][:1000])
    fitted = DaskErrorBarRegressor(line, DaskSigmaRegressor(model="constant"), cv="prefit").fit(X, y)
    np.testing.assert_allclose(fitted.predict(X).compute(), line.predict(table[["x", "hour"]]))
    here = fitted.to_local().predict_interval(table[["x", "hour"]])
    np.testing.assert_allclose(here, fitted.predict_interval(X).compute(), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match='say cv="prefit"'):
        DaskErrorBarRegressor(LinearRegression()).fit(X, y)


def test_scores_are_those_of_all_rows_at_once(client, table):
    data = dd.from_pandas(table, npartitions=PARTS)
    data["sigma"] = 1.0 + data["x"]
    y, forecast, sigma = table["y"], table["forecast"], 1.0 + table["x"]
    merged = errbar.dask.scores(data["y"], data["forecast"], data["sigma"], data["weight"])
    exact = errbar.scores(y, forecast, sigma, table["weight"], intervals=False)
    np.testing.assert_allclose([merged.crps, merged.nlpd, merged.bias], [exact.crps, exact.nlpd, exact.bias], rtol=1e-12)
    assert abs(merged.rs - exact.rs) <= merged.rs_bound < 1e-5
    by = errbar.dask.scores(data["y"], data["forecast"], data["sigma"], by=data["station"])
    assert list(by) == ["a", "b", "c"] and sum(one.rows for one in by.values()) == len(table)
    own = table["station"] == "c"
    alone = errbar.scores(y[own], forecast[own], sigma[own], intervals=False)
    np.testing.assert_allclose(by["c"].crps, alone.crps, rtol=1e-12)
    assert abs(by["c"].rs - alone.rs) <= by["c"].rs_bound
    bad = broken(table, "weight", 2 * ROWS + 9, -1.0)
    with pytest.raises(ValueError, match="part 2.*row 9"):
        errbar.dask.scores(bad["y"], bad["forecast"], bad["x"] + 1.0, bad["weight"])
    with pytest.raises(ValueError, match="part .*sigma"):
        errbar.dask.scores(data["y"], data["forecast"], 0.0 * data["x"])


def broken(table, column, row, value):
    table = table.copy()
    table.loc[row, column] = value
    return dd.from_pandas(table, npartitions=PARTS)


def test_what_is_wrong_with_a_part_is_said_and_the_cluster_goes_on(client, table):
    bad = broken(table, "y", 3 * ROWS + 17, np.nan)
    with pytest.raises(ValueError, match=r"part 3.*row 17"):
        DaskSigmaRegressor().fit(bad[["x"]], bad["y"] - bad["forecast"])
    words = table.astype({"hour": object})
    words.loc[2 * ROWS + 5, "hour"] = "noon"
    words["hour"] = words["hour"].astype(str)
    words = dd.from_pandas(words, npartitions=PARTS)
    with pytest.raises(ValueError, match="hour"):
        DaskSigmaRegressor(categorical_features=None).fit(words[["x", "hour"]], words["y"])
    whole = dd.from_pandas(table, npartitions=PARTS)
    with pytest.raises(ValueError, match="error has 4 partitions but X has 16"):
        DaskSigmaRegressor().fit(whole[["x"]], whole["y"].repartition(npartitions=4))
    with pytest.raises(ValueError, match="give a Dask DataFrame"):
        DaskSigmaRegressor().fit(table[["x"]], table["y"])
    with pytest.raises(ValueError, match="guarantee|elsewhere"):
        DaskSigmaRegressor(loss="law").fit(whole[["x"]], whole["y"] - whole["forecast"])
    assert client.submit(sum, [1, 2]).result() == 3
    DaskSigmaRegressor(model="constant").fit(whole[["x"]], whole["y"] - whole["forecast"])


def test_a_column_that_a_part_lacks_is_said(client, table):
    pieces = [table.iloc[part * ROWS : (part + 1) * ROWS] for part in range(PARTS)]
    meta = table.iloc[:0]

    def piece(part, columns=None):
        return pieces[part].drop(columns="hour") if part == 2 else pieces[part]

    lacking = dd.from_map(piece, range(PARTS), meta=meta, enforce_metadata=False)
    X = lacking.map_partitions(lambda part: part.drop(columns=["y", "station"]), meta=meta.drop(columns=["y", "station"]), enforce_metadata=False)
    y = lacking.map_partitions(lambda part: part["y"], meta=meta["y"], enforce_metadata=False)
    with pytest.raises(ValueError, match='part 2: X has no column "hour"; it has x'):
        DaskSigmaRegressor(model="constant").fit(X, y)


def test_workers_of_another_version_are_refused(client, parts):
    X, error = columns(parts, "x")
    [first, *_] = client.nthreads()

    def pretend(version):
        import errbar

        before, errbar.__version__ = errbar.__version__, version
        return before

    [ours] = client.run(pretend, "9.9", workers=[first]).values()
    try:
        with pytest.raises(ValueError, match=f"{first} has errbar 9.9, and here is {ours}"):
            DaskSigmaRegressor().fit(X, error)
    finally:
        client.run(pretend, ours, workers=[first])


def test_without_a_client_it_says_so(table):
    import subprocess
    import sys

    code = (
        "import dask.array as da; from errbar.dask import DaskSigmaRegressor\n"
        "x = da.ones(10, chunks=5)\n"
        "try:\n    DaskSigmaRegressor().fit(x[:, None], x)\n"
        "except ValueError as error:\n    print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("there is no Dask client: open one")
    assert errbar.__version__
