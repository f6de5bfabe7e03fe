"""Groups of cells by `outcore.tl.leiden`, compared with `scanpy.tl.leiden` on the same graphs, each in its own process.

Needs a Python with scanpy, igraph and outcore, named by the variable SCANPY_PYTHON; by default the one that runs this:

    python3 -m venv /tmp/venv-sc && /tmp/venv-sc/bin/pip install scanpy igraph pynndescent && /tmp/venv-sc/bin/pip install .
    SCANPY_PYTHON=/tmp/venv-sc/bin/python python3 evals/cells/run.py

scanpy runs with igraph, the faster of its two, until nothing improves, as by default, and also for two iterations, as it
recommends for large data. Seconds and memory are those of the call: cells are loaded before. The modularity to reach is
the best of scanpy's five seeds.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results
from harness.running import Command

ONCE = Path(__file__).resolve().parent / "once.py"
#: Number of generated cells; 0 are the cells that scanpy has with it.
CELLS = {"full": (100_000, 0), "smoke": (2_000, 0)}
SEEDS = 5
MIN_QUALITY, MAX_TIME, MAX_MEMORY = 0.999, 0.5, 0.2
#: What is compared: name, program, keywords.
COMPARED = (
    ("scanpy", "scanpy", {"n_iterations": -1}),
    ("scanpy, 2 iterations", "scanpy", {"n_iterations": 2}),
    ("outcore", "outcore", {}),
    ("outcore, stability", "outcore", {"stability": True}),
    ("outcore, 3 starts", "outcore", {"trials": 3}),
)


def python() -> str:
    """Return the Python that has both."""
    found = os.environ.get("SCANPY_PYTHON", sys.executable)
    needed = "import scanpy, igraph, pynndescent, outcore; assert hasattr(outcore, 'tl')"
    done = subprocess.run([found, "-W", "ignore", "-c", needed], capture_output=True, text=True)
    if done.returncode != 0:
        places.cannot_run(
            f"{found} lacks something ({done.stderr.strip().splitlines()[-1]}): see the top of evals/cells/run.py"
        )
    return found


def versions(found: str) -> dict[str, object]:
    script = (
        "import json, importlib.metadata as m; "
        "print(json.dumps({n: m.version(n) for n in ('scanpy', 'igraph', 'anndata', 'numpy', 'scipy')}))"
    )
    return dict(json.loads(subprocess.run([found, "-c", script], capture_output=True, text=True, check=True).stdout))


def main() -> int:
    options = results.arguments("cells", "groups of cells, compared with scanpy", repeats=1)
    found = python()
    places.require_space(2 * places.GIB)
    result = results.Result("cells", "U2", options.scale, {"versions": versions(found)})
    places.data_folder().mkdir(parents=True, exist_ok=True)
    work = places.fresh(places.data_folder() / "cells-work")
    for count in CELLS[options.scale]:
        what = f"{count:,} cells" if count else "pbmc68k_reduced"
        path = places.data_folder() / "cells" / f"{count}.h5ad"
        if not path.exists():
            made = path.with_suffix(".part.h5ad")
            argv = [found, str(ONCE), "make", str(made), "--count", str(count)]
            subprocess.run(argv, check=True, stdout=sys.stderr)
            made.rename(path)
        commands = [
            Command(
                f"{name}, {what}, seed {seed}",
                [found, str(ONCE), by, str(path), "--seed", str(seed), "--options", json.dumps(keywords)],
                cwd=work,
            )
            for seed in range(SEEDS)
            for name, by, keywords in COMPARED
        ]
        result.measure(commands, options.repeats)
        failures = [sample for command in commands for sample in result.samples[command.name] if not sample.ok]
        if failures:
            print(f"\n{failures[0].error}", file=sys.stderr)
        result.check(f"{what}: failed runs", len(failures), 0)
        compare(result, what, judged=options.scale == "full")
    places.fresh(work)
    print("\n" + result.rows_table())
    return result.finish()


def compare(result: results.Result, what: str, *, judged: bool) -> None:
    """Add a row for each program, the medians over the seeds, and the checks."""
    rows: dict[str, dict[str, float]] = {}
    for name, _, _ in COMPARED:
        runs = [
            sample.json_line()
            for seed in range(SEEDS)
            for sample in result.samples[f"{name}, {what}, seed {seed}"]
            if sample.ok
        ]
        if not runs:
            continue
        median = {field: statistics.median(run[field] for run in runs) for field in runs[0]}
        qualities = [run["modularity"] for run in runs]
        rows[name] = {**median, "best": max(qualities), "worst": min(qualities)}
        result.rows.append(
            {
                "cells": what,
                "program": name,
                "seconds": round(median["seconds"], 4),
                "processor_seconds": round(median["processor_seconds"], 4),
                "before_mib": round(median["before_bytes"] / places.MIB, 1),
                "added_mib": round(median["added_bytes"] / places.MIB, 1),
                "modularity_worst": round(min(qualities), 6),
                "modularity_best": round(max(qualities), 6),
                "groups": int(median["groups"]),
            }
        )
    if not {"scanpy", "scanpy, 2 iterations", "outcore"} <= set(rows):
        return
    ours, theirs, short = rows["outcore"], rows["scanpy"], rows["scanpy, 2 iterations"]
    best = max(theirs["best"], short["best"])
    result.check(f"{what}: worst modularity, of scanpy's best", ours["worst"] / best, MIN_QUALITY, ">=")
    result.check(f"{what}: time, of scanpy's", ours["seconds"] / theirs["seconds"], MAX_TIME, judged=judged)
    ratio = ours["seconds"] / short["seconds"]
    result.check(f"{what}: time, of scanpy's two iterations", ratio, MAX_TIME, judged=judged)
    share = ours["added_bytes"] / max(theirs["added_bytes"], 1)
    result.check(f"{what}: memory, of scanpy's", share, MAX_MEMORY, judged=judged)


if __name__ == "__main__":
    sys.exit(main())
