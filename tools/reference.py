"""The page of every command and option, made of what the program says with --help.

    python3 tools/reference.py PROGRAM > docs/reference.md
"""

import os
import re
import subprocess
import sys


def said(program, *arguments):
    """What the program prints."""
    as_wide = {**os.environ, "COLUMNS": "100"}
    return subprocess.run([*program, *arguments], capture_output=True, text=True, check=True, env=as_wide).stdout


def page(program):
    """The whole page."""
    first = said(program, "--help")
    listed = re.search(r"^Commands:\n(.*?)\n\n", first, re.DOTALL | re.MULTILINE)[1]
    commands = re.findall(r"^  (\w+)  ", listed, re.MULTILINE)
    # Only the whole program has it; a Python package says where to get it.
    commands = [command for command in commands if command not in ("help", "reproduce")]
    out = ["# Reference of the program", "", "What `errbar --help` and `errbar COMMAND --help` say.", ""]
    out += [f"[{command}](#errbar-{command})" + (" ·" if command != commands[-1] else "") for command in commands]
    for command in commands:
        out += ["", f"## errbar {command}", "", "```text", said(program, command, "--help").rstrip(), "```"]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    sys.stdout.write(page(sys.argv[1:]))
