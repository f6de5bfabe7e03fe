"""Verdicts of several quick runs of the laboratory, and the time that runs take (bars E1, E2 and E5).

    python3 evals/lab/repeat.py [--scale smoke|full] [--repeats RUNS]

Runs `outcore lab all --quick` so many times (10; smoke: 2) and compares the verdicts of all pairs of consecutive runs;
rows that do the same must not differ in any run. Then one run with the default effort is timed (full only). The machine
should do nothing else. Rows in C++ and Fortran are built if the compilers exist.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results, subject

#: As `NEGLIGIBLE` of `outcore_lab::statistics`.
NEGLIGIBLE = 1.02
#: Claims of the five source texts.
CLAIMS = 30
QUICK_SECONDS, DEFAULT_SECONDS = 120, 720

Report = dict[str, Any]


def lab(folder: Path, arguments: list[str]) -> tuple[Report, float]:
    """Run all experiments; return the report and the seconds that the run took."""
    stored = folder / "report.json"
    argv = [
        str(subject.outcore()),
        "lab",
        "all",
        *arguments,
        "--compile",
        "--dir",
        str(folder),
        "--output",
        str(stored),
    ]
    start = time.monotonic()
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        places.cannot_run(f"lab all {' '.join(arguments)} failed:\n{ended.stderr}")
    return json.loads(stored.read_text()), time.monotonic() - start


def verdict(ratio: dict[str, float]) -> int | None:
    """Return the verdict on a ratio: higher (1), lower (-1), the same (0), or none, as `Interval::verdict`."""
    if ratio["low"] > NEGLIGIBLE:
        return 1
    if ratio["high"] < 1 / NEGLIGIBLE:
        return -1
    return 0 if ratio["low"] >= 1 / NEGLIGIBLE and ratio["high"] <= NEGLIGIBLE else None


def verdicts(report: Report) -> dict[str, int | None]:
    """Return the verdict on each row with a ratio."""
    return {
        ", ".join(filter(None, (experiment["name"], row["group"], row["name"]))): verdict(row["ratio"])
        for experiment in report["experiments"]
        for row in experiment["rows"]
        if row["ratio"]
    }


def judgements(report: Report) -> dict[str, int | None]:
    """Return what the machine says of each claim: holds (1), differs (-1), or none."""
    said = {"holds": 1, "differs": -1}
    return {claim["name"]: said.get(claim["judgement"]) for claim in report["claims"]}


def unequal(report: Report) -> list[str]:
    """Return the rows that differ from rows that do the same."""
    controls = [each for experiment in report["experiments"] for each in experiment["controls"] if each["ratio"]]
    return [each["name"] for each in controls if verdict(each["ratio"]) in (1, -1)]


def main() -> int:
    options = results.arguments("lab", "verdicts of repeated quick runs, and their time", repeats=10)
    full = options.scale == "full"
    folder = places.fresh(places.data_folder() / "lab")
    reports, seconds = [], []
    for number in range(options.repeats if full else 2):
        report, took = lab(folder, ["--quick"])
        print(f"  run {number + 1}: {took:.1f} s", file=sys.stderr)
        reports.append(report)
        seconds.append(took)

    result = results.Result("lab", "E1, E2, E5", options.scale, {"runs": len(reports)}, part="repeat")
    for what, of in (("row", verdicts), ("claim", judgements)):
        both = [(row, a[row], b[row]) for a, b in pairwise(map(of, reports)) for row in sorted(a.keys() & b.keys())]
        decided = [(row, a, b) for row, a, b in both if a is not None and b is not None]
        opposite = [row for row, a, b in decided if a * b < 0]
        changed = [row for row, a, b in decided if a != b]
        figure = f"E1 {what}s with a verdict in two runs, of {len(decided)} in {len(reports) - 1} pairs of runs"
        result.check(f"{figure}: opposite verdicts", len(opposite), 0, judged=full)
        result.check(f"{figure}: share that change", len(changed) / max(len(decided), 1), 0.02, judged=full)
        # Without this, a laboratory that never decides would pass.
        result.check(f"E1 share of {what}s with a verdict in both", len(decided) / len(both), 0.25, ">=", judged=full)
        result.notes += [f"E1 opposite: {row}" for row in opposite]
        result.notes += [f"E1 changed: {row}" for row in changed if row not in opposite]
    differing = [name for report in reports for name in unequal(report)]
    result.check(
        f"E1 rows that differ from rows that do the same, in {len(reports)} runs", len(differing), 0, judged=full
    )
    result.notes += [f"E1 differs from a row that does the same: {name}" for name in differing]

    claims = reports[0]["claims"]
    result.check("E2 claims", len(claims), CLAIMS, ">=")
    without = [claim["name"] for claim in claims if claim["ratio"] is None]
    result.check("E2 claims without a ratio on this machine", len(without), 0, judged=full)
    result.notes += [f"E2 no ratio: {name}" for name in without]
    undecided = [sum(said is None for said in judgements(report).values()) for report in reports]
    result.notes.append(f"E2 claims that the interval leaves open, by run: {undecided}")

    result.check("E5 quick run, median", statistics.median(seconds), QUICK_SECONDS, unit="s", judged=full)
    result.notes.append(f"E5 quick runs: {', '.join(f'{took:.1f}' for took in seconds)} s")
    if full:
        result.check("E5 default run", lab(folder, [])[1], DEFAULT_SECONDS, unit="s")
    places.fresh(folder)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
