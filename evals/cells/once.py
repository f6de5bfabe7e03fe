"""One step of the eval of cells in a process of its own: `make` cells, or cluster them by `scanpy` or `outcore`.

Needs a Python with scanpy, igraph and outcore. A step that clusters prints a line of JSON: seconds of the call, resident
memory before it and what it added at its peak, the modularity and the number of groups.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")

import anndata
import numpy as np
import scanpy
import scipy.sparse

DIMENSIONS = 12
TYPES = 40
GENES = 30


def points(count: int) -> np.ndarray[Any, Any]:
    """Return cells of types that are a tree, half of them on the way from a type to its parent."""
    chance = np.random.default_rng(1)
    types = chance.normal(scale=2.2, size=(TYPES, DIMENSIONS))
    parents = np.maximum(0, (np.arange(TYPES) - 1) // 2)
    for at in range(1, TYPES):
        types[at] += 0.8 * types[parents[at]]
    kind = chance.choice(TYPES, size=count, p=chance.dirichlet(np.full(TYPES, 1.5)))
    along = chance.beta(0.6, 0.6, size=(count, 1)) * (chance.random((count, 1)) < 0.5)
    found = types[kind] * (1 - along) + types[parents[kind]] * along + chance.normal(size=(count, DIMENSIONS))
    found = found @ chance.normal(size=(DIMENSIONS, GENES)) / np.sqrt(DIMENSIONS)
    return (found + chance.normal(scale=0.3, size=(count, GENES))).astype(np.float32)


def make(path: Path, count: int) -> None:
    """Write cells with the graph of `scanpy.pp.neighbors`; 0 are those that scanpy has with it."""
    if count == 0:
        adata = scanpy.datasets.pbmc68k_reduced()
    else:
        from pynndescent import PyNNDescentTransformer

        class Neighbors(PyNNDescentTransformer):
            # scanpy 1.11 reads a matrix, not an array.
            def fit_transform(self, X: Any, y: Any = None) -> Any:
                return scipy.sparse.csr_matrix(super().fit_transform(X))

        adata = anndata.AnnData(points(count))
        scanpy.pp.neighbors(adata, use_rep="X", transformer=Neighbors(n_neighbors=15, random_state=0))
    # Only what both read: cells in the order of the file, and the graph.
    kept = anndata.AnnData(np.zeros((adata.n_obs, 1), dtype=np.float32))
    kept.obsp["connectivities"] = scipy.sparse.csr_matrix(adata.obsp["connectivities"])
    kept.uns["neighbors"] = {"connectivities_key": "connectivities", "distances_key": "distances", "params": {}}
    path.parent.mkdir(parents=True, exist_ok=True)
    kept.write_h5ad(path)
    print(json.dumps({"cells": kept.n_obs, "entries": int(kept.obsp["connectivities"].nnz)}))


def memory(field: str) -> int:
    """Return a size of this process in bytes: `VmRSS` is its resident memory, `VmHWM` the peak of that."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(field))
    return int(line.split()[1]) * 1024


def forget_peak() -> None:
    """Make the present resident memory the peak."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def modularity(graph: Any, groups: np.ndarray[Any, Any]) -> float:
    """Return the modularity of groups in a symmetric matrix."""
    entries = graph.tocoo()
    weights = entries.data.astype(np.float64)
    inside = weights[groups[entries.row] == groups[entries.col]].sum()
    strengths = np.bincount(groups, np.bincount(entries.row, weights, len(groups)))
    total = weights.sum()
    return float(inside / total - ((strengths / total) ** 2).sum())


def call(by: str, adata: Any, seed: int, options: dict[str, Any]) -> None:
    """Add a column `groups`."""
    if by == "scanpy":
        scanpy.tl.leiden(adata, random_state=seed, key_added="groups", flavor="igraph", directed=False, **options)
    else:
        import outcore

        outcore.tl.leiden(adata, random_state=seed, key_added="groups", progress=False, **options)


def cluster(by: str, path: Path, seed: int, options: dict[str, Any]) -> None:
    """Cluster cells, after a call with ten others so that everything is imported."""
    few = anndata.AnnData(np.zeros((10, 1), dtype=np.float32))
    few.obsp["connectivities"] = scipy.sparse.csr_matrix(np.ones((10, 10)) - np.eye(10))
    few.uns["neighbors"] = {"connectivities_key": "connectivities", "distances_key": "distances", "params": {}}
    call(by, few, 0, {})
    adata = anndata.read_h5ad(path)
    gc.collect()
    forget_peak()
    before = memory("VmRSS")
    began, used = time.perf_counter(), time.process_time()
    call(by, adata, seed, options)
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    added = memory("VmHWM") - before
    groups = adata.obs["groups"].cat.codes.to_numpy()
    found = {
        "seconds": seconds,
        "processor_seconds": processor,
        "before_bytes": before,
        "added_bytes": added,
        "modularity": modularity(adata.obsp["connectivities"], groups),
        "groups": int(groups.max()) + 1,
    }
    print(json.dumps(found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("by", choices=("make", "scanpy", "outcore"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--count", type=int, default=0, help="number of cells to make")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--options", type=json.loads, default={}, help="further keywords, in JSON")
    given = parser.parse_args()
    if given.by == "make":
        make(given.path, given.count)
    else:
        cluster(given.by, given.path, given.seed, given.options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
