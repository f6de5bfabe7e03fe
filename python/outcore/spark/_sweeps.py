"""Rounds over parts: a task for each part, which keeps bytes for the next round and sends bytes to other parts.

The arcs of a part stay where they are, serialised; what a task keeps stays with them; only messages go over the
network. So a round is one job of two stages. Resilient datasets are used, not tables: they let what is kept stay in
the partition of its part.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from pyspark import RDD, StorageLevel
from pyspark.sql import DataFrame

from outcore import _outcore
from outcore.spark._index import own
from outcore.spark._work import Work

ARCS, KEPT, MESSAGE, TOLD = range(4)
#: Part; kind, key, data.
Item: TypeAlias = tuple[int, tuple[int, Any, Any]]
Messages: TypeAlias = list[tuple[int, bytes]]
#: A step of one part: given what was kept and sent to it, it gives what it keeps, sends and tells the driver.
Step: TypeAlias = Callable[["_outcore.Part", dict[str, bytes], Messages], tuple[dict[str, bytes], Messages, Any]]

#: Sweeps that may follow each other before all is saved, so that a lost worker does not cost more than these.
_SWEEPS_UNSAVED = 8


def _each(bounds: bytes, step: Step, index: int, items: Iterable[Item]) -> Iterator[Item]:
    """Run a step on the part of a partition."""
    arcs: list[tuple[int, bytes]] = []
    kept: dict[str, bytes] = {}
    messages: Messages = []
    for _, (kind, key, data) in items:
        if kind == ARCS:
            arcs.append((key, data))
        elif kind == KEPT:
            kept[key] = data
        else:
            messages.append((key, data))
    part = _outcore.Part(b"".join(data for _, data in sorted(arcs)), bounds, index)
    del arcs
    # The order in which messages arrive is of no account.
    kept, sent, told = step(part, kept, sorted(messages))
    for name, data in kept.items():
        yield index, (KEPT, name, data)
    for to, data in sent:
        yield index, (MESSAGE, to, data)
    yield index, (TOLD, sum(len(data) for _, data in sent), told)


def _address(item: Item) -> Item:
    sender, (kind, to, data) = item
    return to, (kind, sender, data)


def _is(kind: int, item: Item) -> bool:
    return item[1][0] == kind


@dataclass
class Parts:
    """The parts of a graph on the workers, what they keep, and the messages under way."""

    arcs: RDD[Item]
    bounds: bytes
    kept: RDD[Item] | None = None
    messages: RDD[Item] | None = None
    #: Bytes of messages so far.
    shuffle_bytes: int = 0
    _made: list[RDD[Item]] = field(default_factory=list)

    @classmethod
    def of(cls, table: DataFrame, bounds: bytes) -> Parts:
        """Give the parts of a table, without anything kept."""
        rows = table.rdd.map(lambda row: (row["part"], (ARCS, row["place"], bytes(row["data"]))))
        arcs = rows.partitionBy(len(bounds) // 4 - 1, own).persist(StorageLevel.MEMORY_AND_DISK)
        return cls(arcs, bounds)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.bounds) // 4 - 1

    def run(self, step: Step) -> list[Any]:
        """Run a step on every part; gives what each tells, in any order."""
        inputs = self.arcs
        for more in (self.kept, self.messages):
            if more is not None:
                inputs = inputs.union(more)
        each = partial(_each, self.bounds, step)
        done = inputs.mapPartitionsWithIndex(each, preservesPartitioning=True).persist(StorageLevel.MEMORY_AND_DISK)
        told = done.filter(partial(_is, TOLD)).values().collect()
        self.kept = done.filter(partial(_is, KEPT))
        self.messages = done.filter(partial(_is, MESSAGE)).map(_address).partitionBy(self.count, own)
        self.shuffle_bytes += sum(count for _, count, _ in told)
        self._forget(done)
        return [fact for _, _, fact in told]

    def _forget(self, newest: RDD[Item]) -> None:
        """Let go of what the round before has made: its messages are in this round's shuffle."""
        self._made.append(newest)
        while len(self._made) > 2:
            self._made.pop(0).unpersist()

    def kept_as(self, name: str) -> RDD[bytes]:
        """Give what parts keep under a name."""
        assert self.kept is not None, "a round has been run"
        return self.kept.filter(lambda item: item[1][1] == name).map(lambda item: item[1][2])

    def packed(self, names: tuple[str, ...]) -> RDD[tuple[Any, ...]]:
        """Give a row for each part: its number, and what it keeps under these names."""
        assert self.kept is not None, "a round has been run"

        def row(part: int, items: Iterable[Item]) -> Iterator[tuple[Any, ...]]:
            kept = {key: data for _, (_, key, data) in items}
            yield (part, *(kept[name] for name in names))

        return self.kept.mapPartitionsWithIndex(row)

    def send(self, messages: RDD[tuple[int, bytes]]) -> None:
        """Send messages to parts, instead of those under way."""
        self.messages = messages.map(lambda item: (item[0], (MESSAGE, 0, item[1]))).partitionBy(self.count, own)

    def save(self, work: Work, name: str) -> None:
        """Write what is kept and under way, and go on from what is written: nothing before it is computed again."""
        assert self.kept is not None, "a round has been run"
        assert self.messages is not None, "a round has been run"
        rows = self.kept.union(self.messages).map(_as_row)
        work.write(name, work.spark.createDataFrame(rows, "part int, kind int, name string, sender int, data binary"))
        self.load(work, name)

    def load(self, work: Work, name: str) -> None:
        """Go on from what was saved."""
        items = work.read(name).rdd.map(_as_item).partitionBy(self.count, own)
        self.kept = items.filter(partial(_is, KEPT))
        self.messages = items.filter(partial(_is, MESSAGE))

    def release(self) -> None:
        """Let go of everything."""
        for made in [self.arcs, *self._made]:
            made.unpersist()


def _as_row(item: Item) -> tuple[int, int, str, int, bytes]:
    part, (kind, key, data) = item
    return (part, kind, key, 0, data) if kind == KEPT else (part, kind, "", key, data)


def _as_item(row: Any) -> Item:
    key = row["name"] if row["kind"] == KEPT else row["sender"]
    return row["part"], (row["kind"], key, bytes(row["data"]))


def propagate(
    work: Work, parts: Parts, options: Mapping[str, Any], node_count: int, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Propagate labels in one run or more, each until few enough nodes move; gives the history.

    Parts keep ``rounds`` of the last run then, and the labels of those before it.
    """
    history = _go_on(work, parts, options["seed"])
    saved, saved_at = len(history["sweeps"]), time.monotonic()
    enough = options["tolerance"] * node_count
    while True:
        run = history["run"]
        number = 1 + sum(swept["run"] == run for swept in history["sweeps"])
        if history["converged"] or number > options["max_sweeps"]:
            if run + 1 == options["runs"]:
                return history
            _next_run(parts, options["seed"] + run + 1)
            history |= {"run": run + 1, "converged": False}
            continue
        swept = {"run": run, **_sweep(parts, options["seed"] + run, number)}
        history["sweeps"].append(swept)
        moved = swept["moved_count"]
        history["converged"] = moved == 0 or moved <= enough
        tell(f"sweep {number}: {moved:,} nodes changed, {swept['rounds']} rounds")
        total = len(history["sweeps"])
        is_due = time.monotonic() - saved_at >= options["save_seconds"] or total - saved >= _SWEEPS_UNSAVED
        if is_due:
            _save(work, parts, total, history)
            saved, saved_at = total, time.monotonic()


def _next_run(parts: Parts, seed: int) -> None:
    """Keep the labels of a run, crossed with those of the runs before it, and begin another."""

    def step(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        own, outside, around = crossed(part, kept, sent)
        rounds, sent = part.begin(seed)
        return {"rounds": rounds, "own": own, "outside": outside, "around": around}, sent, None

    parts.run(step)


def crossed(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> tuple[bytes, bytes, bytes]:
    """Give the labels of a run that has ended: nodes are alike that are alike in all runs."""
    labels = part.finish(kept["rounds"], sent)
    return part.cross(labels_of(kept), labels) if "own" in kept else labels


def labels_of(kept: dict[str, bytes]) -> tuple[bytes, bytes, bytes]:
    """Give labels of a part's nodes; of nodes outside, which are these; and theirs."""
    return kept["own"], kept["outside"], kept["around"]


def _sweep(parts: Parts, seed: int, number: int) -> dict[str, Any]:
    begun, before, rounds, arcs = time.monotonic(), parts.shuffle_bytes, 0, 0

    def step(part: _outcore.Part, kept: dict[str, bytes], messages: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        rounds, sent, told = part.round(kept["rounds"], seed, number, messages)
        return {**kept, "rounds": rounds}, sent, told

    while True:
        rounds += 1
        told = parts.run(step)
        arcs += sum(looked_at for _, looked_at, _ in told)
        if not any(later for _, _, later in told):
            break
    return {
        "number": number,
        "moved_count": sum(moved for moved, _, _ in told),
        "visited_arc_count": arcs,
        "rounds": rounds,
        "shuffle_bytes": parts.shuffle_bytes - before,
        "seconds": time.monotonic() - begun,
    }


def _go_on(work: Work, parts: Parts, seed: int) -> dict[str, Any]:
    """Begin, or go on from what was saved."""
    number = work.newest("sweeps")
    history = None if number is None else work.facts(f"history-{number}")
    if number is not None and history is not None:
        parts.load(work, f"sweeps-{number}")
        return {**history, "resumed_sweep_count": number}

    def begin(part: _outcore.Part, _: dict[str, bytes], __: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        rounds, sent = part.begin(seed)
        return {"rounds": rounds}, sent, None

    parts.run(begin)
    return {"run": 0, "sweeps": [], "converged": False, "resumed_sweep_count": 0}


def _save(work: Work, parts: Parts, number: int, history: dict[str, Any]) -> None:
    work.keep_facts(f"history-{number}", history)
    parts.save(work, f"sweeps-{number}")
    work.remove_all("sweeps", but=number)
    work.remove_all("history", but=number)
