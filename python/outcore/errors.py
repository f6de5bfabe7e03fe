"""What can go wrong, as exceptions: where it is, what was found, and what to write instead.

Every exception here is an :class:`Error` or, for an interruption, an :class:`Interrupted`; both have the same
attributes.
"""

from __future__ import annotations

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


#: Names of options, as the command takes them, and values to give them: one option mostly.
Options: TypeAlias = Sequence[tuple[str, str | None]]
#: What a message says: words, and options among them.
Text: TypeAlias = str | Sequence[str | Options]


def option(name: str, value: object = None) -> Options:
    """Give an option for a message."""
    return [(name.replace("_", "-"), None if value is None else str(value))]


def as_keywords(text: Text) -> str:
    """Write the options in a text as keywords: ``memory="2GiB"``."""

    def keyword(name: str, value: str | None) -> str:
        name = name.replace("-", "_")
        if value is None:
            return name
        is_number = value.removeprefix("-").replace(".", "", 1).isdigit()
        return f"{name}={value}" if is_number else f'{name}="{value}"'

    return _spelled(text, lambda options: ", ".join(keyword(*option) for option in options))


def as_arguments(text: Text) -> str:
    """Write the options in a text as arguments of the command: ``--memory 2GiB``."""

    def argument(name: str, value: str | None) -> str:
        return f"--{name}" if value is None else f"--{name} {value}"

    return _spelled(text, lambda options: " ".join(argument(*option) for option in options))


def _spelled(text: Text, spell: Callable[[Options], str]) -> str:
    if isinstance(text, str):
        return text
    return "".join(part if isinstance(part, str) else f"`{spell(part)}`" for part in text)


class OutcoreWarning(UserWarning):
    """Something to know of although the job goes on."""


class _Facts:
    """What the engine says of an error.

    Attributes
    ----------
    kind : str
        Its stable name, as the command prints it: ``bad-weight``.
    message : str
        What is wrong, in one sentence.
    path : str or None
        The file it is about, where there is a place in it.
    line, column, byte : int or None
        The place: line and character from 1, byte from 0; of a table the row and the column, and byte 0.
    text : str or None
        The line or row, cut short around the fault.
    hint : str or None
        What to write instead.
    kept : str or None
        What was kept for the next call.
    notes : list of str
        The facts behind it.
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
    #: As the engine gave them: options are spelled where they are shown.
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
    """The base of all errors of outcore."""


class UsageError(Error, ValueError):
    """An option, or a combination of options, that cannot be used."""


class InputError(Error, ValueError):
    """Input that is no edge list, or a line or row of it that is no edge."""


class MemoryTooSmallError(Error, MemoryError):
    """The memory limit is too small for the job; the hint has the number that is not."""


class DiskFullError(Error, OSError):
    """The disk is full, or has not enough room for the job."""


class FileError(Error, OSError):
    """The operating system refused to read or write."""


class CorruptFileError(Error):
    """A file of outcore's own that is damaged, cut short, or of another kind."""


class Interrupted(_Facts, KeyboardInterrupt):
    """Ctrl-C ended the job. The same call goes on from what `kept` says."""


_CLASSES: dict[str, type[Error]] = {
    "usage": UsageError,
    "memory-too-small": MemoryTooSmallError,
    "disk-too-small": DiskFullError,
    "disk-full": DiskFullError,
    "corrupt-file": CorruptFileError,
    "io": FileError,
}


def _made(facts: dict[str, Any]) -> BaseException:
    """The exception for what the engine says."""
    error: Error | Interrupted
    error = Interrupted() if facts["kind"] == "interrupted" else _CLASSES.get(facts["kind"], InputError)()
    error._fill(facts)
    if isinstance(error, OSError):
        error.errno = facts.get("errno")
    return error
