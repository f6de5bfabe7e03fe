"""Predictions, reports and scores of jobs, as mappings whose keys are also attributes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import timedelta
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Comparison", "Plan", "Report", "Score"]


class _Record(Mapping[str, Any]):
    """Fields of a JSON object, as keys and as attributes."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            value = self._fields[name]
        except KeyError:
            known = ", ".join(self._fields)
            raise AttributeError(f"there is no field `{name}`; the fields are {known}") from None
        return _Record(value) if isinstance(value, dict) else value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as a dictionary of plain values."""
        return dict(self._fields)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._fields.items() if not _is_large(value))
        return f"<{type(self).__name__.lstrip('_')}: {fields}>"


def _is_large(value: object) -> bool:
    return isinstance(value, (dict, list))


def size(count: float | None) -> str:
    """Format a number of bytes in binary units."""
    if count is None:
        return ""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} TiB"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in HTML."""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return f"<table><tr>{cells}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


class Report(_Record):
    """Report of a job: stages, input, graph and communities, as written by ``--report`` of the command."""

    def _repr_html_(self) -> str:
        head = ["stage", "time", "predicted", "reads", "writes", "summary"]
        rows = []
        for stage in self._fields.get("stages", []):
            predicted = stage.get("predicted_seconds")
            rows.append(
                [
                    stage["stage"],
                    f"{stage['seconds']:.2f} s",
                    "" if predicted is None else f"{predicted:.2f} s",
                    size(stage["read_bytes"]),
                    size(stage["write_bytes"]),
                    stage["summary"],
                ]
            )
        return table(head, rows)


class Plan(_Record):
    """Estimated time, memory and disk space of a job, as reported by ``outcore plan``.

    In addition to the fields of the JSON it has the property `time`.
    """

    @property
    def time(self) -> timedelta:
        """Estimated time of the job."""
        return timedelta(seconds=self._fields["seconds"])

    def _repr_html_(self) -> str:
        head = ["stage", "passes", "reads", "writes", "memory", "disk", "time"]
        rows = [
            [
                stage["stage"],
                str(stage["pass_count"]),
                size(stage["read_bytes"]),
                size(stage["write_bytes"]),
                size(stage["memory_bytes"]),
                size(stage["disk_bytes"]),
                f"{stage['seconds']:.2f} s",
            ]
            for stage in self._fields["stages"]
        ]
        return table(head, rows)


class Score(_Record):
    """Quality measures of communities, as reported by ``outcore score``; those in the graph are under `quality`."""


class Comparison(_Record):
    """Comparison of two results, as reported by ``outcore compare``.

    Attributes
    ----------
    node_count : int
        Number of nodes in both results; `a.only_count` and `b.only_count` are those in only one of them.
    moved_count : int
        Number of nodes in both that moved to another community.
    agreement : mapping
        `nmi`, `ami`, `ari` and the agreement of pairs of nodes, over the nodes in both.
    a, b : mapping
        `path`, `node_count`, `only_count`, `community_count`, and under `fates` the number of communities that are
        unchanged, continued and so on.
    left, joined : list of dict
        Communities of the first result that most nodes left, and of the second that most nodes joined.
    """

    def __init__(self, fields: Mapping[str, Any], overlaps: str, has_header: bool) -> None:
        super().__init__(fields)
        self._overlaps = overlaps
        self._has_header = has_header

    @property
    def overlaps(self) -> pa.Table:
        """Pairs of communities that share nodes: `a`, `b`, `shared`, `size_a`, `size_b`, `jaccard`.

        Rows have the order of the first communities, with the largest overlaps of each first. Use
        ``overlaps.to_pandas()`` for a pandas data frame, ``polars.from_arrow(overlaps)`` for polars.
        """
        return _table_of(self._overlaps, self._has_header)

    def _repr_html_(self) -> str:
        rows = [
            ["nodes in both", f"{self['node_count']:,}"],
            ["moved", f"{self['moved_count']:,}"],
            *([name.upper(), f"{self['agreement'][name]:.4f}"] for name in ("nmi", "ami", "ari")),
        ]
        return table([self["a"]["path"], self["b"]["path"]], rows)


def _table_of(path: str, has_header: bool) -> pa.Table:
    """Read a table of overlaps, in the format that the ending of its name has selected."""
    import pyarrow as pa

    ending = os.path.splitext(path)[1].lower()
    if ending in (".arrow", ".feather", ".ipc"):
        # Mapped into memory: the file may be removed while the table is in use.
        with pa.memory_map(path) as file:
            return pa.ipc.open_file(file).read_all()
    if ending == ".parquet":
        import pyarrow.parquet as pq

        return pq.read_table(path)
    if ending in (".jsonl", ".ndjson"):
        import pyarrow.json as pj

        return pj.read_json(path)
    import pyarrow.csv as pc

    is_csv = ending == ".csv"
    names = None if is_csv or has_header else ["a", "b", "shared", "size_a", "size_b", "jaccard"]
    return pc.read_csv(
        path,
        read_options=pc.ReadOptions(column_names=names),
        parse_options=pc.ParseOptions(delimiter="," if is_csv else "\t"),
    )
