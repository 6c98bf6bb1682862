"""What carrier, origin and destination tell about how late flights will be, as a table in Markdown.

    python3 tools/flights.py PROGRAM FOLDER [-- OPTION ...]

FOLDER holds flights_train.csv and flights_test.csv: flights out of New York in 2013, of which the forecasts at departure
(lead_h 0: as late as the flight left) are taken. Each model is fitted to January to September, with the options after --,
and judged on October to December by its law as it was fitted. Needs pandas.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

NUMBERS = "dep_delay,distance,hour"
INPUTS = {"numbers": NUMBERS, "with carrier, origin, dest": f"{NUMBERS},carrier,origin,dest"}


def run(*asked):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime - before.ru_utime


def main(program, folder, options):
    rows = pd.concat([pd.read_csv(folder / f"flights_{part}.csv") for part in ("train", "test")])
    rows = rows[(rows.lead_h == 0) & rows.observation.notna() & rows.forecast.notna()]
    first = rows.month <= 9
    print(f"{first.sum()} rows to learn from, {(~first).sum()} to be judged by.\n")
    print("| inputs | moved | CRPS | beside numbers alone | RMSE | 90% | processor seconds |")
    print("|---|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as here:
        here = Path(here)
        rows[first].to_csv(here / "train.csv", index=False)
        rows[~first].to_csv(here / "test.csv", index=False)
        for debias in ("auto", "no"):
            alone = None
            for name, inputs in INPUTS.items():
                columns = ["--forecast", "forecast", "--observation", "observation"]
                asked = ["--inputs", inputs, "--debias", debias, "-o", here / "model.json", *options]
                _, seconds = run(program, "fit", here / "train.csv", *columns, *asked)
                run(program, "predict", here / "test.csv", "--model", here / "model.json", "-o", here / "said.csv")
                moved = "debiased" in pd.read_csv(here / "said.csv", nrows=1)
                columns[1] = "debiased" if moved else "forecast"
                asked = ["--model", here / "model.json", "--levels", "0.9", "--json", "--sigma", "sigma"]
                judged, _ = run(program, "score", here / "said.csv", *columns, *asked)
                judged = json.loads(judged)
                scores = judged["scores"]
                crps, held = scores["crps"], scores["coverage"][0]["observed"]
                alone = alone or crps
                print(
                    f"| {name} | {'yes' if moved else 'no'} | {crps:.4f} | {100 * (crps / alone - 1):+.2f}% "
                    f"| {scores['rmse']:.3f} | {100 * held:.1f}% | {seconds:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    given = sys.argv[1:]
    at = given.index("--") if "--" in given else len(given)
    main(given[0], Path(given[1]), given[at + 1 :])
