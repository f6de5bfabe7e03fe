"""Files of the field mean what their owners mean: those of `evals/formats/meaning` are read so, or refused by name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "evals" / "formats" / "meaning"


@pytest.mark.parametrize("of", [5, pytest.param(1, marks=pytest.mark.long)])
def test_files_of_the_field_are_read_as_their_owners_mean_them(tmp_path: Path, of: int) -> None:
    """One of five files, in the order of their names, or all."""
    programs = tmp_path / "meaning"
    shutil.copytree(FOLDER, programs, ignore=lambda folder, names: [n for n in names if (Path(folder) / n).is_dir()])
    bin_folder = Path(sys.executable).parent
    environment = {
        **os.environ,
        "OUTCORE": str(bin_folder / "outcore"),
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
    }

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=programs, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        return done.stdout

    run("make.py")
    names = sorted(check.parent.name for check in programs.glob("*/check"))
    assert len(names) > 500
    assert "'ok'" in run("run.py", "-q", *names[::of])
