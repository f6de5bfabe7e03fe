"""Converts a table of edges to numbered arcs in parts: Spark joins and sorts, the engine packs.

Nodes are numbered in the order in which they first appear in the rows, source before target, as by the engine, with two
sorts that are distributed over the cluster. Arcs are sorted by source and target together, so that the arcs of a hub
are distributed over many tasks until they are packed. Skew in the joins that number them is left to the adaptive
execution of Spark.
"""

from __future__ import annotations

import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from outcore import _outcore
from outcore.errors import _made
from outcore.spark._work import Work

#: Default number of nodes and arcs of a part: about 30 MiB encoded.
PART_ARCS = 8 << 20
#: Number of rows that a task sorts.
_ROWS = 4 << 20
#: Bytes of a part in one row.
_PIECE_BYTES = 2 << 20
#: Longer names are refused, as in the engine.
_NAME_BYTES = 1 << 16
#: Maximum length of a value in an error.
_SHOWN = 60
#: Bits of a hash that are added up: 2^39 of them fit a long.
_HASH_BITS = (1 << 24) - 1
#: Maximum number of nodes.
_NODES_MAX = 4_290_000_000


@dataclass(frozen=True)
class Input:
    """Names of the columns of the edges, with or without a weight."""

    source: str
    target: str
    weight: str | None

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [self.source, self.target, *([self.weight] if self.weight else [])]

    def rows(self, edges: DataFrame) -> DataFrame:
        """Return source and target (both text or both whole numbers), weight, and a number that grows with the rows."""
        names = self.names
        types = dict(zip(edges.columns, edges.schema.fields, strict=True))
        for name in names:
            if name not in types:
                _refuse("missing-column", f"the edges have no column `{name}`", f"they have {_listed(edges.columns)}")
        for name in names[:2]:
            if not isinstance(types[name].dataType, (T.StringType, T.IntegralType)):
                kind = types[name].dataType.simpleString()
                _refuse("bad-input", f"nodes in column `{name}` are {kind}, not strings or integers", "cast them")
        if self.weight and not isinstance(types[self.weight].dataType, T.NumericType):
            kind = types[self.weight].dataType.simpleString()
            _refuse("bad-weight", f"weights in column `{self.weight}` are {kind}, not numbers", "cast them")
        weight = F.col(f"`{self.weight}`").cast("double") if self.weight else F.lit(1.0)
        is_whole = all(isinstance(types[name].dataType, T.IntegralType) for name in names[:2])
        kind = "bigint" if is_whole else "string"
        return edges.select(
            F.col(f"`{self.source}`").cast(kind).alias("source"),
            F.col(f"`{self.target}`").cast(kind).alias("target"),
            weight.alias("weight"),
            place_of(edges).alias("place"),
        )

    def node_type(self, edges: DataFrame) -> T.DataType:
        """Return the type of nodes in the result: that of the two columns if they agree, otherwise text."""
        types = {edges.schema[self.source].dataType, edges.schema[self.target].dataType}
        return types.pop() if len(types) == 1 else T.StringType()


#: Column with the place of a row, for input that Spark does not read in order.
PLACE = "__outcore_place"


def place_of(edges: DataFrame) -> Column:
    """Return the expression for the place of a row, by default that in ``edges.collect()``."""
    return F.col(PLACE) if PLACE in edges.columns else F.monotonically_increasing_id()


def _refuse(kind: str, message: str, hint: str) -> None:
    raise _made({"kind": kind, "message": message, "hint": hint})


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


#: Kind of an error, condition of a row, and what such a row has.
_Fault: TypeAlias = tuple[str, Callable[[], Column], str]
#: Faults of any rows, and of rows whose nodes are text.
_FAULTS: dict[str, _Fault] = {
    "nulls": ("empty-name", lambda: F.col("source").isNull() | F.col("target").isNull(), "a node that is null"),
    "missing": ("bad-weight", lambda: F.col("weight").isNull(), "a weight that is null, or no number"),
    "negative": ("bad-weight", lambda: F.col("weight") < 0, "a negative weight"),
    "infinite": (
        "bad-weight",
        lambda: F.isnan("weight") | (F.col("weight") == float("inf")),
        "a weight that is not finite",
    ),
}
_FAULTS_OF_TEXT: dict[str, _Fault] = {
    "empty": ("empty-name", lambda: (F.col("source") == "") | (F.col("target") == ""), "a node without a name"),
    # As in the engine: a name is one line of the result.
    "broken": (
        "bad-input",
        lambda: F.col("source").contains("\n") | F.col("target").contains("\n"),
        "a node whose name contains a line end",
    ),
    "long": (
        "name-too-long",
        lambda: (F.octet_length("source") > _NAME_BYTES) | (F.octet_length("target") > _NAME_BYTES),
        "a node whose name is longer than 64 KiB",
    ),
}


def check(rows: DataFrame) -> dict[str, Any]:
    """Count the rows and sum up their hashes, and refuse rows that are not edges. This takes one scan of the rows.

    The sums identify the rows, in any order: equal rows cancel out in one of them, and not in the other.
    """
    is_text = dict(rows.dtypes)["source"] == "string"
    faults = _FAULTS | (_FAULTS_OF_TEXT if is_text else {})
    counts = [F.count_if(is_fault()).alias(name) for name, (_, is_fault, _) in faults.items()]
    content = F.xxhash64("source", "target", "weight")
    hashes = [F.bit_xor(content).alias("xor"), F.sum(content.bitwiseAND(_HASH_BITS)).alias("sum")]
    row = rows.agg(F.count(F.lit(1)).alias("rows"), *counts, *hashes).first()
    assert row is not None, "a count is a row"
    found = row.asDict()
    for name, fault in faults.items():
        if found[name]:
            _refuse_rows(rows, fault, found[name], found["rows"])
    if not found["rows"]:
        _refuse("bad-input", "there are no edges", "check what the table is read from")
    return {"row_count": found["rows"], "rows": [found["xor"], found["sum"]]}


def _refuse_rows(rows: DataFrame, fault: _Fault, count: int, row_count: int) -> None:
    """Raise an error about rows with a fault, which shows the first of them."""
    kind, is_fault, what = fault
    first = rows.filter(is_fault()).orderBy("place").select("source", "target", "weight").first()
    of_rows = f"{count:,} of {row_count:,} rows {'has' if count == 1 else 'have'}"
    text = "" if first is None else ", ".join(f"{name}={_short(first[name])}" for name in first.asDict())
    hint = "leave such rows out: `edges.dropna()`, or a filter"
    raise _made({"kind": kind, "message": f"{of_rows} {what}", "text": text, "hint": hint})


def names_of(work: Work, rows: DataFrame) -> tuple[DataFrame, int]:
    """Return all names with their numbers (name, id) and the number of names.

    This takes one scan of the rows and two shuffles of names.
    """
    row_count = (work.facts("input") or {})["row_count"]

    def make() -> DataFrame:
        ends = F.array(
            F.struct(F.col("source").alias("name"), (2 * F.col("place")).alias("place")),
            F.struct(F.col("target").alias("name"), (2 * F.col("place") + 1).alias("place")),
        )
        named = rows.select(F.explode(ends).alias("end")).select("end.*")
        first = named.groupBy("name").agg(F.min("place").alias("place"))
        return ordered(first, [F.col("place")], tasks_for(work, row_count))

    names, count = numbered(work.stage("names", make), "id")
    if count > _NODES_MAX:
        message = f"there are {count:,} nodes, but at most {_NODES_MAX:,} can be numbered"
        _refuse("too-many-nodes", message, "leave some out")
    return names.select("name", "id"), count


def tasks_for(work: Work, row_count: int) -> int:
    """Return the number of tasks that sort data of so many rows, at least one per core."""
    return max(work.cores, -(-row_count // _ROWS))


def ordered(frame: DataFrame, keys: list[Column], tasks: int) -> DataFrame:
    """Sort rows over the whole cluster, and add the place of each in its partition: see `numbered`."""
    spread = frame.repartitionByRange(tasks, *keys).sortWithinPartitions(*keys)
    return spread.withColumn("rank", F.monotonically_increasing_id())


def numbered(frame: DataFrame, name: str) -> tuple[DataFrame, int]:
    """Number the rows of a written table that `ordered` has sorted; also return the number of rows."""
    partition, within = F.shiftright("rank", 33).alias("partition"), F.col("rank").bitwiseAND((1 << 33) - 1)
    counts = sorted((row["partition"], row["count"]) for row in frame.groupBy(partition).count().collect())
    offsets, total = [], 0
    for place, count in counts:
        offsets.append((place, total))
        total += count
    table = frame.sparkSession.createDataFrame(offsets, "partition long, offset long")
    joined = frame.withColumn("partition", F.shiftright("rank", 33)).join(F.broadcast(table), "partition")
    return joined.withColumn(name, F.col("offset") + within).drop("partition", "offset", "rank"), total


def numbered_edges(rows: DataFrame, names: DataFrame) -> DataFrame:
    """Return the edges by the numbers of their nodes (s, t, weight, place)."""
    first = names.select(F.col("name").alias("source"), F.col("id").alias("s"))
    second = names.select(F.col("name").alias("target"), F.col("id").alias("t"))
    return rows.join(first, "source").join(second, "target")


def chunks_of(work: Work, edges: DataFrame, rules: dict[str, Any]) -> DataFrame:
    """Symmetrize, sort, combine and pack the arcs (partition, place, first_node, degrees, chunk)."""

    def make() -> DataFrame:
        there, back = F.struct("s", "t"), F.struct(F.col("t").alias("s"), F.col("s").alias("t"))
        both = F.when(F.col("s") == F.col("t"), F.array(there)).otherwise(F.array(there, back))
        arcs = edges.select(F.explode(both).alias("arc"), "weight", "place").select("arc.*", "weight", "place")
        facts = work.facts("input") or {}
        tasks = tasks_for(work, 2 * facts["row_count"])
        last = "place" if rules["duplicates"] == "first" else "weight"
        spread = arcs.repartitionByRange(tasks, "s", "t").sortWithinPartitions("s", "t", last)
        schema = "partition int, place int, first_node long, degrees binary, chunk binary, combined long, dropped long"
        return spread.select("s", "t", "weight").mapInArrow(_packing(rules), schema)

    return work.stage("chunks", make)


def _packing(rules: dict[str, Any]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    duplicates, keeps_loops = rules["duplicates"], rules["self_loops"] == "keep"
    min_weight, is_weighted = rules["min_weight"] or 0.0, rules["is_weighted"]

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packer = _outcore.Chunks(duplicates, keeps_loops, min_weight)
        partition, place = _task(), 0

        def batch(chunks: list[bytes], combined: int = 0, dropped: int = 0) -> pa.RecordBatch:
            nonlocal place
            facts = [_outcore.chunk_degrees(chunk) for chunk in chunks]
            count = len(chunks)
            columns = {
                "partition": pa.array([partition] * count, pa.int32()),
                "place": pa.array(range(place, place + count), pa.int32()),
                "first_node": pa.array([first for first, _ in facts], pa.int64()),
                "degrees": pa.array([degrees for _, degrees in facts], pa.binary()),
                "chunk": pa.array(chunks, pa.binary()),
                "combined": pa.array([combined] * count, pa.int64()),
                "dropped": pa.array([dropped] * count, pa.int64()),
            }
            place += count
            return pa.RecordBatch.from_pydict(columns)

        for arcs in batches:
            weights = to_bytes(arcs.column(2), pa.float64()) if is_weighted else None
            full = packer.push(to_bytes(arcs.column(0), pa.uint32()), to_bytes(arcs.column(1), pa.uint32()), weights)
            if full:
                yield batch(full)
        last, combined, dropped = packer.finish()
        if last is not None:
            yield batch([last], combined, dropped)

    return pack


def _task() -> int:
    task = TaskContext.get()
    assert task is not None, "this runs in a task"
    return task.partitionId()


def to_bytes(column: pa.Array, kind: pa.DataType) -> bytes:
    """Return the values of a column without nulls, little-endian and without gaps."""
    column = column.cast(kind)
    width = kind.bit_width // 8
    data = column.buffers()[1]
    return data.slice(column.offset * width, len(column) * width).to_pybytes() if data else b""


def to_column(data: bytes, kind: pa.DataType) -> pa.Array:
    """Return bytes made by `to_bytes` as a column."""
    return pa.Array.from_buffers(kind, len(data) * 8 // kind.bit_width, [None, pa.py_buffer(data)])


def bounds_of(work: Work, chunks: DataFrame, node_count: int, parts: int | None) -> bytes:
    """Choose the first node of each part, and return them as 32-bit numbers followed by the number of nodes.

    The driver reads all degrees.
    """
    facts = work.facts("bounds")
    if facts is None:
        totals = chunks.agg(F.sum("combined"), F.sum("dropped")).first() or (0, 0)
        arcs = 2 * (work.facts("input") or {})["row_count"] - (totals[0] or 0) + node_count
        part_arcs = arcs // parts if parts else min(PART_ARCS, arcs // work.cores)
        cutter = _outcore.Cutter(node_count, max(1, part_arcs))
        degrees = chunks.select("partition", "place", "first_node", "degrees").orderBy("partition", "place")
        for row in degrees.toLocalIterator(prefetchPartitions=True):
            cutter.add(row["first_node"], bytes(row["degrees"]))
        bounds = array.array("I", cutter.finish()).tolist()
        facts = {"bounds": bounds, "combined_count": totals[0] or 0, "dropped_loop_count": totals[1] or 0}
        work.save_facts("bounds", facts)
    return known_bounds(work)


def known_bounds(work: Work) -> bytes:
    """Return the bounds that `bounds_of` has chosen."""
    return array.array("I", (work.facts("bounds") or {})["bounds"]).tobytes()


def parts_of(work: Work, chunks: DataFrame, bounds: bytes) -> DataFrame:
    """Collect the arcs of each part, encoded as in the engine (part, place, data)."""

    def make() -> DataFrame:
        pieces = chunks.select("partition", "place", "chunk").mapInArrow(
            partial(_cut, bounds=bounds), "part int, partition int, place int, piece binary"
        )
        return pieces.groupBy("part").applyInArrow(_encoding(bounds), "part int, place int, data binary")

    return work.stage("parts", make)


def _cut(batches: Iterator[pa.RecordBatch], bounds: bytes) -> Iterator[pa.RecordBatch]:
    """Cut chunks at the bounds of parts."""
    for batch in batches:
        for row in batch.to_pylist():
            cuts = _outcore.cut_chunk(row["chunk"], bounds)
            columns = [
                pa.array([part for part, _ in cuts], pa.int32()),
                pa.array([row["partition"]] * len(cuts), pa.int32()),
                pa.array([row["place"]] * len(cuts), pa.int32()),
                pa.array([piece for _, piece in cuts], pa.binary()),
            ]
            yield pa.RecordBatch.from_arrays(columns, ["part", "partition", "place", "piece"])


def _encoding(bounds: bytes) -> Callable[[pa.Table], pa.Table]:
    """Return a function that encodes the arcs of a part, from its pieces of chunks."""

    def encode(cuts: pa.Table) -> pa.Table:
        numbers = array.array("I", bounds)
        part = cuts.column("part")[0].as_py()
        pieces = cuts.sort_by([("partition", "ascending"), ("place", "ascending")]).column("piece").to_pylist()
        data = _outcore.write_part(numbers[part], numbers[part + 1], numbers[-1], pieces)
        rows = [data[begin : begin + _PIECE_BYTES] for begin in range(0, len(data), _PIECE_BYTES)]
        columns = [
            pa.array([part] * len(rows), pa.int32()),
            pa.array(range(len(rows)), pa.int32()),
            pa.array(rows, pa.binary()),
        ]
        return pa.table(columns, names=["part", "place", "data"])

    return encode
