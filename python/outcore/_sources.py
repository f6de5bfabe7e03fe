"""Whatever people keep edges in, as arguments of the command or as a stream of batches.

Nothing is turned into another form as a whole: tables of Arrow are streamed without a copy, iterables, matrices and
graphs of other libraries handed over in batches of `BATCH_EDGES` edges. A matrix is copied to see whether it is
symmetric.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple, Protocol, TypeAlias, Union, runtime_checkable

from outcore import _outcore
from outcore.errors import UsageError

__all__ = ["EdgeSource", "Edges", "StrPath", "SupportsArrowStream", "edges_of"]

BATCH_EDGES = 1 << 16

StrPath: TypeAlias = Union[str, "os.PathLike[str]"]


@runtime_checkable
class SupportsArrowStream(Protocol):
    """A table: pyarrow, polars, pandas, DuckDB and others have this method."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the stream."""


EdgeSource: TypeAlias = StrPath | Sequence[StrPath] | SupportsArrowStream | Iterable[Any] | Any


class Edges(NamedTuple):
    """Edges, ready for the engine."""

    paths: list[str]
    table: object | None = None
    failure: _outcore.Failure | None = None
    #: Whether names are whole numbers, so that they are given back as such.
    integers: bool = False


def edges_of(source: EdgeSource) -> Edges:
    """Find out what `source` is."""
    edges: Any = source
    if isinstance(edges, (str, os.PathLike)):
        return Edges([os.fspath(edges)])
    package = type(edges).__module__.partition(".")[0]
    if package == "scipy":
        return _of_batches(_matrix_batches(edges), integers=True)
    if package == "networkx":
        return _of_batches(_networkx_batches(edges), integers=all(type(node) is int for node in edges))
    if package == "igraph":
        return _of_batches(_igraph_batches(edges), integers="name" not in edges.vs.attributes())
    if hasattr(edges, "__arrow_c_stream__"):
        return Edges(["-"], edges, None, _has_integer_names(edges))
    if isinstance(edges, Sequence) and edges and all(isinstance(path, (str, os.PathLike)) for path in edges):
        return Edges([os.fspath(path) for path in edges])
    if isinstance(edges, Iterable):
        return _of_iterable(edges)
    raise UsageErrorOf(edges)


def UsageErrorOf(edges: object) -> UsageError:  # noqa: N802
    """Give the error for something that holds no edges."""
    error = UsageError()
    error._fill(
        {
            "kind": "usage",
            "message": f"`{type(edges).__name__}` is nothing that edges are read from",
            "hint": "give paths, a table with `__arrow_c_stream__` (pyarrow, polars, pandas), a scipy matrix, a "
            "networkx or igraph graph, or an iterable of (source, target) or (source, target, weight)",
        }
    )
    return error


def _of_batches(batches: Iterable[object], *, integers: bool) -> Edges:
    table, failure = _outcore.edge_batches(batches)
    return Edges(["-"], table, failure, integers)


def _has_integer_names(table: Any) -> bool:
    """Whether the column of sources is of whole numbers, as far as the table says."""
    if hasattr(table, "dtypes"):
        names, types = list(table.columns), list(table.dtypes)
    elif hasattr(table, "schema") and hasattr(table.schema, "types"):
        names, types = list(table.schema.names), list(table.schema.types)
    else:
        return False
    chosen = _outcore.choose_columns([str(name).encode() for name in names], [])
    at = chosen[0] if chosen else 0
    return at < len(types) and str(types[at]).lower().startswith(("int", "uint"))


def _of_iterable(edges: Iterable[Any]) -> Edges:
    iterator = iter(edges)
    first = next(iterator, None)
    if first is None:
        raise UsageErrorOf(edges)
    iterator = chain([first], iterator)
    if hasattr(first, "__arrow_c_stream__"):
        return _of_batches(iterator, integers=_has_integer_names(first))
    if not isinstance(first, (tuple, list)) or len(first) not in (2, 3):
        raise UsageErrorOf(edges)
    return _of_batches(_tuple_batches(iterator, len(first) == 3), integers=type(first[0]) is int)


def _tuple_batches(edges: Iterator[Any], weighted: bool) -> Iterator[tuple[object, ...]]:
    from array import array

    while batch := list(islice(edges, BATCH_EDGES)):
        columns = list(zip(*batch, strict=True))
        weights = array("d", columns[2]).tobytes() if weighted else None
        yield [str(name) for name in columns[0]], [str(name) for name in columns[1]], weights


def _matrix_batches(matrix: Any) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Give the entries of a matrix; of a symmetric one those on and above the diagonal.

    A row and column without entries gets a loop of weight 0, so that it is a node.
    """
    import numpy as np

    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UsageErrorOf(matrix)
    rows = matrix.tocsr()
    is_symmetric = rows.nnz == 0 or (abs(rows - rows.T)).nnz == 0
    entries = rows.tocoo()
    seen = np.zeros(matrix.shape[0], dtype=bool)
    for at in range(0, entries.nnz, BATCH_EDGES):
        part = slice(at, at + BATCH_EDGES)
        source, target = entries.row[part].astype(np.int64), entries.col[part].astype(np.int64)
        weight = entries.data[part].astype(np.float64)
        seen[source] = True
        seen[target] = True
        if is_symmetric:
            upper = source <= target
            source, target, weight = source[upper], target[upper], weight[upper]
        yield source.tobytes(), target.tobytes(), weight.tobytes()
    alone = np.flatnonzero(~seen).astype(np.int64)
    for at in range(0, len(alone), BATCH_EDGES):
        nodes = alone[at : at + BATCH_EDGES].tobytes()
        yield nodes, nodes, bytes(len(nodes))


def _graph_batches(
    edges: Iterator[tuple[object, object, float]], alone: Iterator[object]
) -> Iterator[tuple[object, ...]]:
    yield from _tuple_batches(iter(edges), True)
    yield from _tuple_batches(((node, node, 0.0) for node in alone), True)


def _networkx_batches(graph: Any) -> Iterator[tuple[object, ...]]:
    edges = ((source, target, float(weight)) for source, target, weight in graph.edges(data="weight", default=1))
    return _graph_batches(edges, (node for node, degree in graph.degree() if degree == 0))


def _igraph_batches(graph: Any) -> Iterator[tuple[object, ...]]:
    names = graph.vs["name"] if "name" in graph.vs.attributes() else range(graph.vcount())
    weights = graph.es["weight"] if "weight" in graph.es.attributes() else [1.0] * graph.ecount()
    edges = (
        (names[source], names[target], float(weight))
        for (source, target), weight in zip(graph.get_edgelist(), weights, strict=True)
    )
    return _graph_batches(edges, (names[at] for at, degree in enumerate(graph.degree()) if degree == 0))
