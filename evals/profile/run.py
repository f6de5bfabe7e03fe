"""Whether a job with the profile of its disk is at least as fast as with defaults (bar L6).

A graph larger than the memory limit, from text to communities: with the safe defaults (`--profile none`), and with the
profile that `outcore lab tune` has just measured in the same folder, in turns. The communities must be the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

SIZES = {"full": (1_000_000, 16_000_000), "smoke": (20_000, 200_000)}
EFFORT = {"full": [], "smoke": ["--quick"]}
MEMORY = "128MiB"
# Difference between runs of the same command on a shared machine.
NOISE = 1.03


def main() -> int:
    options = results.arguments("profile", "a job with and without the profile of its disk", repeats=5)
    nodes, edges = SIZES[options.scale]
    places.require_space(edges * 140)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "profile")
    profile, work = folder / "profile.json", folder / "work"
    tune = [str(subject.outcore()), "lab", "tune", "--dir", str(folder), "-o", str(profile), *EFFORT[options.scale]]
    tuned = running.run_once(Command("tune", tune))
    if not tuned.ok:
        places.cannot_run(f"tune failed:\n{tuned.error}")

    def job(name: str, choice: str) -> Command:
        argv = subject.cluster_argv(graph.path, folder / f"{name}.tsv", work, MEMORY)
        return Command(name, [*argv, "--profile", choice], [work], lambda: running.settle(graph.path))

    result = results.Result("profile", "L6", options.scale, graph.description)
    result.measure([job("defaults", "none"), job("profile", str(profile))], options.repeats)
    result.check_runs("defaults", "profile")
    ratio = result.summary("profile").median_seconds / result.summary("defaults").median_seconds
    result.check("time with the profile / with defaults", ratio, NOISE, "<=", unit="x", judged=options.scale == "full")
    result.check(
        "communities", inputs.sha256(folder / "profile.tsv")[:16], inputs.sha256(folder / "defaults.tsv")[:16], "=="
    )
    places.fresh(folder)
    return result.finish(baseline="defaults")


if __name__ == "__main__":
    sys.exit(main())
