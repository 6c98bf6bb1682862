"""Pictures of docs/guide.md, made by the commands that the guide shows.

    cargo build --release && python3 tools/guide_pictures.py

Wants temperature_train.csv and temperature_test.csv in ERRBAR_DATA or ../shared/data, and Chromium
for the picture of the page (which stays as it was without).
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "crates" / "errbar-cli" / "tests" / "browser"))

import chromium  # noqa: E402

FIGURES = ["forecast", "hours", "reliability", "input-1", "order", "worst"]


def main():
    data = pathlib.Path(os.environ.get("ERRBAR_DATA", ROOT.parent / "shared" / "data"))
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = (target / "release" / "errbar").resolve()
    out = ROOT / "docs" / "guide"
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for part in ("train", "test"):
            shutil.copy(data / f"temperature_{part}.csv", folder / f"{part}.csv")
        for line in [
            "fit train.csv --inputs season_sin,season_cos,hour,forecast --time time -o model.json",
            "report test.csv --model model.json --time time --figures figures -o report.html",
        ]:
            subprocess.run([program, *line.split(), "--quiet"], cwd=folder, check=True)
        for name in FIGURES:
            shutil.copy(folder / "figures" / f"{name}.svg", out / f"{name}.svg")
        if not chromium.path():
            print("no Chromium: docs/guide/report.png stays as it was")
            return
        with chromium.Chromium(chromium.path()) as browser:
            page = browser.page(1060, 1180)
            page.open((folder / "report.html").as_uri())
            page.screenshot(out / "report.png", whole=False)


if __name__ == "__main__":
    main()
