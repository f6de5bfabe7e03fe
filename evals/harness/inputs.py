"""Generation and reading of graphs, and agreement of partitions."""

from __future__ import annotations

import gzip
import hashlib
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .places import cannot_run, data_folder, require_space
from .running import Command, run_once
from .subject import generate_argv


@dataclass(frozen=True)
class Planted:
    """Generated planted partition on disk."""

    nodes: int
    edges: int
    seed: int
    path: Path
    truth: Path

    @property
    def description(self) -> dict[str, object]:
        return {
            "kind": "planted partition",
            "nodes": self.nodes,
            "edges": self.edges,
            "seed": self.seed,
            "bytes": self.path.stat().st_size,
        }


def planted(nodes: int, edges: int, seed: int = 1, names: str = "string") -> Planted:
    """Return the planted partition of a size, which is generated unless it exists; the evals share it."""
    path = planted_path(nodes, edges, seed, names)
    path.parent.mkdir(parents=True, exist_ok=True)
    graph = Planted(nodes, edges, seed, path, path.with_suffix(".truth.tsv"))
    if not graph.path.exists():
        require_space(edges * 45 + nodes * 30)
        print(f"  generating {nodes} nodes, {edges} edges ..", file=sys.stderr)
        partial = graph.path.with_suffix(".incomplete")
        done = run_once(Command("generate", generate_argv(nodes, edges, seed, partial, graph.truth, names)))
        if not done.ok:
            cannot_run(f"outcore generate failed:\n{done.error}")
        partial.rename(graph.path)
    return graph


def planted_path(nodes: int, edges: int, seed: int = 1, names: str = "string") -> Path:
    """Return where `planted` puts a graph."""
    return data_folder() / "graphs" / f"planted-{names}-{nodes}-{edges}-{seed}.tsv"


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, decompressed if its name ends in .gz, without comments."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for line in file:
            if not line.startswith("#"):
                yield line.rstrip("\n")


def read_communities(path: Path) -> dict[str, str]:
    """Return the community of each node by name, from a file of `node<TAB>community`."""
    communities = {}
    for line in lines(path):
        node, _, community = line.partition("\t")
        communities[node] = community.strip()
    return communities


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def nmi(left: Mapping[str, str], right: Mapping[str, str], normalization: str = "sum") -> float:
    """Return the normalized mutual information of two partitions over their common nodes.

    `sum`: 2 I / (H1 + H2); `max`: I / max(H1, H2). It is 1 if both partitions have a single community.
    """
    nodes = left.keys() & right.keys()
    if not nodes:
        return math.nan
    joint = Counter((left[node], right[node]) for node in nodes)
    lefts = Counter(left[node] for node in nodes)
    rights = Counter(right[node] for node in nodes)
    left_entropy, right_entropy = _entropy(lefts, len(nodes)), _entropy(rights, len(nodes))
    if left_entropy == 0 and right_entropy == 0:
        return 1.0
    information = math.fsum(
        count / len(nodes) * math.log(count * len(nodes) / (lefts[a] * rights[b])) for (a, b), count in joint.items()
    )
    if normalization == "sum":
        return 2 * information / (left_entropy + right_entropy)
    if normalization == "max":
        return information / max(left_entropy, right_entropy)
    raise ValueError(f"unknown normalization {normalization}")


def _entropy(counts: Mapping[str, int], total: int) -> float:
    return -math.fsum(count / total * math.log(count / total) for count in counts.values())
