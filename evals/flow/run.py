"""Hierarchy, direction and two modes against Infomap and leidenalg (bars D1, D2, D4, D6), and their price (D3).

Infomap computes the code length of our modules itself, from the files that `outcore cluster -o NAME.tree` writes, so
reading them is measured too. Rivals run five times, and their best result counts.

`--networks FOLDER` adds networks as `NAME.txt` (undirected) and `NAME_directed.txt`, lines of `source<TAB>target`: the
power grid of the western states, cora, PGP, TV shows of Facebook, political blogs and so on, which others publish.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import networks
import peers
from harness import inputs, places, results, running, subject
from harness.running import Command

TRIALS = 5
RATIO = 1.002
# Two sums of the same numbers in different orders.
ROUNDING = 1e-9
LEVELS = ("--levels", "tree")
BOTH = {"unrecorded": "", "recorded": "--recorded-teleportation"}


class Runs:
    """Networks and results in a folder of their own."""

    def __init__(self, extra: Path | None) -> None:
        self.folder = places.fresh(places.data_folder() / "flow-work")
        self.cache = places.data_folder() / "flow"
        self.cache.mkdir(parents=True, exist_ok=True)
        self.extra = extra

    def generated(self, name: str, edges: list[networks.Edge]) -> Path:
        return networks.write(self.folder / f"{name}.txt", edges)

    def given(self, directed: bool) -> list[Path]:
        found = sorted(self.extra.glob("*.txt"), key=lambda path: path.stat().st_size) if self.extra else []
        return [path for path in found if path.stem.endswith("_directed") == directed]

    def cluster(self, path: Path, output: str, *options: str) -> tuple[Path, dict[str, object]]:
        """Return the result and what the report says of the communities."""
        output_path, report = self.folder / output, self.folder / "report.json"
        argv = [str(subject.outcore()), "cluster", str(path), "-o", str(output_path), "-q"]
        argv += [] if path.is_dir() else ["--header", "no"]
        run = running.run_once(Command("cluster", [*argv, "--report", str(report), *options]))
        if not run.ok:
            places.cannot_run(f"{path.name}: {run.error}")
        return output_path, json.loads(report.read_text())["communities"]


def tree(runs: Runs, result: results.Result, smoke: bool) -> None:
    """Compare the tree with Infomap's, and with our own two levels; find the groups that were planted."""
    sizes = [20, 200, 2000, 2000 if smoke else 8000]
    edges = networks.nested(sizes[-1], 20, sizes, [0.5, 0.25, 0.15, 0.1], 1)
    paths = [runs.generated("nested", edges), *runs.given(directed=False)]
    for path in paths:
        ours, _ = runs.cluster(path, "tree.tree", "--levels", "tree")
        flat, _ = runs.cluster(path, "flat.tree")
        length, two_levels = (peers.infomap_of(path, "", file) for file in (ours, flat))
        best = peers.best_infomap(path, "", TRIALS, runs.cache)
        result.rows.append({"network": path.stem, "tree": length, "two levels": two_levels, "Infomap": best})
        result.check(f"{path.stem}: code length / Infomap's", length / best, RATIO, unit="x")
        result.check(f"{path.stem}: tree / two levels", length / two_levels, 1 + ROUNDING, unit="x")
    columns, _ = runs.cluster(paths[0], "levels.tsv", "--levels", "columns")
    rows = [line.split("\t") for line in columns.read_text().splitlines()]
    found = [{row[0]: row[at] for row in rows} for at in range(1, len(rows[0]))]
    for size, planted in zip(sizes, networks.planted(sizes[-1], sizes), strict=False):
        nmi = max(inputs.nmi(level, planted) for level in found)
        result.check(f"groups of {size}: NMI of the level like it", nmi, 0.999, ">=")


def directed(runs: Runs, result: results.Result, smoke: bool) -> None:
    """Compare directed code length and modularity."""
    nodes = 600 if smoke else 3000
    paths = [
        runs.generated("hubs_directed", networks.directed_hubs(nodes, 30, 1)),
        runs.generated("citations_directed", networks.citations(nodes, 12, 1)),
        runs.generated("ring_directed", networks.ring(nodes // 30, 30, 1)),
        *runs.given(directed=True),
    ]
    for path in paths:
        row: dict[str, object] = {"network": path.stem}
        for name, option in BOTH.items():
            options = ["--directed", "--self-loops", "keep", *([option] if option else [])]
            ours, _ = runs.cluster(path, "directed.tree", *options)
            for levels, file in (("--two-level", ours), ("", runs.cluster(path, "all.tree", *options, *LEVELS)[0])):
                flags = f"--directed {levels} {option}"
                length, best = peers.infomap_of(path, flags, file), peers.best_infomap(path, flags, TRIALS, runs.cache)
                what = name if levels else f"{name}, tree"
                row |= {what: length, f"Infomap, {what}": best}
                result.check(f"{path.stem}, {what}: code length / Infomap's", length / best, RATIO, unit="x")
        _, found = runs.cluster(path, "m.tsv", "--directed", "--self-loops", "keep", "--method", "modularity")
        best = peers.best_directed_modularity(path, TRIALS)
        ratio = float(found["modularity"]) / best  # type: ignore[arg-type]
        result.rows.append({**row, "modularity": found["modularity"], "leidenalg": best})
        result.check(f"{path.stem}: modularity / leidenalg's", ratio, 0.999, ">=", unit="x")


def two_modes(runs: Runs, result: results.Result, smoke: bool) -> None:
    """Compare Barber's modularity."""
    scale = 300 if smoke else 3000
    for users, items, groups in (
        (scale, scale // 3, 6),
        (scale, scale, 20),
        (2 * scale, 200, 10),
        (400, 300, 4),
        (900, 90, 3),
    ):
        name = f"two modes {users} x {items}"
        path = runs.generated(name, networks.two_modes(users, items, groups, users))
        output, _ = runs.cluster(path, "two.tsv", "--two-mode", "--method", "modularity")
        # A name begins with its kind, `source:` or `target:`.
        rows = [line.split("\t") for line in output.read_text().splitlines()]
        labels = {name.split(":", 1)[1]: int(label) for name, label in rows}
        names, edges = peers.read(path)
        ours = peers.barber(edges, [labels[node] for node in names])
        best = peers.best_two_mode_modularity(path, TRIALS)
        result.rows.append({"network": name, "ours": ours, "leidenalg": best})
        result.check(f"{name}: modularity / leidenalg's", ours / best, 0.999, ">=", unit="x")


def scale(runs: Runs, result: results.Result, smoke: bool) -> None:
    """Compare nested and equal groups with the best cut of what was planted, at several sizes."""
    sizes = [25, 500, 10_000]
    for nodes, degree in ((20_000, 20),) if smoke else ((40_000, 20), (150_000, 20), (300_000, 20), (1_000_000, 20)):
        for shares in ([0.6, 0.25, 0.1, 0.05], [0.4, 0.4, 0.15, 0.05]):
            all_sizes = [*sizes, nodes]
            path = runs.generated("scale", networks.nested(nodes, degree, all_sizes, shares, nodes))
            graph = runs.folder / f"scale-{nodes}-{shares[0]}.graph"
            built = running.run_once(
                Command("build", [str(subject.outcore()), "build", str(path), "-o", str(graph), "-q"])
            )
            if not built.ok:
                places.cannot_run(built.error)
            _, found = runs.cluster(graph, "scale.tsv")
            lengths = []
            for planted in networks.planted(nodes, all_sizes):
                truth = runs.folder / "truth.tsv"
                truth.write_text("".join(f"{node}\t{group}\n" for node, group in planted.items()))
                argv = [str(subject.outcore()), "score", str(graph), str(truth), "-q", "--json"]
                run = running.run_once(Command("score", argv))
                if not run.ok:
                    places.cannot_run(run.error)
                lengths.append(float(json.loads(run.output)["quality"]["code_length"]))
            ours = float(found["code_length"])  # type: ignore[arg-type]
            name = f"{nodes} nodes, {path.stat().st_size >> 20} MiB, shares {shares}"
            result.rows.append({"network": name, "ours": ours, "planted": min(lengths)})
            result.check(f"{name}: code length / best planted", ours / min(lengths), 1 + ROUNDING, unit="x")


def price(runs: Runs, result: results.Result, smoke: bool, repeats: int) -> None:
    """Measure the time of directions and of the tree, relative to the undirected two levels."""
    nodes, edges, memory = (20_000, 200_000, "256MiB") if smoke else (5_000_000, 50_000_000, "512MiB")
    graph = inputs.planted(nodes, edges)
    ways = {"two levels": [], "tree": ["--levels", "columns"], "directed": ["--directed"]}
    commands = []
    for name, options in ways.items():
        argv = [str(subject.outcore()), "cluster", str(graph.path), "-o", str(runs.folder / f"{name}.tsv")]
        argv += ["-q", "--memory", memory, *options]
        commands.append(Command(name, argv, [], lambda: running.settle(graph.path)))
    result.measure(commands, repeats)
    result.check_runs(*ways)
    plain = result.summary("two levels").median_seconds
    for name, bar in (("tree", 1.2), ("directed", 2.0)):
        ratio = result.summary(name).median_seconds / plain
        result.check(f"time of {name} / two levels", ratio, bar, unit="x", judged=not smoke)


PARTS = {"tree": ("D1", tree), "directed": ("D2", directed), "two-modes": ("D2", two_modes), "scale": ("D6", scale)}


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--part", choices=[*PARTS, "price"], action="append")
    parser.add_argument("--networks", type=Path, metavar="FOLDER")


def main() -> int:
    places.use_rivals_python()
    options = results.arguments("flow", "hierarchy, direction and two modes", repeats=3, extend=more)
    runs, smoke, status = Runs(options.networks), options.scale == "smoke", 0
    for part in options.part or [*PARTS, "price"]:
        bar = PARTS[part][0] if part in PARTS else "D3"
        result = results.Result("flow", bar, options.scale, {"networks": "as generated and given"}, part=part)
        if part == "price":
            price(runs, result, smoke, options.repeats)
        else:
            PARTS[part][1](runs, result, smoke)
        if result.rows:
            print("\n" + result.rows_table())
        status |= result.finish()
    places.fresh(runs.folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
