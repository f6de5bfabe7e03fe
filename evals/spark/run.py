"""Label propagation on Spark: outcore compared with GraphX, and the cost of a sweep by size (bars G1, S3 and S5).

    python3 evals/spark/run.py [--scale smoke|full] [--repeats N] [--part G1,S3a,S3b,S3c,S5]
    python3 evals/spark/table.py                                # evals/spark/README.md, from the results

G1: a small graph, from a session that has started to the communities. S3a, S3c: the same edges, number of sweeps and
memory; times of whole processes by the engine in one task, as by default, and of the sweeps alone in a graph that is
divided. GraphX runs with its defaults and with `MEMORY_AND_DISK`, and the faster of the two counts. S3b: one graph and
heaps of increasing size (currently one size), until GraphX finishes with both settings; outcore must finish with less.
The heap is set for both; Python workers of outcore are outside of it, so the memory of all processes is also given. S5:
seconds, shuffled bytes and rounds per sweep of a divided graph from 10^5 to 10^7 edges.

The graphs are planted communities with ten edges per node; an arc is an edge in one direction. Needs Java, PySpark and
the package `outcore`.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import shutil
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running
from harness.inputs import Planted
from harness.results import Result
from harness.running import Command, Sample

HERE = Path(__file__).resolve().parent
SWEEPS = 5
MASTER = "local[2]"
EDGES_PER_NODE = 10
GRAPHX, GRAPHX_DISK, OUTCORE, DIVIDED = "GraphX", "GraphX, memory and disk", "outcore", "outcore, divided"
PROGRAMS = {
    GRAPHX: ("graphx.py",),
    GRAPHX_DISK: ("graphx.py", "--storage", "MEMORY_AND_DISK"),
    OUTCORE: ("outcore_spark.py",),
    DIVIDED: ("outcore_spark.py", "--parts", "2"),
}
SMALL = {"full": 100_000, "smoke": 10_000}
# Maximum seconds of a small job, its session not counted.
SMALL_SECONDS = 15

COMPARED = {
    "S3a": {"full": 1_000_000, "smoke": 20_000},
    "S3c": {"full": 10_000_000, "smoke": 40_000},
}
# Either graph fits in this memory by GraphX.
COMPARED_MEMORY = {"S3a": "4g", "S3c": "8g"}
LADDER = {"full": 8_000_000, "smoke": 20_000}
RUNGS = {"full": ("512m",), "smoke": ("512m",)}
SIZES = {"full": (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000), "smoke": (10_000, 30_000)}
SIZES_MEMORY = "4g"
LIMIT_SECONDS = 1800

# Minimum speed relative to GraphX, of whole processes and of sweeps.
SPEED_BARS = {"S3a": 2.0, "S3c": 4.0}
SWEEPS_BAR = 2.0
# Maximum ratio of seconds per sweep and arc of the largest graph to those of a graph with a tenth of its edges: from
# that size on, tasks take longer than their scheduling.
GROWTH_BAR = 1.3


def planted(edges: int) -> Planted:
    return inputs.planted(edges // EDGES_PER_NODE, edges, names="integer")


def command(name: str, engine: str, graph: Planted, memory: str) -> Command:
    """Return a command; `name` is that of the engine, with a suffix that distinguishes commands of a result."""
    work = places.data_folder() / "spark" / "work"

    def prepare() -> None:
        places.fresh(work)
        running.settle(graph.path)

    program, *further = PROGRAMS[engine]
    sizes = ["--steps", str(SWEEPS), "--master", MASTER, "--memory", memory]
    places_and_limit = ["--work-dir", str(work), "--limit-seconds", str(LIMIT_SECONDS)]
    argv = [sys.executable, str(HERE / program), str(graph.path), *sizes, *places_and_limit, *further]
    # The program ends itself and its processes before this limit.
    return Command(name, argv, [work], prepare, limit_seconds=LIMIT_SECONDS + 60)


def new_result(part: str, scale: str, graphs: list[Planted], **facts: object) -> Result:
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr.splitlines()[0]
    versions = {"spark": importlib.metadata.version("pyspark"), "java": java, "master": MASTER, "sweeps": SWEEPS}
    described = {"graphs": [graph.description for graph in graphs], **versions, **facts}
    return Result("spark", part[:2], scale, described, part=part)


def seconds_of_sweeps(sample: Sample) -> float:
    """Return the time of the propagation for GraphX, which has no other part, or of the reported sweeps for outcore."""
    facts = sample.json_line()
    if facts["engine"] == "graphx":
        return float(facts["seconds"]["propagation"])
    return float(sum(sweep["seconds"] for sweep in facts["sweeps"]))


def small(scale: str, repeats: int) -> int:
    """Measure G1."""
    graph = planted(SMALL[scale])
    result = new_result("G1", scale, [graph], memory=SIZES_MEMORY)
    result.measure([command(OUTCORE, OUTCORE, graph, SIZES_MEMORY)], repeats)
    result.check_runs(OUTCORE)
    stages = [sample.json_line()["seconds"] for sample in result.samples[OUTCORE] if sample.ok]
    seconds = statistics.median(sum(found.values()) - found["start"] for found in stages) if stages else float("nan")
    result.check("seconds after the start of Spark", seconds, SMALL_SECONDS, unit="s", judged=scale == "full")
    return result.finish()


def median_of_sweeps(result: Result, name: str) -> float:
    return statistics.median(seconds_of_sweeps(sample) for sample in result.samples[name] if sample.ok)


def compare(part: str, scale: str, repeats: int) -> int:
    """Measure S3a and S3c."""
    graph, memory = planted(COMPARED[part][scale]), COMPARED_MEMORY[part]
    result = new_result(part, scale, [graph], memory=memory)
    result.measure([command(engine, engine, graph, memory) for engine in PROGRAMS], repeats)
    result.check_runs(*PROGRAMS)
    if any(result.summary(engine).failures for engine in PROGRAMS):
        return result.finish()
    done = {len(sample.json_line()["sweeps"]) for sample in result.samples[OUTCORE]}
    result.check("outcore: fewest sweeps", min(done), SWEEPS, "==")
    judged = scale == "full"
    whole = {engine: result.summary(engine).median_seconds for engine in PROGRAMS}
    sweeps = {engine: median_of_sweeps(result, engine) for engine in PROGRAMS if engine != OUTCORE}
    for figure, seconds, ours, bar in (
        ("whole process", whole, OUTCORE, SPEED_BARS[part]),
        ("sweeps alone", sweeps, DIVIDED, SWEEPS_BAR),
    ):
        ratio = min(seconds[GRAPHX], seconds[GRAPHX_DISK]) / seconds[ours]
        result.check(f"{figure}: GraphX / {ours}", ratio, bar, ">=", unit="x", judged=judged)
    for engine in PROGRAMS:
        facts = [sample.json_line() for sample in result.samples[engine]]
        row: dict[str, object] = {"engine": engine, "whole_seconds": whole[engine], "sweep_seconds": sweeps.get(engine)}
        row |= {"communities": facts[0]["communities"]}
        result.rows.append(row | {"peak_memory_bytes": max(one["peak_memory_bytes"] for one in facts)})
    return result.finish(OUTCORE)


def climb(scale: str) -> int:
    """Measure S3b: increase the heap until GraphX finishes with both settings. Each size runs once."""
    graph = planted(LADDER[scale])
    result = new_result("S3b", scale, [graph], rungs=list(RUNGS[scale]), limit_seconds=LIMIT_SECONDS)
    below: list[str] = []
    for memory in RUNGS[scale]:
        commands = {engine: command(f"{engine}, {memory}", engine, graph, memory) for engine in PROGRAMS}
        result.measure(list(commands.values()), 1)
        samples = {engine: result.samples[made.name][0] for engine, made in commands.items()}
        result.rows += [rung(engine, memory, sample) for engine, sample in samples.items()]
        if samples[OUTCORE].ok and not samples[GRAPHX].ok and not samples[GRAPHX_DISK].ok:
            below.append(memory)
        if samples[GRAPHX].ok and samples[GRAPHX_DISK].ok:
            break
    judged = scale == "full"
    result.check("settings in which only outcore finishes", len(below), 1, ">=", judged=judged)
    return result.finish()


def rung(engine: str, memory: str, sample: Sample) -> dict[str, object]:
    facts = sample.json_line()
    outcome = "finished" if sample.ok else f"{facts.get('reason', 'killed')}, {facts.get('stage', 'unknown stage')}"
    row: dict[str, object] = {"memory": memory, "engine": engine, "outcome": outcome}
    return row | {"seconds": sample.wall_seconds, "peak_memory_bytes": facts.get("peak_memory_bytes")}


def sweeps_by_size(scale: str, repeats: int) -> int:
    """Measure S5."""
    graphs = [planted(edges) for edges in SIZES[scale]]
    result = new_result("S5", scale, graphs, memory=SIZES_MEMORY)
    names = {f"{graph.edges} edges": graph for graph in graphs}
    result.measure([command(name, DIVIDED, graph, SIZES_MEMORY) for name, graph in names.items()], repeats)
    result.check_runs(*names)
    result.rows += [
        sweep_costs(graph.edges, result.samples[name])
        for name, graph in names.items()
        if not result.summary(name).failures
    ]
    costs = {row["edges"]: float(str(row["seconds_per_million_arcs"])) for row in result.rows}
    largest = SIZES[scale][-1]
    if {largest, largest // 10} <= costs.keys():
        growth = costs[largest] / costs[largest // 10]
        result.check(f"time per sweep and arc, {largest} / {largest // 10} edges", growth, GROWTH_BAR, unit="x")
    return result.finish()


def sweep_costs(edges: int, samples: list[Sample]) -> dict[str, object]:
    """Return medians over the sweeps of all runs."""
    sweeps = [sweep for sample in samples for sweep in sample.json_line()["sweeps"]]
    middle = {
        name: statistics.median(sweep[name] for sweep in sweeps) for name in ("seconds", "shuffle_bytes", "rounds")
    }
    row: dict[str, object] = {"edges": edges, "seconds_per_sweep": middle["seconds"]}
    row["seconds_per_million_arcs"] = middle["seconds"] / (2 * edges / 1e6)
    row |= {"shuffle_bytes_per_sweep": middle["shuffle_bytes"], "rounds_per_sweep": middle["rounds"]}
    whole = statistics.median(sample.wall_seconds for sample in samples)
    return row | {"shuffle_bytes_per_arc": middle["shuffle_bytes"] / (2 * edges), "whole_seconds": whole}


PARTS = {
    "G1": small,
    "S3a": partial(compare, "S3a"),
    "S3b": lambda scale, repeats: climb(scale),
    "S3c": partial(compare, "S3c"),
    "S5": sweeps_by_size,
}


def extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--part", type=partial(str.split, sep=","), default=list(PARTS), help=", ".join(PARTS))


def main() -> int:
    options = results.arguments("spark", "label propagation on Spark, against GraphX and by size", extend=extend)
    if unknown := set(options.part) - set(PARTS):
        places.cannot_run(f"there is no part {', '.join(sorted(unknown))}: {', '.join(PARTS)}")
    for module in ("pyspark", "outcore.spark"):
        if importlib.util.find_spec(module.partition(".")[0]) is None or importlib.util.find_spec(module) is None:
            places.cannot_run(f"{sys.executable} has no {module}")
    if shutil.which("java") is None:
        places.cannot_run("there is no java: install Java 17 or newer")
    # Space for the text, and for data that Spark shuffles and spills.
    places.require_space(max(SIZES[options.scale][-1], LADDER[options.scale]) * 500)
    worst = max(PARTS[part](options.scale, options.repeats) for part in options.part)
    places.fresh(places.data_folder() / "spark")
    return worst


if __name__ == "__main__":
    sys.exit(main())
