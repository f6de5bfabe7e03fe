"""Pieces of communities that continue in other parts, joined in tables.

A part links its pieces, each named by its smallest node, to pieces of earlier parts. One task joins up to `_LINKS`
links. More of them are contracted first, in rounds over tables: half of the pieces, chosen by a hash, stay, and each
other one that is linked to some of them is merged with the smallest. A round removes a quarter or more of the linked
pieces, in expectation, and no task holds more than `_LINKS` links.

Cost: some six shuffles of the remaining links a round, and three of all pieces at the end.

Source: random mates, in Miller and Reif, "Parallel tree contraction and its application" (1985).
"""

from __future__ import annotations

import array
import bisect
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from outcore import _outcore
from outcore.spark._index import to_bytes, to_column
from outcore.spark._parts import Parts
from outcore.spark._work import Work

#: Maximum number of links that one task joins, at 24 bytes each.
_LINKS = 4 << 20


def send_roots(parts: Parts, link_count: int) -> None:
    """Join the ``links`` that parts keep, and send to each part the smallest piece of each of its joined pieces."""
    links = parts.packed(("links",)).mapInArrow(_unpack, "piece long, other long")
    if link_count <= _LINKS:
        joined = _joined_in_task(links)
    else:
        pieces = joined_by_rounds(parts.work, links, link_count)
        joined = pieces.repartitionByRange(parts.count, "piece").sortWithinPartitions("piece")
    parts.send(joined.mapInArrow(partial(_share, bounds=parts.bounds), "part int, data binary"))


def joined_by_rounds(work: Work, links: DataFrame, count: int) -> DataFrame:
    """Return the smallest piece (piece, root) of each piece that is linked to a smaller one, directly or not."""
    table = work.write("links-0", links)
    mates: list[DataFrame] = []
    while count > _LINKS:
        number = len(mates) + 1
        mates.append(work.write(f"mates-{number}", _mates(table, number)))
        table = work.write(f"links-{number}", _merged(table, mates[-1]))
        count = table.count()
    found = work.write(f"joined-{len(mates)}", _joined_in_task(table))
    for number in range(len(mates), 0, -1):
        above = found.withColumnRenamed("piece", "into")
        roots = mates[number - 1].join(above, "into", "left").selectExpr("piece", "coalesce(root, into) AS root")
        found = work.write(f"joined-{number - 1}", found.unionByName(roots))
    # A piece that stays is not always the smallest.
    smallest = found.groupBy("root").agg(F.least(F.min("piece"), "root").alias("smallest"))
    pieces = found.join(smallest, "root").select("piece", "smallest")
    roots = smallest.select("root", "smallest")
    return pieces.union(roots).filter("piece > smallest").selectExpr("piece", "smallest AS root")


def _mates(links: DataFrame, number: int) -> DataFrame:
    """Choose a linked piece that stays (piece, into) for each piece that does not and has one."""

    def stays(name: str) -> Column:
        return F.xxhash64(F.col(name), F.lit(number)).bitwiseAND(1) == 0

    both = links.select("piece", "other").union(links.select("other", "piece"))
    return both.filter(~stays("piece") & stays("other")).groupBy("piece").agg(F.min("other").alias("into"))


def _merged(links: DataFrame, mates: DataFrame) -> DataFrame:
    """Return the links between the pieces that remain, each once."""
    for name in ("piece", "other"):
        links = links.join(mates.withColumnRenamed("piece", name), name, "left")
        links = links.withColumn(name, F.coalesce("into", name)).drop("into")
    ordered = links.select(F.greatest("piece", "other").alias("piece"), F.least("piece", "other").alias("other"))
    return ordered.filter("piece > other").distinct()


def _joined_in_task(links: DataFrame) -> DataFrame:
    """Join links in one task; return (piece, root), sorted."""
    return links.repartition(1).mapInArrow(_join, "piece long, root long")


def _join(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    links = array.array("I")
    for batch in batches:
        pairs = array.array("I", bytes(8 * len(batch)))
        pairs[::2], pairs[1::2] = (array.array("I", to_bytes(column, pa.uint32())) for column in batch.columns)
        links.extend(pairs)
    yield _columns(_outcore.forest(links.tobytes()), "root")


def _unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for links in batch.column(1):
            yield _columns(links.as_py(), "other")


def _columns(pairs: bytes, second: str) -> pa.RecordBatch:
    """Return pairs of pieces as two columns."""
    numbers = array.array("I", pairs)
    columns = [to_column(half.tobytes(), pa.uint32()).cast(pa.int64()) for half in (numbers[::2], numbers[1::2])]
    return pa.RecordBatch.from_arrays(columns, ["piece", second])


def _share(batches: Iterator[pa.RecordBatch], bounds: bytes) -> Iterator[pa.RecordBatch]:
    """Divide sorted rows by the part that has the piece; the pairs of a part are packed."""
    begins = array.array("I", bounds)
    for batch in batches:
        pieces, roots = (array.array("I", to_bytes(column, pa.uint32())) for column in batch.columns)
        pairs = array.array("I", bytes(8 * len(pieces)))
        pairs[::2], pairs[1::2] = pieces, roots
        places = [bisect.bisect_left(pieces, begin) for begin in begins]
        spans = [(part, begin, end) for part, (begin, end) in enumerate(pairwise(places)) if end > begin]
        columns = [
            pa.array([part for part, _, _ in spans], pa.int32()),
            pa.array([pairs[2 * begin : 2 * end].tobytes() for _, begin, end in spans], pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(columns, ["part", "data"])
