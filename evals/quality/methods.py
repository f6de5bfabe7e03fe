"""Quality of the methods of outcore, compared with Infomap and leidenalg (bars Q1, Q2, Q3, Q6).

    evals/rivals.sh python                                       # once
    python3 evals/quality/methods.py [--graphs DIR] [--scale smoke|full]
        [--methods map-equation,modularity,cpm,label-propagation] [--only GRAPH,..] [--orders given,random]
        [--seeds 5] [--list] [--rivals]

LFR graphs (lfr.py) with and without weights, a planted partition, rings of cliques, and real graphs, with nodes as
given, in random order, by decreasing degree and by true community, seeds 1 to 5. All scores are computed here from the
edges, for outcore and its rivals alike (scores.py), and compared with those that outcore reports. Results of the rivals
are cached in DATA/rivals. A bar holds for the worst seed and order, unless it says mean.

Q1: agreement with the truth; code length against the best of five runs of Infomap. Q2: modularity and the constant
Potts model against leidenalg. Q3: pairs of genes in the Orthobench families. Q6: scans of the edges.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.results import Result
from harness.running import Command

places.use_rivals_python()

import numpy as np
import rivals
import scores
from cases import CASES, Case
from graphs import ORDERS, Graph, folder_of_graphs, read_graph, take_folder, write_reordered
from rivals import Rival
from scores import Array, Edges

SEEDS = 5
RIVAL_SEEDS = (1, 2, 3, 4, 5)
GAMMAS = (0.01, 0.05)
METHODS = ("map-equation", "modularity", "cpm", "label-propagation")

CODE_LENGTH_BAR, CODE_LENGTH_MEAN_BAR = 1.005, 1.001
MODULARITY_BAR, MODULARITY_MEAN_BAR = 0.99, 0.998
CPM_BAR = 0.985
# Bars for one cycle, and for all cycles with the split of disconnected communities.
SCANS_ONE_CYCLE_BAR, SCANS_BAR = 12, 21
# Nodes and arcs of a graph on which several starts are tried; otherwise they are tried on a contracted level.
START_SIZE = 16_384
# Weights are stored with a precision of 2^-22.
REPORTED_BAR = 2e-6


# Graphs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loaded:
    """Graph in memory: names and order of the file, merged edges, true communities by node."""

    case: Case
    path: Path
    graph: Graph
    edges: Edges
    truth: Array
    truth_count: int
    fingerprint: str
    merged: Path


def load(case: Case, graphs: Path, folder: Path) -> Loaded:
    path, truth_path = case.files(graphs)
    graph = read_graph(path, truth_path)
    edges = scores.merged_edges(graph)
    known = [node for node, name in enumerate(graph.names) if name in graph.truth]
    truth = np.full(edges.nodes, scores.UNKNOWN, dtype=np.int64)
    if known:
        truth[known] = scores.numbered([graph.truth[graph.names[node]] for node in known])
    merged = folder / "merged.npz"
    fingerprint = rivals.save_edges(merged, edges.nodes, edges.sources, edges.targets, edges.weights)
    return Loaded(case, path, graph, edges, truth, len(set(graph.truth.values())), fingerprint, merged)


# Scores ----------------------------------------------------------------------------------------------------------


@dataclass
class Row:
    """Scores of one partition."""

    graph: str
    order: str
    method: str
    seed: int
    nmi: float
    ari: float
    pair_f1: float
    communities: int
    largest_share: float
    modularity: float
    code_length: float
    disconnected: int
    objective: float = math.nan
    reported_difference: float = math.nan
    sweeps: float = math.nan
    scans: float = math.nan
    cycles: float = math.nan
    split: float = math.nan


def scored(
    loaded: Loaded, order: str, method: str, seed: int, communities: Array, gamma: float | None, **facts: float
) -> Row:
    agreement, edges = scores.agreement(loaded.truth, communities), loaded.edges
    row = Row(
        graph=loaded.case.name,
        order=order,
        method=method,
        seed=seed,
        **asdict(agreement),
        communities=len(np.unique(communities)),
        largest_share=scores.largest_share(communities),
        modularity=scores.modularity(edges, communities),
        code_length=scores.code_length(edges, communities),
        disconnected=scores.disconnected(edges, communities),
        **facts,
    )
    if gamma is not None:
        row.objective = scores.constant_potts(edges, communities, gamma)
    return row


# Rivals ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """Results of rivals on a graph, with the best code length and the mean agreement of Infomap's runs."""

    rows: list[Row]
    code_length: float
    nmi: float
    modularity: float
    constant_potts: dict[float, float]


def reference(loaded: Loaded, result: Result, smoke: bool) -> Reference:
    seeds = RIVAL_SEEDS[:1] if smoke else RIVAL_SEEDS
    rows = [rival_row(loaded, rivals.INFOMAP, seed, result) for seed in seeds]
    leiden = rival_row(loaded, rivals.LEIDEN, 1, result)
    potts = {gamma: rival_row(loaded, rivals.leiden_cpm(gamma), 1, result) for gamma in GAMMAS}
    return Reference(
        [*rows, leiden, *potts.values()],
        min(row.code_length for row in rows),
        mean([row.nmi for row in rows]),
        leiden.modularity,
        {gamma: row.objective for gamma, row in potts.items()},
    )


def rival_row(loaded: Loaded, rival: Rival, seed: int, result: Result) -> Row:
    answer = rivals.ask(rival, loaded.merged, loaded.fingerprint, seed)
    row = scored(loaded, "given", rival.name, seed, answer.communities, rival.gamma)
    own = {"map-equation": row.code_length, "modularity": row.modularity, "cpm": row.objective}[rival.objective]
    row.reported_difference = abs(own - answer.quality) / max(abs(own), 1.0)
    return row


# outcore ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """Method with its resolution, which for the constant Potts model is absolute here."""

    method: str
    gamma: float | None = None

    @property
    def name(self) -> str:
        return self.method if self.gamma is None else f"{self.method} {self.gamma:g}"


def variants(methods: Sequence[str]) -> list[Variant]:
    found = []
    for method in methods:
        found += [Variant(method, gamma) for gamma in GAMMAS] if method == "cpm" else [Variant(method)]
    return found


def run(command: list[str], what: str) -> None:
    sample = running.run_once(Command(what, command))
    if not sample.ok:
        places.cannot_run(f"{what} failed:\n{sample.error}")


def build(loaded: Loaded, order: str, folder: Path) -> tuple[Path, list[str]]:
    """Build a graph with the nodes in an order; return it and the names of nodes in it."""
    names, source = loaded.graph.names, loaded.path
    if order != "given":
        source = folder / "edges.tsv"
        names = write_reordered(loaded.graph, ORDERS[order](loaded.graph), source)
    built = folder / "graph"
    run(subject.build_argv(source, built, places.fresh(folder / "work"), threads=1), "build")
    return built, names


def cluster(
    loaded: Loaded, order: str, variant: Variant, seed: int, built: Path, names: Sequence[str], folder: Path
) -> Row:
    output, report = folder / "communities", folder / "report.json"
    report.unlink(missing_ok=True)
    # The command takes the resolution in units of the mean weight of an arc.
    resolution = None if variant.gamma is None else variant.gamma / loaded.edges.mean_weight
    argv = subject.cluster_argv(
        built, output, folder, threads=1, method=variant.method, seed=seed, report=report, resolution=resolution
    )
    run(argv, f"{loaded.case.name}, {variant.name}")
    found = inputs.read_communities(output)
    communities = scores.numbered([found[name] for name in names])
    reported = json.loads(report.read_text())["communities"]
    row = scored(
        loaded,
        order,
        variant.name,
        seed,
        communities,
        variant.gamma,
        sweeps=reported.get("sweep_count", math.nan),
        scans=reported.get("scan_count", math.nan),
        cycles=reported.get("cycle_count", math.nan),
        split=reported.get("split_count", math.nan),
    )
    row.reported_difference = difference(reported, row)
    return row


def difference(reported: dict[str, float | None], row: Row) -> float:
    """Return the largest difference between figures reported by outcore and computed here."""
    own = {
        "modularity": row.modularity,
        "code_length": row.code_length,
        "community_count": row.communities,
        "largest_share": row.largest_share,
    }
    pairs = [(value, reported.get(name)) for name, value in own.items()]
    return max(abs(value - other) for value, other in pairs if other is not None)


# Bars ------------------------------------------------------------------------------------------------------------


@dataclass
class Ratios:
    """Ratios to rivals on all graphs, for the bars of means."""

    code_length: list[float] = field(default_factory=list)
    modularity: list[float] = field(default_factory=list)
    constant_potts: list[float] = field(default_factory=list)
    scans: list[float] = field(default_factory=list)
    one_cycle_scans: list[float] = field(default_factory=list)
    cycles: list[float] = field(default_factory=list)
    reported: float = 0
    rivals_reported: float = 0


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def worst(counts: Sequence[float]) -> float:
    """Return the largest count; nan if any is unknown or there is none."""
    return math.nan if not counts or any(math.isnan(count) for count in counts) else max(counts)


def ratio(value: float, bar: float) -> float:
    """Return the ratio to the figure of the rival; 1 if both are equal up to rounding."""
    return 1.0 if abs(value - bar) < 1e-9 else value / bar if bar else math.nan


def judge(result: Result, loaded: Loaded, variant: Variant, rows: list[Row], rival: Reference, ratios: Ratios) -> None:
    """Check the bars of one method on one graph, over all seeds and orders."""
    label = f"{loaded.case.name}, {variant.name}"
    result.check(f"{label}: disconnected communities", max(row.disconnected for row in rows), 0)
    ratios.reported = max(ratios.reported, *(row.reported_difference for row in rows))
    judged_by_method: dict[str, Callable[[], None]] = {
        "map-equation": lambda: judge_map(result, label, loaded, rows, rival, ratios),
        "modularity": lambda: judge_modularity(result, label, rows, rival, ratios),
        "cpm": lambda: judge_cpm(result, label, variant, rows, rival, ratios),
    }
    if variant.method not in judged_by_method:
        return
    judged_by_method[variant.method]()
    # A smaller graph is in memory, and scanned again for each of several starts.
    if loaded.edges.nodes + 2 * len(loaded.edges.sources) <= START_SIZE:
        return
    ratios.scans += [row.scans for row in rows]
    ratios.cycles += [row.cycles for row in rows]
    ratios.one_cycle_scans += [row.scans for row in rows if row.cycles == 1]


def judge_map(result: Result, label: str, loaded: Loaded, rows: list[Row], rival: Reference, ratios: Ratios) -> None:
    case = loaded.case
    if case.nmi_bar:
        result.check(f"{label}: NMI", min(row.nmi for row in rows), case.nmi_bar, ">=")
    if case.exact:
        worst = max((row.communities for row in rows), key=lambda count: abs(count - loaded.truth_count))
        result.check(f"{label}: communities", worst, loaded.truth_count, "==")
    if case.beats_infomap:
        result.check(f"{label}: mean NMI, Infomap's", mean([row.nmi for row in rows]), rival.nmi, ">=")
    if case.pair_f1_bar:
        result.check(f"{label}: F1 of pairs", min(row.pair_f1 for row in rows), case.pair_f1_bar, ">=")
    if case.largest_bar < 1:
        result.check(f"{label}: share of the largest", max(row.largest_share for row in rows), case.largest_bar)
    found = [ratio(row.code_length, rival.code_length) for row in rows]
    result.check(f"{label}: code length", max(found), CODE_LENGTH_BAR, unit="x Infomap")
    ratios.code_length.append(mean(found))


def judge_modularity(result: Result, label: str, rows: list[Row], rival: Reference, ratios: Ratios) -> None:
    found = [ratio(row.modularity, rival.modularity) for row in rows]
    result.check(f"{label}: modularity", min(found), MODULARITY_BAR, ">=", unit="x leidenalg")
    ratios.modularity.append(mean(found))


def judge_cpm(result: Result, label: str, variant: Variant, rows: list[Row], rival: Reference, ratios: Ratios) -> None:
    if variant.gamma is None:
        raise ValueError("the constant Potts model needs a resolution")
    found = [ratio(row.objective, rival.constant_potts[variant.gamma]) for row in rows]
    result.check(f"{label}: objective", min(found), CPM_BAR, ">=", unit="x leidenalg")
    ratios.constant_potts.append(mean(found))


def judge_all(result: Result, ratios: Ratios) -> None:
    means = (
        ("code length", ratios.code_length, CODE_LENGTH_MEAN_BAR, "<=", "x Infomap"),
        ("modularity", ratios.modularity, MODULARITY_MEAN_BAR, ">=", "x leidenalg"),
    )
    for name, found, bar, sense, unit in means:
        if found:
            result.check(f"all graphs: {name}, mean", mean(found), bar, sense, unit=unit)
    if ratios.constant_potts:
        found_mean = mean(ratios.constant_potts)
        result.check("all graphs: cpm, mean", found_mean, CPM_BAR, ">=", unit="x leidenalg", judged=False)
    if ratios.scans:
        result.check("scans", worst(ratios.scans), SCANS_BAR)
    if ratios.one_cycle_scans or any(math.isnan(cycles) for cycles in ratios.cycles):
        result.check("scans, one cycle", worst(ratios.one_cycle_scans), SCANS_ONE_CYCLE_BAR)
    result.check("difference of reported and computed figures", ratios.reported, REPORTED_BAR)
    result.check("difference of rivals' own and computed figures", ratios.rivals_reported, REPORTED_BAR)


# Tables ----------------------------------------------------------------------------------------------------------


HEADER = ["graph, order, method", "NMI", "worst", "ARI", "F1", "communities", "largest", "modularity", "code length"]
HEADER += ["objective", "scans"]

Stored = dict[str, object]


def by_order_and_method(rows: Sequence[Row]) -> list[list[Row]]:
    keys = dict.fromkeys((row.order, row.method) for row in rows)
    return [[row for row in rows if (row.order, row.method) == key] for key in keys]


def summary(rows: Sequence[Row]) -> Stored:
    """Return means over the seeds and the worst of figures with a bar, without unknown figures."""
    first = rows[0]
    stored: Stored = {"graph": first.graph, "order": first.order, "method": first.method, "seeds": len(rows)}
    for name in MEANS:
        stored[name] = mean([getattr(row, name) for row in rows])
    for extreme, (name, choose) in EXTREMES.items():
        stored[extreme] = choose([getattr(row, name) for row in rows])
    return {name: value for name, value in stored.items() if value == value}


MEANS = [name for name in Row.__annotations__ if name not in ("graph", "order", "method", "seed")]
EXTREMES: dict[str, tuple[str, Callable[[list[float]], float]]] = {
    "worst_nmi": ("nmi", min),
    "worst_modularity": ("modularity", min),
    "worst_code_length": ("code_length", max),
    "best_code_length": ("code_length", min),
    "worst_objective": ("objective", min),
    "worst_scans": ("scans", max),
}


def line(stored: Stored) -> list[str]:
    def middle(name: str, digits: int = 4) -> str:
        return f"{stored[name]:.{digits}f}" if name in stored else ""

    return [
        f"{stored['graph']}, {stored['order']}, {stored['method']}",
        middle("nmi"),
        middle("worst_nmi"),
        middle("ari"),
        middle("pair_f1"),
        middle("communities", 0),
        middle("largest_share", 3),
        middle("modularity", 5),
        middle("code_length"),
        middle("objective", 1),
        middle("scans", 1),
    ]


# The eval --------------------------------------------------------------------------------------------------------


def extend(parser: argparse.ArgumentParser) -> None:
    take_folder(parser)
    names = partial(str.split, sep=",")
    parser.add_argument("--methods", type=names, default=list(METHODS), help="some of %(default)s")
    parser.add_argument("--only", type=names, help="graphs, by name or part of it")
    parser.add_argument("--orders", type=names, help="some of given, random, degree, community")
    parser.add_argument("--seeds", type=int, help="number of seeds, from 1 (default: 5)")
    parser.add_argument("--list", action="store_true", help="list the graphs and exit")
    parser.add_argument("--rivals", action="store_true", help="run the rivals only")


def chosen_cases(options: argparse.Namespace) -> list[Case]:
    cases = CASES[options.scale]
    return [case for case in cases if not options.only or any(part in case.name for part in options.only)]


def evaluate(loaded: Loaded, orders: Sequence[str], chosen: Sequence[Variant], seeds: int, folder: Path) -> list[Row]:
    rows = []
    for order in orders:
        built, names = build(loaded, order, folder)
        for variant in chosen:
            print(f"  {loaded.case.name}, {order} order, {variant.name} ..", file=sys.stderr)
            rows += [cluster(loaded, order, variant, seed, built, names, folder) for seed in range(1, seeds + 1)]
        places.fresh(built)
        built.rmdir()
    return rows


def main() -> int:
    options = results.arguments("quality", "objectives against truth and rivals", repeats=1, extend=extend)
    cases = chosen_cases(options)
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    smoke = options.scale == "smoke"
    orders = options.orders or (["given", "random"] if smoke else ["given", *ORDERS])
    seeds = options.seeds or (1 if smoke else SEEDS)
    chosen = [] if options.rivals else variants(options.methods)
    restricted = options.only or options.orders or options.seeds or set(options.methods) != set(METHODS)
    scale = "partial" if restricted or options.rivals else options.scale
    places.require_space(places.GIB)
    folder = places.fresh(places.data_folder() / "quality" / "methods")
    graphs = folder_of_graphs(options)

    facts = {"graphs": [case.name for case in cases], "orders": orders, "seeds": seeds}
    result = Result("quality", "Q1, Q2, Q3, Q6", scale, dict(facts), part="methods")
    ratios, table = Ratios(), []
    for case in cases:
        loaded = load(case, graphs, folder)
        rival = reference(loaded, result, smoke)
        ratios.rivals_reported = max(ratios.rivals_reported, *(row.reported_difference for row in rival.rows))
        rows = evaluate(loaded, orders, chosen, seeds, folder)
        for variant in chosen:
            own = [row for row in rows if row.method == variant.name]
            judge(result, loaded, variant, own, rival, ratios)
        for same in by_order_and_method([*rival.rows, *rows]):
            stored = summary(same)
            result.rows.append(stored)
            table.append(line(stored))
    judge_all(result, ratios)
    places.fresh(folder)
    print("\n" + results.table(HEADER, table))
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
