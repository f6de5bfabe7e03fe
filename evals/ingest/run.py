"""Time of building and clustering a graph, compared with copying its text (F1), and two threads with one (F2).

Fifty million weighted edges between five million named nodes, warm in the page cache, 1 GiB: the median time of `build`,
of `cluster` by label propagation and of `cluster` with its defaults, on two threads and on one, against copying the same
file with `cp` over a file and syncing the copy. A copy to a new file, and one into the bytes of a file, whose pages and
blocks exist already, are shown beside it: on a virtual machine new pages cost more than everything else.
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
#: The copy that others are compared with.
COPY = "copy over a file"
#: Largest ratio to its time, and the one aimed at.
BARS = {"build": (3, 2.5), "cluster by label propagation": (6.5, 5), "cluster by default": (15, 10)}
ON_ONE = " on one thread"


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

    def build(name: str, threads: int) -> Command:
        argv = subject.build_argv(graph.path, folder / "graph", work, threads=threads)
        return Command(name, argv, [folder], prepare)

    def cluster(name: str, method: str, threads: int) -> Command:
        argv = subject.cluster_argv(graph.path, folder / "communities", work, method=method, threads=threads)
        return Command(name, argv, [folder], prepare)

    def on(threads: int) -> list[Command]:
        where = "" if threads == 2 else ON_ONE
        return [
            build(f"build{where}", threads),
            cluster(f"cluster by label propagation{where}", "label-propagation", threads),
            cluster(f"cluster by default{where}", "map-equation", threads),
        ]

    result = results.Result("ingest", "F1", options.scale, graph.description)
    result.measure([*(copy(name) for name in COPIES), *on(2), *on(1)], options.repeats)
    places.fresh(folder)

    copied = result.summary(COPY).median_seconds
    result.check_runs(*COPIES, *BARS, *(f"{name}{ON_ONE}" for name in BARS))
    for name, (bar, aim) in BARS.items():
        summary, one = result.summary(name), result.summary(f"{name}{ON_ONE}")
        ratio = summary.median_seconds / copied
        result.check(f"{name}: time / {COPY}'s", ratio, bar, aim=aim, unit="x", judged=full)
        gain = one.median_seconds / summary.median_seconds
        result.check(f"{name}: one thread's time / two threads'", gain, 1.7, ">=", unit="x", judged=full)
    return result.finish(baseline=COPY)


if __name__ == "__main__":
    sys.exit(main())
