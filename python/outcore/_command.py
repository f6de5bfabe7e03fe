"""The `outcore` command of the Python package."""

from __future__ import annotations

import os
import signal
import sys

from outcore import _outcore


def main() -> None:
    """Run the command with the arguments of the process."""
    # The command handles Ctrl-C itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The command starts this Python for jobs on Spark: it has the package.
    os.environ.setdefault("OUTCORE_PYTHON", sys.executable)
    sys.exit(_outcore.run(["outcore", *sys.argv[1:]]))
