"""Time per edge from ten million edges to a billion (bars R9 and F3): the same structure, the same limit.

    python3 evals/scaling/run.py [--scale smoke|full] [--repeats N] [--method NAME,..] [--most EDGES]

Planted communities, ten edges per node, names of 17 letters; the whole job, from text to communities, by the default
method and by label propagation. The smallest size is measured again with each other size, so that both see the same
machine; processor time stands beside wall time. Sizes larger than `--most`, and those that the disk or the limit has no
room for, are skipped with a message. Texts of more than `KEPT_EDGES` edges are removed once measured, unless they were
there before.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.places import GIB
from harness.running import Command

#: Maximum time per edge by size, relative to that of the smallest.
SIZES = {
    "full": {10_000_000: 1.0, 100_000_000: 1.1, 500_000_000: 1.2, 1_000_000_000: 1.3},
    "smoke": {1_000_000: 1.0, 3_000_000: 1.1},
}
METHODS = ("map-equation", "label-propagation")
EDGES_PER_NODE = 10
MEMORY_MIB = {"full": 4096, "smoke": 128}
TOLERANCE_MIB = 32
KEPT_EDGES = 10_000_000
# The text, with the truth; and a name.
TEXT_BYTES, NAME_BYTES = 40, 14


@dataclass(frozen=True)
class Size:
    """Number of edges, with the methods that the limit has room for."""

    edges: int
    methods: tuple[str, ...]

    def name(self, method: str) -> str:
        return f"{method}, {self.edges} edges"


def planned(edges: int, method: str, mib: int) -> dict:
    counts = ["--nodes", str(edges // EDGES_PER_NODE), "--edges", str(edges), "--weighted"]
    options = ["--name-bytes", str(NAME_BYTES), "--method", method, "--memory", f"{mib}MiB", "--threads", "2", "--json"]
    argv = [str(subject.outcore()), "plan", *counts, *options]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"  {method} of {edges} edges is skipped: {places.relative(done.stderr).strip()}", file=sys.stderr)
        return {}
    return json.loads(done.stdout)


def possible(edges: int, methods: tuple[str, ...], mib: int) -> Size:
    """Return the size with those methods that can run here."""
    plans = {method: plan for method in methods if (plan := planned(edges, method, mib))}
    text = inputs.planted_path(edges // EDGES_PER_NODE, edges)
    most = max((plan["disk_bytes"] for plan in plans.values()), default=0)
    needed = most + (0 if text.exists() else edges * TEXT_BYTES)
    places.data_folder().mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(places.data_folder()).free
    if plans and free < needed:
        figures = f"{needed / GIB:.1f} GiB of disk are needed, {free / GIB:.1f} GiB are free"
        print(f"  {edges} edges are skipped: {figures}", file=sys.stderr)
        plans = {}
    return Size(edges, tuple(plans))


def commands(size: Size, methods: tuple[str, ...], mib: int, folder: Path) -> list[Command]:
    graph = inputs.planted(size.edges // EDGES_PER_NODE, size.edges)

    def prepare() -> None:
        places.fresh(folder)
        running.settle(graph.path)

    def command(method: str) -> Command:
        argv = subject.cluster_argv(graph.path, folder / "communities", folder / "work", f"{mib}MiB", method=method)
        return Command(size.name(method), argv, [folder], prepare)

    return [command(method) for method in methods if method in size.methods]


def nanoseconds(result: results.Result, name: str, edges: int) -> tuple[float, float]:
    """Return the wall time and the processor time per edge."""
    row = result.summary(name)
    return row.median_seconds / edges * 1e9, (row.user_seconds + row.system_seconds) / edges * 1e9


def judge(result: results.Result, method: str, sizes: list[Size], scale: str) -> None:
    first, mib = sizes[0], MEMORY_MIB[scale]
    base = nanoseconds(result, first.name(method), first.edges)
    for size in sizes:
        name = size.name(method)
        result.check_runs(name)
        peak = result.summary(name).peak_memory_bytes / places.MIB
        result.check(f"{name}: peak memory", peak, mib + TOLERANCE_MIB, unit="MiB")
        wall, processor = nanoseconds(result, name, size.edges)
        row = {"method": method, "edges": size.edges, "ns an edge": wall, "processor ns an edge": processor}
        result.rows.append(row)
        if size is not first:
            bar = SIZES[scale][size.edges]
            figure = f"{method}: time per edge, {size.edges} / {first.edges} edges"
            result.check(figure, wall / base[0], bar, unit="x", judged=scale == "full")
            figure = f"{method}: processor time per edge, {size.edges} / {first.edges} edges"
            result.check(figure, processor / base[1], bar, unit="x", judged=False)


def extend(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(METHODS)
    parser.add_argument("--most", type=int, default=max(SIZES["full"]), metavar="EDGES", help="largest size")
    parser.add_argument(
        "--method", type=subject.chosen_methods, default=METHODS, metavar="NAME,..", help=f"default: {names}"
    )


def main() -> int:
    options = results.arguments("scaling", "time per edge as graphs grow", repeats=1, extend=extend)
    mib, methods = MEMORY_MIB[options.scale], options.method
    folder = places.fresh(places.data_folder() / "scaling")
    # A part of the methods is not the result of the eval.
    scale = options.scale if set(methods) >= set(METHODS) else "partial"
    described = {"edges per node": EDGES_PER_NODE, "memory MiB": mib}
    result = results.Result("scaling", "R9, F3", scale, described)
    made: list[Size] = []
    for edges in SIZES[options.scale]:
        if edges > options.most:
            print(f"  {edges} edges are skipped: --most", file=sys.stderr)
            continue
        size = possible(edges, methods, mib)
        text = inputs.planted_path(edges // EDGES_PER_NODE, edges)
        existed = text.exists()
        if not size.methods:
            continue
        ours = commands(size, methods, mib, folder)
        again = commands(made[0], size.methods, mib, folder) if made else []
        result.measure([*again, *ours], options.repeats)
        made.append(size)
        if edges > KEPT_EDGES and not existed:
            text.unlink()
            text.with_suffix(".truth.tsv").unlink()
    places.fresh(folder)

    if not made:
        places.cannot_run("there is no room for any size")
    described["skipped"] = [edges for edges in SIZES[options.scale] if edges not in [size.edges for size in made]]
    for method in methods:
        with_method = [size for size in made if method in size.methods]
        if with_method:
            judge(result, method, with_method, options.scale)
    header = ["method", "edges", "ns an edge", "processor ns"]
    cells = [[str(v) if isinstance(v, (str, int)) else f"{v:.0f}" for v in row.values()] for row in result.rows]
    print("\n" + results.table(header, cells))
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
