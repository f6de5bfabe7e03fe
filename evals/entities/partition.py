"""Describes a partition, given as `node<TAB>component`, as JSON.

    partition.py FILE|FOLDER [--count]

The checksum is that of all nodes with the first node of their component, in order: two files of the same partition have
the same one, however they number and order it. `--count` leaves it out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import polars


def main() -> None:
    parser = argparse.ArgumentParser(description="Describes a partition as JSON")
    parser.add_argument("path", type=Path)
    parser.add_argument("--count", action="store_true", help="only the numbers of nodes and components")
    arguments = parser.parse_args()
    path = arguments.path
    rows = polars.scan_csv(
        sorted(path.glob("part-*")) if path.is_dir() else path,
        separator="\t",
        has_header=False,
        new_columns=["node", "component"],
        quote_char=None,
    )
    component, node = polars.col("component"), polars.col("node")
    counted = rows.select(nodes=polars.len(), components=component.n_unique()).collect(engine="streaming")
    found: dict[str, object] = counted.row(0, named=True)
    if not arguments.count:
        found["sha256"] = checksum(rows, component, node)
    print(json.dumps(found))


def checksum(rows: polars.LazyFrame, component: polars.Expr, node: polars.Expr) -> str:
    firsts = rows.group_by(component).agg(first=node.min())
    ordered = rows.join(firsts, on="component").select("first", "node").sort("first", "node").collect()
    digest = hashlib.sha256()
    for part in ordered.iter_slices(1 << 20):
        digest.update(part.write_csv(include_header=False).encode())
    return digest.hexdigest()


if __name__ == "__main__":
    main()
