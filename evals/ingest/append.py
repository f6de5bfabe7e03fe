"""Time of adding 1 % of new edges to a graph, compared with building it from all edges (bar A1).

The new edges are the last ones of a planted partition in random order: nearly all of their nodes are in the graph. Both
commands write the same bytes if weights are whole numbers or ignored, so the graph here has no weights; with fractions,
sums of repeated edges could differ in their last digit.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command, Summary

SIZES = {"full": (800_000, 20_000_000), "smoke": (20_000, 200_000)}
#: One edge in so many is new.
SHARE = 100
MAX_RATIO = 0.15


def split(graph: Path, old: Path, new: Path, count: int) -> None:
    """Write the last `count` lines of a file to `new`, and those before to `old`."""
    with graph.open("rb") as lines, old.open("wb") as first, new.open("wb") as last:
        total = sum(1 for _ in lines)
        lines.seek(0)
        for number, line in enumerate(lines):
            (first if number < total - count else last).write(line)


def processor_seconds(row: Summary) -> float:
    return row.user_seconds + row.system_seconds


def main() -> int:
    options = results.arguments("ingest", "adding edges to a graph against building it from all", repeats=5)
    full = options.scale == "full"
    nodes, edges = SIZES[options.scale]
    places.require_space(edges * 150)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "append")
    old, new, before = folder / "old.tsv", folder / "new.tsv", folder / "before"
    split(graph.path, old, new, edges // SHARE)
    done = running.run_once(Command("before", subject.build_argv(old, before, folder / "work", weighted=False)))
    if not done.ok:
        places.cannot_run(f"outcore build failed:\n{done.error}")
    found: dict[str, list[dict[str, str]]] = {"build": [], "append": []}

    def command(name: str, argv: list[str]) -> Command:
        place = folder / name

        def prepare() -> None:
            if (place / "graph").exists():
                found[name].append(digests(place / "graph"))
            places.fresh(place)
            running.settle(old, new, *before.iterdir())

        return Command(name, argv, [place], prepare)

    def argv(name: str, source: Path) -> list[str]:
        place = folder / name
        return subject.build_argv(source, place / "graph", place / "work", weighted=False)

    result = results.Result("ingest", "A1", options.scale, {**graph.description, "new": edges // SHARE}, part="append")
    build = argv("build", old)
    build.insert(build.index(str(old)) + 1, str(new))
    result.measure(
        [command("build", build), command("append", [*argv("append", new), "--append", str(before)])],
        options.repeats,
    )
    for name, graphs in found.items():
        graphs.append(digests(folder / name / "graph"))
    places.fresh(folder)

    result.check_runs("build", "append")
    every = [graph for graphs in found.values() for graph in graphs]
    result.check("different graphs", sum(one != every[0] for one in every), 0)
    build_row, append_row = result.summary("build"), result.summary("append")
    ratio = append_row.median_seconds / build_row.median_seconds
    result.check("append: time / build's", ratio, MAX_RATIO, unit="x", judged=full)
    ratio = processor_seconds(append_row) / processor_seconds(build_row)
    result.check("append: processor time / build's", ratio, MAX_RATIO, unit="x", judged=full)
    return result.finish(baseline="build")


def digests(folder: Path) -> dict[str, str]:
    return {path.name: inputs.sha256(path) for path in sorted(folder.iterdir())}


if __name__ == "__main__":
    sys.exit(main())
