"""Control groups of the kernel: run a command under a hard memory limit, including page cache, without swap."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

ROOTS = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))
ENTER = 'echo $$ > "$0" && exec "$@"'


class MemoryGroup:
    """Control group with a memory limit, of version 1 or 2; call `remove` once nothing runs in it."""

    def __init__(self, name: str, limit_bytes: int) -> None:
        root = next(root for root in ROOTS if (root / "cgroup.procs").exists())
        self._folder = root / f"outcore-evals-{os.getpid()}-{name}"
        self._folder.mkdir()
        try:
            self._set_limit(limit_bytes)
        except OSError:
            self.remove()
            raise

    def _set_limit(self, limit_bytes: int) -> None:
        if (self._folder / "memory.limit_in_bytes").exists():
            (self._folder / "memory.limit_in_bytes").write_text(str(limit_bytes))
            (self._folder / "memory.swappiness").write_text("0")
            return
        (self._folder / "memory.max").write_text(str(limit_bytes))
        if (self._folder / "memory.swap.max").exists():
            (self._folder / "memory.swap.max").write_text("0")

    def argv(self, argv: Sequence[str]) -> list[str]:
        """Return the arguments that run a command inside the group."""
        return ["sh", "-c", ENTER, str(self._folder / "cgroup.procs"), *argv]

    def remove(self) -> None:
        self._folder.rmdir()


def reason_for_none() -> str | None:
    """Return the reason why groups cannot be created here, or None."""
    try:
        MemoryGroup("probe", 1 << 30).remove()
    except (OSError, StopIteration) as error:
        return f"memory groups cannot be created here: {error or 'the root of groups is missing'}"
    return None
