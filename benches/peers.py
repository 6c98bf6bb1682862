"""Times errbar against its Python peers: same data, same machine, one run, one thread.

    python3 benches/peers.py [--quick] [--repeat K] [--out FILE]

Plain Python 3.10 or later is enough: the script makes a virtual environment under target/, installs
benches/requirements.txt into it and starts itself again inside. It then

1. writes the data as raw little-endian f64 files: errors and sigmas for the mean CRPS and for the
   Accuracy-Reliability cost (AR), the sigmas that a BFGS fit passes through, and observations,
   forecasts and sigmas for the metrics of uncertainty-toolbox;
2. measures in rounds, turn and turn about: errbar (`cargo build --release --example peer`), then the
   peers in a process of their own, then NumPy's AR once more with AVX-512 switched off, because
   NumPy's AVX-512 sort is much slower than its AVX2 sort on some processors;
3. demands that all values agree to 1e-10 and prints a markdown table with the best time of each.

Every figure is the best of at least K calls in each round. What errbar gives no figure for is left out of
the table and named below it.
"""

import argparse
import datetime
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from math import log, pi, sqrt
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
VENV = HERE.parent / "target" / "peers-venv"
REQUIREMENTS = HERE / "requirements.txt"
THREADS = ["OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON"]
PACKAGES = ["numpy", "scipy", "scoringrules", "numba", "properscoring", "uncertainty-toolbox", "scikit-learn"]
UCT_FILES = ["uct_forecast", "uct_sigma", "uct_observation"]
AR_SIZES = [1_000, 10_000, 1_000_000]
TOLERANCE = 1e-10
ARGSORT, WARM, NO_AVX512 = "numpy + scipy", "numpy + scipy, warm-started", "numpy + scipy, AVX-512 off"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: a smoke test")
    parser.add_argument("--repeat", type=int, default=5, metavar="K", help="calls in each of three rounds (5)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the markdown here as well")
    parser.add_argument("--peer", type=Path, metavar="PROGRAM", help="use this program instead of building errbar's")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--only-ar", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def enter_environment():
    """Restarts this script inside its virtual environment, with one thread everywhere."""
    os.environ.update({f"{name}_NUM_THREADS": "1" for name in THREADS})
    if Path(sys.prefix).resolve() == VENV.resolve():
        return
    python = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp, wanted = VENV / "installed", hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        say(f"making the virtual environment target/{VENV.name} (once)")
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS], check=True)
        stamp.write_text(wanted)
    sys.exit(subprocess.run([python, __file__, *sys.argv[1:]]).returncode)


def say(message):
    print(f"peers: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    enter_environment()

# Only the virtual environment has these.
import numpy as np
import properscoring
import scoringrules
from scipy.optimize import minimize
from scipy.special import erf, erfinv
from sklearn import metrics as accuracy
from uncertainty_toolbox import metrics as uct


def cpu_model():
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


class NumpyAr:
    """AR and its gradient by sigma: vectorised, in place, one erf and one exp a point.

    beta and all else that does not depend on sigma is computed once, as in errbar. Ties are not averaged: the
    data have none. With `warm` the argsort starts from the last order: timsort is fast on the nearly sorted.
    """

    def __init__(self, error):
        n = len(error)
        self.error, self.warm, self.order = error, False, None
        self.ranks = (2.0 * np.arange(1, n + 1) - 1.0) / n
        rs_min = np.mean(np.exp(-erfinv(self.ranks - 1.0) ** 2)) / sqrt(pi)
        crps_min = erf(sqrt(log(4.0)) / 2.0) * np.mean(np.abs(error))
        self.beta = rs_min / (crps_min + rs_min)
        self.scaled_error = error / sqrt(2.0)
        self.eta, self.step, self.gauss, self.gradient = (np.empty(n) for _ in range(4))

    def __call__(self, sigma):
        n, beta = len(sigma), self.beta
        eta, step, gauss, gradient = self.eta, self.step, self.gauss, self.gradient
        np.divide(self.scaled_error, sigma, out=eta)
        np.multiply(eta, eta, out=gauss)
        np.negative(gauss, out=gauss)
        np.exp(gauss, out=gauss)
        if self.warm and self.order is not None:
            self.order = self.order[np.argsort(eta[self.order], kind="stable")]
        else:
            self.order = np.argsort(eta)
        gradient[self.order] = self.ranks
        erf(eta, out=step)
        crps = self.error @ step + sqrt(2.0 / pi) * (sigma @ gauss) - sigma.sum() / sqrt(pi)
        step += 1.0
        step -= gradient  # erf(eta) + 1 - (2i-1)/N
        rs = eta @ step + gauss.sum() / sqrt(pi)
        np.multiply(eta, step, out=gradient)
        gradient /= sigma
        gradient *= (beta - 1.0) / n
        gauss *= beta / n * sqrt(2.0 / pi)
        gradient += gauss
        gradient -= beta / n / sqrt(pi)
        return (beta * crps + (1.0 - beta) * rs) / n, gradient


def write_data(folder, quick):
    """Writes every data file; gives the number of evaluations of the recorded fit."""
    rng = np.random.default_rng(20240501)

    def write(**arrays):
        for name, values in arrays.items():
            values.astype("<f8").tofile(folder / f"{name}.f64")

    def errors_and_sigmas(n):
        """A forecaster whose stated sigma is right on average and wrong by some 30 % at each point."""
        truth = np.exp(0.5 * rng.standard_normal(n))
        return truth * rng.standard_normal(n), truth * np.exp(0.3 * rng.standard_normal(n))

    error, sigma = errors_and_sigmas(10_000 if quick else 1_000_000)
    write(crps_error=error, crps_sigma=sigma)
    for n in AR_SIZES:
        error, sigma = errors_and_sigmas(n)
        write(**{f"ar_{n}_error": error, f"ar_{n}_sigma": sigma})

    n = 2_000 if quick else 100_000
    error, sigma = errors_and_sigmas(n)
    forecast = 10.0 + 3.0 * rng.standard_normal(n)
    write(uct_observation=forecast + error, uct_forecast=forecast, uct_sigma=sigma)

    # A fit as users run it: log sigma is a Chebyshev series of order 6 in x; every evaluation is kept.
    n = 1_000 if quick else 10_000
    x = rng.uniform(-1.0, 1.0, n)
    error = (0.3 + 0.25 * np.sin(4.0 * x) + 0.4 * x**2) * rng.standard_normal(n)
    basis, cost, visited = np.polynomial.chebyshev.chebvander(x, 6), NumpyAr(error), []

    def objective(coefficients):
        sigma = np.exp(basis @ coefficients)
        visited.append(sigma)
        value, gradient = cost(sigma)
        return value, basis.T @ (gradient * sigma)

    minimize(objective, np.zeros(7), jac=True, method="BFGS")
    write(fit_error=error, fit_sigma=np.concatenate(visited))
    return len(visited)


def load(folder, *names):
    return [np.fromfile(folder / f"{name}.f64", dtype="<f8") for name in names]


def best_of(function, repeat, at_least=0.2):
    """The least time of `repeat` calls: more of them within `at_least` seconds, fewer beyond two seconds."""
    best, spent, calls = float("inf"), 0.0, 0
    while calls == 0 or (spent < 2.0 and (calls < repeat or spent < at_least)):
        start = time.perf_counter()
        value = function()
        elapsed = time.perf_counter() - start
        best, spent, calls = min(best, elapsed), spent + elapsed, calls + 1
    return best, value


def measure_peers(folder, repeat, only_ar):
    """{quantity: {peer: {seconds, value, ...}}}, the quantities named as in errbar's example."""
    results = {}

    def put(quantity, peer, function):
        seconds, value = best_of(function, repeat)
        results.setdefault(quantity, {})[peer] = {"seconds": seconds, "value": float(value)}

    for n in AR_SIZES:
        error, sigma = load(folder, f"ar_{n}_error", f"ar_{n}_sigma")
        cost = NumpyAr(error)
        seconds, (value, gradient) = best_of(lambda: cost(sigma), repeat)
        entry = {"seconds": seconds, "value": value, "gradient_norm": np.linalg.norm(gradient)}
        results[f"ar_cold_{n}"] = {ARGSORT: entry}

    error, sigmas = load(folder, "fit_error", "fit_sigma")
    sigmas = sigmas.reshape(-1, len(error))
    cost, results["ar_fit"] = NumpyAr(error), {}

    def whole_fit():
        cost.order = None
        return [cost(sigma)[0] for sigma in sigmas]

    for name, cost.warm in [(ARGSORT, False), (WARM, True)]:
        seconds, values = best_of(whole_fit, repeat)
        results["ar_fit"][name] = {"seconds": seconds / len(sigmas), "values": values}
    if only_ar:
        return results

    def crps_numpy():
        eta = error / (sqrt(2.0) * sigma)
        gauss = np.exp(-eta * eta)
        return np.mean(error * erf(eta) + sigma * (sqrt(2.0 / pi) * gauss - 1.0 / sqrt(pi)))

    error, sigma = load(folder, "crps_error", "crps_sigma")
    for backend in ["numpy", "numba"]:
        crps_normal = lambda: scoringrules.crps_normal(error, 0.0, sigma, backend=backend).mean()
        put("crps_mean", f"scoringrules, {backend} backend", crps_normal)
    put("crps_mean", "properscoring", lambda: properscoring.crps_gaussian(error, 0.0, sigma).mean())
    put("crps_mean", ARGSORT, crps_numpy)

    three = forecast, sigma, observation = load(folder, *UCT_FILES)
    metrics = {  # the accuracy ones as uncertainty_toolbox.metrics_accuracy writes them
        "mae": lambda: accuracy.mean_absolute_error(observation, forecast),
        "rmse": lambda: np.sqrt(accuracy.mean_squared_error(observation, forecast)),
        "mdae": lambda: accuracy.median_absolute_error(observation, forecast),
        "marpd": lambda: np.abs(2 * (observation - forecast) / (np.abs(forecast) + np.abs(observation))).mean() * 100,
        "r2": lambda: accuracy.r2_score(observation, forecast),
        "corr": lambda: np.corrcoef(observation, forecast)[0, 1],
        "sharpness": lambda: uct.sharpness(sigma),
        "nll": lambda: uct.nll_gaussian(*three),
        "crps": lambda: uct.crps_gaussian(*three),
        "check": lambda: uct.check_score(*three),
        "interval": lambda: uct.interval_score(*three),
        "rms_cal": lambda: uct.root_mean_squared_calibration_error(*three),
        "ma_cal": lambda: uct.mean_absolute_calibration_error(*three),
        "miscal_area": lambda: uct.miscalibration_area(*three),
    }
    for name, function in metrics.items():
        put(f"uct.{name}", "uncertainty-toolbox", function)
    return results


def measure_all_metrics(folder):
    """One call of uncertainty-toolbox's get_all_metrics: seconds in all, seconds in adversarial group calibration."""
    three, plain, adversarial = load(folder, *UCT_FILES), uct.adversarial_group_calibration, []

    def timed(*args, **kwargs):
        seconds, result = best_of(lambda: plain(*args, **kwargs), 1, 0.0)
        adversarial.append(seconds)
        return result

    uct.adversarial_group_calibration = timed
    return best_of(lambda: uct.get_all_metrics(*three, verbose=False), 1, 0.0)[0], sum(adversarial)


def flatten_ours(raw):
    """errbar's JSON with `uct` opened up and one name for the seconds."""
    flat = {f"uct.{name}": entry for name, entry in raw.pop("uct", {}).items()}
    flat |= {name: entry for name, entry in raw.items() if isinstance(entry, dict)}
    for entry in flat.values():
        entry["seconds"] = entry.pop("seconds_per_evaluation", entry.get("seconds"))
    return flat


def keep_best(best, new):
    for quantity, peers in new.items():
        for peer, entry in peers.items():
            kept = best.setdefault(quantity, {}).setdefault(peer, entry)
            kept["seconds"] = min(kept["seconds"], entry["seconds"])


def worst_difference(ours, theirs):
    """The largest relative difference over every number both sides give, and where it is."""
    worst = (0.0, "nothing compared")
    for quantity, peers in theirs.items():
        for peer, entry in peers.items():
            for field in ["value", "gradient_norm", "values"]:
                mine = ours.get(quantity, {}).get(field)
                if mine is None or field not in entry:
                    continue
                pairs = list(zip(mine, entry[field], strict=True)) if field == "values" else [(mine, entry[field])]
                differences = [abs(a - b) / max(abs(b), 1e-300) for a, b in pairs]
                if not all(difference <= TOLERANCE for difference in differences):  # so written, NaN fails
                    sys.exit(f"peers: {quantity} {field}: errbar and {peer} differ by {max(differences):.1e}")
                worst = max(worst, (max(differences), f"{quantity} {field}, {peer}"))
    return worst


def target_of(quantity, peer):
    """The least ratio wanted, or None."""
    if quantity == "crps_mean":
        return 6 if peer.startswith("scoringrules") else None
    return {"ar_cold_1000000": 6, "ar_fit": 10}.get(quantity, 100 if quantity.startswith("uct.") else None)


def figure(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(ours, theirs, points, quick):
    lines = ["| quantity | N | peer | peer, ns a point | errbar, ns a point | ratio | target | met |"]
    lines.append("|---|--:|---|--:|--:|--:|--:|---|")
    left_out = []
    for quantity, n in points.items():
        for peer, entry in theirs[quantity].items():
            theirs_ns = entry["seconds"] / n * 1e9
            if quantity not in ours:
                left_out.append(f"{quantity} ({peer}: {figure(theirs_ns)} ns a point)")
                continue
            ours_ns = ours[quantity]["seconds"] / n * 1e9
            ratio, target = theirs_ns / ours_ns, target_of(quantity, peer)
            met = "" if target is None else "quick" if quick else "yes" if ratio >= target else "**no**"
            wanted = "" if target is None else f"≥ {target}"
            figures = f"{figure(theirs_ns)} | {figure(ours_ns)} | {ratio:.1f}"
            lines.append(f"| {quantity} | {n} | {peer} | {figures} | {wanted} | {met} |")
    if "all_scores" in ours:
        ms, n = ours["all_scores"]["seconds"] * 1e3, points["uct.mae"]
        met = "quick" if quick else "yes" if ms <= 40 else "**no**"
        lines.append(f"| all_scores | {n} | | | {figure(ms * 1e6 / n)} ({ms:.3g} ms) | | ≤ 40 ms | {met} |")
    else:
        left_out.append("all_scores")
    return lines, left_out


def main(arguments):
    if arguments.worker:
        print(json.dumps(measure_peers(arguments.worker, arguments.repeat, arguments.only_ar), default=float))
        return
    program = arguments.peer or TARGET / "release" / "examples" / "peer"
    if not arguments.peer:
        build = ["cargo", "build", "--release", "-p", "errbar", "--example", "peer"]
        subprocess.run(build, check=True, cwd=HERE.parent)
    repeat, rounds = (1, 1) if arguments.quick else (arguments.repeat, 3)
    worker = [sys.executable, __file__, "--repeat", str(repeat), "--worker"]
    features = np._core._multiarray_umath.__cpu_features__
    switch = next((name for name in ["X86_V4", "AVX512_SKX"] if features.get(name)), None)  # NumPy 2.4 renamed it

    def run(command, **environment):
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ, **environment})
        return json.loads(done.stdout)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        evaluations = write_data(folder, arguments.quick)
        say(f"the recorded fit has {evaluations} evaluations")
        mine, theirs, level = {}, {}, "unknown"
        for turn in range(rounds):
            say(f"round {turn + 1} of {rounds}")
            raw = run([program, folder, str(repeat)])
            level = raw.get("cpu", level)
            keep_best(mine, {quantity: {"errbar": entry} for quantity, entry in flatten_ours(raw).items()})
            keep_best(theirs, run([*worker, folder]))
            if switch:
                without = run([*worker, folder, "--only-ar"], NPY_DISABLE_CPU_FEATURES=switch)
                keep_best(theirs, {quantity: {NO_AVX512: peers[ARGSORT]} for quantity, peers in without.items()})
        ours = {quantity: entry["errbar"] for quantity, entry in mine.items()}
        difference, where = worst_difference(ours, theirs)
        say("uncertainty-toolbox, all metrics at once")
        total, adversarial = measure_all_metrics(folder)
        size = lambda name: (folder / f"{name}.f64").stat().st_size // 8
        points = {"crps_mean": size("crps_error")} | {f"ar_cold_{n}": n for n in AR_SIZES}
        points |= {"ar_fit": size("fit_error"), "ar_fit_cold": size("fit_error")}
        points |= {quantity: size("uct_sigma") for quantity in theirs if quantity.startswith("uct.")}

    # The same figures of the peers again, against errbar sorting from nothing each time.
    theirs["ar_fit_cold"] = {peer: entry for peer, entry in theirs["ar_fit"].items() if peer != WARM}
    rows, left_out = table(ours, theirs, points, arguments.quick)
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    command = " ".join(["python3", "benches/peers.py", *sys.argv[1:]])
    lines = [
        f"{datetime.date.today()}, `{command}`, {cpu_model()}, one thread (errbar's kernels: {level}).",
        f"Python {platform.python_version()}, {packages}; {rustc}.",
        *(["", "**Smoke test with small sizes: not for publication.**"] if arguments.quick else []),
        "",
        *rows,
        "",
        f"- Largest relative difference between errbar's values and the peers': {difference:.1e} ({where}).",
        "- AR is the value and its gradient, beta computed beforehand on both sides. `ar_cold` sorts from nothing. "
        f"`ar_fit` is the mean over the {evaluations} evaluations of a recorded BFGS fit; errbar and the warm-started "
        "peer begin each sort with the last order, the other peers sort anew, as errbar does in `ar_fit_cold`.",
        "- scoringrules has no numba kernel for the normal distribution: its numba backend runs the NumPy code. "
        "properscoring runs unmodified.",
        f"- uncertainty-toolbox's `get_all_metrics`, once, N = {points['uct.mae']}: {total:.3g} s, of which "
        f"adversarial group calibration, which errbar does not offer, {adversarial:.3g} s.",
        *([f"- Left out, errbar gives no figure: {'; '.join(left_out)}."] if left_out else []),
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(ARGUMENTS)
