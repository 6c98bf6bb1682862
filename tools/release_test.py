#!/usr/bin/env python3
"""Tests of tools/release.py, in a copy of this tree: python3 tools/release_test.py"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_NEEDED = (".git", ".venv", "target", "docs", "seeds", "corpus", "__pycache__")


class InACopy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name) / "tree"
        shutil.copytree(ROOT, self.tree, symlinks=True, ignore=shutil.ignore_patterns(*NOT_NEEDED))
        # A changelog of a project that has had a version, whatever that of the tree says.
        self.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n### Added\n- New.\n\n## [0.0.9] - 2026-01-01\n- Old.\n")
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words):
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false")
        done = subprocess.run(["git", *who, *words], cwd=self.tree, check=True, capture_output=True, text=True)
        return done.stdout

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "all")

    def read(self, name):
        return (self.tree / name).read_text(encoding="utf-8")

    def write(self, name, text):
        (self.tree / name).write_text(text, encoding="utf-8")

    def tool(self, *words):
        words = [sys.executable, "tools/release.py", *words]
        return subprocess.run(words, cwd=self.tree, capture_output=True, text=True)

    def refused(self, because, *words):
        before = self.git("status", "--porcelain")
        done = self.tool(*words)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(because, done.stderr)
        self.assertEqual(self.git("status", "--porcelain"), before)

    def test_a_version_is_everywhere(self):
        said = self.tool("9.8.7", "--date", "2031-02-03", "--check")
        self.assertIn("would edit Cargo.toml, Cargo.lock, CITATION.cff, CHANGELOG.md", said.stdout)
        self.assertEqual(self.git("status", "--porcelain"), "")
        done = self.tool("9.8.7", "--date", "2031-02-03")
        self.assertEqual(done.returncode, 0, done.stderr)
        # Cargo says which version each crate of ours is, and that the lock file agrees.
        words = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
        told = json.loads(subprocess.run(words, cwd=self.tree, check=True, capture_output=True).stdout)
        ours = {one["name"]: one["version"] for one in told["packages"] if one["source"] is None}
        self.assertEqual(set(ours.values()), {"9.8.7"}, ours)
        self.assertIn("errbar-table", ours)
        # What Cargo.lock has become is what Cargo would make of it: nobody else's line moved.
        lines = self.git("diff", "--unified=0", "Cargo.lock").splitlines()
        moved = {line for line in lines if re.match(r"[+-][^+-]", line)}
        self.assertEqual(len(moved), 2, moved)
        needs = re.findall(r'^errbar.*path = .*version = "([^"]+)"', self.read("Cargo.toml"), re.MULTILINE)
        self.assertEqual(set(needs), {"9.8.7"})
        self.assertIn("\nversion: 9.8.7\ndate-released: 2031-02-03\n", self.read("CITATION.cff"))
        self.assertIn("## [Unreleased]\n\n## [9.8.7] - 2031-02-03\n\n### Added\n- New.\n\n## [0.0.9]", self.read("CHANGELOG.md"))
        self.assertEqual(self.tool("--notes", "9.8.7").stdout, "### Added\n- New.\n")
        self.assertEqual(self.tool("--verify", "v9.8.7").returncode, 0)
        self.refused("not that of version 9.8.7", "--verify", "v9.8.6")
        # And the next one: there has to be something in it, and it has to be newer.
        self.commit()
        self.refused("nothing below [Unreleased]", "9.9.0")
        self.write("CHANGELOG.md", self.read("CHANGELOG.md").replace("[Unreleased]\n", "[Unreleased]\n- More.\n"))
        self.commit()
        self.refused("not newer than 9.8.7", "9.8.7")
        self.refused("not newer than 9.8.7", "9.8.7-rc.1")
        self.refused("not newer than 9.8.7", "9.8.6")
        self.assertEqual(self.tool("9.9.0-rc.1").returncode, 0)
        self.commit()
        self.assertEqual(self.read("CITATION.cff").count("date-released"), 1)
        self.assertEqual(self.tool("--verify", "v9.9.0-rc.1").returncode, 0)

    def test_what_is_refused(self):
        self.refused("older than", "0.0.10")
        for wrong in ["v9.0.0", "9.0", "9.0.0.0", "09.0.0", "9.0.0-beta"]:
            self.refused("is no version", wrong)
        for wrong in ["2031-02-30", "20310203", "3.2.2031", "2031-2-3"]:
            self.refused("is no date", "9.0.0", "--date", wrong)
        self.git("tag", "v9.0.0")
        self.refused("there is a tag v9.0.0", "9.0.0")
        self.write("CITATION.cff", self.read("CITATION.cff") + "# changed\n")
        self.refused("not committed", "9.1.0")


if __name__ == "__main__":
    unittest.main()
