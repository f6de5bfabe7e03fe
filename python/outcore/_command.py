"""The `outcore` command of the Python package."""

from __future__ import annotations

import os
import signal
import sys

from outcore import _outcore


def main() -> None:
    """Run the command with the arguments of the process."""
    # The command has its own answer to Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Where it starts Python for Spark, the package is in this one.
    os.environ.setdefault("OUTCORE_PYTHON", sys.executable)
    sys.exit(_outcore.run(["outcore", *sys.argv[1:]]))
