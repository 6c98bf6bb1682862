"""The picture of docs/python-arrays.md, drawn by the code that stands above it.

    python3 tools/python_pictures.py

Needs errbar and matplotlib in the Python that runs it.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
PICTURE = "python-plots.png"


def main():
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "python-arrays.md").read_text(encoding="utf-8"), re.DOTALL)
    (code,) = [block for block in blocks if PICTURE in block]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec(compile(code, "python-arrays.md", "exec"), {})
        shutil.copyfile(PICTURE, DOCS / "guide" / PICTURE)
        os.chdir(DOCS)
    print(f"wrote docs/guide/{PICTURE}")


if __name__ == "__main__":
    main()
