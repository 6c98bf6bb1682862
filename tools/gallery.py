"""Runs docs/recipes.md in a folder of its own and keeps the pictures that it shows.

    python3 tools/gallery.py    # needs errbar, NumPy and pandas, with the program on the path
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Of each recipe with a picture the figure that is shown.
SHOWN = {"price": "hours", "river": "series", "rain": "event-1", "flights": "groups"}


def main():
    text = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    gallery = ROOT / "docs" / "gallery"
    gallery.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        for language, code in re.findall(r"```(python|sh)\n(.*?)```", text, re.DOTALL):
            if language == "sh":
                subprocess.run(["sh", "-ec", code], cwd=folder, check=True)
            else:
                here = f"import os; os.chdir({folder!r})\n"
                exec(compile(here + code, "docs/recipes.md", "exec"), names)
        for recipe, figure in SHOWN.items():
            found = pathlib.Path(folder) / f"figures-{recipe}" / f"{figure}.svg"
            if not found.exists():
                there = sorted(path.stem for path in found.parent.glob("*.svg"))
                sys.exit(f"the report of {recipe} has no figure {figure}; it has {', '.join(there)}")
            shutil.copy(found, gallery / f"{recipe}.svg")
            print(gallery / f"{recipe}.svg")


if __name__ == "__main__":
    main()
