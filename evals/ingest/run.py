"""Time of building and clustering a graph, compared with copying its text (bars B2, F1).

Fifty million weighted edges between five million named nodes, warm in the page cache, 1 GiB, two threads: the median
time of `build`, of `cluster` by label propagation and of `cluster` with its defaults, against the fastest way to copy
the same file and sync the copy: to a new file, over a file, and into the bytes of a file, whose pages and blocks exist
already. On a virtual machine new pages cost more than everything else.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

SIZES = {"full": (5_000_000, 50_000_000), "smoke": (20_000, 200_000)}
#: Ways to copy `$1` to `$2`, and whether a copy exists before.
COPIES = {
    "copy to a new file": ('cp --reflink=never -- "$1" "$2" && sync -- "$2"', False),
    "copy over a file": ('cp --reflink=never -- "$1" "$2" && sync -- "$2"', True),
    "copy into a file": ('dd if="$1" of="$2" bs=1M conv=notrunc,fsync status=none', True),
}


def main() -> int:
    options = results.arguments("ingest", "build and cluster against a copy of the text")
    full = options.scale == "full"
    nodes, edges = SIZES[options.scale]
    places.require_space(edges * 100)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "ingest")
    work = folder / "work"

    def prepare() -> None:
        places.fresh(folder)
        running.settle(graph.path)

    def prepare_copied() -> None:
        prepare()
        subprocess.run(["cp", "--", graph.path, folder / "copy"], check=True)
        running.settle(graph.path, folder / "copy")

    def copy(name: str) -> Command:
        script, exists = COPIES[name]
        argv = ["sh", "-c", script, "copy", str(graph.path), str(folder / "copy")]
        return Command(name, argv, [folder], prepare_copied if exists else prepare)

    def cluster(name: str, method: str) -> Command:
        argv = subject.cluster_argv(graph.path, folder / "communities", work, method=method)
        return Command(name, argv, [folder], prepare)

    result = results.Result("ingest", "F1", options.scale, graph.description)
    result.measure(
        [
            *(copy(name) for name in COPIES),
            Command("build", subject.build_argv(graph.path, folder / "graph", work), [folder], prepare),
            cluster("cluster by label propagation", "label-propagation"),
            cluster("cluster by default", "map-equation"),
        ],
        options.repeats,
    )
    places.fresh(folder)

    fastest = min(COPIES, key=lambda name: result.summary(name).median_seconds)
    seconds = result.summary(fastest).median_seconds
    bars = {"build": (3.5, 2.5), "cluster by label propagation": (6, 4.5), "cluster by default": (12, 8)}
    result.check_runs(*COPIES, *bars)
    for name, (bar, aim) in bars.items():
        ratio = result.summary(name).median_seconds / seconds
        result.check(f"{name}: time / {fastest}'s", ratio, bar, aim=aim, unit="x", judged=full)
    return result.finish(baseline=fastest)


if __name__ == "__main__":
    sys.exit(main())
