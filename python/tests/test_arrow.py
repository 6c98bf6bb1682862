"""Batches of Arrow: the same error bars and scores as the program and `errbar.scores`, however rows are cut."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import threading
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import errbar
import errbar.arrow
from errbar import ScoreSums, SigmaRegressor
from errbar.arrow import predict_batches, score_batches

ROWS = 3000
LETTERS = np.array(["a", "b", "c", "rare"])


def made(seed: int, far: bool = False, rows: int = ROWS) -> pa.Table:
    """Inputs of several types, with gaps, and errors whose size they tell."""
    random = np.random.default_rng(seed)
    x = random.uniform(0, 2, rows)
    if far:
        x[::97] = 40.0
        x[1] = np.inf
    count = random.integers(0, 5, rows)
    letter = random.choice(4, rows, p=[0.4, 0.3, 0.29, 0.01])
    forecast = random.normal(10, 3, rows)
    sigma = (0.2 + np.minimum(x, 2)) * np.array([1.0, 2.0, 0.5, 1.0])[letter]
    return pa.table(
        {
            "id": pa.array(range(rows), pa.int64()),
            "x": pa.array(x, mask=random.random(rows) < 0.05),
            "count": pa.array(count, pa.int16()),
            "letter": pa.array(LETTERS[letter], mask=random.random(rows) < 0.02),
            "mu": forecast,
            "y": forecast + 0.5 * np.minimum(x, 2) + sigma * random.normal(size=rows),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables and models of the program."""
    folder = tmp_path_factory.mktemp("arrow")
    pq.write_table(made(1), folder / "train.parquet")
    pq.write_table(made(2, far=True), folder / "new.parquet")
    fit = ["fit", "train.parquet", "--observation", "y", "--forecast", "mu"]
    run(folder, *fit, "--inputs", "x,count,letter", "--model", "polynomial", "--debias", "-o", "debiased.json")
    run(folder, *fit, "--inputs", "x,count", "--model", "trees", "--guarantee", "split", "--group", "letter", "-o", "groups.json")
    run(folder, *fit, "--inputs", "x", "--model", "smooth", "-o", "smooth.json")
    return folder


def run(folder, *arguments):
    program = [sys.executable, "-m", "errbar", *arguments]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


ASKED = {
    "debiased.json": {"interval": [0.5, 0.9], "quantiles": 0.1, "exceed": [10.0, 12.5]},
    "groups.json": {"guarantee": [0.8, 0.9], "interval": 0.9},
    "smooth.json": {"sigma_band": 0.9, "lower": 0.0, "quantiles": [0.05, 0.5]},
}


def of_program(folder, model, asked, table="new.parquet"):
    words = ["--prefix", "new_"]
    for name, value in asked.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{name.replace('_', '-')}", ",".join(map(str, values))]
    run(folder, "predict", table, "--model", model, *words, "-o", "out.parquet")
    return pq.read_table(folder / "out.parquet")


@pytest.mark.parametrize("model", ASKED)
def test_batches_say_what_the_program_says(folder, model):
    want = of_program(folder, model, ASKED[model])
    table = pq.read_table(folder / "new.parquet")
    predict = predict_batches(folder / model, prefix="new_", **ASKED[model])
    for rows in (ROWS, 700, 1):
        some = table if rows > 1 else table.slice(0, 20)
        batches = list(predict(iter(some.to_batches(max_chunksize=rows))))
        got = pa.Table.from_batches(batches)
        assert got.column_names == want.column_names
        assert got.schema.remove_metadata() == predict.schema(table.schema).remove_metadata()
        for name in got.column_names:
            told, wanted = got[name].to_pylist(), want[name].to_pylist()[: len(some)]
            assert told == wanted, name


@pytest.mark.parametrize("model", ASKED)
def test_what_is_told_is_told_of_some_rows(folder, model):
    """So that the comparison above is one of numbers and not of gaps."""
    out = predict_batches(folder / model, **ASKED[model])(pq.read_table(folder / "new.parquet"))
    for name in out.column_names[6:]:
        assert out[name].null_count < ROWS, name
    assert 0 < out["x"].null_count < ROWS


def test_a_model_of_python_says_what_it_says_itself():
    random = np.random.default_rng(5)
    X = pd.DataFrame({"a": random.uniform(size=500), "b": random.uniform(size=500)})
    error = (0.1 + X["a"]) * random.normal(size=500)
    model = SigmaRegressor("polynomial").fit(X, error)
    mu = random.normal(size=500)
    table = pa.table({"b": X["b"], "mu": mu, "a": X["a"]})  # in another order
    for given in (model, model.fitted_, model.fitted_.to_json().encode()):
        out = predict_batches(given, forecast="mu", interval=0.8, keep=False)(table)
        np.testing.assert_array_equal(out["sigma"], model.predict(X))
        ends = np.stack([out["lower_80"], out["upper_80"]], axis=1)
        np.testing.assert_array_equal(ends, model.predict_interval(X, mu, 0.8))
        np.testing.assert_array_equal(out["support"], model.support(X))
        np.testing.assert_array_equal(out["outside"], model.outside(X))


def test_inputs_of_every_type_of_numbers():
    x = np.arange(200) % 50
    model = SigmaRegressor("polynomial").fit(pd.DataFrame({"x": x.astype(float)}), (1 + x) * np.sin(7.0 * np.arange(200)))
    predict = predict_batches(model, keep=False)
    want = model.predict(pd.DataFrame({"x": [0.0, 1.0, np.nan]}))
    gap = [0, 1, None]
    columns = [pa.array(gap, kind) for kind in (pa.int8(), pa.uint64(), pa.float32(), pa.float64(), pa.decimal128(9, 2))]
    columns += [pa.array([False, True, None]), pa.array(gap).dictionary_encode(), pa.array([Decimal(0), Decimal(1), None])]
    columns += [pa.chunked_array([[0], [1, None]]), pa.array([9, 0, 1, None])[1:]]
    for values in columns:
        got = predict(pa.table({"x": values}))["sigma"].to_pylist()
        np.testing.assert_array_equal(np.array(got, float), want, err_msg=str(values.type))
    assert predict(pa.table({"x": pa.nulls(3)}))["sigma"].to_pylist() == [want[2]] * 3
    # An infinite input tells nothing, as with the program.
    assert predict(pa.table({"x": [math.inf, 1.0]}))["sigma"].to_pylist() == [None, want[1]]
    assert predict(pa.table({"x": [math.inf, 1.0]}))["outside"].to_pylist() == [None, False]


def test_categories_of_every_type(folder):
    table = pq.read_table(folder / "new.parquet").slice(0, 300)
    predict = predict_batches(folder / "debiased.json", keep=False)
    want = predict(table)
    place = table.schema.get_field_index("letter")
    text = table["letter"]
    for values in (text.cast(pa.large_string()), text.dictionary_encode(), text.cast(pa.string_view())):
        assert predict(table.set_column(place, "letter", values)).equals(want), values.type


def test_nothing_comes_of_nothing(folder):
    predict = predict_batches(folder / "debiased.json", interval=0.9)
    table = pq.read_table(folder / "new.parquet")
    assert list(predict(iter([]))) == []
    empty = table.slice(0, 0)
    assert predict(empty).num_rows == 0
    assert predict(empty).schema.equals(predict.schema(table.schema))
    [batch] = predict(iter([pa.RecordBatch.from_pylist([], table.schema)]))
    assert batch.num_rows == 0
    score = score_batches(observation="y", forecast="mu", sigma=1.0)
    assert list(score(iter([]))) == []
    with pytest.raises(ValueError, match="no rows"):
        score.finish(score(empty))
    assert score_batches(observation="y", forecast="mu", sigma=1.0, by="letter").finish(score(iter([]))) == {}


def test_columns_are_kept_or_not(folder):
    table = pq.read_table(folder / "new.parquet")
    new = ["debiased", "sigma", "support", "outside", "outside_input"]
    assert predict_batches(folder / "debiased.json", keep=False)(table).column_names == new
    assert predict_batches(folder / "debiased.json", keep=["y", "id"])(table).column_names == ["y", "id", *new]
    doubled = table.append_column("sigma", table["x"])
    with pytest.raises(ValueError, match='has a column "sigma" already: .*prefix="new_"'):
        predict_batches(folder / "debiased.json")(doubled)
    assert predict_batches(folder / "debiased.json", keep=["id"])(doubled).num_rows == ROWS


def refused(what, *words):
    with pytest.raises(ValueError) as found:
        what()
    for word in words:
        assert word in str(found.value)
    assert "\n" not in str(found.value)


def test_what_cannot_be_is_said_in_a_sentence(folder, tmp_path):
    path, table = folder / "debiased.json", pq.read_table(folder / "new.parquet")
    predict = predict_batches(path)
    refused(lambda: predict(table.drop_columns(["count"])), 'no column "count", an input of the model', '"letter"')
    refused(lambda: list(predict(table.drop_columns(["mu"]).to_batches())), 'no column "mu", the forecast')
    words = table.set_column(2, "count", pa.array(["many"] * ROWS))
    refused(lambda: predict(words), 'the column "count" holds string, and numbers are needed')
    refused(lambda: predict(table.append_column("x", table["x"])), '2 columns are named "x"')
    refused(lambda: predict(3), "this is a int")
    refused(lambda: predict_batches(path, interval=1.0), "interval is 1.0")
    refused(lambda: predict_batches(path, interval=[0.9, 0.9])(table), '"lower_90" is asked for twice')
    refused(lambda: predict_batches(path, guarantee=0.9), "guarantee")
    refused(lambda: predict_batches(path, sigma_band=0.9), "no band on sigma")
    refused(lambda: predict_batches(path, lower=2, upper=1), "lower is not below upper")
    refused(lambda: predict_batches(3), "model is a int")
    # What another version cannot read, in the words of the model file.
    newer = path.read_text().replace('"needs":[', '"needs":["thoughts",', 1)
    refused(lambda: predict_batches(newer.encode()), "thoughts")
    refused(lambda: predict_batches(b"{}"), "the model cannot be used")
    model = SigmaRegressor("constant").fit(np.zeros((30, 1)), np.sin(np.arange(30.0)))
    refused(lambda: predict_batches(model, interval=0.9), "name its column")


def test_models_of_rows_in_time():
    time = np.datetime64("2024-01-01", "us") + np.arange(2000) * np.timedelta64(3600, "s")
    hour = (np.arange(2000) % 24).astype(float)
    random = np.random.default_rng(8)
    error = np.where(hour < 12, 0.2, 2.0) * random.normal(size=2000)
    X = pd.DataFrame({"x": random.uniform(size=2000)})
    when = pd.Series(time, name="when")
    model = SigmaRegressor("trees").fit(X, error, time=when)
    assert model.calendar_ == ["hour of day"]
    predict = predict_batches(model, keep=False)
    got = predict(pa.table({"x": X["x"], "when": time}))["sigma"].to_numpy()
    assert got[hour == 20].mean() > 5 * got[hour == 5].mean()
    refused(lambda: predict(pa.table({"x": [1.0]})), 'no column "when"', "hour of day")
    refused(lambda: predict(pa.table({"x": [1.0], "when": ["2024"]})), "dates are needed")
    later = pd.Series(time + np.timedelta64(2000 * 3600, "s"), name="when")
    model.update(X, 3 * error, time=later)
    refused(lambda: predict_batches(model), "as_fitted=True")
    again = predict_batches(model, as_fitted=True, keep=False)
    np.testing.assert_array_equal(again(pa.table({"x": X["x"], "when": time}))["sigma"], got)
    calm = np.repeat(np.exp(random.normal(size=40)), 50)  # calm or wild for 50 hours at a time
    lagged = SigmaRegressor("polynomial", lag=[1, 2, 3]).fit(X, calm * random.normal(size=2000), time=time)
    assert lagged.fitted_.lags
    refused(lambda: predict_batches(lagged, as_fitted=True), "errors of earlier rows")


def test_members_and_a_prior_sigma(tmp_path):
    random = np.random.default_rng(4)
    spread = np.exp(random.normal(size=(800, 1)))
    members = 5 + spread * random.normal(size=(800, 6))
    y = 5 + spread[:, 0] * random.normal(size=800)
    table = pa.table({**{f"m{i}": members[:, i] for i in range(6)}, "y": y, "s": spread[:, 0]})
    pq.write_table(table, tmp_path / "members.parquet")
    run(tmp_path, *"fit members.parquet --observation y --members m0,m1,m2,m3,m4,m5 -o m.json".split())
    run(tmp_path, *"fit members.parquet --observation y --forecast m0 --prior-sigma s --inputs m1 -o s.json".split())
    for model in ("m.json", "s.json"):
        want = of_program(tmp_path, model, {"interval": 0.9}, "members.parquet")
        got = predict_batches(tmp_path / model, interval=0.9, prefix="new_")(table)
        assert got.column_names == want.column_names
        assert [got[name].to_pylist() for name in got.column_names] == [want[name].to_pylist() for name in got.column_names]


def test_pickles_hold_the_text_of_the_model_and_plain_values(folder):
    predict = predict_batches(folder / "debiased.json", interval=0.9)
    table = pq.read_table(folder / "new.parquet").slice(0, 50)
    sent = pickle.dumps(predict)
    assert b"errbar_model" in sent
    assert pickle.loads(sent)(table).equals(predict(table))
    code = (
        "import pickle, sys, pyarrow as pa\n"
        "predict, table = pickle.load(sys.stdin.buffer)\n"
        "sys.stdout.buffer.write(pickle.dumps(predict(table)['sigma'].to_pylist()))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps((predict, table)), capture_output=True)
    assert pickle.loads(done.stdout) == predict(table)["sigma"].to_pylist(), done.stderr
    make, (text, asked, version) = predict.__reduce__()
    refused(lambda: make(text, {**asked, "thoughts": 1}, "9.9"), "errbar 9.9 sent this", "have one version everywhere")
    later = make(text.replace('"needs":[', '"needs":["thoughts",', 1), asked, version)
    refused(lambda: later(table), "thoughts")
    score = score_batches(observation="y", forecast="mu", sigma=1.0, by="letter")
    assert pickle.loads(pickle.dumps(score))(table).equals(score(table))


def test_threads_of_a_caller_do_not_wait_for_each_other(folder):
    """Each brings its own; and what comes does not depend on it."""
    predict = predict_batches(folder / "groups.json", guarantee=0.9)
    table = pq.read_table(folder / "new.parquet")
    want, got = predict(table), {}
    each = [threading.Thread(target=lambda i=i: got.setdefault(i, predict(table))) for i in range(4)]
    [one.start() for one in each]
    [one.join() for one in each]
    assert all(got[i].equals(want) for i in range(4))
    assert predict_batches(folder / "groups.json", guarantee=0.9, n_jobs=2)(table).equals(want)


@pytest.fixture(scope="module")
def judged():
    """Errors and sigmas in groups of many and of few rows, and with a group that has no name."""
    random = np.random.default_rng(6)
    rows = 60_000
    station = np.where(random.random(rows) < 0.9, "many", random.choice(["few", "one more"], rows))
    station[:3] = "three"
    sigma = np.exp(random.normal(scale=0.5, size=rows))
    forecast = random.normal(10, 3, rows)
    y = forecast + 1.2 * sigma * random.normal(size=rows)
    weight = random.integers(0, 4, rows) / 2
    named = pa.array(station, mask=(random.random(rows) < 0.01) & (np.arange(rows) > 2))
    return pa.table({"station": named, "level": random.integers(0, 2, rows), "y": y, "mu": forecast, "s": sigma, "w": weight})


def agree(got, observation, forecast, sigma, weight=None):
    """Merged scores with those of all rows at once: means to rounding, RS to its bound."""
    want = errbar.scores(observation, forecast, sigma, weight)
    assert got.rows == want.rows
    assert 0 <= got.rs_bound < 1e-3 * max(want.rs, 1 / want.rows)
    assert abs(got.rs - want.rs) <= got.rs_bound
    for name in ("bias", "mae", "rmse", "mean_sigma", "rms_z", "crps", "nlpd", "effective_rows"):
        assert math.isclose(getattr(got, name), getattr(want, name), rel_tol=1e-12, abs_tol=1e-12), name
    assert [one.level for one in got.coverage] == [one.level for one in want.coverage]
    np.testing.assert_allclose([one.observed for one in got.coverage], [one.observed for one in want.coverage], atol=1e-12)
    np.testing.assert_allclose(got.pit.frequency, want.pit.frequency, atol=1e-12)


@pytest.mark.parametrize("weight", [None, "w"])
def test_scores_of_parts_are_those_of_all(judged, weight):
    score = score_batches(observation="y", forecast="mu", sigma="s", weight=weight)
    columns = [judged[name].to_numpy() for name in ("y", "mu", "s")] + ([judged["w"].to_numpy()] if weight else [])
    parts = [judged.slice(from_, 7_001) for from_ in range(0, len(judged), 7_001)]
    sums = [score(part.to_batches(max_chunksize=1_000)) for part in parts]
    batches = [batch for part in sums for batch in part]
    assert len(batches) == len(parts)
    agree(score.finish(batches), *columns)
    # Sums of sums, as tables and as bytes.
    two = [*score.merge(batches[:4]), *score.merge(batches[4:])]
    agree(score.finish(pa.Table.from_batches(two)), *columns)
    agree(score.finish([row.as_py() for batch in batches for row in batch.column("sums")]), *columns)


def test_how_rows_are_cut_within_a_part_does_not_change_a_bit(judged):
    for by in (None, "station"):
        score = score_batches(observation="y", forecast="mu", sigma="s", by=by)
        tables = [pa.Table.from_batches(score(judged.to_batches(max_chunksize=rows))) for rows in (60_000, 999, 37)]
        order = [one.sort_by("rows") for one in tables]
        assert order[0].equals(order[1]) and order[1].equals(order[2])


def test_scores_by_group(judged):
    score = score_batches(observation="y", forecast="mu", sigma="s", by="station")
    sums = [score(judged.slice(from_, 20_000)) for from_ in range(0, 60_000, 20_000)]
    got = score.finish(sums)
    stations = np.array(judged["station"].to_pylist(), dtype=object)
    assert set(got) == {"many", "few", "one more", "three", None}
    for station, scores in got.items():
        here = np.flatnonzero([one == station for one in stations])
        agree(scores, *[judged[name].to_numpy()[here] for name in ("y", "mu", "s")])
    # A group of three rows is a few hundred bytes.
    three = [row for row in sums[0].to_pylist() if row["station"] == "three"]
    assert len(three[0]["sums"]) < 400
    both = score_batches(observation="y", forecast="mu", sigma="s", by=["station", "level"])
    pairs = both.finish([both(judged)])
    assert sum(one.rows for one in pairs.values()) == len(judged)
    here = (stations == "few") & (judged["level"].to_numpy() == 1)
    agree(pairs["few", 1], *[judged[name].to_numpy()[here] for name in ("y", "mu", "s")])
    # Groups that are categories.
    place = judged.schema.get_field_index("station")
    coded = judged.set_column(place, "station", judged["station"].dictionary_encode())
    assert score(coded).equals(score(judged))


def test_rows_that_cannot_be_judged_are_named(judged):
    score = score_batches(observation="y", forecast="mu", sigma="s", weight="w")

    def with_value(name, value):
        values = judged[name].to_numpy().copy()
        values[2_345] = value
        return judged.set_column(judged.schema.get_field_index(name), name, pa.array(values, from_pandas=True))

    def why(table, *words):
        refused(lambda: list(score(table.to_batches(max_chunksize=1_000))), *words)

    why(with_value("s", 0.0), 'batch 2, row 345: the column "s", the sigma, is 0.0: every sigma must be greater than 0')
    why(with_value("s", -1.0), "-1.0")
    why(with_value("y", np.nan), 'batch 2, row 345: the column "y", the observation, is missing', 'missing="drop"')
    why(with_value("mu", np.inf), 'the column "mu", the forecast, is inf')
    why(with_value("w", -1.0), "no weight can be negative")
    why(judged.drop_columns(["s"]), 'no column "s", the sigma')
    drop = score_batches(observation="y", forecast="mu", sigma="s", missing="drop", by="station")
    gap = with_value("y", np.nan)
    rows = sum(one.rows for one in drop.finish(drop(gap)).values())
    assert rows == len(judged) - 1
    refused(lambda: drop(with_value("s", 0.0)), "row 2345: ", "is 0.0")
    refused(lambda: score_batches(observation="y", forecast="mu", sigma="s", missing="no"), '"error" or "drop"')
    refused(lambda: score_batches(observation="y", forecast="mu", sigma="s", by="rows"), 'a column "rows"')


def test_sums_as_bytes():
    sums = ScoreSums().add([1.0, 2.0, 4.0], 2.0, [1.0, 0.5, 3.0])
    sent = sums.to_bytes()
    assert len(sent) < 400
    assert ScoreSums.from_bytes(sent).to_bytes() == sent
    assert pickle.loads(pickle.dumps(sums)).scores().to_dict() == sums.scores().to_dict()
    refused(lambda: ScoreSums.from_bytes(sent[:-1]), "these are no sums of scores")
    refused(lambda: ScoreSums.from_bytes(b"{}"), "something else")
    newer = sent[:12] + b"\x02" + sent[13:]
    refused(lambda: ScoreSums.from_bytes(newer), "form 2", errbar.__version__)
    refused(lambda: ScoreSums().scores(), "no rows")
    refused(lambda: sums.add([1.0], [0.0], [0.0]), "sigma")
    assert sums.rows == 3
    both = ScoreSums.merged([sums, sent])
    assert both.rows == 6 and math.isclose(both.scores().crps, sums.scores().crps)
    levels = both.scores(levels=[0.7], pit_bins=10)
    assert [one.level for one in levels.coverage] == [0.7] and len(levels.pit.frequency) == 10


def test_polars_duckdb_pandas_and_datasets(folder, tmp_path):
    """What docs/scale.md says."""
    predict = predict_batches(folder / "debiased.json", interval=0.9)
    table = pq.read_table(folder / "new.parquet")
    want = predict(table)["sigma"].to_pylist()
    assert pl.DataFrame(predict(pl.DataFrame(table)))["sigma"].to_list() == want
    np.testing.assert_array_equal(predict(table.to_pandas()).read_pandas()["sigma"], np.array(want, float))
    score = score_batches(observation="y", forecast="mu", sigma=1.0, by="letter")
    assert score(pl.DataFrame(table)).to_pylist() == score(table).to_pylist()
    reader = predict(duckdb.sql(f"from '{folder / 'new.parquet'}'"))
    assert isinstance(reader, pa.RecordBatchReader)
    # A connection that streams takes no other query meanwhile.
    [total] = duckdb.connect().execute("select sum(sigma) from reader").fetchone()
    assert math.isclose(total, sum(one for one in want if one is not None), rel_tol=1e-12)
    data = ds.dataset(folder / "new.parquet")
    ds.write_dataset(predict(data.scanner(batch_size=500).to_reader()), tmp_path / "out", format="parquet")
    # Threads write in any order.
    assert ds.dataset(tmp_path / "out").to_table().sort_by("id")["sigma"].to_pylist() == want
