"""How much code the engine's crates hand to the compiler's back end, which takes most of the time of a build (bar T1).

    python3 evals/build/lines.py            # needs `cargo install cargo-llvm-lines`

Generic code is compiled for each type that it is used with: a sort, a search or a channel once more for each record or
objective. The lines of LLVM of each crate, and the functions that take most of them with their number of copies, show
which. `cargo build --timings` shows which crates wait for each other.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results

#: Maximum number of lines of each crate, in thousands.
BARS = {"outcore": 1500, "outcore-cluster": 1600}
SHOWN = 8
ROW = re.compile(r"^\s*(\d+) \(.*?\)\s+(\d+) \(.*?\)\s+(.+)$")
#: Libraries and parts of the engine to which a function belongs.
FAMILY = re.compile(r"(outcore\w*(?:::\w+)?|rayon\w*|crossbeam\w*|parquet|arrow\w*|serde\w*|alloc|core|std)\b")


def lines_of(package: str) -> tuple[int, list[tuple[int, int, str]]]:
    """Return the lines of a crate, and those of each function with its copies."""
    target = ["--target-dir", str(places.data_folder() / "lines")]
    command = ["cargo", "llvm-lines", "--release", "--locked", "--package", package, "--lib", *target]
    done = subprocess.run(command, cwd=places.REPOSITORY, capture_output=True, text=True)
    if done.returncode:
        places.cannot_run(f"`{' '.join(command)}` failed:\n{done.stderr[-2000:]}")
    rows = [(int(row[1]), int(row[2]), row[3]) for row in map(ROW.match, done.stdout.splitlines()) if row]
    return sum(lines for lines, _, _ in rows), rows


def main() -> int:
    options = results.arguments("build", "how much code each crate compiles to", repeats=1)
    if shutil.which("cargo-llvm-lines") is None:
        places.cannot_run("there is no cargo-llvm-lines: cargo install cargo-llvm-lines")
    packages = list(BARS)[:1] if options.scale == "smoke" else list(BARS)
    result = results.Result("build", "T1", options.scale, {"profile": "release"}, part="lines")
    for package in packages:
        total, rows = lines_of(package)
        families: Counter[str] = Counter()
        for lines, _, name in rows:
            family = FAMILY.search(name)
            families[family[1] if family else "others"] += lines
        for family, lines in families.most_common(SHOWN):
            result.rows.append({"crate": package, "what": family, "lines": lines, "copies": ""})
        for lines, copies, name in rows[:SHOWN]:
            result.rows.append({"crate": package, "what": name[:80], "lines": lines, "copies": copies})
        result.check(f"{package}: lines of LLVM", total / 1000, BARS[package], unit="thousand")
    print(result.rows_table())
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
