"""The commands under test: where they are, and their arguments."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from pathlib import Path

from .places import REPOSITORY, cannot_run

METHODS = ("label-propagation", "map-equation", "modularity", "cpm", "components")
# The constant Potts model has no resolution that fits all graphs: this one, in units of the mean weight, finds
# communities of some twenty nodes.
CPM_RESOLUTION = 0.05


def method_resolution(method: str) -> float | None:
    """What `--resolution` says where a method needs it."""
    return CPM_RESOLUTION if method == "cpm" else None


def chosen_methods(text: str) -> tuple[str, ...]:
    """Reads `--method`: names with commas, or `all`."""
    names = METHODS if text == "all" else tuple(text.split(","))
    for name in names:
        if name not in METHODS:
            raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(METHODS)}")
    return names


def outcore() -> Path:
    """The `outcore` command: OUTCORE, or what `cargo build --release` has made."""
    program = Path(os.environ.get("OUTCORE", REPOSITORY / "target/release/outcore"))
    if not program.exists():
        cannot_run("there is no outcore command: run `cargo build --release`, or set OUTCORE")
    return program


def sort_bench() -> Path:
    """The example that sorts records: OUTCORE_SORT_BENCH, or what `cargo build --release --examples` has made."""
    program = Path(os.environ.get("OUTCORE_SORT_BENCH", REPOSITORY / "target/release/examples/sort_bench"))
    if not program.exists():
        cannot_run("there is no sort_bench example: run `cargo build --release --examples`")
    return program


def generate_argv(nodes: int, edges: int, seed: int, output: Path, truth: Path, names: str = "string") -> list[str]:
    sizes = ["--nodes", str(nodes), "--edges", str(edges)]
    options = ["--names", names, "--weights", "--seed", str(seed)]
    return [str(outcore()), "generate", "planted", *sizes, *options, "-o", str(output), "--truth", str(truth)]


def build_argv(
    edges: Path,
    graph: Path,
    work: Path,
    memory: str = "1GiB",
    threads: int = 2,
    report: Path | None = None,
    weighted: bool = True,
) -> list[str]:
    argv = [str(outcore()), "build", str(edges), "-o", str(graph)]
    argv += [] if weighted else ["--ignore-weights"]
    return argv + _limits(memory, threads, work, report)


def cluster_argv(
    source: Path,
    communities: Path,
    work: Path,
    memory: str = "1GiB",
    threads: int = 2,
    method: str = "label-propagation",
    seed: int = 1,
    report: Path | None = None,
    resolution: float | None = None,
) -> list[str]:
    """`source` is an edge list or a graph that `build` has made."""
    argv = [str(outcore()), "cluster", str(source), "-o", str(communities), "--method", method]
    # Components depend on nothing that is random.
    argv += [] if method == "components" else ["--seed", str(seed)]
    argv += [] if resolution is None else ["--resolution", f"{resolution:.12g}"]
    # A graph needs no temporary files.
    return argv + _limits(memory, threads, None if source.is_dir() else work, report)


def sort_argv(records: int, memory: str, folder: Path) -> list[str]:
    return [str(sort_bench()), "--records", str(records), "--memory", memory, "--dir", str(folder)]


def _limits(memory: str, threads: int, work: Path | None, report: Path | None) -> list[str]:
    argv = ["--memory", memory, "--threads", str(threads)]
    argv += [] if work is None else ["--work-dir", str(work)]
    return argv if report is None else [*argv, "--report", str(report)]


def sweeps_in_report(report: Path) -> int | None:
    """The number of sweeps that a report names, wherever in it: a number, or a list with an entry per sweep."""

    def find(value: object) -> int | None:
        if isinstance(value, dict):
            for name in ("sweeps", "sweep_count"):
                found = value.get(name)
                if isinstance(found, int) and not isinstance(found, bool):
                    return found
                if isinstance(found, list):
                    return len(found)
            children: Iterable[object] = value.values()
        elif isinstance(value, list):
            children = value
        else:
            return None
        return next((found for child in children if (found := find(child)) is not None), None)

    if not report.exists():
        return None
    return find(json.loads(report.read_text()))
