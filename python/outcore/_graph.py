"""A graph on disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from outcore import _outcore
from outcore._report import Report, table
from outcore._sources import StrPath

__all__ = ["Graph", "open_graph"]


class _Degrees:
    """Degrees as a table; each reading goes through the graph."""

    def __init__(self, graph: _outcore.GraphFile) -> None:
        self._graph = graph

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the columns `node` and `degree`, block by block."""
        return self._graph.degrees().__arrow_c_stream__(requested_schema)


class _Subgraph:
    """Edges among some nodes as a table; each reading goes through the graph."""

    def __init__(self, graph: _outcore.GraphFile, names: set[bytes]) -> None:
        self._graph = graph
        self._names = names

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the columns `source`, `target` and `weight`."""
        edges, missing = self._graph.subgraph(self._names)
        if edges is None:
            raise KeyError(os.fsdecode(missing or b""))
        return edges.__arrow_c_stream__(requested_schema)


class Graph:
    """A graph on disk, made by :func:`outcore.build`; nothing of it is in memory but its index.

    Attributes
    ----------
    path : str
        The directory.
    report : Report or None
        What was done, if it was made by this object's call.
    """

    def __init__(self, path: StrPath, report: Report | None = None) -> None:
        self.path = os.fspath(path)
        self.report = report
        self._file = _outcore.GraphFile(self.path)

    def __fspath__(self) -> str:
        return self.path

    @property
    def node_count(self) -> int:
        """Nodes."""
        return self._file.node_count

    @property
    def edge_count(self) -> int:
        """Edges; of a directed graph its arcs."""
        return self._file.edge_count

    @property
    def weight_total(self) -> float:
        """The sum of all edges' weights."""
        return self._file.weight_total

    @property
    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self._file.is_directed

    @property
    def is_weighted(self) -> bool:
        """Whether not all weights are 1."""
        return self._file.is_weighted

    def neighbors(self, node: object) -> dict[str, float]:
        """Give the neighbors of a node with the weights of the edges to them.

        Reads the names up to that of the node, a block of the graph, and a block of names for each neighbor.

        Raises
        ------
        KeyError
            If there is no such node.
        """
        found = self._file.neighbors(os.fsencode(str(node)))
        if found is None:
            raise KeyError(node)
        return {os.fsdecode(name): weight for name, weight in found}

    def subgraph(self, nodes: Iterable[object]) -> _Subgraph:
        """Give the edges among some nodes as a table for Arrow, with the columns `source`, `target` and `weight`.

        It is a source of edges itself: cluster it, build a graph of it, or make a pandas table of it. A node that has
        no edge to another of them, or with directions from another, is a loop of weight 0. Reading it reads all names
        of the graph, and the blocks that have such nodes; the names of the nodes asked for are held.

        Parameters
        ----------
        nodes : iterable
            Names, such as ``communities.members(3)``.

        Raises
        ------
        KeyError
            When it is read, if there is no such node.

        Examples
        --------
        >>> import outcore, tempfile, os
        >>> graph = outcore.build("tests/graphs/karate.tsv", os.path.join(tempfile.mkdtemp(), "karate.graph"))
        >>> communities = outcore.cluster(graph, method="modularity")
        >>> inside = graph.subgraph(communities.members(0))
        >>> outcore.cluster(inside, method="modularity").community_count
        2
        """
        return _Subgraph(self._file, {os.fsencode(str(node)) for node in nodes})

    def degrees(self) -> _Degrees:
        """Give the degree of every node as a table for Arrow, with the columns `node` and `degree`."""
        return _Degrees(self._file)

    def verify(self) -> None:
        """Read all of it and compare checksums.

        Raises
        ------
        outcore.CorruptFileError
            If something is damaged.
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
    """Open a graph that `outcore.build` or the command has made.

    Raises
    ------
    outcore.CorruptFileError
        If it is no graph, or a damaged one.
    """
    return Graph(path)
