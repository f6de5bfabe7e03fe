"""Folders of the evals, and their exit if they cannot run."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

EVALS = Path(__file__).resolve().parents[1]
REPOSITORY = EVALS.parent
TEMPORARY = Path(tempfile.gettempdir())

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

EXIT_CANNOT_RUN = 2


def cannot_run(message: str) -> NoReturn:
    """Exit from an eval that lacks something, with a code other than that of a missed bar."""
    print(f"error: {message}", file=sys.stderr)
    sys.exit(EXIT_CANNOT_RUN)


def data_folder() -> Path:
    """Return the folder for generated inputs and work directories, which can take gigabytes."""
    return Path(os.environ.get("DATA", TEMPORARY / "outcore-evals"))


def rivals_folder() -> Path:
    """Return the folder in which evals/rivals.sh installs the programs to compare with."""
    return Path(os.environ.get("RIVALS", TEMPORARY / "outcore-rivals"))


def rival(path: str) -> Path:
    program = rivals_folder() / path
    if not program.exists():
        cannot_run(f"{path} is not below RIVALS: run evals/rivals.sh first")
    return program


def use_rivals_python() -> None:
    """Continue in the Python of evals/rivals.sh, which has the packages that evals compare with."""
    python = rival("venv/bin/python")
    if Path(sys.prefix).resolve() != python.parents[1].resolve():
        os.execv(python, [str(python), "-W", "ignore", *sys.argv])


def require_space(needed_bytes: int) -> None:
    """Exit before any work if the disk has too little space."""
    folder = data_folder()
    folder.mkdir(parents=True, exist_ok=True)
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        cannot_run(
            f"this eval needs about {needed_bytes / GIB:.1f} GiB below DATA, {free_bytes / GIB:.1f} GiB are free: "
            "set DATA to a folder on a larger disk"
        )


def fresh(folder: Path) -> Path:
    """Return an empty folder with this path."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def relative(text: str) -> str:
    """Replace folders of this machine by their roles, so that results contain no paths of the machine."""
    roles = [(data_folder(), "DATA"), (rivals_folder(), "RIVALS"), (REPOSITORY, ".")]
    variables = {"OUTCORE": "outcore", "OUTCORE_SORT_BENCH": "sort_bench", "OUTCORE_GRAPHS": "GRAPHS"}
    roles += [(Path(os.environ[name]), role) for name, role in variables.items() if name in os.environ]
    names = {name: role for path, role in roles for name in {str(path), str(path.resolve())}}
    names[str(TEMPORARY)] = "TMPDIR"
    names[str(Path.home())] = "HOME"
    for name in sorted(names, key=len, reverse=True):
        if len(name) > 1:
            text = text.replace(name, names[name])
    return text
