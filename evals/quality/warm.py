"""A clustering that starts from the communities of the graph before it changed (bar N3).

    python3 evals/quality/warm.py [--scale smoke|full] [--repeats 3]

A planted graph is clustered; then 1.5 % of its edges change, half of them removed and half new: everywhere, or only
around one community in twenty. The changed graph is clustered afresh, and with `--initial`. Bars: at least 95 % of the
communities without a changed edge between two members keep exactly their members, and as many of those that the fresh
clustering leaves alone; the objective is within 0.2 % of the fresh one; it takes at most a quarter of the processor
time of the fresh clustering, all stages included. The unchanged graph keeps at least 99 % of its communities.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

SIZES = {"full": (800_000, 10_000_000), "smoke": (8_000, 100_000)}
MIXING, CHANGED, PLACES = 0.4, 0.015, 0.05
METHODS = ("map-equation", "modularity")
KEPT_BAR, UNCHANGED_BAR, OBJECTIVE_BAR, TIME_BAR = 0.95, 0.99, 0.002, 0.25

Labels = dict[str, int]
Edge = tuple[str, str]


def run(argv: list[str]) -> float:
    """Run a command; return its processor time in seconds."""
    sample = running.run_once(Command(argv[1], argv))
    if not sample.ok:
        places.cannot_run(f"{argv[1]} failed:\n{sample.error}")
    return sample.user_seconds + sample.system_seconds


def changed(source: Path, truth: Labels, target: Path, in_places: bool, random: Random) -> list[Edge]:
    """Write the edges with some removed and as many new ones; return all of these."""
    members = defaultdict(list)
    for node, community in truth.items():
        members[community].append(node)
    chosen = set(random.sample(sorted(members), int(PLACES * len(members))) if in_places else members)
    nodes = [node for community in sorted(chosen) for node in members[community]]
    lines = source.read_text().splitlines()
    ends = [line.split("\t")[:2] for line in lines]
    near = [at for at, (a, b) in enumerate(ends) if truth[a] in chosen or truth[b] in chosen]
    count = int(CHANGED * len(lines) / 2)
    gone = set(random.sample(near, count))
    new = []
    for _ in range(count):
        a = random.choice(nodes)
        new.append((a, random.choice(nodes if random.random() < MIXING else members[truth[a]])))
    with target.open("w") as file:
        file.writelines(f"{a}\t{b}\n" for at, (a, b) in enumerate(ends) if at not in gone)
        file.writelines(f"{a}\t{b}\n" for a, b in new)
    return [(ends[at][0], ends[at][1]) for at in sorted(gone)] + new


def kept(before: Labels, after: Labels) -> set[int]:
    """Return the communities that have exactly the same members as before."""
    sizes: dict[int, int] = defaultdict(int)
    for community in after.values():
        sizes[community] += 1
    members = defaultdict(list)
    for node, community in before.items():
        members[community].append(node)
    return {
        community
        for community, nodes in members.items()
        if len({after.get(node) for node in nodes}) == 1 and sizes[after.get(nodes[0], -1)] == len(nodes)
    }


class Folder:
    """Folder of one eval, with the clusterings in it."""

    def __init__(self, path: Path) -> None:
        self.path = places.fresh(path)

    def cluster(self, graph: Path, name: str, method: str, *options: str) -> tuple[float, Labels, dict[str, float]]:
        """Cluster a graph; return the processor time, the communities and the report of them."""
        output, report = self.path / f"{name}.tsv", self.path / f"{name}.json"
        work = places.fresh(self.path / "work")
        argv = subject.cluster_argv(graph, output, work, method=method)
        seconds = run([*argv, f"--report={report}", *options])
        labels = {node: int(community) for node, community in inputs.read_communities(output).items()}
        return seconds, labels, json.loads(report.read_text())["communities"]

    def build(self, edges: Path, name: str) -> Path:
        """Build a graph."""
        graph = self.path / name
        run([str(subject.outcore()), "build", str(edges), "-o", str(graph), "-q"])
        return graph


def share(part: set[int], whole: set[int]) -> float:
    """Return the share of a set in another, 1 if that is empty."""
    return len(part & whole) / len(whole) if whole else 1.0


def main() -> int:
    options = results.arguments("quality", "a clustering that starts from the communities before a change", repeats=3)
    folder = Folder(places.data_folder() / "warm")
    nodes, edges = SIZES[options.scale]
    given = {"nodes": nodes, "edges": edges, "mixing": MIXING, "changed": CHANGED}
    result = results.Result("quality", "N3", options.scale, given, part="warm")
    source, truth_file = folder.path / "edges.tsv", folder.path / "truth.tsv"
    sizes = ["--nodes", str(nodes), "--edges", str(edges), "--mixing", str(MIXING), "--seed", "1"]
    run([str(subject.outcore()), "generate", "planted", *sizes, "-o", str(source), "--truth", str(truth_file)])
    truth = {node: int(community) for node, community in inputs.read_communities(truth_file).items()}
    before = folder.build(source, "before.graph")
    is_judged = options.scale == "full"
    for where in ("everywhere", "in places"):
        target = folder.path / "changed.tsv"
        edits = changed(source, truth, target, where == "in places", Random(1))
        after = folder.build(target, f"{where}.graph".replace(" ", "-"))
        for method in METHODS:
            print(f"  {method}, changed {where} ..", file=sys.stderr)
            _, old, _ = folder.cluster(before, "old", method)
            initial = f"--initial={folder.path / 'old.tsv'}"
            ratios = []
            for _ in range(options.repeats):
                fresh_seconds, fresh, fresh_report = folder.cluster(after, "fresh", method)
                warm_seconds, warm, warm_report = folder.cluster(after, "warm", method, initial)
                ratios.append(warm_seconds / fresh_seconds)
            _, same, _ = folder.cluster(before, "same", method, initial)
            everything = set(old.values())
            touched = {old[a] for a, b in edits if old.get(a) == old.get(b)}
            figures = ["code_length" if method == "map-equation" else "modularity"]
            is_value, fresh_value = (report[figures[0]] for report in (warm_report, fresh_report))
            worse = (is_value / fresh_value - 1) * (1 if method == "map-equation" else -1)
            row = {
                "method": method,
                "changed": where,
                "communities": len(everything),
                "untouched": len(everything - touched),
                "untouched kept": round(share(kept(old, warm), everything - touched), 5),
                "untouched kept afresh": round(share(kept(old, fresh), everything - touched), 5),
                "left alone afresh": len(kept(old, fresh)),
                "left alone afresh, kept": round(share(kept(old, warm), kept(old, fresh)), 5),
                "kept": round(share(kept(old, warm), everything), 5),
                "kept without a change": round(share(kept(old, same), everything), 5),
                f"{figures[0]} afresh": fresh_value,
                figures[0]: is_value,
                "processor time": round(statistics.median(ratios), 4),
                "processor seconds": [round(warm_seconds, 2), round(fresh_seconds, 2)],
            }
            result.rows.append(row)
            label = f"{method}, changed {where}"
            for name in ("untouched kept", "left alone afresh, kept"):
                result.check(f"{label}: {name}", row[name], KEPT_BAR, ">=", judged=is_judged)
            result.check(f"{label}: kept without a change", row["kept without a change"], UNCHANGED_BAR, ">=")
            result.check(f"{label}: objective, worse by", round(worse, 6), OBJECTIVE_BAR)
            result.check(f"{label}: time, x fresh", row["processor time"], TIME_BAR, judged=is_judged)
    places.fresh(folder.path)
    for row in result.rows:
        print(json.dumps(row))
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
