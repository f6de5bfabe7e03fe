"""Price of what leaves the engine: the table of communities and the page of a job, and exports of a graph.

Exports are compared with a copy of what they wrote, synced to the disk as the export is, plus one scan of the graph:
the stage `score` of `outcore score`. Everything is warm.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.places import MIB
from harness.running import Command

#: Nodes and edges of the clustered and of the exported graph.
CLUSTERED = {"full": (5_000_000, 50_000_000), "smoke": (20_000, 200_000)}
EXPORTED = {"full": (2_000_000, 20_000_000), "smoke": (20_000, 200_000)}
MEMORY, MEMORY_MIB = "1GiB", 1024
ENDINGS = ("tsv", "csv", "jsonl", "parquet", "arrow", "mtx", "mci", "net", "graphml", "gexf")
SUMMARY_MAX = 1.1
EXPORT_MAX = 2.0
SLACK_MIB = 32


def summaries(scale: str, repeats: int) -> results.Result:
    """Measure a job alone, with a table of its communities, and with a page."""
    nodes, edges = CLUSTERED[scale]
    places.require_space(edges * 140)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "outputs")
    plain = subject.cluster_argv(graph.path, folder / "c.tsv", folder / "work", MEMORY, method="map-equation")
    ways = {
        "alone": [],
        "summary": ["--summary", str(folder / "s.parquet")],
        "page": ["--report", str(folder / "page.html")],
    }
    result = results.Result("outputs", "V2", scale, graph.description, part="summary")
    settle = lambda: running.settle(graph.path)  # noqa: E731
    result.measure([Command(name, [*plain, *more], [], settle) for name, more in ways.items()], repeats)
    result.check_runs(*ways)
    judged = scale == "full"
    for name in ("summary", "page"):
        ratio = result.summary(name).median_seconds / result.summary("alone").median_seconds
        result.check(f"time with the {name} / without", ratio, SUMMARY_MAX, unit="x", judged=judged)
        peak = max(sample.peak_memory_bytes for sample in result.samples[name]) / MIB
        result.check(f"memory with the {name}", peak, MEMORY_MIB + SLACK_MIB, unit="MiB", judged=judged)
    places.fresh(folder)
    return result


def stage_seconds(log: str) -> float:
    """Return the seconds of the stage `score` in what a command printed."""
    found = re.search(r"(?m)^ score .* ([\d.]+)s$", log)
    if found is None:
        places.cannot_run(f"no stage `score` in:\n{log}")
    return float(found[1])


def exports(scale: str, repeats: int) -> results.Result:
    """Measure exports to every format."""
    nodes, edges = EXPORTED[scale]
    places.require_space(edges * 400)
    text = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "outputs")
    graph = folder / "g.graph"
    built = running.run_once(Command("build", subject.build_argv(text.path, graph, folder / "work", "4GiB")))
    if not built.ok:
        places.cannot_run(f"build failed:\n{built.error}")
    result = results.Result("outputs", "V3", scale, text.description, part="export")
    judged = scale == "full"
    score = [str(subject.outcore()), "score", str(graph), str(text.truth), "--memory", MEMORY]
    for ending in ENDINGS:
        path, copy = folder / f"e.{ending}", folder / f"copy.{ending}"
        argv = [str(subject.outcore()), "export", str(graph), "-o", str(path), "--memory", MEMORY, "-q"]

        def ready(*paths: Path) -> None:
            for each in paths:
                each.unlink(missing_ok=True)
            os.sync()

        copied = ["sh", "-c", f"cp {path} {copy} && sync {copy}"]
        commands = [
            Command(f"export {ending}", argv, [], lambda path=path: ready(path)),
            Command(f"copy {ending}", copied, [], lambda copy=copy: ready(copy)),
            Command(f"scan {ending}", score),
        ]
        result.measure(commands, repeats)
        names = [command.name for command in commands]
        result.check_runs(*names)
        exported, copy_of_it = (result.summary(name).median_seconds for name in names[:2])
        scan = statistics.median(stage_seconds(sample.error) for sample in result.samples[names[2]])
        megabytes = round(path.stat().st_size / 1e6, 1)
        result.rows.append(
            {"format": ending, "MB": megabytes, "export s": exported, "copy s": copy_of_it, "scan s": scan}
        )
        ratio = exported / (copy_of_it + scan)
        result.check(f"{ending}: export / copy and scan", ratio, EXPORT_MAX, unit="x", judged=judged)
        peak = max(sample.peak_memory_bytes for sample in result.samples[names[0]]) / MIB
        result.check(f"{ending}: memory", peak, MEMORY_MIB + SLACK_MIB, unit="MiB", judged=judged)
        ready(path, copy)
    places.fresh(folder)
    return result


def main() -> int:
    parts = {"summary": summaries, "export": exports}
    extend = lambda parser: parser.add_argument("--part", choices=parts)  # noqa: E731
    options = results.arguments("outputs", "table of communities, page and exports", extend=extend)
    chosen = [options.part] if options.part else list(parts)
    return max(parts[name](options.scale, options.repeats).finish() for name in chosen)


if __name__ == "__main__":
    sys.exit(main())
