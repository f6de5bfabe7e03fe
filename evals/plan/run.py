"""Accuracy of `outcore plan`: ten jobs over four orders of magnitude, predicted and measured (bar R8).

Generated graphs and a real one; text and gzip; `build`, and `cluster` by three methods; little memory and much. The
prediction is that of `outcore plan` for the same input, limits and a profile of the disk that `outcore lab tune` has
just measured. Peak memory is that of the process in the report of the job; peak disk is sampled and includes results.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

# Files of small jobs exist for milliseconds.
running.SAMPLE_SECONDS = 0.005
MIN_SHARE = 0.5
BYTES_RATIO = 1.15
TIME_RATIO = 2
YEAST = places.REPOSITORY / "tests" / "graphs" / "string-yeast-physical.txt.gz"


@dataclass(frozen=True)
class Job:
    """Job to predict; `method` is None for `build`, and `nodes` is 0 for the real graph."""

    name: str
    nodes: int
    edges: int
    method: str | None
    memory: str
    compressed: bool = False
    names: str = "string"


FULL = [
    Job("build 10 k", 2_000, 10_000, None, "96MiB"),
    Job("label-propagation 100 k, gzip", 10_000, 100_000, "label-propagation", "1GiB", compressed=True),
    Job("map-equation, yeast", 0, 0, "map-equation", "128MiB"),
    Job("modularity 1 M, gzip", 100_000, 1_000_000, "modularity", "128MiB", compressed=True),
    Job("map-equation 1 M", 100_000, 1_000_000, "map-equation", "1GiB"),
    Job("label-propagation 3 M, numbers", 300_000, 3_000_000, "label-propagation", "128MiB", names="integer"),
    Job("map-equation 10 M", 1_000_000, 10_000_000, "map-equation", "256MiB"),
    Job("modularity 10 M", 1_000_000, 10_000_000, "modularity", "2GiB"),
    Job("build 10 M, names beyond memory", 21_000_000, 10_000_000, None, "128MiB"),
    Job("label-propagation 30 M", 3_000_000, 30_000_000, "label-propagation", "256MiB"),
]
SMOKE = [FULL[0], FULL[1], FULL[2], FULL[4]]


def edges_of(job: Job) -> Path:
    if job.nodes == 0:
        return YEAST
    plain = inputs.planted(job.nodes, job.edges, names=job.names).path
    if not job.compressed:
        return plain
    packed = plain.with_suffix(".tsv.gz")
    if not packed.exists():
        partial = packed.with_suffix(".incomplete")
        with plain.open("rb") as source, gzip.open(partial, "wb", compresslevel=1) as target:
            shutil.copyfileobj(source, target, 4 * places.MIB)
        partial.rename(packed)
    return packed


def argv_of(job: Job, edges: Path, folder: Path, profile: Path) -> list[str]:
    report, result = folder.with_suffix(".json"), folder / "result"
    if job.method is None:
        argv = subject.build_argv(edges, result, folder, job.memory, report=report)
    else:
        argv = subject.cluster_argv(edges, result, folder, job.memory, method=job.method, report=report)
    return [*argv, "--profile", str(profile)]


def predicted(job: Job, edges: Path, folder: Path, profile: Path) -> dict:
    what = ["--build"] if job.method is None else ["--method", job.method]
    limits = ["--memory", job.memory, "--threads", "2", "--work-dir", str(folder), "--profile", str(profile)]
    argv = [str(subject.outcore()), "plan", str(edges), "--json", *what, *limits]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        places.cannot_run(f"plan failed:\n{done.stderr}")
    return json.loads(done.stdout)


def ratio(measured: float, predicted: float) -> float:
    """Return the ratio of the larger to the smaller value, at least 1."""
    return max(measured / predicted, predicted / measured) if min(measured, predicted) > 0 else float("inf")


def main() -> int:
    options = results.arguments("plan", "predictions of `outcore plan` against the costs of jobs", repeats=1)
    jobs = FULL if options.scale == "full" else SMOKE
    places.require_space(8 << 30 if options.scale == "full" else 1 << 30)
    work = places.fresh(places.data_folder() / "plan")
    profile = work / "profile.json"
    tune = [str(subject.outcore()), "lab", "tune", "--dir", str(work), "-o", str(profile)]
    tuned = running.run_once(Command("tune", tune + ([] if options.scale == "full" else ["--quick"])))
    if not tuned.ok:
        places.cannot_run(f"tune failed:\n{tuned.error}")

    result = results.Result("plan", "R8", options.scale, {"jobs": len(jobs)})
    plans, reports, commands = {}, {}, []
    for number, job in enumerate(jobs):
        edges, folder = edges_of(job), places.fresh(work / str(number))
        plans[job.name] = predicted(job, edges, folder, profile)
        reports[job.name] = folder.with_suffix(".json")

        def prepare(edges: Path = edges, folder: Path = folder) -> None:
            places.fresh(folder)
            running.settle(edges)

        commands.append(Command(job.name, argv_of(job, edges, folder, profile), [folder], prepare))
    result.measure(commands, options.repeats)
    result.check_runs(*(job.name for job in jobs))
    for job in jobs:
        row, plan = result.summary(job.name), plans[job.name]
        if row.failures:
            continue
        report = json.loads(reports[job.name].read_text())
        peak = report["peak_memory_bytes"]
        # Runs are kept until the graph is complete if the disk has room for both, as here.
        memory, disk = plan["peak_memory_bytes"], plan["disk_bytes_most"]
        for what, measured, expected in [("memory", peak, memory), ("disk", row.peak_disk_bytes, disk)]:
            share = measured / expected
            result.check(f"{job.name}: peak {what} / predicted", share, 1.0, "<=")
            result.check(f"{job.name}: peak {what} / predicted, at least", share, MIN_SHARE, ">=")
        for what in ("read_bytes", "write_bytes"):
            apart = ratio(report[what], plan[what])
            result.check(f"{job.name}: {what.replace('_', ' ')}, ratio", apart, BYTES_RATIO, unit="x")
        apart = ratio(row.median_seconds, plan["seconds"])
        result.check(f"{job.name}: time, ratio", apart, TIME_RATIO, unit="x", judged=options.scale == "full")
        result.rows.append(compared(job, plan, report, row))
    places.fresh(work)
    return result.finish()


def compared(job: Job, plan: dict, report: dict, row: running.Summary) -> dict[str, object]:
    """Return pairs of predicted and measured values."""
    stages = {stage["stage"]: stage for stage in plan["stages"]}
    return {
        "job": job.name,
        "memory": [plan["peak_memory_bytes"], report["peak_memory_bytes"]],
        "disk": [plan["disk_bytes_most"], row.peak_disk_bytes],
        "read": [plan["read_bytes"], report["read_bytes"]],
        "write": [plan["write_bytes"], report["write_bytes"]],
        "seconds": [plan["seconds"], row.median_seconds],
        "stages": [
            {
                "stage": stage["stage"],
                "read": [stages[stage["stage"]]["read_bytes"], stage["read_bytes"]],
                "write": [stages[stage["stage"]]["write_bytes"], stage["write_bytes"]],
                "seconds": [stages[stage["stage"]]["seconds"], stage["seconds"]],
            }
            for stage in report["stages"]
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
