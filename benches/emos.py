"""Error bars around an ensemble by `errbar fit --members`, beside EMOS (ensemble model output statistics), its usual remedy.

    python3 benches/emos.py FOLDER [--errbar PROGRAM] [--out FILE]

FOLDER holds `rain_train.csv.gz`: rain of three days at Innsbruck and the eleven members of its forecast (R package crch). The first
70% of its rows are for training, the later ones for judgement; what was observed is known eight days later.

EMOS is a law that is censored at zero, logistic or normal, with location a + b mean and scale exp(c + d log spread) of the
members, fitted by least CRPS (SciPy) to the last so many rows that are known, anew for each row: windows of 90 and 365 rows, and all
rows that are known; also once, to the training rows. Its CRPS is checked against scoringrules. errbar walks through the later rows
(`errbar backtest --members`): as fitted to the training rows, following what has been observed, and with new fits. The raw ensemble
is scored by its fair CRPS. Runs in the virtual environment of peers.py.
"""

import argparse
import datetime
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--errbar", default=str(HERE.parent / "target/release/errbar"), help="the program")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the markdown here as well")
    return parser.parse_args()


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    # peers.py as far as it needs no package: it makes the environment and starts this script again inside.
    head = (HERE / "peers.py").read_text(encoding="utf-8").partition("# Only the virtual environment")[0]
    names = {"__name__": "peers", "__file__": __file__}
    exec(compile(head, "peers.py", "exec"), names)
    names["enter_environment"]()

import numpy as np
import pandas as pd
import scoringrules as sr
from scipy.optimize import minimize
from scipy.special import expit, ndtr

DELAY = 8


# The CRPS of a law, less the integral of its squared distribution function below the bound: scoringrules divides by what a
# search may make zero.
def crps_logistic(z, bound):
    return z + 2 * np.logaddexp(0, -z) - 1 - (np.logaddexp(0, bound) - expit(bound))


def crps_normal(z, bound):
    density = lambda x: np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
    whole = z * (2 * ndtr(z) - 1) + 2 * density(z) - 1 / np.sqrt(np.pi)
    below = bound * ndtr(bound) ** 2 + 2 * density(bound) * ndtr(bound) - ndtr(np.sqrt(2) * bound) / np.sqrt(np.pi)
    return whole - below


LAWS = {"logistic": (crps_logistic, sr.crps_clogistic), "normal": (crps_normal, sr.crps_cnormal)}


def crps(law, parameters, mean, spread, y):
    a, b, c, d = parameters
    location, scale = a + b * mean, np.exp(np.clip(c + d * np.log(spread), -20, 20))
    return scale * LAWS[law][0]((y - location) / scale, -location / scale)


def fitted(law, start, mean, spread, y):
    cost = lambda parameters: float(np.mean(crps(law, parameters, mean, spread, y)))
    return minimize(cost, start, method="BFGS", options={"maxiter": 100}).x


def rolling(law, window, mean, spread, y, first):
    """The CRPS of each later row by a law of the rows that are known by then."""
    start = np.array([0.0, 0.5, 1.0, 0.3])
    scores = []
    for row in range(first, len(y)):
        # The row before is known when DELAY is 1.
        known = slice(max(0, row - DELAY + 1 - window), row - DELAY + 1)
        start = fitted(law, start, mean[known], spread[known], y[known])
        scores.append(float(crps(law, start, mean[row], spread[row], y[row])))
    return np.mean(scores)


def errbar(program, *arguments):
    told = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if told.returncode:
        sys.exit(f"errbar {' '.join(map(str, arguments))}: {told.stderr}")
    return told.stdout


def check():
    """That these are the scores of scoringrules."""
    y, location, scale = np.meshgrid([0.0, 0.5, 3.0], [-1.0, 0.2, 2.0], [0.5, 2.0])
    for own, theirs in LAWS.values():
        ours = scale * own((y - location) / scale, -location / scale)
        # Its other bound must be finite, and is too far to matter.
        np.testing.assert_allclose(ours, theirs(y, location, scale, 0.0, 40.0), rtol=1e-7)


def main(arguments):
    check()
    with gzip.open(arguments.folder / "rain_train.csv.gz", "rt") as file:
        table = pd.read_csv(file)
    members = table[[name for name in table.columns if name.startswith("rainfc.")]].to_numpy()
    y, mean = table["rain"].to_numpy(), members.mean(axis=1)
    # Members that all agree have no logarithm of their spread.
    spread = np.maximum(members.std(axis=1, ddof=1), 0.01)
    first = int(0.7 * len(y))
    lines = [
        "| forecast | CRPS |",
        "|---|--:|",
        f"| the members as they are (fair) | {np.mean(sr.crps_ensemble(y[first:], members[first:], estimator='fair')):.4f} |",
    ]
    for law in LAWS:
        once = fitted(law, np.array([0.0, 0.5, 1.0, 0.3]), mean[:first], spread[:first], y[:first])
        score = np.mean(crps(law, once, mean[first:], spread[first:], y[first:]))
        lines.append(f"| EMOS, {law}, fitted once | {score:.4f} |")
        for window, words in [(90, "the last 90 rows"), (365, "the last 365 rows"), (len(y), "all rows known")]:
            score = rolling(law, window, mean, spread, y, first)
            lines.append(f"| EMOS, {law}, anew for each row, {words} | {score:.4f} |")
            print(lines[-1], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        table.to_csv(folder / "all.csv", index=False)
        columns = ["--observation", "rain", "--members", "rainfc.*", "--time", "date", "--delay", DELAY, "--lower", "0"]
        for refit in ["never", "10%"]:
            told = errbar(
                arguments.errbar, "backtest", folder / "all.csv", *columns, "--start", "0.7", "--refit", refit, "--json",
                "-o", folder / "walk.csv",
            )
            walk = pd.read_csv(folder / "walk.csv")
            if refit == "never":
                lines.append(f"| errbar, fitted once | {json.loads(told)['as_fitted']['crps']:.4f} |")
            lines.append(f"| errbar, following what was observed, --refit {refit} | {walk['crps'][first:].mean():.4f} |")
            print(lines[-1], flush=True)
    text = (
        f"Rain at Innsbruck, {len(y) - first} later rows of {len(y)}, {datetime.date.today().isoformat()}:"
        " `python3 benches/emos.py FOLDER`\n\n" + "\n".join(lines) + "\n"
    )
    print("\n" + text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(ARGUMENTS)
