"""A graph on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from outcore import _outcore
from outcore._report import Report, table
from outcore._sources import StrPath

if TYPE_CHECKING:
    import igraph as ig
    import networkx as nx
    import numpy as np
    import numpy.typing as npt
    import scipy.sparse

__all__ = ["Graph", "open_graph"]


class _Degrees:
    """Degrees as a table; each read scans the graph."""

    def __init__(self, graph: _outcore.GraphFile) -> None:
        self._graph = graph

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a stream with the columns `node` and `degree`, block by block."""
        return self._graph.degrees().__arrow_c_stream__(requested_schema)


class _Subgraph:
    """Edges among some nodes as a table; each read scans the graph."""

    def __init__(self, graph: _outcore.GraphFile, names: set[bytes]) -> None:
        self._graph = graph
        self._names = names

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a stream with the columns `source`, `target` and `weight`."""
        edges, missing = self._graph.subgraph(self._names)
        if edges is None:
            raise KeyError(os.fsdecode(missing or b""))
        return edges.__arrow_c_stream__(requested_schema)


class _Edges:
    """Edges of a graph as a table; each read scans the graph."""

    def __init__(self, graph: _outcore.GraphFile, memory: str) -> None:
        self._graph = graph
        self._memory = memory

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a stream with the columns `source`, `target` and `weight`."""
        return self._graph.edges(self._memory).__arrow_c_stream__(requested_schema)


class Graph:
    """Graph on disk, made by :func:`outcore.build`. Only its index is held in memory.

    Attributes
    ----------
    path : str
        Directory of the graph.
    report : Report or None
        Report of :func:`outcore.build`, if that call returned this object.
    """

    def __init__(self, path: StrPath, report: Report | None = None) -> None:
        self.path: str = os.fspath(path)
        self.report: Report | None = report
        self._file = _outcore.GraphFile(self.path)

    def __fspath__(self) -> str:
        return self.path

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return self._file.node_count

    @property
    def edge_count(self) -> int:
        """Number of edges, or of arcs in a directed graph."""
        return self._file.edge_count

    @property
    def weight_total(self) -> float:
        """Sum of the weights of all edges."""
        return self._file.weight_total

    @property
    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self._file.is_directed

    @property
    def is_weighted(self) -> bool:
        """Whether any weight differs from 1."""
        return self._file.is_weighted

    @property
    def kinds(self) -> dict[str, int] | None:
        """Number of nodes of each kind, that of the sources of edges first; None unless nodes are of two kinds."""
        recorded = self._recorded("kinds")
        return None if recorded is None else dict(zip(recorded["names"], recorded["counts"], strict=True))

    def _recorded(self, field: str) -> Any:
        with open(os.path.join(self.path, "graph.json"), "rb") as file:
            return json.load(file).get(field)

    def _is_second(self, names: list[str]) -> list[bool]:
        """Return whether each node is of the second kind, with which its name then begins."""
        prefix = f"{list(self.kinds or {})[1]}:"
        return [name.startswith(prefix) for name in names]

    def neighbors(self, node: object) -> dict[str, float]:
        """Return the neighbors of a node with the weights of the edges to them.

        The call reads the names up to that of the node, one block of the graph, and one block of names per neighbor.

        Raises
        ------
        KeyError
            If the node does not exist.
        """
        found = self._file.neighbors(os.fsencode(str(node)))
        if found is None:
            raise KeyError(node)
        return {os.fsdecode(name): weight for name, weight in found}

    def subgraph(self, nodes: Iterable[object]) -> _Subgraph:
        """Return the edges among some nodes as an Arrow table with the columns `source`, `target` and `weight`.

        The table is itself a source of edges: it can be clustered, built into a graph, or converted to pandas. A node
        without an edge to another of the nodes (in a directed graph: without an edge from another) appears as a loop of
        weight 0. Each read of the table reads all names of the graph and the blocks that contain these nodes; the
        requested names are held in memory.

        Parameters
        ----------
        nodes : iterable
            Names of nodes, such as ``communities.members(3)``.

        Raises
        ------
        KeyError
            When the table is read, if a node does not exist.

        Examples
        --------
        >>> import outcore, tempfile, os
        >>> graph = outcore.build("tests/graphs/karate.tsv", os.path.join(tempfile.mkdtemp(), "karate.graph"))
        >>> communities = outcore.cluster(graph, method="modularity")
        >>> inside = graph.subgraph(communities.members(0))
        >>> outcore.cluster(inside, method="modularity", resolution=1.5).community_count
        5
        """
        return _Subgraph(self._file, {os.fsencode(str(node)) for node in nodes})

    def edges(self, *, memory: str | int = "50%") -> _Edges:
        """Return all edges as an Arrow table with the columns `source`, `target` and `weight`.

        The table is streamed from the graph, and is itself a source of edges. An undirected edge occurs once. A node
        without an edge (in a directed graph: without an edge from another node) appears as a loop of weight 0.

        Parameters
        ----------
        memory : str or int
            Memory limit, as in :func:`outcore.cluster`. If the names of the nodes do not fit, they are read several
            times.

        Examples
        --------
        >>> import outcore, pyarrow, tempfile, os
        >>> graph = outcore.build("tests/graphs/karate.tsv", os.path.join(tempfile.mkdtemp(), "karate.graph"))
        >>> pyarrow.table(graph.edges()).num_rows
        78
        """
        return _Edges(self._file, str(memory))

    def _names(self) -> list[str]:
        import pyarrow as pa

        names: list[str] = pa.table(self.degrees())["node"].to_pylist()
        return names

    def _rows(self, names: list[str]) -> npt.NDArray[np.int64] | None:
        """Return the row of each node, if all nodes are rows of what the graph was made of."""
        import numpy as np

        recorded = self._recorded("names")
        is_of_rows = isinstance(recorded, dict) and recorded.get("rows") == len(names)
        return np.array(names, dtype=np.int64) if is_of_rows else None

    def _numbered(self) -> tuple[list[str], list[npt.NDArray[Any]]]:
        """Return the names of nodes, and the source, target and weight of edges by number of the name."""
        import pyarrow as pa

        edges = pa.table(self._file.numbered_edges())
        source, target, weight = (edges[name].to_numpy() for name in ("source", "target", "weight"))
        names = self._names()
        rows = self._rows(names)
        if rows is None:
            return names, [source, target, weight]
        return [str(row) for row in range(len(rows))], [rows[source], rows[target], weight]

    def to_networkx(self) -> nx.Graph[str] | nx.DiGraph[str]:
        """Return the graph as one of networkx, with the weights of edges as ``weight``.

        Nodes are the names as text, in the order of the rows that the graph was made of; otherwise that of
        :meth:`degrees`. It takes about a kilobyte of memory per edge. If nodes are of two kinds, they have the
        attributes ``kind``, and ``bipartite``, which is 0 or 1, as the bipartite functions of networkx expect.
        """
        import networkx as nx
        import pyarrow as pa

        graph = nx.DiGraph() if self.is_directed else nx.Graph()
        names = self._names()
        graph.add_nodes_from(names if self._rows(names) is None else sorted(names, key=int))
        if kinds := list(self.kinds or ()):
            for name, is_second in zip(names, self._is_second(names), strict=True):
                graph.nodes[name].update(kind=kinds[is_second], bipartite=int(is_second))
        for batch in pa.RecordBatchReader.from_stream(self._file.numbered_edges()):
            sources, targets, weights = (column.to_pylist() for column in batch.columns)
            ends = ((names[source], names[target]) for source, target in zip(sources, targets, strict=True))
            graph.add_weighted_edges_from((*pair, weight) for pair, weight in zip(ends, weights, strict=True))
        return graph

    def to_igraph(self) -> ig.Graph:
        """Return the graph as one of igraph, with the attribute `name` of vertices and `weight` of edges.

        Vertices have the order of the rows that the graph was made of, as `Communities.labels`; otherwise that of
        :meth:`degrees`. If nodes are of two kinds, vertices have the attributes `kind`, and `type`, which is true for
        the second, as the bipartite functions of igraph expect.
        """
        import igraph as ig

        names, (source, target, weight) = self._numbered()
        pairs = list(zip(source.tolist(), target.tolist(), strict=True))
        graph = ig.Graph(n=len(names), edges=pairs, directed=self.is_directed)
        graph.vs["name"] = names
        graph.es["weight"] = weight.tolist()
        if kinds := list(self.kinds or ()):
            graph.vs["type"] = self._is_second(names)
            graph.vs["kind"] = [kinds[is_second] for is_second in graph.vs["type"]]
        return graph

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the matrix of weights: entry (i, j) is the weight of the edge from node i to node j.

        Nodes have the order of the rows that the graph was made of, as `Communities.labels`; otherwise that of
        :meth:`degrees`. The matrix of an undirected graph is symmetric.

        Examples
        --------
        >>> import outcore, tempfile, os
        >>> graph = outcore.build("tests/graphs/karate.tsv", os.path.join(tempfile.mkdtemp(), "karate.graph"))
        >>> matrix = graph.to_scipy()
        >>> matrix.shape, matrix.nnz
        ((34, 34), 156)
        """
        import numpy as np
        import scipy.sparse

        names, (source, target, weight) = self._numbered()
        if not self.is_directed:
            off = source != target
            source, target = np.concatenate([source, target[off]]), np.concatenate([target, source[off]])
            weight = np.concatenate([weight, weight[off]])
        return scipy.sparse.csr_array((weight, (source, target)), shape=(len(names), len(names)))

    def degrees(self) -> _Degrees:
        """Return the degree of every node as an Arrow table with the columns `node` and `degree`."""
        return _Degrees(self._file)

    def verify(self) -> None:
        """Read the whole graph and verify its checksums.

        Raises
        ------
        outcore.CorruptFileError
            If a file is damaged.
        """
        self._file.verify()

    def __repr__(self) -> str:
        return f"<Graph: {self.node_count} nodes, {self.edge_count} edges, {self.path!r}>"

    def _repr_html_(self) -> str:
        rows: list[Any] = [
            ["nodes", f"{self.node_count:,}"],
            ["edges", f"{self.edge_count:,}"],
            ["directed", "yes" if self.is_directed else "no"],
            ["weighted", "yes" if self.is_weighted else "no"],
            ["directory", self.path],
        ]
        return table(["graph", ""], rows)


def open_graph(path: StrPath) -> Graph:
    """Open a graph that :func:`outcore.build` or the command has made.

    Parameters
    ----------
    path : path
        Directory of the graph.

    Returns
    -------
    Graph
        Graph on disk.

    Raises
    ------
    outcore.CorruptFileError
        If the directory is not a graph, or the graph is damaged.
    """
    return Graph(path)
