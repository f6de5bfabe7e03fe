"""Converts sources of edges to arguments of the command or to a stream of batches.

No source is converted as a whole: Arrow tables are streamed without a copy, and iterables, matrices and graphs of other
libraries are passed on in batches of `BATCH_EDGES` edges. A matrix is copied once, to check whether it is symmetric; in
a file of AnnData, it is read twice instead.

The engine sees names only as text; `Nodes` records their original types.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import isnan
from numbers import Integral, Real
from typing import Any, Literal, Protocol, TypeAlias, Union, runtime_checkable

from outcore import _anndata, _outcore
from outcore._neighbors import Neighbors, are_neighbors, neighbors, refuse_distances
from outcore.errors import _made

__all__ = ["Cells", "EdgeSource", "Edges", "Nodes", "StrPath", "SupportsArrowStream", "edges_of", "recorded_rows"]

BATCH_EDGES = 1 << 16

StrPath: TypeAlias = Union[str, "os.PathLike[str]"]

#: Packages whose classes are read in a way of their own.
_LIBRARIES = ("igraph", "networkx", "numpy", "pandas", "scipy")


@runtime_checkable
class SupportsArrowStream(Protocol):
    """Table that can be read as an Arrow stream, as those of pyarrow, polars, pandas and DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stream."""


EdgeSource: TypeAlias = StrPath | Sequence[StrPath] | SupportsArrowStream | Iterable[Any] | Any


@dataclass
class Nodes:
    """Type and order of the nodes of a source.

    Attributes
    ----------
    kind : str
        Type of the names; ``text`` unless all are integers. If the source is read batch by batch, it is known only at
        the end.
    rows : sequence, optional
        Nodes in the order of the rows of the source, if that differs from the order of its edges.
    """

    kind: Literal["text", "int64", "uint64"] = "text"
    rows: range | Sequence[object] | None = None

    def recorded(self) -> str | None:
        """Return the order of the nodes as a graph records it, in JSON: a number of rows if names are row numbers."""
        if self.rows is None:
            return None
        rows = isinstance(self.rows, range) or all(str(name) == str(at) for at, name in enumerate(self.rows))
        return json.dumps({"rows": len(self.rows)} if rows else "unordered")


def recorded_rows(names: object) -> range | None:
    """Return the nodes in the order recorded by a graph; None if results have the order of the file."""
    if names is None:
        return None
    if isinstance(names, dict) and "rows" in names:
        return range(names["rows"])
    raise _made(
        {
            "kind": "usage",
            "message": "the graph does not record the order that its nodes had before: it was made of a graph with "
            "names, or edges with other names were added to it",
            "hint": "use `communities[name]`, `dict(communities)` or `communities.to_pandas()`; of a graph in memory "
            "`communities.to_networkx(graph)` or `communities.to_igraph(graph)`; of cells "
            "`adata.obs_names.map(dict(communities))`",
        }
    )


@dataclass(frozen=True)
class Edges:
    """Source of edges in the form that the engine reads.

    Attributes
    ----------
    has_columns : bool
        Whether the columns of the caller have been chosen, so that the engine has nothing to choose.
    """

    paths: list[str]
    table: object | None = None
    failure: _outcore.Failure | None = None
    nodes: Nodes = field(default_factory=Nodes)
    has_columns: bool = False


@dataclass(frozen=True)
class Cells:
    """Cells of an AnnData object or of a path of one, and which of their graphs is meant.

    Attributes
    ----------
    adata : AnnData or str
        Object, or path of an ``.h5ad`` file.
    neighbors_key, obsp : str, optional
        Where the connectivities are; see `outcore.tl.leiden`.
    adjacency : matrix, optional
        Connectivities that are not in the object.
    is_named : bool
        Whether nodes have the names of the cells; otherwise they are numbers of rows, which takes less time.
    """

    adata: Any
    neighbors_key: str | None = None
    obsp: str | None = None
    adjacency: Any = None
    is_named: bool = True


def edges_of(
    source: EdgeSource,
    columns: str | Sequence[str | int] | None = None,
    *,
    directed: bool = False,
    two_mode: bool = False,
    has_transform: bool = False,
) -> Edges:
    """Convert a source of edges; `columns` are those of a table that the caller has chosen.

    With `two_mode`, rows and columns of a matrix are nodes of two kinds. If the edges are `directed`, both entries of a
    pair count, also in a symmetric matrix. A matrix of distances is refused unless the caller `has_transform` for them.
    """
    edges: Any = source
    if isinstance(edges, (str, os.PathLike)):
        path = os.fspath(edges)
        if not _anndata.is_file(path):
            return Edges([path])
        edges = Cells(path)
    if are_neighbors(edges):
        edges = neighbors(*edges)
    if isinstance(edges, Neighbors):
        return _of_neighbors(edges, directed=directed)
    if isinstance(edges, Mapping):
        return _of_columns(*_chosen(edges, columns))
    if _are_columns(edges):
        return _of_columns(*edges)
    if isinstance(edges, Cells) or _anndata.is_anndata(edges) or _anndata.is_stored(edges):
        return _of_cells(edges, columns, directed=directed, two_mode=two_mode)
    # Views of AnnData, and other classes of users, are subclasses of those of the libraries.
    packages = [one.__module__.partition(".")[0] for one in type(edges).__mro__]
    package = next((one for one in packages if one in _LIBRARIES), "")
    if package == "numpy" and not two_mode and _is_list_of_edges(edges, columns):
        return replace(_of_batches(_array_batches(edges, columns), Nodes("int64")), has_columns=True)
    if package in ("scipy", "numpy"):
        rows = _rows_of(edges, two_mode=two_mode)
        if two_mode:
            return _of_batches(_two_mode_batches(rows), Nodes())
        if package == "scipy" and not has_transform:
            refuse_distances(rows)
        return _of_batches(_matrix_batches(rows, directed=directed), Nodes("int64", range(rows.shape[0])))
    if package == "networkx":
        nodes = Nodes("int64", _distinct(list(edges)))
        return _of_batches(_networkx_batches(edges, nodes), nodes)
    if package == "igraph":
        has_names = "name" in edges.vs.attributes()
        nodes = Nodes("int64", _distinct(edges.vs["name"] if has_names else range(edges.vcount())))
        return _of_batches(_igraph_batches(edges, nodes), nodes)
    edges = _readable(edges, packages)
    if hasattr(edges, "__arrow_c_stream__"):
        if package == "pandas" and columns is None:
            _refuse_matrix(edges)
        if package == "pandas" and getattr(edges, "ndim", 0) == 2 and not len(edges):
            edges = _typed(edges)
        try:
            table = _outcore.table_batches(edges)
        except ValueError as error:
            # A single column has this method, too.
            if "Unable to interpret C data struct as a Schema" in str(error):
                raise _unusable(edges) from error
            raise
        return Edges(["-"], table, None, Nodes(_kind_of(table, columns)))
    if isinstance(edges, Sequence) and edges and all(isinstance(path, (str, os.PathLike)) for path in edges):
        return Edges([os.fspath(path) for path in edges])
    if isinstance(edges, Iterable):
        return _of_iterable(edges, columns)
    raise _unusable(edges)


def _readable(edges: Any, packages: Sequence[str]) -> Any:
    """Return a table that is read in batches: of a query of polars its result, of a dataset of pyarrow its rows."""
    if "polars" in packages and hasattr(edges, "collect"):
        if hasattr(edges, "collect_batches"):
            batches = iter(edges.collect_batches(maintain_order=True))
            first = next(batches, None)
            # Without rows, only the whole result has columns.
            return edges.collect() if first is None else chain([first], batches)
        return edges.collect()
    if "pyarrow" in packages and not hasattr(edges, "__arrow_c_stream__"):
        scanner = edges.scanner() if hasattr(edges, "scanner") else edges
        return scanner.to_reader() if hasattr(scanner, "to_reader") else edges
    return edges


def _typed(frame: Any) -> Any:
    """Return a data frame without rows whose first columns are names: without rows, they have no type of their own."""
    objects = [name for name, kind in frame.dtypes.items() if kind.kind == "O"]
    return frame.astype(dict.fromkeys(objects or frame.columns[:2], "string"))


def _unusable(edges: object) -> BaseException:
    """Return the error for an object that is not a source of edges."""
    return _made(
        {
            "kind": "usage",
            "message": f"cannot read edges from `{type(edges).__name__}`",
            "hint": "pass paths, a table with `__arrow_c_stream__` (pyarrow, polars, pandas), a dictionary of columns, "
            "a square matrix of scipy or numpy, an AnnData object, a networkx or igraph graph, arrays of sources, "
            "targets and weights, `outcore.neighbors(indices, distances)`, or an iterable of (source, target) or "
            "(source, target, weight)",
        }
    )


def _refused(message: str, hint: str) -> BaseException:
    """Return the error for data that is not a graph."""
    return _made({"kind": "bad-input", "message": message, "hint": hint})


def _refuse_matrix(frame: Any) -> None:
    """Refuse a data frame whose columns have the names of its rows: it is a matrix, not a table of edges."""
    if getattr(frame, "ndim", 0) != 2 or frame.shape[0] != frame.shape[1] or frame.shape[0] < 2:
        return
    names = [str(name) for name in frame.columns]
    is_named = names != [str(at) for at in range(len(names))]
    if is_named and names == [str(name) for name in frame.index]:
        raise _refused(
            "the data frame is a matrix with the same names for rows and columns",
            "pass its values, `frame.to_numpy()`, to name nodes by row number; or its entries as a table, "
            "`frame.stack().reset_index()`",
        )


def _distinct(names: Any) -> Any:
    """Return names of nodes after checking that there are any and that no two are the same text."""
    if not len(names):
        raise _refused("the graph has no nodes", "pass a graph with edges")
    if not isinstance(names, range) and len({str(name) for name in names}) < len(names):
        raise _refused(
            "two nodes of the graph have the same name as text",
            "rename them: `networkx.convert_node_labels_to_integers(graph)`, or `graph.vs['name']` of igraph",
        )
    return names


def _of_neighbors(found: Neighbors, *, directed: bool) -> Edges:
    """Convert neighbors of points."""
    if directed:
        raise _made(
            {
                "kind": "usage",
                "message": "edges between neighbors have no direction, since points that are near each other share one",
                "hint": "leave `directed` out, or pass the sparse matrix of the weights",
            }
        )
    if hasattr(found.indices, "tocsr"):
        return edges_of(found.matrix(), has_transform=True)
    return _of_batches(found.batches(), Nodes("int64", range(len(found.indices))))


def _are_columns(source: object) -> bool:
    """Return whether these are columns of edges: two or three arrays of one dimension and length."""
    if not isinstance(source, (tuple, list)) or len(source) not in (2, 3):
        return False
    shapes = {getattr(part, "shape", None) for part in source}
    return len(shapes) == 1 and len(shapes.pop() or ()) == 1


def _chosen(table: Mapping[Any, Any], columns: str | Sequence[str | int] | None) -> list[Any]:
    """Return the columns of a dictionary that are the source, the target and the weight."""
    names = [str(name) for name in table]
    if isinstance(columns, str):
        columns = columns.split(",")
    if columns is None:
        numbers = [isinstance(next(iter(one), None), Real) for one in table.values()]
        found = _outcore.choose_columns([name.encode() for name in names], numbers)
        # Two keys of any names may as well be nodes, and their values the neighbors.
        if found is None or not found[3]:
            raise _made(
                {
                    "kind": "usage",
                    "message": "a dictionary is a table of edges, but its keys name no source and target: "
                    + ", ".join(f"`{name}`" for name in names[:8]),
                    "hint": 'use `columns=("source", "target")` with two or three of its keys; of neighbors by '
                    "node, pass pairs: `((a, b) for a in graph for b in graph[a])`",
                }
            )
        columns = [names[at] for at in found[:3] if at is not None]
    values = list(table.values())
    numbered = {str(at): value for at, value in enumerate(values, 1)}
    named = numbered | dict(zip(names, values, strict=True))
    try:
        chosen = [named[str(column)] for column in columns]
    except KeyError as missing:
        listed = ", ".join(f"`{name}`" for name in names[:8])
        raise _made(
            {"kind": "usage", "message": f"the dictionary has no column {missing}, but {listed}", "hint": "use these"}
        ) from None
    if len({len(column) for column in chosen}) != 1:
        raise _refused("columns of the dictionary have different lengths", "give every edge a value in each")
    return chosen


def _of_columns(*columns: Any) -> Edges:
    """Convert columns of edges; names are text unless both columns are arrays of numbers."""
    if all(getattr(getattr(column, "dtype", None), "kind", "O") in "biuf" for column in columns):
        return replace(_of_batches(_part_batches(columns), Nodes("int64")), has_columns=True)
    if not len(columns[0]):
        raise _refused("the input holds no edges", "an edge is a row with two names and an optional weight")
    nodes = Nodes("int64")
    rows = zip(*columns, strict=True)
    return replace(_of_batches(_tuple_batches(rows, len(columns), nodes), nodes), has_columns=True)


def _of_batches(batches: Iterable[object], nodes: Nodes) -> Edges:
    table, failure = _outcore.edge_batches(batches)
    return Edges(["-"], table, failure, nodes)


def _kind_of(table: _outcore.Batches, columns: str | Sequence[str | int] | None) -> Literal["text", "int64", "uint64"]:
    """Return the type of the names in a table, by the columns that the engine will choose."""
    types = dict(table.columns)
    names = list(types)
    if isinstance(columns, str):
        columns = columns.split(",")
    if columns is None:
        numbers = [kind.startswith(("Int", "UInt", "Float")) for kind in types.values()]
        found = _outcore.choose_columns([name.encode() for name in names], numbers)
        columns = [found[0] + 1, found[1] + 1] if found else [1, 2]
    chosen = []
    for column in columns[:2]:
        if column not in types and str(column).isdigit() and 1 <= int(column) <= len(names):
            column = names[int(column) - 1]  # noqa: PLW2901
        chosen.append(types.get(str(column), ""))
    if not all(kind.startswith(("Int", "UInt")) for kind in chosen):
        return "text"
    return "uint64" if "UInt64" in chosen else "int64"


def _of_iterable(edges: Iterable[Any], columns: str | Sequence[str | int] | None) -> Edges:
    iterator = iter(edges)
    first = next(iterator, None)
    if first is None:
        raise _unusable(edges)
    iterator = chain([first], iterator)
    if hasattr(first, "__arrow_c_stream__"):
        table, failure = _outcore.edge_batches(iterator)
        return Edges(["-"], table, failure, Nodes(_kind_of(table, columns)))
    if not isinstance(first, (tuple, list)) or len(first) not in (2, 3):
        raise _unusable(edges)
    nodes = Nodes("int64")
    return _of_batches(_tuple_batches(iterator, len(first), nodes), nodes)


def _tuple_batches(edges: Iterator[Any], width: int, nodes: Nodes) -> Iterator[tuple[object, ...]]:
    """Yield rows of `width` fields in batches, and record in `nodes` whether all names are integers."""
    from array import array

    before = 0
    while batch := list(islice(edges, BATCH_EDGES)):
        fault = _fault(batch, width)
        if fault is not None:
            at, facts = fault
            row = repr(batch[at])
            text = row if len(row) <= 80 else row[:77] + "..."
            raise _made({"path": "the iterable", "line": before + at + 1, "text": text, **facts})
        sources, targets, *weights = zip(*batch, strict=True)
        numbers = array("d", map(float, weights[0])).tobytes() if weights else None
        yield _texts(sources, nodes), _texts(targets, nodes), numbers
        before += len(batch)


def _fault(batch: list[Any], width: int) -> tuple[int, dict[str, Any]] | None:
    """Return the position of the first row that is not an edge of `width` fields, with the facts of the error."""
    for at, row in enumerate(batch):
        if not isinstance(row, (tuple, list)):
            message = f"each row must be a tuple, not `{type(row).__name__}`"
            return at, {"kind": "bad-input", "column": 1, "message": message}
        if len(row) != width:
            return at, {
                "kind": "missing-column" if len(row) < width else "bad-input",
                "column": min(len(row), width) + 1,
                "message": f"this row has {len(row)} fields, but the first one has {width}",
                "hint": "give every row a weight, or none",
            }
        for column in range(2):
            name = row[column]
            if type(name) is str or type(name) is int:
                continue
            if (
                name is None
                or (isinstance(name, float) and isnan(name))
                or type(name).__name__ in ("NAType", "NaTType")
            ):
                return at, {"kind": "empty-name", "column": column + 1, "message": "a name is missing"}
            if isinstance(name, bytes):
                return at, {
                    "kind": "bad-input",
                    "column": column + 1,
                    "message": "a name is `bytes`, but names are text or whole numbers",
                    "hint": "decode it: `name.decode()`",
                }
        if width == 3 and type(row[2]) is not float:
            try:
                float(row[2])
            except OverflowError:
                return at, {"kind": "bad-weight", "column": 3, "message": "weight is infinite"}
            except (TypeError, ValueError):
                return at, {"kind": "bad-weight", "column": 3, "message": "weight is not a number"}
    return None


def _texts(names: Sequence[object], nodes: Nodes) -> list[str]:
    """Return names as text, and record in `nodes` whether all are integers."""
    if nodes.kind == "int64" and not _are_integers(names):
        nodes.kind = "text"
    return [str(name) for name in names]


def _are_integers(names: Sequence[Any]) -> bool:
    """Return whether all names are integers of 64 bits."""
    for kind in set(map(type, names)):
        if kind is not int and not (kind.__module__ == "numpy" and issubclass(kind, Integral)):
            return False
    return bool(min(names) >= -(1 << 63) and max(names) < 1 << 63)


def _is_list_of_edges(array: Any, columns: str | Sequence[str | int] | None) -> bool:
    """Return whether an array has a row for each edge, and not for each node.

    The caller has said so by `columns`, or the rows are two or three whole numbers; other numbers may be coordinates.
    """
    if array.ndim != 2:
        return False
    rows, width = array.shape
    return columns is not None or (width in (2, 3) and rows != width and array.dtype.kind in "iu" and rows > 0)


def _array_batches(
    array: Any, columns: str | Sequence[str | int] | None
) -> Iterator[tuple[bytes, bytes, bytes | None]]:
    """Yield the rows of an array of edges in batches."""
    width = array.shape[1]
    if isinstance(columns, str):
        columns = columns.split(",")
    numbers = (
        list(range(1, width + 1)) if columns is None else [int(one) if str(one).isdigit() else 0 for one in columns]
    )
    if len(numbers) not in (2, 3) or not all(1 <= number <= width for number in numbers):
        raise _made(
            {
                "kind": "usage",
                "message": f"`columns={columns!r}` does not select columns of an array of {width}",
                "hint": "use the numbers of the source, the target and optionally the weight, from 1: `columns=(1, 2)`",
            }
        )
    yield from _part_batches([array[:, number - 1] for number in numbers])


def _part_batches(parts: Sequence[Any]) -> Iterator[tuple[bytes, bytes, bytes | None]]:
    """Yield edges in batches, whose sources, targets and optionally weights are arrays of numbers."""
    import numpy as np

    # Columns of pandas are arrays, too, but are cut by their labels.
    arrays = [np.asarray(part) for part in parts]
    if not len(arrays[0]):
        raise _refused("the input holds no edges", "an edge is a row with two names and an optional weight")
    for at in range(0, len(arrays[0]), BATCH_EDGES):
        batch = [array[at : at + BATCH_EDGES] for array in arrays]
        ends = []
        for part in batch[:2]:
            with np.errstate(invalid="ignore"):
                names = part.astype(np.int64) if part.dtype.kind in "biuf" else None
            if names is None or (names != part).any():
                raise _refused(
                    f"the array holds names that are not whole numbers of 64 bits: `{part.dtype}`",
                    "pass a table or an iterable of tuples, whose names may be text",
                )
            ends.append(names.tobytes())
        yield ends[0], ends[1], batch[2].astype(np.float64).tobytes() if len(batch) == 3 else None


def _rows_of(matrix: Any, *, two_mode: bool) -> Any:
    """Return a matrix in compressed sparse row format, square unless its rows and columns are nodes of two kinds."""
    if getattr(matrix, "ndim", 0) != 2:
        raise _unusable(matrix)
    rows, columns = matrix.shape
    if rows != columns and not two_mode:
        numbers = ", ".join(map(str, range(1, columns + 1)))
        pairs = f"; `columns=({numbers})` if its rows are edges" if columns in (2, 3) else ""
        raise _made(
            {
                "kind": "usage",
                "message": f"cannot read edges from a matrix of {rows} x {columns}: one of edges is square",
                "hint": "use `two_mode=True` if rows and columns are nodes of two kinds; if columns are features of "
                f"rows, pass similarities of the rows, such as `matrix @ matrix.T`{pairs}",
            }
        )
    if rows == 0 or columns == 0:
        raise _refused("the matrix has no rows or no columns", "pass a matrix with a row for each node")
    if matrix.dtype.kind not in "biuf":
        raise _refused(
            f"the matrix holds `{matrix.dtype}`, but weights are numbers",
            "pass a table of pairs as an iterable of tuples: `map(tuple, matrix)`",
        )
    if hasattr(matrix, "tocsr"):
        return matrix.tocsr()
    import numpy as np
    import scipy.sparse

    if np.ma.isMaskedArray(matrix):
        # Masked entries are not edges.
        matrix = matrix.filled(0)
    return scipy.sparse.csr_array(matrix.astype(np.float32) if matrix.dtype == np.float16 else matrix)


def _matrix_batches(
    rows: Any, names: Sequence[str] | None = None, *, directed: bool
) -> Iterator[tuple[object, object, bytes]]:
    """Yield the entries of a matrix in batches; of a symmetric one whose edges have no direction the upper half.

    A node without entries in its row and column gets a loop of weight 0, so that it is not lost. Nodes are numbers of
    rows, unless they have `names`.
    """
    import numpy as np

    texts = None if names is None else np.array(names, dtype=object)

    def named(nodes: Any) -> object:
        return nodes.tobytes() if texts is None else texts[nodes].tolist()

    is_symmetric = not directed and _is_symmetric(rows)
    seen = np.zeros(rows.shape[0], dtype=bool)
    for at in range(0, rows.nnz, BATCH_EDGES):
        end = min(at + BATCH_EDGES, rows.nnz)
        source = _anndata.rows_between(rows.indptr, at, end)
        target = rows.indices[at:end].astype(np.int64)
        weight = rows.data[at:end].astype(np.float64)
        seen[source] = True
        seen[target] = True
        if is_symmetric:
            upper = source <= target
            source, target, weight = source[upper], target[upper], weight[upper]
        yield named(source), named(target), weight.tobytes()
    alone = np.flatnonzero(~seen).astype(np.int64)
    for at in range(0, len(alone), BATCH_EDGES):
        nodes = alone[at : at + BATCH_EDGES]
        yield named(nodes), named(nodes), bytes(8 * len(nodes))


def _is_symmetric(rows: Any) -> bool:
    """Return whether a matrix is symmetric; entries that are not given are 0."""
    import numpy as np

    if isinstance(rows, _anndata.StoredRows):
        return rows.is_symmetric()
    if rows.nnz == 0:
        return True
    other = rows.T.tocsr()
    # Usually the same entries in the same order, which needs no difference in memory.
    if all(np.array_equal(getattr(rows, part), getattr(other, part)) for part in ("indptr", "indices", "data")):
        return True
    return bool(abs(rows - other).nnz == 0)


def _of_cells(source: Any, columns: object, *, directed: bool, two_mode: bool) -> Edges:
    """Convert the connectivities of cells; a path of a file has been checked."""
    message = None
    if two_mode:
        message = "`two_mode=True` is for nodes of two kinds, but rows and columns are the same cells"
    elif columns is not None:
        message = "`columns` are those of a table of edges, but cells have a matrix"
    if message is not None:
        raise _made({"kind": "usage", "message": message, "hint": "leave it out"})
    if _anndata.is_stored(source):
        rows = _anndata.stored(source)
        return _of_batches(_matrix_batches(rows, directed=directed), Nodes("int64", range(rows.shape[0])))
    cells = source if isinstance(source, Cells) else Cells(source)
    nodes = Nodes("text" if cells.is_named else "int64")
    return _of_batches(_cell_batches(cells, nodes, directed=directed), nodes)


def _cell_batches(cells: Cells, nodes: Nodes, *, directed: bool) -> Iterator[tuple[object, object, bytes]]:
    """Yield the connectivities of cells in batches. `nodes` gets their order, before the first batch."""
    if isinstance(cells.adata, str):
        with _anndata.opened(cells.adata) as file:
            rows = _anndata.stored(_anndata.chosen(file, cells.neighbors_key, cells.obsp))
            yield from _named_batches(rows, file if cells.is_named else None, nodes, directed=directed)
        return
    matrix = cells.adjacency
    if matrix is None:
        matrix = _anndata.chosen(cells.adata, cells.neighbors_key, cells.obsp)
    rows = _anndata.stored(matrix) if _anndata.is_stored(matrix) else _rows_of(matrix, two_mode=False)
    yield from _named_batches(rows, cells.adata if cells.is_named else None, nodes, directed=directed)


def _named_batches(rows: Any, adata: Any, nodes: Nodes, *, directed: bool) -> Iterator[tuple[object, object, bytes]]:
    count = rows.shape[0]
    names = None if adata is None else _anndata.names_of(adata)
    if names is not None and len(names) != count:
        raise _refused(
            f"the graph has {count} nodes, but there are {len(names)} cells",
            "pass a matrix with a row and a column for each cell",
        )
    nodes.rows = range(count) if names is None else names
    return _matrix_batches(rows, names, directed=directed)


def _two_mode_batches(rows: Any) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the entries of a matrix whose rows and columns are nodes of two kinds, in batches.

    A row or column without entries gets an edge of weight 0, so that it is not lost.
    """
    import numpy as np

    entries = rows.tocoo()
    for at in range(0, entries.nnz, BATCH_EDGES):
        part = slice(at, at + BATCH_EDGES)
        source, target = entries.row[part].astype(np.int64), entries.col[part].astype(np.int64)
        yield source.tobytes(), target.tobytes(), entries.data[part].astype(np.float64).tobytes()
    for axis, count in enumerate(rows.shape):
        seen = np.zeros(count, dtype=bool)
        seen[entries.row if axis == 0 else entries.col] = True
        alone = np.flatnonzero(~seen).astype(np.int64)
        for at in range(0, len(alone), BATCH_EDGES):
            nodes = alone[at : at + BATCH_EDGES].tobytes()
            none = bytes(len(nodes))
            yield (nodes, none, none) if axis == 0 else (none, nodes, none)


def _graph_batches(
    edges: Iterator[tuple[object, object, object]], alone: Iterator[object], nodes: Nodes
) -> Iterator[tuple[object, ...]]:
    yield from _tuple_batches(edges, 3, nodes)
    yield from _tuple_batches(((node, node, 0.0) for node in alone), 3, nodes)


def _networkx_batches(graph: Any, nodes: Nodes) -> Iterator[tuple[object, ...]]:
    return _graph_batches(
        iter(graph.edges(data="weight", default=1)), (node for node, degree in graph.degree() if degree == 0), nodes
    )


def _igraph_batches(graph: Any, nodes: Nodes) -> Iterator[tuple[object, ...]]:
    names: Any = nodes.rows
    weights = graph.es["weight"] if "weight" in graph.es.attributes() else [1.0] * graph.ecount()
    edges = (
        (names[source], names[target], weight)
        for (source, target), weight in zip(graph.get_edgelist(), weights, strict=True)
    )
    return _graph_batches(edges, (names[at] for at, degree in enumerate(graph.degree()) if degree == 0), nodes)
