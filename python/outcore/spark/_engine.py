"""Runs the engine in one task of the cluster: rows travel to the task, and communities come back as rows.

Rows are packed where they are, some ten thousand to a batch, so that Spark moves and sorts batches and not rows. The
task streams them into the engine in their order. Memory of the task: the limit of the engine, and 150 MiB for Python
and the batches in transit. Disk: what `outcore.plan` predicts, in a local directory of the executor.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812

from outcore.errors import Error, _made
from outcore.spark._work import Work

#: Kinds of nodes, and their types in Arrow.
_KINDS = {"string": pa.string(), "bigint": pa.int64()}


def cluster_in_task(
    work: Work, name: str, rows: DataFrame, options: Mapping[str, Any]
) -> tuple[DataFrame, dict[str, Any]]:
    """Cluster the edges (source, target, optionally weight, place) in one task, in the order of their places.

    Returns the written stage (id, node, community), where `id` counts the nodes in the order of the engine, and the
    report of the engine. Raises the engine's error.
    """
    facts = work.facts(name)
    if facts is None:
        seen = Observation()
        found = _communities(rows, options).observe(seen, F.max("facts").alias("facts"))
        work.write(name, found.where("facts IS NULL").drop("facts"))
        facts = json.loads(seen.get["facts"])
        if "error" in facts:
            work.remove(name)
            raise _made(facts["error"])
        work.save_facts(name, facts)
    return work.read(name), facts


def _communities(rows: DataFrame, options: Mapping[str, Any]) -> DataFrame:
    """Return (id, node, community, facts): the last row has only `facts`, the report or the error as JSON."""
    edges = [(column, kind) for column, kind in rows.dtypes if column != "place"]
    schema = pa.schema([(column, _KINDS.get(kind, pa.float64())) for column, kind in edges])
    packed = rows.select(*schema.names, "place").mapInArrow(partial(_pack, schema=schema), "place long, batch binary")
    in_order = packed.repartition(1).sortWithinPartitions("place")
    node = dict(edges)["source"]
    run = partial(_run, schema=schema, options=dict(options), kind=node)
    return in_order.mapInArrow(run, f"id long, node {node}, community long, facts string")


def _pack(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Pack rows into batches without a gap between their places, so that batches do not overlap."""
    for batch in batches:
        places = batch.column(len(schema))
        follows = pc.equal(pc.subtract(places[1:], places[:-1]), 1)
        gaps = pc.indices_nonzero(pc.invert(follows)).to_pylist()
        begins = [0, *(gap + 1 for gap in gaps)] if len(batch) else []
        columns = [column.cast(field.type) for column, field in zip(batch.columns[: len(schema)], schema, strict=True)]
        whole = pa.RecordBatch.from_arrays(columns, schema=schema)
        pieces = [whole.slice(at, end - at) for at, end in zip(begins, [*begins[1:], len(batch)], strict=True)]
        data = pa.array([piece.serialize().to_pybytes() for piece in pieces], pa.binary())
        yield pa.RecordBatch.from_arrays([places.take(pa.array(begins, pa.int64())), data], ["place", "batch"])


def _unpacked(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for data in batch.column(1):
            yield pa.ipc.read_record_batch(data.as_buffer(), schema)


def _run(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, options: dict[str, Any], kind: str
) -> Iterator[pa.RecordBatch]:
    """Cluster the packed edges of a task."""
    import pyarrow.parquet as pq

    import outcore

    names = ["id", "node", "community", "facts"]

    def last(facts: dict[str, Any]) -> pa.RecordBatch:
        kinds = [pa.int64(), _KINDS[kind], pa.int64()]
        return pa.RecordBatch.from_arrays(
            [*(pa.nulls(1, kind) for kind in kinds), pa.array([json.dumps(facts)])], names
        )

    with tempfile.TemporaryDirectory(prefix="outcore-", dir=_local_directory()) as folder:
        output = os.path.join(folder, "communities.parquet")
        edges = pa.RecordBatchReader.from_batches(schema, _unpacked(batches, schema))
        try:
            with warnings.catch_warnings():
                # The caller takes them from the report.
                warnings.simplefilter("ignore")
                found = outcore.cluster(
                    edges, output=output, columns=tuple(schema.names), work_dir=folder, progress=False, **options
                )
        except Error as error:
            yield last({"error": error._facts})
            return
        begin = 0
        for part in pq.ParquetFile(output).iter_batches(columns=["node", "community"]):
            ids = pa.array(range(begin, begin + len(part)), pa.int64())
            begin += len(part)
            values = [ids, part.column(0).cast(_KINDS[kind]), part.column(1).cast(pa.int64())]
            yield pa.RecordBatch.from_arrays([*values, pa.nulls(len(part), pa.string())], names)
        yield last(found.report.to_dict())


def _local_directory() -> str | None:
    """Return a directory of the executor on a local disk; None for the usual one for temporary files."""
    given = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return next((directory for directory in given if directory and os.access(directory, os.W_OK)), None)
