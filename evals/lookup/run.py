"""Time and memory of looking up single nodes in a result from Python, after one index is built.

Needs the Python package. Names are looked up in random order; half of them do not exist.
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
LOOKUPS = 200_000
MAX_MICROSECONDS = 20
MAX_MIB = 128


def written(path: Path, nodes: int) -> Path:
    """Write communities of generated names, in shuffled order."""
    with path.open("w") as file:
        for first in range(0, nodes, 100_000):
            rows = range(first, min(nodes, first + 100_000))
            file.write("".join(f"node-{row * 7919 % nodes}\t{row // 50}\n" for row in rows))
    return path


def resident_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    options = results.arguments("lookup", "lookup of the communities of single nodes from Python", repeats=3)
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
        numbers = [chance.randrange(nodes) for _ in range(LOOKUPS)]
        names = [f"node-{number}" if at % 2 else f"none-{number}" for at, number in enumerate(numbers)]
        began = time.perf_counter()
        exists = [name in communities for name in names]
        seconds.append((time.perf_counter() - began) / LOOKUPS)
        wrong += (not found) + sum(is_found != at % 2 for at, is_found in enumerate(exists))
    left = len(os.listdir(folder)) - 1
    result.notes.append(f"the index is built in {sorted(builds)[len(builds) // 2]:.2f} s")
    judged = options.scale == "full"
    result.check("wrong answers", wrong, 0)
    result.check("files left next to the result", left, 0)
    result.check("one lookup", sorted(seconds)[len(seconds) // 2] * 1e6, MAX_MICROSECONDS, unit="us", judged=judged)
    result.check("additional memory of Python", resident_mib() - before, MAX_MIB, unit="MiB")
    places.fresh(folder)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
