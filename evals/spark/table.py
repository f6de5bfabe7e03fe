"""evals/spark/README.md, from the results of run.py.

python3 evals/spark/table.py [--scale full|smoke] > evals/spark/README.md
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places

Document = dict[str, Any]


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """A table whose first columns, as many as `words`, are to the left."""
    sides = ["---"] * words + ["---:"] * (len(header) - words)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, sides, *rows])


def mib(count: float | None) -> str:
    return "" if count is None else f"{count / places.MIB:,.0f}"


def conditions(document: Document) -> str:
    """Where and on what it was measured."""
    machine, given = document["machine"], document["input"]
    repeats = max(len(command["runs"]) for command in document["commands"])
    return (
        f"{document['date']}, {document['version']} (commit `{document['commit']}`), Spark {given['spark']}, "
        f"{given['java']}; {machine['cpu']}, {machine['cores']} cores, {machine['memory_bytes'] / places.GIB:.0f} GiB, "
        f"{machine['kernel']}, {machine['filesystem']}. `{given['master']}`, {given['sweeps']} sweeps; "
        f"runs of each command: {repeats}."
    )


def verdicts(document: Document) -> str:
    rows = [
        [check["figure"], shown(check["measured"]), f"{check['sense']} {check['bar']} {check['unit']}".strip()]
        + [check["verdict"]]
        for check in document["checks"]
        if "failed runs" not in check["figure"]
    ]
    return "" if not rows else markdown(["figure", "measured", "bar", "verdict"], rows)


def shown(value: float | str | None) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def compared(document: Document) -> str:
    graph = document["input"]["graphs"][0]
    rows = [
        [row["engine"], f"{row['whole_seconds']:.1f}", f"{row['sweep_seconds']:.1f}"]
        + [mib(row["peak_memory_bytes"]), f"{row['communities']:,}"]
        for row in document["rows"]
    ]
    header = ["engine", "whole process, s", "sweeps, s", "memory of all processes, MiB", "communities"]
    title = f"{graph['edges']:,} edges, heap {document['input']['memory']}; medians, memory of the worst run."
    return f"{title}\n\n{markdown(header, rows)}"


def ladder(document: Document) -> str:
    graph = document["input"]["graphs"][0]
    rows = [
        [row["memory"], row["engine"], row["outcome"], f"{row['seconds']:.0f}", mib(row["peak_memory_bytes"])]
        for row in document["rows"]
    ]
    header = ["heap", "engine", "outcome", "seconds", "memory of all processes, MiB"]
    limit = f"a run longer than {document['input']['limit_seconds']} s is ended"
    return f"{graph['edges']:,} edges; {limit}.\n\n{markdown(header, rows, words=3)}"


def sizes(document: Document) -> str:
    rows = [
        [f"{row['edges']:,}", f"{row['seconds_per_sweep']:.2f}", f"{row['seconds_per_million_arcs']:.2f}"]
        + [mib(row["shuffle_bytes_per_sweep"]), f"{row['shuffle_bytes_per_arc']:.1f}", f"{row['rounds_per_sweep']:g}"]
        + [f"{row['whole_seconds']:.1f}"]
        for row in document["rows"]
    ]
    header = ["edges", "s per sweep", "s per sweep and million arcs", "MiB shuffled per sweep", "bytes per arc"]
    header += ["rounds per sweep", "whole process, s"]
    return f"Medians over the sweeps of all runs; heap {document['input']['memory']}.\n\n{markdown(header, rows)}"


SECTIONS = {
    "S3a": ("The same work beside GraphX", compared),
    "S3c": ("Ten times as many edges", compared),
    "S3b": ("In less memory than GraphX needs", ladder),
    "S5": ("The cost of a sweep by the size of the graph", sizes),
}

OPENING = """\
# Label propagation on Spark

Made by [`table.py`](table.py) from [`results`](results); [`run.py`](run.py) says what is measured, and how. To repeat:

```sh
python3 evals/spark/run.py            # --part S3a,S3b,S3c,S5 for some of it
python3 evals/spark/table.py > evals/spark/README.md
```

GraphX's `LabelPropagation` runs a given number of supersteps without weights, all nodes at once from the labels before;
outcore was told to do as many sweeps, to stop for no tolerance, and to leave weights out."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="evals/spark/table.py", description="the page of evals/spark")
    parser.add_argument("--scale", choices=("full", "smoke"), default="full")
    scale = parser.parse_args().scale
    folder = places.EVALS / "spark" / "results"
    documents = {part: folder / f"{part}-{scale}.json" for part in SECTIONS}
    if missing := [path.name for path in documents.values() if not path.exists()]:
        places.cannot_run(f"there is no {', '.join(missing)}: run evals/spark/run.py first")
    parts = [OPENING]
    for part, (title, body) in SECTIONS.items():
        document = json.loads(documents[part].read_text())
        parts += [f"## {title} ({part})", body(document), verdicts(document), conditions(document)]
    print("\n\n".join(part for part in parts if part))
    return 0


if __name__ == "__main__":
    sys.exit(main())
