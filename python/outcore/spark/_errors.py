"""Errors in columns of the user, which Spark computes only when a job reads them."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from outcore.errors import _made
from outcore.spark._index import PLACE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: States of errors in data and in functions of the user, according to Spark: a cast, a division, an index; a function
#: in Python or Java; `raise_error`.
_STATE = re.compile(r"SQLSTATE: (22\w{3}|39\w{3}|38\w{3}|P0001)")
#: Begin of what Python and Java print about the place of an error.
_PYTHON_TRACE, _JAVA_TRACE = "Traceback (most recent call last):", "\n\nJVM stacktrace:"
#: Spark may name a cast of outcore as the place of one of the user.
_HERE = os.path.dirname(__file__)


@contextlib.contextmanager
def naming_columns(edges: DataFrame, names: Sequence[str]) -> Iterator[None]:
    """Raise an error about the column that cannot be computed, if one cannot, in place of an error of the job.

    After an error in data, the columns are read without anything of outcore: only if they fail, the error is theirs.
    """
    try:
        yield
    except Exception as error:
        # Tables of the command have columns of its own, which name bad lines themselves.
        if _reason(error) is None or PLACE in edges.columns:
            raise
        found = _failing(edges, names)
        if found is None:
            raise
        place, theirs = found
        reason, notes = _reason(theirs) or ("", [])
        raise _made(
            {
                "kind": "bad-input",
                "message": f"{place} cannot be computed: {reason}",
                "notes": notes,
                "hint": "the error is in how the table is made: correct it there; without outcore, "
                f"`edges.select({', '.join(map(repr, names))}).collect()` raises it, too",
            }
        ) from theirs


def _failing(edges: DataFrame, names: Sequence[str]) -> tuple[str, Exception] | None:
    """Return what of the edges fails, their rows or the first such column, and how."""
    from pyspark.sql import functions as F  # noqa: N812

    def read(name: str) -> None:
        edges.select(F.col(f"`{name}`")).write.format("noop").mode("overwrite").save()

    attempts: list[tuple[str, Callable[[], object]]] = [("the table of edges", edges.count)]
    attempts += [(f"column `{name}` of the edges", lambda name=name: read(name)) for name in names]  # type: ignore[misc]
    for place, attempt in attempts:
        try:
            attempt()
        except Exception as error:
            return None if _reason(error) is None else (place, error)
    return None


def _reason(error: Exception) -> tuple[str, list[str]] | None:
    """Return what a function or an expression of the user has raised, and where; None for any other error of Spark."""
    from pyspark.errors import PythonException

    text = str(error).partition(_JAVA_TRACE)[0]
    if isinstance(error, PythonException):
        _, begin, trace = text.partition(_PYTHON_TRACE)
        lines = [line for line in trace.strip().splitlines() if line.strip()]
        return (lines[-1], [begin, *lines[:-1]]) if lines else (text.strip(), [])
    state = _STATE.search(str(error))
    if state is None:
        return None
    first, *place = [line for line in text.strip().splitlines() if line.strip()]
    return first, [] if _HERE in text else place
