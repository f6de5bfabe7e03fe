"""Graphs that break clustering programs: right answers, and time linear in the edges (bar B8).

A star, a path, rings of cliques, complete graphs and separate pairs, each in a quarter of its size and in full: the
time per edge may grow by half at most. One weighted graph with all weights scaled by 1e-12 and 1e12 must give the
same bytes. Label propagation; methods.py has the other methods and more shapes.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from edges import CLIQUE, Edges, complete, pairs, path, read_answer, ring_of_cliques, star, write_edges
from harness import inputs, places, results, running, subject
from harness.running import Command

GROWTH_BAR = 1.5
PATH_SWEEPS_BAR = 6
SCALES = {"1e-12": "e-12", "1e12": "e12"}


@dataclass(frozen=True)
class Shape:
    """Family of graphs: sizes in the family's own unit, edges by size, and the communities to expect."""

    edges: Callable[[int], Edges]
    sizes: dict[str, tuple[int, int]]
    edge_count: Callable[[int], int]
    communities: Callable[[int], tuple[int, int]] | None
    linear: bool = True


# A complete graph has a quarter of the edges at half the nodes. The rings are too small to time.
SHAPES = {
    "star": Shape(
        star,
        {"full": (500_000, 2_000_000), "smoke": (5_000, 20_000)},
        lambda size: size,
        lambda _: (1, 1),
    ),
    "path": Shape(
        path,
        {"full": (250_000, 1_000_000), "smoke": (2_500, 10_000)},
        lambda size: size - 1,
        None,
    ),
    "ring of cliques": Shape(
        ring_of_cliques,
        {"full": (250, 1000), "smoke": (25, 100)},
        lambda size: size * (CLIQUE * (CLIQUE - 1) // 2 + 1),
        lambda size: (size - 1, size),
        linear=False,
    ),
    "complete": Shape(
        complete,
        {"full": (1000, 2000), "smoke": (50, 100)},
        lambda size: size * (size - 1) // 2,
        lambda _: (1, 1),
    ),
    # The last one, since reading its answer enlarges this interpreter, a lower bound of measured memory.
    "pairs": Shape(
        pairs,
        {"full": (2_500_000, 10_000_000), "smoke": (2_500, 10_000)},
        lambda size: size,
        lambda size: (size, size),
    ),
}


def scale_weights(source: Path, output: Path, exponent: str) -> None:
    """Shift the decimal point of every weight, so that only the reader rounds."""
    with output.open("w") as file:
        for line in inputs.lines(source):
            head, _, weight = line.rpartition("\t")
            if "e" in weight.lower():
                places.cannot_run("the generated weights already have exponents")
            file.write(f"{head}\t{weight}{exponent}\n")


def main() -> int:
    options = results.arguments("shapes", "hostile shapes: right answers in linear time")
    full = options.scale == "full"
    places.require_space(2 * places.GIB if full else places.GIB // 8)
    folder = places.fresh(places.data_folder() / "shapes")
    work, communities, report = folder / "work", folder / "communities", folder / "report.json"
    result = results.Result(
        "shapes", "B8", options.scale, {name: list(shape.sizes[options.scale]) for name, shape in SHAPES.items()}
    )

    for name, shape in SHAPES.items():
        labels = [f"{name} {size}" for size in shape.sizes[options.scale]]
        texts = [folder / f"edges-{size}.tsv" for size in shape.sizes[options.scale]]
        for size, edges in zip(shape.sizes[options.scale], texts, strict=True):
            write_edges(shape.edges(size), edges)

        def prepare(texts: list[Path] = texts) -> None:
            places.fresh(work)
            report.unlink(missing_ok=True)
            communities.unlink(missing_ok=True)
            running.settle(*texts)

        # The largest comes last, so that its answer remains.
        result.measure(
            [
                Command(label, subject.cluster_argv(edges, communities, work, report=report), [work], prepare)
                for label, edges in zip(labels, texts, strict=True)
            ],
            options.repeats,
        )
        result.check_runs(*labels)
        small, large = shape.sizes[options.scale]
        per_edge = [
            result.summary(label).median_seconds / shape.edge_count(size)
            for label, size in zip(labels, (small, large), strict=True)
        ]
        growth = per_edge[1] / per_edge[0]
        result.check(f"{name}: growth of time per edge", growth, GROWTH_BAR, unit="x", judged=full and shape.linear)
        if communities.exists():
            check_answer(result, name, shape, large, read_answer(communities), report)
        for edges in texts:
            edges.unlink()

    check_scaled_weights(result, folder, smoke=not full)
    places.fresh(folder)
    return result.finish()


def check_answer(result: results.Result, name: str, shape: Shape, size: int, answer: array[int], report: Path) -> None:
    count = max(answer, default=-1) + 1
    used = bytearray(count)
    for community in answer:
        used[community] = 1
    result.check(f"{name}: community numbers without nodes", used.count(0), 0)
    if shape.communities is None:
        sweeps = subject.sweeps_in_report(report)
        result.check(f"{name}: sweeps", float("nan") if sweeps is None else sweeps, PATH_SWEEPS_BAR)
        return
    minimum, maximum = shape.communities(size)
    result.check(f"{name}: communities at least", count, minimum, ">=")
    result.check(f"{name}: communities at most", count, maximum)
    if name == "pairs":
        apart = sum(1 for node in range(0, len(answer), 2) if answer[node] != answer[node + 1])
        result.check("pairs: pairs apart", apart, 0)


def check_scaled_weights(result: results.Result, folder: Path, smoke: bool) -> None:
    """Check that the bytes are the same for any unit of the weights."""
    graph = inputs.planted(5_000, 50_000) if smoke else inputs.planted(200_000, 2_000_000)
    hashes = {}
    for scale, exponent in {"1": "", **SCALES}.items():
        source, output = folder / "weighted.tsv", folder / f"weighted-{scale}"
        scale_weights(graph.path, source, exponent)
        sample = running.run_once(Command(scale, subject.cluster_argv(source, output, places.fresh(folder / "work"))))
        hashes[scale] = inputs.sha256(output)[:16] if sample.ok else ""
        if not sample.ok:
            print(f"\nweights x {scale} failed:\n{sample.error}", file=sys.stderr)
        if scale == "1":
            result.check("weighted graph: exit code", sample.exit_code, 0)
        else:
            found, expected = hashes[scale] or "failed", hashes["1"] or "any file"
            result.check(f"weights x {scale}: communities", found, expected, "==", unit="SHA-256")


if __name__ == "__main__":
    sys.exit(main())
