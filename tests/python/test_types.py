"""Names keep their type from tables to tables: whole numbers join with whole numbers, and text with text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import outcore
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PAIRS = [(3, 10), (10, 7), (21, 20), (30, 31)]

#: Types of columns of names, and what names are in results.
TYPES: dict[str, tuple[pa.DataType, pa.DataType]] = {
    "int8": (pa.int8(), pa.int64()),
    "int32": (pa.int32(), pa.int64()),
    "int64": (pa.int64(), pa.int64()),
    "uint32": (pa.uint32(), pa.int64()),
    "uint64": (pa.uint64(), pa.uint64()),
    "dictionary": (pa.dictionary(pa.int32(), pa.int64()), pa.int64()),
    "decimal": (pa.decimal128(19, 0), pa.string()),
    "text": (pa.string(), pa.string()),
    "bytes": (pa.binary(), pa.string()),
}


def table(kind: pa.DataType, to: pa.DataType | None = None) -> pa.Table:
    """Return the pairs with sources and targets of two types."""
    columns = []
    for at, of in enumerate((kind, to or kind)):
        numbers = pa.array([pair[at] for pair in PAIRS])
        plain = of.value_type if pa.types.is_dictionary(of) else of
        texts = pa.array([str(pair[at]) for pair in PAIRS])
        names = texts.cast(plain) if pa.types.is_string(plain) or pa.types.is_binary(plain) else numbers.cast(plain)
        columns.append(names.dictionary_encode() if pa.types.is_dictionary(of) else names)
    return pa.table({"source": columns[0], "target": columns[1], "weight": pa.array([1.0, 2.0, 3.0, 4.0])})


def type_in(path: str, column: str) -> pa.DataType:
    kind = (
        pq.read_schema(path).field(column).type
        if path.endswith("parquet")
        else pa.ipc.open_file(path).schema.field(column).type
    )
    return pa.string() if pa.types.is_large_string(kind) else kind


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("source", ["table.parquet", "table.arrow"])
@pytest.mark.parametrize("method", ["components", "modularity"])
def test_every_table_of_a_result_has_the_type_of_the_edges(name: str, source: str, method: Any) -> None:
    kind, expected = TYPES[name]
    edges = table(kind)
    if source.endswith("parquet"):
        pq.write_table(edges, source)
    else:
        with pa.OSFile(source, "wb") as sink, pa.ipc.new_file(sink, edges.schema) as writer:
            writer.write_table(edges)
    ending = source.rpartition(".")[2]
    outputs = {option: f"{option}.{ending}" for option in ("representatives", "keep", "drop", "summary")}
    if method == "components":
        outputs["heights"] = f"heights.{ending}"
    found = outcore.cluster(source, method=method, output=f"c.{ending}", **outputs)
    for path, column in (
        (f"c.{ending}", "node"),
        *((path, "representative" if option == "summary" else "node") for option, path in outputs.items()),
    ):
        assert type_in(path, column) == expected, path
    # In Python, too, whether it is known from the job or from the file.
    is_number = expected != pa.string()
    for result in (found, outcore.Communities(f"c.{ending}")):
        assert {type(node) for node, _ in result} == {int if is_number else str}
        assert result.to_arrow().schema.field("node").type == expected
        assert result[10] == result["10"] == dict(result)[10 if is_number else "10"]
    graph = outcore.build(source, "types.graph")
    again = outcore.cluster(outcore.Graph("types.graph"), method=method)
    assert dict(again) == dict(found)
    outcore.export(graph, f"exported.{ending}")
    assert type_in(f"exported.{ending}", "source") == type_in(f"exported.{ending}", "target") == expected
    outcore.cluster(source, method="components", min_weight=2.5, output=f"other.{ending}")
    outcore.compare(found, f"other.{ending}", moved=f"moved.{ending}")
    assert type_in(f"moved.{ending}", "node") == expected


def test_names_of_several_types_are_text(own_directory: Path) -> None:
    pq.write_table(table(pa.int64(), pa.uint64()), "mixed.parquet")
    pq.write_table(table(pa.int64()), "numbers.parquet")
    Path("more.tsv").write_text("3\t21\t1\n")
    Path("nodes.txt").write_text("x\n3\n")
    pq.write_table(pa.table({"id": [3, 99]}), "nodes.parquet")
    of_nodes: dict[str, Any] = {"nodes": "nodes.txt"}
    for source, options in (
        ("mixed.parquet", {}),
        (["numbers.parquet", "more.tsv"], {}),
        ("numbers.parquet", of_nodes),
    ):
        outcore.cluster(source, method="components", output="c.parquet", **options)
        assert type_in("c.parquet", "node") == pa.string()
    found = outcore.cluster("numbers.parquet", method="components", output="c.parquet", nodes="nodes.parquet")
    assert type_in("c.parquet", "node") == pa.int64() and found[99] == found.community_count - 1
    # A graph to which text is added has text.
    graph = outcore.build("numbers.parquet", "numbers.graph")
    for more, expected in (("numbers.parquet", pa.int64()), ("more.tsv", pa.string())):
        grown = outcore.build(more, f"{more}.graph", append=graph)
        outcore.cluster(grown, method="components", output="c.parquet")
        assert type_in("c.parquet", "node") == expected


def test_results_join_with_the_tables_they_came_from(own_directory: Path) -> None:
    edges = table(pa.int64())
    documents = pd.DataFrame({"id": [3, 7, 10, 20, 21, 30], "text": list("abcdef")})
    frames = {"pandas": edges.to_pandas(), "polars": pl.DataFrame(edges), "pyarrow": edges}
    for name, frame in frames.items():
        found = outcore.cluster(frame, method="components", output=f"{name}.parquet")
        assert documents.merge(found.to_pandas(), left_on="id", right_on="node")["community"].tolist() == [
            0,
            0,
            0,
            1,
            1,
            2,
        ]
        of_polars = pl.DataFrame(documents).join(pl.read_parquet(f"{name}.parquet"), left_on="id", right_on="node")
        assert of_polars.sort("id")["community"].to_list() == [0, 0, 0, 1, 1, 2]
        joined = duckdb.sql(f"SELECT id, community FROM documents JOIN '{name}.parquet' ON id = node ORDER BY id")
        assert [row[1] for row in joined.fetchall()] == [0, 0, 0, 1, 1, 2]
        keep = found[documents["id"]]
        assert keep.tolist() == [0, 0, 0, 1, 1, 2]
    array = np.array(PAIRS[:3])
    outcore.cluster(array, method="components", output="array.parquet")
    assert type_in("array.parquet", "node") == pa.int64()
