"""Groups of duplicates from pairs: connected components of named pairs, compared with other programs (bars C1, C2).

    python3 evals/entities/run.py [--part speed|pipe] [--scale smoke|full] [--repeats N] [--pairs N] [--memory-mib N]
                                  [--tools NAME,..]

`pairs.c` generates the pairs that a matching of records finds: five per record (`pipe`: ten), in groups of 2 to 40
records, four on average, in random order and with weights of 0.5 to 1.0.

speed  100 M pairs of 20 M ids such as `rec-00f3a9c2b1`, as a file that is warm in the page cache, to components in
       512 MiB: `cluster` on the text, compared with `build` and `cluster` on the graph in the same limit, with
       union-find in plain Python, and with scipy and DuckDB in as much memory as they like and on all cores. All write
       the component of each id; a checksum compares the partitions. GraphFrames takes part if GRAPHFRAMES is its jar,
       or several with commas between them. A rival that fails or takes more than 20 minutes is compared on a tenth of
       the pairs.
pipe   1,000 M pairs of 100 M numbers through a pipe, in 1 GiB: without a threshold, with one, and with ten thresholds
       of weight at once. Costs stand beside those that `outcore plan` predicts; disk includes the results. At the
       smoke scale, the components of each threshold are compared with those of union-find. With `--memory-mib 256`, the
       nodes do not fit in memory, either.

Needs a C compiler (`cc`), and duckdb, polars, pyarrow and scipy in the Python that runs it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results, running, subject
from harness.places import GIB, MIB
from harness.results import Result
from harness.running import Command, Sample

PAIRS = {
    "speed": {"full": 100_000_000, "smoke": 20_000},
    "pipe": {"full": 1_000_000_000, "smoke": 20_000},
}
MEMORY_MIB = {"speed": {"full": 512, "smoke": 64}, "pipe": {"full": 1024, "smoke": 64}}
PAIRS_PER_NODE = {"speed": 5, "pipe": 10}
TOLERANCE_MIB = 32
THREADS = len(os.sched_getaffinity(0))
SEED = 1
# Sizes of groups, in proportion to their power of this: four on average.
SIZES = range(2, 41)
EXPONENT = -2.422
# Upper bounds of a line of pairs, and of one of communities.
PAIR_BYTES = {"speed": 36, "pipe": 26}
LINE_BYTES = {"speed": 25, "pipe": 19}

OURS, GRAPH = "outcore", "build and cluster"
#: How many times as long as ours each takes at least, and whether that is judged.
RIVALS = {"union-find": (8, True), "scipy": (3, True), "duckdb": (3, True), "graphframes": (3, False)}
#: How many times as much memory as ours union-find takes at least.
UNION_FIND_MEMORY = 10
#: The largest share of the time of `build` and `cluster`.
GRAPH_SHARE = 0.5
LIMIT_SECONDS = 1200
#: A rival that fails is compared on this part of the pairs.
SHARE = 10

THRESHOLDS = ["0.95", "0.9", "0.85", "0.8", "0.75", "0.7", "0.65", "0.6", "0.55", "0.5"]
#: The lowest one keeps all pairs.
JOBS = {"no threshold": [], "one threshold": THRESHOLDS[-1:], "ten thresholds": THRESHOLDS}
TEN_RATIO = 1.5
PLAN_FIGURES = ("peak_memory_bytes", "disk_bytes_most", "seconds")

PROGRAMS = Path(__file__).parent
PACKAGES = ("duckdb", "polars", "pyarrow", "scipy")


@dataclass(frozen=True)
class Generator:
    """Generator of a number of pairs."""

    program: Path
    names: str
    pairs: int
    nodes: int

    @property
    def groups(self) -> list[int]:
        """Number of groups of each size, with `nodes` nodes in total."""
        shares = [size**EXPONENT for size in SIZES]
        unit = self.nodes / sum(size * share for size, share in zip(SIZES, shares, strict=True))
        counts = [round(unit * share) for share in shares]
        # Groups of two, and one of three if the number is odd, make up for rounding.
        rest = self.nodes - sum(size * count for size, count in zip(SIZES, counts, strict=True))
        counts[0] += (rest - rest % 2 * 3) // 2
        counts[1] += rest % 2
        return counts

    @property
    def argv(self) -> list[str]:
        return [str(self.program), self.names, str(self.pairs), str(SEED), *map(str, self.groups)]

    @property
    def description(self) -> dict[str, object]:
        return {"pairs": self.pairs, "nodes": self.nodes, "groups": sum(self.groups), "seed": SEED, "names": self.names}

    def write(self, path: Path) -> Path:
        """Write the pairs to a file unless it exists."""
        if not path.exists():
            print(f"  generating {self.pairs} pairs of {self.nodes} nodes ..", file=sys.stderr)
            incomplete = path.with_suffix(".incomplete")
            with incomplete.open("wb") as file:
                if subprocess.run(self.argv, stdout=file, check=False).returncode != 0:
                    places.cannot_run("the pairs could not be generated")
            incomplete.rename(path)
        return path


def generator(part: str, pairs: int, folder: Path) -> Generator:
    if shutil.which("cc") is None:
        places.cannot_run("cc is missing: apt-get install gcc")
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "pairs"
    subprocess.run(["cc", "-O2", "-o", program, PROGRAMS / "pairs.c"], check=True)
    return Generator(program, {"speed": "ids", "pipe": "numbers"}[part], pairs, pairs // PAIRS_PER_NODE[part])


def python(program: str, *arguments: object) -> list[str]:
    return [sys.executable, "-W", "ignore", str(PROGRAMS / program), *map(str, arguments)]


def partition(path: Path, *options: str) -> dict:
    """Return the numbers of nodes and components of a result, and its checksum, by a process of its own.

    Its memory would otherwise count as that of the next command, which starts as a copy of this process.
    """
    done = subprocess.run(python("partition.py", path, *options), stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"nodes": 0, "components": 0, "sha256": ""}


def measure(result: Result, commands: Sequence[Command], repeats: int, keep: Callable[[str], object]) -> None:
    """Measure commands in turn, without those that have failed, and look at what is left by the last run of each."""
    for number in range(1, repeats + 1):
        for command in commands:
            if all(sample.ok for sample in result.samples.get(command.name, [])):
                result.measure([command], 1)
                if number == repeats and result.samples[command.name][-1].ok:
                    keep(command.name)


def speed_commands(tools: Sequence[str], pairs: Path, folder: Path, memory_mib: int, suffix: str) -> list[Command]:
    """Return the commands of the tools; each leaves its components in `answer_path`."""
    work = folder / "work"
    memory = f"{memory_mib}MiB"

    def cluster(source: Path, answer: Path) -> list[str]:
        return subject.cluster_argv(source, answer, work, memory, THREADS, "components")

    def command(tool: str) -> Command:
        answer = answer_path(folder, tool)
        if tool == OURS:
            argv = cluster(pairs, answer)
        elif tool == GRAPH:
            graph = work / "pairs.graph"
            build = subject.build_argv(pairs, graph, work, memory, THREADS)
            argv = ["sh", "-c", f"{shlex.join(build)} && {shlex.join(cluster(graph, answer))}"]
        elif tool == "union-find":
            argv = python("union_find.py", pairs, answer)
        elif tool == "graphframes":
            heap = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2 // GIB
            argv = python("graph_frames.py", pairs, "--output", answer, "--work-dir", work)
            argv += ["--master", "local[*]", "--memory", f"{heap}g", "--limit-seconds", str(LIMIT_SECONDS)]
            argv += ["--conf", f"spark.jars={os.environ['GRAPHFRAMES']}"]
        else:
            argv = python("rivals.py", tool, pairs, answer, "--dir", work)

        def prepare() -> None:
            places.fresh(work)
            shutil.rmtree(answer) if answer.is_dir() else answer.unlink(missing_ok=True)
            running.settle(pairs)

        # The script on Spark ends itself, with its Java.
        limit = {OURS: None, GRAPH: None, "graphframes": LIMIT_SECONDS + 60}.get(tool, LIMIT_SECONDS)
        return Command(f"{tool}{suffix}", argv, [work], prepare, limit_seconds=limit)

    return [command(tool) for tool in tools]


def answer_path(folder: Path, tool: str) -> Path:
    return folder / f"{tool.replace(' ', '-')}.tsv"


def failure(sample: Sample, limit_seconds: float | None) -> str:
    """Return why a command has failed; the script on Spark reports that itself."""
    if limit_seconds is not None and sample.wall_seconds >= limit_seconds:
        return f"longer than {limit_seconds:g} s"
    return str(sample.json_line().get("message") or f"exit code {sample.exit_code}: {sample.error.strip()[-200:]}")


def compare(
    result: Result, tools: Sequence[str], made: Generator, repeats: int, folder: Path, limit_mib: int, judged: bool
) -> list[str]:
    """Measure tools beside ours on pairs, check the figures, and return those that have failed."""
    suffix = "" if made.pairs == result.input["pairs"] else f", {made.pairs} pairs"
    pairs = made.write(folder / f"{made.names}-{made.pairs}-{SEED}.tsv")
    commands = speed_commands([OURS, *tools], pairs, folder, limit_mib, suffix)
    found: dict[str, dict] = {}

    def keep(name: str) -> None:
        found[name] = partition(answer_path(folder, name.removesuffix(suffix)))
        result.rows.append({"command": name, **found[name]})

    measure(result, commands, repeats, keep)
    name = f"{OURS}{suffix}"
    ours = result.summary(name)
    result.check_runs(name)
    peak = ours.peak_memory_bytes or float("nan")
    result.check(f"{name}: peak memory", peak / MIB, limit_mib + TOLERANCE_MIB, unit="MiB")
    ours_found = found.get(name, {"nodes": 0, "components": 0, "sha256": ""})
    result.check(f"{name}: nodes", ours_found["nodes"], made.nodes, "==")
    result.check(f"{name}: components", ours_found["components"], sum(made.groups), "==")

    failed = []
    for tool in tools:
        name = f"{tool}{suffix}"
        theirs = result.summary(name)
        if theirs.failures:
            reason = failure(result.samples[name][-1], result.commands[name].limit_seconds)
            result.notes.append(f"{name} has failed: {reason}")
            failed.append(tool)
        if tool == GRAPH:
            result.check_runs(name)
            ratio = ours.median_seconds / theirs.median_seconds
            result.check(f"{OURS}: time / {name}", ratio, GRAPH_SHARE, unit="x", judged=judged)
        elif not theirs.failures:
            bar, bar_judged = RIVALS[tool]
            ratio = theirs.median_seconds / ours.median_seconds
            result.check(f"{name}: time / {OURS}'s", ratio, bar, ">=", unit="x", judged=judged and bar_judged)
        if not theirs.failures:
            same = "same" if found[name]["sha256"] == ours_found["sha256"] else "different"
            result.check(f"{name}: partition", same, "same", "==")
        if tool == "union-find" and not theirs.failures:
            ratio = theirs.peak_memory_bytes / peak
            result.check(f"{name}: memory / {OURS}'s", ratio, UNION_FIND_MEMORY, ">=", unit="x", judged=judged)
    return failed


def speed(options: argparse.Namespace, scale: str) -> int:
    judged = options.scale == "full"
    pairs = options.pairs or PAIRS["speed"][options.scale]
    limit_mib = options.memory_mib or MEMORY_MIB["speed"][options.scale]
    folder = places.data_folder() / "entities"
    places.require_space(pairs * (PAIR_BYTES["speed"] * 2 + LINE_BYTES["speed"] * 6 // PAIRS_PER_NODE["speed"]))
    made = generator("speed", pairs, folder)
    described = {**made.description, "memory_mib": limit_mib, "threads": THREADS}
    result = Result("entities", "C1", scale, described, part="speed")
    tools = list(options.tools)
    if "graphframes" in tools and (reason := no_graphframes()):
        result.notes.append(f"graphframes is skipped: {reason}")
        tools.remove("graphframes")
    failed = compare(result, [GRAPH, *tools], made, options.repeats, folder, limit_mib, judged)
    slow = [tool for tool in failed if tool in RIVALS]
    if slow and pairs // SHARE >= PAIRS["speed"]["smoke"]:
        result.notes.append(f"{', '.join(slow)}: compared on {pairs // SHARE} pairs")
        compare(result, slow, generator("speed", pairs // SHARE, folder), options.repeats, folder, limit_mib, judged)
    for tool in (OURS, GRAPH, *RIVALS):
        answer = answer_path(folder, tool)
        shutil.rmtree(answer) if answer.is_dir() else answer.unlink(missing_ok=True)
    places.fresh(folder / "work")
    if result.rows:
        print("\n" + result.rows_table())
    return result.finish(baseline=OURS)


def no_graphframes() -> str | None:
    if not os.environ.get("GRAPHFRAMES"):
        return "GRAPHFRAMES is not set to its jar"
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        return "it needs PySpark and Java"
    return None


def min_weights(thresholds: Sequence[str]) -> list[str]:
    return ["--min-weight", ",".join(thresholds)] if thresholds else []


def planned(made: Generator, thresholds: Sequence[str], memory: str, folder: Path) -> tuple[dict | None, str]:
    """Return the figures that `outcore plan` predicts for a job, if any, and what it refuses.

    If it plans no thresholds for numbers of edges alone, the plan is that of the job without.
    """
    counts = ["--nodes", str(made.nodes), "--edges", str(made.pairs), "--weighted", "--method", "components"]
    limits = ["--memory", memory, "--threads", str(THREADS), "--work-dir", str(folder)]
    refused = ""
    for options in (min_weights(thresholds), []):
        argv = [str(subject.outcore()), "plan", *counts, *options, *limits, "--json"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            plan = json.loads(done.stdout)
            return {figure: plan[figure] for figure in PLAN_FIGURES}, refused
        refused = refused or " ".join(places.relative(done.stderr).split())
    return None, refused


def result_path(output: Path, thresholds: Sequence[str], threshold: str) -> Path:
    """Return the file of a threshold: `out.0.9.tsv` of several for `out.tsv`, which is that of a single one."""
    return output.with_suffix(f".{threshold}{output.suffix}") if len(thresholds) > 1 else output


def reference(pairs: Path, threshold: str, folder: Path) -> dict:
    """Return the partition of union-find for the pairs from a weight on. Nodes without such a pair stay alone."""
    kept, answer = folder / "kept.tsv", folder / "answer.tsv"
    with pairs.open() as lines, kept.open("w") as file:
        for line in lines:
            left, right, weight = line.split("\t")
            loops = f"{left}\t{left}\t1\n{right}\t{right}\t1\n"
            file.write(line if float(weight) >= float(threshold) else loops)
    subprocess.run(python("union_find.py", kept, answer), check=True)
    return partition(answer)


def pipe(options: argparse.Namespace, scale: str) -> int:
    smoke = options.scale == "smoke"
    pairs = options.pairs or PAIRS["pipe"][options.scale]
    limit_mib = options.memory_mib or MEMORY_MIB["pipe"][options.scale]
    folder = places.data_folder() / "entities"
    work, checked = folder / "work", folder / "checked"
    made = generator("pipe", pairs, folder)
    plans = {name: planned(made, thresholds, f"{limit_mib}MiB", folder) for name, thresholds in JOBS.items()}
    disk = max((plan["disk_bytes_most"] for plan, _ in plans.values() if plan), default=0)
    places.require_space(disk + made.nodes * LINE_BYTES["pipe"] * len(THRESHOLDS))
    described = {**made.description, "memory_mib": limit_mib, "threads": THREADS, "thresholds": THRESHOLDS}
    result = Result("entities", "C2", scale, described, part="pipe")
    output = work / "out.tsv"

    def prepare() -> None:
        places.fresh(work)
        running.settle()

    def command(name: str, thresholds: Sequence[str]) -> Command:
        argv = subject.cluster_argv(Path("-"), output, work, f"{limit_mib}MiB", THREADS, "components")
        return Command(name, [*argv, *min_weights(thresholds)], [work], prepare, source=made.argv)

    expected: dict[str, dict] = {}
    if smoke:
        places.fresh(checked)
        lines = made.write(checked / "pairs.tsv")
        expected = {threshold: reference(lines, threshold, checked) for threshold in THRESHOLDS}

    def keep(name: str) -> None:
        thresholds = JOBS[name]
        counts = []
        for threshold in thresholds or THRESHOLDS[-1:]:
            found = partition(result_path(output, thresholds, threshold), *([] if smoke else ["--count"]))
            counts.append(found["components"])
            if smoke:
                same = "same" if found["sha256"] == expected[threshold]["sha256"] else "different"
                result.check(f"{name}: partition from {threshold} on", same, "same", "==")
        result.check(f"{name}: components with all pairs", counts[-1], sum(made.groups), "==")
        if len(counts) > 1:
            falling = "fewer" if counts == sorted(counts, reverse=True) else "more"
            result.check(f"{name}: components at a lower threshold", falling, "fewer", "==")
            result.notes.append("components: " + ", ".join(map(" {} at {}".format, counts, thresholds)))

    measure(result, [command(name, thresholds) for name, thresholds in JOBS.items()], options.repeats, keep)
    places.fresh(work)
    shutil.rmtree(checked, ignore_errors=True)

    for name, (plan, refused) in plans.items():
        cost = result.summary(name)
        result.check_runs(name)
        peak = cost.peak_memory_bytes or float("nan")
        result.check(f"{name}: peak memory", peak / MIB, limit_mib + TOLERANCE_MIB, unit="MiB")
        row = {"job": name, "seconds": cost.median_seconds, "peak_memory_bytes": cost.peak_memory_bytes}
        row |= {"peak_disk_bytes": cost.peak_disk_bytes}
        row |= {"source_seconds": max(sample.source_seconds or 0 for sample in result.samples[name])}
        result.rows.append(row | {"planned": plan})
        if refused:
            result.notes.append(f"{name}: {'planned without thresholds' if plan else 'not planned'}: {refused}")
    ratio = result.summary("ten thresholds").median_seconds / result.summary("one threshold").median_seconds
    result.check("ten thresholds: time / one threshold's", ratio, TEN_RATIO, unit="x", judged=not smoke)
    print_costs(result)
    return result.finish(baseline="one threshold")


def print_costs(result: Result) -> None:
    header = ["job", "s", "planned", "of generating", "memory MiB", "planned", "disk MiB", "planned", "bytes per pair"]
    lines = []
    for row in result.rows:
        plan = row["planned"] or {}
        memory, disk = plan.get("peak_memory_bytes"), plan.get("disk_bytes_most")
        cells = [row["job"], f"{row['seconds']:.1f}", f"{plan['seconds']:.1f}" if plan else ""]
        cells += [f"{row['source_seconds']:.1f}"]
        cells += [f"{row['peak_memory_bytes'] / MIB:.0f}", f"{memory / MIB:.0f}" if plan else ""]
        cells += [f"{row['peak_disk_bytes'] / MIB:.1f}", f"{disk / MIB:.1f}" if plan else ""]
        cells += [f"{row['peak_disk_bytes'] / result.input['pairs']:.1f}"]
        lines.append(cells)
    print("\n" + results.table(header, lines))


PARTS: dict[str, Callable[[argparse.Namespace, str], int]] = {"speed": speed, "pipe": pipe}


def extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--part", choices=PARTS, help="one of the two parts (default: both)")
    parser.add_argument("--pairs", type=int, metavar="N", help="number of pairs instead of that of the scale")
    parser.add_argument("--memory-mib", type=int, metavar="N", help="memory limit instead of that of the scale")
    parser.add_argument(
        "--tools",
        type=partial(str.split, sep=","),
        default=list(RIVALS),
        metavar="NAME,..",
        help="speed: rivals, of " + ", ".join(RIVALS),
    )


def main() -> int:
    options = results.arguments("entities", "groups of duplicates from pairs", extend=extend)
    if unknown := set(options.tools) - set(RIVALS):
        places.cannot_run(f"there is no tool {', '.join(sorted(unknown))}: {', '.join(RIVALS)}")
    if missing := [name for name in PACKAGES if importlib.util.find_spec(name) is None]:
        places.cannot_run(f"this eval needs {', '.join(missing)}: pip install {' '.join(missing)}")
    complete = options.pairs is None and options.tools == list(RIVALS)
    parts = [options.part] if options.part else list(PARTS)
    return max(PARTS[part](options, options.scale if complete else "partial") for part in parts)


if __name__ == "__main__":
    sys.exit(main())
