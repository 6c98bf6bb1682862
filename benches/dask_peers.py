"""Fits on a Dask cluster beside the same fit on one machine, and beside LightGBM on the same cluster.

    python3 benches/dask_peers.py SIGMA10 [--rows 1e7] [--kinds auto,trees] [--wheel FILE] [--out FILE]

SIGMA10 and the environment are as for rows_peers.py. The cluster is a scheduler and two workers of one thread, each a process of
its own; the rows are 16 Parquet files, which are read and persisted before any clock starts. The local fit has the same rows in
memory and two threads. LightGBM learns the squared errors by gamma loss in 500 trees (on Dask it does not stop by itself).

Regret is as in rows_peers.py. Memory is the most that a process held: rows included. All sides run one after another in one run;
the ratios are what counts on a machine that others use.
"""

import argparse
import datetime
import importlib.util
import multiprocessing
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ["errbar", "dask", "distributed", "lightgbm", "numpy"]
PARTS, TEST_ROWS, TREES = 16, 100_000, 500


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sigma10", type=Path, metavar="SIGMA10", help="the Python file that makes the rows")
    parser.add_argument("--rows", type=float, default=1e7, metavar="N", help="how many rows to learn from")
    parser.add_argument("--kinds", default="auto,trees", metavar="NAME,…", help="kinds of models to fit")
    parser.add_argument("--wheel", type=Path, metavar="FILE", help="install errbar from this wheel")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the markdown here as well")
    return parser.parse_args()


def module(path):
    spec = importlib.util.spec_from_file_location("sigma10", path)
    sigma10 = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sigma10)
    return sigma10


def write(path, rows, folder):
    import pyarrow
    import pyarrow.parquet

    sigma10 = module(path)
    for part in range(PARTS):
        inputs, error, _ = sigma10.make(rows // PARTS, seed=part)
        columns = {f"x{k}": inputs[:, k] for k in range(inputs.shape[1])}
        pyarrow.parquet.write_table(pyarrow.table(columns | {"error": error}), folder / f"part-{part:02}.parquet")


def regret(path, predict):
    import numpy as np
    import pandas as pd

    inputs, _, sigma = module(path).make(TEST_ROWS, seed=99)
    ratio = sigma / predict(pd.DataFrame(inputs, columns=[f"x{k}" for k in range(inputs.shape[1])]))
    return float(np.mean((ratio**2 - 1) / 2 - np.log(ratio)))


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def here(path, folder, kind):
    """The fit on one machine with two threads."""
    import errbar
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(folder).to_pandas()
    X, error = table[[name for name in table if name != "error"]], table["error"].to_numpy()
    del table
    began = time.perf_counter()
    model = errbar.SigmaRegressor(kind, n_jobs=2).fit(X, error)
    seconds = time.perf_counter() - began
    print(f"{kind} here: {seconds:.1f} s", file=sys.stderr, flush=True)
    return {"seconds": seconds, "regret": regret(path, model.predict), "caller": peak()}


class Cluster:
    """A scheduler and two workers of one thread."""

    def __enter__(self):
        from distributed import Client

        self.folder = tempfile.TemporaryDirectory()
        spot = Path(self.folder.name) / "scheduler.json"
        dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        more = ["--no-dashboard", "--scheduler-file", str(spot), "--port", "0"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self.folder.name}
        self.processes = [subprocess.Popen([*dask, *more], **quiet)]
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(spot)]
        worker += ["--nthreads", "1", "--nworkers", "1", "--no-dashboard", "--memory-limit", "0"]
        self.processes += [subprocess.Popen(worker, **quiet) for _ in range(2)]
        self.client = Client(scheduler_file=str(spot), timeout=60)
        self.client.wait_for_workers(2)
        return self.client

    def __exit__(self, *_):
        self.client.shutdown()
        for process in self.processes:
            process.terminate()
            process.wait(30)
        self.folder.cleanup()


def there(path, folder, kind):
    """The fit on the cluster."""
    import dask.dataframe as dd
    import numpy as np
    import cloudpickle
    from distributed import wait

    # Workers do not have this file.
    cloudpickle.register_pickle_by_value(sys.modules[peak.__module__])
    with Cluster() as client:
        table = dd.read_parquet(folder).persist()
        wait(table)
        X, error = table[[name for name in table.columns if name != "error"]], table["error"]
        found = {}
        print(f"{kind}: rows are there", file=sys.stderr, flush=True)
        if kind == "LightGBM":
            from lightgbm.dask import DaskLGBMRegressor

            squared = (error**2).clip(lower=1e-12)
            began = time.perf_counter()
            more = {"learning_rate": 0.05, "random_state": 0, "verbose": -1}
            model = DaskLGBMRegressor(objective="gamma", n_estimators=TREES, client=client, **more).fit(X, squared)
            found["seconds"] = time.perf_counter() - began
            local = model.to_local()
            found["regret"] = regret(path, lambda inputs: np.sqrt(local.predict(inputs)))
        else:
            from errbar.dask import DaskSigmaRegressor

            began = time.perf_counter()
            model = DaskSigmaRegressor(kind, client=client, n_jobs=1).fit(X, error)
            found["seconds"] = time.perf_counter() - began
            found["regret"] = regret(path, model.to_local().predict)
            found |= {"rounds": model.rounds_, "message": model.largest_message_ / 1e6}
        print(f"{kind}: {found}", file=sys.stderr, flush=True)
        found["workers"] = max(client.run(peak).values())
        found["scheduler"] = client.run_on_scheduler(peak)
        found["caller"] = peak()
        return found


def main():
    from peers import cpu_model

    path, rows = ARGUMENTS.sigma10.resolve(), int(ARGUMENTS.rows) // PARTS * PARTS
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    lines = [
        f"{datetime.date.today()}, {cpu_model()}, Python {platform.python_version()}, {versions}; {rows:,} rows of ten inputs in "
        f"{PARTS} parts",
        "",
        "| side | seconds | over errbar here | regret | questions | longest message, MB | worker, MB | scheduler, MB | caller, MB |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    print("\n".join(lines), flush=True)

    def alone(work, *given):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.apply(work, given)

    with tempfile.TemporaryDirectory() as folder:
        alone(write, path, rows, Path(folder))
        for kind in ARGUMENTS.kinds.split(","):
            local = alone(here, path, Path(folder), kind)
            sides = [(f"{kind}, here, 2 threads", local), (f"{kind}, 2 workers of 1 thread", alone(there, path, Path(folder), kind))]
            if kind == "trees":
                sides.append((f"LightGBM, {TREES} trees, 2 workers", alone(there, path, Path(folder), "LightGBM")))
            for name, found in sides:
                cells = [name, f"{found['seconds']:.1f}", f"{found['seconds'] / local['seconds']:.2f}", f"{found['regret']:.5f}"]
                cells += [f"{found[key]:,}" if key in found else "" for key in ("rounds",)]
                cells += [f"{found[key]:.2f}" if key in found else "" for key in ("message",)]
                cells += [f"{found[key]:,.0f}" if key in found else "" for key in ("workers", "scheduler", "caller")]
                lines.append(f"| {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    if ARGUMENTS.out:
        ARGUMENTS.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    # peers.py as far as it needs no package: it makes the environment and starts this script again inside.
    head = (HERE / "peers.py").read_text(encoding="utf-8").partition("# Only the virtual environment")[0]
    names = {"__name__": "peers", "__file__": __file__}
    exec(compile(head, "peers.py", "exec"), names)
    names["VENV"] = HERE.parent / "target" / "python-peers-venv"
    names["REQUIREMENTS"] = HERE / "python-requirements.txt"
    names["enter_environment"]()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]
    subprocess.run([*pip, ARGUMENTS.wheel or HERE.parent / "python"], check=True)
    # The caller, the local fit and LightGBM take what they are given.
    os.environ.update({f"{name}_NUM_THREADS": "2" for name in names["THREADS"]})
    main()
