"""Workflows call existing targets of the Makefile, recipes name this version, pages name their script."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
VERSION = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), flags=re.M)


def targets() -> set[str]:
    """Return the public targets of the Makefile."""
    text = (ROOT / "Makefile").read_text()
    return {name for line in re.findall(r"^\.PHONY: (.+)$", text, flags=re.M) for name in line.split()}


def steps(text: str) -> list[str]:
    """Return the commands of a workflow; for one of several lines, the bar that starts it."""
    return re.findall(r"^\s*(?:- )?run:\s*(.*)$", text, flags=re.M)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_nothing_but_targets_of_the_makefile(workflow: Path) -> None:
    found = steps(workflow.read_text())
    assert found
    for step in found:
        assert step.startswith("make ") and set(step.split()[1:]) <= targets(), f"{workflow.name}: `{step}`"


def test_other_steps_are_detected() -> None:
    text = "steps:\n  - run: make test\n  - name: x\n    run: cargo test\n  - run: |\n      make dist\n"
    assert steps(text) == ["make test", "cargo test", "|"]
    assert len(WORKFLOWS) == 3


def test_targets_can_be_made() -> None:
    for target in sorted(targets()):
        done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, f"make {target}: {done.stderr}"


def test_a_bare_machine_is_told_what_to_type(tmp_path: Path) -> None:
    for tool in ("printf", "tr"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    environment = {"PATH": str(tmp_path), "CARGO_HOME": str(tmp_path)}
    for purpose, packages in (("build", {"gcc"}), ("test", {"gcc", "python3-venv", "r-cran-matrix", "r-base-core"})):
        command = ["/bin/sh", str(ROOT / ".ci/missing"), purpose]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 1
        assert "make setup" in done.stderr
        assert "https://sh.rustup.rs" in done.stderr
        listed = re.search(r"apt-get install (.*)", done.stderr)
        assert listed
        assert packages <= set(listed[1].split())
        listing = subprocess.run([*command, "--packages"], env=environment, capture_output=True, text=True, check=True)
        assert listing.stdout.split() == listed[1].split()


def test_recipes_have_this_version() -> None:
    assert VERSION
    recipes = list(ROOT.glob("packaging/conda*/recipe.yaml"))
    assert len(recipes) == 2
    assert all(f'version: "{VERSION[1]}"\n' in recipe.read_text() for recipe in recipes)


def test_scripts_are_bash_and_executable() -> None:
    for script in (ROOT / "packaging").glob("*.sh"):
        subprocess.run(["bash", "-n", script], check=True)
        assert script.name == "common.sh" or script.stat().st_mode & 0o111


def compiled(package: str) -> set[str]:
    """Return the crates that a package is compiled from, each with its version and features."""
    tree = ["cargo", "tree", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p} [{f}]"]
    done = subprocess.run([*tree, "--package", package], cwd=ROOT, capture_output=True, text=True, check=True)
    return {line.removesuffix(" (*)") for line in done.stdout.splitlines()}


def test_the_module_reuses_crates_compiled_for_the_command() -> None:
    beyond = compiled("outcore-py") - compiled("outcore-cli")
    assert {line.split()[0] for line in beyond} == {
        "outcore-bind", "outcore-parts", "outcore-py", "pyo3", "pyo3-build-config", "pyo3-ffi", "pyo3-macros",
        "pyo3-macros-backend", "target-lexicon",
    }, "features differ: see once_cell and syn in crates/outcore-cli/Cargo.toml"  # fmt: skip


def test_pages_name_the_hash_of_their_script() -> None:
    folder = ROOT / "crates/outcore-page/src"
    digest = hashlib.sha256((folder / "script.js").read_bytes()).digest()
    assert f'"sha256-{base64.b64encode(digest).decode()}"' in (folder / "lib.rs").read_text()
