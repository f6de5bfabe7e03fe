"""Communities: a file on disk, text or a table, read when something of it is asked for."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outcore import _outcore
from outcore._report import Report, table
from outcore._sources import StrPath

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Communities"]


class Communities:
    """The communities of a graph's nodes, as a file of ``node<TAB>community`` or a table with these columns.

    Nodes are in the order of their first appearance in the input, communities are numbers from 0, the largest
    first. It is a table for whatever reads Arrow: ``pyarrow.table(communities)``, ``polars.DataFrame(communities)``.

    Attributes
    ----------
    path : str
        The file. One that was not asked for by ``output`` is removed with this object.
    report : Report
        What the job did.
    """

    def __init__(self, path: StrPath, report: Report, *, integers: bool = False) -> None:
        self.path = os.fspath(path)
        self.report = report
        self._integers = integers

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
        found = self.report["communities"]
        first: dict[str, Any] = found[0] if isinstance(found, list) else found
        return first

    def __len__(self) -> int:
        """Communities."""
        return self.community_count

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the columns `node` and `community`, batch by batch."""
        batches = _outcore.read_communities(self.path, b"", self._integers)
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
        """The community of every node in the file's order: 8 bytes a node, which numpy takes without a copy."""
        import numpy as np

        return np.asarray(_outcore.read_labels(self.path, b""))

    def sizes(self) -> npt.NDArray[np.int64]:
        """Nodes of each community, by its number."""
        import numpy as np

        return np.bincount(self.labels)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Go through the nodes with their communities, in order."""
        for pairs in _outcore.read_pairs(self.path, b""):
            for name, community in pairs:
                yield name.decode("utf-8", "surrogateescape"), community

    def __getitem__(self, node: object) -> int:
        """Give the community of a node; goes through the file up to it.

        Raises
        ------
        KeyError
            If there is no such node.
        """
        name = str(node)
        for found, community in self:
            if found == name:
                return community
        raise KeyError(node)

    def members(self, community: int) -> list[str]:
        """Give the nodes of a community; goes through the file once."""
        return [node for node, found in self if found == community]

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
        groups: list[set[Any]] = [set() for _ in range(self.community_count)]
        for node, community in self:
            groups[community].add(nodes[node])
        return groups

    def to_igraph(self, graph: Any) -> Any:
        """Give the communities of an igraph graph as its ``VertexClustering``."""
        import igraph

        has_names = "name" in graph.vs.attributes()
        names = [str(name) for name in (graph.vs["name"] if has_names else range(graph.vcount()))]
        found = dict(self)
        return igraph.VertexClustering(graph, [found[name] for name in names])

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
