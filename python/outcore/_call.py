"""Converts keywords to arguments of the command, and calls the engine."""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from outcore import _outcore
from outcore._progress import ProgressOption, listen
from outcore._sources import Edges
from outcore.errors import UsageError, _made, with_keywords

Function = TypeVar("Function", bound=Callable[..., Any])

#: Keywords of files that are read.
_FILES = ("fixed", "initial", "match", "nodes")


def arguments(options: Mapping[str, Any]) -> list[str]:
    """Return keywords as options of the command, without those that are None or False."""
    found = []
    for keyword, value in options.items():
        option = "--" + keyword.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            found.append(option)
        else:
            found.append(f"{option}={_path(keyword, value) if keyword in _FILES else text(value)}")
    return found


def _path(keyword: str, value: object) -> str:
    """Return the path of a file or of a result."""
    from outcore._communities import Communities

    if isinstance(value, Communities):
        return value.path
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    message = f"`{keyword}` is the path of a file, not an object of type {type(value).__name__}"
    raise _made({"kind": "usage", "message": message, "hint": "write it to a file first, with a node per line"})


def text(value: object) -> str:
    """Return a value as text for the command."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Sequence):
        return ",".join(text(part) for part in value)
    return str(value)


def call(
    command: list[str],
    edges: Edges | None,
    options: Mapping[str, Any],
    progress: ProgressOption,
) -> dict[str, Any]:
    """Run a command of the engine and return its report; a graph that it builds records the order of the nodes."""
    shown, listener = listen(progress)
    if edges and edges.has_columns:
        options = {**options, "columns": None}
    inputs = ["--", *edges.paths] if edges else []
    table = edges.table if edges else None
    names = edges.nodes.recorded() if edges and table is not None else None
    try:
        answer = _outcore.call([*command, *arguments(options), *shown, *inputs], table, names, listener)
    except Exception as error:
        raised = edges.failure.take() if edges and edges.failure else None
        if raised is None:
            raise
        raise raised from error
    report: dict[str, Any] = json.loads(answer)
    return report


def explains_keywords(function: Function) -> Function:
    """Make the `TypeError` for a keyword that `function` does not have say what the command says of such an option."""
    known = inspect.signature(function).parameters
    name = function.__name__

    @functools.wraps(function)
    def checked(*args: Any, **keywords: Any) -> Any:
        for keyword in keywords:
            if keyword not in known:
                message = f"{name}() has no keyword `{keyword}`"
                hint = _hint(name, keyword, known)
                raise TypeError(f"{message}: {hint}" if hint else message)
        return function(*args, **keywords)

    return checked  # type: ignore[return-value]


def _hint(command: str, keyword: str, known: Mapping[str, Any]) -> str | None:
    """Return what to use in place of a keyword that a function does not have; None if nothing is like it."""
    try:
        _outcore.call([command, "--" + keyword.replace("_", "-")], None, None, None)
    except UsageError as error:
        hint = with_keywords(error.hint or "")
        # Some options of the command, such as those of the terminal, are no keywords.
        return hint if any(f"`{name}" in hint for name in known) else None
    return None
