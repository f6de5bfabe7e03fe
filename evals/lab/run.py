"""Results of the laboratory that must hold on any machine (bars L1 to L3 and L5).

Runs `outcore lab all` (quick), repeats the experiments whose small files prove nothing with their default sizes, and
checks the reports. Rows in C++ and Fortran are built if the compilers exist.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results, subject

# Rows that need memory which the host of a virtual machine has reclaimed, and which may not exist.
STATE_OF_THE_HOST = "(reclaimed)"
LARGER = ("random-update", "sequential-read", "sequential-write")


def lab(folder: Path, name: str, arguments: list[str]) -> dict[str, Any]:
    report = folder / f"{name}.json"
    argv = [str(subject.outcore()), "lab", *arguments, "--dir", str(folder), "--output", str(report)]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        places.cannot_run(f"{' '.join(arguments)} failed:\n{ended.stderr}")
    return json.loads(report.read_text())


def experiments(report: dict[str, Any]) -> dict[str, Any]:
    return {experiment["name"]: experiment for experiment in report["experiments"]}


def seconds(row: dict[str, Any]) -> float:
    """Return the median time of a row, until its writes are durable."""
    return statistics.median(each["wall_seconds"] + (each.get("sync_seconds") or 0) for each in row["samples"])


def wall(row: dict[str, Any]) -> float:
    return statistics.median(each["wall_seconds"] for each in row["samples"])


def named(experiment: dict[str, Any], *parts: str, group: str | None = None) -> list[dict[str, Any]]:
    rows = [row for row in experiment["rows"] if all(part in row["name"] for part in parts)]
    return [row for row in rows if group is None or row["group"] == group]


def an_operation(row: dict[str, Any]) -> float:
    return statistics.median(each["wall_seconds"] / each["operations"] for each in row["samples"])


def main() -> int:
    options = results.arguments("lab", "rows of the laboratory, known facts, and speed of the engine", repeats=1)
    full = options.scale == "full"
    folder = places.fresh(places.data_folder() / "lab")
    report = lab(folder, "first", ["all", "--quick", "--compile"])
    first = experiments(report)
    larger = {name: experiments(lab(folder, name, [name]))[name] for name in LARGER} if full else first

    result = results.Result("lab", "L1, L2, L3, L5", options.scale, {"experiments": list(first)})
    for name, experiment in first.items():
        missing = [row["name"] for row in experiment["missing"] if STATE_OF_THE_HOST not in row["name"]]
        result.check(f"L1 {name}: missing of {len(experiment['rows'])} rows", len(missing), 0)
        result.notes += [f"{name}: no row {each}" for each in missing]

    by_size = {}
    for row in first["transfer-size"]["rows"]:
        if row.get("point"):
            by_size[row["point"][0], row["point"][1]] = an_operation(row)
    sizes = sorted({size for _, size in by_size})
    overtakes = next((s for s in sizes if by_size["read", s] <= by_size["fread", s]), float("inf"))
    result.check("L2 read overtakes fread at", overtakes, 1024, ">=", unit="B", judged=full)
    result.check("L2 read overtakes fread at", overtakes, 16384, "<=", unit="B", judged=full)
    sort = first["sort"]
    seeks = an_operation(named(sort, "seek and write, in the order of the input")[0])
    ours = an_operation(named(sort, "outcore")[0])
    result.check("L2 seek and write / outcore's sort, an edge", seeks / ours, 20, ">=", unit="x", judged=full)
    lines = [row for row in first["write-buffer"]["rows"] if row["group"] == "lines of one string"]
    fprintf = wall(next(row for row in lines if row["name"] == "fprintf"))
    buffered = min(wall(row) for row in lines if "BufWriter" in row["name"] or "{fmt}" in row["name"])
    result.check("L2 fprintf / best buffered writer", fprintf / buffered, 4, ">=", unit="x", judged=full)
    updates = larger["random-update"]
    unsorted_, sorted_ = (
        statistics.median(wall(row) for row in named(updates, "fread+fwrite", f", {order},", group="warm"))
        for order in ("unsorted", "sorted")
    )
    result.check("L2 updates, unsorted / sorted (warm)", unsorted_ / sorted_, 1.2, ">=", unit="x", judged=full)

    for group in ("lines of one string", "lines of two indexes and a weight"):
        rows = [row for row in first["write-buffer"]["rows"] if row["group"] == group]
        whole = [row for row in rows if row["name"] != "one write per line"]
        rivals = min(seconds(row) for row in whole if not row["name"].startswith("outcore"))
        engine = min(seconds(row) for row in whole if row["name"].startswith("outcore"))
        result.check(f"L3 {group}: fastest other way / outcore", rivals / engine, 1.0, ">=", unit="x", judged=full)
    cold = [row for row in larger["sequential-read"]["rows"] if row["group"] == "cold"]
    best = min(wall(row) for row in cold if "engine" not in row["name"])
    engine = min(wall(row) for row in cold if "engine" in row["name"])
    result.check("L3 reading: best cold or direct row / engine", best / engine, 0.9, ">=", unit="x", judged=full)
    rows = larger["sequential-write"]["rows"]
    best = min(seconds(row) for row in rows if "outcore" not in row["name"])
    engine = min(seconds(row) for row in rows if "outcore" in row["name"])
    result.check("L3 writing: best row / engine", best / engine, 0.9, ">=", unit="x", judged=full)

    for answer in report["answers"]:
        ways = [f"{each['when']} `{each['way']}`" for each in answer["advice"]]
        result.notes.append(f"L5 {answer['task']}: {', '.join(ways)}")
    places.fresh(folder)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
