"""Types are right, and the stub of the Rust part tells the truth."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import errbar
from errbar import _errbar


def test_mypy_has_no_complaint(root, tmp_path):
    call = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "errbar"]
    call += ["--cache-dir", str(tmp_path)]
    done = subprocess.run(call, cwd=root / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_pyright_has_no_complaint(root):
    call = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable]
    done = subprocess.run(call, cwd=root / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_stub_names_what_there_is(root):
    stub = ast.parse((root / "python/errbar/_errbar.pyi").read_text())
    functions = {one.name: one for one in stub.body if isinstance(one, ast.FunctionDef)}
    there = {
        name
        for name, value in vars(_errbar).items()
        if inspect.isbuiltin(value) and not name.startswith("_")
    }
    assert set(functions) == there
    for name, function in functions.items():
        told = [argument.arg for argument in function.args.args]
        assert told == list(inspect.signature(getattr(_errbar, name)).parameters)
    classes = {one.name: one for one in stub.body if isinstance(one, ast.ClassDef)}
    assert set(classes) == {name for name, value in vars(_errbar).items() if inspect.isclass(value)}
    for name, told_class in classes.items():
        functions = [one.name for one in told_class.body if isinstance(one, ast.FunctionDef)]
        there = {one for one in vars(getattr(_errbar, name)) if not one.startswith("_")}
        assert {one for one in functions if one != "__init__"} == there


def test_everything_public_is_documented():
    names = [*errbar.__all__, "ErrorBarRegressor", "SigmaRegressor"]
    for name in names:
        value = getattr(errbar, name)
        if callable(value):
            assert len(inspect.getdoc(value)) > 60, name
            if inspect.isfunction(value):
                assert ">>>" in inspect.getdoc(value), f"{name} has no example"
