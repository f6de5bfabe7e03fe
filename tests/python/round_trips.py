"""Small random graphs, and how other programs write them: the writers of `test_round_trip.py`.

A writer takes a graph and a path without an ending, writes a file, and returns a `Written`: the path, the edges that
the format carries, and what the nodes are called in it. What a format does not carry (weights in a list of neighbors,
loops in graph6) is not expected back. The same seed gives the same graph.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import igraph
import networkx
import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse

Pair = tuple[str, str]
Weights = dict[Pair, float]

COUNT = 200
#: Names of nodes by kind; a graph has names of one kind.
KINDS: dict[str, Callable[[int], str]] = {
    "integers": str,
    "sparse integers": lambda at: str(7 + at * 1_000_003),
    "words": lambda at: f"n{at}",
    "leading zeros": lambda at: f"{at:03}" if at % 2 else str(at),
    "spaces": lambda at: f"{_WORDS[at % 7]} {_WORDS[at // 7]}" + (" Jr" if at % 5 == 4 else ""),
    "quotes": lambda at: (f'{at}, "x"', f"a,{at}", f"b;{at}", f"c'{at}", f"d|{at}")[at % 5],
    "tabs": lambda at: (f"a\t{at}", f"{at}\tb", f"c{at}")[at % 3],
    "lines": lambda at: (f"a\n{at}", f"b{at}", f"c\r\n{at}")[at % 3],
    "unicode": lambda at: ("Zoë", "北京", "naïve", "Ω", "😀", "ﬁ", "مرحبا")[at % 7] + str(at // 7),
    "odd": lambda at: _ODD[at % len(_ODD)] + str(at // len(_ODD) or ""),
}
_WORDS = ["Ann", "Bob", "New", "Los", "San", "Ray", "Lee"]
_ODD = [
    "NA", "None", "#ai", "C#", "50%", "%x", "*", "-", "->", "true", "1e5", "inf", "+", "0x1F", "//x", ":z", "@w", "!v",
    "[u]", "{k}", "nan", "null", "#ml", "<b>", "&c", "a=b", "x:y", "\\n", "--", ".", "~", "$1", "1.50",
]  # fmt: skip


@dataclass(frozen=True)
class Made:
    """Random graph: `edges` in the order of writing, with repeats and loops; `names` of all nodes."""

    seed: int
    kind: str
    names: list[str]
    edges: list[tuple[int, int, float]]
    weighted: bool

    @property
    def pairs(self) -> list[Pair]:
        return [(self.names[source], self.names[target]) for source, target, _ in self.edges]

    @property
    def weights(self) -> list[float]:
        return [weight for *_, weight in self.edges]

    @property
    def simple(self) -> list[tuple[int, int, float]]:
        """Edges whose repeats are summed, the smaller index first."""
        sums: dict[tuple[int, int], float] = {}
        for source, target, weight in self.edges:
            key = (min(source, target), max(source, target))
            sums[key] = sums.get(key, 0.0) + weight
        return [(*key, weight) for key, weight in sums.items()]

    @property
    def are_numbers(self) -> bool:
        return self.kind.endswith("integers")


def make(seed: int) -> Made:
    chance = random.Random(seed)
    kind = list(KINDS)[seed % len(KINDS)]
    weighted = seed // len(KINDS) % 3 < 2
    whole = seed // len(KINDS) % 3 == 1
    count = chance.randrange(3, 41)
    names = [KINDS[kind](at) for at in range(count)]
    edges = []
    # A fifth of the nodes stay alone.
    alone = set(chance.sample(range(count), count // 5))
    ends = [node for node in range(count) if node not in alone]
    for _ in range(chance.randrange(2, 3 * count)):
        source, target = chance.choice(ends), chance.choice(ends)
        weight = (chance.randrange(1, 9) if whole else chance.randrange(1, 80) / 8) if weighted else 1.0
        edges.append((source, target, float(weight)))
        if chance.random() < 0.1:
            edges.append((target, source, float(weight)))
    return Made(seed, kind, names, edges, weighted)


@dataclass(frozen=True)
class Written:
    """File of a graph: its edges between node numbers, and names of the nodes (several where the format has several).

    `nodes` are the numbers of the nodes in the file, or None where those without an edge may be in it or not.
    """

    path: Path
    edges: list[tuple[int, int, float]]
    names: list[list[str]]
    nodes: list[int] | None = None

    def meanings(self) -> Iterable[tuple[Weights, set[str], set[str]]]:
        """Yield for each way to name the nodes: edges with sums of weights, nodes that are in the file, that may be."""
        for names in self.names:
            sums: Weights = {}
            for source, target, weight in self.edges:
                key = (min(names[source], names[target]), max(names[source], names[target]))
                sums[key] = sums.get(key, 0.0) + weight
            least = {name for pair in sums for name in pair} if self.nodes is None else {names[at] for at in self.nodes}
            yield sums, least, set(names) if self.nodes is None else least


Writer = Callable[[Made, Path], "Written | None"]


@dataclass(frozen=True)
class Row:
    """A writer, and for which kinds of names its files must be read rather than refused."""

    write: Writer
    read: frozenset[str] = frozenset()


PLAIN = frozenset({"integers", "sparse integers", "words", "leading zeros", "unicode"})
SPACED = PLAIN | {"spaces"}
QUOTED = SPACED | {"quotes", "tabs"}
#: Names in tables; those with line ends are refused there.
ANY = frozenset(KINDS) - {"lines"}
WRITERS: dict[str, Row] = {}


def writer(name: str, read: Iterable[str] = ()) -> Callable[[Writer], Writer]:
    """Register a writer under a name; `read` are the kinds of names of which its files must be read."""

    def add(write: Writer) -> Writer:
        assert name not in WRITERS, name
        WRITERS[name] = Row(write, frozenset(read))
        return write

    return add


def unweighted(edges: Iterable[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    return [(source, target, 1.0) for source, target, _ in edges]


def numbers(made: Made, first: int = 0) -> list[str]:
    return [str(first + at) for at in range(len(made.names))]


# --- networkx


def of_networkx(made: Made, *, loops: bool = True, multi: bool = False) -> Any:
    graph: Any = networkx.MultiGraph() if multi else networkx.Graph()
    nodes: list[Any] = [int(name) for name in made.names] if made.are_numbers else made.names
    graph.add_nodes_from(nodes)
    for source, target, weight in made.edges if multi else made.simple:
        if loops or source != target:
            facts = {"weight": int(weight) if weight.is_integer() and made.seed % 2 else weight}
            graph.add_edge(nodes[source], nodes[target], **(facts if made.weighted else {}))
    return graph


def kept(made: Made, *, weights: bool = True, loops: bool = True) -> list[tuple[int, int, float]]:
    """Return the edges of a graph of networkx: repeats are one edge, of weight 1 without weights."""
    edges = [edge for edge in made.simple if loops or edge[0] != edge[1]]
    return edges if weights and made.weighted else unweighted(edges)


def _networkx_lists() -> None:
    def edgelist(data: Any, delimiter: str, multi: bool = False) -> Writer:
        def write(made: Made, path: Path) -> Written:
            networkx.write_edgelist(of_networkx(made, multi=multi), path, data=data, delimiter=delimiter)
            edges = made.edges if multi else kept(made, weights=data is not False)
            if multi and (data is False or not made.weighted):
                edges = unweighted(edges)
            return Written(path, edges, [made.names])

        return write

    writer("networkx edgelist")(edgelist(True, " "))
    writer("networkx edgelist tabs")(edgelist(True, "\t"))
    writer("networkx edgelist without data", PLAIN)(edgelist(False, " "))
    writer("networkx edgelist without data, tabs", SPACED)(edgelist(False, "\t"))
    writer("networkx edgelist without data, commas", SPACED)(edgelist(False, ","))
    writer("networkx edgelist weight")(edgelist(["weight"], " "))
    writer("networkx edgelist weight, tabs")(edgelist(["weight"], "\t"))
    writer("networkx edgelist multigraph", PLAIN)(edgelist(False, " ", multi=True))

    @writer("networkx weighted edgelist")
    def _(made: Made, path: Path) -> Written:
        networkx.write_weighted_edgelist(of_networkx(made), path)
        return Written(path, kept(made), [made.names])

    @writer("networkx weighted edgelist commas")
    def _(made: Made, path: Path) -> Written:
        networkx.write_weighted_edgelist(of_networkx(made), path, delimiter=",")
        return Written(path, kept(made), [made.names])

    def lists(write_file: Any, **options: Any) -> Writer:
        def write(made: Made, path: Path) -> Written:
            write_file(of_networkx(made), path, **options)
            edges = kept(made, weights=write_file is networkx.write_multiline_adjlist)
            return Written(path, edges, [made.names], list(range(len(made.names))))

        return write

    writer("networkx adjlist")(lists(networkx.write_adjlist))
    writer("networkx adjlist commas")(lists(networkx.write_adjlist, delimiter=","))
    writer("networkx adjlist tabs")(lists(networkx.write_adjlist, delimiter="\t"))
    writer("networkx multiline adjlist")(lists(networkx.write_multiline_adjlist))
    writer("networkx multiline adjlist commas")(lists(networkx.write_multiline_adjlist, delimiter=","))


def _networkx_documents() -> None:
    everything = lambda made: list(range(len(made.names)))  # noqa: E731

    @writer("networkx GML", PLAIN)
    def _(made: Made, path: Path) -> Written:
        networkx.write_gml(of_networkx(made), path.with_suffix(".gml"))
        return Written(path.with_suffix(".gml"), kept(made), [made.names, numbers(made)], everything(made))

    @writer("networkx GraphML", SPACED)
    def _(made: Made, path: Path) -> Written:
        networkx.write_graphml_xml(of_networkx(made), path.with_suffix(".graphml"))
        return Written(path.with_suffix(".graphml"), kept(made), [made.names], everything(made))

    @writer("networkx GraphML, another ending")
    def _(made: Made, path: Path) -> Written:
        networkx.write_graphml_xml(of_networkx(made), path, prettyprint=False)
        return Written(path, kept(made), [made.names], everything(made))

    @writer("networkx GEXF", SPACED)
    def _(made: Made, path: Path) -> Written:
        networkx.write_gexf(of_networkx(made), path.with_suffix(".gexf"))
        return Written(path.with_suffix(".gexf"), kept(made), [made.names], everything(made))

    @writer("networkx Pajek", PLAIN)
    def _(made: Made, path: Path) -> Written:
        graph = networkx.relabel_nodes(of_networkx(made), str)
        networkx.write_pajek(graph, path.with_suffix(".net"))
        return Written(path.with_suffix(".net"), kept(made), [made.names, numbers(made, 1)], everything(made))

    @writer("networkx sparse6")
    def _(made: Made, path: Path) -> Written:
        networkx.write_sparse6(of_networkx(made), path, header=made.seed % 2 == 0)
        return Written(path, kept(made, weights=False), [numbers(made)], everything(made))

    @writer("networkx graph6")
    def _(made: Made, path: Path) -> Written:
        networkx.write_graph6(of_networkx(made, loops=False), path, header=made.seed % 2 == 0)
        return Written(path, kept(made, weights=False, loops=False), [numbers(made)], everything(made))

    def document(data: Callable[[Any], Any], **options: Any) -> Writer:
        def write(made: Made, path: Path) -> Written:
            path.with_suffix(".json").write_text(json.dumps(data(of_networkx(made)), **options))
            return Written(path.with_suffix(".json"), kept(made), [made.names, numbers(made)], everything(made))

        return write

    writer("networkx node-link JSON")(document(networkx.node_link_data))
    writer("networkx node-link JSON, lines")(document(networkx.node_link_data, indent=1))
    writer("networkx adjacency JSON")(document(networkx.adjacency_data))
    writer("networkx Cytoscape JSON")(document(networkx.cytoscape_data))

    @writer("networkx matrix of pandas")
    def _(made: Made, path: Path) -> Written:
        networkx.to_pandas_adjacency(of_networkx(made)).to_csv(path)
        return Written(path, kept(made), [made.names], everything(made))

    @writer("networkx edges of pandas", QUOTED)
    def _(made: Made, path: Path) -> Written:
        networkx.to_pandas_edgelist(of_networkx(made)).to_csv(path, index=False)
        return Written(path, kept(made), [made.names])


# --- igraph


def of_igraph(made: Made, *, simple: bool = False) -> Any:
    edges = kept(made, loops=False) if simple else made.edges
    graph = igraph.Graph(n=len(made.names), edges=[edge[:2] for edge in edges])
    graph.vs["name"] = made.names
    if made.weighted:
        graph.es["weight"] = [weight for *_, weight in edges]
    return graph


def _igraph() -> None:
    def write_with(method: str, ending: str, rename: Callable[[Made], list[list[str]]], **options: Any) -> Writer:
        weights = options.pop("keeps_weights", True)
        simple = options.pop("simple", False)
        isolated = options.pop("isolated", True)

        def write(made: Made, path: Path) -> Written:
            path = path.with_suffix(ending)
            getattr(of_igraph(made, simple=simple), method)(str(path), **options)
            edges = kept(made, loops=False) if simple else made.edges
            nodes = list(range(len(made.names))) if isolated else None
            return Written(path, edges if weights else unweighted(edges), rename(made), nodes)

        return write

    def of_names(made: Made) -> list[list[str]]:
        return [made.names]

    def from_zero(made: Made) -> list[list[str]]:
        return [numbers(made)]

    def either(made: Made) -> list[list[str]]:
        return [made.names, numbers(made), numbers(made, 1)]

    def ids(made: Made) -> list[list[str]]:
        return [made.names, [f"n{at}" for at in range(len(made.names))]]

    writer("igraph edgelist", ANY)(write_with("write_edgelist", ".txt", from_zero, keeps_weights=False, isolated=False))
    # igraph refuses names that are not of ASCII letters in these two.
    ascii_names = PLAIN - {"unicode"}
    writer("igraph NCOL", ascii_names)(write_with("write_ncol", ".ncol", of_names, isolated=False))
    writer("igraph NCOL, another ending")(write_with("write_ncol", ".txt", of_names, isolated=False))
    writer("igraph LGL", ascii_names)(write_with("write_lgl", ".lgl", of_names, simple=True))
    writer("igraph LGL without isolated nodes")(_lgl_connected)
    writer("igraph GraphML", SPACED)(write_with("write_graphml", ".graphml", ids))
    writer("igraph GraphMLz")(write_with("write_graphmlz", ".graphmlz", ids))
    writer("igraph GML", PLAIN)(write_with("write_gml", ".gml", either))
    writer("igraph Pajek", PLAIN)(write_with("write_pajek", ".net", either))
    writer("igraph LEDA")(write_with("write_leda", ".lgr", either, names="name", weights=None, keeps_weights=False))
    writer("igraph DOT")(write_with("write_dot", ".dot", either))
    writer("igraph pickle")(write_with("write_pickle", ".pickle", either))
    writer("igraph adjacency")(write_with("write_adjacency", ".txt", from_zero, keeps_weights=False))

    @writer("igraph DIMACS")
    def _(made: Made, path: Path) -> Written:
        graph = of_igraph(made)
        capacity = made.weights
        graph.write_dimacs(str(path.with_suffix(".dimacs")), source=0, target=1, capacity=capacity)
        return Written(path.with_suffix(".dimacs"), made.edges, [numbers(made, 1)])


def _lgl_connected(made: Made, path: Path) -> Written:
    """Write LGL without nodes that have no edge: each line is a name, or a name and a weight."""
    graph = of_igraph(made, simple=True)
    graph.write_lgl(str(path), isolates=False)
    return Written(path, kept(made, loops=False), [made.names])


# --- scipy and numpy


def _matrices() -> None:
    def matrix_market(field: str, symmetry: str, comment: str = "", ending: str = ".mtx") -> Writer:
        def write(made: Made, path: Path) -> Written | None:
            edges = made.simple
            if field == "integer" and any(weight % 1 for *_, weight in edges):
                return None
            size = len(made.names)
            rows, columns, values = zip(*edges, strict=True)
            matrix = scipy.sparse.coo_array((values, (rows, columns)), shape=(size, size))
            if symmetry != "general":
                upper = scipy.sparse.triu(matrix, 1)
                matrix = (matrix + upper.T).tocoo()
            if field == "integer":
                matrix = matrix.astype(int)
            target = path.with_suffix(ending)
            with target.open("wb") as file:
                scipy.io.mmwrite(file, matrix, comment=comment, field=field, symmetry=symmetry)
            edges = unweighted(edges) if field == "pattern" else edges
            return Written(target, edges, [numbers(made, 1)], list(range(size)))

        return write

    for field in ("real", "integer", "pattern"):
        for symmetry in ("general", "symmetric"):
            writer(f"scipy {field} {symmetry}", ANY)(matrix_market(field, symmetry))
    writer("scipy with a comment", ANY)(matrix_market("real", "symmetric", "made by a test\nin two lines"))
    writer("scipy, another ending", ANY)(matrix_market("real", "general", ending=".txt"))

    def dense(made: Made) -> Any:
        matrix = np.zeros((len(made.names), len(made.names)))
        for source, target, weight in made.simple:
            matrix[source, target] = matrix[target, source] = weight
        return matrix

    def refused(ending: str, save: Callable[[Path, Any], object]) -> Writer:
        def write(made: Made, path: Path) -> Written:
            save(path.with_suffix(ending), dense(made))
            return Written(path.with_suffix(ending), made.simple, [numbers(made), numbers(made, 1)])

        return write

    def mm_array(path: Path, matrix: Any) -> None:
        with path.open("wb") as file:
            scipy.io.mmwrite(file, matrix)

    writer("scipy array")(refused(".mtx", mm_array))
    writer("scipy npz")(
        refused(".npz", lambda path, matrix: scipy.sparse.save_npz(path, scipy.sparse.csr_array(matrix)))
    )
    writer("scipy MATLAB")(refused(".mat", lambda path, matrix: scipy.io.savemat(path, {"m": matrix})))
    writer("scipy Harwell-Boeing")(
        refused(".hb", lambda path, matrix: scipy.io.hb_write(path, scipy.sparse.csc_matrix(matrix)))
    )
    writer("numpy npy")(refused(".npy", np.save))
    writer("numpy text matrix")(refused(".txt", np.savetxt))
    writer("numpy text matrix, commas")(refused(".csv", lambda path, matrix: np.savetxt(path, matrix, "%g", ",")))

    def pairs(name: Callable[[int], str], **options: Any) -> Writer:
        def write(made: Made, path: Path) -> Written:
            rows = [edge if made.weighted else edge[:2] for edge in made.edges]
            np.savetxt(path, np.array(rows, dtype=float), **options)
            return Written(path, made.edges, [[name(at) for at in range(len(made.names))]])

        return write

    # Fractions as names are a question.
    writer("numpy text edges")(pairs(lambda at: f"{at:.18e}"))
    writer("numpy text edges, short", ANY)(pairs(str, fmt="%g", delimiter="\t"))
    writer("numpy text edges with a header")(pairs(str, fmt="%g", header="source target weight"))


# --- pandas


HEADERS = [
    ("source", "target", "weight"),
    ("from", "to", "value"),
    ("Source", "Target", "Weight"),
    ("node1", "node2", "strength"),
    ("Person A", "Person B", "Meetings"),
    ("x", "y", "w"),
]


def frame(made: Made, header: tuple[str, str, str] = HEADERS[0], integers: bool = True) -> pd.DataFrame:
    """Return the edges as a data frame, with numbers for names that are numbers."""
    source, target = ([pair[end] for pair in made.pairs] for end in (0, 1))
    if made.are_numbers and integers:
        source, target = [int(name) for name in source], [int(name) for name in target]  # type: ignore[misc]
    columns: dict[str, Any] = {header[0]: source, header[1]: target}
    if made.weighted:
        whole = all(weight.is_integer() for weight in made.weights) and made.seed % 2 == 0
        columns[header[2]] = [int(weight) for weight in made.weights] if whole else made.weights
    return pd.DataFrame(columns)


def table_writer(save: Callable[[pd.DataFrame, Path, Made], object], ending: str = "", known: bool = True) -> Writer:
    """Return a writer of a data frame; `known` takes only names of columns that have a meaning."""

    def write(made: Made, path: Path) -> Written:
        header = HEADERS[made.seed % 4] if known else HEADERS[made.seed % len(HEADERS)]
        path = path.with_name(path.name + ending)
        save(frame(made, header), path, made)
        return Written(path, made.edges, [made.names])

    return write


def _to_csv(known: bool = True, **options: Any) -> Writer:
    return table_writer(lambda table, path, _: table.to_csv(path, **options), known=known)


def _pandas_text() -> None:
    separators = {"comma": ",", "tab": "\t", "semicolon": ";", "space": " ", "pipe": "|"}
    for word, separator in separators.items():
        for index in (False, True):
            for header in (True, False):
                options = {"sep": separator, "index": index, "header": header}
                name = f"pandas {word}, {'index' if index else 'no index'}, {'header' if header else 'no header'}"
                kinds = {"comma": QUOTED, "space": PLAIN}.get(word, SPACED)
                writer(name, kinds if header and not index else ())(_to_csv(**options))

    def to_csv(**options: Any) -> Writer:
        return _to_csv(known=False, **{"index": False, **options})

    writer("pandas other headers")(to_csv())
    writer("pandas other headers, tabs")(to_csv(sep="\t"))
    writer("pandas all quoted")(to_csv(quoting=csv.QUOTE_ALL))
    writer("pandas all quoted, tabs")(to_csv(quoting=csv.QUOTE_ALL, sep="\t"))
    writer("pandas all quoted, spaces")(to_csv(quoting=csv.QUOTE_ALL, sep=" "))
    writer("pandas all quoted, no header")(to_csv(quoting=csv.QUOTE_ALL, header=False))
    writer("pandas text quoted")(to_csv(quoting=csv.QUOTE_NONNUMERIC))
    writer("pandas single quotes")(_single_quotes)
    writer("pandas escaped")(to_csv(quoting=csv.QUOTE_NONE, escapechar="\\"))
    writer("pandas escaped quotes")(to_csv(doublequote=False, escapechar="\\"))
    writer("pandas decimal comma, semicolon")(to_csv(sep=";", decimal=","))
    writer("pandas decimal comma, tabs")(to_csv(sep="\t", decimal=","))
    writer("pandas decimal comma, commas")(to_csv(decimal=","))
    writer("pandas CRLF")(to_csv(lineterminator="\r\n"))
    writer("pandas CR")(to_csv(lineterminator="\r"))
    writer("pandas byte-order mark")(to_csv(encoding="utf-8-sig"))
    writer("pandas UTF-16")(to_csv(encoding="utf-16"))
    writer("pandas exponents")(to_csv(float_format="%.6e"))
    for compression, ending in {"gzip": ".gz", "bz2": ".bz2", "xz": ".xz", "zip": ".zip", "tar": ".tar"}.items():
        save = lambda table, path, _: table.to_csv(path, index=False)  # noqa: E731
        writer(f"pandas {compression}", PLAIN if compression not in ("zip", "tar") else ())(
            table_writer(save, ".csv" + ending)
        )
    writer("pandas fixed width")(_fixed_width(index=True))
    writer("pandas fixed width, no index")(_fixed_width(index=False))
    writer("pandas weight first")(
        table_writer(lambda table, path, _: table[table.columns[::-1]].to_csv(path, index=False))
    )
    writer("pandas two parts")(table_writer(_two_parts))


def _single_quotes(made: Made, path: Path) -> Written:
    """Write all fields in single quotes, which may also be taken for parts of the names."""
    frame(made).to_csv(path, index=False, quoting=csv.QUOTE_ALL, quotechar="'")
    return Written(path, made.edges, [made.names, [f"'{name}'" for name in made.names]])


def _fixed_width(index: bool) -> Writer:
    def write(made: Made, path: Path) -> Written | None:
        # Tabs and line ends are written as escapes, which are other names.
        if made.kind in ("tabs", "lines"):
            return None
        path.write_text(frame(made).to_string(index=index))
        return Written(path, made.edges, [made.names])

    return write


def _two_parts(table: pd.DataFrame, path: Path, _: Made) -> None:
    """Write a file that repeats its header in the middle, as `cat` makes it."""
    half = len(table) // 2
    path.write_text(table[:half].to_csv(index=False) + table[half:].to_csv(index=False))


def _pandas_tables() -> None:
    def save(method: str, ending: str, **options: Any) -> Writer:
        return table_writer(lambda table, path, _: getattr(table, method)(path, **options), ending)

    writer("pandas Parquet", ANY)(save("to_parquet", ".parquet"))
    writer("pandas Parquet with index", ANY)(save("to_parquet", ".parquet", index=True))
    writer("pandas Feather", ANY)(save("to_feather", ".feather"))
    writer("pandas ORC")(save("to_orc", ".orc"))
    writer("pandas JSON lines")(save("to_json", ".jsonl", orient="records", lines=True))
    writer("pandas JSON records")(save("to_json", ".json", orient="records"))
    writer("pandas JSON split")(save("to_json", ".json", orient="split"))
    writer("pandas JSON columns")(save("to_json", ".json"))
    writer("pandas HTML")(save("to_html", ".html"))
    writer("pandas XML")(save("to_xml", ".xml", parser="etree"))
    writer("pandas pickle")(save("to_pickle", ".pkl"))
    writer("pandas Stata")(table_writer(lambda table, path, _: _short(table).to_stata(path), ".dta"))
    writer("pandas Parquet, other headers")(
        table_writer(lambda table, path, _: table.to_parquet(path), ".parquet", known=False)
    )
    writer("pandas Parquet, categories", ANY)(
        table_writer(lambda table, path, _: _categories(table).to_parquet(path), ".parquet")
    )


def _short(table: pd.DataFrame) -> pd.DataFrame:
    return table.rename(columns=lambda name: name.replace(" ", "_"))


def _categories(table: pd.DataFrame) -> pd.DataFrame:
    return table.astype(dict.fromkeys(table.columns[:2], "category"))


for _register in (_networkx_lists, _networkx_documents, _igraph, _matrices, _pandas_text, _pandas_tables):
    _register()
