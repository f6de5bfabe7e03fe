#!/usr/bin/env python3
"""Runs a part of `make test` and notes its time; `--report` prints the times of all parts and the ten slowest tests.

    tests/part.py NAME COMMAND...
    tests/part.py --report

A part has a budget of processor time, on two cores of an ordinary machine. With `OUTCORE_BUDGET=strict`, as in the
continuous integration, `--report` fails if a part took more than twice its budget: wall time depends on what else runs,
processor time hardly.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
PARTS = ROOT / "target" / "parts"
#: Results of single tests, as JUnit writes them.
RESULTS = [ROOT / "target/nextest/default/junit.xml", *(PARTS / f"{name}.xml" for name in ("python", "spark"))]
#: Seconds of processor time, of the part's own command and all processes that it waits for: not of the JVM of Spark.
BUDGETS = {
    "check": 300,
    "rust-build": 500,
    "rust": 1000,
    "python-build": 600,
    "r-build": 30,
    "python": 350,
    "spark": 60,
    "r": 40,
}
SLOWEST = 10


def run(name: str, command: list[str]) -> int:
    """Run a part and return its exit status."""
    begin = time.monotonic()
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if "n" in os.environ.get("MAKEFLAGS", "").split(" ")[0]:
        # `make --dry-run` calls make for parts, which only shows its commands.
        return status
    PARTS.mkdir(parents=True, exist_ok=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    times = {"wall": time.monotonic() - begin, "cpu": used.ru_utime + used.ru_stime}
    (PARTS / f"{name}.json").write_text(json.dumps(times))
    return status if status >= 0 else 128 - status


def slowest() -> list[tuple[float, str]]:
    """Return the tests that took longest, with their seconds."""
    tests = []
    for path in filter(Path.exists, RESULTS):
        for case in ElementTree.parse(path).iter("testcase"):
            tests.append((float(case.get("time", 0)), f"{case.get('classname')} {case.get('name')}"))
    return sorted(tests, reverse=True)[:SLOWEST]


def report() -> int:
    """Print the times; return 1 if a part took far too long where that counts."""
    print(f"{'part':14} {'wall s':>8} {'cpu s':>8} {'budget s':>8}")
    late = []
    for name, budget in BUDGETS.items():
        path = PARTS / f"{name}.json"
        if not path.exists():
            continue
        times = json.loads(path.read_text())
        path.unlink()
        print(f"{name:14} {times['wall']:8.0f} {times['cpu']:8.0f} {budget:8}")
        if times["cpu"] > 2 * budget:
            late.append(name)
    print("the slowest tests:")
    for seconds, name in slowest():
        print(f"  {seconds:6.1f} s  {name}")
    if late:
        print(f"more than twice the budget of processor time: {', '.join(late)} (tests/part.py)", file=sys.stderr)
    return int(bool(late) and os.environ.get("OUTCORE_BUDGET") == "strict")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments == ["--report"]:
        sys.exit(report())
    if len(arguments) < 2 or arguments[0] not in BUDGETS:
        sys.exit(f"usage: {sys.argv[0]} NAME COMMAND..., NAME one of {', '.join(BUDGETS)}; or --report")
    sys.exit(run(arguments[0], arguments[1:]))
