"""Cost of the better objectives, compared with label propagation, one thread, Infomap and leidenalg (bar Q7).

    evals/rivals.sh python                                       # once
    python3 evals/speed-quality/run.py [--scale smoke|full] [--repeats N] [--part own,rivals]

`own`: 50 M edges of 5 M nodes, from a graph on disk, in 512 MiB: the map equation takes at most 4 times as long as
label propagation; two threads are 1.6 times as fast as one.

`rivals`: 5 M edges of 500,000 nodes: 4 times as fast as Infomap and 10 times as fast as leidenalg, with objectives as
good and a quarter of their memory. For outcore the whole process is timed, from a graph on disk to communities on disk;
for the rivals only the call that finds communities, without reading the edges.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.inputs import Planted
from harness.results import Result
from harness.running import Command

OWN_SIZES = {"full": (5_000_000, 50_000_000), "smoke": (20_000, 200_000)}
RIVAL_SIZES = {"full": (500_000, 5_000_000), "smoke": (10_000, 100_000)}
OWN_MEMORY, RIVAL_MEMORY = "512MiB", "160MiB"
MEMORY_SLACK_BYTES = 32 * places.MIB

COST_BAR, THREADS_BAR = 4.0, 1.6
SPEED_BARS = {"infomap": 4.0, "leidenalg": 10.0}
MEMORY_BAR = 0.25
# As in evals/quality: maximum of the code length, minimum of modularity.
CODE_LENGTH_BAR, MODULARITY_BAR = 1.005, 0.99


def built_graph(graph: Planted, folder: Path) -> Path:
    built = folder / f"graph-{graph.edges}"
    sample = running.run_once(Command("build", subject.build_argv(graph.path, built, places.fresh(folder / "work"))))
    if not sample.ok:
        places.cannot_run(f"build failed:\n{sample.error}")
    return built


def cluster(name: str, built: Path, folder: Path, memory: str, threads: int, method: str) -> Command:
    output, report = folder / "communities", report_path(folder, name)
    argv = subject.cluster_argv(built, output, folder, memory, threads, method, report=report)
    return Command(name, argv, prepare=lambda: running.settle(*(path for path in built.rglob("*") if path.is_file())))


def report_path(folder: Path, name: str) -> Path:
    return folder / f"{name.replace(' ', '-').replace(',', '')}.json"


def own(result: Result, scale: str, repeats: int, folder: Path) -> None:
    built = built_graph(inputs.planted(*OWN_SIZES[scale]), folder)
    commands = [
        cluster("label-propagation, 2 threads", built, folder, OWN_MEMORY, 2, "label-propagation"),
        cluster("map-equation, 2 threads", built, folder, OWN_MEMORY, 2, "map-equation"),
        cluster("map-equation, 1 thread", built, folder, OWN_MEMORY, 1, "map-equation"),
        cluster("modularity, 2 threads", built, folder, OWN_MEMORY, 2, "modularity"),
    ]
    result.measure(commands, repeats)
    result.check_runs(*(command.name for command in commands))
    labels, two, one, modularity = (result.summary(command.name) for command in commands)
    judged = scale == "full"
    cost = two.median_seconds / labels.median_seconds
    result.check("map equation, time", cost, COST_BAR, unit="x label propagation", judged=judged)
    cost = modularity.median_seconds / labels.median_seconds
    result.check("modularity, time", cost, COST_BAR, unit="x label propagation", judged=False)
    speed = one.median_seconds / two.median_seconds
    result.check("map equation, two threads", speed, THREADS_BAR, ">=", unit="x as fast as one", judged=judged)
    limit = int(OWN_MEMORY.removesuffix("MiB")) + MEMORY_SLACK_BYTES / places.MIB
    peak = max(two.peak_memory_bytes, one.peak_memory_bytes, modularity.peak_memory_bytes) / places.MIB
    result.check("peak memory", peak, limit, unit="MiB")


def against_rivals(result: Result, scale: str, repeats: int, folder: Path) -> None:
    graph = inputs.planted(*RIVAL_SIZES[scale])
    built, merged, answer = built_graph(graph, folder), folder / "merged.npz", folder / "answer.npy"
    python = [str(places.rival("venv/bin/python")), "-W", "ignore"]
    program = str(places.EVALS / "quality" / "rivals.py")
    made = running.run_once(Command("merge", [*python, program, "merge", str(graph.path), str(merged)]))
    if not made.ok:
        places.cannot_run(f"merging the edges failed:\n{made.error}")

    def rival(tool: str, objective: str) -> Command:
        return Command(tool, [*python, program, tool, objective, "1", "2", str(merged), str(answer)])

    names = {"infomap": "map-equation, 5 M edges", "leidenalg": "modularity, 5 M edges"}
    commands = [
        cluster(names["infomap"], built, folder, RIVAL_MEMORY, 2, "map-equation"),
        cluster(names["leidenalg"], built, folder, RIVAL_MEMORY, 2, "modularity"),
        rival("infomap", "map-equation"),
        rival("leidenalg", "modularity"),
    ]
    result.measure(commands, repeats)
    result.check_runs(*(command.name for command in commands))
    for tool, name in names.items():
        compare(result, tool, name, report_path(folder, name), judged=scale == "full")


def compare(result: Result, tool: str, name: str, report: Path, judged: bool) -> None:
    reported = [sample.json_line() for sample in result.samples[tool] if sample.ok]
    ours = result.summary(name)
    if not reported or ours.failures:
        return
    seconds = statistics.median(facts["seconds"] for facts in reported)
    speed = seconds / ours.median_seconds
    result.check(f"speed against {tool}", speed, SPEED_BARS[tool], ">=", unit="x", judged=judged)
    memory = ours.peak_memory_bytes / result.summary(tool).peak_memory_bytes
    result.check(f"memory against {tool}", memory, MEMORY_BAR, unit="x", judged=judged)
    communities = json.loads(report.read_text())["communities"]
    if tool == "infomap":
        found = communities["code_length"] / reported[0]["quality"]
        result.check("code length", found, CODE_LENGTH_BAR, unit="x Infomap")
    else:
        found = communities["modularity"] / reported[0]["quality"]
        result.check("modularity", found, MODULARITY_BAR, ">=", unit="x leidenalg")


def extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--part", type=partial(str.split, sep=","), default=["own", "rivals"], help="own, rivals")


def main() -> int:
    options = results.arguments("speed-quality", "cost of the better objectives", extend=extend)
    if unknown := set(options.part) - {"own", "rivals"}:
        places.cannot_run(f"there is no part {', '.join(sorted(unknown))}: own, rivals")
    sizes = [OWN_SIZES[options.scale][1] * ("own" in options.part), RIVAL_SIZES[options.scale][1]]
    places.require_space(sum(sizes) * 80)
    folder = places.fresh(places.data_folder() / "speed-quality")
    facts = {"own": OWN_SIZES[options.scale], "rivals": RIVAL_SIZES[options.scale]}
    scale = options.scale if len(options.part) == 2 else "partial"
    result = Result("speed-quality", "Q7", scale, {name: list(facts[name]) for name in options.part})
    if "own" in options.part:
        own(result, options.scale, options.repeats, folder)
    if "rivals" in options.part:
        against_rivals(result, options.scale, options.repeats, folder)
    places.fresh(folder)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
