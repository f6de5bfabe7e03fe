"""Two copies of the command in turn: processor time, memory and objective of every method over sizes and shapes.

    python3 evals/before-after/run.py --before COMMAND [--after COMMAND] [--most EDGES] [--only WORD] [--graphs FOLDER]

Graphs are planted ones of 10,000 to `--most` edges with three shares of edges between groups, hubs with paired leaves,
and the edge lists of `--graphs`. A row is worse if the later copy takes more than 1.10 times the processor time and
.1 s more, more than 1.10 times the memory and 8 MiB more, or finds an objective that is worse by 1e-5 of it.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results
from harness.running import Command, measure

SIZES = (1_000, 10_000, 50_000, 100_000, 400_000, 2_000_000)
MIXINGS = (0.1, 0.4, 0.6)
HUBS = (2_000, 10_000)
MOST = {"full": 4_000_000, "smoke": 10_000}
TIME_RATIO, TIME_SECONDS = 1.10, 0.1
MEMORY_RATIO, MEMORY_MIB = 1.10, 8
OBJECTIVE = 1e-5
#: Verb, options, and the measure of the result that tells how good it is: code length is better if it is smaller.
JOBS: dict[str, tuple[str, list[str], str | None]] = {
    "build": ("build", [], None),
    "default": ("cluster", [], "code_length"),
    "modularity": ("cluster", ["--method", "modularity"], "modularity"),
    "label-propagation": ("cluster", ["--method", "label-propagation"], None),
    "components": ("cluster", ["--method", "components"], None),
    "cpm": ("cluster", ["--method", "cpm", "--resolution", "0.01"], None),
    "stability": ("cluster", ["--stability"], "code_length"),
    "max-size": ("cluster", ["--max-size", "50"], None),
    "levels": ("cluster", ["--levels", "columns"], "code_length"),
    "well-connected": ("cluster", ["--well-connected"], None),
}


@dataclass(frozen=True)
class Cost:
    """Least processor time and memory of some runs, and the objective that they found: larger is better."""

    seconds: float
    mebibytes: float
    objective: float | None


def extend(parser: ArgumentParser) -> None:
    parser.add_argument("--before", type=Path, required=True, metavar="COMMAND")
    parser.add_argument("--after", type=Path, default=places.REPOSITORY / "target/release/outcore", metavar="COMMAND")
    parser.add_argument("--most", type=int, metavar="EDGES", help="largest planted graph")
    parser.add_argument("--only", default="", metavar="WORD", help="rows whose graph and job contain it")
    parser.add_argument("--graphs", type=Path, metavar="FOLDER", help="further edge lists: *.tsv, *.tsv.gz, *.txt.gz")


def write_hub(leaves: int, path: Path) -> None:
    """Write a hub with `leaves` leaves, which are tied in pairs."""
    chance = random.Random(5)
    with path.open("w") as file:
        for leaf in range(leaves):
            file.write(f"h\tl{leaf}\t{chance.random():.3f}\n")
        for leaf in range(0, leaves, 2):
            file.write(f"l{leaf}\tl{leaf + 1}\t{chance.random():.3f}\n")


def graphs(folder: Path, after: Path, most: int, more: Path | None) -> Iterator[Path]:
    """Yield the files of the graphs, each made when it is needed."""
    for nodes in SIZES:
        for mixing in MIXINGS if nodes * 10 <= most else ():
            path = folder / f"planted-{nodes * 10}-{mixing}.tsv"
            size = ["--nodes", str(nodes), "--edges", str(nodes * 10), "--mixing", str(mixing), "--seed", "3"]
            made = Command("generate", [str(after), "generate", "planted", *size, "-o", str(path), "-q"])
            if not measure([made], 1)["generate"][0].ok:
                places.cannot_run(f"{after} cannot generate {path.name}")
            yield path
            path.unlink()
    for leaves in HUBS:
        path = folder / f"hub-{leaves}.tsv"
        write_hub(leaves, path)
        yield path
    if more is not None:
        found = [path for pattern in ("*.tsv", "*.tsv.gz", "*.txt.gz") for path in more.glob(pattern)]
        yield from sorted(path for path in found if "truth" not in path.name)


def cost(command: Path, graph: Path, job: str, folder: Path) -> Cost | None:
    """Run a job once; `None` if it fails, as an option that the copy does not have."""
    verb, options, aim = JOBS[job]
    output = folder / ("out.graph" if verb == "build" else "out.tsv")
    report = folder / "report.json"
    argv = [command, verb, graph, "-o", output, "-t", "1", "--restart", "-q", "--report", report, *options]
    sample = measure([Command(job, [str(word) for word in argv])], 1)[job][0]
    if output.is_dir():
        shutil.rmtree(output)
    output.unlink(missing_ok=True)
    if not sample.ok:
        return None
    found = (json.loads(report.read_text()).get("communities") or {}).get(aim)
    objective = -found if aim == "code_length" and found else found
    return Cost(sample.user_seconds + sample.system_seconds, sample.peak_memory_bytes / places.MIB, objective)


def least(costs: list[Cost]) -> Cost:
    return Cost(min(cost.seconds for cost in costs), min(cost.mebibytes for cost in costs), costs[0].objective)


def compare(graph: Path, job: str, programs: dict[str, Path], repeats: int, folder: Path) -> dict[str, object] | None:
    """Return a row of the table; `None` if one of the copies cannot do the job."""
    all_costs: dict[str, list[Cost]] = {name: [] for name in programs}
    for _ in range(repeats):
        for name, program in programs.items():
            found = cost(program, graph, job, folder)
            if found is None:
                print(f"{graph.name}, {job}: not run by {name}", file=sys.stderr)
                return None
            all_costs[name].append(found)
    before, after = least(all_costs["before"]), least(all_costs["after"])
    gain = 0.0
    if before.objective is not None and after.objective is not None:
        gain = (after.objective - before.objective) / abs(before.objective or 1)
    slower = after.seconds > TIME_RATIO * before.seconds and after.seconds - before.seconds > TIME_SECONDS
    larger = after.mebibytes > MEMORY_RATIO * before.mebibytes and after.mebibytes - before.mebibytes > MEMORY_MIB
    return {
        "graph": graph.name,
        "job": job,
        "before s": round(before.seconds, 2),
        "after s": round(after.seconds, 2),
        "ratio": round(after.seconds / max(before.seconds, 0.01), 2),
        "before MiB": round(before.mebibytes),
        "after MiB": round(after.mebibytes),
        "gain": round(gain, 6),
        "worse": "worse" if slower or larger or gain < -OBJECTIVE else "",
    }


def main() -> int:
    options = results.arguments("before-after", "whether a copy of the command is slower", repeats=3, extend=extend)
    programs = {"before": options.before.resolve(), "after": options.after.resolve()}
    for name, program in programs.items():
        if not program.exists():
            places.cannot_run(f"--{name} names no existing `{program.name}`")
    most = options.most or MOST[options.scale]
    result = results.Result("before-after", "T1", options.scale, {"most_edges": most, "only": options.only})
    folder = places.fresh(places.data_folder() / "before-after")
    for graph in graphs(folder, programs["after"], most, options.graphs):
        for job in JOBS:
            if options.only not in f"{graph.name} {job}":
                continue
            if row := compare(graph, job, programs, options.repeats, folder):
                result.rows.append(row)
                print("\t".join(map(str, row.values())), flush=True)
    places.fresh(folder)
    result.check("rows that are worse", sum(row["worse"] != "" for row in result.rows), 0)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
