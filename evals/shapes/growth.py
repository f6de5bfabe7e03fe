"""Growth of the time of every method on shapes around hubs, and the arcs that they look at (promise 8).

Hubs with paired leaves and over groups, stars, brooms, cliques with tails, and two hubs that share all leaves, from
10,000 to a million edges: processor time grows at most as the edges to the power of 1.15, and at 300,000 edges it is at
most three times that of a planted graph. The arcs looked at are those of the report, in sweeps and in merges of
communities; they are the same on any machine.

    python3 evals/shapes/growth.py [--scale smoke]
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from edges import Edges, star, write_edges
from harness import places, results, running, subject
from harness.running import Command

GROWTH_BAR, PLANTED_BAR = 1.15, 3.0
SIZES = {"full": (10_000, 100_000, 300_000, 1_000_000), "smoke": (1_000, 4_000)}
COMPARED = {"full": 300_000, "smoke": 4_000}
LIMIT_SECONDS = 600
OPTIONS: dict[str, list[str]] = {
    "map equation": [],
    "modularity": ["--method", "modularity"],
    "CPM": ["--method", "cpm", "--resolution", "0.01"],
    "label propagation": ["--method", "label-propagation"],
    "components": ["--method", "components"],
    "stability": ["--stability"],
    "max size": ["--max-size", "50"],
    "levels": ["--levels", "columns"],
    "well-connected": ["--well-connected"],
}


def hub_with_pairs(edges: int) -> Edges:
    for pair in range(edges // 3):
        yield from ((2 * pair + 1, 0), (2 * pair + 2, 0), (2 * pair + 1, 2 * pair + 2))


def hub_over_groups(edges: int) -> Edges:
    """Yield rings of ten nodes, with five chords each, and a hub to which all nodes are tied."""
    for first in range(1, edges * 10 // 25 - 10, 10):
        for at in range(10):
            yield first + at, 0
            yield first + at, first + (at + 1) % 10
        yield from ((first + at, first + at + 4) for at in range(5))


def stars(edges: int) -> Edges:
    """Yield stars, whose centers are tied to a first one."""
    count = math.isqrt(edges)
    yield from ((0, center) for center in range(1, count))
    yield from ((leaf % count, count + leaf) for leaf in range(edges))


def broom(edges: int) -> Edges:
    half = edges // 2
    yield from ((node, node + 1) for node in range(half))
    yield from ((0, half + 1 + leaf) for leaf in range(half))


def brooms(edges: int) -> Edges:
    """Yield brooms with handles of 50 and as many bristles, tied to a hub."""
    for first in range(1, edges, 100):
        yield 0, first
        yield from ((first + at, first + at + 1) for at in range(49))
        yield from ((first + 49, first + 50 + bristle) for bristle in range(50))


def clique_with_tails(edges: int) -> Edges:
    size = math.isqrt(edges)
    length = edges // 2 // size
    yield from ((a, b) for a in range(size) for b in range(a))
    for member in range(size):
        first = size + member * length
        yield member, first
        yield from ((first + at, first + at + 1) for at in range(length - 1))


def two_hubs(edges: int) -> Edges:
    for leaf in range(2, 2 + edges // 2):
        yield from ((leaf, 0), (leaf, 1))


SHAPES: dict[str, Callable[[int], Edges]] = {
    "hub with pairs": hub_with_pairs,
    "hub over groups": hub_over_groups,
    "star": star,
    "stars": stars,
    "broom": broom,
    "brooms": brooms,
    "clique with tails": clique_with_tails,
    "two hubs": two_hubs,
}


def build(result: results.Result, folder: Path, name: str, size: int) -> Path:
    edges, graph = folder / "edges.tsv", folder / f"{name.replace(' ', '-')}-{size}.graph"
    if name == "planted":
        argv = subject.generate_argv(size // 10, size, 3, edges, folder / "truth.tsv", weights=False)
        made = running.run_once(Command("generate", argv))
        result.check(f"planted {size}: exit code of generate", made.exit_code, 0)
    else:
        write_edges(SHAPES[name](size), edges)
    built = running.run_once(Command("build", subject.build_argv(edges, graph, places.fresh(folder / "work"))))
    if not built.ok:
        places.cannot_run(built.error)
    edges.unlink()
    return graph


def main() -> int:
    options = results.arguments("shapes", "growth of the time on shapes around hubs", repeats=1)
    folder = places.fresh(places.data_folder() / "growth")
    result = results.Result("shapes", "promise 8", options.scale, {"sizes": list(SIZES[options.scale])}, part="growth")
    found: dict[tuple[str, int, str], tuple[float, float]] = {}
    for name in ("planted", *SHAPES):
        for size in SIZES[options.scale]:
            graph = build(result, folder, name, size)
            for of, given in OPTIONS.items():
                report = folder / "report.json"
                argv = [str(subject.outcore()), "cluster", str(graph), "-o", str(folder / "communities"), "--restart"]
                argv += ["--threads", "1", "--report", str(report), "-q", *given]
                ran = running.run_once(Command(of, argv, limit_seconds=LIMIT_SECONDS))
                seconds, arcs = math.inf, math.inf
                if ran.ok:
                    of_report = json.loads(report.read_text())
                    seconds = ran.user_seconds + ran.system_seconds
                    arcs = float(of_report["communities"]["visited_arc_count"])
                found[name, size, of] = seconds, arcs
                row = {"shape": name, "edges": size, "of": of, "seconds": round(seconds, 2), "arcs looked at": arcs}
                result.rows.append(row)
                print(row, flush=True)
            places.fresh(graph)
    judge(result, found, options.scale)
    places.fresh(folder)
    return result.finish()


def judge(result: results.Result, found: dict[tuple[str, int, str], tuple[float, float]], scale: str) -> None:
    """Compare the largest sizes with the smallest, and with a planted graph."""
    sizes, compared, is_full = SIZES[scale], COMPARED[scale], scale == "full"
    for name in SHAPES:
        for of in OPTIONS:
            seconds, arcs = (
                math.log(max(large, 0.01) / max(small, 0.01)) / math.log(sizes[-1] / sizes[0])
                for small, large in zip(found[name, sizes[0], of], found[name, sizes[-1], of], strict=True)
            )
            result.check(f"{name}, {of}: exponent of time", seconds, GROWTH_BAR, judged=is_full)
            result.check(f"{name}, {of}: exponent of arcs", arcs, GROWTH_BAR, judged=is_full)
            times = found[name, compared, of][0] / max(found["planted", compared, of][0], 0.01)
            result.check(f"{name}, {of}: time / planted", times, PLANTED_BAR, unit="x", judged=is_full)


if __name__ == "__main__":
    sys.exit(main())
