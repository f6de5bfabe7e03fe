"""Exported graphs in the programs that they are for: Infomap, mcl, METIS, and the schema of GEXF that Gephi publishes.

Each must read every node and edge with its weight; what a format cannot hold must be refused. networkx, igraph, scipy,
pandas and polars read exports in `tests/python/test_export.py`.

    apt-get install mcl metis && pip install infomap lxml
    python3 evals/outputs/programs.py --gexf FOLDER     # gexf.rng, viz.rng and dynamics.rng of GEXF 1.3
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, subject

#: Difference that a program may make, as mcl keeps six digits.
EXACT, SIX_DIGITS = 0.0, 1e-5

Edges = dict[tuple[str, str], float]


class Case:
    """A graph on disk, and its edges by name."""

    def __init__(self, folder: Path, name: str, edges: Path, options: list[str]) -> None:
        self.name, self.folder, self.directed = name, folder, "--directed" in options
        self.graph = folder / f"{name}.graph"
        outcore("build", edges, "-o", self.graph, *options)
        self.export("tsv")
        self.names = (folder / f"{name}.names").read_text().splitlines()[1:]
        lines = (line.split("\t") for line in (folder / f"{name}.tsv").read_text().splitlines())
        self.edges = {self.key(a, b): float(rest[0]) if rest else 1.0 for a, b, *rest in lines}

    def export(self, ending: str) -> Path | None:
        """Export the graph; None if it is refused."""
        path = self.folder / f"{self.name}.{ending}"
        done = subprocess.run(
            [subject.outcore(), "export", self.graph, "-o", path, "--nodes", self.folder / f"{self.name}.names", "-q"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 2, 3):
            places.cannot_run(done.stderr)
        return path if done.returncode == 0 else None

    def key(self, source: str, target: str) -> tuple[str, str]:
        return (source, target) if self.directed or source <= target else (target, source)

    def same(self, program: str, found: Edges, within: float) -> bool:
        """Print and return whether a program has all edges."""
        known = self.edges
        worst = max(abs(found.get(ends, float("inf")) - weight) for ends, weight in known.items())
        ok = len(found) == len(known) and worst <= within
        print(f"{self.name:10} {program:14} {'same' if ok else 'DIFFERENT'}: {len(found)} edges, off by {worst:.2g}")
        return ok


def outcore(*args: object) -> None:
    run(subject.outcore(), *args, "-q")


def run(*argv: object) -> str:
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        places.cannot_run(f"{argv}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def infomap(case: Case) -> bool:
    import infomap

    path = case.export("net")
    reader = infomap.Infomap(silent=True, directed=case.directed)
    reader.read_file(str(path))
    named = [reader.get_name(number + 1) for number in range(len(case.names))] == case.names
    links = reader.get_links(data="weight")
    found = {case.key(case.names[a - 1], case.names[b - 1]): weight for a, b, weight in links}
    return case.same("Infomap", found, EXACT) and named


def mcl(case: Case) -> bool:
    text, matrix = case.export("abc"), case.export("mci")
    dump, tab, loaded = (case.folder / f"{case.name}.{ending}" for ending in ("dump", "tab", "loaded"))
    mirror = [] if case.directed else ["--stream-mirror"]
    run("mcxload", "-abc", text, "-write-tab", tab, "-o", loaded, *mirror)
    run("mcxdump", "-imx", loaded, "-tab", tab, "-o", dump)
    rows = [line.split("\t") for line in dump.read_text().splitlines()]
    ok = case.same("mcl --abc", {case.key(a, b): float(weight) for a, b, weight in rows}, SIX_DIGITS)
    if matrix is None:
        print(f"{case.name:10} {'mcl matrix':14} refused")
        return ok and case.directed
    run("mcxdump", "-imx", matrix, "-o", dump)
    rows = [line.split("\t") for line in dump.read_text().splitlines()]
    found = {case.key(case.names[int(a)], case.names[int(b)]): float(weight) for a, b, weight in rows}
    return case.same("mcl matrix", found, SIX_DIGITS) and ok


def metis(case: Case) -> bool:
    path = case.export("metis")
    if path is None:
        is_right = case.directed or any(weight % 1 for weight in case.edges.values())
        print(f"{case.name:10} {'METIS':14} refused")
        return is_right
    counts = re.search(r"#Vertices: (\d+), #Edges: (\d+)", run("gpmetis", path, 2))
    found = counts and tuple(map(int, counts.groups()))
    print(f"{case.name:10} {'METIS':14} {found} nodes and edges; graphchk accepts it")
    run("graphchk", path)
    return found == (len(case.names), len(case.edges))


def gexf(case: Case, schema: Path) -> bool:
    from lxml import etree

    rules = etree.RelaxNG(etree.parse(schema / "gexf.rng"))
    ok = rules.validate(etree.parse(case.export("gexf")))
    print(f"{case.name:10} {'schema of GEXF':14} {'valid' if ok else rules.error_log.last_error}")
    return bool(ok)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gexf", type=Path, required=True, help="folder of the schema of GEXF 1.3")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        weighted = folder / "weighted.tsv"
        outcore("generate", "planted", "--nodes", 500, "--edges", 3000, "--weights", "-o", weighted)
        karate = places.REPOSITORY / "tests/graphs/karate.tsv"
        ok = True
        for name, edges, more in (
            ("karate", karate, []),
            ("weighted", weighted, []),
            ("directed", weighted, ["--directed"]),
        ):
            case = Case(folder, name, edges, more)
            ok &= all([infomap(case), mcl(case), metis(case), gexf(case, options.gexf)])
    print("all read" if ok else "NOT ALL READ")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
