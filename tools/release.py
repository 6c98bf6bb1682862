#!/usr/bin/env python3
"""Makes a version of errbar: its number in every file that has it, and its section in the changelog.

    python3 tools/release.py 0.2.0             edits the files; look at them, then commit and tag
    python3 tools/release.py 0.2.0 --check     only says what it would do
    python3 tools/release.py 0.2.0 --date 2027-01-31
    python3 tools/release.py --verify v0.2.0   fails unless the tree is this version, as its tag says
    python3 tools/release.py --notes 0.2.0     prints the section of the changelog

RELEASING.md says what comes before and after. Needs Cargo, but nothing from the network.
"""

import argparse
import datetime
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANIFEST, LOCK, CITATION, CHANGES = "Cargo.toml", "Cargo.lock", "CITATION.cff", "CHANGELOG.md"
# A pre-release is a candidate, which crates.io and PyPI order alike: 0.2.0-rc.1.
NUMBER = r"(?:0|[1-9]\d*)"
VERSION = rf"{NUMBER}\.{NUMBER}\.{NUMBER}(?:-rc\.{NUMBER})?"


class Refused(Exception):
    """One sentence that says what is wrong and what to do."""


def order(version):
    """What versions are compared by; a candidate comes before its version."""
    if not re.fullmatch(VERSION, version):
        raise Refused(f"{version!r} is no version: write it as 0.2.0, or 0.2.0-rc.1 for a candidate")
    numbers, _, candidate = version.partition("-rc.")
    return (*map(int, numbers.split(".")), int(candidate) if candidate else float("inf"))


def once(pattern, replacement, text, where):
    """The text with the one place changed that the pattern finds."""
    text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
    if count != 1:
        raise Refused(f"{where} has {count} places that look like {pattern!r}, and there should be one")
    return text


def current(manifest):
    found = re.search(r'^\[workspace\.package\]\nversion = "([^"]+)"$', manifest, re.MULTILINE)
    if not found:
        raise Refused(f"{MANIFEST} has no version below [workspace.package]")
    return found[1]


def with_manifest(text, old, new):
    text = once(r'^(\[workspace\.package\]\nversion = )"[^"]+"$', rf'\g<1>"{new}"', text, MANIFEST)
    ours = rf'^(errbar[\w-]* = \{{ path = "[^"]+", version = )"{re.escape(old)}"'
    text, count = re.subn(ours, rf'\g<1>"{new}"', text, flags=re.MULTILINE)
    paths = len(re.findall(r'^errbar[\w-]* = \{ path = "', text, re.MULTILINE))
    if count != paths:
        raise Refused(f"{MANIFEST} has {paths} crates of ours among its dependencies, {count} of them of version {old}")
    return text


def with_lock(text, old, new):
    # Crates of ours have no source.
    ours = rf'^(name = "errbar[\w-]*"\nversion = )"{re.escape(old)}"\n(?!source)'
    return re.sub(ours, rf'\g<1>"{new}"\n', text, flags=re.MULTILINE)


def with_citation(text, new, date):
    text = re.sub(r"^date-released: .*\n", "", text, flags=re.MULTILINE)
    return once(r"^version: .*$", f"version: {new}\ndate-released: {date}", text, CITATION)


def section(text, name):
    """What the changelog says below a heading, without blank lines around it."""
    found = re.search(rf"^## \[{re.escape(name)}\].*\n((?:(?!## \[).*\n?)*)", text, re.MULTILINE)
    if not found:
        raise Refused(f"{CHANGES} has no section [{name}]")
    return found[1].strip("\n")


def with_changes(text, new, date):
    said = section(text, "Unreleased")
    if not any(line.strip() and not line.startswith("#") for line in said.splitlines()):
        raise Refused(f"{CHANGES} says nothing below [Unreleased]: a version has something new in it")
    return once(r"^## \[Unreleased\]$", f"## [Unreleased]\n\n## [{new}] - {date}", text, CHANGES)


def check_number(new, manifest, changes):
    """A version is newer than those released, and not older than the one in the tree."""
    old = current(manifest)
    for released in re.findall(rf"^## \[({VERSION})\]", changes, re.MULTILINE):
        if order(new) <= order(released):
            raise Refused(f"{new} is not newer than {released}, which {CHANGES} says is released")
    if order(new) < order(old):
        raise Refused(f"{new} is older than {old}, which the tree is")
    return old


def check_date(date):
    try:
        if datetime.date.fromisoformat(date).isoformat() == date:
            return date
    except ValueError:
        pass
    raise Refused(f"{date!r} is no date: write it as 2027-01-31")


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"git {words[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def check_lock():
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"Cargo does not take {LOCK} as it is now; git checkout takes the changes back:\n{done.stderr}")


def release(new, date, only_say):
    order(new)
    check_date(date)
    was = {name: (ROOT / name).read_text(encoding="utf-8") for name in (MANIFEST, LOCK, CITATION, CHANGES)}
    old = check_number(new, was[MANIFEST], was[CHANGES])
    now = {
        MANIFEST: with_manifest(was[MANIFEST], old, new),
        LOCK: with_lock(was[LOCK], old, new),
        CITATION: with_citation(was[CITATION], new, date),
        CHANGES: with_changes(was[CHANGES], new, date),
    }
    if git("status", "--porcelain"):
        raise Refused("the tree has changes that are not committed: commit or take them back first (git status)")
    if git("tag", "--list", f"v{new}"):
        raise Refused(f"there is a tag v{new} already")
    changed = [name for name in now if now[name] != was[name]]
    print(f"{old} becomes {new} of {date}: {'would edit' if only_say else 'edited'} {', '.join(changed)}")
    if only_say:
        return
    for name in changed:
        (ROOT / name).write_text(now[name], encoding="utf-8")
    check_lock()
    print(f"Look (git diff), then: git commit -am 'Version {new}' && git tag -s v{new} -m 'errbar {new}'")


def verify(tag):
    """The tree is what the tag says, and the changelog knows of it."""
    found = current((ROOT / MANIFEST).read_text(encoding="utf-8"))
    if tag != f"v{found}":
        raise Refused(f"the tag {tag} is not that of version {found}, which the tree is")
    section((ROOT / CHANGES).read_text(encoding="utf-8"), found)
    print(f"the tree is version {found}")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("version", nargs="?")
    words.add_argument("--date", default=datetime.date.today().isoformat())
    words.add_argument("--check", action="store_true", help="only say what would be done")
    words.add_argument("--verify", metavar="TAG")
    words.add_argument("--notes", metavar="VERSION")
    asked = words.parse_args()
    if sum(word is not None for word in (asked.version, asked.verify, asked.notes)) != 1:
        words.error("one of VERSION, --verify TAG and --notes VERSION")
    try:
        if asked.verify is not None:
            verify(asked.verify)
        elif asked.notes is not None:
            print(section((ROOT / CHANGES).read_text(encoding="utf-8"), asked.notes))
        else:
            release(asked.version, asked.date, asked.check)
    except Refused as refused:
        sys.exit(f"release: {refused}")


if __name__ == "__main__":
    main()
