"""Ctrl-C stops long work within a second."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")

FIT = """
import sys
import numpy as np
from errbar import SigmaRegressor

random = np.random.default_rng(0)
X = random.normal(size=(10_000, 40))

def told(share):
    print("begun", flush=True)

try:
    SigmaRegressor("{model}", progress=told, n_jobs=1).fit(X, random.normal(size=10_000))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    SigmaRegressor("constant").fit(X[:, :1], X[:, 0])  # and everything still works
    sys.exit(7)
"""

INTERVALS = """
import sys
import numpy as np
import errbar

error = np.random.default_rng(0).normal(size=10_000)
print("begun", flush=True)
try:
    errbar.scores(error, 0.0, 1.0, intervals=True, replicates=10_000_000)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(7)
"""


@pytest.mark.parametrize(
    "script",
    [FIT.format(model="network"), FIT.format(model="smooth"), INTERVALS],
    ids=["network", "smooth", "intervals"],
)
def test_it_stops_within_a_second(script):
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.7)
        assert child.poll() is None, "it ended before it could be interrupted"
        begun = time.monotonic()
        child.send_signal(signal.SIGINT)
        while (line := child.stdout.readline()) == "begun\n":
            pass
        taken = time.monotonic() - begun
        assert child.wait(timeout=30) == 7
    finally:
        child.kill()
    assert line == "interrupted\n"
    assert taken < 1.0
