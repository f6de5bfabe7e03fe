"""Tables of methods by graph: Markdown for the documentation, from the results of methods.py.

    python3 evals/quality/table.py [--scale full|smoke|partial] [--order given|random|degree|community]

Means over the seeds, without times. The first table has the agreement with the true communities, NMI / ARI, the best
NMI in bold; the second, of all graphs, the number of communities and the share of the nodes in the largest.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places

Row = dict[str, object]

COLUMNS = {
    "map-equation": "map equation",
    "label-propagation": "label propagation",
    "modularity": "modularity",
    "cpm 0.01": "CPM 0.01",
    "cpm 0.05": "CPM 0.05",
    "infomap map-equation": "Infomap",
    "leidenalg modularity": "leidenalg, modularity",
}


RIVALS = ("infomap", "leidenalg")


def read_rows(scale: str) -> list[Row]:
    path = places.EVALS / "quality" / "results" / f"methods-{scale}.json"
    if not path.exists():
        places.cannot_run(f"there is no {path.name}: run evals/quality/methods.py first")
    rows: list[Row] = json.loads(path.read_text())["rows"]
    return rows


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def agreement(row: Row) -> tuple[str, float] | None:
    """Return the agreement as text, empty if the graph has no truth."""
    if "nmi" not in row:
        return None
    return f"{row['nmi']:.3f} / {row['ari']:.3f}", round(float(str(row["nmi"])), 3)


def size(row: Row) -> tuple[str, float]:
    return f"{row['communities']:.0f} / {row['largest_share']:.1%}", 0.0


def table(rows: Sequence[Row], order: str, cell: Callable[[Row], tuple[str, float] | None], bold: bool) -> str:
    # Rivals have processed the graphs in the given order only.
    used = [row for row in rows if row["order"] == order or str(row["method"]).startswith(RIVALS)]
    methods = [name for name in COLUMNS if any(row["method"] == name for row in used)]
    lines = []
    for graph in dict.fromkeys(str(row["graph"]) for row in used):
        found = {str(row["method"]): cell(row) for row in used if row["graph"] == graph}
        cells = [found.get(method) for method in methods]
        if not any(cells):
            continue
        best = max(one[1] for one in cells if one)
        lines.append([graph, *(text(one, bold and one is not None and one[1] == best) for one in cells)])
    return markdown(["graph", *(COLUMNS[name] for name in methods)], lines)


def text(cell: tuple[str, float] | None, bold: bool) -> str:
    return "" if cell is None else f"**{cell[0]}**" if bold else cell[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="evals/quality/table.py", description="tables for the documentation")
    parser.add_argument("--scale", choices=("full", "smoke", "partial"), default="full")
    parser.add_argument("--order", choices=("given", "random", "degree", "community"), default="given")
    options = parser.parse_args()
    rows = read_rows(options.scale)
    print("NMI / ARI\n\n" + table(rows, options.order, agreement, bold=True))
    print("\nCommunities / share of the nodes in the largest\n\n" + table(rows, options.order, size, bold=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
