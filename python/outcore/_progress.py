"""How far a job is: drawn in a terminal by the command's own code, in a notebook here, or told to a function."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from outcore.errors import OutcoreWarning

__all__ = ["Progress", "ProgressOption"]


@dataclass(frozen=True)
class Progress:
    """What a job is at.

    Attributes
    ----------
    stage : str
        ``read``, ``merge``, ``cluster``, ``write`` or another stage of the report.
    done, total : int or None
        Work done in the stage, and all of it, where that is known: it may be corrected as the stage goes on.
    unit : str
        What is counted: ``bytes``, ``arcs``, ``nodes``.
    detail : str
        One phrase such as ``sweep 3: 1,204 nodes changed``.
    is_done : bool
        Whether the stage has ended; `detail` sums it up then.
    text : str
        The same for people, as far as it is known: done and total, how much in a second, about how long it still takes.
    """

    stage: str = ""
    done: int = 0
    total: int | None = None
    unit: str = ""
    detail: str = ""
    is_done: bool = False
    text: str = ""

    @property
    def share(self) -> float | None:
        """The part of the stage that is done, from 0 to 1, where that is known."""
        return min(1.0, self.done / self.total) if self.total else None


ProgressOption = bool | Literal["auto"] | Callable[[Progress], object]


class Listener:
    """Hears of a job; warns, and tells `tell` how far it is."""

    def __init__(self, tell: Callable[[Progress], object] | None, *, warn: bool) -> None:
        self._tell = tell
        self._warn = warn
        self._state = Progress()

    def __call__(self, event: str, text: str, done: int | None, total: int | None, unit: str) -> None:
        """Hear of one event."""
        if event == "warning":
            if self._warn:
                warnings.warn(text, OutcoreWarning, stacklevel=5)
            return
        if self._state.is_done and event != "begin":
            # Work between two stages.
            return
        if event == "begin":
            self._state = Progress(stage=text, total=total, unit=unit)
        elif event == "advance":
            self._state = replace(self._state, done=done or 0, text=text)
        elif event == "expect":
            # What was told of the old total holds no more.
            self._state = replace(self._state, total=total, text="")
        elif event == "detail":
            self._state = replace(self._state, detail=text)
        elif event == "end":
            self._state = replace(self._state, detail=text, is_done=True)
        if self._tell:
            self._tell(self._state)


def listen(progress: ProgressOption) -> tuple[list[str], Listener]:
    """Give the arguments that say what the terminal shows, and who hears of the job."""
    if callable(progress):
        return ["--quiet"], Listener(progress, warn=True)
    if progress == "auto" and _in_notebook():
        return ["--quiet"], Listener(_Notebook(), warn=True)
    if progress is True:
        return ["--progress=always"], Listener(None, warn=False)
    if progress == "auto" and sys.stderr is not None and sys.stderr.isatty():
        return [], Listener(None, warn=False)
    return ["--quiet"], Listener(None, warn=True)


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return type(get_ipython()).__name__ == "ZMQInteractiveShell"


class _Notebook:
    """One line that changes, below the cell."""

    def __init__(self) -> None:
        self._display: Any = None

    def __call__(self, progress: Progress) -> None:
        from IPython.display import display

        line = {"text/plain": self._line(progress)}
        if self._display is None:
            self._display = display(line, raw=True, display_id=True)
        else:
            self._display.update(line, raw=True)

    @staticmethod
    def _line(progress: Progress) -> str:
        share = "" if progress.share is None or progress.is_done else f" {progress.share:.0%}"
        shown = [progress.detail] if progress.is_done else [progress.text, progress.detail]
        text = ", ".join(part for part in shown if part)
        return f"{progress.stage}{share}: {text}" if text else f"{progress.stage}{share}"
