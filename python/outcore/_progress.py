"""Progress of jobs: shown in terminals by the command itself, in notebooks by this module, or passed to a function."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from outcore.errors import OutcoreWarning, as_keywords

__all__ = ["Progress", "ProgressOption"]


@dataclass(frozen=True)
class Progress:
    """Progress of a job at one moment.

    Attributes
    ----------
    stage : str
        Current stage: ``read``, ``merge``, ``cluster``, ``write`` or another stage of the report.
    done, total : int or None
        Work done in the stage and total work of the stage, in `unit`. The total is None if unknown, and may be
        corrected during the stage.
    unit : str
        Unit of the work: ``bytes``, ``arcs`` or ``nodes``.
    detail : str
        Short phrase such as ``sweep 3: 1,204 nodes changed``.
    is_done : bool
        Whether the stage has ended; `detail` then summarizes it.
    text : str
        Readable progress, as far as known: done and total work, rate, and estimated time left.
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
        """Completed share of the stage, from 0 to 1; None if unknown."""
        return min(1.0, self.done / self.total) if self.total else None


ProgressOption = bool | Literal["auto"] | Callable[[Progress], object]


class Listener:
    """Receiver of the events of a job, which issues warnings and passes progress to `notify`."""

    def __init__(self, notify: Callable[[Progress], object] | None, *, warn: bool) -> None:
        self._notify = notify
        self._warn = warn
        self._state = Progress()

    def __call__(self, event: str, text: str, done: int | None, total: int | None, unit: str) -> None:
        """Handle one event; the text of a warning is a list of words and options, as JSON."""
        if event == "warning":
            if self._warn:
                warnings.warn(as_keywords(json.loads(text)), OutcoreWarning, stacklevel=_of_caller())
            return
        if self._state.is_done and event != "begin":
            # Ignore work between two stages.
            return
        if event == "begin":
            self._state = Progress(stage=text, total=total, unit=unit)
        elif event == "advance":
            self._state = replace(self._state, done=done or 0, text=text)
        elif event == "expect":
            # The text refers to the old total.
            self._state = replace(self._state, total=total, text="")
        elif event == "detail":
            self._state = replace(self._state, detail=text)
        elif event == "end":
            self._state = replace(self._state, detail=text, is_done=True)
        if self._notify:
            self._notify(self._state)


def _of_caller() -> int:
    """Return the level of the call into this package, for a warning of the function that calls this one."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "outcore":
        level, frame = level + 1, frame.f_back
    return level


def listen(progress: ProgressOption) -> tuple[list[str], Listener]:
    """Return the arguments that select what the terminal shows, and the listener of the job."""
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
    """Line below a notebook cell that is updated in place."""

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
