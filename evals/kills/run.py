"""A job that is killed at random moments and run again until it finishes: same bytes, no files left (bar R4).

Each round kills the process (SIGKILL) at a random moment of the time that the job takes, and runs the same command
again to its end. Half of the rounds kill it a second time before. The graph has names beyond memory, runs, merge and
several sweeps.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, subject

SIZES = {"full": (8_000_000, 3_000_000, 200), "smoke": (100_000, 300_000, 12)}
LIMIT = "128MiB"


def main() -> int:
    options = results.arguments("kills", "killed and run again: same bytes, no files left", repeats=1)
    nodes, edges, rounds = SIZES[options.scale]
    places.require_space(edges * 200)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "kills")
    output, report = folder / "communities.tsv", folder / "report.json"
    argv = subject.cluster_argv(graph.path, output, folder / "work", LIMIT, report=report, method="label-propagation")

    def run(kill_after: float | None = None) -> int:
        job = subprocess.Popen(argv, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        if kill_after is not None:
            time.sleep(kill_after)
            job.kill()
        return job.wait()

    begin = time.monotonic()
    failed = int(run() != 0)
    whole = time.monotonic() - begin
    expected = inputs.sha256(output)
    draw = random.Random(1)
    other = left = resumed = killed = 0
    for round_ in range(rounds):
        output.unlink()
        for _ in range(1 + round_ % 2):
            killed += int(run(draw.random() * whole) != 0)
        failed += int(run() != 0)
        other += int(inputs.sha256(output) != expected)
        left += len([path for path in folder.rglob("*") if path.is_file() and path not in (output, report)])
        resumed += int(json.loads(report.read_text())["resumed"])
    places.fresh(folder)

    result = results.Result("kills", "R4", options.scale, graph.description | {"rounds": rounds, "limit": LIMIT})
    result.rows.append({"killed": killed, "resumed": resumed, "seconds": whole})
    result.check("failures of runs that were not killed", failed, 0)
    result.check("different results", other, 0)
    result.check("files left", left, 0)
    result.notes.append(f"{killed} of {rounds + rounds // 2} kills hit a running job; {resumed} jobs resumed")
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
