"""Two copies of the command: the same bytes of every output, report and message for drawn jobs.

    python3 evals/before-after/bytes.py --before COMMAND [--after COMMAND] [--jobs 200] [--seed 1] [--keep FOLDER]

A job is a verb with drawn options, forms and endings on one of a few graphs. Both copies run it in folders of their own.
Compared are the exit status, what is printed, and every file that is written: whole, but for counters of time, memory and
bytes in reports and messages. A job that both refuse in the same words counts as equal, and is counted apart.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results

#: Fields of reports that depend on the machine, on the run, or on how records are sorted.
COUNTERS = re.compile(
    r"seconds|bytes|memory|version|started|finished|path|schema_hash|per_second|confidence|record_count|run_count|fan_in"
)
#: Times and amounts in messages, and lines of progress.
TIMES = re.compile(r"\d[\d.,]* ?(?:[kKMGT]i?B|B|ms|s|min|h)\b(?:/s)?")
ENDINGS = (".tsv", "", ".csv", ".jsonl", ".parquet", ".arrow")
METHODS = ("map-equation", "map-equation", "modularity", "cpm", "label-propagation", "components")
FORMATS = ("tsv", "csv", "jsonl", "parquet", "arrow", "mtx", "metis", "mci", "net", "graphml", "gexf")


def extend(parser: ArgumentParser) -> None:
    parser.add_argument("--before", type=Path, required=True, metavar="COMMAND")
    parser.add_argument("--after", type=Path, default=places.REPOSITORY / "target/release/outcore", metavar="COMMAND")
    parser.add_argument("--jobs", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the files of jobs that differ here")


def write_inputs(folder: Path) -> list[str]:
    """Write edge lists of several kinds; return their names."""
    chance = random.Random(7)
    names = ["a b", "#c", '"q"', "x,y", "ü", "long" * 12, " s", "t\\"]

    def planted(groups: int, size: int, share: float) -> list[tuple[int, int]]:
        nodes = groups * size
        edges = []
        for node in range(nodes):
            for _ in range(5):
                inside = chance.random() > share
                start = node // size * size if inside else 0
                edges.append((node, start + chance.randrange(size if inside else nodes)))
        return edges

    def save(name: str, rows: list[str]) -> None:
        (folder / name).write_text("\n".join(rows) + "\n")

    save("plain.tsv", [f"{a}\t{b}" for a, b in planted(40, 25, 0.2)])
    weighted = planted(60, 30, 0.3)
    save("weighted.tsv", [f"n{a}\tn{b}\t{chance.choice((1, 0.5, 2, 3.25, 0.123))}" for a, b in weighted])
    odd = [names[node] if node < len(names) else f"o{node}" for node in range(400)]

    def quote(name: str) -> str:
        return '"' + name.replace('"', '""') + '"' if name[:1] in ' "#' else name

    save("odd.tsv", [f"{quote(odd[a])}\t{quote(odd[b])}\t{chance.randrange(1, 9)}" for a, b in planted(8, 50, 0.1)])
    users = [f"{a % 200}\t{b}\t{chance.randrange(1, 6)}" for a, b in planted(20, 30, 0.2)]
    save("users.tsv", ["user_id\titem_id\trating", *users])
    shutil.copy(places.REPOSITORY / "tests/graphs/karate.tsv", folder / "karate.tsv")
    for graph, column in (("plain.tsv", ""), ("weighted.tsv", "n"), ("karate.tsv", "")):
        rows = [f"{column}{node}\t{chance.randrange(30)}" for node in range(1, 34)]
        save(graph.replace(".tsv", ".earlier.tsv"), rows)
        save(graph.replace(".tsv", ".priority.tsv"), [f"{column}{node}\t{node % 7}.5" for node in range(1, 34)])
    return ["plain.tsv", "weighted.tsv", "odd.tsv", "users.tsv", "karate.tsv"]


class Draw:
    """Options of one job."""

    def __init__(self, seed: int, graphs: list[str]) -> None:
        self.chance = random.Random(seed)
        self.graph = self.chance.choice(graphs)
        self.ending = self.chance.choice(ENDINGS)

    def maybe(self, share: float, *words: str) -> list[str]:
        return list(words) if self.chance.random() < share else []

    def one(self, *values: str) -> str:
        return self.chance.choice(values)

    def file(self, name: str) -> str:
        return name + self.chance.choice(ENDINGS)

    def cluster(self, source: str) -> list[str]:
        method = self.one(*METHODS)
        words = ["cluster", source, "--method", method, "--threads", self.one("1", "2", "3")]
        words += ["--memory", self.one("64MiB", "96MiB", "256MiB", "1GiB")]
        has_levels = method in METHODS[:4]
        if method in ("modularity", "cpm"):
            share = 1.0 if method == "cpm" else 0.5
            words += self.maybe(share, "--resolution", self.one("0.5", "0.05", "1,0.5", "0.1,0.2,1"))
        if self.graph in ("weighted.tsv", "odd.tsv"):
            words += self.maybe(0.25, "--min-weight", self.one("0.5", "1", "0.5,1", "1,2,3"))
        words += self.maybe(0.15, "--directed") if not source.endswith(".graph") and method != "components" else []
        # What contradicts the forms below is drawn seldom: most jobs write something.
        form = self.one("rows", "levels", "nodes", "nodes", "infomap")
        if form == "rows":
            words += ["--rows", self.one("community", "pair")]
        elif form == "levels" and has_levels:
            words += ["--levels", self.one("columns", "tree")]
        elif form == "nodes":
            words += self.maybe(0.3, "--member-weights") + self.maybe(0.3, "--flow") + self.maybe(0.3, "--output-header")
            words += self.maybe(0.25, "--stability", "--trials", "3") if has_levels else []
        else:
            words += self.maybe(0.2, "--levels", "columns") + self.maybe(0.1, "--flow")
        if self.chance.random() < 0.3:
            words += ["--min-size", self.one("2", "5", "30"), *self.maybe(0.5, "--small", "singletons")]
        words += self.maybe(0.1, "--max-size", "20") + self.maybe(0.1, "--well-connected")
        for option, share in (("representatives", 0.2), ("keep", 0.1), ("drop", 0.1), ("summary", 0.25)):
            words += self.maybe(share, f"--{option}", self.file(option))
        words += self.maybe(0.5, "--heights", self.file("heights")) if method == "components" else []
        stem = self.graph.removesuffix(".tsv")
        if stem in ("plain", "weighted", "karate"):
            words += self.maybe(0.25, "--match", f"{stem}.earlier.tsv")
            words += self.maybe(0.15, "--prefer", self.one("first", f"{stem}.priority.tsv"))
        ending = {"rows": self.one("", ".tsv"), "infomap": self.one(".tree", ".ftree", ".clu")}.get(form)
        output = "out" + (self.one(*ENDINGS) if ending is None else ending)
        return [*words, "-o", output, "--report", self.one("report.json", "report.json", "report.html")]

    def export(self) -> list[str]:
        words = ["export", "g.graph", "-o", "edges." + self.one(*FORMATS)]
        words += self.maybe(0.5, "--communities", "c.tsv") + self.maybe(0.3, "--nodes", self.file("nodes"))
        words += self.maybe(0.25, "--quotient") + self.maybe(0.25, "--members", self.one("0", "1,2"))
        return [*words, "--memory", self.one("64MiB", "256MiB"), "--threads", self.one("1", "2")]

    def compare(self) -> list[str]:
        words = ["compare", "c.tsv", self.one("d.csv", "d.csv", "c.tsv"), *self.maybe(0.7, "-o", self.file("overlaps"))]
        words += self.maybe(0.6, "--moved", self.file("moved")) + self.maybe(0.4, "--output-header")
        return [*words, "--report", self.one("report.json", "report.html"), "--memory", self.one("96MiB", "1GiB")]

    def score(self) -> list[str]:
        words = ["score", "g.graph", "c.tsv", *self.maybe(0.5, "--against", "d.csv"), *self.maybe(0.5, "--json")]
        return words

    def commands(self) -> list[list[str]]:
        """Return the commands of the job; the last ones read what the first ones write."""
        direct = self.cluster(self.graph)
        if self.chance.random() < 0.55:
            return [direct]
        build = ["build", self.graph, "-o", "g.graph", *self.maybe(0.3, "--directed"), "--report", "build.json"]
        build += self.maybe(0.3, "--self-loops", "keep")
        first = ["cluster", "g.graph", "-o", "c.tsv", "--method", "modularity"]
        second = ["cluster", "g.graph", "-o", "d.csv", "--method", self.one("label-propagation", "map-equation")]
        verb: Callable[[], list[str]] = self.chance.choice(
            (self.export, self.export, self.compare, self.score, lambda: self.cluster("g.graph"))
        )
        return [build, first, second, verb()]


def without_counters(value: object) -> object:
    """Return a report without the fields that differ from run to run."""
    if isinstance(value, dict):
        return {key: without_counters(of) for key, of in value.items() if not COUNTERS.search(key)}
    if isinstance(value, list):
        return [without_counters(of) for of in value]
    return value


def content(path: Path) -> object:
    """Return what must be equal in a file."""
    if path.is_dir():
        return {inner.name: content(inner) for inner in sorted(path.iterdir())}
    if path.suffix == ".json":
        return json.dumps(without_counters(json.loads(path.read_text())))
    if path.suffix == ".html":
        # Drawings have times; what else they show is in the table beside them and in the report as JSON.
        return TIMES.sub("T", re.sub(r"(?s)<svg.*?</svg>|<script.*?</script>", "", path.read_text()))
    return path.read_bytes()


def run(command: Path, inputs: Path, folder: Path, commands: list[list[str]]) -> tuple[int, list[object]]:
    """Run a job in a fresh folder; return the last exit status, and what must be equal."""
    shutil.copytree(inputs, places.fresh(folder), dirs_exist_ok=True)
    found: list[object] = []
    before = {path.name for path in folder.iterdir()}
    status = 0
    for words in commands:
        done = subprocess.run([command, *words], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=600)
        printed = done.stdout if "--json" not in words else b""
        status = done.returncode
        found.append((status, TIMES.sub("T", printed.decode(errors="replace"))))
        found.append(TIMES.sub("T", re.sub(r"\s+", " ", done.stderr.decode(errors="replace"))))
    # What a job that failed keeps for the next one differs by times.
    new = sorted(path.name for path in folder.iterdir() if path.name not in before and path.name[0] != ".")
    found.extend((name, content(folder / name)) for name in new)
    return status, found


def main() -> int:
    options = results.arguments("before-after", "whether two copies write the same", repeats=1, extend=extend)
    programs = [options.before.resolve(), options.after.resolve()]
    for program in programs:
        if not program.exists():
            places.cannot_run(f"there is no `{program.name}`")
    folder = places.fresh(places.data_folder() / "before-after-bytes")
    inputs = folder / "inputs"
    inputs.mkdir(parents=True)
    graphs = write_inputs(inputs)
    differing, refused = 0, 0
    for job in range(options.jobs):
        commands = Draw(1000 * options.seed + job, graphs).commands()
        both = [run(program, inputs, folder / f"copy-{at}", commands) for at, program in enumerate(programs)]
        refused += both[0][0] != 0
        if both[0] != both[1]:
            differing += 1
            print(f"job {job}: " + " && ".join(" ".join(words) for words in commands), flush=True)
            for one, other in zip(both[0][1], both[1][1], strict=False):
                if one != other:
                    print(f"  before: {str(one)[:400]}\n  after:  {str(other)[:400]}", flush=True)
            if options.keep:
                for at in (0, 1):
                    shutil.copytree(folder / f"copy-{at}", options.keep / f"job-{job}-{at}", dirs_exist_ok=True)
    result = results.Result("before-after", "L3", options.scale, {"seed": options.seed}, part="bytes")
    result.rows.append({"jobs": options.jobs, "refused": refused, "differing": differing})
    places.fresh(folder)
    result.check("jobs that differ", differing, 0)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
