"""Times the Accuracy-Reliability loss of errbar.torch: one step, forward and backward, on a GPU and on the CPU.

    python3 benches/torch_loss.py [--quick] [--out FILE]

Needs PyTorch and errbar in the Python that runs it. Beside errbar.torch stand

- plain autograd: the closed form written with tensors and left to PyTorch to differentiate;
- a loop: the same row by row in Python, as a first try would be. It takes the same time for every row, so it is
  measured at a few hundred rows and multiplied.

Values and gradients must agree (to 1e-10 of the largest in double) before anything is timed. Figures are the median
of many steps, each waited for; the CPU has one thread.
"""

import argparse
import datetime
import os
import platform
import statistics
import sys
import time
from math import erf, log, pi, sqrt
from pathlib import Path

for name in ["OMP", "MKL", "RAYON"]:
    os.environ[f"{name}_NUM_THREADS"] = "1"

import torch

from errbar import reliability_score_min
from errbar.torch import AccuracyReliabilityLoss

LOOP_ROWS = 300
SIZES = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 10,000 rows: a smoke test")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the markdown here as well")
    return parser.parse_args()


def say(message):
    print(f"torch_loss: {message}", file=sys.stderr, flush=True)


def heuristic(error):
    """Beta, which does not depend on sigma."""
    rs_min = reliability_score_min(len(error)) + 1.0 / sqrt(2.0 * pi)
    crps_min = erf(sqrt(log(4.0)) / 2.0) * error.abs().mean()
    return rs_min / (crps_min + rs_min)


def plain(forecast, observation, sigma):
    """The closed form, differentiated by autograd. Ties are not averaged."""
    error = observation - forecast
    n = len(error)
    beta = heuristic(error.detach())
    eta = error / (sqrt(2.0) * sigma)
    crps = (error * torch.erf(eta) + sigma * (sqrt(2.0 / pi) * torch.exp(-eta * eta) - 1.0 / sqrt(pi))).mean()
    eta = torch.sort(eta).values
    ranks = (2.0 * torch.arange(1, n + 1, device=eta.device, dtype=eta.dtype) - 1.0) / n
    rs = (eta * (torch.erf(eta) + 1.0 - ranks) + torch.exp(-eta * eta) / sqrt(pi)).mean()
    return beta * crps + (1.0 - beta) * rs


def loop(forecast, observation, sigma):
    """The same row by row."""
    error = observation - forecast
    n = len(error)
    beta = heuristic(error.detach())
    crps, etas = 0.0, []
    for i in range(n):
        eta = error[i] / (sqrt(2.0) * sigma[i])
        bell = torch.exp(-eta * eta)
        crps = crps + error[i] * torch.erf(eta) + sigma[i] * (sqrt(2.0 / pi) * bell - 1.0 / sqrt(pi))
        etas.append(eta)
    rs = 0.0
    for i, eta in enumerate(sorted(etas, key=lambda eta: float(eta.detach()))):
        rs = rs + eta * (torch.erf(eta) + 1.0 - (2 * i + 1) / n) + torch.exp(-eta * eta) / sqrt(pi)
    return (beta * crps + (1.0 - beta) * rs) / n


def draw(n, kind, device):
    generator = torch.Generator().manual_seed(n)
    normal = lambda: torch.randn(n, dtype=torch.float64, generator=generator)
    truth = torch.exp(0.5 * normal())
    forecast = 10.0 + normal()
    observation = forecast + truth * normal()
    sigma = truth * torch.exp(0.3 * normal())
    return [values.to(device, kind) for values in (forecast, observation, sigma)]


def step(loss, rows, learned):
    """One forward and backward; the gradients of what is learned."""
    forecast, observation, sigma = rows
    inputs = [sigma.detach().requires_grad_()]
    if learned == "forecast and sigma":
        inputs.append(forecast.detach().requires_grad_())
    value = loss(inputs[1] if len(inputs) > 1 else forecast, observation, inputs[0])
    return value, torch.autograd.grad(value, inputs)


def check():
    """All sides agree in double."""
    rows = draw(LOOP_ROWS, torch.float64, "cpu")
    value, gradients = step(plain, rows, "forecast and sigma")
    for name, other in [("errbar", AccuracyReliabilityLoss()), ("the loop", loop)]:
        for learned in ["sigma", "forecast and sigma"]:
            found, slopes = step(other, rows, learned)
            worst = abs(found - value) / abs(value)
            for slope, expected in zip(slopes, gradients):
                worst = max(worst, (slope - expected).abs().max() / expected.abs().max())
            if not worst <= 1e-10:
                sys.exit(f"torch_loss: {name} and plain autograd differ by {worst:.1e}")
            say(f"{name} agrees to {worst:.1e}, gradient of {learned}")


def seconds_of(loss, rows, learned, spend=1.0):
    """The median seconds of a step, and the most memory it took beyond its input (GPU only)."""
    on_gpu = rows[0].is_cuda
    wait = torch.cuda.synchronize if on_gpu else lambda: None
    times, began = [], time.perf_counter()
    step(loss, rows, learned)  # warms up
    wait()
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    while len(times) < 3 or (len(times) < 200 and time.perf_counter() - began < spend):
        start = time.perf_counter()
        step(loss, rows, learned)
        wait()
        times.append(time.perf_counter() - start)
    memory = torch.cuda.max_memory_allocated() - before if on_gpu else None
    return statistics.median(times), memory


def shown(value, digits=3):
    return f"{value:,.0f}" if value >= 100 else f"{value:.{digits}g}"


def table(device, kind, sizes):
    lines = [
        "| N | learned | errbar, ms | plain autograd, ms | ratio | loop, ms | ratio |"
        + (" errbar, bytes a row | plain autograd |" if device == "cuda" else ""),
        "|--:|---|--:|--:|--:|--:|--:|" + ("--:|--:|" if device == "cuda" else ""),
    ]
    per_row = seconds_of(loop, draw(LOOP_ROWS, kind, device), "sigma", 3.0)[0] / LOOP_ROWS
    for n in sizes:
        rows = draw(n, kind, device)
        for learned in ["sigma", "forecast and sigma"]:
            ours, memory = seconds_of(AccuracyReliabilityLoss(), rows, learned)
            theirs, their_memory = seconds_of(plain, rows, learned)
            cells = [f"{n:,}", learned, shown(ours * 1e3), shown(theirs * 1e3), f"{theirs / ours:.2g}"]
            cells += [shown(per_row * n * 1e3), shown(per_row * n / ours, 2)]
            if memory is not None:
                cells += [f"{memory / n:.0f}", f"{their_memory / n:.0f}"]
            lines.append(f"| {' | '.join(cells)} |")
            say(lines[-1])
    return lines


def main(arguments):
    torch.set_num_threads(1)
    check()
    sizes = SIZES[:2] if arguments.quick else SIZES
    processor = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    out = [
        f"{datetime.date.today()}, `python3 benches/torch_loss.py`, Python {platform.python_version()}, "
        f"PyTorch {torch.__version__}.",
        "One step (forward and backward) of the Accuracy-Reliability loss, median of 3 to 200 steps. The loop was "
        f"measured at {LOOP_ROWS} rows and multiplied.",
    ]
    places = [("cuda", torch.cuda.get_device_name())] if torch.cuda.is_available() else []
    places.append(("cpu", f"{processor[0] if processor else 'CPU'}, one thread"))
    for device, name in places:
        for kind in [torch.float32, torch.float64]:
            most = [n for n in sizes if device == "cuda" or n < 10_000_000]
            out += ["", f"{name}, {str(kind).partition('.')[2]}:", "", *table(device, kind, most)]
    text = "\n".join(out) + "\n"
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(parse_arguments())
