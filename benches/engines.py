"""Error bars and scores of many rows on Spark and on Ray, beside those of the program on the same files.

    python3 benches/engines.py [--rows N] [--wheel FILE] [--folder FOLDER] [--only spark,ray] [--out FILE]

Runs with plain Python 3.10 or later, and Java 17 for Spark (on Debian `apt install default-jre-headless`): as peers.py does, the
script makes a virtual environment under target/, here of benches/engines-requirements.txt, and starts itself again inside. errbar is
installed there from python/ (which builds it), or from a wheel.

It writes a Parquet table of so many rows (10,000,000) in 16 parts, with six inputs (a category and an integer among them, gaps in
one), a forecast and an observation whose error they tell, and lets the program fit sigma to the first part, predict with a 90%
interval, and score, with two threads. Then Spark (`local[2]`, errbar.spark) and Ray (two processors, map_batches) do the same with the same
model file:

- every new value is compared with the program's, row by row, by an id: the largest difference is told;
- the scores of all rows, and of each group, are compared with the program's and with `errbar.scores` of all rows at once: means to
  rounding, the Reliability Score to the bound that is told with it.

Each side is a process of its own, one after another. Seconds are those on the clock, with the start of the engine left out; on a
machine that others use as well they are shares of what the program took in the same run, and no more than that.
"""

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ["errbar", "pyspark", "ray", "pyarrow", "pandas", "numpy"]
PARTS = 16
THREADS = 2
GROUPS = "station"
NEW = ["sigma", "lower_90", "upper_90", "support", "outside", "outside_input"]
MEANS = ["bias", "mae", "rmse", "mean_sigma", "rms_z", "crps", "nlpd"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7, metavar="N", help="how many rows (10,000,000)")
    parser.add_argument("--wheel", type=Path, metavar="FILE", help="install errbar from this wheel")
    parser.add_argument("--folder", type=Path, help="where to write the tables [default: one that is removed]")
    parser.add_argument("--only", default="spark,ray", metavar="NAMES", help="which engines")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the markdown here as well")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    return parser.parse_args()


def install(wheel):
    """errbar as it is now."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]
    subprocess.run([*pip, wheel or HERE.parent / "python"], check=True)


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    if ARGUMENTS.side is None:
        # peers.py as far as it needs no package: it makes the environment and starts this script again inside.
        head = (HERE / "peers.py").read_text(encoding="utf-8").partition("# Only the virtual environment")[0]
        names = {"__name__": "peers", "__file__": __file__}
        exec(compile(head, "peers.py", "exec"), names)
        names["VENV"] = HERE.parent / "target" / "engines-venv"
        names["REQUIREMENTS"] = HERE / "engines-requirements.txt"
        names["enter_environment"]()
        install(ARGUMENTS.wheel)

import errbar
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

PROGRAM = Path(sys.executable).with_name("errbar")


def write_table(folder, rows):
    """The rows, part by part; sigma is known, and so is that it can be learned."""
    folder.mkdir(parents=True)
    stations = np.array([f"station {k}" for k in range(20)])
    level = np.random.default_rng(0).uniform(0.5, 2.0, len(stations))
    edges = np.linspace(0, rows, PARTS + 1).astype(int)
    for part, (first, last) in enumerate(zip(edges, edges[1:])):
        random, n = np.random.default_rng([1, part]), last - first
        station = random.integers(0, len(stations), n)
        hour, wind = random.integers(0, 24, n), random.gamma(2.0, 3.0, n)
        cloud, pressure = random.uniform(0, 1, n), random.normal(1013, 10, n)
        sigma = level[station] * np.exp(0.4 * np.sin(hour * np.pi / 12) + 0.05 * wind)
        forecast = random.normal(15, 5, n)
        table = {
            "id": np.arange(first, last),
            "station": pa.array(stations[station]).dictionary_encode(),
            "hour": pa.array(hour, pa.int8()),
            "wind": wind,
            "cloud": pa.array(cloud, pa.float32(), mask=random.random(n) < 0.01),
            "pressure": pressure,
            "forecast": forecast,
            "observation": forecast + sigma * random.standard_normal(n),
        }
        pq.write_table(pa.table(table), folder / f"part-{part:02}.parquet", row_group_size=1 << 18)


def program(*arguments):
    environment = {**os.environ, "RAYON_NUM_THREADS": str(THREADS)}
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"engines: errbar {arguments[0]}: {done.stderr}")
    return done.stdout


def side_program(work):
    seconds = {}
    begin = time.perf_counter()
    program("predict", work / "rows", "--model", work / "model.json", "--interval", 0.9, "-o", work / "program.parquet")
    seconds["predict"] = time.perf_counter() - begin
    roles = ["--observation", "observation", "--forecast", "forecast", "--sigma", "sigma", "--no-intervals"]
    begin = time.perf_counter()
    told = program("score", work / "program.parquet", *roles, "--json")
    seconds["score"] = time.perf_counter() - begin
    return seconds, json.loads(told)["scores"]


def plainly(scores):
    """What is compared of merged scores."""
    return {name: getattr(scores, name) for name in ["rows", *MEANS, "rs", "rs_bound"]}


def side_spark(work):
    from pyspark.sql import SparkSession

    import errbar.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "3g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    }
    builder = SparkSession.builder.master(f"local[{THREADS}]").appName("errbar engines")
    spark = builder.config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.read.parquet(str(work / "rows"))
    rows.limit(1).collect()
    seconds = {}
    begin = time.perf_counter()
    errbar.spark.predict(rows, work / "model.json", interval=0.9).write.parquet(str(work / "spark"))
    seconds["predict"] = time.perf_counter() - begin
    done = spark.read.parquet(str(work / "spark"))
    roles = {"observation": "observation", "forecast": "forecast", "sigma": "sigma"}
    begin = time.perf_counter()
    scores = errbar.spark.scores(done, **roles)
    seconds["score"] = time.perf_counter() - begin
    groups = errbar.spark.scores(done, **roles, by=GROUPS)
    spark.stop()
    return seconds, {"all": plainly(scores), "groups": {name: plainly(one) for name, one in groups.items()}}


def side_ray(work):
    import ray

    import errbar.arrow

    ray.init(num_cpus=THREADS, include_dashboard=False, logging_level="ERROR", object_store_memory=2 << 30)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = ray.data.read_parquet(str(work / "rows"))
    rows.limit(1).take_all()
    seconds = {}
    predict = errbar.arrow.predict_batches(work / "model.json", interval=0.9)
    begin = time.perf_counter()
    rows.map_batches(predict, batch_format="pyarrow", batch_size=50_000).write_parquet(str(work / "ray"))
    seconds["predict"] = time.perf_counter() - begin
    done = ray.data.read_parquet(str(work / "ray"))

    def scored(by):
        score = errbar.arrow.score_batches(observation="observation", forecast="forecast", sigma="sigma", by=by)
        sums = done.map_batches(score, batch_format="pyarrow", batch_size=None)
        return score.finish(sums.iter_batches(batch_format="pyarrow", batch_size=None))

    begin = time.perf_counter()
    scores = scored(None)
    seconds["score"] = time.perf_counter() - begin
    groups = scored(GROUPS)
    ray.shutdown()
    return seconds, {"all": plainly(scores), "groups": {name: plainly(one) for name, one in groups.items()}}


SIDES = {"program": side_program, "spark": side_spark, "ray": side_ray}


def in_process(side, work):
    """A side in a process of its own."""
    call = [sys.executable, __file__, "--side", side, "--folder", work]
    done = subprocess.run(call, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"engines: {side} failed")
    return json.loads(done.stdout.splitlines()[-1])


def column(path, name, ids):
    """A column in the order of ids."""
    table = ds.dataset(path, format="parquet").to_table(columns=["id", name])
    order = np.argsort(table["id"].to_numpy(), kind="stable")
    assert np.array_equal(table["id"].to_numpy()[order], ids)
    return table[name].combine_chunks().take(pa.array(order))


def differences(work, side):
    """For each new column the rows that differ in a bit, and the largest difference of numbers."""
    ids = np.sort(ds.dataset(work / "program.parquet").to_table(columns=["id"])["id"].to_numpy())
    out = {}
    for name in NEW:
        want, got = (column(work / path, name, ids) for path in ("program.parquet", side))
        if not pa.types.is_floating(want.type):
            want, got = want.cast(pa.string()), got.cast(pa.string())
        same = pc.fill_null(pc.equal(want, got), False).to_numpy(zero_copy_only=False)
        same |= want.is_null().to_numpy(zero_copy_only=False) & got.is_null().to_numpy(zero_copy_only=False)
        largest = 0.0
        if not same.all() and pa.types.is_floating(want.type):
            gap = np.abs(want.to_numpy(zero_copy_only=False) - got.to_numpy(zero_copy_only=False))
            largest = float(np.nanmax(gap[~same])) if np.isfinite(gap[~same]).any() else float("nan")
        out[name] = (int((~same).sum()), largest)
    return len(ids), out


def exactly(work):
    """The scores of all rows at once, and of each group."""
    names = [GROUPS, "observation", "forecast", "sigma"]
    table = ds.dataset(work / "program.parquet").to_table(columns=names)
    y, mu, s = (table[name].to_numpy() for name in names[1:])
    of = lambda rows: errbar.scores(y[rows], mu[rows], s[rows])
    labels = table[GROUPS].combine_chunks()
    labels = labels if isinstance(labels, pa.DictionaryArray) else labels.dictionary_encode()
    places = labels.indices.to_numpy()
    groups = {name: of(places == k) for k, name in enumerate(labels.dictionary.to_pylist())}
    return of(slice(None)), groups


def farthest(got, want):
    """The largest relative difference of means, that of RS, and its bound."""
    means = max(abs(got[name] - getattr(want, name)) / abs(getattr(want, name)) for name in MEANS)
    return means, abs(got["rs"] - want.rs), got["rs_bound"]


def report(rows, work, said, exact):
    out = []
    engines = [name for name in said if name != "program"]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    java = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr.splitlines()[:1]
    python = sys.version.split()[0]
    out += [f"{datetime.date.today()}, {rows:,} rows in {PARTS} parts, Python {python}, {versions}, {''.join(java)}", ""]
    out += ["New values beside those of `errbar predict`, row by row:", ""]
    out += ["| engine | rows | values that differ in a bit | largest difference |", "|---|--:|--:|--:|"]
    for engine in engines:
        count, columns = differences(work, engine)
        bits = sum(one[0] for one in columns.values())
        largest = max((one[1] for one in columns.values()), default=0.0)
        out.append(f"| {engine} | {count:,} | {bits:,} of {count * len(NEW):,} | {largest:.1e} |")
    whole, groups = exact
    out += ["", "Scores of all rows, beside `errbar.scores` of all rows at once:", ""]
    out += ["| scores by | rows | largest relative difference of means | RS | its distance | its bound |", "|---|--:|--:|--:|--:|--:|"]
    local = said["program"][1]
    for name, got in [("`errbar score`", local), *[(engine, said[engine][1]["all"]) for engine in engines]]:
        means, distance, bound = farthest({"rs_bound": float("nan"), **got}, whole)
        bound = "" if bound != bound else f"{bound:.1e}"
        out.append(f"| {name} | {got['rows']:,} | {means:.1e} | {got['rs']:.6e} | {distance:.1e} | {bound} |")
    for engine in engines:
        each = {name: farthest(got, groups[name]) for name, got in said[engine][1]["groups"].items()}
        assert set(each) == set(groups)
        within = sum(distance <= bound for _, distance, bound in each.values())
        worst = max(each.values(), key=lambda one: one[1])
        out += ["", f"{engine}, by {GROUPS}: {within} of {len(each)} groups have RS within its bound (the farthest is {worst[1]:.1e} off, "
                f"bound {worst[2]:.1e}); means differ by {max(one[0] for one in each.values()):.1e} at the most."]
    out += ["", "Seconds on the clock in units of what the program took in this run (the start of an engine left out; the machine was shared "
            "with other work):", "", "| side | predict | score |", "|---|--:|--:|"]
    base = said["program"][0]
    for name, (seconds, _) in said.items():
        out.append(f"| {name} | {seconds['predict'] / base['predict']:.2f} | {seconds['score'] / base['score']:.2f} |")
    return "\n".join(out) + "\n"


def main():
    work = ARGUMENTS.folder or Path(tempfile.mkdtemp(prefix="errbar-engines-"))
    if ARGUMENTS.side is not None:
        print(json.dumps(SIDES[ARGUMENTS.side](work)))
        return
    try:
        rows = int(ARGUMENTS.rows)
        write_table(work / "rows", rows)
        fit = ["--observation", "observation", "--forecast", "forecast", "--inputs", "station,hour,wind,cloud,pressure"]
        program("fit", work / "rows" / "part-00.parquet", *fit, "--model", "trees", "-o", work / "model.json")
        said = {}
        for side in ["program", *ARGUMENTS.only.split(",")]:
            print(f"engines: {side}", file=sys.stderr, flush=True)
            said[side] = in_process(side, work)
        text = report(rows, work, said, exactly(work))
    finally:
        if ARGUMENTS.folder is None:
            shutil.rmtree(work, ignore_errors=True)
    print(text, end="")
    if ARGUMENTS.out:
        ARGUMENTS.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
