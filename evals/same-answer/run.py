"""Whether the communities depend only on input, options and seed (bars B6 and Q5).

    python3 evals/same-answer/run.py [--scale smoke|full] [--method all|NAME,..]

The graph of evals/ingest, clustered with three numbers of threads, three memory limits, from plain, gzip and zstd text
and from a graph built beforehand: the files of communities must be equal byte for byte (B6).

With `--method`, the same for each named method (Q5): a graph built with and without weights, three numbers of threads
and three memory limits, of which the smallest does not hold the first contracted graph.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

SIZES = {"full": (5_000_000, 50_000_000), "smoke": (20_000, 200_000)}
REFERENCE = "plain, 2 threads, 1GiB"

METHOD_SIZES = {"full": (1_000_000, 10_000_000), "smoke": (20_000, 200_000)}
# Threads and memory; the others must equal the first.
LIMITS = ((2, "1GiB"), (1, "1GiB"), (7, "1GiB"), (2, "192MiB"), (2, "4GiB"))


def compressed(path: Path, program: str, suffix: str) -> Path:
    if shutil.which(program) is None:
        places.cannot_run(f"{program} is needed to make the input")
    output = path.with_name(path.name + suffix)
    if not output.exists():
        partial = output.with_name(output.name + ".incomplete")
        argv = ["sh", "-c", f'{program} -1 -c -- "$1" > "$2"', program, str(path), str(partial)]
        made = running.run_once(Command(program, argv))
        if not made.ok:
            places.cannot_run(f"{program} failed:\n{made.error}")
        partial.rename(output)
    return output


def formats(scale: str, repeats: int) -> int:
    """Compare label propagation from every format (B6)."""
    nodes, edges = SIZES[scale]
    places.require_space(edges * 140)
    graph = inputs.planted(nodes, edges)
    text = graph.path
    folder = places.fresh(places.data_folder() / "same-answer")
    work, built = folder / "work", folder / "graph"

    made = running.run_once(Command("build", subject.build_argv(text, built, work)))
    if not made.ok:
        places.cannot_run(f"build failed:\n{made.error}")

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
            subject.cluster_argv(source, outputs[name], work, memory, threads),
            [work],
            lambda: places.fresh(work),
        )
        for name, (source, threads, memory) in runs.items()
    ]

    result = results.Result("same-answer", "B6", scale, graph.description)
    result.measure(commands, repeats)
    result.check_runs(*runs)
    check_hashes(result, outputs, REFERENCE)
    places.fresh(folder)
    return result.finish(baseline=REFERENCE)


def methods(scale: str, repeats: int, names: tuple[str, ...]) -> int:
    """Compare every method, on a graph with weights and on one without (Q5)."""
    nodes, edges = METHOD_SIZES[scale]
    places.require_space(edges * 140)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "same-answer")
    work = folder / "work"
    result = results.Result("same-answer", "Q5", scale, graph.description | {"methods": list(names)}, part="methods")
    for kind in ("weighted", "unweighted"):
        built = folder / f"{kind}-graph"
        argv = subject.build_argv(graph.path, built, places.fresh(work), weighted=kind == "weighted")
        made = running.run_once(Command("build", argv))
        if not made.ok:
            places.cannot_run(f"build failed:\n{made.error}")
        for method in names:
            check_method(result, f"{method}, {kind}", method, built, folder, repeats)
    places.fresh(folder)
    return result.finish()


def check_method(result: results.Result, label: str, method: str, built: Path, folder: Path, repeats: int) -> None:
    runs = {f"{label}, threads {threads}, {memory}": (threads, memory) for threads, memory in LIMITS}
    outputs = {name: folder / f"communities-{number}" for number, name in enumerate(runs)}
    resolution = subject.method_resolution(method)
    commands = [
        Command(
            name,
            subject.cluster_argv(built, outputs[name], folder, memory, threads, method, resolution=resolution),
            [folder],
        )
        for name, (threads, memory) in runs.items()
    ]
    result.measure(commands, repeats)
    result.check_runs(*runs)
    check_hashes(result, outputs, next(iter(runs)))
    for path in outputs.values():
        path.unlink(missing_ok=True)


def check_hashes(result: results.Result, outputs: Mapping[str, Path], reference: str) -> None:
    """Check that all files equal that of the reference, which must exist."""
    hashes = {name: inputs.sha256(path)[:16] if path.exists() else "no file" for name, path in outputs.items()}
    expected = hashes[reference] if hashes[reference] != "no file" else "any file"
    for name, found in hashes.items():
        result.check(f"{name}: communities", found, expected, "==", unit="SHA-256")


def extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--method", type=subject.chosen_methods, help="all, or names separated by commas (bar Q5)")


def main() -> int:
    description = "the same bytes for every limit, thread count and format"
    options = results.arguments("same-answer", description, repeats=1, extend=extend)
    if options.method is None:
        return formats(options.scale, options.repeats)
    return methods(options.scale, options.repeats, options.method)


if __name__ == "__main__":
    sys.exit(main())
