"""Every method on hostile shapes: right answers, bounded memory, a warning where one is due (bar Q8).

    python3 evals/shapes/methods.py [--scale smoke|full] [--method all|NAME,..] [--only SHAPE,..] [--stars LEAVES,..]

Stars, paths, cycles, grids, trees, complete, bipartite and random graphs, rings of cliques, pairs, nodes with loops
alone, dropped or kept. If the right number of communities is known, it must be found. No community may be disconnected.
Every run ends: a method may need 21 scans, label propagation 15 sweeps, components 3 scans; label propagation also runs
once until no node changes. The warning that one community holds more than half of the nodes must appear exactly when
that is so.

Stars have 1,000,000 and 10,000,000 leaves, or those of `--stars`. Memory and time per leaf are printed for each; the
time per leaf in the largest may be 1.5 times that in the smallest.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import edges as made
from edges import Edges, write_edges
from harness import inputs, places, results, running, subject
from harness.results import Result
from harness.running import Command

MEMORY_SLACK_BYTES = 32 * places.MIB
SWEEPS_BAR, SCANS_BAR, PATH_SWEEPS_BAR = 15, 21, 6
COMPONENTS_SCANS_BAR = 3
GROWTH_BAR = 1.5
# A longer run counts as hanging.
LIMIT_SECONDS = 1800.0
# With fewer leaves, starting the process takes longer than the job.
TIMED_LEAVES = 1_000_000
# With more nodes, the number of communities is taken from the report.
ANSWERS_READ = 2_000_000

Count = tuple[int, int]


@dataclass(frozen=True)
class Shape:
    """Graph, with the minimum and maximum number of communities to expect by method."""

    name: str
    nodes: int
    edges: Callable[[], Edges]
    answers: dict[str, Count] = field(default_factory=dict)
    memory: str = "160MiB"
    keeps_loops: bool = False
    # Bar of modularity, since several partitions are good.
    modularity: float = 0.0


def same(count: int, *methods: str) -> dict[str, Count]:
    return {method: (count, count) for method in methods}


FLAT = ("label-propagation", "map-equation", "modularity", "components")
ALL = (*FLAT, "cpm")


def star_answers(leaves: int) -> dict[str, Count]:
    """Return the answers for a star: a leaf joins the hub's community of s nodes while 1 > resolution x s."""
    alone = leaves + 1 - round(1 / subject.CPM_RESOLUTION)
    return same(1, *FLAT) | {"cpm": (alone - 1, alone + 1)}


def ring(cliques: int, size: int) -> Shape:
    """Return a ring of cliques. Modularity joins cliques: its optimum for 30 of 5 has 15 communities of two."""
    answers = same(cliques, "map-equation", "cpm") | same(1, "components")
    answers["label-propagation"] = (cliques - 1, cliques)
    edges = cliques * (size * (size - 1) // 2 + 1)
    bar = 0.0
    if (cliques, size) == (30, 5):
        inside, strength = size * (size - 1) + 1, 2 * (size * (size - 1) + 2)
        bar = 0.998 * (cliques // 2) * (inside / edges - (strength / (2 * edges)) ** 2)
        answers["modularity"] = (cliques // 2, cliques // 2 + 2)
    name = f"ring of {cliques} cliques of {size}"
    return Shape(name, cliques * size, lambda: made.ring_of_cliques(cliques, size), answers, modularity=bar)


def star(leaves: int) -> Shape:
    # The larger limit is for names and labels of ten million nodes.
    memory = "768MiB" if leaves > 2_000_000 else "160MiB"
    return Shape(f"star of {leaves} leaves", leaves + 1, partial(made.star, leaves), star_answers(leaves), memory)


def default_stars(full: bool) -> tuple[int, ...]:
    return (1_000_000, 10_000_000) if full else (10_000, 100_000)


def shapes(full: bool, stars: Sequence[int]) -> list[Shape]:
    """Return the shapes, in full size or small."""
    k = 1 if full else 100
    line, leaves = 1_000_000 // k, 1_000_000 // k
    side, tree, pairs, members = (300, 100_000, 50_000, 1500) if full else (30, 1000, 500, 60)
    connected = same(1, "components")
    two = same(2, "label-propagation", "map-equation", "modularity", "cpm") | connected
    one = same(1, "label-propagation", "map-equation") | connected
    return [
        *(star(leaves) for leaves in stars),
        Shape("star, hub last", leaves + 1, partial(made.star_hub_last, leaves), star_answers(leaves)),
        Shape("path", line, partial(made.path, line), connected),
        Shape("path, shuffled", line, partial(made.shuffled_path, line), connected),
        Shape("cycle", tree, partial(made.cycle, tree), connected),
        Shape("grid", side * side, partial(made.grid, side), connected),
        Shape("tree", tree, partial(made.binary_tree, tree), connected),
        Shape("complete", members, partial(made.complete, members), same(1, *ALL)),
        Shape("bipartite, complete", 2 * side, partial(made.complete_bipartite, side, side), one | same(1, "cpm")),
        Shape("bipartite, complete, 20", 20 + 5000 // k, partial(made.complete_bipartite, 20, 5000 // k), one),
        Shape("bipartite, random", 2 * tree, partial(made.random_bipartite, tree, 5 * tree)),
        Shape("no structure", tree, partial(made.random_graph, tree, 5 * tree)),
        Shape("no structure, dense", members, partial(made.random_graph, members, 50 * members), connected),
        ring(30, 5),
        ring(1000 // k, 10),
        Shape("two cliques, 1 link", 100, partial(made.two_cliques, 50, 1), two),
        Shape("two cliques, 25 links", 100, partial(made.two_cliques, 50, 25), two),
        Shape("pairs", 2 * pairs, partial(made.pairs, pairs), same(pairs, *ALL)),
        Shape("loops alone", tree, partial(made.loops, tree), same(tree, *ALL)),
        Shape("loops alone, kept", tree, partial(made.loops, tree), same(tree, *ALL), keeps_loops=True),
    ]


@dataclass(frozen=True)
class Run:
    """Result of one method on one shape."""

    seconds: float
    peak_memory_bytes: int
    communities: int
    largest_share: float
    warned: bool
    disconnected: int
    modularity: float
    sweeps: float
    scans: float


def build(shape: Shape, folder: Path) -> Path:
    text, built = folder / "edges.tsv", folder / "graph"
    shutil.rmtree(built, ignore_errors=True)
    write_edges(shape.edges(), text)
    argv = subject.build_argv(text, built, places.fresh(folder / "work"), memory=shape.memory, threads=2)
    argv += ["--self-loops", "keep"] if shape.keeps_loops else []
    sample = running.run_once(Command("build", argv, limit_seconds=LIMIT_SECONDS))
    text.unlink()
    if not sample.ok:
        places.cannot_run(f"{shape.name}: build failed:\n{sample.error}")
    return built


def cluster(shape: Shape, method: str, built: Path, folder: Path, repeats: int) -> Run | str:
    """Return the fastest of the runs, or the message of one that failed."""
    output, report = folder / "communities", folder / "report.json"
    argv = subject.cluster_argv(
        built, output, folder, shape.memory, 2, method, report=report, resolution=subject.method_resolution(method)
    )
    command = Command(method, argv, limit_seconds=LIMIT_SECONDS)
    samples = [running.run_once(command) for _ in range(repeats)]
    failed = next((sample for sample in samples if not sample.ok), None)
    if failed is not None:
        return failed.error
    reported = json.loads(report.read_text())["communities"]
    read = shape.nodes <= ANSWERS_READ
    answer = read_answer(output, shape.nodes) if read else array("I")
    if read and (len(set(answer)), len(answer)) != (reported["community_count"], shape.nodes):
        return f"{len(set(answer))} communities of {len(answer)} nodes; the report says {reported['community_count']}"
    return Run(
        seconds=min(sample.wall_seconds for sample in samples),
        peak_memory_bytes=max(sample.peak_memory_bytes for sample in samples),
        communities=reported["community_count"],
        largest_share=reported["largest_share"],
        warned=re.search(r"warning.*(half|%)", samples[-1].error, re.IGNORECASE | re.DOTALL) is not None,
        disconnected=disconnected(shape.edges(), answer) if read else 0,
        modularity=reported.get("modularity") or 0.0,
        sweeps=reported.get("sweep_count", math.nan),
        scans=reported.get("scan_count", math.nan),
    )


def stops(shape: Shape, built: Path, folder: Path) -> bool:
    """Return whether label propagation ends if only convergence ends it."""
    argv = subject.cluster_argv(built, folder / "converged", folder, shape.memory, 2)
    return running.run_once(Command("converge", [*argv, "--converge"], limit_seconds=LIMIT_SECONDS)).ok


def read_answer(communities: Path, nodes: int) -> array[int]:
    """Return the community of each node, with no further memory, since that would raise the measured memory of runs."""
    answer = array("I", bytes(4 * nodes))
    missing = nodes
    for line in inputs.lines(communities):
        node, community = map(int, line.split())
        answer[node] = community
        missing -= 1
    if missing:
        places.cannot_run(f"the communities lack {missing} nodes")
    return answer


def disconnected(edges: Edges, answer: array[int]) -> int:
    """Return the number of additional communities if each were split into its connected parts."""
    parent = array("I", range(len(answer)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    parts = len(answer)
    for a, b in edges:
        if answer[a] == answer[b]:
            a, b = root(a), root(b)
            if a != b:
                parent[a] = b
                parts -= 1
    return parts - len(set(answer))


def check(result: Result, shape: Shape, runs: dict[str, Run | str]) -> None:
    for method, run in runs.items():
        if isinstance(run, str):
            print(f"\n{shape.name}, {method} failed:\n{run}", file=sys.stderr)
    result.check(f"{shape.name}: failed methods", sum(isinstance(run, str) for run in runs.values()), 0)
    good = {method: run for method, run in runs.items() if not isinstance(run, str)}
    for method, run in good.items():
        check_answer(result, shape, method, run)
    if good:
        limit = memory_bytes(shape.memory) + MEMORY_SLACK_BYTES
        peak = max(run.peak_memory_bytes for run in good.values())
        result.check(f"{shape.name}: peak memory", peak / places.MIB, limit / places.MIB, unit="MiB")
        parts = max(run.disconnected for run in good.values())
        result.check(f"{shape.name}: disconnected communities", parts, 0)
        # For components the warning is not given, since no other method would be better.
        judged = [run for method, run in good.items() if method != "components"]
        wrong = sum(run.warned != (run.largest_share > 0.5) for run in judged)
        result.check(f"{shape.name}: missing or unnecessary warnings", wrong, 0)


def check_answer(result: Result, shape: Shape, method: str, run: Run) -> None:
    label = f"{shape.name}, {method}"
    if method in shape.answers:
        minimum, maximum = shape.answers[method]
        if minimum == maximum:
            result.check(f"{label}: communities", run.communities, minimum, "==")
        else:
            result.check(f"{label}: communities at least", run.communities, minimum, ">=")
            result.check(f"{label}: communities at most", run.communities, maximum)
    if method == "modularity" and shape.modularity:
        result.check(f"{label}: modularity", run.modularity, shape.modularity, ">=")
    if method == "label-propagation":
        bar = PATH_SWEEPS_BAR if shape.name.startswith("path") else SWEEPS_BAR
        result.check(f"{label}: sweeps", run.sweeps, bar)
    else:
        result.check(f"{label}: scans", run.scans, COMPONENTS_SCANS_BAR if method == "components" else SCANS_BAR)


def memory_bytes(text: str) -> int:
    return int(text.removesuffix("MiB")) * places.MIB


Stars = list[tuple[int, dict[str, Run | str]]]


def check_growth(result: Result, stars: Stars) -> None:
    """Compare the smallest star with the largest."""
    (few, small), *_, (many, large) = sorted(stars, key=lambda star: star[0])
    for method in small:
        one, other = small[method], large[method]
        if isinstance(one, Run) and isinstance(other, Run):
            growth, judged = other.seconds / one.seconds / (many / few), few >= TIMED_LEAVES
            result.check(f"star, {method}: growth of time per leaf", growth, GROWTH_BAR, unit="x", judged=judged)


def stars_table(stars: Stars) -> str:
    """Return a table of memory and time of the stars, in total and per leaf."""
    rows = [
        [
            f"star of {leaves} leaves, {method}",
            f"{run.seconds:.2f}",
            f"{run.seconds / leaves * 1e9:.0f}",
            f"{run.peak_memory_bytes / places.MIB:.0f}",
            f"{run.peak_memory_bytes / leaves:.1f}",
        ]
        for leaves, runs in stars
        for method, run in runs.items()
        if isinstance(run, Run)
    ]
    return results.table(["star, method", "seconds", "ns a leaf", "memory MiB", "bytes a leaf"], rows)


def leaf_counts(text: str) -> tuple[int, ...]:
    counts = tuple(int(float(part)) for part in text.split(","))
    if any(count < 1 for count in counts) or len(set(counts)) < len(counts):
        raise argparse.ArgumentTypeError("different numbers of leaves")
    return counts


def extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--method", type=subject.chosen_methods, default=subject.METHODS, help="all, or names")
    parser.add_argument("--only", type=partial(str.split, sep=","), help="shapes, by parts of their names")
    parser.add_argument("--stars", type=leaf_counts, help="leaves of the stars, such as 1e6,1e7")


def main() -> int:
    options = results.arguments("shapes", "every method on hostile shapes", repeats=1, extend=extend)
    full = options.scale == "full"
    leaves = options.stars or default_stars(full)
    only = options.only or [""]
    chosen = [shape for shape in shapes(full, leaves) if any(part in shape.name for part in only)]
    restricted = options.only or options.stars or options.method != subject.METHODS
    # Space for text, runs and graph of the largest.
    places.require_space(places.GIB // 8 + 200 * max(leaves))
    folder = places.fresh(places.data_folder() / "shapes")
    facts = {"shapes": [shape.name for shape in chosen], "methods": list(options.method)}
    result = Result("shapes", "Q8", "partial" if restricted else options.scale, dict(facts), part="methods")
    stars: Stars = []
    table = []
    for shape in chosen:
        print(f"  {shape.name} ..", file=sys.stderr)
        built = build(shape, folder)
        runs = {method: cluster(shape, method, built, folder, options.repeats) for method in options.method}
        check(result, shape, runs)
        if "label-propagation" in options.method:
            result.check(f"{shape.name}: stops by itself", str(stops(shape, built, folder)), "True", "==")
        for method, run in runs.items():
            if isinstance(run, Run):
                result.rows.append({"shape": shape.name, "method": method} | vars(run))
                table.append(line(f"{shape.name}, {method}", run))
        if shape.name.startswith("star of"):
            stars.append((shape.nodes - 1, runs))
    if len(stars) > 1:
        check_growth(result, stars)
    places.fresh(folder)
    print("\n" + results.table(HEADER, table))
    if stars:
        print("\n" + stars_table(stars))
    return result.finish()


HEADER = ["shape, method", "communities", "largest", "modularity", "sweeps", "scans", "seconds", "memory MiB", "warned"]


def line(label: str, run: Run) -> list[str]:
    return [
        label,
        str(run.communities),
        f"{run.largest_share:.3f}",
        f"{run.modularity:.4f}",
        f"{run.sweeps:.0f}",
        f"{run.scans:.0f}",
        f"{run.seconds:.2f}",
        f"{run.peak_memory_bytes / places.MIB:.0f}",
        "yes" if run.warned else "",
    ]


if __name__ == "__main__":
    sys.exit(main())
