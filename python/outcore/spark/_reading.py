"""Options for reading lines of edge lists; the engine detects the rest and parses the lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from outcore import _outcore
from outcore._call import arguments
from outcore.errors import Text, _made


@dataclass(frozen=True)
class Reading:
    """Options of the command for reading edge lists, by their names."""

    columns: tuple[str, ...] | None = None
    delimiter: str | None = None
    comment: str | None = None
    header: Literal["auto", "yes", "no"] = "auto"
    ignore_weights: bool = False

    def arguments(self) -> list[str]:
        """Return the options as arguments of the command."""
        return arguments(vars(self))

    def check(self) -> None:
        """Refuse options that the engine refuses."""
        _outcore.Lines.find("-", b"", True, self.arguments())


def refuse_file(path: str, message: str, hint: Text | None = None, notes: Sequence[str] = ()) -> None:
    """Raise an error about a file."""
    hint = hint or "convert it to lines or Parquet, or read it on one machine: `outcore cluster`"
    raise _made({"kind": "bad-input", "message": f"`{path}` {message}", "hint": hint, "notes": list(notes)})
