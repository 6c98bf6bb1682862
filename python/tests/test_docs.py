"""The code in the documents runs, and prints what stands under it.

``ERRBAR_UPDATE_DOCS=1 pytest python/tests/test_docs.py`` puts there what it prints now.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

DOCUMENTS = [
    "README.md",
    "docs/coming-from.md",
    "docs/python.md",
    "docs/python-arrays.md",
    "docs/python-networks.md",
    "docs/recipes.md",
    "docs/scale.md",
    "docs/series.md",
    "docs/start.md",
    "python/README.md",
]

# A block of code, and the block of output that may follow it.
BLOCK = re.compile(r"```(python|sh)\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_code_runs_and_prints_what_it_says(document, tmp_path, monkeypatch):
    path = ROOT / document
    text = path.read_text()
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    names: dict[str, object] = {}
    out, done, ran = [], 0, 0
    for block in BLOCK.finditer(text):
        language, code, printed = block.groups()
        if missing(code) or (language == "sh" and document == "README.md"):
            continue
        got = run_shell(code) if language == "sh" else run_python(code, names, block, text, path)
        ran += language == "python"
        if printed is not None:
            out += [text[done : block.start(3)], got]
            done = block.end(3)
    assert "```python" in text
    if ran == 0:
        pytest.skip(f"{document}: all of its code needs packages that are not installed")
    updated = "".join(out) + text[done:]
    if os.environ.get("ERRBAR_UPDATE_DOCS"):
        path.write_text(updated)
    else:
        assert updated == text


def missing(code: str) -> bool:
    """Whether a block needs a package that is not here, and says so in its first line."""
    needs = re.match(r"# needs (\w+)", code)
    return needs is not None and importlib.util.find_spec(needs[1]) is None


def run_python(code: str, names: dict[str, object], block: re.Match, text: str, path: Path) -> str:
    # As many empty lines before it as in the document, so that a traceback names the right line.
    line = text.count("\n", 0, block.start(2))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * line + code, str(path), "exec"), names)
    return printed.getvalue()


def run_shell(code: str) -> str:
    if "pip install" in code:
        return ""
    done = subprocess.run(["bash", "-ec", code], check=True, capture_output=True, text=True)
    return done.stdout


def test_the_reference_is_what_the_program_says():
    """``ERRBAR_UPDATE_DOCS=1`` writes it anew."""
    import importlib.util as machinery

    spec = machinery.spec_from_file_location("reference", ROOT / "tools" / "reference.py")
    reference = machinery.module_from_spec(spec)
    spec.loader.exec_module(reference)
    made, path = reference.page([str(Path(sys.executable).parent / "errbar")]), ROOT / "docs" / "reference.md"
    if os.environ.get("ERRBAR_UPDATE_DOCS"):
        path.write_text(made)
    else:
        assert path.read_text() == made
