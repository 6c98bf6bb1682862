"""Models predict in forked and in new processes, and in threads: nothing waits for threads that are not
there. Each way runs in a process of its own, so that waiting forever is a failure here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from errbar import SigmaRegressor

KINDS = ["auto", "constant", "polynomial", "smooth", "network", "ensemble", "trees", "stack"]

# Each takes some seconds on an idle machine.
LIMIT = 240


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model of every kind, one with a bias, and two with a guarantee, as files."""
    random = np.random.default_rng(3)
    X = random.uniform(-1, 1, (120, 2))
    error = random.normal(scale=np.exp(X[:, 0]))
    folder = tmp_path_factory.mktemp("models")
    options = [{"model": kind} for kind in KINDS]
    options += [{"model": "trees", "debias": True}]
    options += [{"model": "trees", "guarantee": how} for how in ("split", "cross")]
    paths = [str(folder / f"{place}.json") for place in range(len(options))]
    for path, one in zip(paths, options):
        SigmaRegressor(**one).fit(X, error).save(path)
    return paths


@pytest.mark.parametrize("how", ["fork", "spawn", "loky", "threads"])
def test_every_kind_of_model(how, models):
    if how == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    program = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("processes.py"))]
    # More than one thread on any machine: with one, nothing could hang.
    process = subprocess.Popen(
        [*program, how, *models],
        env={**os.environ, "RAYON_NUM_THREADS": "2"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with the processes it started
        said, _ = process.communicate()
        pytest.fail(f"hangs after {LIMIT} s in:\n{said}")
    assert process.returncode == 0, said
