"""Fits sigma(x) from Python, errbar's SigmaRegressor against its peers: fit time and test CRPS, one thread.

    python3 benches/python_peers.py [--quick] [--wheel FILE] [--out FILE]

Runs with plain Python 3.11 or later: as peers.py does, the script makes a virtual environment under target/, here of
benches/python-requirements.txt, and starts itself again inside. errbar is installed there from python/ (which builds
it), or from a wheel.

The tables come with scikit-learn. Each is cut at random into 70% and 30% many times. A plain forecaster, gradient
boosting with the usual options, is fitted to the 70%. Its out-of-fold errors there are what every side learns sigma
from; its errors on the 30% are what they are judged by. So every side keeps the same forecast, and sees the same rows:

- constant: the root mean squared error;
- errbar: SigmaRegressor() as it comes;
- NGBoost: NormalFixedMean, which boosts sigma by natural gradients; a fifth of the rows stops it early;
- CatBoost: RMSEWithUncertainty, its variance alone, and in another row its mean as well; likewise stopped early;
- SciPy: a tanh network of 10 units with log sigma as its output, minimising the Accuracy-Reliability cost by BFGS,
  best of three starts on a fifth of the rows: what one writes after reading the paper.

Errors are given to all sides in units of their root mean square, which some of them need. Time is that of the processor:
other work on the machine hardly counts.
"""

import argparse
import datetime
import os
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two splits of each table: a smoke test")
    parser.add_argument("--wheel", type=Path, metavar="FILE", help="install errbar from this wheel")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the markdown here as well")
    return parser.parse_args()


def install(wheel):
    """errbar as it is now."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]
    subprocess.run([*pip, wheel or HERE.parent / "python"], check=True)


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    # peers.py as far as it needs no package: it makes the environment and starts this script again inside.
    head = (HERE / "peers.py").read_text(encoding="utf-8").partition("# Only the virtual environment")[0]
    names = {"__name__": "peers", "__file__": __file__}
    exec(compile(head, "peers.py", "exec"), names)
    names["VENV"] = HERE.parent / "target" / "python-peers-venv"
    names["REQUIREMENTS"] = HERE / "python-requirements.txt"
    names["enter_environment"]()
    install(ARGUMENTS.wheel)

import errbar
import numpy as np
from catboost import CatBoostRegressor
from ngboost import NGBRegressor
from ngboost.distns import NormalFixedMean
from peers import NumpyAr, cpu_model, say
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_predict, train_test_split

PACKAGES = ["errbar", "ngboost", "catboost", "scipy", "numpy", "scikit-learn"]
SPLITS = 10


def tables():
    """Name, inputs, target, and what they are."""
    diabetes = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(0)
    inputs, signal = make_friedman1(2000, n_features=10, random_state=0)
    noise = 0.5 + 3.0 * inputs[:, 0] * inputs[:, 5]  # the sixth column means nothing for the signal
    friedman = inputs, signal + noise * rng.standard_normal(len(signal))
    cells = load_breast_cancer()
    name = list(cells.feature_names)
    tumours = cells.data[:, :10], cells.data[:, name.index("worst area")]
    return [
        ("diabetes", *diabetes, "progression after a year"),
        ("Friedman", *friedman, "make_friedman1 with noise of size 0.5 + 3 x0 x5"),
        ("tumours", *tumours, "breast cancer: the worst area, from the ten mean measures"),
    ]


def fifth(rows, seed):
    """Rows to learn from, and a fifth to stop by."""
    return train_test_split(np.arange(rows), test_size=0.2, random_state=seed)


def fit_constant(inputs, error, seed):
    return lambda x: (0.0, np.full(len(x), np.sqrt(np.mean(error**2))))


def fit_errbar(inputs, error, seed):
    model = errbar.SigmaRegressor(random_state=seed, n_jobs=1).fit(inputs, error)
    return lambda x: (0.0, model.predict(x))


def fit_ngboost(inputs, error, seed):
    learn, stop = fifth(len(error), seed)
    model = NGBRegressor(Dist=NormalFixedMean, verbose=False, random_state=seed)
    model.fit(inputs[learn], error[learn], X_val=inputs[stop], Y_val=error[stop], early_stopping_rounds=50)
    return lambda x: (0.0, model.pred_dist(x, max_iter=model.best_val_loss_itr).scale)


def fit_catboost(inputs, error, seed):
    learn, stop = fifth(len(error), seed)
    model = CatBoostRegressor(
        loss_function="RMSEWithUncertainty", od_type="Iter", od_wait=50, random_seed=seed, thread_count=1,
        verbose=False, allow_writing_files=False,
    )  # fmt: skip
    model.fit(inputs[learn], error[learn], eval_set=(inputs[stop], error[stop]))

    def predict(x):
        mean, variance = model.predict(x, thread_count=1).T
        return mean, np.sqrt(variance)

    return predict


class Network:
    """log sigma from one layer of tanh units, and the gradient of a cost of sigma by its weights."""

    UNITS = 10

    def __init__(self, inputs):
        self.center, self.scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-12
        self.columns = inputs.shape[1]
        self.size = self.UNITS * (self.columns + 2) + 1

    def layers(self, weights):
        first = weights[: self.UNITS * (self.columns + 1)].reshape(self.columns + 1, self.UNITS)
        return first, weights[first.size :]

    def forward(self, weights, x):
        first, last = self.layers(weights)
        ones = np.ones((len(x), 1))
        x = np.hstack([(x - self.center) / self.scale, ones])
        hidden = np.hstack([np.tanh(x @ first), ones])
        return x, hidden, np.exp(np.clip(hidden @ last, -10.0, 10.0))

    def objective(self, weights, inputs, cost, penalty):
        x, hidden, sigma = self.forward(weights, inputs)
        value, slope = cost(sigma)
        slope = slope * sigma
        back = np.outer(slope, self.layers(weights)[1][:-1]) * (1.0 - hidden[:, :-1] ** 2)
        gradient = np.concatenate([(x.T @ back).ravel(), hidden.T @ slope])
        return value + penalty * (weights @ weights), gradient + 2.0 * penalty * weights


def fit_scipy(inputs, error, seed):
    learn, stop = fifth(len(error), seed)
    network, rng = Network(inputs[learn]), np.random.default_rng(seed)
    cost, judge = NumpyAr(error[learn]), NumpyAr(error[stop])
    best = (np.inf, None)
    for _ in range(3):
        start = rng.normal(0.0, 0.3, network.size)
        arguments = (inputs[learn], cost, 1e-4)
        found = minimize(network.objective, start, arguments, jac=True, method="BFGS", options={"maxiter": 200})
        held_out = judge(network.forward(found.x, inputs[stop])[2])[0]
        best = min(best, (held_out, found.x), key=lambda pair: pair[0])
    return lambda x: (0.0, network.forward(best[1], x)[2])


SIDES = {
    "constant": fit_constant,
    "errbar": fit_errbar,
    "NGBoost": fit_ngboost,
    "CatBoost, its variance": fit_catboost,
    "SciPy, tanh network by AR": fit_scipy,
}


def forecast(inputs, target, seed):
    """Train inputs and out-of-fold errors, test inputs and errors of a plain forecaster."""
    train, test = train_test_split(np.arange(len(target)), test_size=0.3, random_state=seed)
    forecaster = HistGradientBoostingRegressor(random_state=seed)
    out_of_fold = cross_val_predict(forecaster, inputs[train], target[train], cv=5)
    forecaster.fit(inputs[train], target[train])
    error = target[test] - forecaster.predict(inputs[test])
    return inputs[train], target[train] - out_of_fold, inputs[test], error


def measure(inputs, target, splits):
    """{side: [(seconds, CRPS, RS, coverage of 90%) of every split]}"""
    results = {}
    for seed in range(splits):
        x, error, test_x, test_error = forecast(inputs, target, seed)
        unit = np.sqrt(np.mean(error**2))
        for side, fit in SIDES.items():
            began = time.process_time()
            predict = fit(x, error / unit, seed)
            seconds = time.process_time() - began
            mean, sigma = predict(test_x)

            def judged(around):
                rest, width = test_error - unit * around, unit * sigma
                crps, rs = np.mean(errbar.crps(rest, width)), errbar.reliability_score(rest, width)
                return seconds, crps, rs, errbar.coverage(rest, width, 0.9)

            results.setdefault(side, []).append(judged(0.0))
            if np.any(mean):
                results.setdefault("CatBoost, its mean as well", []).append(judged(mean))
    return {side: np.array(runs) for side, runs in results.items()}


def rows_of(name, results):
    """Medians of time; means of scores, and of ratios in logarithms with their standard errors."""
    constant, lines = results["constant"], []
    for side, runs in results.items():
        seconds = np.median(runs[:, 0])
        ratio = np.log(runs[:, 1] / constant[:, 1])
        error = f" ± {ratio.std(ddof=1) / np.sqrt(len(ratio)):.3f}" if side != "constant" else ""
        faster = f"{seconds / np.median(results['errbar'][:, 0]):.2g}" if side not in ("errbar", "constant") else ""
        shown = f"{seconds:.3g}" if side != "constant" else ""
        lines.append(
            f"| {name} | {side} | {shown} | {faster} | {runs[:, 1].mean():#.4g} | {np.exp(ratio.mean()):.3f}{error} | "
            f"{runs[:, 2].mean():.4f} | {runs[:, 3].mean():.1%} |"
        )
    return lines


def main(arguments):
    splits = 2 if arguments.quick else SPLITS
    lines = [
        "| table | side | fit, CPU s | times errbar's | test CRPS | over constant | RS | 90% interval holds |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    load = os.getloadavg()[0]
    notes = []
    for name, inputs, target, what in tables():
        rows = rows_of(name, measure(inputs, target, splits))
        lines += rows
        notes.append(f"- {name}: {what}; {len(target)} rows, {inputs.shape[1]} inputs.")
        for row in rows:
            say(row)
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    text = [
        f"{datetime.date.today()}, `python3 benches/python_peers.py`, {cpu_model()}, one thread, load {load:.1f} before "
        f"and {os.getloadavg()[0]:.1f} after.",
        f"Python {platform.python_version()}, {packages}.",
        *(["", "**Smoke test with few splits: not for publication.**"] if arguments.quick else []),
        "",
        *lines,
        "",
        *notes,
        f"- {splits} random splits into 70% and 30%. Time is the median, of the processor and not of the clock; CRPS, RS and coverage are means over splits.",
        "- \"Over constant\" is the geometric mean of the ratio of CRPS to that of one constant sigma, split by split, "
        "with the standard error of its logarithm. Splits overlap, so that it is a little too small.",
    ]
    text = "\n".join(text) + "\n"
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(ARGUMENTS)
