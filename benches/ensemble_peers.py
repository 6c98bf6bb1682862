"""Times the CRPS of ensembles beside scoringrules and properscoring: same arrays, same process, one run, one thread.

    python3 benches/ensemble_peers.py [--quick] [--repeat K] [--out FILE]

Needs errbar, scoringrules, numba and properscoring where it runs, as ./test has them in .venv but for numba
(`.venv/bin/pip install numba`). 1,000,000 rows of 11 members (and other shapes beside), drawn from a seed. Each side gets the same
arrays of doubles, a row of members after the other, and gives one CRPS for each row. scoringrules' numba backend is compiled
before anything is timed, and each of its estimators that knows the fair CRPS, or that of the members as they are, takes part:
the fastest counts. Turn and turn about, K rounds; the least of each is in the table. All values must agree to 1e-10.
"""

import argparse
import datetime
import os
import sys
import time
from importlib import metadata
from pathlib import Path

for name in ["OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON"]:
    os.environ[f"{name}_NUM_THREADS"] = "1"

import numpy as np
import properscoring
import scoringrules

import errbar


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows: a smoke test")
    parser.add_argument("--repeat", type=int, default=7, metavar="K", help="rounds (7)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the markdown here as well")
    return parser.parse_args()


def sides(observation, members):
    """Each side by name, with whether it is fair."""

    def of_scoringrules(estimator, backend):
        return lambda: scoringrules.crps_ensemble(observation, members, estimator=estimator, backend=backend)

    found = {
        ("fair", "errbar"): lambda: errbar.crps_ensemble(observation, members),
        ("as is", "errbar"): lambda: errbar.crps_ensemble(observation, members, fair=False),
        ("as is", "properscoring"): lambda: properscoring.crps_ensemble(observation, members),
    }
    for which, estimators in {"fair": ["fair", "pwm"], "as is": ["nrg", "qd", "int"]}.items():
        for estimator in estimators:
            for backend in ["numba", "numpy"]:
                if (estimator, backend) in [("nrg", "numpy"), ("fair", "numpy")]:
                    continue  # all pairs at once: gigabytes
                found[which, f"scoringrules {estimator}, {backend}"] = of_scoringrules(estimator, backend)
    return found


def measure(rows, count, repeat):
    random = np.random.default_rng(1)
    center, sigma = random.normal(size=rows), np.exp(0.4 * random.normal(size=rows))
    members = np.ascontiguousarray(center[:, None] + sigma[:, None] * random.normal(size=(rows, count)))
    observation = center + sigma * random.normal(size=rows)
    right = {
        "fair": errbar.crps_ensemble(observation[:2000], members[:2000]),
        "as is": properscoring.crps_ensemble(observation[:2000], members[:2000]),
    }
    every, least = sides(observation, members), {}
    for key, side in list(every.items()):
        try:
            values = np.asarray(side())[:2000]  # compiles what is to be compiled
        except Exception as error:  # an estimator that this backend or version does not have
            print(f"ensemble_peers: {key[1]} is left out: {error}", file=sys.stderr)
            del every[key]
            continue
        if not np.allclose(values, right[key[0]], rtol=1e-10, atol=1e-10):
            # An estimator with random parts is another score.
            print(f"ensemble_peers: {key[1]} is left out: it is another score", file=sys.stderr)
            del every[key]
    for turn in range(repeat):
        for key, side in every.items():
            # What is far behind after one turn cannot be the fastest: its one time stands.
            if turn and least[key] > 8 * least[key[0], "errbar"] and "numba" not in key[1]:
                continue
            start = time.perf_counter()
            side()
            took = time.perf_counter() - start
            least[key] = min(took, least.get(key, took))
    return least


def table(rows, count, least):
    lines = [f"\n## {rows:,} rows of {count} members\n", "| CRPS | side | ns a row | times as long as errbar |", "|---|---|--:|--:|"]
    for which in ["fair", "as is"]:
        own = least[which, "errbar"]
        for (score, name), seconds in sorted(least.items(), key=lambda item: item[1]):
            if score == which:
                lines.append(f"| {which} | {name} | {1e9 * seconds / rows:.3g} | {seconds / own:.2f} |")
        numba = [s for (score, name), s in least.items() if score == which and name.startswith("scoringrules")]
        if numba:
            lines.append(f"\nscoringrules' fastest over errbar, {which}: {min(numba) / own:.2f}\n")
            if which == "fair":
                lines += ["| CRPS | side | ns a row | times as long as errbar |", "|---|---|--:|--:|"]
    return lines


def main():
    arguments = parse_arguments()
    scale = 100 if arguments.quick else 1
    packages = ["numpy", "scoringrules", "numba", "properscoring"]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "") if os.path.exists("/proc/cpuinfo") else ""
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    lines = [
        f"# CRPS of ensembles, {datetime.date.today()}",
        "",
        f"`python3 benches/ensemble_peers.py`, one thread, {cpu}{load}; errbar {errbar.__version__}, {versions}.",
        f"The least of {arguments.repeat} rounds, turn and turn about.",
    ]
    for rows, count in [(1_000_000, 11), (200_000, 51)]:
        lines += table(rows // scale, count, measure(rows // scale, count, arguments.repeat))
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


main()
