"""Paths and arguments of the commands under test."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from pathlib import Path

from .places import REPOSITORY, cannot_run

METHODS = ("label-propagation", "map-equation", "modularity", "cpm", "components")
# The constant Potts model has no resolution that suits all graphs: this one, in units of the mean weight, finds
# communities of about twenty nodes.
CPM_RESOLUTION = 0.05


def method_resolution(method: str) -> float | None:
    """Return the value of `--resolution` if the method needs one."""
    return CPM_RESOLUTION if method == "cpm" else None


def chosen_methods(text: str) -> tuple[str, ...]:
    """Parse `--method`: names separated by commas, or `all`."""
    names = METHODS if text == "all" else tuple(text.split(","))
    for name in names:
        if name not in METHODS:
            raise argparse.ArgumentTypeError(f"{name} is not one of {', '.join(METHODS)}")
    return names


def outcore() -> Path:
    """Return the path of the `outcore` command: OUTCORE, or the output of `cargo build --release`."""
    program = Path(os.environ.get("OUTCORE", REPOSITORY / "target/release/outcore"))
    if not program.exists():
        cannot_run("there is no outcore command: run `cargo build --release`, or set OUTCORE")
    return program


def sort_bench() -> Path:
    """Return the path of the sorting example: OUTCORE_SORT_BENCH, or that of `cargo build --release --examples`."""
    program = Path(os.environ.get("OUTCORE_SORT_BENCH", REPOSITORY / "target/release/examples/sort_bench"))
    if not program.exists():
        cannot_run("there is no sort_bench example: run `cargo build --release --examples`")
    return program


def generate_argv(
    nodes: int, edges: int, seed: int, output: Path, truth: Path, names: str = "string", weights: bool = True
) -> list[str]:
    sizes = ["--nodes", str(nodes), "--edges", str(edges)]
    options = ["--names", names, *(["--weights"] if weights else []), "--seed", str(seed)]
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
    """Return the arguments of `cluster`; `source` is an edge list, or a graph made by `build`."""
    argv = [str(outcore()), "cluster", str(source), "-o", str(communities), "--method", method]
    # Components need no seed.
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
    """Return the number of sweeps in a report, found anywhere in it as a number or as a list of sweeps."""

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
