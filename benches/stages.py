"""What fits take as they come, and where their time goes: tables of 277 to 100,000 rows, as Markdown.

    python3 benches/stages.py PROGRAM UCI SIGMA10 [--rows 1e3,1e4,1e5] [--repeat 3] [--out FILE]

PROGRAM is errbar, UCI a folder with yacht_train.csv, concrete_train.csv and protein_train.csv (inputs x…, y and mu),
SIGMA10 a Python file with make(rows, seed), which gives ten inputs, errors and their sigma. Fits have two threads and
nothing switched off. Seconds are the processor's, all threads together, the least of so many runs; the stages those of
`--verbose` in that run, whose sum is what threads spent in them on the clock. Needs NumPy.
"""

import argparse
import datetime
import importlib.util
import os
import re
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np

TABLES = ["yacht", "concrete", "protein"]
THREADS = 2
# Of a stage that took less nobody needs to know.
LEAST_SHARE = 0.005


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("program", "uci", "sigma10"):
        parser.add_argument(name, type=Path, metavar=name.upper())
    parser.add_argument("--rows", default="1e3,1e4,1e5", metavar="N,…", help="rows of ten inputs")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs, of which the least counts")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the Markdown here as well")
    return parser.parse_args()


def fit(program, table, columns, model):
    """Processor seconds, and those of each stage."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    asked = [program, "fit", table, *columns, "--threads", str(THREADS), "--verbose", "-o", model]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = re.findall(r"^ +([0-9.]+) s  (.+?)(?:  +\d+ times)?$", done.stderr, re.MULTILINE)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, {stage: float(took) for took, stage in found}


def cases(arguments, folder):
    for name in TABLES:
        table = arguments.uci / f"{name}_train.csv"
        with open(table, encoding="utf-8") as file:
            yield name, sum(1 for _ in file) - 1, table, ["--forecast", "mu", "--observation", "y"]
    spec = importlib.util.spec_from_file_location("sigma10", arguments.sigma10)
    sigma10 = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sigma10)
    for rows in (int(float(rows)) for rows in arguments.rows.split(",")):
        inputs, error, _ = sigma10.make(rows, seed=0)
        names = [*(f"x{k}" for k in range(inputs.shape[1])), "error"]
        table = folder / "sigma10.csv"
        values = np.column_stack([inputs, error])
        np.savetxt(table, values, delimiter=",", header=",".join(names), comments="", fmt="%.17g")
        yield "known sigma", rows, table, ["--error", "error"]


def main(arguments):
    lines = [
        f"{datetime.date.today()}, {os.cpu_count()} cores, {THREADS} threads; the least of {arguments.repeat} fits",
        "",
        "| table | rows | processor, s | where, s |",
        "|---|--:|--:|---|",
    ]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, rows, table, columns in cases(arguments, folder):
            runs = [fit(arguments.program, table, columns, folder / "model.json") for _ in range(arguments.repeat)]
            seconds, stages = min(runs, key=lambda run: run[0])
            least = LEAST_SHARE * sum(stages.values())
            longest = sorted(stages.items(), key=lambda stage: -stage[1])
            where = ", ".join(f"{stage} {took:.2f}" for stage, took in longest if took >= max(least, 0.005))
            lines.append(f"| {name} | {rows:,} | {seconds:.2f} | {where} |")
            print(lines[-1], flush=True)
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(parse_arguments())
