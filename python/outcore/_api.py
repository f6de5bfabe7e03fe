"""Functions of the package, with the names, options and defaults of the command."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from outcore._call import arguments, call, explains_keywords
from outcore._communities import Communities
from outcore._graph import Graph
from outcore._progress import ProgressOption
from outcore._report import Comparison, Plan, Report, Score
from outcore._sources import Edges, EdgeSource, Nodes, StrPath, edges_of
from outcore.errors import _made

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from outcore._options import ClusterOptions

__all__ = ["build", "cluster", "compare", "export", "plan", "score"]

Columns: TypeAlias = str | Sequence[str | int]
EdgeFormat: TypeAlias = Literal[
    "auto",
    "lines",
    "metis",
    "mcl",
    "pajek",
    "gml",
    "graphml",
    "gexf",
    "dimacs",
    "lgl",
    "tgf",
    "sif",
    "smat",
    "adjlist",
    "multiline-adjlist",
    "networkx",
    "uc",
]
CommunityFormat: TypeAlias = Literal[
    "auto", "lines", "clusters", "pairs", "levels", "clu", "tree", "clstr", "uc", "mcl", "jsonl"
]
ExportFormat: TypeAlias = Literal[
    "text",
    "csv",
    "json-lines",
    "parquet",
    "arrow",
    "matrix-market",
    "metis",
    "mcl",
    "pajek",
    "graphml",
    "gexf",
]
Method: TypeAlias = Literal["map-equation", "modularity", "cpm", "label-propagation", "components"]

#: Parameters that are not passed on as options of the command.
_OWN = ("edges", "graph", "communities", "a", "b", "output", "progress")
#: Parameters that take several values, each of which has a result.
SEVERAL = ("resolution", "attenuation", "min_weight")


@overload
def cluster(
    edges: EdgeSource,
    *,
    resolution: float | None = None,
    attenuation: float | None = None,
    min_weight: float | None = None,
    **options: Unpack[ClusterOptions],
) -> Communities: ...


@overload
def cluster(
    edges: EdgeSource,
    *,
    resolution: Iterable[float],
    attenuation: float | None = None,
    min_weight: float | None = None,
    **options: Unpack[ClusterOptions],
) -> dict[float, Communities]: ...


@overload
def cluster(
    edges: EdgeSource,
    *,
    resolution: float | None = None,
    attenuation: Iterable[float],
    min_weight: float | None = None,
    **options: Unpack[ClusterOptions],
) -> dict[float, Communities]: ...


@overload
def cluster(
    edges: EdgeSource,
    *,
    resolution: float | None = None,
    attenuation: float | None = None,
    min_weight: Iterable[float],
    **options: Unpack[ClusterOptions],
) -> dict[float, Communities]: ...


@explains_keywords
def cluster(
    edges: EdgeSource,
    *,
    output: StrPath | None = None,
    method: Method = "map-equation",
    seed: int = 0,
    resolution: float | Iterable[float] | None = None,
    max_size: int | None = None,
    well_connected: bool | str | int | None = None,
    initial: Communities | StrPath | None = None,
    seeding: Literal["star", "own"] | None = None,
    cycles: int | None = None,
    trials: int | None = None,
    stability: bool = False,
    levels: bool = False,
    recorded_teleportation: bool = False,
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
    two_mode: bool = False,
    names: Literal["labels", "numbers"] | None = None,
    ignore_weights: bool = False,
    weight_transform: Literal["none", "log", "neglog10", "reciprocal", "similarity"] = "none",
    min_weight: float | Iterable[float] | None = None,
    max_weight: float | None = None,
    normalize: Literal["none", "self-score"] = "none",
    nodes: StrPath | None = None,
    attenuation: float | Iterable[float] | None = None,
    attenuation_rule: Literal["hops", "change"] | None = None,
    label_cutoff: float | None = None,
    max_visits: int | Literal["root-degree"] | None = None,
    fixed: Communities | StrPath | None = None,
    like: Literal["exolabel"] | None = None,
    min_size: int = 1,
    small: Literal["drop", "singletons"] = "drop",
    match: Communities | StrPath | None = None,
    representatives: StrPath | None = None,
    prefer: StrPath | None = None,
    keep: StrPath | None = None,
    drop: StrPath | None = None,
    heights: StrPath | None = None,
    summary: StrPath | bool | None = None,
    community_columns: Columns | None = None,
    community_format: CommunityFormat = "auto",
    flow: bool = False,
    output_header: bool = False,
    memory: str | int = "50%",
    threads: int | None = None,
    work_dir: StrPath | None = None,
    profile: StrPath | None = None,
    restart: bool = False,
    progress: ProgressOption = "auto",
) -> Communities | dict[float, Communities]:
    """Find communities in a graph of any size, within a memory limit.

    Parameters
    ----------
    edges : path, paths, Graph, table, matrix, graph or iterable
        Edge lists in files (text, also compressed, Parquet or Arrow; patterns such as ``"edges/*.parquet"``; addresses
        such as ``"s3://bucket/edges/*.parquet"`` and ``"https://host/edges.tsv.gz"``, given as `str`), a
        :class:`Graph`, any table with ``__arrow_c_stream__`` (pyarrow, polars, pandas, DuckDB), a query of polars or a
        dataset of pyarrow, a square `scipy.sparse` or numpy matrix, a numpy array with a row of two or three whole
        numbers for each edge (of other numbers with `columns`), arrays of sources, targets and optionally weights, a
        dictionary of columns, the indices and distances of neighbors (see :func:`neighbors`), the connectivities of an
        AnnData object or of an ``.h5ad`` file (see :mod:`outcore.tl`), a networkx or igraph graph, or an iterable of
        tables or of ``(source, target)`` or ``(source, target, weight)``. Streams are read once and not held in memory.
    output : path, optional
        Where to write lines of ``node<TAB>community``, or a table if the name has the ending of a table format,
        such as ``.csv`` or ``.parquet``, or a file of Infomap if it ends in ``.tree``, ``.ftree`` or ``.clu``. By
        default the result lies in a directory next to the temporary files, which is removed together with the returned
        object. The name of each of several results has the value of the option before its ending: ``c.0.5.tsv`` and so
        on for ``c.tsv``.
    method : {"map-equation", "modularity", "cpm", "label-propagation", "components"}
        Objective or algorithm: ``map-equation`` minimizes the bits that describe a random walk, ``modularity``
        maximizes modularity, ``cpm`` is the constant Potts model and needs `resolution`, ``label-propagation`` takes
        the label with the most weight among the neighbors, and ``components`` finds connected components.
    seed : int
        Seed of all random choices. The same seed gives the same communities, independent of memory and threads.
    resolution : float or iterable of float, optional
        Resolution of modularity (1 by default), or of the constant Potts model: the minimum density of a community, in
        units of the mean edge weight. Larger values give smaller communities. Several values give several results from
        one reading of the edges: that of the largest as if alone, the others from its groups, which they do not divide.
    max_size : int, optional
        Maximum number of nodes in a community; not for components.
    well_connected : bool, str or int, optional
        Split every community whose minimum cut is at most this number of edges: with True the decimal logarithm of its
        number of nodes; a function, optionally scaled, such as ``"0.5log10"``, ``"log2"``, ``"sqrt"`` or ``"0.01n"``;
        or a number.
    initial : Communities or path, optional
        Result, or file of ``node<TAB>community``, with initial communities: nodes move only where that is better, so
        communities untouched by a change of the graph stay as they are. Not for components.
    seeding : {"star", "own"}, optional
        First communities: with ``star``, the default, a quarter of the nodes lead and the others follow; with ``own``
        every node starts alone, which is slower, and better where nodes are groups already. Not for cpm and components.
    cycles : int, optional
        Maximum number of passes up the levels and back, 3 by default; not for label propagation.
    trials : int, optional
        Number of restarts; the best one by the objective is refined. By default 10 for a small graph, 8 up to a
        quarter of a million edges, 5 beyond; not for label propagation and components.
    stability : bool
        Compute for each node the share of the starts in which it stays with its community; see
        :attr:`Communities.stability`. Not for label propagation and components.
    levels : bool
        Also find the groups inside communities, and groups inside those; see :attr:`Communities.levels`. With the map
        equation these are the modules of its hierarchical form. Not for label propagation and components.
    recorded_teleportation : bool
        Directed edges by the map equation: count teleportation, which keeps the walk out of dead ends, as flow. By
        default, it only decides how often nodes are visited.
    max_sweeps : int, optional
        Maximum number of sweeps: over the graph for label propagation (30 by default), on each level for other methods
        (50 by default).
    tolerance : float, optional
        Stop label propagation when at most this share of the nodes changes in a sweep; 0.001 by default.
    converge : bool
        Continue label propagation until no node changes.
    format : str
        Format of the edges: ``lines`` has one edge per line or row; the others are formats of graphs, such as
        ``metis``, ``pajek`` or ``graphml``. ``auto`` recognizes them by their first bytes, and where these could be
        lines of edges as well, by the ending of the name.
    columns : sequence, optional
        Columns of the source, the target and optionally the weight, by name or by number from 1. By default those
        that a header or a known format names, or the only two, or the only two before a number; anything else is an
        error that shows the columns.
    delimiter : str, optional
        Separator of columns in text: one character, ``"tab"``, or ``"spaces"`` for any run of spaces and tabs. Detected
        by default.
    comment : str, optional
        Skip lines of text that start with this, ``#`` by default; an empty string skips none.
    header : {"auto", "yes", "no"}
        Whether the first line of text names the columns.
    on_bad_line : {"stop", "skip"}
        What to do with a line or row that is not an edge.
    rejects : path, optional
        File for skipped lines, with their places and reasons.
    duplicates : {"sum", "max", "min", "first"}
        Weight of an edge that is given more than once.
    self_loops : {"keep", "drop"}
        What to do with an edge from a node to itself.
    directed : bool
        Keep the direction of edges.
    two_mode : bool
        Sources and targets are nodes of two kinds, so that equal names in both columns are different nodes. Names then
        begin with their kind, such as ``user_id:1`` or ``source:1``.
    names : {"labels", "numbers"}, optional
        Names of nodes that have numbers or ids, and labels, in Pajek, GML, GraphML and GEXF. By default, their labels
        if each of at most 262,144 nodes has one of its own, otherwise their numbers.
    ignore_weights : bool
        Give every edge the weight 1.
    weight_transform : {"none", "log", "neglog10", "reciprocal", "similarity"}
        Transform each weight as it is read: ``log`` is ln(1 + w), for counts; ``neglog10`` is -log10(w), for E-values;
        ``reciprocal`` is 1/w, for distances, and ``similarity`` 1/(1 + w), for distances of which some are 0.
    min_weight : float or iterable of float, optional
        Drop edges with a smaller weight, after the transformation. Several values give several results, and the edges
        are read once.
    max_weight : float, optional
        Drop edges with a larger weight, after the transformation.
    normalize : {"none", "self-score"}
        Divide weights, after the thresholds: ``self-score`` by the smaller self score of the two nodes, which is the
        weight of an edge from a node to itself. Use it with ``duplicates="max"``.
    nodes : path, optional
        File of nodes, which may have no edge: a name per line, the column that a header or a table calls ``id``,
        ``node`` or ``name``, or FASTA.
    attenuation : float or iterable of float, optional
        Share of its votes that a label loses with each hop from its origin, 0 to 1; 0 by default. Several values give
        several results. This and the following parameters up to `like` are for label propagation.
    attenuation_rule : {"hops", "change"}, optional
        Remaining share of a vote: ``hops``, the default, is 1 - D x hops; ``change`` is 1 - (p x hops)^D, where D is
        the attenuation and p the share of nodes that changed in the previous sweep.
    label_cutoff : float, optional
        Take a label only if its votes have at least this total weight; 0 by default.
    max_visits : int or "root-degree", optional
        Maximum number of visits to a node; ``"root-degree"`` is the square root of the largest degree, but at least 5.
        Unlimited by default.
    fixed : Communities or path, optional
        File of ``node<TAB>community`` with labels that never change.
    like : {"exolabel"}, optional
        Start from the settings of another program; options given explicitly take precedence.
    min_size : int
        Number of nodes below which a community is too small; see `small`.
    small : {"drop", "singletons"}
        Leave out the nodes of communities that are too small, or make each a community of its own.
    match : Communities or path, optional
        Earlier result whose numbers to keep: a community takes the number of the one with which it shares most nodes,
        and new ones get numbers above the largest.
    representatives : path, optional
        File for lines of ``community<TAB>node<TAB>size``: for each community the node with the most weight to others of
        it. A table if the name has the ending of one, such as ``.csv`` or ``.parquet``.
    prefer : path or "first", optional
        Which node represents a community: the one with the largest number in this file of ``node<TAB>number``, equal
        ones by name, or the first in the input. By default the one with the most weight to others.
    keep, drop : path, optional
        Files for the nodes to keep, one of each community and those that are in none, and for all others. Tables if the
        names have the ending of one.
    heights : path, optional
        For components, file for lines of ``node<TAB>weight`` in an order in which the components at every threshold are
        together: the weight at which a node joins those before it, 0 for the first of a component.
    summary : path or bool, optional
        File for a table of the communities, as text or as its ending says, or True to keep it with the result; see
        :meth:`Communities.summary`.
    community_columns : str or sequence of str or int, optional
        Columns of the node and of its community in `initial`, `fixed` and `match`, by name or number from 1. By default
        those that the header names so, or the only two; more columns without names are an error.
    community_format : {"auto", "lines", "clusters", "pairs", "levels", "clu", "tree", "clstr", "uc", "mcl", "jsonl"}
        Format of these files: ``lines`` have a node and its community, ``clusters`` all nodes of a community, ``pairs``
        a representative and one of its nodes, ``levels`` a node and its path. By default as the files say.
    flow : bool
        Also write the flow of each node, the share of the steps of a random walk that end there, as a column `flow`.
        The graph must be undirected. See :attr:`Communities.flow`.
    output_header : bool
        Begin text with a line of the names of its columns, as CSV and tables always have.
    memory : str or int
        Memory limit of the engine, such as ``"4GiB"``, ``"50%"`` of the free memory, or a number of bytes. Memory of
        Python itself and of tables held in it comes on top.
    threads : int, optional
        Maximum number of threads; one per core by default.
    work_dir : path, optional
        Directory for temporary files; by default that of the output, or the current directory.
    profile : path, optional
        Profile of the disk from ``outcore lab tune``, or ``"none"`` for settings that are safe everywhere. By default
        the one stored for this disk, if any.
    restart : bool
        Ignore saved progress of the same call and start from scratch. Otherwise an interrupted call resumes.
    progress : bool, "auto" or callable
        Show progress; ``"auto"`` does so in terminals and notebooks. A function is called with a :class:`Progress`.

    Returns
    -------
    Communities or dict of Communities
        Result, stored on disk; if `resolution`, `attenuation` or `min_weight` is a sequence, a dictionary with the
        result for each of its values, in their order.

    Raises
    ------
    outcore.InputError
        If the input is not an edge list; it has ``.path``, ``.line``, ``.column`` and ``.hint``.
    outcore.UsageError, outcore.MemoryTooSmallError, outcore.DiskFullError, outcore.FileError
        See `outcore.errors`.
    outcore.Interrupted
        After Ctrl-C; the same call resumes from saved progress.

    Examples
    --------
    >>> import outcore
    >>> communities = outcore.cluster("tests/graphs/karate.tsv", method="modularity")
    >>> communities
    <Communities: 34 nodes in 4 communities, modularity 0.42>
    >>> communities["1"] == communities["2"]
    True
    >>> found = outcore.cluster("tests/graphs/karate.tsv", method="modularity", resolution=[0.8, 1, 2])
    >>> {value: communities.community_count for value, communities in found.items()}
    {0.8: 3, 1.0: 4, 2.0: 7}
    >>> outcore.cluster([("a", "b"), ("b", "c"), ("x", "y")], method="components").to_pandas()
      node  community
    0    a          0
    1    b          0
    2    c          0
    3    x          1
    4    y          1
    >>> pairs = [("a", "b", 0.95), ("b", "c", 0.85), ("d", "e", 0.9)]
    >>> entities = outcore.cluster(pairs, method="components", min_weight=[0.9, 0.8])
    >>> {threshold: found.community_count for threshold, found in entities.items()}
    {0.9: 3, 0.8: 2}
    """
    options = {name: value for name, value in locals().items() if name not in _OWN}
    return _cluster(edges, output, options, progress)


def _cluster(
    edges: EdgeSource, output: StrPath | None, options: dict[str, Any], progress: ProgressOption
) -> Communities | dict[float, Communities]:
    values = None
    for name in SEVERAL:
        found = values_of(name, options[name])
        if found is not None:
            values = options[name] = found
    is_components = options["method"] == "components"
    if options["levels"] and isinstance(options["min_weight"], list) and is_components:
        raise _refused(
            "`levels` writes all thresholds to one file, but `min_weight` gives a result for each",
            "leave `levels` out",
        )
    given = {name: options[name] for name in ("columns", "directed", "two_mode")}
    source = edges_of(edges, **given, has_transform=options["weight_transform"] != "none")
    # A path may be that of a graph, too.
    options = _without_defaults(options)
    owned = None
    if output is None or options.get("summary") is True:
        owned = _own_directory(source, options)
        os.makedirs(owned, exist_ok=True)
    if output is None:
        output = os.path.join(str(owned), "communities.tsv")
        # Other functions read the file: more than two columns need names.
        options["output_header"] = any(options[name] for name in ("output_header", "stability", "levels", "flow"))
    options["levels"] = "columns" if options["levels"] else None
    if options.get("summary") is True:
        options["summary"] = os.path.join(str(owned), "summary.arrow")
    try:
        report = call(["cluster", f"--output={os.fspath(output)}"], source, options, progress)
    except BaseException:
        if owned is not None:
            # Fails if progress was saved in it.
            with contextlib.suppress(OSError):
                os.rmdir(owned)
        raise
    results = []
    for path, one in _each(os.fspath(output), report):
        found = one["communities"]
        if "summary" in found:
            found["summary"] = _beside(os.fspath(options["summary"]), found["summary"])
        results.append(_result(path, one, source.nodes, owned))
    if owned is not None:
        os.rmdir(owned)
    return results[0] if values is None else dict(zip(values, results, strict=True))


def _each(output: str, report: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the file and the report of each result of a job."""
    results = report.pop("results", None)
    if not results:
        return [(output, report)]
    found = []
    for result in results:
        path = _beside(output, result.pop("output"))
        found.append((path, {**report, "output": path, "communities": result}))
    return found


def _beside(path: str, reported: str) -> str:
    """Return a file in the directory of `path` by its reported path, which differs for paths that are not text."""
    return os.path.join(os.path.dirname(path), os.path.basename(reported))


def _result(path: str, report: dict[str, Any], nodes: Nodes, owned: str | None) -> Communities:
    """Return a result; files of it in the owned directory go to another one that is removed together with it."""
    if owned is None:
        return Communities(path, Report(report), nodes)
    # The same call may be repeated while this result is in use.
    own = tempfile.mkdtemp(prefix=".outcore-", dir=os.path.dirname(owned))

    def moved(file: str) -> str:
        if os.path.dirname(file) != owned:
            return file
        os.replace(file, os.path.join(own, os.path.basename(file)))
        return os.path.join(own, os.path.basename(file))

    path = moved(path)
    found = report["communities"]
    if "summary" in found:
        found["summary"] = moved(found["summary"])
    communities = Communities(path, Report({**report, "output": path}), nodes)
    communities._own(own)
    return communities


def values_of(name: str, value: object) -> list[float] | None:
    """Return the values of an option that takes several; None if it has a single one or none."""
    if value is None or isinstance(value, Real):
        return None
    try:
        # Text is iterable, but is a value of the command.
        values = None if isinstance(value, (str, bytes)) else [float(one) for one in value]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        values = None
    if values is None:
        raise _refused(
            f"`{name}` takes a number, or several in a list, not {repr(value)[:60]}", f"use `{name}=[0.5, 1, 2]`"
        )
    if not values:
        raise _refused(f"`{name}` is empty, so there would be no result", f"leave it out, or use `{name}=[0.5, 1, 2]`")
    repeated = next((one for at, one in enumerate(values) if one in values[:at]), None)
    if repeated is not None:
        raise _refused(f"`{name}` has the value {repeated:g} twice", "give each value once: each has one result")
    return values


def _refused(message: str, hint: str) -> BaseException:
    """Return the error for a value of an option."""
    return _made({"kind": "usage", "message": message, "hint": hint})


def _own_directory(source: Edges, options: Mapping[str, Any]) -> str:
    """Return the directory of a result without `output`: the same call finds its saved progress there."""
    # The result outlives a change of the current directory.
    parent = os.path.abspath(options.get("work_dir") or os.curdir)
    identity = [arg for arg in arguments(options) if not arg.startswith(("--memory", "--threads", "--restart"))]
    identity += [_place(path) if path != "-" else f"{os.getpid()}-{id(source.table)}" for path in source.paths]
    return os.path.join(parent, f".outcore-{hashlib.sha256(repr(identity).encode()).hexdigest()[:16]}")


def _place(path: str) -> str:
    """Return a path that holds in every directory; of an address the part that stays when it is signed again."""
    address = re.match(r"(?i)(https?://)(?:[^/?#]*@)?([^?#]*)", path)
    if address:
        return address[1] + address[2]
    return path if path.lower().startswith("s3://") else os.path.abspath(path)


def _without_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out options for reading edges that have their default: a graph has already been read."""
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


@explains_keywords
def build(
    edges: EdgeSource,
    output: StrPath,
    *,
    append: StrPath | None = None,
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
    two_mode: bool = False,
    names: Literal["labels", "numbers"] | None = None,
    ignore_weights: bool = False,
    weight_transform: Literal["none", "log", "neglog10", "reciprocal", "similarity"] = "none",
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
    """Convert edges into a graph on disk that can be clustered any number of times.

    Parameters
    ----------
    edges : path, paths, table, matrix, graph or iterable
        See :func:`cluster`.
    output : path
        Directory of the graph; it must not exist yet.
    append : path or Graph, optional
        Graph to append the edges to. It is not modified: the result is a new graph of all edges, in a fraction of
        the time. Options that decide how edges count (`directed`, `duplicates`, `self_loops`, `ignore_weights`,
        `weight_transform`, `min_weight`, `max_weight`) and have their default are those of the graph; others must be
        equal to them.
    format, columns, delimiter, comment, header, on_bad_line, rejects, duplicates, self_loops, directed, \
ignore_weights, weight_transform, min_weight, max_weight, normalize, nodes, memory, threads, work_dir, profile, \
restart, progress
        See :func:`cluster`.

    Returns
    -------
    Graph
        Graph on disk.

    Raises
    ------
    outcore.Error
        See :func:`cluster`.

    Examples
    --------
    >>> import outcore, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "karate.graph")
    >>> graph = outcore.build("tests/graphs/karate.tsv", path)
    >>> graph.node_count, graph.edge_count
    (34, 78)
    >>> graph.neighbors("11")
    {'0': 1.0, '3': 1.0}

    Edges can be added to a graph:

    >>> larger = outcore.build([("11", "12"), ("12", "34")], path + ".new", append=graph, progress=False)
    >>> larger.node_count, larger.edge_count
    (35, 80)
    """
    options = {name: value for name, value in locals().items() if name not in _OWN}
    if append is not None:
        options = _without_defaults(options)
    is_transformed = weight_transform != "none"
    source = edges_of(edges, columns, directed=directed, two_mode=two_mode, has_transform=is_transformed)
    report = call(["build", f"--output={os.fspath(output)}"], source, options, progress)
    return Graph(output, Report(report))


@explains_keywords
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
    two_mode: bool = False,
    names: Literal["labels", "numbers"] | None = None,
    ignore_weights: bool = False,
    min_weight: float | Iterable[float] | None = None,
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
        Edge lists in files or at addresses, of which a few MiB are read.
    method, format, columns, delimiter, comment, header, on_bad_line, directed, two_mode, names, ignore_weights, \
min_weight, nodes, memory, threads, work_dir, profile
        See :func:`cluster`.

    Returns
    -------
    Plan
        Estimate with `time`, `peak_memory_bytes`, `disk_bytes`, `memory_bytes_min`, `stages` and more.

    Examples
    --------
    >>> import outcore
    >>> outcore.plan("tests/graphs/karate.tsv", memory="64MiB").input.edge_count
    78
    """
    options = {name: value for name, value in locals().items() if name not in _OWN}
    options["min_weight"] = values_of("min_weight", min_weight) or min_weight
    return Plan(call(["plan", "--json"], edges_of(edges), options, False))


@explains_keywords
def score(
    graph: Graph | StrPath,
    communities: Communities | StrPath,
    *,
    against: Communities | StrPath | None = None,
    resolution: float = 1.0,
    recorded_teleportation: bool = False,
    well_connected: bool | str | int | None = None,
    unnamed: Literal["stop", "singletons"] = "stop",
    comment: str | None = None,
    community_columns: Columns | None = None,
    community_format: CommunityFormat = "auto",
    level: int | Literal["last"] | None = None,
    memory: str | int = "50%",
    threads: int | None = None,
    work_dir: StrPath | None = None,
    profile: StrPath | None = None,
    progress: ProgressOption = "auto",
) -> Score:
    """Measure the quality of communities in their graph, and compare them with others.

    Parameters
    ----------
    graph : Graph or path
        Graph made by :func:`build`.
    communities : Communities or path
        Result, or file of nodes and their communities in any order, as lines or a table.
    against : Communities or path, optional
        Communities to compare with, over the nodes that both name.
    resolution : float
        Resolution of modularity and of the constant Potts model.
    recorded_teleportation : bool
        Code length of a directed graph: count teleportation as flow; see :func:`cluster`.
    well_connected : bool, str or int, optional
        Also count the communities that are well-connected, and those that one edge holds together, under
        `well_connected`; see :func:`cluster`.
    unnamed : {"stop", "singletons"}
        What to do with nodes of the graph that the communities do not name.
    level : int or "last", optional
        Level of the modules that are communities, in files with paths of modules, as ``.tree`` and ``levels="tree"``
        have: 1 is the top, the default, "last" that of the modules that hold nodes.
    comment, community_columns, community_format, memory, threads, work_dir, profile, progress
        See :func:`cluster`.

    Returns
    -------
    Score
        Measures under `quality`, and of the comparison under `against`, if there is one.
    """
    options = {name: value for name, value in locals().items() if name not in _OWN}
    options["against"] = against.path if isinstance(against, Communities) else against
    path = communities.path if isinstance(communities, Communities) else os.fspath(communities)
    source = Edges([os.fspath(graph), path])
    return Score(call(["score", "--json"], source, options, progress))


@explains_keywords
def compare(
    a: Communities | StrPath,
    b: Communities | StrPath,
    *,
    output: StrPath | None = None,
    moved: StrPath | None = None,
    report: StrPath | None = None,
    representatives: Sequence[StrPath] | None = None,
    output_header: bool = False,
    comment: str | None = None,
    community_columns: Columns | None = None,
    community_format: CommunityFormat = "auto",
    level: int | Literal["last"] | None = None,
    memory: str | int = "50%",
    threads: int | None = None,
    work_dir: StrPath | None = None,
    profile: StrPath | None = None,
    progress: ProgressOption = "auto",
) -> Comparison:
    """Compare two results: which nodes moved, and what became of each community.

    Parameters
    ----------
    a, b : Communities or path
        Results, or files of nodes and their communities in any order, as lines or a table. Nodes are compared by their
        names.
    output : path, optional
        File for all pairs of communities that share nodes. A table if the name has the ending of one, such as ``.csv``
        or ``.parquet``. Without it, :attr:`Comparison.overlaps` reads a temporary file, which is removed together with
        the returned object.
    moved : path, optional
        File for the nodes that moved, each with its two communities; likewise a table.
    report : path, optional
        File for the report: JSON, or a page with a drawing if the name ends in ``.html``.
    representatives : sequence of path, optional
        Two files that :func:`cluster` wrote to `representatives` or `summary`, that of `a` and that of `b`: communities
        are then named by their representatives, too, in the report and in `representatives` of the result.
    output_header : bool
        Begin text of `output` and `moved` with a line of the names of its columns.
    level : int or "last", optional
        Level of the modules that are communities, in files with paths of modules, as ``.tree`` and ``levels="tree"``
        have: 1 is the top, the default, "last" that of the modules that hold nodes.
    comment, community_columns, community_format, memory, threads, work_dir, profile, progress
        See :func:`cluster`.

    Returns
    -------
    Comparison
        Figures as attributes, and the table `overlaps`.

    Raises
    ------
    outcore.InputError
        If no node is in both results, or a file gives a node two communities.

    Examples
    --------
    >>> import outcore
    >>> found = outcore.cluster("tests/graphs/karate.tsv", method="modularity", seed=1)
    >>> comparison = outcore.compare(found, "tests/graphs/karate.truth.tsv")
    >>> comparison.node_count, comparison.overlaps.column_names
    (34, ['a', 'b', 'shared', 'size_a', 'size_b', 'jaccard'])
    """
    options = {name: value for name, value in locals().items() if name not in _OWN}
    source = Edges([one.path if isinstance(one, Communities) else os.fspath(one) for one in (a, b)])
    owned = None
    if output is None:
        owned = tempfile.mkdtemp(prefix=".outcore-", dir=work_dir)
        output = os.path.join(owned, "overlaps.arrow")
    try:
        fields = call(["compare", f"--output={os.fspath(output)}"], source, options, progress)
    except BaseException:
        if owned is not None:
            shutil.rmtree(owned, ignore_errors=True)
        raise
    comparison = Comparison(fields, os.fspath(output), output_header)
    if owned is not None:
        weakref.finalize(comparison, shutil.rmtree, owned, ignore_errors=True)
    return comparison


@explains_keywords
def export(
    graph: Graph | StrPath,
    output: StrPath,
    *,
    format: ExportFormat | None = None,
    nodes: StrPath | None = None,
    communities: Communities | StrPath | None = None,
    members: Sequence[int | str] | None = None,
    quotient: bool = False,
    comment: str | None = None,
    community_columns: Columns | None = None,
    community_format: CommunityFormat = "auto",
    level: int | Literal["last"] | None = None,
    memory: str | int = "50%",
    threads: int | None = None,
    work_dir: StrPath | None = None,
    profile: StrPath | None = None,
    progress: ProgressOption = "auto",
) -> Report:
    """Write a graph, a part of it, or the network of its communities, for other programs.

    Parameters
    ----------
    graph : Graph or path
        Graph made by :func:`build`.
    output : path
        File to write; its name selects the format.
    format : str, optional
        Format, if the name of the file does not select it.
    nodes : path, optional
        File of the nodes, in the order of their numbers, with the attributes that are known.
    communities : Communities or path, optional
        Communities of the graph, with numbers: an attribute of the nodes in GraphML, GEXF and `nodes`, as are ``path``,
        ``level`` and ``flow`` of a tree of modules.
    members : sequence of int or str, optional
        Only write the nodes of these communities, and the edges between them; with `level` 2 they are paths such as
        ``1:3``.
    quotient : bool
        Write the network of communities: nodes are communities, with their sizes; an edge is the weight between two, a
        loop that inside one.
    level : int or "last", optional
        Level of the modules that are communities, in files with paths of modules, as ``.tree`` and ``levels="tree"``
        have: 1 is the top, the default, "last" that of the modules that hold nodes.
    comment, community_columns, community_format, memory, threads, work_dir, profile, progress
        See :func:`cluster`.

    Returns
    -------
    Report
        Numbers of nodes, edges and bytes that were written.

    Examples
    --------
    >>> import outcore, tempfile, os
    >>> directory = tempfile.mkdtemp()
    >>> graph = outcore.build("tests/graphs/karate.tsv", os.path.join(directory, "karate.graph"))
    >>> found = outcore.cluster(graph, method="modularity")
    >>> outcore.export(graph, os.path.join(directory, "karate.graphml"), communities=found).edge_count
    78
    >>> network = outcore.export(graph, os.path.join(directory, "network.gexf"), communities=found, quotient=True)
    >>> network.node_count, network.loop_count
    (4, 4)
    """
    options = {name: value for name, value in locals().items() if name not in _OWN}
    options["communities"] = communities.path if isinstance(communities, Communities) else communities
    source = Edges([os.fspath(graph)])
    return Report(call(["export", f"--output={os.fspath(output)}"], source, options, progress))
