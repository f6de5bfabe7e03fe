"""From labels to numbered communities: connected pieces, sizes, modularity, and the graph of communities.

The engine joins pieces within each part, and `_pieces` those that continue in other parts. Everything else is in tables
with one row per community and part.
"""

from __future__ import annotations

import array
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from outcore import _outcore
from outcore.spark._index import numbered, ordered, to_bytes, to_column
from outcore.spark._parts import Done, Messages, Parts
from outcore.spark._pieces import send_roots
from outcore.spark._sweeps import Labels, kept_labels, labels_of
from outcore.spark._work import Work

_SUMS = ("root", "label", "count", "strength", "inside", "visits")
_SUM_TYPES = (pa.uint32(), pa.uint32(), pa.uint32(), pa.float64(), pa.float64(), pa.float64())


def join_pieces(parts: Parts, labels: Callable[[_outcore.Part, dict[str, bytes], Messages], Labels]) -> None:
    """Find the connected pieces of labels.

    Afterwards each part keeps its labels and ``roots``, and the forest has been sent to it.
    """

    def roots(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Done:
        found = labels(part, kept, sent)
        roots, messages = part.roots(found)
        return {**kept_labels(found), "roots": roots}, messages, None

    def links(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Done:
        links = part.links(labels_of(kept), kept["roots"], sent)
        return {**kept, "links": links}, [], len(links) // 8

    parts.run(roots)
    link_count = sum(parts.run(links))
    send_roots(parts, link_count)


def sums_of(work: Work, parts: Parts) -> DataFrame:
    """Return the sums of communities in each part (part, root, label, count, strength, inside, visits).

    Afterwards each part keeps the final ``roots``.
    """

    def settle(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Done:
        forest = b"".join(data for _, data in sent)
        roots, sums = part.settle(labels_of(kept), kept["roots"], forest)
        return {"roots": roots, **dict(zip(_SUMS, sums, strict=True))}, [], None

    parts.run(settle)
    schema = "part int, root long, label long, count long, strength double, inside double, visits double"
    return parts.packed(_SUMS).mapInArrow(partial(_unpack, names=_SUMS, kinds=_SUM_TYPES), schema)


def _unpack(
    batches: Iterator[pa.RecordBatch], names: tuple[str, ...], kinds: tuple[pa.DataType, ...]
) -> Iterator[pa.RecordBatch]:
    """Convert rows of packed numbers to rows of numbers."""
    for batch in batches:
        for row in batch.to_pylist():
            columns = [to_column(row[name], kind) for name, kind in zip(names, kinds, strict=True)]
            wide = [column.cast(pa.int64()) if column.type == pa.uint32() else column for column in columns]
            part = pa.array([row["part"]] * len(wide[0]), pa.int32())
            yield pa.RecordBatch.from_arrays([part, *wide], ["part", *names])


def count(work: Work, name: str, sums: DataFrame) -> tuple[DataFrame, dict[str, Any]]:
    """Number communities as the engine does, and measure their quality.

    Returns a table (label, root, count, strength, inside, visits, number), and counts and measures of all communities.
    """
    totals = [F.sum(name).alias(name) for name in ("count", "strength", "inside", "visits")]
    whole = sums.groupBy("root").agg(F.first("label").alias("label"), *totals)
    numbers, counts = numbered_by_size(work, name, whole)
    return numbers, {**counts, **_quality(work.read(name))}


def split_count(work: Work, name: str) -> int:
    """Count the labels whose nodes were not connected."""
    return work.read(name).groupBy("label").count().filter("count > 1").count()


def code_length(work: Work, name: str, strength_logs: float) -> float:
    """Return the bits per step of a random walk, by the map equation; see `map_equation` of the engine."""
    exits = F.col("strength") - F.col("inside")
    logs = [F.sum(_log(column)) for column in (exits, exits + F.col("visits"))]
    found = work.read(name).agg(F.sum("visits"), F.sum(exits), *logs).first()
    assert found is not None, "a sum is a row"
    total, cut, of_exits, of_both = map(float, found)
    if total == 0:
        return 0.0

    def share(logs: float, sum_: float) -> float:
        """Return sum p log2(p) for shares p of the total strength, from sum s log2(s)."""
        return logs / total - sum_ / total * math.log2(total)

    index = cut / total * math.log2(cut / total) if cut > 0 else 0.0
    return float(index - 2 * share(of_exits, cut) + share(of_both, cut + total) - share(strength_logs, total))


def _log(column: Column) -> Column:
    return F.when(column > 0, column * F.log2(column)).otherwise(0.0)


def numbered_by_size(work: Work, name: str, whole: DataFrame) -> tuple[DataFrame, dict[str, Any]]:
    """Number communities by size: the largest is 0, and among equals the one with the smallest node (root) is first."""
    table = work.stage(name, lambda: ordered(whole, [F.desc("count"), F.asc("root")], work.cores))
    numbers, community_count = numbered(table, "number")
    single = F.count_if(F.col("count") == 1).alias("singleton_count")
    found = table.agg(single, F.max("count").alias("largest_size")).first()
    assert found is not None, "a sum is a row"
    return numbers, {"community_count": community_count, **found.asDict()}


def _quality(table: DataFrame) -> dict[str, Any]:
    found = table.agg(F.sum("strength").alias("strength"), F.sum("inside").alias("inside")).first()
    assert found is not None, "a sum is a row"
    total = found["strength"]
    modularity = coverage = 0.0
    if total > 0:
        squares = table.agg(F.sum((F.col("strength") / total) ** 2)).first()
        assert squares is not None, "a sum is a row"
        coverage = found["inside"] / total
        modularity = coverage - squares[0]
    return {"modularity": modularity, "coverage": coverage, "weight_total": total / 2}


def rename(parts: Parts, sums: DataFrame, numbers: DataFrame) -> None:
    """Send parts the numbers of their communities; they keep the number of each node, and ``roots``."""
    named = sums.select("part", "root").join(numbers.select("root", "number"), "root")
    packed = (
        named.repartition(parts.count, "part")
        .sortWithinPartitions("part", "root")
        .mapInArrow(_pack, "part int, data binary")
    )
    parts.send(packed)

    def step(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Done:
        pairs = [_halves(data) for _, data in sent]
        pairs.sort(key=lambda halves: array.array("I", halves[0][:4])[0])
        named, numbers = (b"".join(halves) for halves in zip(*pairs, strict=True))
        return {"roots": kept["roots"], "numbers": part.rename(kept["roots"], named, numbers)}, [], None

    parts.run(step)


def _halves(data: bytes) -> tuple[bytes, bytes]:
    return data[: len(data) // 2], data[len(data) // 2 :]


def _pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Convert sorted rows to one row for each part in a batch: roots, and as many numbers."""
    for batch in batches:
        owners = batch.column(batch.schema.get_field_index("part")).to_pylist()
        roots = to_bytes(batch.column(batch.schema.get_field_index("root")), pa.uint32())
        numbers = to_bytes(batch.column(batch.schema.get_field_index("number")), pa.uint32())
        begins = [at for at, part in enumerate(owners) if at == 0 or owners[at - 1] != part]
        spans = list(zip(begins, [*begins[1:], len(owners)], strict=True))
        columns = [
            pa.array([owners[begin] for begin, _ in spans], pa.int32()),
            pa.array([roots[4 * a : 4 * b] + numbers[4 * a : 4 * b] for a, b in spans], pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(columns, ["part", "data"])


def nodes_of(work: Work, parts: Parts) -> DataFrame:
    """Return the community of each node (id, community)."""
    bounds = parts.bounds

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                first, end = array.array("I", bounds)[row["part"] : row["part"] + 2]
                numbers = to_column(row["numbers"], pa.uint32()).cast(pa.int64())
                yield pa.RecordBatch.from_arrays(
                    [pa.array(range(first, end), pa.int64()), numbers], ["id", "community"]
                )

    return parts.packed(("numbers",)).mapInArrow(unpack, "id long, community long")


def contracted(work: Work, parts: Parts) -> DataFrame:
    """Return the graph of communities (source, target, weight): each pair once, the weight inside as a loop.

    A loop of the map equation weighs twice the edges inside, as the engine counts it once; see `contract` of a part.
    """

    def announce(part: _outcore.Part, kept: dict[str, bytes], _: Messages) -> Done:
        return kept, part.announce(kept["numbers"]), None

    def contract(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Done:
        edges = part.contract(kept["numbers"], sent)
        return {**kept, **dict(zip(("source", "target", "weight"), edges, strict=True))}, [], None

    parts.run(announce)
    parts.run(contract)
    names, kinds = ("source", "target", "weight"), (pa.uint32(), pa.uint32(), pa.float64())
    edges = parts.packed(names).mapInArrow(
        partial(_unpack, names=names, kinds=kinds), "part int, source long, target long, weight double"
    )
    # Sort the weights, so that rounding is independent of their order of arrival.
    weights = F.array_sort(F.collect_list("weight"))
    total = F.aggregate(weights, F.lit(0.0), lambda sum_, weight: sum_ + weight)
    return edges.groupBy("source", "target").agg(total.alias("weight"))
