"""Whether the answer depends on anything but input, options and seed (bar B6).

The graph of evals/ingest, clustered with three numbers of threads, three memory limits, from plain, gzip and zstd text
and from a graph built beforehand: the files of communities have to be equal byte for byte.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import harness
from harness import Command

SIZES = {"full": (5_000_000, 50_000_000), "smoke": (20_000, 200_000)}
REFERENCE = "plain, 2 threads, 1GiB"


def compressed(path: Path, program: str, suffix: str) -> Path:
    if shutil.which(program) is None:
        harness.cannot_run(f"{program} is needed to make the input")
    output = path.with_name(path.name + suffix)
    if not output.exists():
        partial = output.with_name(output.name + ".incomplete")
        argv = ["sh", "-c", f'{program} -1 -c -- "$1" > "$2"', program, str(path), str(partial)]
        made = harness.run_once(Command(program, argv))
        if not made.ok:
            harness.cannot_run(f"{program} failed:\n{made.error}")
        partial.rename(output)
    return output


def main() -> int:
    options = harness.arguments("same-answer", "the same bytes for every limit, thread count and format", repeats=1)
    nodes, edges = SIZES[options.scale]
    harness.require_space(edges * 140)
    graph = harness.planted(nodes, edges)
    text = graph.path
    folder = harness.fresh(harness.data_folder() / "same-answer")
    work, built = folder / "work", folder / "graph"

    made = harness.run_once(Command("build", harness.build_argv(text, built, work)))
    if not made.ok:
        harness.cannot_run(f"build failed:\n{made.error}")

    # Name of the run -> source, threads, memory.
    runs = {
        REFERENCE: (text, 2, "1GiB"),
        "plain, 1 thread, 1GiB": (text, 1, "1GiB"),
        "plain, 7 threads, 1GiB": (text, 7, "1GiB"),
        "plain, 2 threads, 256MiB": (text, 2, "256MiB"),
        "plain, 2 threads, 4GiB": (text, 2, "4GiB"),
        "gzip, 2 threads, 1GiB": (compressed(text, "gzip", ".gz"), 2, "1GiB"),
        "zstd, 2 threads, 1GiB": (compressed(text, "zstd", ".zst"), 2, "1GiB"),
        "graph, 2 threads, 1GiB": (built, 2, "1GiB"),
    }
    outputs = {name: folder / f"communities-{number}" for number, name in enumerate(runs)}
    commands = [
        Command(
            name,
            harness.cluster_argv(source, outputs[name], work, memory, threads),
            [work],
            lambda: harness.fresh(work),
        )
        for name, (source, threads, memory) in runs.items()
    ]

    result = harness.Result("same-answer", "B6", options.scale, graph.description)
    result.measure(commands, options.repeats)
    result.check_runs(*runs)
    hashes = {name: harness.sha256(path)[:16] if path.exists() else "no file" for name, path in outputs.items()}
    harness.fresh(folder)
    expected = hashes[REFERENCE] if hashes[REFERENCE] != "no file" else "any file"
    for name, found in hashes.items():
        result.check(f"{name}: communities", found, expected, "==", unit="SHA-256")
    return result.finish(baseline=REFERENCE)


if __name__ == "__main__":
    sys.exit(main())
