"""Walks through forecasts that other people made: `errbar backtest`, as a table in Markdown.

    python3 tools/walks.py PROGRAM FOLDER [--guarantee] [NAME ...]

With --guarantee what guaranteed intervals hold, of a polynomial that is fitted once. FOLDER holds dst, price, price_np and runoff as `NAME_train.csv.gz` and `NAME_test.csv.gz`, which are put together,
and rain as `rain_train.csv.gz`. Each walk begins after 70% of the rows. Needs pandas.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

# Time, observation, forecast, inputs, delay in moments, lags to try.
SERIES = {
    "dst": ("time", "observation", "lstm_3h", ["lstm_3h"], 1, "1,2"),
    "price": ("time", "Real price", "LEAR Ensemble", ["LEAR Ensemble", "DNN Ensemble", "spread", "hour"], 48, "48,72"),
    "price_np": ("time", "Real price", "LEAR Ensemble", ["LEAR Ensemble", "DNN Ensemble", "spread", "hour"], 48, None),
    "runoff": ("date", "OBS_RUN", "MOD_RUN", ["SWE", "PRCP", "RAIM", "TAIR", "PET", "ET", "MOD_RUN"], 1, "1,2"),
    "rain": ("date", "rain", "mean", ["mean", "spread"], 8, None),
}


def table(folder, name):
    parts = ["train"] if name == "rain" else ["train", "test"]
    rows = pd.concat([pd.read_csv(folder / f"{name}_{part}.csv.gz") for part in parts])
    if name.startswith("price"):
        rows = rows.rename(columns={rows.columns[0]: "time"})
        single = [c for c in rows.columns if c not in ("time", "Real price") and "Ensemble" not in c]
        rows["spread"] = rows[single].std(axis=1, ddof=1)
        rows["hour"] = pd.to_datetime(rows["time"]).dt.hour
    if name == "rain":
        members = rows[[c for c in rows.columns if c.startswith("rainfc")]]
        rows["mean"], rows["spread"] = members.mean(axis=1), members.std(axis=1, ddof=1)
    when, observation, forecast, inputs, _, _ = SERIES[name]
    return rows[[when, observation, *dict.fromkeys([forecast, *inputs])]]


def walk(program, path, name, more):
    when, observation, forecast, inputs, delay, _ = SERIES[name]
    asked = [program, "backtest", path, "--time", when, "--observation", observation, "--forecast", forecast]
    asked += ["--inputs", ",".join(inputs), "--delay", str(delay), "--json", *more]
    begin = time.time()
    said = json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)
    return said, time.time() - begin


def main(program, folder, names):
    print("| series | options | error bars | CRPS | 50% | 90% | 99% | fits | seconds |")
    print("|---|---|---|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as here:
        for name in names:
            path = str(Path(here) / f"{name}.csv")
            table(folder, name).to_csv(path, index=False)
            lags = SERIES[name][5]
            ways = [["--refit", "never"], []]
            ways += [["--lag", lags, "--refit", "never"], ["--lag", lags]] if lags else []
            for way in ways:
                said, seconds = walk(program, path, name, way)
                for kind in ("followed", "as_fitted", "constant"):
                    held = [f"{100 * one['observed']:.1f}" for one in said[kind]["coverage"]]
                    cells = [name, " ".join(way), kind.replace("_", " "), f"{said[kind]['crps']:.4f}", *held]
                    cells += [str(len(said["fits"])), f"{seconds:.0f}"]
                    print("| " + " | ".join(cells) + " |", flush=True)


def guarantees(program, folder, names):
    print("| series | level | intervals | held | at least | unbounded | mean width where bounded |")
    print("|---|--:|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as here:
        for name in names:
            path = str(Path(here) / f"{name}.csv")
            table(folder, name).to_csv(path, index=False)
            way = ["--refit", "never", "--model", "polynomial", "--guarantee", "0.5,0.8,0.9,0.95,0.99"]
            said, _ = walk(program, path, name, way)
            for one in said["guarantee"]:
                for kind, words in (("kept", "kept right"), ("as_calibrated", "as calibrated"), ("followed", "followed law")):
                    of = one[kind]
                    proven = f"{100 * one['proven_least']:.1f}" if kind == "kept" else ""
                    cells = [name, f"{100 * one['level']:g}%", words, f"{100 * of['held']:.1f}", proven]
                    cells += [f"{100 * of['unbounded']:.2f}%", f"{of['mean_width']:.4g}"]
                    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    asked = [name for name in sys.argv[3:] if name != "--guarantee"] or list(SERIES)
    (guarantees if "--guarantee" in sys.argv else main)(sys.argv[1], Path(sys.argv[2]), asked)
