"""The cost of the quick build at run time, and the speed of the shipped one against another build (bar I4).

    python3 evals/build/speed.py --before COMMAND [--release COMMAND] [--dist COMMAND]

`COMMAND` of `--before` is `outcore` built from another commit or with another profile. The jobs are twenty million
weighted edges to a graph, and the graph to communities by label propagation and by the map equation; the commands take
turns.
"""

from __future__ import annotations

import statistics
import sys
from argparse import ArgumentParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

SIZES = {"full": (1_000_000, 20_000_000), "smoke": (20_000, 200_000)}
#: Maximum ratio to the time of the command before.
BARS = {"release": 1.05, "dist": 1.01}
JOBS = ("build", "label-propagation", "map-equation")


def extend(parser: ArgumentParser) -> None:
    target = places.REPOSITORY / "target"
    parser.add_argument("--before", type=Path, required=True, metavar="COMMAND")
    parser.add_argument("--release", type=Path, default=target / "release/outcore", metavar="COMMAND")
    parser.add_argument("--dist", type=Path, default=target / "dist/outcore", metavar="COMMAND")


def main() -> int:
    options = results.arguments("build", "how fast the commands of the profiles are", repeats=9, extend=extend)
    programs = {"before": options.before, "release": options.release, "dist": options.dist}
    for name, program in programs.items():
        if not program.exists():
            places.cannot_run(f"--{name} names no existing `{program.name}`")
    nodes, edges = SIZES[options.scale]
    places.require_space(edges * 100)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "build")
    made, work = folder / "graph", folder / "work"
    running.run_once(Command("graph", subject.build_argv(graph.path, made, work)))

    def prepare() -> None:
        places.fresh(folder / "job")
        running.settle(graph.path)

    commands = []
    for job in JOBS:
        for name, program in programs.items():
            argv = (
                subject.build_argv(graph.path, folder / "job/graph", work)
                if job == "build"
                else subject.cluster_argv(made, folder / "job/communities", work, method=job)
            )
            commands.append(Command(f"{job}, {name}", [str(program), *argv[1:]], [], prepare))
    result = results.Result("build", "I4", options.scale, graph.description, part="speed")
    result.measure(commands, options.repeats)
    places.fresh(folder)
    result.check_runs(*result.samples)
    for job in JOBS:
        before = result.samples[f"{job}, before"]
        for name, bar in BARS.items():
            pairs = zip(result.samples[f"{job}, {name}"], before, strict=True)
            ratio = statistics.median(one.wall_seconds / other.wall_seconds for one, other in pairs)
            result.check(f"{job}: time of {name} / before", ratio, bar, unit="x", judged=options.scale == "full")
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
