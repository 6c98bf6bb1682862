#!/usr/bin/env python3
"""Packs a built program with what goes with it: licences and their texts, completions, manual pages.

    python3 tools/archive.py TARGET FOLDER [PROGRAM]

Writes FOLDER/errbar-VERSION-TARGET.tar.gz, or .zip for Windows, of the program at target/TARGET/release,
or of PROGRAM. The program has to run on this machine, since it prints its own licences and help. The same
program gives the same bytes.
"""

import gzip
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = ["README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE-MIT", "LICENSE-APACHE"]
# 1980-01-01, the first day that zip knows.
DAY = 315532800


def says(program, *words):
    return subprocess.run([program, *words], check=True, capture_output=True).stdout


def contents(program):
    """Names in the archive with their bytes, in order."""
    found = {name: (ROOT / name).read_bytes() for name in FILES}
    found["LICENSE-OFL"] = (ROOT / "crates/errbar-report/fonts/OFL.txt").read_bytes()
    found["LICENCES.txt"] = says(program, "licences", "--texts")
    for shell, name in [("bash", "errbar.bash"), ("zsh", "_errbar"), ("fish", "errbar.fish")]:
        found[f"completions/{name}"] = says(program, "completions", shell)
    with tempfile.TemporaryDirectory() as folder:
        says(program, "man", folder, "--quiet")
        found.update((f"man/{page.name}", page.read_bytes()) for page in sorted(Path(folder).iterdir()))
    found[program.name] = program.read_bytes()
    return found


def write_tar(path, top, found, program):
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, data in found.items():
                entry = tarfile.TarInfo(f"{top}/{name}")
                entry.size, entry.mtime = len(data), DAY
                entry.mode = 0o755 if name == program else 0o644
                archive.addfile(entry, io.BytesIO(data))


def write_zip(path, top, found):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in found.items():
            archive.writestr(zipfile.ZipInfo(f"{top}/{name}", (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    target, folder = sys.argv[1], Path(sys.argv[2])
    windows = "windows" in target
    built = ROOT / "target" / target / "release" / ("errbar.exe" if windows else "errbar")
    program = Path(sys.argv[3]).resolve() if len(sys.argv) == 4 else built
    version = says(program, "--version").decode().split()[1]
    top = f"errbar-{version}-{target}"
    path = folder / (top + (".zip" if windows else ".tar.gz"))
    folder.mkdir(parents=True, exist_ok=True)
    found = contents(program)
    if windows:
        write_zip(path, top, found)
    else:
        write_tar(path, top, found, program.name)
    print(f"{path}: {len(found)} files, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
