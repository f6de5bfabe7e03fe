"""The external sorter compared with others (bar B4).

A hundred million random records of 16 bytes (key, value) in 512 MiB, two threads, generated, sorted and read back in
order, with order and checksum verified. Ours is timed as a whole process; the rivals by the times that they report,
which exclude their start and, for DuckDB, generating the records. Run evals/rivals.sh first.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results, running, subject
from harness.running import Command

RECORDS = {"full": 100_000_000, "smoke": 1_000_000}
MEMORY_MIB = {"full": 512, "smoke": 64}
TOLERANCE_MIB = 16
RECORD_BYTES = 16
BARS = {"extsort": 2, "stxxl": 4, "duckdb": 4}


def main() -> int:
    options = results.arguments("sort", "the external sorter against extsort, STXXL and DuckDB")
    full = options.scale == "full"
    records, memory = RECORDS[options.scale], MEMORY_MIB[options.scale]
    python = str(places.rival("venv/bin/python"))
    places.require_space(records * RECORD_BYTES * 4)
    folder = places.fresh(places.data_folder() / "sort")
    work, table = folder / "work", folder / "table"
    table.mkdir()

    duckdb = [python, str(places.EVALS / "sort/duckdb_sort.py")]
    made = running.run_once(Command("prepare", [*duckdb, "prepare", "--records", str(records), "--dir", str(table)]))
    if not made.ok:
        places.cannot_run(f"DuckDB's table could not be made:\n{made.error}")

    def prepare() -> None:
        places.fresh(work)
        running.settle()

    def prepare_duckdb() -> None:
        prepare()
        running.settle(*table.glob("*.duckdb"))

    sizes = ["--records", str(records), "--memory-mib", str(memory)]
    extsort = [str(places.rival("bin/extsort-sort")), *sizes, "--dir", str(work)]
    stxxl = [str(places.rival("bin/stxxl_sort")), *sizes, "--dir", str(work)]
    logs = {name: str(work / name.lower()) for name in ("STXXLLOGFILE", "STXXLERRLOGFILE")}
    result = results.Result(
        "sort", "B4", options.scale, {"records": records, "record_bytes": RECORD_BYTES, "memory_mib": memory}
    )
    result.measure(
        [
            Command("outcore", subject.sort_argv(records, f"{memory}MiB", work), [work], prepare),
            Command("extsort", extsort, [work], prepare, env={"RAYON_NUM_THREADS": "2"}),
            Command("stxxl", stxxl, [work], prepare, env={"OMP_NUM_THREADS": "2", **logs}),
            Command("duckdb", [*duckdb, "sort", *sizes, "--dir", str(table)], [table], prepare_duckdb),
        ],
        options.repeats,
    )
    places.fresh(folder)

    ours = result.summary("outcore")
    result.check_runs("outcore")
    for name, bar in BARS.items():
        reported = [sample.json_line().get("seconds", float("nan")) for sample in result.samples[name] if sample.ok]
        theirs = statistics.median(reported) if reported else float("nan")
        if not reported:
            result.notes.append(f"{name} failed in every run: {result.samples[name][0].error.strip()[-200:]}")
        result.check(f"{name}: reported time / ours", theirs / ours.median_seconds, bar, ">=", unit="x", judged=full)
    result.check("outcore: peak memory", ours.peak_memory_bytes / places.MIB, memory + TOLERANCE_MIB, unit="MiB")
    return result.finish(baseline="outcore")


if __name__ == "__main__":
    sys.exit(main())
