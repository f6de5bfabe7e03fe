"""What it takes to look up single nodes in a result from Python: time of a look-up and memory, after one index is built.

Needs the Python package; what is looked up is asked for in random order, half of it names that are not there.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results

SIZES = {"full": 10_000_000, "smoke": 200_000}
LOOK_UPS = 200_000
MOST_MICROSECONDS = 20
MOST_MIB = 128


def written(path: Path, nodes: int) -> Path:
    """Writes communities of made names, in no order."""
    with path.open("w") as file:
        for first in range(0, nodes, 100_000):
            rows = range(first, min(nodes, first + 100_000))
            file.write("".join(f"node-{row * 7919 % nodes}\t{row // 50}\n" for row in rows))
    return path


def resident_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    options = results.arguments("lookup", "communities of single nodes, from Python", repeats=3)
    try:
        import outcore
    except ImportError:
        places.cannot_run("the Python package is missing: `make python`")
    nodes = SIZES[options.scale]
    places.require_space(nodes * 100)
    folder = places.fresh(places.data_folder() / "lookup")
    path = written(folder / "communities.tsv", nodes)
    result = results.Result("lookup", "", options.scale, {"nodes": nodes, "bytes": path.stat().st_size})
    before = resident_mib()
    chance = random.Random(1)
    seconds, builds, wrong = [], [], 0
    for _ in range(options.repeats):
        communities = outcore.Communities(path, outcore.Report({}))
        began = time.perf_counter()
        found = "node-1" in communities
        builds.append(time.perf_counter() - began)
        numbers = [chance.randrange(nodes) for _ in range(LOOK_UPS)]
        names = [f"node-{number}" if at % 2 else f"none-{number}" for at, number in enumerate(numbers)]
        began = time.perf_counter()
        there = [name in communities for name in names]
        seconds.append((time.perf_counter() - began) / LOOK_UPS)
        wrong += (not found) + sum(is_there != at % 2 for at, is_there in enumerate(there))
    left = len(os.listdir(folder)) - 1
    result.notes.append(f"the index is built in {sorted(builds)[len(builds) // 2]:.2f} s")
    judged = options.scale == "full"
    result.check("wrong answers", wrong, 0)
    result.check("files left beside the result", left, 0)
    result.check("a look-up", sorted(seconds)[len(seconds) // 2] * 1e6, MOST_MICROSECONDS, unit="us", judged=judged)
    result.check("memory on top of Python's", resident_mib() - before, MOST_MIB, unit="MiB")
    places.fresh(folder)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
