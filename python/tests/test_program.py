"""The program errbar, as the package carries it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import errbar
from errbar import SigmaRegressor


def run(program, *arguments, **options):
    return subprocess.run([*program, *arguments], capture_output=True, text=True, **options)


def test_both_ways_to_call_it(program):
    script = Path(sys.executable).with_name("errbar")
    for call in (program, [str(script)]):
        done = run(call, "--version")
        assert (done.returncode, done.stdout) == (0, f"errbar {errbar.__version__}\n")


def test_its_exit_status_is_passed_on(program, tmp_path):
    assert run(program).returncode == 2
    assert run(program, "fit", "--nonsense").returncode == 2
    done = run(program, "score", "missing.csv", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("errbar: ")
    assert "Traceback" not in done.stderr


def test_the_paper_is_elsewhere_and_said_to_be(program):
    for arguments in (["reproduce"], ["reproduce", "--runs", "4", "--only", "table"]):
        done = run(program, *arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert "cargo install" in done.stderr


def test_a_result_without_a_last_newline_is_written(program, tmp_path):
    """What stands in a buffer at the end must come out."""
    (tmp_path / "t.csv").write_text("y,mu,sigma\n" + "1.5,1,1\n" * 30)
    done = run(program, "score", "t.csv", "--json", "--quiet", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.strip().endswith("}")
    done = run(program, "report", "t.csv", "-o", "-", "--quiet", cwd=tmp_path)
    assert done.stdout.strip().endswith("</html>")


def test_a_closed_pipe_is_no_failure(program, tmp_path):
    rows = pd.DataFrame({"mu": np.arange(200_000.0)})
    rows.to_csv(tmp_path / "t.csv", index=False)
    SigmaRegressor("constant").fit(rows[:5], [1.0, -1.0, 2.0, 0.5, 1.0]).save(tmp_path / "m.json")
    call = " ".join(program) + " predict t.csv --model m.json -o - --quiet"
    script = f"set -o pipefail; {call} | head -n 1"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("mu,sigma")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_ctrl_c_ends_it_as_it_ends_the_program(program, tmp_path):
    fifo = tmp_path / "endless.csv"
    os.mkfifo(fifo)
    call = [*program, "fit", str(fifo), "-o", str(tmp_path / "model.json")]
    child = subprocess.Popen(call, stderr=subprocess.PIPE, text=True)
    with open(fifo, "w") as table:  # from here on it reads, and waits for more
        table.write("y,mu,x\n")
        table.flush()
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        _, told = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "stopped" in told and "Traceback" not in told
    assert not (tmp_path / "model.json").exists()


def test_names_that_are_no_text(program, tmp_path):
    """Linux has file names that are no UTF-8; they must reach the program as they are."""
    if sys.platform != "linux":
        pytest.skip("names are text on this system")
    name = b"t\xff.csv"
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))).write_text(
        "y,mu,sigma\n" + "1.5,1,1\n" * 30
    )
    done = subprocess.run([*program, "score", name, "--quiet"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
