"""Build times from a fresh clone, and sizes of the shipped files (bars I1, I2).

Every repeat starts from a fresh clone with an empty `target`; downloads are fetched before and not timed. The sizes are
those of the profile `dist`, which takes one more, long build; `--part times` omits them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results
from harness.running import Command, run_once

#: Maximum number of bytes of a clone's `target`.
NEEDED_BYTES = 12 * places.GIB


def clone(folder: Path) -> Path:
    """Return a fresh clone of the current commit, without build output."""
    checkout = places.fresh(folder) / "outcore"
    subprocess.run(["git", "clone", "--quiet", str(places.REPOSITORY), str(checkout)], check=True)
    subprocess.run(["cargo", "fetch", "--locked", "--quiet"], cwd=checkout, check=True)
    return checkout


def environment(folder: Path) -> Path:
    """Create an empty virtual environment and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin" / "python"


def times(result: results.Result, folder: Path, repeats: int) -> None:
    """Measure `make demo`, the package after it, and the package alone."""
    for name in ("demo", "package after it", "package alone"):
        result.samples[name] = []
    for repeat in range(1, repeats + 1):
        checkout = clone(folder / "one")
        python = environment(folder / "one/venv")
        other = clone(folder / "other")
        other_python = environment(folder / "other/venv")
        # Downloads of pip are already in its cache, as the crates are in that of cargo.
        install = ["-m", "pip", "install", "--quiet", "."]
        for command in (
            Command("demo", ["make", "--silent", "demo"], cwd=checkout),
            Command("package after it", [str(python), *install], cwd=checkout),
            Command("package alone", [str(other_python), *install], cwd=other),
        ):
            result.commands[command.name] = command
            sample = run_once(command)
            result.samples[command.name].append(sample)
            print(f"  {repeat}/{repeats} {command.name} .. {sample.wall_seconds:.0f} s", file=sys.stderr)
    places.fresh(folder)
    result.check_runs("demo", "package after it", "package alone")
    for name, bar, aim in (("demo", 150, 90), ("package after it", 60, None), ("package alone", 200, None)):
        result.check(name, result.summary(name).median_seconds, bar, aim=aim, unit="s")


def sizes(result: results.Result, folder: Path) -> None:
    """Measure the size of the shipped command with all features and without any."""
    checkout = clone(folder / "sizes")
    for name, features, bar in (("all features", "--all-features", 18), ("text only", "--no-default-features", 5)):
        cargo = ["cargo", "build", "--quiet", "--locked", "--profile", "dist", "--package", "outcore-cli", features]
        subprocess.run(cargo, cwd=checkout, check=True)
        stripped = checkout / "target/stripped"
        subprocess.run(["strip", "-o", str(stripped), str(checkout / "target/dist/outcore")], check=True)
        result.check(f"command, {name}", stripped.stat().st_size / 1e6, bar, unit="MB")
    places.fresh(folder)


def main() -> int:
    options = results.arguments(
        "build",
        "from a fresh clone to the first result",
        repeats=2,
        extend=lambda parser: parser.add_argument("--part", choices=("times", "sizes"), help="only this part"),
    )
    if "CARGO_TARGET_DIR" in os.environ:
        places.cannot_run("CARGO_TARGET_DIR is set: every repeat needs an empty one of its own")
    places.require_space(NEEDED_BYTES)
    folder = places.fresh(places.data_folder() / "build")
    result = results.Result("build", "I1, I2", options.scale, {}, part=options.part or "")
    if options.part != "sizes":
        times(result, folder, options.repeats)
    if options.part != "times":
        sizes(result, folder)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
