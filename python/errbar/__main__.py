"""The program ``errbar``: ``errbar --help``, or ``python -m errbar --help``."""

from __future__ import annotations

import signal
import sys

from . import _errbar


def main() -> int:
    """Runs the program on the arguments of this process; its exit status."""
    # The program listens for Ctrl-C itself, where it has something to tidy up.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _errbar.program(["errbar", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
