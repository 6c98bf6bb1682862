"""Times the paper's network fit, errbar against NumPy and SciPy: same data, split and starts, one thread, one run.

    python3 benches/fit_peers.py [--quick] [--out FILE]

Runs with plain Python 3.10 or later, in the virtual environment of peers.py. One fit is five networks of 20 tanh
and 5 clamped units with sigma = exp(-n²), trained on 70 % of the rows by BFGS on (1-g) AR + g mean(w²), each stopped
after 10 iterations without progress on the other 30 %; the one of least AR there is kept. For every data set and seed

1. the data are written as raw little-endian f64 files;
2. errbar fits (`cargo build --release --example fit_peer`) and tells its split and its five random starts;
3. NumPy and SciPy's BFGS fit from the same split and starts, in a process of their own, then once more with NumPy's
   AVX-512 switched off.

Sigma at random weights must agree to 1e-10, and errbar's first step must go along NumPy's gradient. Neither side's BFGS visits the same points as the other's: line
searches and first steps differ. So iterations, evaluations and what the fit is worth stand beside the times.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from math import log, pi
from pathlib import Path

HERE = Path(__file__).resolve().parent


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, one seed: a smoke test")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the markdown here as well")
    parser.add_argument("--peer", type=Path, metavar="PROGRAM", help="use this program instead of building errbar's")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    # peers.py as far as it needs no package: it makes the environment and starts this script again inside.
    head = (HERE / "peers.py").read_text(encoding="utf-8").partition("# Only the virtual environment")[0]
    names = {"__name__": "peers", "__file__": __file__}
    exec(compile(head, "peers.py", "exec"), names)
    names["enter_environment"]()

import numpy as np
from peers import NO_AVX512, TARGET, TOLERANCE, NumpyAr, best_of, cpu_model, figure, say
from scipy.optimize import minimize

PATIENCE, ITERATIONS, SMALL_GRADIENT = 10, 1000, 1e-6  # as in errbar's Options::paper()
UNITS = [20, 5, 1]
PEER = "numpy + scipy"
# data set, rows, share of the penalty, seeds, fits of each in a round, goal in seconds
CASES = [("G", 100, 0.2, 40, 5, 0.015), ("5D", 10_000, 0.2, 10, 1, 2.0), ("5D", 10_000, 0.002, 10, 1, 2.0)]
ROUNDS = 3


def draw(data_set, rows, rng):
    """Inputs, true sigma and errors of the true mean, as the paper makes them."""
    x = rng.uniform(0.0, 1.0, (rows, 1 if data_set == "G" else 5))
    sigma = 0.5 * x[:, 0] + 0.5 if data_set == "G" else 0.45 * (np.cos(pi + 5.0 * x.sum(axis=1)) + 1.2)
    return x, sigma, sigma * rng.standard_normal(rows)


def nlpd(error, sigma):
    return np.mean(0.5 * log(2.0 * pi) + np.log(sigma) + 0.5 * (error / sigma) ** 2)


class NumpyNetwork:
    """The networks' sigma and, given a cost of sigma, the penalised cost and its gradient: matrix products into
    memory set aside beforehand. Weights stand as in errbar: for each unit of each layer its weights, then its bias."""

    def __init__(self, scaled, error):
        rows, columns = scaled.shape
        self.cost = NumpyAr(error)
        self.inputs = np.vstack([scaled.T, np.ones(rows)])
        self.first, self.second = np.ones((UNITS[0] + 1, rows)), np.ones((UNITS[1] + 1, rows))
        self.first_delta, self.second_delta = np.empty((UNITS[0], rows)), np.empty((UNITS[1], rows))
        self.slope, self.open = np.empty((UNITS[0], rows)), np.empty((UNITS[1], rows), dtype=bool)
        self.n, self.sigma, self.delta = np.empty(rows), np.empty(rows), np.empty(rows)
        self.shapes = [(units, before + 1) for units, before in zip(UNITS, [columns, *UNITS])]
        self.ends = np.cumsum([0] + [units * inputs for units, inputs in self.shapes])

    def layers(self, flat):
        return [flat[a:b].reshape(s) for a, b, s in zip(self.ends, self.ends[1:], self.shapes)]

    def forward(self, weights):
        w1, w2, w3 = self.layers(weights)
        first, second = self.first[:-1], self.second[:-1]
        np.tanh(np.matmul(w1, self.inputs, out=first), out=first)
        np.clip(np.matmul(w2, self.first, out=second), -1.0, 1.0, out=second)
        np.matmul(w3[0], self.second, out=self.n)
        np.multiply(self.n, self.n, out=self.sigma)
        np.negative(self.sigma, out=self.sigma)
        return np.exp(self.sigma, out=self.sigma)

    def loss(self, weights):
        return self.cost(self.forward(weights))[0]

    def objective(self, weights, g):
        sigma = self.forward(weights)
        if not sigma.min() > 0.0:
            return np.inf, np.zeros_like(weights)
        loss, slope = self.cost(sigma)
        gradient = np.empty_like(weights)
        (_, w2, w3), (g1, g2, g3) = self.layers(weights), self.layers(gradient)
        np.multiply(self.n, sigma, out=self.delta)
        self.delta *= slope
        self.delta *= -2.0
        np.matmul(self.second, self.delta, out=g3[0])
        np.multiply(w3[0, :-1, None], self.delta, out=self.second_delta)
        np.less(np.abs(self.second[:-1], out=self.second[:-1]), 1.0, out=self.open)
        self.second_delta *= self.open
        np.matmul(self.second_delta, self.first.T, out=g2)
        np.matmul(w2[:, :-1].T, self.second_delta, out=self.first_delta)
        np.multiply(self.first[:-1], self.first[:-1], out=self.slope)
        np.subtract(1.0, self.slope, out=self.slope)
        self.first_delta *= self.slope
        np.matmul(self.first_delta, self.inputs.T, out=g1)
        gradient *= 1.0 - g
        gradient += 2.0 * g / len(weights) * weights
        return (1.0 - g) * loss + g * (weights @ weights) / len(weights), gradient


def scale(x, low, high):
    return np.clip((x - 0.5 * (low + high)) / (0.5 * (high - low)), -1.0, 1.0)


def numpy_fit(inputs, error, split, starts, g):
    """The paper's fit: the least validation loss, its weights, and what each network took."""
    scaled, best, counts = scale(inputs, inputs.min(axis=0), inputs.max(axis=0)), (np.inf, None), []
    training, validation = (NumpyNetwork(scaled[rows], error[rows]) for rows in split)
    training.cost.warm = validation.cost.warm = len(error) > 1_000  # whichever is faster
    for start in starts:
        training.cost.order = validation.cost.order = None
        least, kept, idle = validation.loss(start), start, 0

        def watch(intermediate_result):
            nonlocal least, kept, idle
            loss = validation.loss(intermediate_result.x)
            if loss < least:
                least, kept, idle = loss, intermediate_result.x.copy(), 0
            else:
                idle += 1
            if idle >= PATIENCE:
                raise StopIteration

        options = {"gtol": SMALL_GRADIENT, "maxiter": ITERATIONS}
        found = minimize(
            training.objective, start, args=(g,), jac=True, method="BFGS", callback=watch, options=options
        )
        stop = {0: "gradient", 1: "budget", 2: "precision", 99: "monitor"}.get(found.status, found.message)
        counts.append({"iterations": found.nit, "evaluations": found.nfev, "stop": stop})
        best = min(best, (least, kept), key=lambda pair: pair[0])
    return *best, counts


def difference(a, b):
    """The largest difference beside the largest number."""
    return float(np.max(np.abs(np.subtract(a, b))) / np.max(np.abs(b)))


def measure_numpy(folder, g, fits):
    """NumPy's fit on the data and beside errbar's result in `folder`."""
    ours = json.loads((folder / "errbar.json").read_text())
    read = lambda name: np.fromfile(folder / f"{name}.f64", dtype="<f8")
    error, test_error, random = read("error"), read("test_error"), read("weights")
    inputs, test_inputs = read("inputs").reshape(len(error), -1), read("test_inputs").reshape(len(test_error), -1)
    split = [np.array(ours[name]) for name in ["training", "validation"]]
    starts = [np.array(start) for start in ours["starts"]]

    seconds = []
    for _ in range(fits):
        began = time.perf_counter()
        least, weights, counts = numpy_fit(inputs, error, split, starts, g)
        seconds.append(time.perf_counter() - began)

    low, high = inputs.min(axis=0), inputs.max(axis=0)
    network = lambda x, e: NumpyNetwork(scale(x, low, high), e)
    training, judge = network(inputs[split[0]], error[split[0]]), NumpyAr(error[split[1]])
    # The way of errbar's first step is the gradient of its cost there; no step is told where it made validation worse.
    way, gradient = np.subtract(starts[0], ours["first_step"]), training.objective(starts[0], g)[1]
    evaluation = best_of(lambda: training.objective(weights, g), 5)[0]
    test_sigma = network(test_inputs, test_error).forward(weights)
    checks = {
        "sigma": difference(ours["sigma_at_random"], network(inputs, error).forward(random)),
        "gradient": difference(way / np.linalg.norm(way), gradient / np.linalg.norm(gradient)) if way.any() else None,
        "counted": difference(ours["counted_validation_loss"], judge(np.array(ours["sigma"])[split[1]])[0]),
    }
    return {
        "seconds": seconds,
        "counts": counts,
        "evaluation": evaluation,
        "checks": checks,
        "validation": [judge(np.array(ours["sigma"])[split[1]])[0], least],
        "nlpd": [nlpd(test_error, np.array(ours["test_sigma"])), nlpd(test_error, test_sigma)],
    }


def write_seed(case, seed, folder):
    """The data of one seed; gives the NLPD of the true sigma on its test rows."""
    data_set, rows, *_ = case
    rng = np.random.default_rng([seed, rows])
    inputs, _, error = draw(data_set, rows, rng)
    test_inputs, test_sigma, test_error = draw(data_set, 900 if data_set == "G" else 10_000, rng)
    parameters = sum(units * (before + 1) for units, before in zip(UNITS, [inputs.shape[1], *UNITS]))
    arrays = {"inputs": inputs, "error": error, "test_inputs": test_inputs, "test_error": test_error}
    for name, values in (arrays | {"weights": rng.uniform(-0.8, 0.8, parameters)}).items():
        values.astype("<f8").tofile(folder / f"{name}.f64")
    return nlpd(test_error, test_sigma)


def keep(kept, new):
    """What a round gave, with all seconds so far."""
    return new | {"seconds": kept.get("seconds", []) + new["seconds"]}


def measure(case, folder, program, switch, rounds):
    """Every seed of one case, turn and turn about: errbar, NumPy, and NumPy without AVX-512."""
    data_set, rows, g, seeds, fits, _ = case
    folders = [folder / f"seed-{seed}" for seed in range(seeds)]
    (folder / "case.json").write_text(json.dumps({"g": g, "fits": fits, "seeds": seeds}))
    runs = []
    for seed, place in enumerate(folders):
        place.mkdir()
        runs.append({"oracle": write_seed(case, seed, place), "errbar": {}, "peers": {}})
    peers = [(PEER, {}), *([(NO_AVX512, {"NPY_DISABLE_CPU_FEATURES": switch})] if switch else [])]

    def run_json(command, environment):
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ, **environment})
        return json.loads(done.stdout)

    for turn in range(rounds):
        for run, place in zip(runs, folders):
            run["errbar"] = keep(run["errbar"], run_json([program, place, str(g), str(fits)], {}))
            (place / "errbar.json").write_text(json.dumps(run["errbar"]))
        for name, environment in peers:
            theirs = run_json([sys.executable, __file__, "--worker", folder], environment)
            for run, result in zip(runs, theirs, strict=True):
                run["peers"][name] = keep(run["peers"].get(name, {}), result)
        middle = lambda sides: f"{np.median([min(side['seconds']) for side in sides]):.3g} s"
        times = ", ".join(f"{name} {middle(run['peers'][name] for run in runs)}" for name, _ in peers)
        ours = middle(run["errbar"] for run in runs)
        say(f"{data_set}, N = {rows}, g = {g}, round {turn + 1}: errbar {ours}, {times}")
    return runs


def total(counts, what):
    return sum(count[what] for count in counts)


def stops(sides):
    """How often networks stopped for which reason."""
    reasons = [count["stop"] for side in sides for count in side["counts"]]
    return ", ".join(f"{reason} {reasons.count(reason)}" for reason in sorted(set(reasons)))


def time_rows(case, runs, quick):
    """The times, and how much work they were for."""
    data_set, rows, g, *_, goal = case
    ours = [run["errbar"] for run in runs]
    fastest = lambda sides: np.array([min(side["seconds"]) for side in sides])
    effort = lambda sides, what: np.median([total(side["counts"], what) for side in sides])
    each = lambda sides: np.median(fastest(sides) / [total(side["counts"], "evaluations") for side in sides])
    ms = lambda seconds: figure(seconds * 1e3)
    lines = []
    for name in ["errbar", *runs[0]["peers"]]:
        sides = ours if name == "errbar" else [run["peers"][name] for run in runs]
        seconds = fastest(sides)
        ratio = figure(np.median(seconds / fastest(ours))) if name != "errbar" else ""
        per = figure(each(sides) / each(ours)) if name != "errbar" else ""
        met = "" if name != "errbar" else "quick" if quick else "yes" if np.median(seconds) <= goal else "**no**"
        wanted = f"≤ {goal * 1e3:.0f} ms" if name == "errbar" else ""
        lines.append(
            f"| {data_set}, N = {rows}, g = {g} | {name} | {ms(np.median(seconds))} | {ms(seconds.min())} | {ratio} | "
            f"{effort(sides, 'iterations'):.0f} | {effort(sides, 'evaluations'):.0f} | {figure(each(sides) * 1e6)} | "
            f"{per} | {wanted} | {met} |"
        )
    return lines


def quality_row(case, runs):
    """What both fits are worth: medians, and the median difference seed by seed."""
    data_set, rows, g, *_ = case
    columns = []
    for what in ["validation", "nlpd"]:
        mine, theirs = np.array([run["peers"][PEER][what] for run in runs]).T
        columns += [f"{np.median(mine):.4f} | {np.median(theirs):.4f} | {np.median(mine - theirs):+.4f}"]
        columns += [f"{np.mean(mine <= theirs + 1e-6):.0%}"]
    oracle = np.median([run["oracle"] for run in runs])
    return f"| {data_set}, N = {rows}, g = {g} | {' | '.join(columns)} | {oracle:.4f} |"


def main(arguments):
    if arguments.worker:
        case = json.loads((arguments.worker / "case.json").read_text())
        folders = [arguments.worker / f"seed-{seed}" for seed in range(case["seeds"])]
        print(json.dumps([measure_numpy(place, case["g"], case["fits"]) for place in folders], default=float))
        return
    program = arguments.peer or TARGET / "release" / "examples" / "fit_peer"
    if not arguments.peer:
        build = ["cargo", "build", "--release", "-p", "errbar", "--example", "fit_peer"]
        subprocess.run(build, check=True, cwd=HERE.parent)
    features = np._core._multiarray_umath.__cpu_features__
    switch = next((name for name in ["X86_V4", "AVX512_SKX"] if features.get(name)), None)
    cases, rounds = CASES, ROUNDS
    if arguments.quick:
        cases, rounds = [(name, min(rows, 1_000), g, 1, 1, goal) for name, rows, g, _, _, goal in CASES], 1
    load, results = [os.getloadavg()[0]], []
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            results.append(measure(case, Path(folder), program, switch, rounds))
    load.append(os.getloadavg()[0])

    runs = [run for result in results for run in result]
    check = lambda what: [run["peers"][PEER]["checks"][what] for run in runs]
    counted, along = check("counted"), [value for value in check("gradient") if value is not None]
    for what, values in [("sigma", check("sigma")), ("gradient", along)]:
        if not all(value <= TOLERANCE for value in values):  # so written, NaN fails
            sys.exit(f"fit_peers: errbar and NumPy differ in {what}: {values}")
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ["numpy", "scipy"])
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    level = runs[0]["errbar"]["cpu"]
    command = " ".join(["python3", "benches/fit_peers.py", *sys.argv[1:]])
    of = lambda result, name: [run["errbar"] if name == "errbar" else run["peers"][name] for run in result]
    alone = [figure(1e6 * np.median([side["evaluation"] for side in of(result, PEER)])) for result in results]
    lines = [
        f"{datetime.date.today()}, `{command}`, {cpu_model()}, one thread (errbar's kernels: {level}), "
        f"load {load[0]:.1f} before and {load[1]:.1f} after.",
        f"Python {platform.python_version()}, {packages}; {rustc}.",
        *(["", "**Smoke test with small sizes: not for publication.**"] if arguments.quick else []),
        "",
        "One fit of five 20-5 networks:",
        "",
        "| data | side | median, ms | best, ms | ratio | iterations | evaluations | µs an evaluation | ratio | goal "
        "| met |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
        *(line for case, result in zip(cases, results) for line in time_rows(case, result, arguments.quick)),
        "",
        "What the fits are worth (lower is better; the difference is errbar less NumPy, median seed by seed):",
        "",
        "| data | validation AR, errbar | NumPy | difference | errbar not worse in | test NLPD, errbar | NumPy "
        "| difference | errbar not worse in | true sigma |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(quality_row(case, result) for case, result in zip(cases, results)),
        "",
        f"- {', '.join(f'{case[0]} g = {case[2]}: {len(result)}' for case, result in zip(cases, results))} seeds. "
        f"Of each the best of {rounds} rounds is taken; median, best, iterations and evaluations (of all five networks "
        "together) are over seeds. The ratio is the median seed by seed.",
        f"- Same data, split and starts on both sides. At random weights sigma agrees to {max(check('sigma')):.1e}; "
        f"errbar's first step goes along NumPy's gradient to {max(along):.1e} ({len(along)} of {len(runs)} seeds; "
        "elsewhere the first step makes validation worse and is not told).",
        "- Time an evaluation is the whole fit (optimiser, validation after every iteration) by the evaluations of "
        f"value and gradient on the training rows. NumPy's value and gradient alone: {', '.join(alone)} µs, in the "
        "order of the table. SciPy's BFGS multiplies full matrices in every iteration.",
        "- errbar's counts come from the same method written around its optimiser and cost in the example, which ends "
        f"at the same validation loss: median relative difference {np.median(counted):.1e}, largest "
        f"{max(counted):.1e}.",
        *(
            f"- Why networks stopped, {case[0]} g = {case[2]}: errbar {stops(of(result, 'errbar'))}; "
            f"{PEER} {stops(of(result, PEER))}."
            for case, result in zip(cases, results)
        ),
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(ARGUMENTS)
