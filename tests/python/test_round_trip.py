"""Graphs that other programs write are read as they are, or refused: never another graph without an error.

Each writer gets some of 200 random graphs (all with `-m long`). The names of a graph are of one kind: numbers, words,
names with spaces, quotes, tabs or line ends, in other scripts, or with a meaning elsewhere, such as `NA` and `#ai`.
"""

from __future__ import annotations

import math
import os
import shutil
import zlib
from collections.abc import Iterable
from pathlib import Path

import outcore
import pyarrow as pa
import pytest
import round_trips_more  # noqa: F401  (registers writers)
from outcore import InputError, UsageError
from round_trips import COUNT, WRITERS, Weights, Written, make

#: Graphs of each writer in a short run.
FEW = 5


def understood(path: Path) -> tuple[Weights, set[str]]:
    """Return the edges and nodes that are read from a file."""
    graph = outcore.build(
        path, "g.graph", self_loops="keep", memory="256MiB", threads=1, profile="none", progress=False
    )
    nodes = {str(name) for name in pa.table(graph.degrees()).column("node").to_pylist()}
    edges = pa.table(graph.subgraph(nodes)).to_pylist()
    # A node without an edge is a loop of weight 0.
    pairs = {
        (min(edge["source"], edge["target"]), max(edge["source"], edge["target"])): edge["weight"]
        for edge in edges
        if edge["weight"] != 0
    }
    return pairs, nodes


def is_same(found: tuple[Weights, set[str]], written: Written) -> bool:
    """Whether a reading is one of the meanings of a file; the weights are compared as single-precision numbers."""
    edges, nodes = found
    for meant, least, most in written.meanings():
        if (
            edges.keys() == meant.keys()
            and all(math.isclose(edges[pair], meant[pair], rel_tol=1e-6) for pair in meant)
            and least <= nodes <= most
        ):
            return True
    return False


def fault(name: str, seed: int) -> str | None:
    """Write a graph, read it, and return what is wrong."""
    made = make(seed)
    row = WRITERS[name]
    try:
        written = row.write(made, Path("g"))
    except Exception as error:
        # Some formats cannot hold some names.
        return None if made.kind not in row.read else f"{name} cannot write {made.kind}: {error!r}"
    if written is None:
        return None
    try:
        found = understood(written.path)
    except (InputError, UsageError) as error:
        if made.kind not in row.read:
            return None if error.hint else f"seed {seed} ({made.kind}): refused without a hint: {error}"
        return f"seed {seed} ({made.kind}): refused: {error}\n{_head(written.path)}"
    if is_same(found, written):
        return None
    return f"seed {seed} ({made.kind}): another graph\n{_head(written.path)}\n  read as {_shown(found[0])}"


def _head(path: Path) -> str:
    data = path.read_bytes()[:200]
    return "\n".join("  " + repr(line)[1:] for line in data.splitlines()[:4])


def _shown(edges: Weights) -> str:
    return ", ".join(f"{source!r}-{target!r} {weight:g}" for (source, target), weight in list(edges.items())[:4])


def faults(name: str, seeds: Iterable[int]) -> list[str]:
    found = []
    for seed in seeds:
        folder = Path(f"graph-{seed}")
        folder.mkdir()
        before = Path.cwd()
        os.chdir(folder)
        try:
            found.append(fault(name, seed))
        finally:
            os.chdir(before)
        shutil.rmtree(folder)
    return [fault for fault in found if fault is not None]


@pytest.mark.parametrize("name", WRITERS)
def test_a_written_graph_is_read_as_it_is_or_refused(name: str) -> None:
    # Other graphs for each writer, with every kind of names: the step and the number of kinds have no common factor.
    first = zlib.crc32(name.encode())
    seeds = [(first + at * (COUNT // FEW + 1)) % COUNT for at in range(FEW)]
    assert not (found := faults(name, seeds)), "\n".join(found[:3])


@pytest.mark.long
@pytest.mark.parametrize("name", WRITERS)
def test_all_written_graphs_are_read_as_they_are_or_refused(name: str) -> None:
    assert not (found := faults(name, range(COUNT))), f"{len(found)} of {COUNT}\n" + "\n".join(found[:3])
