"""Communities as a file on disk, text or a table, that is read on demand."""

from __future__ import annotations

import csv
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from outcore import _outcore
from outcore._graph import Graph, open_graph
from outcore._report import Report, table
from outcore._sources import Nodes, StrPath, recorded_rows
from outcore.errors import _made

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Communities"]

#: Formats other than text, by the endings of their names.
_FORMATS = {
    ".parquet": "Parquet",
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "Arrow"),
    **dict.fromkeys((".jsonl", ".ndjson"), "JSON lines"),
    ".csv": "CSV",
}
_NO_SUMMARY = "this result has no summary: use `outcore.cluster(..., summary=True)`"
_NO_LEVELS = "this result has no levels: use `outcore.cluster(..., levels=True)`"
_NO_KINDS = "nodes of this result are of one kind"
_NO_COLUMN = "this file has no column `{0}`: use `outcore.cluster(..., {0}=True)`"
_NO_STABILITY = "this result has no stability: use `outcore.cluster(..., stability=True)`"


def _format_of(path: str) -> str:
    """Return the format that the ending of a name selects."""
    return _FORMATS.get(os.path.splitext(path)[1].lower(), "text")


def _content(path: str) -> bytes:
    """Return the bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


def _numbers(values: Iterator[float | None], name: str) -> npt.NDArray[np.float64]:
    """Return the values of a column that every row has."""
    import numpy as np

    try:
        return np.fromiter(values, np.float64)
    except TypeError as error:
        raise ValueError(_NO_COLUMN.format(name)) from error


def _column_of_table(path: str, name: str, is_parquet: bool) -> npt.NDArray[np.float64] | None:
    """Return a column of a table, if it has it."""
    import numpy as np
    import pyarrow as pa

    if is_parquet:
        import pyarrow.parquet as pq

        file = pq.ParquetFile(path)
        if name not in file.schema_arrow.names:
            return None
        parts = [batch[name] for batch in file.iter_batches(columns=[name])]
    else:
        opened = pa.ipc.open_file(path)
        if name not in opened.schema.names:
            return None
        parts = [opened.get_batch(at)[name] for at in range(opened.num_record_batches)]
    return np.concatenate([np.empty(0), *(part.to_numpy(zero_copy_only=False) for part in parts)])


def _groups_of_table(path: str, is_parquet: bool) -> list[npt.NDArray[np.int64]] | None:
    """Return the columns `group1` and so on of a table."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path) if is_parquet else pa.ipc.open_file(path).read_all()
    names = [name for name in table.column_names if name.startswith("group")]
    return [table[name].to_numpy().astype(np.int64) for name in names] or None


class Communities:
    """Communities of the nodes of a graph, as a file of ``node<TAB>community`` or a table with these columns.

    :func:`outcore.cluster` returns it; ``outcore.Communities(path)`` opens a file that this function or the command has
    written, in any form: text, also with a header, levels and further columns, CSV, JSON lines, Parquet, Arrow.

    The object maps nodes to communities: ``communities[node]``, ``communities[[node, ...]]`` for several and ``node in
    communities`` work, its length is the number of nodes with a community, and iteration yields pairs, so that
    ``dict(communities)`` is a dictionary.
    Communities are numbers from 0, the largest community first. Nodes are integers if all nodes of the source were (a
    matrix, a table, also in a Parquet or Arrow file, a graph of another library, an iterable), otherwise text. Nodes of
    files of text are text.

    Anything that reads Arrow can read it as a table: ``pyarrow.table(communities)``, ``polars.DataFrame(communities)``.

    Pairs and rows of tables have the order of the file, in which nodes first appear in the input. Only `labels` has the
    order of numbers: of the rows of a matrix, of the nodes of a graph of another library, or of nodes whose names are
    the numbers from 0.

    Parameters
    ----------
    path : path
        File of communities.
    rows : {"node", "community", "pair"}
        What a line is, as in the option ``--rows`` of the command: a node and its community, all nodes of a community,
        or a representative and a node. By default the file shows it, as results do.

    Attributes
    ----------
    path : str
        Path of the file. Unless requested by ``output``, the file is removed together with this object, and a pickled
        object holds its content.
    report : Report
        Report of the job; empty if the file was opened by its path.

    Examples
    --------
    >>> import outcore, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "communities.parquet")
    >>> found = outcore.cluster("tests/graphs/karate.tsv", method="modularity", output=path)
    >>> opened = outcore.Communities(path)
    >>> dict(opened) == dict(found), opened["1"], len(opened), opened.community_count
    (True, 1, 34, 4)
    """

    #: Directory that is removed together with this object; None if the file was asked for by its path.
    _owned: str | None = None

    def __init__(
        self,
        path: StrPath,
        report: Report | None = None,
        nodes: Nodes | None = None,
        *,
        rows: Literal["node", "community", "pair"] = "node",
    ) -> None:
        self.path: str = os.fspath(path)
        self.report: Report = report or Report({})
        self._nodes = nodes or Nodes()
        if name_type := (self.report.get("graph") or {}).get("name_type"):
            self._nodes = replace(self._nodes, kind=name_type)
        self._form = rows
        self._lookup = _outcore.Lookup(self.path, rows)
        if report is None:
            # An error about the form of the file belongs here, not to the first use.
            _outcore.read_communities(self.path, rows, "text")

    def _own(self, directory: str) -> None:
        """Remove a directory with the files of the result together with this object."""
        self._owned = directory
        weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process needs: temporary files themselves, and the paths of others."""
        report = json.loads(json.dumps(self.report.to_dict())) if self.report else {}
        state = {"path": os.path.abspath(self.path), "report": report, "nodes": self._nodes, "rows": self._form}
        if self._owned is not None:
            names = sorted(os.listdir(self._owned))
            state["files"] = {name: _content(os.path.join(self._owned, name)) for name in names if name[0] != "."}
            state["owned"] = os.path.abspath(self._owned)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the result; temporary files go to a directory of its own."""
        path, report = state["path"], state["report"]
        directory = None
        if "files" in state:
            directory = tempfile.mkdtemp(prefix="outcore-")
            for name, content in state["files"].items():
                with open(os.path.join(directory, name), "wb") as file:
                    file.write(content)

            def moved(file: str) -> str:
                is_own = os.path.dirname(os.path.abspath(file)) == state["owned"]
                return os.path.join(str(directory), os.path.basename(file)) if is_own else file

            path = moved(path)
            if report:
                report["output"] = path
                if "summary" in report["communities"]:
                    report["communities"]["summary"] = moved(report["communities"]["summary"])
        try:
            Communities.__init__(self, path, Report(report) if report else None, state["nodes"], rows=state["rows"])
        finally:
            if directory is not None:
                self._own(directory)

    @property
    def node_count(self) -> int:
        """Number of nodes of the graph; of a file opened by its path, of the nodes in it."""
        if not self.report:
            return len(self._in_file())
        count: int = self.report["graph"]["node_count"]
        return count

    @property
    def community_count(self) -> int:
        """Number of communities."""
        if not self.report:
            import numpy as np

            return len(np.unique(self._in_file()))
        return int(self._found["community_count"])

    @property
    def _found(self) -> dict[str, Any]:
        found: dict[str, Any] = self.report["communities"]
        return found

    def __len__(self) -> int:
        """Return the number of nodes with a community: all of the graph but those that `min_size` leaves out."""
        if not self.report:
            return self.node_count
        presented = self._found.get("presented") or {"small": "singletons"}
        dropped = presented["small_node_count"] if presented["small"] == "drop" else 0
        return self.node_count - int(dropped)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a stream of batches with the columns `node` and `community`."""
        batches = _outcore.read_communities(self.path, self._form, self._nodes.kind)
        return batches.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """Return a pyarrow table with the columns `node` and `community`."""
        import pyarrow as pa

        return pa.table(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame with the columns `node` and `community`."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return a polars data frame with the columns `node` and `community`."""
        import polars as pl

        return pl.DataFrame(self)

    @property
    def _rows(self) -> range | Sequence[object] | None:
        """Nodes in the order of `labels`; None if they have names that are not numbers from 0."""
        if self._nodes.rows is not None:
            return self._nodes.rows
        recorded = recorded_rows((self.report.get("graph") or {}).get("names"))
        if recorded is not None:
            return recorded
        count = self.node_count
        return range(count) if _outcore.are_rows(self.path, self._form, count) else None

    @property
    def labels(self) -> npt.NDArray[np.int64]:
        """Community of every node, 8 bytes per node: label `i` is that of node `i`.

        For a matrix or for cells, node `i` is row `i`; for a networkx or igraph graph, its node number `i`. A graph on
        disk that was made of such a source records that its names are row numbers. For other sources, names must be the
        numbers from 0 to the number of nodes, exclusive. A label is -1 where `min_size` left out the node.

        Raises
        ------
        outcore.UsageError
            If nodes have other names: :meth:`to_pandas` has them beside the communities, and ``communities[names]`` is
            an array in the order of `names`. If the graph was made of cells, or of a graph of another library with
            names, whose order it does not record.
        """
        import numpy as np

        rows = self._rows
        if rows is None:
            message = "nodes have names other than the numbers from 0, so no index says whose a label is"
            hint = "use `communities[names]`, `communities.to_pandas()` or `dict(communities)`"
            raise _made({"kind": "usage", "message": message, "hint": hint})
        if isinstance(rows, range):
            return np.asarray(_outcore.read_rows(self.path, self._form, len(rows)))
        found = self._by_text()
        return np.fromiter((found.get(str(name), -1) for name in rows), np.int64, len(rows))

    @property
    def stability(self) -> npt.NDArray[np.float64]:
        """Share of the starts in which every node stays with its community, in the order of `labels`.

        If nodes have other names than numbers from 0, it has the order of the rows of :meth:`to_pandas`.

        A node stays if it has the label that most of its community has in the other start. The result must come from
        ``outcore.cluster(..., stability=True)``. The share is NaN where `min_size` left out the node.

        Raises
        ------
        ValueError
            If the result was computed without `stability`.
        """
        return self._in_order(self._stability())

    @property
    def flow(self) -> npt.NDArray[np.float64]:
        """Share of the steps of a random walk that end at every node, in the order of `labels`.

        If nodes have other names than numbers from 0, it has the order of the rows of :meth:`to_pandas`.

        The result must come from ``outcore.cluster(..., flow=True)``. The share is NaN where `min_size` left out the
        node.

        Raises
        ------
        ValueError
            If the result was computed without `flow`.

        Examples
        --------
        >>> import outcore
        >>> found = outcore.cluster("tests/graphs/karate.tsv", flow=True)
        >>> float(found.flow.sum().round(9)), float(found.flow.max().round(6))
        (1.0, 0.108974)
        """
        return self._in_order(self._column("flow"))

    def _in_order(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return values in the order of the file in that of `labels`."""
        import numpy as np

        rows = self._rows
        if rows is None:
            return shares
        found = dict(zip((str(node) for node, _ in self), shares.tolist(), strict=True))
        return np.fromiter((found.get(str(name), np.nan) for name in rows), np.float64, len(rows))

    def _column(self, name: str) -> npt.NDArray[np.float64]:
        """Return a column of numbers in the order of the file."""
        import numpy as np

        kind = _format_of(self.path)
        if kind in ("Parquet", "Arrow"):
            found = _column_of_table(self.path, name, kind == "Parquet")
            if found is None:
                raise ValueError(_NO_COLUMN.format(name))
            return found
        with open(self.path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            if kind == "JSON lines":
                values = (json.loads(line).get(name) for line in file)
                return _numbers(values, name)
            rows = csv.reader(file, delimiter="," if kind == "CSV" else "\t")
            header = next(rows, [])
            if name not in header:
                raise ValueError(_NO_COLUMN.format(name))
            at = header.index(name)
            return np.fromiter((float(row[at]) for row in rows), np.float64)

    @property
    def kinds(self) -> npt.NDArray[np.object_]:
        """Kind of every node of a graph of two kinds, such as ``user_id`` and ``item_id``, in the order of the file.

        Raises
        ------
        ValueError
            If nodes are of one kind, or the result was opened by its path.
        """
        import numpy as np

        kinds = (self.report.get("graph") or {}).get("kinds")
        if kinds is None:
            raise ValueError(_NO_KINDS)
        first, second = kinds["names"]
        prefix = f"{second}:"
        found = (second if str(node).startswith(prefix) else first for node, _ in self)
        return np.array(list(found), dtype=object)

    @property
    def levels(self) -> pd.DataFrame:
        """Groups of every node on each level, as a pandas data frame with a row per node, in the order of the file.

        Columns are ``node``, ``community``, and ``group1`` and so on: the groups inside communities, those inside these
        groups, and so on, numbered over all nodes. A node whose branch ends early has a group alike its parent. The
        result must come from ``outcore.cluster(..., levels=True)``. With the map equation, communities are the top
        modules of its hierarchical form.

        Raises
        ------
        ValueError
            If the result was computed without `levels`, or was opened by its path: then read the file itself.

        Examples
        --------
        >>> import outcore
        >>> found = outcore.cluster("tests/graphs/football.tsv", method="modularity", levels=True)
        >>> list(found.levels.columns), found.levels["community"].nunique() <= found.levels["group1"].nunique()
        (['node', 'community', 'group1'], True)
        """
        import numpy as np

        found = self.to_pandas()
        count = len(self._found.get("group_counts") or []) if self.report else 0
        groups = self._groups(count) if count > 0 else None
        if groups is None:
            # A hierarchy may have no level below its communities.
            if self.report and self._found.get("group_counts") is not None:
                return found
            raise ValueError(_NO_LEVELS)
        for level, column in enumerate(groups, 1):
            found[f"group{level}"] = np.asarray(column)
        return found

    def tree(self) -> pd.DataFrame:
        """Return the modules of all levels as a pandas data frame, with a row per module, parents first.

        Columns are ``path``, a tuple of numbers from the top: the community, then the number of each group inside the
        one before it, from 0; ``level``, the length of the path; ``size``, the number of nodes. Modules that are like
        their parent are left out.

        Raises
        ------
        ValueError
            As for `levels`.

        Examples
        --------
        >>> import outcore
        >>> found = outcore.cluster("tests/graphs/karate.tsv", method="modularity", levels=True)
        >>> tree = found.tree()
        >>> tree[tree["level"] == 1]["size"].tolist()
        [12, 11, 6, 5]
        """
        import pandas as pd

        frame = self.levels
        columns = [name for name in frame.columns if name != "node"]
        rows: list[tuple[tuple[int, ...], int, int]] = []
        paths: dict[tuple[Any, ...], tuple[int, ...]] = {(): ()}
        sizes: dict[tuple[Any, ...], int] = {(): -1}
        children: dict[tuple[Any, ...], int] = {}
        for depth in range(1, len(columns) + 1):
            groups = frame.groupby(columns[:depth], sort=False).size()
            for key, size in groups.items():
                whole: tuple[Any, ...] = key if isinstance(key, tuple) else (key,)
                parent = whole[:-1]
                sizes[whole] = int(size)
                if sizes[parent] == size:
                    paths[whole] = paths[parent]
                    continue
                number = int(whole[0]) if depth == 1 else children.get(parent, 0)
                children[parent] = number + 1
                paths[whole] = (*paths[parent], number)
                rows.append((paths[whole], len(paths[whole]), int(size)))
        rows.sort()
        return pd.DataFrame(rows, columns=["path", "level", "size"])

    def _groups(self, count: int) -> list[npt.NDArray[np.int64]] | None:
        """Return the groups of every node in the order of the file, one array per level."""
        import numpy as np

        form = self._is_table()
        if form is not None:
            return _groups_of_table(self.path, form == "parquet")
        found = _outcore.read_groups(self.path, count) if self._form == "node" else None
        if found is None:
            return None
        return list(np.asarray(found).reshape(count, -1))

    def _is_table(self) -> Literal["parquet", "arrow"] | None:
        """Return the format of a table; None for text."""
        with open(self.path, "rb") as file:
            head = file.read(8)
            file.seek(max(os.path.getsize(self.path) - 6, 0))
            tail = file.read()
        # Text may begin with a node of this name.
        if head.startswith(b"PAR1") and tail.endswith(b"PAR1"):
            return "parquet"
        return "arrow" if head == b"ARROW1\0\0" and tail == b"ARROW1" else None

    def _stability(self) -> npt.NDArray[np.float64]:
        """Return the stability of every node in the order of the file."""
        import numpy as np

        form = self._is_table()
        if form is not None:
            shares = _column_of_table(self.path, "stability", form == "parquet")
        else:
            found = _outcore.read_stability(self.path) if self._form == "node" else None
            shares = None if found is None else np.array(found)
        if shares is None:
            raise ValueError(_NO_STABILITY)
        return shares

    def _in_file(self) -> npt.NDArray[np.int64]:
        """Return the community of every node in the order of the file, without a copy."""
        import numpy as np

        return np.asarray(_outcore.read_labels(self.path, self._form))

    def _by_text(self) -> dict[str, int]:
        """Return the communities of nodes by the text of their names."""
        return {str(node): community for node, community in self}

    def sizes(self) -> npt.NDArray[np.int64]:
        """Return the number of nodes of each community, indexed by community."""
        import numpy as np

        return np.bincount(self._in_file())

    def community_stability(self) -> npt.NDArray[np.float64]:
        """Return the mean `stability` of the nodes of each community, indexed by community.

        Raises
        ------
        ValueError
            If the result was computed without `stability`.
        """
        import numpy as np

        sums = np.bincount(self._in_file(), self._stability())
        return np.asarray(sums / self.sizes())

    def summary(self) -> pd.DataFrame:
        """Return a table of the communities, in order of size, as a pandas data frame.

        Columns are ``community``; ``size``, its number of nodes; ``representative``, the node with the most weight to
        others of it; ``inner_edges`` and ``inner_weight``, edges inside, without and with those from a node to itself;
        ``outer_weight``, the weight of edges to other communities; ``density``, the share of pairs of nodes that have
        an edge; ``conductance``, the outer weight relative to the weight at all its nodes, or at all others if that is
        less; ``stability``, the mean of its nodes, if it was computed; ``neighbor`` and ``neighbor_weight``, the
        community to which most of the outer weight leads, and that weight. Values that do not exist are missing.

        Raises
        ------
        ValueError
            If the result was computed without `summary`.

        Examples
        --------
        >>> import outcore
        >>> found = outcore.cluster("tests/graphs/karate.tsv", method="modularity", summary=True)
        >>> found.summary()[["size", "representative", "inner_weight", "neighbor"]]
           size representative  inner_weight  neighbor
        0    12             23          21.0         1
        1    11              0          23.0         0
        2     6             16           7.0         0
        3     5              5           6.0         1
        """
        import pandas as pd

        path = self._found.get("summary") if self.report else None
        if path is None:
            raise ValueError(_NO_SUMMARY)
        # Names may look like numbers, or like missing values.
        names: dict[str, Any] = {"dtype": {"representative": str}}
        lines = {**names, "keep_default_na": False, "na_values": [""]}
        match _format_of(path):
            case "Parquet":
                frame = pd.read_parquet(path)
            case "Arrow":
                frame = pd.read_feather(path)
            case "JSON lines":
                frame = pd.read_json(path, lines=True, **names)
            case "CSV":
                frame = pd.read_csv(path, **lines)
            case _:
                frame = pd.read_csv(path, sep="\t", **lines)
        if self._nodes.kind != "text":
            frame["representative"] = frame["representative"].astype(self._nodes.kind)
        return frame

    def plot(self, ax: Any = None) -> Any:
        """Draw the network of the communities with matplotlib, at most the 100 largest.

        The area of a circle is the number of nodes, the width of a line the weight between two communities. In a dense
        network, the two largest lines of each community are drawn and those that hold the rest together. A circle is
        named by its community and representative if there is room. ``pip install 'outcore[plot]'`` installs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default the current axes.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.

        Raises
        ------
        ValueError
            If the result was computed without `summary`.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> import outcore
        >>> found = outcore.cluster("tests/graphs/karate.tsv", method="modularity", summary=True)
        >>> ax = found.plot(Figure().add_subplot())
        >>> len(ax.patches)
        4
        """
        largest = self._found.get("largest") if self.report else None
        if largest is None:
            raise ValueError(_NO_SUMMARY)
        from outcore._plot import draw_network

        return draw_network(largest, ax)

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        """Iterate over pairs of node and community, in the order of the file."""
        return self._pairs(None)

    def _pairs(self, community: int | None) -> Iterator[tuple[Any, int]]:
        for pairs in _outcore.read_pairs(self.path, self._form, self._nodes.kind, community):
            for name, number in pairs:
                yield name if isinstance(name, int) else name.decode("utf-8", "surrogateescape"), number

    @overload
    def __getitem__(self, node: list[Any] | npt.NDArray[Any] | pd.Series[Any]) -> npt.NDArray[np.int64]: ...

    @overload
    def __getitem__(self, node: Any) -> int: ...

    def __getitem__(self, node: Any) -> int | npt.NDArray[np.int64]:
        """Return the community of a node, or an array with those of a list or array of nodes.

        The first lookup reads the whole file and builds an index on disk next to it, of 32 bytes per node plus its
        name, which is removed together with this object. Later lookups read two pieces of the index.

        Raises
        ------
        KeyError
            If the node does not exist.
        """
        if isinstance(node, list) or getattr(node, "ndim", 0) == 1:
            import numpy as np

            return np.fromiter((self[one] for one in node), np.int64, len(node))
        community = self._lookup.community(str(node).encode("utf-8", "surrogateescape"))
        if community is None:
            raise KeyError(node)
        return community

    def __contains__(self, node: object) -> bool:
        """Check whether the node exists, with a lookup as by ``communities[node]``."""
        return self._lookup.community(str(node).encode("utf-8", "surrogateescape")) is not None

    def members(self, community: int) -> list[Any]:
        """Return the nodes of a community, in one pass over the file."""
        return [node for node, _ in self._pairs(community)]

    def write(self, path: StrPath) -> None:
        """Copy the file to `path` atomically.

        Raises
        ------
        outcore.UsageError
            If the name ends like that of another format: the file is copied, not converted.
        """
        whole = os.path.abspath(path)
        if _format_of(whole) != _format_of(self.path):
            raise _made(
                {
                    "kind": "usage",
                    "message": f"`{os.fspath(path)}` is to be {_format_of(whole)}, but the result is "
                    f"{_format_of(self.path)}, and is copied as it is",
                    "hint": f'use `outcore.cluster(..., output="{os.path.basename(whole)}")`, `.to_pandas()` and its '
                    "writers, or another name",
                }
            )
        with tempfile.TemporaryDirectory(prefix=".outcore-", dir=os.path.dirname(whole)) as own:
            shutil.copyfile(self.path, os.path.join(own, "part"))
            os.replace(os.path.join(own, "part"), whole)

    def network(self, graph: Graph | StrPath, *, memory: str | int = "50%") -> Graph:
        """Return the network of communities: a graph whose nodes are the communities.

        An edge is the weight of all edges between two communities, a loop the weight inside one. Names of its nodes are
        the numbers of communities. It is on disk, and removed together with the returned object;
        ``outcore.export(graph, file, communities=..., quotient=True)`` writes it for other programs, with the sizes of
        communities.

        Parameters
        ----------
        graph : Graph or path
            Graph that these are the communities of.
        memory : str or int
            Memory limit, as in :func:`outcore.cluster`.

        Examples
        --------
        >>> import outcore, tempfile, os
        >>> graph = outcore.build("tests/graphs/karate.tsv", os.path.join(tempfile.mkdtemp(), "karate.graph"))
        >>> network = outcore.cluster(graph, method="modularity").network(graph)
        >>> network.node_count, network.weight_total
        (4, 21.0)
        """
        from outcore import _api

        directory = tempfile.mkdtemp(prefix="outcore-")
        edges, nodes, built = (os.path.join(directory, name) for name in ("e.arrow", "n.arrow", "network.graph"))
        try:
            _api.export(
                graph,
                edges,
                communities=self,
                quotient=True,
                comment="",
                nodes=nodes,
                memory=memory,
                progress=False,
            )
            network = _api.build(
                edges,
                built,
                nodes=nodes,
                directed=open_graph(graph).is_directed,
                self_loops="keep",
                memory=memory,
                progress=False,
            )
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        weakref.finalize(network, shutil.rmtree, directory, ignore_errors=True)
        return network

    def _on_level(self, level: int) -> Iterator[tuple[Any, int]]:
        """Iterate over pairs of node and group on a level; 1 has the communities."""
        if level == 1:
            return iter(self)
        frame = self.levels
        if not 0 < level < len(frame.columns):
            raise ValueError(f"`level` is from 1, the communities, to {len(frame.columns) - 1}, the finest groups")
        return zip(frame["node"], frame[f"group{level - 1}"].tolist(), strict=True)

    def to_networkx(self, graph: Any, level: int = 1) -> list[set[Any]]:
        """Return the communities of a networkx graph as sets of its nodes, the largest first.

        Functions of ``networkx.community`` use the same form. `level` selects the groups of a level
        as in `tree`: 1 has the communities.
        """
        nodes = {str(node): node for node in graph}
        groups: dict[int, set[Any]] = {}
        for node, community in self._on_level(level):
            groups.setdefault(community, set()).add(nodes[str(node)])
        # Numbers taken from an earlier result by `match` may have gaps.
        return [groups[community] for community in sorted(groups)]

    def to_lists(self, level: int = 1) -> list[list[Any]]:
        """Return the communities as lists of nodes, the largest first, each in the order of the file.

        Other libraries take them, such as ``cdlib.NodeClustering(communities.to_lists(), graph, "outcore")``. `level`
        selects the groups of a level as in `tree`: 1 has the communities.

        Examples
        --------
        >>> import outcore
        >>> outcore.cluster([("a", "b"), ("b", "c"), ("x", "y")], method="components").to_lists()
        [['a', 'b', 'c'], ['x', 'y']]
        """
        groups: dict[int, list[Any]] = {}
        for node, community in self._on_level(level):
            groups.setdefault(community, []).append(node)
        # Numbers taken from an earlier result by `match` may have gaps.
        return [groups[community] for community in sorted(groups)]

    def to_igraph(self, graph: Any, level: int = 1) -> Any:
        """Return the communities of an igraph graph as a ``VertexClustering``.

        `level` selects the groups of a level
        as in `tree`: 1 has the communities.

        Raises
        ------
        ValueError
            If a vertex has no community, because `min_size` left it out.
        """
        import igraph

        has_names = "name" in graph.vs.attributes()
        names = graph.vs["name"] if has_names else range(graph.vcount())
        found = {str(node): group for node, group in self._on_level(level)}
        membership = [found.get(str(name), -1) for name in names]
        if -1 in membership:
            raise ValueError(
                f"vertex `{names[membership.index(-1)]}` has no community, but igraph gives one to each: "
                'use `outcore.cluster(..., small="singletons")`'
            )
        return igraph.VertexClustering(graph, membership)

    def __repr__(self) -> str:
        if not self.report:
            return f"<Communities: {self.path!r}>"
        found = self._found
        modularity = found["modularity"]
        # Components of edges are found without their graph.
        quality = "" if modularity is None else f", modularity {modularity:.2f}"
        return f"<Communities: {self.node_count} nodes in {self.community_count} communities{quality}>"

    def _repr_html_(self) -> str:
        if not self.report:
            return table(["communities", ""], [["file", self.path]])
        found = self._found
        rows = [
            ["nodes", f"{self.node_count:,}"],
            ["communities", f"{self.community_count:,}"],
            ["largest", f"{found['largest_size']:,} nodes, {found['largest_share']:.1%}"],
            ["method", found["method"]],
            ["file", self.path],
        ]
        if found["modularity"] is not None:
            rows.insert(3, ["modularity", f"{found['modularity']:.4f}"])
        return table(["communities", ""], rows)
