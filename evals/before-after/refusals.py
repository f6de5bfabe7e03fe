"""Two copies of the command: the same refusals for want of memory, and the same least memory in plans.

    python3 evals/before-after/refusals.py --before COMMAND [--after COMMAND] [--jobs 2000] [--seed 1] [--share 0.05]

Most jobs are plans of a drawn size with tight limits: sizes, methods, limits, threads and forms. A share of them cluster one of
a few graphs, at a limit of about what they need. Compared are the exit status and every word of the message; of plans that are
accepted, the least memory, which must be equal, memory and disk of every stage, which must not fall, and times, which must be
within a factor of two.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results

METHODS = ("map-equation", "modularity", "cpm", "label-propagation", "components")
LEAST = ("memory_bytes_min", "cluster_memory_bytes_min")
#: Nodes and edges of the graphs that are clustered.
GRAPHS = ((900_000, 1_000_000), (2_000_000, 2_500_000))


def extend(parser: ArgumentParser) -> None:
    parser.add_argument("--before", type=Path, required=True, metavar="COMMAND")
    parser.add_argument("--after", type=Path, default=places.REPOSITORY / "target/release/outcore", metavar="COMMAND")
    parser.add_argument("--jobs", type=int, default=2000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--share", type=float, default=0.05, metavar="X", help="share of jobs that cluster a graph")


def build_graphs(command: Path, folder: Path) -> list[str]:
    """Build graphs of random edges, without and with directions; return their names."""
    chance = random.Random(7)
    names = []
    for nodes, edges in GRAPHS:
        text = folder / "edges.tsv"
        with text.open("w") as to:
            to.writelines(f"{chance.randrange(nodes)}\t{chance.randrange(nodes)}\n" for _ in range(edges))
        for words in ([], ["--directed"]):
            name = f"{nodes}{'-directed' * len(words)}.graph"
            subprocess.run([command, "build", text.name, "-o", name, "-q", *words], cwd=folder, check=True)
            names.append(name)
        text.unlink()
    return names


class Draw:
    """One job."""

    def __init__(self, seed: int, graphs: list[str], share: float) -> None:
        self.chance = random.Random(seed)
        self.graphs = graphs
        self.share = share

    def maybe(self, share: float, *words: str) -> list[str]:
        return list(words) if self.chance.random() < share else []

    def one(self, *values: str) -> str:
        return self.chance.choice(values)

    def clustering(self) -> list[str]:
        """Return options of a clustering that decide its memory."""
        method = self.one(*METHODS)
        words = ["--method", method]
        if method in ("modularity", "cpm"):
            words += ["--resolution", self.one("0.5", "1")]
        if method == "label-propagation":
            words += self.maybe(0.3, "--attenuation", self.one("0", "0.1")) + self.maybe(0.3, "--max-visits", "5")
        if method == "components":
            words += self.maybe(0.3, "--min-weight", self.one("0.5,0.25", "0.9,0.8,0.7,0.6"))
        else:
            words += self.maybe(0.2, "--max-size", "100")
        if method in METHODS[:3]:
            words += self.maybe(0.25, "--levels", "columns") + self.maybe(0.15, "--trials", "3", "--stability")
        return words + self.maybe(0.2, "--well-connected")

    def outputs(self) -> list[str]:
        words = self.maybe(0.15, "--summary", "summary.tsv") + self.maybe(0.15, "--keep", "keep")
        words += self.maybe(0.15, "--member-weights") + self.maybe(0.1, "--rows", "pair") + self.maybe(0.1, "--flow")
        return words + self.maybe(0.15, "--prefer", "first")

    def command(self) -> list[str]:
        threads = ["--threads", self.one("1", "2", "3", "16")]
        if self.chance.random() < self.share:
            memory = ["--memory", f"{int(64 * 2 ** self.chance.uniform(0, 2.2))}MiB"]
            graph = self.one(*self.graphs)
            return ["cluster", graph, *self.clustering(), *self.outputs(), *threads, *memory, "-o", "out.tsv", "-q"]
        nodes = int(10 ** self.chance.uniform(2, 9.6))
        edges = min(int(nodes * 10 ** self.chance.uniform(-0.2, 2)) + 1, 1 << 43)
        # Around what labels of some forms take.
        bytes_a_node = 2 ** self.chance.uniform(1, 6.5)
        memory = max(64, int(nodes * bytes_a_node / (1 << 20)))
        size = ["--nodes", str(nodes), "--edges", str(edges), *self.maybe(0.3, "--name-bytes", "20")]
        size += self.maybe(0.3, "--weighted") + self.maybe(0.25, "--directed") + self.maybe(0.1, "--normalize", "self-score")
        job = ["--build"] if self.chance.random() < 0.1 else self.clustering() + self.outputs()
        return ["plan", *size, *job, *threads, "--memory", f"{memory}MiB", "--json"]


def run(command: Path, folder: Path, words: list[str]) -> tuple[int, str, str]:
    done = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=900)
    (folder / "out.tsv").unlink(missing_ok=True)
    return done.returncode, done.stderr if done.returncode else "", done.stdout


def differences(before: tuple[int, str, str], after: tuple[int, str, str], is_plan: bool) -> list[str]:
    """Return what must not differ, but does."""
    if before[:2] != after[:2]:
        return [f"before: {before[:2]}", f"after:  {after[:2]}"]
    if before[0] != 0 or not is_plan:
        return []
    one, other = json.loads(before[2]), json.loads(after[2])
    found = [f"{key}: {one.get(key)} {other.get(key)}" for key in LEAST if one.get(key) != other.get(key)]
    pairs = [("plan", one, other), *zip((row["stage"] for row in one["stages"]), one["stages"], other["stages"], strict=False)]
    for stage, first, second in pairs:
        for key in ("memory_bytes", "disk_bytes", "peak_memory_bytes"):
            if second.get(key, 0) < first.get(key, 0):
                found.append(f"{stage}, {key}: {first[key]} {second[key]}")
        if not 0.5 <= (second["seconds"] + 1e-3) / (first["seconds"] + 1e-3) <= 2.0:
            found.append(f"{stage}, seconds: {first['seconds']} {second['seconds']}")
    return found


def main() -> int:
    options = results.arguments("before-after", "whether two copies refuse the same", repeats=1, extend=extend)
    programs = [options.before.resolve(), options.after.resolve()]
    for program in programs:
        if not program.exists():
            places.cannot_run(f"there is no `{program.name}`")
    folder = places.fresh(places.data_folder() / "before-after-refusals")
    folder.mkdir(parents=True, exist_ok=True)
    graphs = build_graphs(programs[0], folder) if options.share > 0 else []
    differing, refused = 0, 0
    for job in range(options.jobs):
        words = Draw(10_000 * options.seed + job, graphs, options.share).command()
        before, after = (run(program, folder, words) for program in programs)
        refused += before[0] == 4
        if found := differences(before, after, words[0] == "plan"):
            differing += 1
            print(f"job {job}: {' '.join(words)}", *found, sep="\n  ", flush=True)
    result = results.Result("before-after", "L3", options.scale, {"seed": options.seed}, part="refusals")
    result.rows.append({"jobs": options.jobs, "refused": refused, "differing": differing})
    places.fresh(folder)
    result.check("jobs that differ", differing, 0)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
