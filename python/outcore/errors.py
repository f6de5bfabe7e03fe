"""Exceptions with the place of an error, its cause, and a hint how to correct it.

Every exception is an :class:`Error` or, for an interruption, an :class:`Interrupted`; both have the same attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

__all__ = [
    "CorruptFileError",
    "DiskFullError",
    "Error",
    "FileError",
    "InputError",
    "Interrupted",
    "MemoryTooSmallError",
    "OutcoreWarning",
    "UsageError",
]


#: Options of the command with their values, usually a single one.
Options: TypeAlias = Sequence[tuple[str, str | None]]
#: Message of words and options.
Text: TypeAlias = str | Sequence[str | Options]


def option(name: str, value: object = None) -> Options:
    """Return an option for use in a message."""
    return [(name.replace("_", "-"), None if value is None else str(value))]


def as_keywords(text: Text) -> str:
    """Return a message with its options as keywords: ``memory="2GiB"``."""

    def keyword(name: str, value: str | None) -> str:
        name = name.replace("-", "_")
        if value is None:
            return name
        is_number = value.removeprefix("-").replace(".", "", 1).isdigit()
        return f"{name}={value}" if is_number else f'{name}="{value}"'

    return _spelled(text, lambda options: ", ".join(keyword(*option) for option in options))


#: Options of the command in a text, as in `--memory 4GiB`.
_OPTIONS = re.compile(r"`(--[a-z][^`]*)`")


def with_keywords(text: str) -> str:
    """Return a text of a report, such as a warning of a job on Spark, with its options as keywords."""

    def spelled(found: re.Match[str]) -> str:
        options: list[tuple[str, str | None]] = []
        for word in found[1].split():
            if word.startswith("--"):
                name, _, value = word[2:].partition("=")
                options.append((name, value or None))
            elif options[-1][1] is None:
                options[-1] = options[-1][0], word
            else:
                return found[0]
        return as_keywords([options])

    return _OPTIONS.sub(spelled, text)


def as_arguments(text: Text) -> str:
    """Return a message with its options as arguments of the command: ``--memory 2GiB``."""

    def argument(name: str, value: str | None) -> str:
        return f"--{name}" if value is None else f"--{name} {value}"

    return _spelled(text, lambda options: " ".join(argument(*option) for option in options))


def _spelled(text: Text, spell: Callable[[Options], str]) -> str:
    if isinstance(text, str):
        return text
    return "".join(part if isinstance(part, str) else f"`{spell(part)}`" for part in text)


class OutcoreWarning(UserWarning):
    """Issued for a problem that does not stop the job."""


class _Facts:
    """Details of an error, as reported by the engine.

    Attributes
    ----------
    kind : str
        Stable name of the error, as printed by the command: ``bad-weight``.
    message : str
        Description of the error in one sentence.
    path : str or None
        File of the error, if it has a place in a file.
    line, column, byte : int or None
        Place of the error: line and character from 1, byte from 0; in a table the row and the column, and byte 0.
    text : str or None
        Line or row of the error, shortened around the fault.
    hint : str or None
        Correction to make.
    kept : str or None
        Progress saved for the next call.
    notes : list of str
        Further facts about the error.
    """

    kind: str = ""
    message: str = ""
    path: str | None = None
    line: int | None = None
    column: int | None = None
    byte: int | None = None
    text: str | None = None
    hint: str | None = None
    kept: str | None = None
    notes: list[str]
    #: Details as the engine reported them, with options not yet spelled for Python or the command.
    _facts: dict[str, Any]

    def _fill(self, facts: dict[str, Any]) -> None:
        self._facts = facts
        for name in ("kind", "path", "line", "column", "byte", "text"):
            setattr(self, name, facts.get(name))
        self.message = as_keywords(facts["message"])
        for name in ("hint", "kept"):
            fact = facts.get(name)
            setattr(self, name, as_keywords(fact) if fact else None)
        self.notes = [as_keywords(note) for note in facts.get("notes", [])]

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}:{self.column}: " if self.line is not None else ""
        lines = [place + self.message]
        if self.text:
            lines.append(f"  in: {self.text}")
        if self.kept:
            lines.append(f"  kept: {self.kept}")
        lines.extend(f"  note: {note}" for note in self.notes)
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class Error(_Facts, Exception):
    """Base class of all errors of outcore."""


class UsageError(Error, ValueError):
    """Raised if an option or a combination of options cannot be used."""


class InputError(Error, ValueError):
    """Raised if the input is not an edge list, or if one of its lines or rows is not an edge."""


class MemoryTooSmallError(Error, MemoryError):
    """Raised if the memory limit is too small for the job; the hint has a sufficient limit."""


class DiskFullError(Error, OSError):
    """Raised if the disk is full or has too little space for the job."""


class FileError(Error, OSError):
    """Raised if the operating system refuses to read or write a file."""


class CorruptFileError(Error):
    """Raised if a file of outcore is damaged, truncated or of the wrong kind."""


class Interrupted(_Facts, KeyboardInterrupt):
    """Raised when Ctrl-C ends the job. The same call resumes from the progress described by `kept`."""


_CLASSES: dict[str, type[Error]] = {
    "usage": UsageError,
    "memory-too-small": MemoryTooSmallError,
    "disk-too-small": DiskFullError,
    "disk-full": DiskFullError,
    "corrupt-file": CorruptFileError,
    "io": FileError,
}


def _made(facts: dict[str, Any]) -> BaseException:
    """Return the exception for an error of the engine."""
    error: Error | Interrupted
    error = Interrupted() if facts["kind"] == "interrupted" else _CLASSES.get(facts["kind"], InputError)()
    error._fill(facts)
    if isinstance(error, OSError):
        error.errno = facts.get("errno")
    return error
