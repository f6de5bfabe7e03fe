"""The cost of names beyond memory: the same graph, built in much memory and in little (the first part of bar R1).

Most names of the edges occur once. With little memory names are spilled to disk and numbered in shares. The graph must
be the same byte for byte, in at most 1.5 times the time, and with memory within the limit.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

SIZES = {"full": (21_000_000, 10_000_000), "smoke": (3_000_000, 2_000_000)}
LIMITS = {"8GiB": 8192, "128MiB": 128}
TOLERANCE_MIB = 32
MAX_RATIO = 1.5


def digests(folder: Path) -> dict[str, str]:
    return {path.name: inputs.sha256(path) for path in sorted(folder.iterdir())}


def main() -> int:
    options = results.arguments("names", "names beyond memory: time, memory, same bytes", repeats=3)
    nodes, edges = SIZES[options.scale]
    places.require_space(edges * 200)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "names")
    found: dict[str, list[dict[str, str]]] = {limit: [] for limit in LIMITS}

    def command(limit: str) -> Command:
        built = folder / limit / "graph"

        def prepare() -> None:
            if built.exists():
                found[limit].append(digests(built))
            places.fresh(folder / limit)
            running.settle(graph.path)

        argv = subject.build_argv(graph.path, built, folder / limit / "work", limit)
        return Command(f"build {limit}", argv, [folder / limit], prepare)

    result = results.Result("names", "R1", options.scale, graph.description)
    result.measure([command(limit) for limit in LIMITS], options.repeats)
    for limit in LIMITS:
        found[limit].append(digests(folder / limit / "graph"))
    places.fresh(folder)

    much, little = (f"build {limit}" for limit in LIMITS)
    result.check_runs(much, little)
    every = [digest for runs in found.values() for digest in runs]
    result.check("different graphs", sum(digest != every[0] for digest in every), 0)
    for limit, mib in LIMITS.items():
        row = result.summary(f"build {limit}")
        result.check(f"{limit}: peak memory", row.peak_memory_bytes / places.MIB, mib + TOLERANCE_MIB, unit="MiB")
    ratio = result.summary(little).median_seconds / result.summary(much).median_seconds
    result.check("time in little memory / in much", ratio, MAX_RATIO, unit="x", judged=options.scale == "full")
    return result.finish(much)


if __name__ == "__main__":
    sys.exit(main())
