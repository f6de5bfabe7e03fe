"""Rounds over the parts of a graph: what parts keep, and the messages between them.

A round runs one task per part. Its step takes the bytes that the part has kept and the messages that were sent to it;
it returns bytes to keep, messages to other parts, and a report. The arcs of a part stay in place; its state, which is
what it keeps and the messages to it, is a table in the work directory, which each round reads and writes. So any round
can be a checkpoint, a lost worker repeats only the tasks that it had, and Spark Connect is enough.

Cost: two jobs a round, of three stages. Resilient distributed datasets, which leave the kept bytes in place, took 0.88
and 0.93 of the time on 3 million edges in 8 parts, label propagation and the map equation.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from outcore import _outcore
from outcore.spark._work import Work

Messages: TypeAlias = list[tuple[int, bytes]]
#: What a step returns: bytes to keep, messages, and a report.
Done: TypeAlias = tuple[dict[str, bytes], Messages, Any]
Step: TypeAlias = Callable[["_outcore.Part", dict[str, bytes], Messages], Done]

_KEPT, _MESSAGE, _REPORT = range(3)
#: Rows of a state, and of the reports written with it.
_COLUMNS = "part int, kind int, name string, sender int, data binary"
_FIELDS = (pa.int32(), pa.int32(), pa.string(), pa.int32(), pa.binary())
_NAMES = ("part", "kind", "name", "sender", "data")
#: Tables of states: a checkpoint, the state before a round, and the one after it.
_STATES = tuple(f"rounds-{number}" for number in range(3))
#: Candidates for the key of each partition: none of so many is suitable with a chance of e^-32.
_CANDIDATES = 32


class Parts:
    """Parts of a graph on the workers."""

    def __init__(self, work: Work, bounds: bytes, method: str) -> None:
        """Take the parts that a job has written; they keep nothing yet."""
        self.work = work
        self.bounds = bounds
        #: Method, which decides how often loops count.
        self.method = method
        #: Total bytes of messages.
        self.shuffle_bytes = 0
        self._keys = self._keys_of_partitions()
        self._arcs = self._partitioned(work.read("parts")).sortWithinPartitions("key").persist()
        self._state = work.spark.createDataFrame([], _COLUMNS)
        self._name: str | None = None
        self._saved: str | None = None

    @property
    def count(self) -> int:
        """Number of parts."""
        return len(self.bounds) // 4 - 1

    def _keys_of_partitions(self) -> list[int]:
        """Return a key for each part by which Spark, which partitions by the hash of a key, puts it in its own."""
        candidates = self.work.spark.range(_CANDIDATES * (self.count + 1)).selectExpr("cast(id AS int) AS key")
        place = F.pmod(F.hash("key"), F.lit(self.count)).alias("place")
        rows = candidates.groupBy(place).agg(F.min("key").alias("key")).collect()
        return [row["key"] for row in sorted(rows)]

    def _partitioned(self, table: DataFrame) -> DataFrame:
        key = F.lit(self._keys)[F.col("part")].alias("key")
        return table.select("*", key).repartition(self.count, "key")

    def run(self, step: Step) -> list[Any]:
        """Run a step on every part, and return their reports in any order."""
        state = self._partitioned(self._state)
        round_ = _Round(self.bounds, self.method, step).on_tables()
        done = self._arcs.groupBy("key").cogroup(state.groupBy("key")).applyInArrow(round_, _COLUMNS)
        name = next(name for name in _STATES if name not in (self._name, self._saved))
        written = self.work.write(name, done)
        self._name, self._state = name, written.filter(F.col("kind") != _REPORT)
        reports = [json.loads(row["data"]) for row in written.filter(F.col("kind") == _REPORT).collect()]
        self.shuffle_bytes += sum(sent for sent, _ in reports)
        return [report for _, report in reports]

    def checkpoint(self) -> str:
        """Retain the state of the last round until the next checkpoint; return its name."""
        assert self._name is not None, "a round has been run"
        self._saved = self._name
        return self._saved

    def resume(self, name: str) -> None:
        """Continue from a checkpoint."""
        self._name = self._saved = name
        self._state = self.work.read(name).filter(F.col("kind") != _REPORT)

    def packed(self, names: tuple[str, ...]) -> DataFrame:
        """Return a row for each part: its number, and the bytes that it keeps under these names.

        The table is to be used before the next round.
        """
        kept = [F.first(F.when(F.col("name") == name, F.col("data")), ignorenulls=True).alias(name) for name in names]
        return self._state.filter(F.col("kind") == _KEPT).groupBy("part").agg(*kept)

    def send(self, messages: DataFrame) -> None:
        """Send messages (part, data), replacing those in transit."""
        columns = [F.lit(_MESSAGE).alias("kind"), F.lit("").alias("name"), F.lit(0).alias("sender")]
        sent = messages.select("part", *columns, "data")
        self._state = self._state.filter(F.col("kind") == _KEPT).unionByName(sent)

    def release(self) -> None:
        """Release the arcs."""
        self._arcs.unpersist()


@dataclass(frozen=True)
class _Round:
    """Step of a round, as a task runs it."""

    bounds: bytes
    method: str
    step: Step

    def run(self, index: int, arcs: list[tuple[int, bytes]], kept: dict[str, bytes], messages: Messages) -> Done:
        """Run the step on a part, whose arcs are in pieces with their places."""
        part = _outcore.Part(b"".join(data for _, data in sorted(arcs)), self.bounds, index, self.method)
        arcs.clear()
        # Messages are sorted, so that the result is independent of their order of arrival.
        kept, sent, report = self.step(part, kept, sorted(messages))
        return kept, sent, (sum(len(data) for _, data in sent), report)

    def on_tables(self) -> Callable[[pa.Table, pa.Table], pa.Table]:
        """Return a function of a part's arcs and state, which returns the next state and the report as rows."""

        def run(arcs: pa.Table, state: pa.Table) -> pa.Table:
            index = arcs.column("part")[0].as_py()
            pieces = [(row["place"], row["data"]) for row in arcs.select(["place", "data"]).to_pylist()]
            kept: dict[str, bytes] = {}
            messages: Messages = []
            for row in state.to_pylist():
                if row["kind"] == _KEPT:
                    kept[row["name"]] = row["data"]
                else:
                    messages.append((row["sender"], row["data"]))
            kept, sent, report = self.run(index, pieces, kept, messages)
            rows = [(index, _KEPT, name, 0, data) for name, data in kept.items()]
            rows += [(to, _MESSAGE, "", index, data) for to, data in sent]
            rows.append((index, _REPORT, "", 0, json.dumps(report).encode()))
            columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), _FIELDS, strict=True)]
            return pa.table(columns, names=list(_NAMES))

        return run
