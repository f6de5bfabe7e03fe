"""Time per edge from ten million edges to half a billion (bar R9): the same structure, the same limit.

Planted communities, ten edges per node, names of 17 letters; the whole job, from text to communities. Sizes that the
disk has no room for are skipped with a message.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

SIZES = {"full": (10_000_000, 100_000_000, 500_000_000), "smoke": (1_000_000, 3_000_000)}
EDGES_PER_NODE = 10
MEMORY_MIB = {"full": 2048, "smoke": 128}
TOLERANCE_MIB = 32
MAX_RATIO = 1.3
# Text, runs (which are kept until the graph is complete), the graph, and communities.
DISK_BYTES_PER_EDGE = 36 + 26


def main() -> int:
    options = results.arguments("scaling", "time per edge as graphs grow", repeats=1)
    sizes, mib = SIZES[options.scale], MEMORY_MIB[options.scale]
    free = shutil.disk_usage(places.data_folder()).free
    made = [edges for edges in sizes if edges * DISK_BYTES_PER_EDGE < free]
    for edges in sizes:
        if edges not in made:
            print(f"  {edges} edges are skipped: the disk has no room for them", file=sys.stderr)
    folder = places.fresh(places.data_folder() / "scaling")

    def command(edges: int) -> Command:
        graph = inputs.planted(edges // EDGES_PER_NODE, edges)
        own = folder / str(edges)

        def prepare() -> None:
            places.fresh(own)
            running.settle(graph.path)

        argv = subject.cluster_argv(graph.path, own / "communities", own / "work", f"{mib}MiB")
        return Command(f"{edges} edges", argv, [own], prepare)

    described = {"edges per node": EDGES_PER_NODE, "memory MiB": mib, "skipped": [e for e in sizes if e not in made]}
    result = results.Result("scaling", "R9", options.scale, described)
    commands = [command(edges) for edges in made]
    result.measure(commands, options.repeats)
    places.fresh(folder)

    result.check_runs(*(command.name for command in commands))
    seconds = {edges: result.summary(f"{edges} edges").median_seconds / edges for edges in made}
    for edges in made:
        row = result.summary(f"{edges} edges")
        peak = row.peak_memory_bytes / places.MIB
        result.check(f"{edges} edges: peak memory", peak, mib + TOLERANCE_MIB, unit="MiB")
    for edges in made[1:]:
        ratio = seconds[edges] / seconds[made[0]]
        name = f"time per edge, {edges} / {made[0]} edges"
        result.check(name, ratio, MAX_RATIO, unit="x", judged=options.scale == "full")
    return result.finish(commands[0].name)


if __name__ == "__main__":
    sys.exit(main())
