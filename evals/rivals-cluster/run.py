"""Whole jobs, from an edge list to communities, compared with programs that hold the graph in memory.

    evals/rivals.sh python                                        # once
    python3 evals/rivals-cluster/run.py [--scale smoke|full] [--repeats N] [--sizes N,..] [--tools NAME,..]

1, 5 and 20 M edges between numbered nodes, ten per node, warm in the page cache. `outcore cluster` in 1 GiB against
igraph's Leiden, leidenalg, NetworKit's PLM (modularity), its PLP (label propagation) and Infomap (map equation), each
as a whole process with its own fastest way to read the file; one round of all commands after the other. Who is faster
at which size is the result: there is no bar for it. The NMI with the planted communities stands beside, and so does the
time of outcore with a single start, like that of the others: by default it compares several, most on small graphs.

GVE-Leiden takes part if GVE_LEIDEN is its program, built with MAX_THREADS=2. It reads the Matrix Market format, runs
three methods and prints what each took: its time is that of the faster Leiden alone, without reading, its memory that
of the process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.inputs import Planted
from harness.places import GIB, MIB
from harness.results import Result
from harness.running import Command

SIZES = {"full": (1_000_000, 5_000_000, 20_000_000), "smoke": (20_000, 100_000)}
EDGES_PER_NODE = 10
MEMORY_MIB = 1024
TOLERANCE_MIB = 32
#: The method of each tool.
TOOLS = {
    "igraph-leiden": "modularity",
    "leidenalg": "modularity",
    "networkit-plm": "modularity",
    "gve-leiden": "modularity",
    "networkit-plp": "label-propagation",
    "infomap": "map-equation",
}
LIMIT_SECONDS = 3600
PROGRAM = Path(__file__).with_name("rivals.py")
GVE_TIME = re.compile(r"/\s*([0-9.]+)ms,.*leidenStaticOmp")


def answer_path(folder: Path, name: str) -> Path:
    suffix = ".tsv" if name.startswith("outcore") else ".npy"
    return folder / (name.replace(" ", "-").replace(",", "") + suffix)


def rival(*arguments: str | Path) -> list[str]:
    return [str(places.rival("venv/bin/python")), "-W", "ignore", str(PROGRAM), *map(str, arguments)]


def gve() -> str | None:
    return os.environ.get("GVE_LEIDEN")


def matrix_market(graph: Planted, folder: Path) -> Path:
    """Write a graph in the format that GVE-Leiden reads, with nodes from 1; it adds the other directions itself."""
    path = folder / f"graph-{graph.edges}.mtx"
    with path.open("w") as file:
        file.write("%%MatrixMarket matrix coordinate pattern general\n")
        file.write(f"{graph.nodes} {graph.nodes} {graph.edges}\n")
        for line in inputs.lines(graph.path):
            source, target = line.split("\t")
            file.write(f"{int(source) + 1} {int(target) + 1}\n")
    return path


def unweighted(nodes: int, edges: int) -> Planted:
    """Return a planted partition of numbered nodes without weights."""
    path = inputs.planted_path(nodes, edges, names="links")
    graph = Planted(nodes, edges, 1, path, path.with_suffix(".truth.tsv"))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        argv = subject.generate_argv(nodes, edges, 1, path, graph.truth, "integer", weights=False)
        made = running.run_once(Command("generate", argv))
        if not made.ok:
            places.cannot_run(f"outcore generate failed:\n{made.error}")
    return graph


def commands(graph: Planted, tools: list[str], folder: Path) -> dict[str, Command]:
    """Return commands by tool, with those of outcore by method."""
    made: dict[str, Command] = {}

    def prepare() -> None:
        running.settle(graph.path)

    for method in dict.fromkeys(TOOLS[tool] for tool in tools):
        name = f"outcore {method}, {graph.edges} edges"
        answer, memory = answer_path(folder, name), f"{MEMORY_MIB}MiB"
        argv = subject.cluster_argv(graph.path, answer, folder / "work", memory, method=method)
        made[method] = Command(name, argv, prepare=prepare)
        if method != "label-propagation":
            once = f"outcore {method}, one start, {graph.edges} edges"
            made[f"{method}, one start"] = Command(once, [*argv, "--trials", "1"], prepare=prepare)
    for tool in tools:
        name = f"{tool}, {graph.edges} edges"
        if tool == "gve-leiden":
            matrix = matrix_market(graph, folder)
            argv = [str(gve()), str(matrix), "0", "0"]
            made[tool] = Command(name, argv, prepare=partial(running.settle, matrix), limit_seconds=LIMIT_SECONDS)
        else:
            argv = rival(tool, graph.path, answer_path(folder, name))
            made[tool] = Command(name, argv, prepare=prepare, limit_seconds=LIMIT_SECONDS)
    return made


def seconds_of(result: Result, tool: str, name: str) -> float:
    if tool != "gve-leiden":
        return result.summary(name).median_seconds
    times = [GVE_TIME.findall(sample.output) for sample in result.samples[name] if sample.ok]
    found = [min(float(time) / 1000 for time in of_run) for of_run in times if of_run]
    return statistics.median(found) if found else float("nan")


def agreement(graph: Planted, folder: Path, name: str) -> float:
    answer = answer_path(folder, name)
    if not answer.exists():
        return float("nan")
    done = subprocess.run(rival("nmi", answer, graph.truth), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["nmi"]


def compare(result: Result, graph: Planted, made: dict[str, Command], tools: list[str], folder: Path) -> None:
    for name in [command.name for command in made.values() if command.name.startswith("outcore")]:
        result.check_runs(name)
        peak = result.summary(name).peak_memory_bytes / MIB
        result.check(f"{name}: peak memory", peak, MEMORY_MIB + TOLERANCE_MIB, unit="MiB")
    for tool in tools:
        ours, theirs = made[TOOLS[tool]].name, made[tool].name
        mine, other = result.summary(ours), result.summary(theirs)
        seconds = seconds_of(result, tool, theirs)
        if other.failures:
            result.notes.append(f"{theirs} failed {other.failures} times: {result.samples[theirs][0].error[-200:]}")
        parts = [sample.json_line() for sample in result.samples[theirs] if sample.ok and tool != "gve-leiden"]
        row = {"edges": graph.edges, "method": TOOLS[tool], "tool": tool}
        row |= {"seconds": [mine.median_seconds, seconds]}
        once = made.get(f"{TOOLS[tool]}, one start")
        row |= {"one start": None if once is None else result.summary(once.name).median_seconds}
        row |= {"memory": [mine.peak_memory_bytes, other.peak_memory_bytes]}
        row |= {"NMI": [agreement(graph, folder, ours), agreement(graph, folder, theirs)]}
        row |= {"reading": statistics.median(part["read"] for part in parts) if parts else None}
        row |= {"faster": "outcore" if not seconds <= mine.median_seconds else tool}
        result.rows.append(row)
        figure = f"{theirs}: time / outcore's"
        result.check(figure, seconds / mine.median_seconds, 1, ">=", unit="x", judged=False)


def print_rows(result: Result) -> None:
    header = ["edges", "method", "tool", "s outcore", "s tool", "of it reading", "s one start", "faster"]
    header += ["GiB outcore", "GiB tool", "NMI outcore", "NMI tool"]
    lines = []
    for row in result.rows:
        reading, once = ("" if row[part] is None else f"{row[part]:.2f}" for part in ("reading", "one start"))
        cells = [str(row["edges"]), row["method"], row["tool"], *(f"{value:.2f}" for value in row["seconds"])]
        cells += [reading, once, row["faster"], *(f"{value / GIB:.2f}" for value in row["memory"])]
        lines.append(cells + [f"{value:.4f}" for value in row["NMI"]])
    print("\n" + results.table(header, lines))


def extend(parser: argparse.ArgumentParser) -> None:
    tools = ", ".join(TOOLS)
    parser.add_argument("--tools", type=partial(str.split, sep=","), metavar="NAME,..", help=f"default: {tools}")
    parser.add_argument(
        "--sizes",
        type=lambda text: [int(part) for part in text.split(",")],
        metavar="N,..",
        help="numbers of edges",
    )


def main() -> int:
    options = results.arguments("rivals-cluster", "whole jobs against programs in memory", extend=extend)
    tools = options.tools or [tool for tool in TOOLS if tool != "gve-leiden" or gve()]
    sizes = options.sizes or list(SIZES[options.scale])
    if unknown := set(tools) - set(TOOLS):
        places.cannot_run(f"there is no tool {', '.join(sorted(unknown))}: {', '.join(TOOLS)}")
    if "gve-leiden" in tools and not gve():
        places.cannot_run("set GVE_LEIDEN to the program of GVE-Leiden")
    places.require_space(sum(sizes) * 60)
    folder = places.fresh(places.data_folder() / "rivals-cluster")
    scale = options.scale if options.tools is None and options.sizes is None else "partial"
    described = {"edges": sizes, "edges per node": EDGES_PER_NODE, "memory MiB": MEMORY_MIB}
    result = Result("rivals-cluster", "F1, part 1", scale, described)
    for edges in sizes:
        graph = unweighted(edges // EDGES_PER_NODE, edges)
        made = commands(graph, tools, folder)
        result.measure(list(made.values()), options.repeats)
        compare(result, graph, made, tools, folder)
    places.fresh(folder)
    print_rows(result)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
