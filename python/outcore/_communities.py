"""Communities: a file on disk, text or a table, read when something of it is asked for."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outcore import _outcore
from outcore._report import Report, table
from outcore._sources import Nodes, StrPath

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Communities"]


class Communities:
    """The communities of a graph's nodes, as a file of ``node<TAB>community`` or a table with these columns.

    It maps nodes to communities: ``communities[node]``, ``node in communities``, and as many items as nodes, which
    iteration gives as pairs, so that ``dict(communities)`` is a dictionary of them. Communities are numbers from 0,
    the largest first. Nodes are whole numbers if all of them were where the edges came from (a matrix, a table, a graph
    of another library, an iterable), else text: of files and graphs on disk they are text.

    It is a table for whatever reads Arrow: ``pyarrow.table(communities)``, ``polars.DataFrame(communities)``.

    Pairs and rows of tables are in the order of the file, that of the first appearance of nodes in the input;
    `labels` alone is in that of the rows of a matrix or the nodes of a graph of another library.

    Attributes
    ----------
    path : str
        The file. One that was not asked for by ``output`` is removed with this object.
    report : Report
        What the job did.
    """

    def __init__(self, path: StrPath, report: Report, nodes: Nodes | None = None) -> None:
        self.path = os.fspath(path)
        self.report = report
        self._nodes = nodes or Nodes()
        self._lookup = _outcore.Lookup(self.path)

    @property
    def node_count(self) -> int:
        """Nodes of the graph."""
        count: int = self.report["graph"]["node_count"]
        return count

    @property
    def community_count(self) -> int:
        """Communities."""
        return int(self._found["community_count"])

    @property
    def _found(self) -> dict[str, Any]:
        found: dict[str, Any] = self.report["communities"]
        return found

    def __len__(self) -> int:
        """Nodes with a community: all of the graph, but for those that `min_size` leaves out."""
        presented = self._found.get("presented") or {"small": "singletons"}
        dropped = presented["small_node_count"] if presented["small"] == "drop" else 0
        return self.node_count - int(dropped)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the columns `node` and `community`, batch by batch."""
        batches = _outcore.read_communities(self.path, self._nodes.kind)
        return batches.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """Give a pyarrow table with the columns `node` and `community`."""
        import pyarrow as pa

        return pa.table(self)

    def to_pandas(self) -> pd.DataFrame:
        """Give a pandas frame with the columns `node` and `community`."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Give a polars frame with the columns `node` and `community`."""
        import polars as pl

        return pl.DataFrame(self)

    @property
    def labels(self) -> npt.NDArray[np.int64]:
        """The community of every node: 8 bytes a node.

        Those of a matrix are in the order of its rows, those of a networkx or igraph graph in the order of its nodes,
        so that label number `i` is that of row or node number `i`; -1 where `min_size` has left it out. Those of other
        sources are in the file's order.
        """
        import numpy as np

        rows = self._nodes.rows
        if rows is None:
            return self._in_file()
        if isinstance(rows, range):
            return np.asarray(_outcore.read_rows(self.path, len(rows)))
        found = self._by_text()
        return np.fromiter((found.get(str(name), -1) for name in rows), np.int64, len(rows))

    def _in_file(self) -> npt.NDArray[np.int64]:
        """Give the community of every node in the file's order; numpy takes it without a copy."""
        import numpy as np

        return np.asarray(_outcore.read_labels(self.path))

    def _by_text(self) -> dict[str, int]:
        """Give the communities of nodes that are known by what `str` makes of them."""
        return {str(node): community for node, community in self}

    def sizes(self) -> npt.NDArray[np.int64]:
        """Nodes of each community, by its number."""
        import numpy as np

        return np.bincount(self._in_file())

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        """Go through the nodes with their communities, in the file's order."""
        return self._pairs(None)

    def _pairs(self, community: int | None) -> Iterator[tuple[Any, int]]:
        for pairs in _outcore.read_pairs(self.path, self._nodes.kind, community):
            for name, number in pairs:
                yield name if isinstance(name, int) else name.decode("utf-8", "surrogateescape"), number

    def __getitem__(self, node: object) -> int:
        """Give the community of a node.

        The first look-up goes through the file once, and makes an index of it: on disk beside the file, of 32 bytes a
        node and its name, which is gone with this object. The ones after it read two pieces of that.

        Raises
        ------
        KeyError
            If there is no such node.
        """
        community = self._lookup.community(str(node).encode("utf-8", "surrogateescape"))
        if community is None:
            raise KeyError(node)
        return community

    def __contains__(self, node: object) -> bool:
        """Whether there is such a node; looks it up as ``communities[node]`` does."""
        return self._lookup.community(str(node).encode("utf-8", "surrogateescape")) is not None

    def members(self, community: int) -> list[Any]:
        """Give the nodes of a community; goes through the file once."""
        return [node for node, _ in self._pairs(community)]

    def write(self, path: StrPath) -> None:
        """Copy the file to `path`, whole or not at all."""
        whole = os.path.abspath(path)
        with tempfile.TemporaryDirectory(prefix=".outcore-", dir=os.path.dirname(whole)) as own:
            shutil.copyfile(self.path, os.path.join(own, "part"))
            os.replace(os.path.join(own, "part"), whole)

    def to_networkx(self, graph: Any) -> list[set[Any]]:
        """Give the communities of a networkx graph as sets of its nodes, the largest first.

        What ``networkx.community`` takes and gives.
        """
        nodes = {str(node): node for node in graph}
        groups: dict[int, set[Any]] = {}
        for node, community in self:
            groups.setdefault(community, set()).add(nodes[str(node)])
        # Numbers that `match` keeps may have gaps.
        return [groups[community] for community in sorted(groups)]

    def to_igraph(self, graph: Any) -> Any:
        """Give the communities of an igraph graph as its ``VertexClustering``."""
        import igraph

        has_names = "name" in graph.vs.attributes()
        names = graph.vs["name"] if has_names else range(graph.vcount())
        found = self._by_text()
        return igraph.VertexClustering(graph, [found[str(name)] for name in names])

    def __repr__(self) -> str:
        found = self._found
        quality = f"modularity {found['modularity']:.2f}"
        return f"<Communities: {self.node_count} nodes in {self.community_count} communities, {quality}>"

    def _repr_html_(self) -> str:
        found = self._found
        rows = [
            ["nodes", f"{self.node_count:,}"],
            ["communities", f"{self.community_count:,}"],
            ["largest", f"{found['largest_size']:,} nodes, {found['largest_share']:.1%}"],
            ["modularity", f"{found['modularity']:.4f}"],
            ["method", found["method"]],
            ["file", self.path],
        ]
        return table(["communities", ""], rows)
