"""Whether onnxruntime, running what `errbar export` writes, says what errbar says.

    python onnx_check.py ERRBAR CASES

ERRBAR is the program; CASES is the folder that the example onnx_cases wrote. Each file must pass ONNX's
own checker, give errbar's sigma to 1e-12 of it, and the same rows as outside the training range.
"""

import argparse
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

# Sums in another order and another tanh change the last digits. An exponent of up to 700, with weights of
# that size behind it, magnifies them a thousandfold: 1e-12 is some 5,000 units in the last place.
TOLERANCE = 1e-12


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("errbar", type=Path)
    parser.add_argument("cases", type=Path)
    arguments = parser.parse_args()
    folders = sorted(path.parent for path in arguments.cases.glob("*/expected.json"))
    assert len(folders) > 20, f"only {len(folders)} cases in {arguments.cases}"
    print(f"{'case':32} {'nodes':>5} {'bytes':>8} {'sigma differs by':>16}")
    for folder in folders:
        nodes, size, difference = check(arguments.errbar, folder)
        print(f"{folder.name:32} {nodes:5} {size:8} {difference:16.1e}")
    check_help(arguments.errbar, arguments.cases / "polynomial-still-column")


def check(errbar, folder):
    """Checks one case; the number of nodes, the size of the file, the largest relative difference."""
    path = folder / "model.onnx"
    subprocess.run([errbar, "export", "--quiet", folder / "model.json", "--output", path], check=True)
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    names = expected["names"]
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    meta = session.get_modelmeta()
    assert meta.producer_name == "errbar"
    assert json.loads(meta.custom_metadata_map["inputs"]) == names
    described = [(v.name, v.type, v.shape) for v in session.get_inputs() + session.get_outputs()]
    moved = [name for name in ("bias", "debiased") if expected.get(name) is not None]
    shape = json.loads((folder / "model.json").read_text(encoding="utf-8"))["fitted"].get("shape")
    law = ["law_location", "law_left", "law_right"] if shape else []
    if shape:
        assert json.loads(meta.custom_metadata_map["law"]) == shape["law"]
    categories = expected.get("categories", [])
    assert json.loads(meta.custom_metadata_map.get("categories", "[]")) == categories
    assert described == [
        *([("inputs", "tensor(double)", ["rows", len(names)])] if names else []),
        *([("categories", "tensor(string)", ["rows", len(categories)])] if categories else []),
        ("sigma", "tensor(double)", ["rows"]),
        *((name, "tensor(double)", ["rows"]) for name in law),
        ("outside", "tensor(bool)", ["rows"]),
        *((name, "tensor(double)", ["rows"]) for name in moved),
    ], described

    inputs = np.array(expected["inputs"], dtype=float).reshape(1000, len(names))
    texts = np.array(expected.get("texts", []), dtype=object)

    def given(rows):
        """What a session takes for some rows of numbers, with the texts of as many."""
        both = {"inputs": rows} if names else {}
        return both | ({"categories": texts[: len(rows)]} if categories else {})

    sigma, outside = np.array(expected["sigma"]), np.array(expected["outside"])
    assert len(inputs) == 1000 and 0 < outside.sum() < 1000
    assert np.isnan(inputs).any() == expected["missing"]
    difference = 0.0
    # All rows, one row, none.
    for rows in (1000, 1, 0):
        got_sigma, got_outside = session.run(["sigma", "outside"], given(inputs[:rows]))
        assert got_sigma.shape == (rows,) and got_outside.shape == (rows,), folder
        assert (got_outside == outside[:rows]).all(), f"{folder}: other rows are outside"
        differences = np.abs(got_sigma / sigma[:rows] - 1)
        assert (differences <= TOLERANCE).all(), f"{folder}: sigma differs by {differences.max():.1e}"
        difference = max(difference, differences.max(initial=0.0))
        for name in law:
            got = session.run([name], given(inputs[:rows]))[0]
            # Each row has its own where the skew turns.
            in_sigmas = (expected.get("law") or shape["law"])[name.removeprefix("law_")]
            wanted = sigma[:rows] * (np.array(in_sigmas)[:rows] if expected.get("law") else in_sigmas)
            assert np.allclose(got, wanted, rtol=TOLERANCE, atol=0.0), f"{folder}: {name} differs"
        for name in moved:
            got = session.run([name], given(inputs[:rows]))[0]
            wanted = np.array(expected[name], dtype=float)[:rows]
            # A sum of steps of either sign is as exact as the largest of them.
            least = TOLERANCE * np.abs(expected["bias"]).max()
            near = np.isclose(got, wanted, rtol=TOLERANCE, atol=least, equal_nan=True)
            assert near.all(), f"{folder}: {name} differs"

    # What errbar refuses spoils its own row, and no other.
    for gap in (np.inf, -np.inf):
        for column in range(len(names)):
            spoilt = inputs[:3].copy()
            spoilt[1, column] = gap
            got_sigma, got_outside = session.run(["sigma", "outside"], given(spoilt))
            assert list(np.isnan(got_sigma)) == [False, True, False], (folder, gap, got_sigma)
            assert got_outside[1], (folder, gap)
            for name in moved:
                assert np.isnan(session.run([name], given(spoilt))[0][1]), (folder, name, gap)
    return len(model.graph.node), path.stat().st_size, difference


def check_help(errbar, folder):
    """The Python in `errbar export --help` runs beside a model of two inputs."""
    text = subprocess.run(
        [errbar, "export", "--help"], check=True, capture_output=True, encoding="utf-8"
    ).stdout
    example = text.split("Then, in Python")[1].split("\n", 1)[1].split("\n\n")[0]
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(example) + "\nprint(len(sigma), len(outside))"],
        cwd=folder, check=True, capture_output=True, encoding="utf-8",
    )
    assert found.stdout.split() == ["2", "2"], found.stdout


if __name__ == "__main__":
    main()
