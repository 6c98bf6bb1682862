"""How regret falls as rows come, and what a fit takes: errbar's auto and trees beside CatBoost and LightGBM.

    python3 benches/rows_peers.py SIGMA10 [--rows 1e3,1e4,1e5] [--wheel FILE] [--out FILE]

SIGMA10 is a Python file with make(rows, seed), which gives ten inputs, errors, and the sigma they were drawn with. Runs
with plain Python 3.11 or later: as peers.py does, the script makes a virtual environment under target/, here of
benches/python-requirements.txt, and starts itself again inside. errbar is installed there from python/ (which builds
it), or from a wheel.

Every side fits the same rows with two threads, one after another in one run, each in a process of its own:

- errbar: SigmaRegressor() as it comes, and with kind="trees"; "errbar fit" is the program on a Parquet file of the
  rows, which of more than 2,000,000 holds some at a time;
- CatBoost: RMSEWithUncertainty, its variance, a tenth of the rows stops it early;
- LightGBM: gamma loss on the squared errors, likewise.

Regret is measured on 100,000 other rows: the mean of ((sigma/p)^2 - 1)/2 - ln(sigma/p), which is nothing for the true
sigma. Seconds are the processor's, those on the clock beside them; memory is the most that the process held.
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
PACKAGES = ["errbar", "catboost", "lightgbm", "numpy"]
THREADS = 2
TEST_ROWS = 100_000


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sigma10", type=Path, metavar="SIGMA10", help="the Python file that makes the rows")
    parser.add_argument("--rows", default="1e3,1e4,1e5", metavar="N,…", help="how many rows to learn from")
    parser.add_argument("--sides", metavar="NAME,…", help="only these sides, errbar fit among them if named")
    parser.add_argument("--wheel", type=Path, metavar="FILE", help="install errbar from this wheel")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the markdown here as well")
    return parser.parse_args()


def install(wheel):
    """errbar as it is now."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]
    subprocess.run([*pip, wheel or HERE.parent / "python"], check=True)


def fit_errbar(kind):
    def fit(inputs, error):
        import errbar

        model = errbar.SigmaRegressor(kind, random_state=0, n_jobs=THREADS).fit(inputs, error)
        return model.predict, model.trained_on_

    return fit


def held_out(rows):
    """Rows to learn from, and a tenth to stop by."""
    import numpy as np

    order = np.random.default_rng(0).permutation(rows)
    return order[rows // 10 :], order[: rows // 10]


def fit_catboost(inputs, error):
    import numpy as np
    from catboost import CatBoostRegressor

    learn, stop = held_out(len(error))
    model = CatBoostRegressor(
        loss_function="RMSEWithUncertainty", iterations=3000, od_type="Iter", od_wait=50, random_seed=0,
        thread_count=THREADS, verbose=False, allow_writing_files=False,
    )  # fmt: skip
    model.fit(inputs[learn], error[learn], eval_set=(inputs[stop], error[stop]))
    return lambda x: np.sqrt(model.predict(x, thread_count=THREADS)[:, 1]), len(error)


def fit_lightgbm(inputs, error):
    import lightgbm
    import numpy as np

    learn, stop = held_out(len(error))
    squared = np.maximum(error**2, 1e-12)
    model = lightgbm.LGBMRegressor(
        objective="gamma", n_estimators=3000, learning_rate=0.05, n_jobs=THREADS, random_state=0, verbose=-1
    )
    early = lightgbm.early_stopping(50, verbose=False)
    model.fit(inputs[learn], squared[learn], eval_set=[(inputs[stop], squared[stop])], callbacks=[early])
    return lambda x: np.sqrt(model.predict(x)), len(error)


SIDES = {
    "errbar auto": fit_errbar("auto"),
    "errbar trees": fit_errbar("trees"),
    "CatBoost": fit_catboost,
    "LightGBM": fit_lightgbm,
}


PROGRAM = "errbar fit"


def module(path):
    spec = importlib.util.spec_from_file_location("sigma10", path)
    sigma10 = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sigma10)
    return sigma10


def write(sigma10, rows, seed, path):
    """Rows in a Parquet file; the true sigmas."""
    import pyarrow
    import pyarrow.parquet

    inputs, error, sigma = sigma10.make(rows, seed=seed)
    columns = {f"x{k}": inputs[:, k] for k in range(inputs.shape[1])}
    pyarrow.parquet.write_table(pyarrow.table(columns | {"error": error}), path, row_group_size=250_000)
    return sigma


def measure_program(path, rows, folder):
    """The same of the program, as a whole."""
    import json

    import numpy as np
    import pyarrow.csv
    from table_peers import run

    program = Path(sys.executable).parent / PACKAGES[0]
    model, predicted = folder / "model.json", folder / "predicted.csv"
    more = ["--quiet", "--threads", THREADS, "-o"]
    fit = [program, "fit", folder / "train.parquet", "--error", "error", "--json", *more, model]
    clock, processor, memory, output = run(fit)
    predicting, *_ = run([program, "predict", folder / "test.parquet", "--model", model, *more, predicted])
    ratio = np.load(folder / "sigma.npy") / pyarrow.csv.read_csv(predicted)["sigma"].to_numpy()
    regret = np.mean((ratio**2 - 1) / 2 - np.log(ratio))
    return regret, json.loads(output)["trained_on"], processor, clock, predicting, memory


def write_both(path, rows, folder):
    import numpy as np

    write(module(path), rows, 0, folder / "train.parquet")
    np.save(folder / "sigma.npy", write(module(path), TEST_ROWS, 99, folder / "test.parquet"))


def measure(path, side, rows):
    """Regret, rows learned from, seconds of the processor and of the clock, of prediction, and memory in MB."""
    import numpy as np

    sigma10 = module(path)
    inputs, error, _ = sigma10.make(rows, seed=0)
    processor, clock = time.process_time(), time.perf_counter()
    predict, used = SIDES[side](inputs, error)
    processor, clock = time.process_time() - processor, time.perf_counter() - clock
    other, _, sigma = sigma10.make(TEST_ROWS, seed=99)
    predict(other[:1000])
    began = time.perf_counter()
    ratio = sigma / predict(other)
    predicting = time.perf_counter() - began
    regret = np.mean((ratio**2 - 1) / 2 - np.log(ratio))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return regret, used, processor, clock, predicting, memory


def main():
    from peers import cpu_model

    lines = []
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    lines += [
        f"{datetime.date.today()}, {cpu_model()}, Python {platform.python_version()}, {versions}, {THREADS} threads",
        "",
        f"| rows | side | regret | learned from | processor, s | clock, s | {TEST_ROWS:,} predictions, s | memory, MB |",
        "|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    print("\n".join(lines), flush=True)
    sides = ARGUMENTS.sides.split(",") if ARGUMENTS.sides else list(SIDES)
    path = ARGUMENTS.sigma10.resolve()
    for rows in (int(float(rows)) for rows in ARGUMENTS.rows.split(",")):
        for side in sides:
            # In a process of its own.
            def alone(work, *given):
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    return pool.apply(work, given)

            if side == PROGRAM:
                with tempfile.TemporaryDirectory() as folder:
                    alone(write_both, path, rows, Path(folder))
                    found = measure_program(path, rows, Path(folder))
            else:
                found = alone(measure, path, side, rows)
            regret, used, processor, clock, predicting, memory = found
            lines.append(
                f"| {rows:,} | {side} | {regret:.4f} | {used:,} | {processor:.2f} | {clock:.2f} | {predicting:.3f} "
                f"| {memory:.0f} |"
            )
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
    # Here every side has two threads.
    os.environ.update({f"{name}_NUM_THREADS": str(THREADS) for name in names["THREADS"]})
    install(ARGUMENTS.wheel)
    main()
