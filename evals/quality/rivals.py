"""Partitions by Infomap and leidenalg, cached in DATA/rivals, since they do not change with outcore.

The name of a cached partition consists of a hash of the edges, the tool with its version, its settings and the seed.
The tool runs in a process of its own:

    rivals.py merge EDGES.tsv EDGES.npz                          # each edge once
    rivals.py TOOL SETTINGS SEED THREADS EDGES.npz OUTPUT.npy    # prints its costs as JSON

The seconds are those of the tool's call, without reading the file and converting it to the tool's own graph.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from harness import places, running
from harness.running import Command

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Rival:
    """Tool with settings. `gamma` is the resolution of leidenalg's constant Potts model."""

    tool: str
    objective: str
    gamma: float | None = None

    @property
    def name(self) -> str:
        resolution = "" if self.gamma is None else f" {self.gamma:g}"
        return f"{self.tool} {self.objective}{resolution}"

    @property
    def settings(self) -> str:
        return self.objective if self.gamma is None else f"{self.objective}:{self.gamma:.12g}"


INFOMAP = Rival("infomap", "map-equation")
LEIDEN = Rival("leidenalg", "modularity")


def leiden_cpm(gamma: float) -> Rival:
    return Rival("leidenalg", "cpm", gamma)


@dataclass(frozen=True)
class Answer:
    """Partition found by a tool, with its own measure of quality."""

    communities: Array
    quality: float
    version: str


def save_edges(path: Path, nodes: int, sources: Array, targets: Array, weights: Array) -> str:
    """Write the file that rivals read, and return a fingerprint of the graph."""
    np.savez(path, nodes=nodes, sources=sources, targets=targets, weights=weights)
    fingerprint = hashlib.sha256(str(nodes).encode())
    for array in (sources, targets, weights):
        fingerprint.update(np.ascontiguousarray(array).tobytes())
    return fingerprint.hexdigest()[:16]


def ask(rival: Rival, edges: Path, fingerprint: str, seed: int) -> Answer:
    """Return the rival's partition of the graph in `edges`, from the cache if possible."""
    folder = places.data_folder() / "rivals"
    folder.mkdir(parents=True, exist_ok=True)
    version = importlib.metadata.version(rival.tool)
    stem = f"{fingerprint}-{rival.tool}-{version}-{rival.settings.replace(':', '-')}-{seed}"
    output, facts = folder / f"{stem}.npy", folder / f"{stem}.json"
    if not facts.exists():
        print(f"  {rival.name}, seed {seed} ..", file=sys.stderr)
        sample = running.run_once(Command(rival.name, argv(rival, seed, 1, edges, output)))
        if not sample.ok:
            places.cannot_run(f"{rival.name} failed:\n{sample.error}")
        facts.write_text(json.dumps({name: sample.json_line()[name] for name in ("quality", "version")}) + "\n")
    return Answer(np.load(output), **json.loads(facts.read_text()))


def argv(rival: Rival, seed: int, threads: int, edges: Path, output: Path) -> list[str]:
    arguments = [rival.tool, rival.settings, str(seed), str(threads), str(edges), str(output)]
    return [str(places.rival("venv/bin/python")), "-W", "ignore", __file__, *arguments]


def run_infomap(
    nodes: int, sources: Array, targets: Array, weights: Array, seed: int, threads: int
) -> tuple[Array, float, float]:
    from infomap import Infomap

    infomap = Infomap(
        two_level=True, flow_model="undirected", num_trials=1, num_threads=threads, seed=seed, silent=True
    )
    infomap.add_links(np.column_stack((sources, targets, weights)))
    start = time.perf_counter()
    infomap.run()
    seconds = time.perf_counter() - start
    # Nodes without an edge are not in Infomap's network; each becomes a community.
    communities = np.arange(nodes, dtype=np.int64) + nodes
    for node, module in infomap.get_modules().items():
        communities[node] = module
    return communities, infomap.codelength, seconds


def run_leidenalg(
    nodes: int, sources: Array, targets: Array, weights: Array, seed: int, settings: str
) -> tuple[Array, float, float]:
    import igraph
    import leidenalg

    graph = igraph.Graph(n=nodes, edges=np.column_stack((sources, targets)))
    graph.es["weight"] = weights.tolist()
    objective, _, gamma = settings.partition(":")
    options: dict[str, object] = {"weights": "weight", "n_iterations": 2, "seed": seed}
    if objective == "cpm":
        kind, options["resolution_parameter"] = leidenalg.CPMVertexPartition, float(gamma)
    else:
        kind = leidenalg.ModularityVertexPartition
    start = time.perf_counter()
    partition = leidenalg.find_partition(graph, kind, **options)
    seconds = time.perf_counter() - start
    # In an undirected graph, leidenalg counts each edge and each pair of nodes twice.
    quality = partition.quality() / 2 if objective == "cpm" else partition.quality()
    return np.array(partition.membership), quality, seconds


def merge(text: Path, edges: Path) -> None:
    import graphs
    import scores

    merged = scores.merged_edges(graphs.read_graph(text, None))
    save_edges(edges, merged.nodes, merged.sources, merged.targets, merged.weights)


def answer(tool: str, settings: str, seed: int, threads: int, edges: Path, output: Path) -> dict[str, object]:
    with np.load(edges) as file:
        arrays = (int(file["nodes"]), file["sources"], file["targets"], file["weights"])
    if tool == "infomap":
        communities, quality, seconds = run_infomap(*arrays, seed, threads)
    else:
        communities, quality, seconds = run_leidenalg(*arrays, seed, settings)
    np.save(output, np.unique(communities, return_inverse=True)[1].astype(np.int64))
    return {"quality": quality, "version": importlib.metadata.version(tool), "seconds": seconds}


def main() -> int:
    if sys.argv[1] == "merge":
        merge(Path(sys.argv[2]), Path(sys.argv[3]))
        return 0
    tool, settings, seed, threads, edges, output = sys.argv[1:]
    print(json.dumps(answer(tool, settings, int(seed), int(threads), Path(edges), Path(output))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
