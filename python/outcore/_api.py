"""The verbs: the same names, options and defaults as the command's."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Literal, TypeAlias

from outcore._call import arguments, call
from outcore._communities import Communities
from outcore._graph import Graph
from outcore._progress import ProgressOption
from outcore._report import Plan, Report, Score
from outcore._sources import Edges, EdgeSource, StrPath, edges_of
from outcore.errors import _made

__all__ = ["build", "cluster", "plan", "score"]

Columns: TypeAlias = str | Sequence[str | int]
EdgeFormat: TypeAlias = Literal["auto", "lines", "metis", "mcl"]
Method: TypeAlias = Literal["map-equation", "modularity", "cpm", "label-propagation", "components"]

#: Keywords of Python that are not options of the command.
_OWN = ("edges", "graph", "communities", "output", "progress")


def cluster(
    edges: EdgeSource,
    *,
    output: StrPath | None = None,
    method: Method = "map-equation",
    seed: int = 0,
    resolution: float | None = None,
    max_size: int | None = None,
    seeding: Literal["star", "own"] | None = None,
    cycles: int | None = None,
    max_sweeps: int | None = None,
    tolerance: float | None = None,
    converge: bool = False,
    format: EdgeFormat = "auto",
    columns: Columns | None = None,
    delimiter: str | None = None,
    comment: str | None = None,
    header: Literal["auto", "yes", "no"] = "auto",
    on_bad_line: Literal["stop", "skip"] = "stop",
    rejects: StrPath | None = None,
    duplicates: Literal["sum", "max", "min", "first"] = "sum",
    self_loops: Literal["keep", "drop"] = "drop",
    directed: bool = False,
    ignore_weights: bool = False,
    weight_transform: Literal["none", "log", "neglog10", "reciprocal"] = "none",
    min_weight: float | None = None,
    max_weight: float | None = None,
    normalize: Literal["none", "self-score"] = "none",
    nodes: StrPath | None = None,
    attenuation: float | None = None,
    attenuation_rule: Literal["hops", "change"] | None = None,
    label_cutoff: float | None = None,
    max_visits: int | Literal["root-degree"] | None = None,
    initial: StrPath | None = None,
    fixed: StrPath | None = None,
    inflation: float | None = None,
    consensus: int | None = None,
    consensus_share: float | None = None,
    like: Literal["exolabel"] | None = None,
    min_size: int = 1,
    small: Literal["drop", "singletons"] = "drop",
    match: StrPath | None = None,
    representatives: StrPath | None = None,
    memory: str | int = "50%",
    threads: int | None = None,
    work_dir: StrPath | None = None,
    profile: StrPath | None = None,
    restart: bool = False,
    progress: ProgressOption = "auto",
) -> Communities:
    """Find communities in edges of any number, inside a memory limit.

    Parameters
    ----------
    edges : path, paths, Graph, table, matrix, graph or iterable
        Edge lists (text, also compressed, Parquet, Arrow; patterns such as ``"edges/*.parquet"``; addresses such as
        ``"s3://bucket/edges/*.parquet"`` and ``"https://host/edges.tsv.gz"``, as text), a :class:`Graph`, whatever
        has ``__arrow_c_stream__`` (pyarrow, polars, pandas, DuckDB), a square
        `scipy.sparse` matrix, a networkx or igraph graph, or an iterable of tables or of
        ``(source, target)`` or ``(source, target, weight)``. Streams are read once, and not held in memory.
    output : path, optional
        Where to write ``node<TAB>community``, or a table if the name ends as those of tables do, such as ``.parquet``.
        Without it a directory beside the temporary files is used, which
        is removed with the result.
    method : str
        How to find communities: by the fewest bits that describe a random walk, by modularity, by the constant
        Potts model (which needs `resolution`), by the label with the most weight among the neighbors, or by paths.
    seed : int
        Seed of every random choice; the same seed gives the same communities whatever the memory and the threads.
    resolution : float, optional
        Larger values give smaller communities: modularity and cpm.
    max_size : int, optional
        Let no community have more nodes.
    seeding : {"star", "own"}, optional
        First communities: a quarter of the nodes leads and others follow, or every node is alone, which is slower, and
        better where nodes are groups already. Stars if not given; not for cpm and components.
    cycles, max_sweeps, tolerance, converge
        When to stop.
    format : {"auto", "lines", "metis", "mcl"}
        How edges are written: an edge a line or row, as a METIS graph, or as a matrix of mcl. What is not told is
        found: a matrix by how it begins, a METIS graph by a name that ends in ``.metis`` or ``.graph``.
    columns : sequence, optional
        Source, target and, if there is one, weight: by name or number from 1. Else the first two, and the third
        if it is a number; of a table those named `source`, `target` and `weight`.
    delimiter, comment, header
        How lines of text are split.
    on_bad_line : {"stop", "skip"}
        What to do with a line or row that is no edge; `rejects` names a file for those that are skipped.
    duplicates, self_loops, directed, ignore_weights, weight_transform, min_weight, max_weight, normalize, nodes
        What becomes of edges and weights.
    attenuation, attenuation_rule, label_cutoff, max_visits, initial, fixed, inflation, consensus, \
consensus_share, like
        Label propagation.
    min_size, small, match, representatives
        What is written of the result.
    memory : str or int
        The engine's memory, such as ``"4GiB"`` or ``"50%"`` of what is free, or bytes. What Python and a table in
        memory take comes on top.
    threads : int, optional
        Most threads; one per core if not given.
    work_dir : path, optional
        Where temporary files are; beside the output if not given, or in the current directory.
    profile : path, optional
        What is known of the disk, from ``outcore lab tune``.
    restart : bool
        Begin anew where the same call was stopped. Else it goes on.
    progress : bool, "auto" or callable
        Show progress; "auto" does on terminals and in notebooks. A function is called with a :class:`Progress`.

    Returns
    -------
    Communities
        The result, on disk.

    Raises
    ------
    outcore.InputError
        For input that is no edge list; it has ``.path``, ``.line``, ``.column`` and ``.hint``.
    outcore.UsageError, outcore.MemoryTooSmallError, outcore.DiskFullError, outcore.FileError
        See `outcore.errors`.
    outcore.Interrupted
        After Ctrl-C; the same call goes on from what was kept.

    Examples
    --------
    >>> import outcore
    >>> communities = outcore.cluster("tests/graphs/karate.tsv", method="modularity")
    >>> communities
    <Communities: 34 nodes in 4 communities, modularity 0.42>
    >>> communities["1"] == communities["2"]
    True
    >>> outcore.cluster([("a", "b"), ("b", "c"), ("x", "y")], method="components").to_pandas()
      node  community
    0    a          0
    1    b          0
    2    c          0
    3    x          1
    4    y          1
    """
    options = {name: value for name, value in locals().items() if name not in _OWN}
    return _cluster(edges, output, options, progress)


def _cluster(
    edges: EdgeSource, output: StrPath | None, options: Mapping[str, Any], progress: ProgressOption
) -> Communities:
    for name in ("resolution", "attenuation"):
        _refuse_several(name, options[name])
    source = edges_of(edges, options["columns"])
    if isinstance(edges, Graph):
        options = _without_defaults(options)
    owned = None
    if output is None:
        owned = _own_directory(source, options)
        os.makedirs(owned, exist_ok=True)
        output = os.path.join(owned, "communities.tsv")
    try:
        report = Report(call(["cluster", f"--output={os.fspath(output)}"], source, options, progress))
    except BaseException:
        if owned is not None:
            # Unless something was kept in it.
            with contextlib.suppress(OSError):
                os.rmdir(owned)
        raise
    if owned is None:
        return Communities(output, report, source.nodes)
    # The same call may be made again while this result is in use.
    own = tempfile.mkdtemp(prefix=".outcore-", dir=os.path.dirname(owned))
    path = os.path.join(own, "communities.tsv")
    os.replace(output, path)
    os.rmdir(owned)
    communities = Communities(path, report, source.nodes)
    weakref.finalize(communities, shutil.rmtree, own, ignore_errors=True)
    return communities


def _refuse_several(name: str, value: object) -> None:
    """Raise the error for several values, of which the command makes a file each: here a call gives one result."""
    if value is None or isinstance(value, Real):
        return
    raise _made(
        {
            "kind": "usage",
            "message": f"`{name}` takes one number, not `{type(value).__name__}`: a call gives one result",
            "hint": "build the graph once and call for each value: "
            f"`[outcore.cluster(graph, {name}=value) for value in values]`",
        }
    )


def _own_directory(source: Edges, options: Mapping[str, Any]) -> str:
    """Name the directory of a result that nobody named: the same call finds what it left when it was stopped."""
    parent = os.fspath(options.get("work_dir") or os.curdir)
    told = [arg for arg in arguments(options) if not arg.startswith(("--memory", "--threads", "--restart"))]
    told += [_place(path) if path != "-" else f"{os.getpid()}-{id(source.table)}" for path in source.paths]
    return os.path.join(parent, f".outcore-{hashlib.sha256(repr(told).encode()).hexdigest()[:16]}")


def _place(path: str) -> str:
    """Say where a path is from every directory; of an address what stays the same when it is signed anew."""
    address = re.match(r"(?i)(https?://)(?:[^/?#]*@)?([^?#]*)", path)
    if address:
        return address[1] + address[2]
    return path if path.lower().startswith("s3://") else os.path.abspath(path)


def _without_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what says how edges are read, where it says nothing: a graph has been read."""
    defaults = {
        "format": "auto",
        "header": "auto",
        "on_bad_line": "stop",
        "duplicates": "sum",
        "self_loops": "drop",
        "weight_transform": "none",
        "normalize": "none",
    }
    return {name: value for name, value in options.items() if defaults.get(name) != value}


def build(
    edges: EdgeSource,
    output: StrPath,
    *,
    format: EdgeFormat = "auto",
    columns: Columns | None = None,
    delimiter: str | None = None,
    comment: str | None = None,
    header: Literal["auto", "yes", "no"] = "auto",
    on_bad_line: Literal["stop", "skip"] = "stop",
    rejects: StrPath | None = None,
    duplicates: Literal["sum", "max", "min", "first"] = "sum",
    self_loops: Literal["keep", "drop"] = "drop",
    directed: bool = False,
    ignore_weights: bool = False,
    weight_transform: Literal["none", "log", "neglog10", "reciprocal"] = "none",
    min_weight: float | None = None,
    max_weight: float | None = None,
    normalize: Literal["none", "self-score"] = "none",
    nodes: StrPath | None = None,
    memory: str | int = "50%",
    threads: int | None = None,
    work_dir: StrPath | None = None,
    profile: StrPath | None = None,
    restart: bool = False,
    progress: ProgressOption = "auto",
) -> Graph:
    """Convert edges into a graph on disk, to be clustered as often as you like.

    Parameters
    ----------
    edges
        As for :func:`cluster`.
    output : path
        Where to write the graph, a directory; it must not exist yet.
    format, columns, delimiter, comment, header, on_bad_line, rejects, duplicates, self_loops, directed, \
ignore_weights, weight_transform, min_weight, max_weight, normalize, nodes, memory, threads, work_dir, profile, \
restart, progress
        As for :func:`cluster`.

    Returns
    -------
    Graph
        The graph.

    Raises
    ------
    outcore.Error
        As for :func:`cluster`.

    Examples
    --------
    >>> import outcore, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "karate.graph")
    >>> graph = outcore.build("tests/graphs/karate.tsv", path)
    >>> graph.node_count, graph.edge_count
    (34, 78)
    >>> graph.neighbors("11")
    {'0': 1.0, '3': 1.0}
    """
    options = {name: value for name, value in locals().items() if name not in _OWN}
    source = edges_of(edges, columns)
    report = call(["build", f"--output={os.fspath(output)}"], source, options, progress)
    return Graph(output, Report(report))


def plan(
    edges: EdgeSource,
    *,
    method: Method = "map-equation",
    format: EdgeFormat = "auto",
    columns: Columns | None = None,
    delimiter: str | None = None,
    comment: str | None = None,
    header: Literal["auto", "yes", "no"] = "auto",
    on_bad_line: Literal["stop", "skip"] = "stop",
    directed: bool = False,
    ignore_weights: bool = False,
    min_weight: float | None = None,
    nodes: StrPath | None = None,
    memory: str | int = "50%",
    threads: int | None = None,
    work_dir: StrPath | None = None,
    profile: StrPath | None = None,
) -> Plan:
    """Estimate the time, memory and disk that :func:`cluster` needs, without running it.

    Parameters
    ----------
    edges : path or paths
        Edge lists in files or behind addresses; a few MiB of them are read.
    method, format, columns, delimiter, comment, header, on_bad_line, directed, ignore_weights, min_weight, nodes, \
memory, threads, work_dir, profile
        As for :func:`cluster`.

    Returns
    -------
    Plan
        With `time`, `peak_memory_bytes`, `disk_bytes`, `memory_bytes_min`, `stages` and more.

    Examples
    --------
    >>> import outcore
    >>> outcore.plan("tests/graphs/karate.tsv", memory="64MiB").input.edge_count
    78
    """
    options = {name: value for name, value in locals().items() if name not in _OWN}
    return Plan(call(["plan", "--json"], edges_of(edges), options, False))


def score(
    graph: Graph | StrPath,
    communities: Communities | StrPath,
    *,
    against: Communities | StrPath | None = None,
    resolution: float = 1.0,
    unnamed: Literal["stop", "singletons"] = "stop",
    comment: str | None = None,
    memory: str | int = "50%",
    threads: int | None = None,
    work_dir: StrPath | None = None,
    profile: StrPath | None = None,
    progress: ProgressOption = "auto",
) -> Score:
    """Rate communities by their graph, and compare them with others.

    Parameters
    ----------
    graph : Graph or path
        A graph made by :func:`build`.
    communities : Communities or path
        A result, or a file of ``node<TAB>community`` in any order.
    against : Communities or path, optional
        Others to compare with, over the nodes that both name.
    resolution : float
        Of modularity and of the constant Potts model.
    unnamed : {"stop", "singletons"}
        What to do about nodes that the communities do not name.
    comment, memory, threads, work_dir, profile, progress
        As for :func:`cluster`.

    Returns
    -------
    Score
        Measures under `quality`, and under `against` if there is something to compare with.
    """
    options = {name: value for name, value in locals().items() if name not in _OWN}
    options["against"] = against.path if isinstance(against, Communities) else against
    path = communities.path if isinstance(communities, Communities) else os.fspath(communities)
    source = Edges([os.fspath(graph), path])
    return Score(call(["score", "--json"], source, options, progress))
