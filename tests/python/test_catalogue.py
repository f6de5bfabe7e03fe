"""Catalogue of unusual and wrong edges: each gives the intended communities, or is refused with its reason."""

from __future__ import annotations

import datetime
import decimal
import gzip
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import igraph
import networkx
import numpy as np
import outcore
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse
from outcore import FileError, InputError, UsageError

SOURCES, TARGETS, WEIGHTS = ["a", "b", "d"], ["b", "c", "e"], [1.0, 2.0, 1.0]
PAIRS = list(zip(SOURCES, TARGETS, strict=True))
# Communities of these edges, and of the same edges with numbers for names.
FOUND = "a b c|d e"
NUMBERED = "1 2 3|4 5"
USAGE = "cannot read edges from"


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"source": SOURCES, "target": TARGETS, **columns})


def table(**columns: Any) -> pa.Table:
    return pa.table({"source": SOURCES, "target": TARGETS, **columns})


def weighed(weight: object) -> pd.DataFrame:
    return frame(weight=[1, weight, 1])


def square(middle: object) -> list[list[object]]:
    return [[0, middle], [middle, 0]]


def of_networkx(weight: object) -> networkx.Graph:
    graph = networkx.Graph(PAIRS)
    graph.add_edge("a", "b", weight=weight)
    return graph


def of_igraph(**attributes: list[object]) -> igraph.Graph:
    graph = igraph.Graph([(0, 1), (1, 2), (3, 4)])
    for name, values in attributes.items():
        (graph.vs if name == "name" else graph.es)[name] = values
    return graph


def failing() -> Iterator[tuple[str, str]]:
    yield "a", "b"
    raise LookupError("no more rows")


def written(name: str, content: bytes) -> str:
    Path(name).write_bytes(content)
    return name


def as_parquet(edges: pa.Table) -> str:
    pa.parquet.write_table(edges, "edges.parquet")
    return "edges.parquet"


# Sources of edges that are read, with the expected communities.
FINDS: dict[str, tuple[Callable[[], Any], str]] = {
    "data frame": (lambda: frame(weight=WEIGHTS), FOUND),
    "data frame with an index": (lambda: frame().set_index("source"), FOUND),
    "data frame with its index as a column": (lambda: frame().reset_index(), FOUND),
    "data frame of categories": (lambda: frame().astype("category"), FOUND),
    "data frame with numbers for columns": (lambda: pd.DataFrame(PAIRS), FOUND),
    "data frame in another order": (lambda: frame(weight=WEIGHTS)[["weight", "target", "source"]], FOUND),
    "data frame with zero weight": (lambda: weighed(0), "a b|c|d e"),
    "data frame with nullable numbers": (
        lambda: pd.DataFrame({"source": [1, 2, 4], "target": [2, 3, 5]}, dtype="Int64"),
        NUMBERED,
    ),
    "polars": (lambda: pl.DataFrame({"source": SOURCES, "target": TARGETS}), FOUND),
    "query of polars": (lambda: pl.LazyFrame({"source": SOURCES, "target": TARGETS}), FOUND),
    "table": (lambda: table(weight=WEIGHTS), FOUND),
    "table with zeros in a name": (lambda: pa.table({"source": ["a\0"], "target": ["b"]}), "a\0 b"),
    "dictionary of columns": (lambda: {"source": SOURCES, "target": TARGETS, "weight": WEIGHTS}, FOUND),
    "tuples": (lambda: PAIRS, FOUND),
    "lists": (lambda: [[*pair, 1] for pair in PAIRS], FOUND),
    "generator": (lambda: (pair for pair in PAIRS), FOUND),
    "numbers": (lambda: [(1, 2), (2, 3), (4, 5)], NUMBERED),
    "numbers of numpy": (lambda: [(np.int64(1), np.int64(2)), (np.int64(2), np.int64(3)), (4, 5)], NUMBERED),
    "numbers beyond 64 bits": (lambda: [(2**64, 2**70)], f"{2**70} {2**64}"),
    "leading zeros": (lambda: [("01", "1"), ("001", "2")], "001 2|01 1"),
    "numbers with points for names": (lambda: [(1.5, 2)], "1.5 2"),
    "tuples as names": (lambda: [((1, 2), (3, 4))], "(1, 2) (3, 4)"),
    "weights as text": (lambda: [("a", "b", "1.5"), ("b", "c", "2")], "a b c"),
    "weights as decimals": (lambda: [("a", "b", decimal.Decimal("1.5"))], "a b"),
    "data frame with weights as text": (lambda: frame(weight=["1", "2", "3"]), FOUND),
    "data frame with weights as decimals": (lambda: frame(weight=[decimal.Decimal(1)] * 3), FOUND),
    "a node with itself": (lambda: [("a", "a"), ("b", "c")], "a|b c"),
    "tab in a name": (lambda: [("a", "b\tc")], "a b\tc"),
    "matrix": (lambda: np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), "0 1|2"),
    "matrix of zeros": (lambda: np.zeros((3, 3)), "0|1|2"),
    "matrix of truths": (lambda: np.array(square(1), dtype=bool), "0 1"),
    "matrix of half precision": (lambda: np.array(square(1), dtype=np.float16), "0 1"),
    "masked matrix": (lambda: np.ma.masked_array(square(1), mask=square(1)), "0|1"),
    "sparse matrix": (lambda: scipy.sparse.csr_array(np.array(square(1))), "0 1"),
    "sparse matrix without entries": (lambda: scipy.sparse.csr_array((3, 3)), "0|1|2"),
    "sparse matrix of one side": (lambda: scipy.sparse.csr_array(np.array([[0, 1], [0, 0]])), "0 1"),
    "networkx": (lambda: networkx.Graph(PAIRS), FOUND),
    "networkx without edges": (lambda: networkx.empty_graph(3), "0|1|2"),
    "networkx with edges again": (lambda: networkx.MultiGraph(PAIRS + PAIRS), FOUND),
    "networkx with one weight": (lambda: of_networkx(2), FOUND),
    "networkx of tuples": (lambda: networkx.grid_2d_graph(1, 2), "(0, 0) (0, 1)"),
    "igraph": (of_igraph, "0 1 2|3 4"),
    "igraph with names": (lambda: of_igraph(name=["a", "b", "c", "d", "e"]), FOUND),
    "path": (lambda: written("edges.tsv", b"a\tb\nb\tc\nd\te\n"), FOUND),
    "path of pathlib": (lambda: Path(written("edges.tsv", b"a\tb\nb\tc\nd\te\n")), FOUND),
    "packed path": (lambda: written("edges.tsv", gzip.compress(b"a\tb\nb\tc\nd\te\n")), FOUND),
    "file of R": (lambda: written("edges.txt", b'"from" "to"\n"1" "a" "b"\n"2" "b" "c"\n"3" "d" "e"\n'), FOUND),
    "file with spaces behind commas": (lambda: written("edges.csv", b"a, b\nb, c\nd, e\n"), FOUND),
    "Parquet": (lambda: as_parquet(table(weight=WEIGHTS)), FOUND),
}

# Sources of edges that are refused, with the exception and a part of its message.
REFUSES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "data frame with a missing name": (lambda: frame(source=["a", None, "d"]), InputError, "source has no name"),
    "data frame with NaN for a name": (lambda: frame(source=["a", np.nan, "d"]), InputError, "source has no name"),
    "data frame with numbers that were whole": (
        lambda: frame(source=[1.0, np.nan, 2.0]),
        InputError,
        "column `source` is Float64",
    ),
    "data frame with times for names": (
        lambda: frame(source=pd.to_datetime(["2020-01-01"] * 3)),
        InputError,
        "is Timestamp",
    ),
    "data frame with truths for names": (lambda: frame(source=[True, False, True]), InputError, "is Boolean"),
    "data frame with names of all types": (lambda: frame(source=["a", 1, 2.5]), Exception, "source"),
    "data frame with NaN for a weight": (lambda: weighed(np.nan), InputError, "the table:2:3: weight is null"),
    "data frame with a negative weight": (lambda: weighed(-1), InputError, "weight is negative"),
    "data frame with an infinite weight": (lambda: weighed(np.inf), InputError, "weight is infinite"),
    "data frame with weights as words": (lambda: frame(weight=["1", "two", "3"]), InputError, "weight is not a number"),
    "data frame with weights as truths": (lambda: frame(weight=[True] * 3), InputError, "a weight is a number"),
    "data frame with weights as days": (lambda: frame(weight=[datetime.date(2020, 1, 1)] * 3), InputError, "is Date32"),
    "data frame of one column": (lambda: frame()[["source"]], InputError, "1 columns"),
    "data frame of nothing": (pd.DataFrame, InputError, "0 columns"),
    "data frame without rows": (lambda: frame().iloc[:0], InputError, "no edges"),
    "data frame with a column twice": (
        lambda: pd.DataFrame([["a", "b", "c"]], columns=["x", "x", "y"]),
        ValueError,
        "Duplicate column",
    ),
    "data frame that is a matrix": (
        lambda: pd.DataFrame(square(1), index=["a", "b"], columns=["a", "b"]),
        InputError,
        "is a matrix",
    ),
    "data frame of nodes": (
        lambda: pd.DataFrame({"Id": [1, 2], "Label": ["a", "b"]}),
        UsageError,
        "is a table of nodes",
    ),
    "column of a data frame": (lambda: pd.Series(SOURCES), UsageError, USAGE),
    "query of one column": (lambda: pl.LazyFrame({"source": SOURCES}), InputError, "1 columns"),
    "polars with a null": (
        lambda: pl.DataFrame({"source": ["a", None], "target": ["b", "c"]}),
        InputError,
        "source has no name",
    ),
    "polars with lists": (
        lambda: pl.DataFrame({"source": [["a"]], "target": ["b"]}),
        InputError,
        "names are text or whole numbers",
    ),
    "column of a table": (lambda: pa.chunked_array([SOURCES]), UsageError, USAGE),
    "table with nulls alone": (lambda: pa.table({"source": pa.nulls(3), "target": TARGETS}), InputError, "is Null"),
    "dictionary of neighbors": (lambda: {"a": ["b", "c"]}, UsageError, "name no source and target: `a`"),
    "no rows": (lambda: [], UsageError, USAGE),
    "rows of one name": (lambda: [("a",)], UsageError, USAGE),
    "rows of four fields": (lambda: [("a", "b", 1, 2)], UsageError, USAGE),
    "weight missing": (lambda: [("a", "b", 1), ("b", "c")], InputError, "the iterable:2:3: this row has 2 fields"),
    "one weight too many": (lambda: [("a", "b"), ("b", "c", 1)], InputError, "this row has 3 fields"),
    "name missing": (lambda: [("a", None)], InputError, "the iterable:1:2: a name is missing"),
    "NaN for a name": (lambda: [("a", "b"), ("b", float("nan"))], InputError, "the iterable:2:2: a name is missing"),
    "NA of pandas for a name": (lambda: [("a", pd.NA)], InputError, "a name is missing"),
    "empty name": (lambda: [("a", "")], InputError, "target has no name"),
    "line end in a name": (lambda: [("a", "b\nc")], InputError, "name contains a line end"),
    "bytes for names": (lambda: [(b"a", b"b")], InputError, "a name is `bytes`"),
    "name beyond 64 KiB": (lambda: [("a", "x" * 65_537)], InputError, "name is longer than 64 KiB"),
    "no weight": (lambda: [("a", "b", None)], InputError, "weight is not a number"),
    "text for a weight": (lambda: [("a", "b", "much")], InputError, "weight is not a number"),
    "attributes for a weight": (lambda: [("a", "b", {"weight": 2})], InputError, "weight is not a number"),
    "complex weight": (lambda: [("a", "b", 1j)], InputError, "weight is not a number"),
    "weight NaN": (lambda: [("a", "b", float("nan"))], InputError, "weight is NaN"),
    "weight infinite": (lambda: [("a", "b", float("inf"))], InputError, "weight is infinite"),
    "weight beyond all floats": (lambda: [("a", "b", 10**400)], InputError, "weight is infinite"),
    "weight negative": (lambda: [("a", "b", -1)], InputError, "weight is negative"),
    "row that is text": (lambda: [("a", "b"), "cd"], InputError, "each row must be a tuple, not `str`"),
    "row that is nothing": (lambda: [("a", "b"), None], InputError, "each row must be a tuple, not `NoneType`"),
    "lines of text": (lambda: ["a b", "b c"], FileError, "cannot open `a b`"),
    "iterable that fails": (failing, LookupError, "no more rows"),
    "number": (lambda: 5, UsageError, USAGE),
    "nothing": (lambda: None, UsageError, USAGE),
    "bytes": (lambda: b"edges.tsv", UsageError, USAGE),
    "open text": (lambda: io.StringIO("a\tb\n"), UsageError, USAGE),
    "open bytes": (lambda: io.BytesIO(b"a\tb\n"), UsageError, USAGE),
    "paths and tuples": (lambda: ["edges.tsv", ("a", "b")], UsageError, USAGE),
    "matrix that is not square": (lambda: np.zeros((2, 3)), UsageError, USAGE),
    "array of one dimension": (lambda: np.array([1, 2, 3]), UsageError, USAGE),
    "array of three dimensions": (lambda: np.zeros((2, 2, 2)), UsageError, USAGE),
    "matrix of nothing": (lambda: np.zeros((0, 0)), InputError, "the matrix has no rows"),
    "matrix of text": (lambda: np.array([["a", "b"], ["b", "c"]]), InputError, "the matrix holds `<U1`"),
    "matrix of objects": (lambda: np.array([["a", "b"], ["b", "c"]], dtype=object), InputError, "holds `object`"),
    "matrix of complex numbers": (lambda: np.array(square(1j)), InputError, "holds `complex128`"),
    "matrix with NaN": (lambda: np.array(square(np.nan)), InputError, "weight is NaN"),
    "matrix with an infinite entry": (lambda: np.array(square(np.inf)), InputError, "weight is infinite"),
    "matrix with a negative entry": (lambda: np.array(square(-1)), InputError, "weight is negative"),
    "sparse matrix that is not square": (lambda: scipy.sparse.csr_array((2, 3)), UsageError, USAGE),
    "sparse matrix of complex numbers": (
        lambda: scipy.sparse.csr_array(np.array(square(1j))),
        InputError,
        "holds `complex128`",
    ),
    "sparse matrix with a negative entry": (
        lambda: scipy.sparse.csr_array(np.array(square(-1))),
        InputError,
        "weight is negative",
    ),
    "networkx of nothing": (networkx.Graph, InputError, "the graph has no nodes"),
    "networkx with a weight of text": (lambda: of_networkx("much"), InputError, "weight is not a number"),
    "networkx without a weight": (lambda: of_networkx(None), InputError, "weight is not a number"),
    "networkx with weight NaN": (lambda: of_networkx(float("nan")), InputError, "weight is NaN"),
    "networkx with a negative weight": (lambda: of_networkx(-1), InputError, "weight is negative"),
    "networkx with 1 and '1'": (lambda: networkx.Graph([(1, "1")]), InputError, "the same name as text"),
    "igraph of nothing": (igraph.Graph, InputError, "the graph has no nodes"),
    "igraph with a name twice": (
        lambda: of_igraph(name=["a", "a", "b", "c", "d"]),
        InputError,
        "the same name as text",
    ),
    "igraph without a weight": (lambda: of_igraph(weight=[1, None, 1]), InputError, "weight is not a number"),
    "igraph with weight NaN": (lambda: of_igraph(weight=[1, float("nan"), 1]), InputError, "weight is NaN"),
    "path to nothing": (lambda: "missing.tsv", FileError, "cannot open `missing.tsv`"),
    "path to a directory": (lambda: ".", FileError, "is a directory"),
    "path that is empty": (lambda: "", UsageError, "is empty"),
    "path with a zero": (lambda: "a\0b", FileError, "NUL"),
    "text in place of a path": (lambda: "a\tb\nb\tc\n", FileError, "cannot open"),
    "empty file": (lambda: written("edges.tsv", b""), InputError, "no edges"),
    "page of HTML": (lambda: written("edges.csv", b"<html>\n<body>\n"), InputError, "is an HTML page"),
    "matrix with names in a file": (lambda: written("edges.csv", b",a,b\na,0,1\nb,1,0\n"), UsageError, "is a matrix"),
    "damaged gzip": (lambda: written("edges.gz", gzip.compress(b"a\tb\n")[:-3]), InputError, "is damaged"),
    "damaged Parquet": (lambda: written("edges.parquet", b"PAR1xxxxPAR1"), InputError, "edges.parquet"),
}


def partition(communities: outcore.Communities) -> str:
    """Return communities as text: sorted names separated by spaces, sorted communities by bars."""
    groups: dict[int, list[str]] = {}
    for node, community in communities:
        groups.setdefault(community, []).append(str(node))
    return "|".join(sorted(" ".join(sorted(group)) for group in groups.values()))


def clustered(edges: object, **options: Any) -> outcore.Communities:
    return outcore.cluster(edges, method="components", memory="64MiB", threads=2, **options)


@pytest.mark.parametrize("name", FINDS)
def test_edges_are_understood(name: str) -> None:
    make, expected = FINDS[name]
    assert partition(clustered(make())) == expected


@pytest.mark.parametrize("name", REFUSES)
def test_unusable_edges_are_refused_with_their_reason(name: str) -> None:
    make, error, message = REFUSES[name]
    edges = make()
    before = sorted(Path().iterdir())
    with pytest.raises(error) as raised:
        clustered(edges, output="communities.tsv")
    assert message in str(raised.value)
    assert sorted(Path().iterdir()) == before


OPTIONS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "columns that are the same": ({"columns": ("source", "source")}, UsageError, "same column"),
    "missing columns": ({"columns": ("x", "y")}, InputError, "has no column `x`"),
    "one column": ({"columns": ("source",)}, UsageError, "an edge has 2 or 3"),
    "column 0": ({"columns": (0, 1)}, UsageError, "no column 0"),
    "delimiter of a table": ({"delimiter": ","}, UsageError, "has no effect on"),
    "threshold above all weights": ({"min_weight": 99}, InputError, "no edges are left"),
    "thresholds in the wrong order": ({"min_weight": 5, "max_weight": 1}, UsageError, "is above"),
    "output that is a directory": ({"output": "."}, FileError, "is a directory"),
    "output whose name is that of a directory": ({"output": "communities/"}, FileError, "is a directory"),
    "output in a missing directory": ({"output": "no/communities.tsv"}, FileError, "there is no directory"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_unusable_options_are_refused_with_their_reason(name: str) -> None:
    options, error, message = OPTIONS[name]
    with pytest.raises(error) as raised:
        clustered(table(weight=WEIGHTS), **options)
    assert message in str(raised.value)
    assert not list(Path().iterdir())
