"""Whether jobs respect their memory limit on hostile input (bars W2, W6).

W2: whole jobs under a hard limit of the kernel of the given memory plus 32 MiB, including page cache and without swap:
tables that unpack a thousandfold, names of 64 KiB to every format, stars, hubs and communities by every method, options
that need additional memory, and `score`. Each job finishes, reports bad input, or refuses with a sufficient limit.
After a refusal it runs again with that limit, in a group of that limit plus 32 MiB, and finishes. No job is killed, and
a refusal leaves no files behind.

W6: `plan` refuses exactly the jobs that `cluster` refuses, and `cluster` refuses within the time of `plan` plus 0.2 s.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import hostile
from harness import groups, places, results, running, subject
from harness.running import Command, Sample

SLACK_MIB = 32
REFUSED = 4
BAD_INPUT = 3
LIMIT_SECONDS = 900
NUMBER = re.compile(r"`--memory (\d+)(KiB|MiB|GiB)`")
METHODS = subject.METHODS
# Options that need additional memory per node, community or weight.
OPTIONS: dict[str, list[str]] = {
    "representatives": ["--representatives", "r.tsv"],
    "pairs": ["--rows", "pair"],
    "rows": ["--rows", "community"],
    "weights": ["--member-weights"],
    "least": ["--min-size", "3", "--small", "singletons"],
}
LEVELED = ("map-equation", "modularity")


@dataclass(frozen=True)
class Job:
    """Command with a memory limit; `argv` begins with the subcommand."""

    name: str
    argv: tuple[str, ...]
    mib: int


def method_argv(method: str) -> list[str]:
    resolution = subject.method_resolution(method)
    return ["--method", method, *([] if resolution is None else ["--resolution", str(resolution)])]


def jobs(scale: str) -> Iterator[Job]:
    """Yield all jobs, and generate their inputs unless they exist."""
    made = hostile.Inputs(places.data_folder() / "hostile", scale)
    for bomb in made.bombs():
        for command in ("build", "cluster"):
            for mib in (64, 96):
                yield Job(f"{command} {bomb.name}", (command, str(bomb), "-o", f"out.{command}"), mib)
    for names in made.long_names():
        for suffix in ("tsv", "csv", "jsonl", "parquet", "arrow", "tsv.zst"):
            yield Job(f"long {names.name} to {suffix}", ("cluster", str(names), "-o", f"out.{suffix}"), 64)
    for star in made.stars():
        for method in METHODS:
            for mib in (64, 300):
                yield Job(f"{star.stem} {method}", ("cluster", str(star), "-o", "out.tsv", *method_argv(method)), mib)
    for graph in made.graphs():
        for method in METHODS:
            cluster = ("cluster", str(graph), "-o", "out.tsv", *method_argv(method))
            for mib in (64, 100):
                yield Job(f"{graph.stem} {method}", cluster, mib)
            for option, extra in OPTIONS.items():
                yield Job(f"{graph.stem} {method} {option}", (*cluster, *extra), 64)
            yield Job(f"{graph.stem} {method} match", (*cluster, "--match", str(made.labels(graph))), 64)
            if method in LEVELED:
                yield Job(f"{graph.stem} {method} levels", (*cluster, "--levels", "columns"), 64)
        labels = str(made.labels(graph))
        for against in ([], ["--against", labels]):
            yield Job(f"{graph.stem} score", ("score", str(made.graph(graph)), labels, *against), 64)
        initial = ("--initial", labels, "--method", "label-propagation")
        yield Job(f"{graph.stem} initial", ("cluster", str(graph), "-o", "out.tsv", *initial), 64)
        nodes = ("--nodes", labels, "--method", "components")
        yield Job(f"{graph.stem} nodes", ("cluster", str(graph), "-o", "out.tsv", *nodes), 64)
        yield Job(f"{graph.stem} build directed", ("build", str(graph), "-o", "out.graph", "--directed"), 64)
    for hits in made.self_hits():
        extra = ("--normalize", "self-score", "--duplicates", "max")
        for mib in (64, 128):
            yield Job(f"{hits.stem} normalized", ("build", str(hits), "-o", "out.graph", *extra), mib)


def run(job: Job, mib: int, folder: Path) -> Sample:
    """Run a job alone in a group of its memory plus the slack."""
    places.fresh(folder)
    group = groups.MemoryGroup("bounds", (mib + SLACK_MIB) * places.MIB)
    try:
        argv = [str(subject.outcore()), *job.argv, "--memory", f"{mib}MiB", "--threads", "2"]
        return running.run_once(Command(job.name, group.argv(argv), cwd=folder, limit_seconds=LIMIT_SECONDS))
    finally:
        group.remove()


def number_mib(text: str) -> int | None:
    """Return the memory limit that a refusal suggests, in MiB."""
    found = NUMBER.search(text)
    if found is None:
        return None
    value, unit = int(found[1]), found[2]
    return {"KiB": -(-value // 1024), "MiB": value, "GiB": value * 1024}[unit]


def judge(job: Job, folder: Path) -> dict[str, object]:
    """Run a job, and again with the limit that it suggests, if any."""
    first = run(job, job.mib, folder)
    row: dict[str, object] = {"job": job.name, "mib": job.mib, "exit": first.exit_code}
    row |= {"seconds": round(first.wall_seconds, 2), "peak_mib": round(first.peak_memory_bytes / places.MIB, 1)}
    if first.exit_code == 0:
        return row | {"verdict": "finished"}
    left = sorted(path.name for path in folder.iterdir())
    if first.exit_code == BAD_INPUT:
        return row | {"verdict": "named" if not left else f"left {left}"}
    if first.exit_code != REFUSED:
        return row | {"verdict": f"failed: {first.error[-300:]}"}
    row["refused_after_seconds"] = row.pop("seconds")
    suggested = number_mib(first.error)
    if suggested is None:
        return row | {"verdict": f"refused without a number: {first.error[-300:]}"}
    if left:
        return row | {"verdict": f"refused after work, {left} stay: {first.error[-300:]}"}
    second = run(job, suggested, folder)
    row |= {"suggested_mib": suggested, "then_exit": second.exit_code, "seconds": round(second.wall_seconds, 2)}
    row["then_peak_mib"] = round(second.peak_memory_bytes / places.MIB, 1)
    works = second.exit_code == 0
    return row | {"verdict": "refused, then finished" if works else f"number did not work: {second.error[-300:]}"}


def bounds(options: argparse.Namespace) -> int:
    folder = places.data_folder() / "bounds"
    result = results.Result(
        "bounds", "W2", options.scale, {"kind": "bombs, long names, stars, hubs, communities"}, part="W2"
    )
    for job in jobs(options.scale):
        row = judge(job, folder)
        print(f"  {row['verdict'][:110]:<24} {row['job']} at {row['mib']} MiB", file=sys.stderr, flush=True)
        result.rows.append(row)
    shutil.rmtree(folder)
    good = ("finished", "named", "refused, then finished")
    bad = [row for row in result.rows if row["verdict"] not in good]
    result.check("cases", len(result.rows), 200 if options.scale == "full" else 1, sense=">=")
    result.check("cases that were killed, failed, or refused with an insufficient limit", len(bad), 0)
    result.notes += [f"{row['job']} at {row['mib']} MiB: {row['verdict']}" for row in bad]
    return result.finish()


def refusals(options: results.Options) -> int:
    """Compare the exit codes of `plan` and `cluster` for ten jobs, and their times until a refusal."""
    folder = places.fresh(places.data_folder() / "bounds")
    made = hostile.Inputs(places.data_folder() / "hostile", options.scale)
    inputs = [*made.graphs(), *made.stars()]
    result = results.Result("bounds", "W6", options.scale, {"kind": "stars, hubs, communities"}, part="W6")
    for number, mib in enumerate((64, 96, 64, 128, 64, 200, 64, 110, 64, 4096)):
        path, method = inputs[number % len(inputs)], METHODS[number % len(METHODS)]
        rest = [str(path), *method_argv(method), "--memory", f"{mib}MiB", "--threads", "2"]
        plan = Command("plan", [str(subject.outcore()), "plan", *rest], cwd=folder)
        cluster = Command("cluster", [str(subject.outcore()), "cluster", *rest, "-o", "out.tsv"], cwd=folder)
        pairs = [(running.run_once(plan), running.run_once(cluster)) for _ in range(3)]
        codes = {name: {pair[at].exit_code for pair in pairs} for at, name in enumerate(("plan", "cluster"))}
        name = f"{path.stem} {method} {mib} MiB"
        is_refused = codes["plan"] == {REFUSED}
        result.check(f"{name}: cluster exits as plan", str(codes["cluster"]), str(codes["plan"]), sense="==")
        later = statistics.median(cluster.wall_seconds - plan.wall_seconds for plan, cluster in pairs)
        result.check(f"{name}: cluster after plan", later, 0.2, unit="s", judged=is_refused)
    return result.finish()


def main() -> int:
    parts = {"W2": bounds, "W6": refusals}

    def extend(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--bar", choices=parts, help="only this part (default: all)")

    options = results.arguments("bounds", "memory on hostile input", repeats=1, extend=extend)
    if (reason := groups.reason_for_none()) is not None:
        places.cannot_run(reason)
    return max(run(options) for name, run in parts.items() if options.bar in (None, name))


if __name__ == "__main__":
    sys.exit(main())
