"""What a fit to the earlier rows of real forecasts says of the later ones, as a table in Markdown.

    python3 tools/held.py PROGRAM FOLDER [NAME ...] [-- OPTION ...]

FOLDER is as for walks.py; `temperature_train.csv` and `temperature_test.csv` may lie in it or beside it. Each model is
fitted to the first part in the order of time, with the options after --, and judged on the later part by its law as it
was fitted; beside it one constant Gaussian sigma around the forecast as it was given. Needs pandas.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
from walks import SERIES, table

NAMES = [*SERIES, "temperature"]


def parts(folder, name):
    """Time, observation, forecast, inputs; rows to learn from, rows to be judged by."""
    if name == "temperature":
        there = folder if (folder / "temperature_train.csv").exists() else folder.parent
        train, test = (pd.read_csv(there / f"temperature_{part}.csv") for part in ("train", "test"))
        inputs = [c for c in train.columns if c not in ("time", "observation")]
        return ("time", "observation", "forecast", inputs), train, test
    rows = table(folder, name)
    first = int(0.7 * len(rows)) if name == "rain" else len(pd.read_csv(folder / f"{name}_train.csv.gz"))
    return SERIES[name][:4], rows[:first], rows[first:]


def run(*asked):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime - before.ru_utime


def main(program, folder, names, options):
    print("| table | CRPS | NLPD | 50% | 90% | 99% | CRPS of one sigma | errors grow by | processor seconds |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as here:
        here = Path(here)
        for name in names:
            (when, observation, forecast, inputs), train, test = parts(folder, name)
            train.to_csv(here / "train.csv", index=False)
            test.to_csv(here / "test.csv", index=False)
            columns = ["--forecast", forecast, "--observation", observation, "--time", when]
            asked = ["--inputs", ",".join(inputs), "-o", here / "model.json", *options]
            _, seconds = run(program, "fit", here / "train.csv", *columns, *asked)
            run(program, "predict", here / "test.csv", "--model", here / "model.json", "-o", here / "said.csv")
            said = pd.read_csv(here / "said.csv")
            moved = "debiased" if "debiased" in said else forecast
            columns = ["--forecast", moved, "--observation", observation, "--sigma", "sigma", "--time", when]
            asked = ["--model", here / "model.json", "--levels", "0.5,0.9,0.99", "--json"]
            scores = json.loads(run(program, "score", here / "said.csv", *columns, *asked)[0])
            run(program, "fit", here / "train.csv", "--forecast", forecast, "--observation", observation, "--inputs",
                ",".join(inputs), "--model", "constant", "--law", "normal", "--recalibrate", "no", "--debias", "no",
                "-o", here / "one.json")
            run(program, "predict", here / "test.csv", "--model", here / "one.json", "-o", here / "one.csv")
            columns[1] = forecast
            one = json.loads(run(program, "score", here / "one.csv", *columns, "--json")[0])
            held = [f"{100 * one['observed']:.1f}" for one in scores["scores"]["coverage"]]
            before, after = ((rows[observation] - rows[forecast]).abs().mean() for rows in (train, test))
            print(f"| {name} | {scores['scores']['crps']:.4f} | {scores['scores']['nlpd']:.4f} | "
                  f"{' | '.join(held)} | {one['scores']['crps']:.4f} | {100 * (after / before - 1):.0f}% | "
                  f"{seconds:.1f} |", flush=True)


if __name__ == "__main__":
    asked = sys.argv[1:]
    at = asked.index("--") if "--" in asked else len(asked)
    chosen, options = asked[:at], asked[at + 1 :]
    main(chosen[0], Path(chosen[1]), chosen[2:] or NAMES, options)
