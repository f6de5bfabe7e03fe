"""Predictions, reports and scores of jobs, as mappings whose keys are also attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from html import escape
from typing import Any

__all__ = ["Plan", "Report", "Score"]


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
