"""What a fit by rounds asks of workers, and what it would take on machines that are not here.

    python3 benches/rounds_plan.py SIGMA10 [--rows 2e6] [--machines 100] [--cores 16] [--all-rows 1e10] [--out FILE]

SIGMA10 is as for rows_peers.py; needs errbar and NumPy. First every kind is fitted to the rows in 16 parts, one after another on one
thread, and each question and answer is weighed and timed, also on a quarter of the rows, which tells what grows with them. Then
rounds are simulated on so many machines: the caller sends a question to each in turn, each core answers for its parts (times are
drawn from those measured, slow ones included), the answers come back in turn and are merged. Beside it stands the plain sum of
the same costs without any chance, which a plan on paper would use.
"""

import argparse
import datetime
import importlib.util
import platform
import time
from pathlib import Path

import errbar
import numpy as np
from errbar import SigmaRegressor, _errbar

HERE = Path(__file__).resolve().parent
PARTS = 16
# Between machines: a message takes half a millisecond and a gigabyte a second; Dask's scheduler takes a millisecond for a task.
LATENCY, BANDWIDTH, TASK = 0.5e-3, 1e9, 1e-3


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sigma10", type=Path, metavar="SIGMA10", help="the Python file that makes the rows")
    parser.add_argument("--rows", type=float, default=2e6, metavar="N", help="rows to measure on")
    parser.add_argument("--all-rows", type=float, default=1e10, metavar="N", help="rows of the plan")
    parser.add_argument("--machines", type=int, default=100, metavar="N", help="machines of the plan")
    parser.add_argument("--cores", type=int, default=16, metavar="N", help="cores of each")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the markdown here as well")
    return parser.parse_args()


def module(path):
    spec = importlib.util.spec_from_file_location("sigma10", path)
    sigma10 = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sigma10)
    return sigma10


class Measured:
    """A fit whose every message is weighed and timed."""

    def __init__(self, make, rows, kind):
        each = rows // PARTS
        rows = each * PARTS
        data = [make(each, seed=part)[:2] for part in range(PARTS)]
        inputs, error = np.concatenate([x for x, _ in data]), np.concatenate([e for _, e in data])
        found = [_errbar.Elsewhere.candidates(part * each, each, rows, False, 0) + part * each for part in range(PARTS)]
        sample = np.concatenate(found)
        names = [f"x{k}" for k in range(inputs.shape[1])]
        began = time.perf_counter()
        wanted = SigmaRegressor(kind, n_jobs=1)._wanted()
        fit = _errbar.Elsewhere(inputs[sample], names, [], (error[sample], None), None, None, wanted, sample, PARTS * [each])
        self.sample = time.perf_counter() - began
        self.opening = len(fit.opening)
        self.each, self.rounds, self.asks, self.answers, self.merging = each, 0, [], [], 0.0
        self.seconds = [[] for _ in range(PARTS)]
        held, first, self.open = [], [], []
        for part in range(PARTS):
            own = slice(part * each, (part + 1) * each)
            one = _errbar.Parts(fit.opening)
            began = time.perf_counter()
            first.append(one.open(part, part * each, inputs[own], error[own]))
            self.open.append(time.perf_counter() - began)
            held.append(one)
        self.first = sum(map(len, first)) / PARTS

        asked = 0.0

        def ask(question):
            nonlocal asked
            out = []
            for part, one in enumerate(held):
                began = time.perf_counter()
                out.append(one.answer(question, 1))
                self.seconds[part].append(time.perf_counter() - began)
                asked += self.seconds[part][-1]
            self.rounds += 1
            self.asks.append(len(question))
            self.answers.append(max(map(len, out)))
            return out

        began = time.perf_counter()
        fit.finish(first, ask)
        # What the caller does for each answer, and between rounds.
        self.caller = (time.perf_counter() - began - asked) / max(1, self.rounds) / PARTS
        self.per_row = asked / rows
        self.open_per_row = sum(self.open) / rows


def plan(measured, rows, machines, cores):
    """Seconds of a fit: as a plain sum, and simulated; with the seconds of the caller's network among them."""
    per_core = rows / machines / cores
    times = per_core / measured.each
    wire = sum(machines * (ask + answer) / BANDWIDTH for ask, answer in zip(measured.asks, measured.answers))
    overhead = measured.rounds * (2 * LATENCY + machines * (TASK + measured.caller))
    opening = measured.open_per_row * per_core + machines * (measured.opening + measured.first) / BANDWIDTH
    plain = measured.sample + opening + overhead + wire + measured.per_row * per_core

    random = np.random.default_rng(0)
    seconds = np.array(measured.seconds)
    clock = measured.sample + opening
    for nth in range(measured.rounds):
        send = np.arange(1, machines + 1) * (TASK + measured.asks[nth] / BANDWIDTH) + LATENCY
        # Every core has as many parts as make up its rows; the slowest core of a machine answers last.
        whole = max(1, round(times))
        drawn = random.choice(seconds[:, nth], size=(machines, cores, min(whole, 64)))
        work = (drawn.mean(axis=2) * times).max(axis=1)
        ready = np.sort(send + work + LATENCY)
        taken = clock_of_one_by_one(ready, measured.answers[nth] / BANDWIDTH + measured.caller)
        clock += taken
    return plain, clock, wire


def clock_of_one_by_one(ready, each):
    """When the last of them has been taken, one after another."""
    at = 0.0
    for one in ready:
        at = max(at, one) + each
    return at


def main(arguments):
    make = module(arguments.sigma10).make
    rows, all_rows = int(arguments.rows), arguments.all_rows
    lines = [f"{datetime.date.today()}, {platform.machine()}, errbar {errbar.__version__}, one thread; {rows:,} rows of ten inputs"]
    lines += [
        "",
        "| kind | rounds | of a quarter of the rows | question, kB (mean, most) | answer of a worker, kB (mean, most) | opening, kB "
        "| first answer, kB | worker, s per million rows | opening, s per million rows | caller, ms per answer | sample, s |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    print("\n".join(lines), flush=True)
    found = {}
    for kind in ("constant", "polynomial", "network", "trees", "auto"):
        one = found[kind] = Measured(make, rows, kind)
        quarter = Measured(make, rows // 4, kind)
        asks, answers = np.array(one.asks) / 1e3, np.array(one.answers) / 1e3
        cells = [kind, f"{one.rounds:,}", f"{quarter.rounds:,}", f"{asks.mean():.0f}, {asks.max():.0f}"]
        cells += [f"{answers.mean():.0f}, {answers.max():.0f}", f"{one.opening / 1e3:.0f}", f"{one.first / 1e3:.0f}"]
        cells += [f"{1e6 * one.per_row:.1f}", f"{1e6 * one.open_per_row:.2f}", f"{1e3 * one.caller:.2f}", f"{one.sample:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    table = [
        "",
        f"{all_rows:,.0f} rows on {arguments.machines} machines of {arguments.cores} cores, with {1e3 * LATENCY:g} ms and "
        f"{BANDWIDTH / 1e9:g} GB/s between them and {1e3 * TASK:g} ms of the scheduler for each task:",
        "",
        "| kind | plain sum, s | simulated, s | of it the caller's network, s |",
        "|---|--:|--:|--:|",
    ]
    print("\n".join(table), flush=True)
    lines += table
    for kind, one in found.items():
        plain, clock, wire = plan(one, all_rows, arguments.machines, arguments.cores)
        lines.append(f"| {kind} | {plain:,.0f} | {clock:,.0f} | {wire:,.1f} |")
        print(lines[-1], flush=True)
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(parse_arguments())
