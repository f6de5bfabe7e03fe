"""A divided graph without Spark: quality, the graph of communities, and looks at arcs (bars G2 and G3).

    python3 evals/spark/parts.py [--scale smoke|full]

Parts, sweeps and messages are those of `outcore.spark`; a loop delivers the messages. G2: LFR graphs with known
communities, in four parts, by the map equation and modularity: agreement (NMI) with them, the objective, and the edges
of the graph of communities that goes to the engine, as a share of the graph's, without and with one level on parts. G3:
label propagation on as many parts as a planted graph in random order allows (512 are asked for; a part has at least a
block of 4,096 nodes): looks at each arc in all sweeps, with at most two rounds a sweep and exact.

Needs the package, scikit-learn and numpy.
"""

from __future__ import annotations

import collections
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "quality"))

import lfr
import numpy as np
import outcore
import pyarrow as pa
from harness import inputs, places, results
from outcore import _outcore
from outcore.spark import _job, _sweeps
from sklearn.metrics import normalized_mutual_info_score

Array = Any
Edges = tuple[Array, Array, Array]

MIXINGS = (0.3, 0.5, 0.6, 0.7)
NODES = {"full": 10_000, "smoke": 1_000}
PLANTED = {"full": (300_000, 3_000_000), "smoke": (20_000, 200_000)}
METHODS = ("map-equation", "modularity")
PARTS, MANY_PARTS = 4, 512
NMI_BAR, OBJECTIVE_BAR, SHARE_BAR, LOOKS_BAR, ROUNDS_BAR = -0.002, 1.005, 0.1, 8, 2


class Divided:
    """Parts of a graph in this process, with the interface of `outcore.spark._parts.Parts` that sweeps use."""

    def __init__(self, edges: Edges, nodes: int, parts: int, method: str, *, keep_loops: bool = False) -> None:
        source, target, weight = edges
        other = source != target
        arcs = [
            np.concatenate(pair) for pair in ((source, target[other]), (target, source[other]), (weight, weight[other]))
        ]
        order = np.lexsort((arcs[1], arcs[0]))
        packer = _outcore.Chunks("sum", keep_loops, 0.0)
        types = (np.uint32, np.uint32, np.float64)
        chunks = packer.push(*(arc[order].astype(kind).tobytes() for arc, kind in zip(arcs, types, strict=True)))
        chunks = [*chunks, *(chunk for chunk in packer.finish()[:1] if chunk is not None)]
        cutter = _outcore.Cutter(nodes, max(1, (2 * len(source) + nodes) // parts))
        for chunk in chunks:
            cutter.add(*_outcore.chunk_degrees(chunk))
        self.bounds = cutter.finish()
        pieces = collections.defaultdict(list)
        for chunk in chunks:
            for part, piece in _outcore.cut_chunk(chunk, self.bounds):
                pieces[part].append(piece)
        self.begins = np.frombuffer(self.bounds, np.uint32)
        spans = list(enumerate(zip(self.begins.tolist(), self.begins[1:].tolist(), strict=False)))
        packed = [_outcore.write_part(begin, end, nodes, pieces[at]) for at, (begin, end) in spans]
        self.parts = [_outcore.Part(data, self.bounds, at, method) for at, data in enumerate(packed)]
        self.count, self.shuffle_bytes, self.work = len(self.parts), 0, Unsaved()
        self.clear()

    def clear(self) -> None:
        """Forget everything that parts keep, and all messages."""
        self.kept: list[dict[str, bytes]] = [{} for _ in self.parts]
        self.messages: list[list[tuple[int, bytes]]] = [[] for _ in self.parts]

    def run(self, step: Callable[..., Any]) -> list[Any]:
        """Run a step on every part."""
        sent: list[list[tuple[int, bytes]]] = [[] for _ in self.parts]
        reports = []
        for at, part in enumerate(self.parts):
            self.kept[at], messages, report = step(part, self.kept[at], sorted(self.messages[at]))
            reports.append(report)
            for to, data in messages:
                sent[to].append((at, data))
        self.messages = sent
        return reports

    @staticmethod
    def checkpoint() -> None:
        """Save nothing."""

    def number(self, numbers: Array) -> None:
        """Let parts keep the numbers of their nodes."""
        self.clear()
        for kept, begin, end in zip(self.kept, self.begins, self.begins[1:], strict=False):
            kept["numbers"] = numbers[begin:end].astype(np.uint32).tobytes()

    def close(self, labels: Callable[..., Any]) -> Array:
        """Return the numbers of the connected pieces of labels, by node."""

        def roots(part: Any, kept: dict[str, bytes], sent: Any) -> Any:
            found = labels(part, kept, sent)
            roots, messages = part.roots(found)
            return {**_sweeps.kept_labels(found), "roots": roots}, messages, None

        def links(part: Any, kept: dict[str, bytes], sent: Any) -> Any:
            return {**kept, "links": part.links(_sweeps.labels_of(kept), kept["roots"], sent)}, [], None

        self.run(roots)
        self.run(links)
        forest = _outcore.forest(b"".join(kept["links"] for kept in self.kept))
        pairs = np.frombuffer(forest, np.uint32).reshape(-1, 2)
        found = []
        for at, part in enumerate(self.parts):
            own = pairs[(pairs[:, 0] >= self.begins[at]) & (pairs[:, 0] < self.begins[at + 1])]
            kept = self.kept[at]
            found.append(part.settle(_sweeps.labels_of(kept), kept["roots"], own.tobytes())[0])
        return np.unique(np.frombuffer(b"".join(found), np.uint32), return_inverse=True)[1]

    def contract(self, numbers: Array) -> Edges:
        """Return the graph of communities."""
        self.number(numbers)
        self.run(lambda part, kept, _: (kept, part.announce(kept["numbers"]), None))
        found = self.run(lambda part, kept, sent: (kept, [], part.contract(kept["numbers"], sent)))
        kinds = (np.uint32, np.uint32, np.float64)
        source, target, weight = (
            np.concatenate([np.frombuffer(edges[at], kind) for edges in found]) for at, kind in enumerate(kinds)
        )
        pairs, at = np.unique(source.astype(np.int64) << 32 | target, return_inverse=True)
        return pairs >> 32, pairs & 0xFFFF_FFFF, np.bincount(at, weights=weight)


class Unsaved:
    """Work directory without stages."""

    @staticmethod
    def facts(_: str) -> None:
        return None

    @staticmethod
    def save_facts(_: str, facts: Any) -> Any:
        return facts


def by_engine(edges: Edges, nodes: int, method: str) -> Array:
    """Let the engine find communities of communities."""
    table = pa.table(dict(zip(("source", "target", "weight"), edges, strict=True)))
    found = outcore.cluster(table, method=method, seeding="own", self_loops="keep", progress=False)
    return np.unique(communities(found, -1 - np.arange(nodes)), return_inverse=True)[1]


def communities(found: outcore.Communities, of_nodes: Array) -> Array:
    table = found.to_arrow()
    of_nodes[np.array(table["node"].to_pylist(), int)] = table["community"].to_pylist()
    return of_nodes


def moved(edges: Edges, nodes: int, method: str, levels: int, level: int = 0) -> tuple[Array, int]:
    """Return the community of each node, and the number of edges that go to the engine."""
    options = {"method": method, "seed": 0, "resolution": None, "max_sweeps": _job._FIRST_SWEEPS}
    parts = Divided(edges, nodes, PARTS, method, keep_loops=level > 0)
    first = _sweeps.first_moves(options, nodes, seeded=level == 0)
    first.run(parts, lambda _: None)  # type: ignore[arg-type]
    numbers = parts.close(_sweeps.moved)
    coarse, count = parts.contract(numbers), int(numbers.max()) + 1
    if level + 1 < levels:
        above, left = moved(coarse, count, method, levels, level + 1)
    else:
        above, left = by_engine(coarse, count, method), int((coarse[0] != coarse[1]).sum())
    parts.number(above[numbers])
    _sweeps.last_moves(options, nodes).run(parts, lambda _: None)  # type: ignore[arg-type]
    return parts.close(_sweeps.moved), left


def quality(result: results.Result, scale: str) -> None:
    """Measure G2."""
    judged, folder = scale == "full", places.fresh(places.data_folder() / "parts")
    for mixing in MIXINGS:
        graph = lfr.generate(lfr.Parameters(NODES[scale], mixing))
        source, target = np.array(graph.edges).T
        edges, nodes = (source, target, np.ones(len(source))), NODES[scale]
        table = pa.table({"source": source, "target": target})
        stored = outcore.build(table, folder / f"{mixing}.graph", progress=False)
        for method in METHODS:
            of_engine = communities(outcore.cluster(stored, method=method, progress=False), np.zeros(nodes, int))
            expected = score(stored, of_engine, method)
            agreed = normalized_mutual_info_score(graph.communities, of_engine)
            for levels in (1, 2):
                found, left = moved(edges, nodes, method, levels)
                nmi = normalized_mutual_info_score(graph.communities, found)
                ratio = score(stored, found, method) / expected
                ratio = ratio if method == "map-equation" else 1 / ratio
                name = f"LFR, mixing {mixing}, {method}, {levels - 1} levels on parts above the graph"
                result.check(f"{name}: NMI less the engine's", nmi - agreed, NMI_BAR, ">=", judged=judged)
                result.check(f"{name}: objective / the engine's", ratio, OBJECTIVE_BAR, unit="x", judged=judged)
                result.check(f"{name}: share of edges to the engine", left / len(source), SHARE_BAR, judged=judged)
                row = {"mixing": mixing, "method": method, "levels": levels, "nmi": nmi, "nmi_engine": agreed}
                result.rows.append(row | {"objective_ratio": ratio, "share": left / len(source)})


def score(graph: outcore.Graph, found: Array, method: str) -> float:
    path = places.data_folder() / "parts" / "found.tsv"
    path.write_text("".join(f"{node}\t{number}\n" for node, number in enumerate(found)))
    measured = outcore.score(graph, path, progress=False)["quality"]
    return float(measured["code_length" if method == "map-equation" else "modularity"])


def rounds(result: results.Result, scale: str) -> None:
    """Measure G3."""
    graph = inputs.planted(*PLANTED[scale], names="integer")
    rows = [line.split("\t")[:2] for line in inputs.lines(graph.path)]
    ends = np.array(rows, np.int64)
    names, first, at = np.unique(ends.ravel(), return_index=True, return_inverse=True)
    number = np.empty(len(names), np.int64)
    number[np.argsort(first)] = np.arange(len(names))
    source, target = number[at].reshape(-1, 2).T
    truth = dict(line.split("\t") for line in inputs.lines(graph.truth))
    known = [truth[str(name)] for name in names[np.argsort(first)]]
    parts = Divided((source, target, np.ones(len(source))), len(names), MANY_PARTS, "label-propagation")
    for exact in (False, True):
        parts.clear()
        options = {"seed": 0, "exact": exact, "max_sweeps": 30, "tolerance": 0.001}
        history = _sweeps.propagation(options, len(names), parts.count).run(parts, lambda _: None)  # type: ignore[arg-type]
        looks = sum(sweep["visited_arc_count"] for sweep in history["sweeps"]) / (2 * len(source))
        counts = [sweep["rounds"] for sweep in history["sweeps"]]
        nmi = normalized_mutual_info_score(known, parts.close(_sweeps.propagated))
        result.rows.append({"exact": exact, "parts": parts.count, "looks": looks, "rounds": counts, "nmi": nmi})
        if not exact:
            judged = scale == "full"
            result.check("label propagation: looks at each arc, all sweeps", looks, LOOKS_BAR, judged=judged)
            result.check("label propagation: most rounds of a sweep", max(counts), ROUNDS_BAR)


def main() -> int:
    options = results.arguments("spark", "a divided graph without Spark", repeats=1)
    warnings.simplefilter("ignore", outcore.OutcoreWarning)
    described = {"nodes": NODES[options.scale], "mixings": list(MIXINGS), "planted": list(PLANTED[options.scale])}
    result = results.Result("spark", "G2, G3", options.scale, described, part="parts")
    quality(result, options.scale)
    rounds(result, options.scale)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
