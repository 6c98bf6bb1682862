#!/usr/bin/env python3
"""Lists what is linked into errbar and under which licences, as `errbar licences` prints it.

    python3 tools/licences.py            makes crates/errbar-cli/src/licences/list.tsv and texts.json.gz
    python3 tools/licences.py --check    fails if they are not of the crates in Cargo.lock

Crates of every system are asked for, so it may have to download some. What only makes code at build time
(procedural macros, build scripts) is not linked, and not listed.
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "crates/errbar-cli/src/licences"
LIST, TEXTS = FOLDER / "list.tsv", FOLDER / "texts.json.gz"
HEAD = "# name, version, licence, where, texts by number: made by tools/licences.py\n"
# Names that files with licences, or with what licences ask to be passed on, begin with.
NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE", "AUTHORS")


def cargo(*words):
    done = subprocess.run(["cargo", *words, "--locked"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cargo {words[0]} failed:\n{done.stderr}")
    return done.stdout


def linked(package):
    """Name, version and licence of every crate that a package of ours links on any system."""
    lines = cargo("tree", "--package", package, "--edges", "normal,no-proc-macro", "--target", "all",
                  "--prefix", "none", "--no-dedupe", "--format", "{p}|{l}").splitlines()
    crates = set()
    for crate, licence in (line.split("|") for line in lines if line):
        name, version, *ours = crate.split()
        if not ours:
            # The way of writing "or" that SPDX has replaced.
            crates.add((name, version.removeprefix("v"), licence.replace("/", " OR ")))
    return crates


def rows():
    """Name, version, licence and where it is linked, in order."""
    program = linked("errbar-cli")
    python = linked("errbar-python")
    return sorted([*crate, "" if crate in program else "Python"] for crate in program | python)


def texts_of(folder):
    files = (path for path in sorted(folder.iterdir()) if path.name.upper().startswith(NAMES) and path.is_file())
    for path in files:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        yield "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


def listed():
    if not LIST.exists():
        return []
    lines = LIST.read_text(encoding="utf-8").splitlines()[1:]
    return [line.split("\t")[:4] for line in lines]


def main():
    found = rows()
    if "--check" in sys.argv:
        if listed() != found:
            was, now = ({tuple(row) for row in table} for table in (listed(), found))
            print("the licences are not those of Cargo.lock: python3 tools/licences.py makes them", file=sys.stderr)
            sys.exit("\n".join([*(f"- {' '.join(row)}" for row in sorted(was - now)),
                                *(f"+ {' '.join(row)}" for row in sorted(now - was))]))
        return
    packages = json.loads(cargo("metadata", "--format-version", "1"))["packages"]
    folders = {(one["name"], one["version"]): Path(one["manifest_path"]).parent for one in packages}
    # Texts that differ in nothing but blanks are one.
    texts, numbers, lines = [], {}, [HEAD]

    def number(text):
        key = " ".join(text.split())
        if key not in numbers:
            numbers[key] = len(texts)
            texts.append(text)
        return str(numbers[key])

    # First those of errbar itself and of its font, where the program looks for them.
    for path in ["LICENSE-MIT", "LICENSE-APACHE", "crates/errbar-report/fonts/OFL.txt"]:
        number((ROOT / path).read_text(encoding="utf-8"))
    for row in found:
        own = dict.fromkeys(number(text) for text in texts_of(folders[row[0], row[1]]))
        lines.append("\t".join([*row, ",".join(own)]) + "\n")
    FOLDER.mkdir(exist_ok=True)
    LIST.write_text("".join(lines), encoding="utf-8")
    TEXTS.write_bytes(gzip.compress(json.dumps(texts, ensure_ascii=False).encode(), mtime=0))
    size = sum(len(text.encode()) for text in texts)
    print(f"{len(found)} crates, {len(texts)} texts of {size} bytes, packed {TEXTS.stat().st_size}")


if __name__ == "__main__":
    main()
