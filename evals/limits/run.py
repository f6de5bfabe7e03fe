"""Whether jobs respect the memory limit, and how much disk they take (bar B5).

The graph of evals/ingest with three memory limits: the peak resident set of `build` and of `cluster` from the text is
at most the limit plus 32 MiB; the peak on disk, of work directory and graph together, at most 16 bytes per undirected
edge plus the bytes of the names.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

SIZES = {"full": (5_000_000, 50_000_000), "smoke": (20_000, 200_000)}
LIMITS = {"256MiB": 256, "1GiB": 1024, "4GiB": 4096}
TOLERANCE_MIB = 32
EDGE_BYTES = 16


def names_bytes(truth: Path) -> int:
    """Return the bytes of the names of nodes, without separators."""
    with truth.open("rb") as file:
        return sum(line.index(b"\t") for line in file)


def main() -> int:
    options = results.arguments("limits", "peak memory and disk under three memory limits", repeats=1)
    nodes, edges = SIZES[options.scale]
    places.require_space(edges * 80)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "limits")
    # The communities are outside the watched folder: they are the result, not a cost of finding it.
    watched, communities = folder / "watched", folder / "communities"

    def prepare() -> None:
        places.fresh(watched)
        running.settle(graph.path)

    commands = {}
    for limit, mib in LIMITS.items():
        build = subject.build_argv(graph.path, watched / "graph", watched / "work", limit)
        cluster = subject.cluster_argv(graph.path, communities, watched / "work", limit)
        commands[f"build {limit}"] = (Command(f"build {limit}", build, [watched], prepare), mib)
        commands[f"cluster {limit}"] = (Command(f"cluster {limit}", cluster, [watched], prepare), mib)

    names = names_bytes(graph.truth)
    result = results.Result("limits", "B5", options.scale, graph.description | {"names_bytes": names})
    result.measure([command for command, _ in commands.values()], options.repeats)
    places.fresh(folder)

    result.check_runs(*commands)
    for name, (_, mib) in commands.items():
        row = result.summary(name)
        result.check(f"{name}: peak memory", row.peak_memory_bytes / places.MIB, mib + TOLERANCE_MIB, unit="MiB")
        # At smoke scale fixed costs (the first block of each file) exceed those of the edges.
        result.check(
            f"{name}: peak disk without names",
            (row.peak_disk_bytes - names) / edges,
            EDGE_BYTES,
            unit="bytes per edge",
            judged=options.scale == "full",
        )
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
