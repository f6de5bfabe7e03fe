"""Rounds over parts, and the sweeps of label propagation and of local moving that consist of rounds.

A round runs one task per part, which keeps bytes for the next round and sends bytes to other parts.

The arcs of a part stay in place, serialized, together with the bytes that its task keeps; only messages travel over the
network. A round is therefore one job of two stages. It uses resilient distributed datasets instead of tables, because
they let the kept bytes stay in the partition of their part.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from pyspark import RDD, StorageLevel

from outcore import _outcore
from outcore.spark._index import own
from outcore.spark._work import Work

ARCS, KEPT, MESSAGE, REPORT = range(4)
#: Part, and its kind, key and data.
Item: TypeAlias = tuple[int, tuple[int, Any, Any]]
Messages: TypeAlias = list[tuple[int, bytes]]
Labels: TypeAlias = tuple[bytes, bytes, bytes]
#: Step of one part: takes the kept bytes and the messages for it, returns bytes to keep, messages, and a report.
Step: TypeAlias = Callable[["_outcore.Part", dict[str, bytes], Messages], tuple[dict[str, bytes], Messages, Any]]

#: Maximum number of rounds between two writes, and so the maximum that a lost worker costs.
_ROUNDS_UNWRITTEN = 24
#: The sweeps of local moving end when at most this share of the nodes moves: the first ones as in the engine, and those
#: after communities of communities have been found.
_FIRST_ENOUGH, _LAST_ENOUGH = 0.01, 0.0005
#: Maximum number of the latter.
_LAST_SWEEPS = 10
#: Number of parts up to which sweeps of label propagation are exact by default; share of moved nodes above which the
#: next sweep has a single round.
_EXACT_PARTS, _MANY_MOVE = 16, 0.1
#: Labels of the nodes of a part, the known nodes outside of it, and the labels of those.
_LABELS = ("own", "outside", "around")


def _each(bounds: bytes, method: str, step: Step, index: int, items: Iterable[Item]) -> Iterator[Item]:
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
    part = _outcore.Part(b"".join(data for _, data in sorted(arcs)), bounds, index, method)
    del arcs
    # Messages are sorted, so that the result is independent of their order of arrival.
    kept, sent, report = step(part, kept, sorted(messages))
    for name, data in kept.items():
        yield index, (KEPT, name, data)
    for to, data in sent:
        yield index, (MESSAGE, to, data)
    yield index, (REPORT, sum(len(data) for _, data in sent), report)


def _address(item: Item) -> Item:
    sender, (kind, to, data) = item
    return to, (kind, sender, data)


def _is(kind: int, item: Item) -> bool:
    return item[1][0] == kind


@dataclass
class Parts:
    """Parts of a graph on the workers, the bytes that they keep, and the messages in transit."""

    work: Work
    arcs: RDD[Item]
    bounds: bytes
    #: Method, which decides how often loops count.
    method: str
    kept: RDD[Item] | None = None
    messages: RDD[Item] | None = None
    #: Total bytes of messages.
    shuffle_bytes: int = 0
    _made: list[RDD[Item]] = field(default_factory=list)
    #: Number of rounds since the last write, and number of writes.
    _unwritten: int = 0
    _written: int = 0

    @classmethod
    def of(cls, work: Work, bounds: bytes, method: str) -> Parts:
        """Return the parts of a job, without kept bytes."""
        table = work.read("parts")
        rows = table.rdd.map(lambda row: (row["part"], (ARCS, row["place"], bytes(row["data"]))))
        arcs = rows.partitionBy(len(bounds) // 4 - 1, own).persist(StorageLevel.MEMORY_AND_DISK)
        return cls(work, arcs, bounds, method)

    @property
    def count(self) -> int:
        """Number of parts."""
        return len(self.bounds) // 4 - 1

    def run(self, step: Step) -> list[Any]:
        """Run a step on every part, and return their reports in any order."""
        if self._unwritten >= _ROUNDS_UNWRITTEN:
            self._written += 1
            self.save(f"rounds-{self._written}")
            self.work.remove_all("rounds", but=self._written)
        self._unwritten += 1
        inputs = self.arcs
        for more in (self.kept, self.messages):
            if more is not None:
                inputs = inputs.union(more)
        each = partial(_each, self.bounds, self.method, step)
        done = inputs.mapPartitionsWithIndex(each, preservesPartitioning=True).persist(StorageLevel.MEMORY_AND_DISK)
        reports = done.filter(partial(_is, REPORT)).values().collect()
        self.kept = done.filter(partial(_is, KEPT))
        self.messages = done.filter(partial(_is, MESSAGE)).map(_address).partitionBy(self.count, own)
        self.shuffle_bytes += sum(count for _, count, _ in reports)
        self._forget(done)
        return [report for _, _, report in reports]

    def _forget(self, newest: RDD[Item]) -> None:
        """Release the data of the round before the last: its messages are in the shuffle of the last one."""
        self._made.append(newest)
        while len(self._made) > 2:
            self._made.pop(0).unpersist()

    def kept_as(self, name: str) -> RDD[bytes]:
        """Return the bytes that parts keep under a name."""
        assert self.kept is not None, "a round has been run"
        return self.kept.filter(lambda item: item[1][1] == name).map(lambda item: item[1][2])

    def packed(self, names: tuple[str, ...]) -> RDD[tuple[Any, ...]]:
        """Return a row for each part: its number, and the bytes that it keeps under these names."""
        assert self.kept is not None, "a round has been run"

        def row(part: int, items: Iterable[Item]) -> Iterator[tuple[Any, ...]]:
            kept = {key: data for _, (_, key, data) in items}
            yield (part, *(kept[name] for name in names))

        return self.kept.mapPartitionsWithIndex(row)

    def send(self, messages: RDD[tuple[int, bytes]]) -> None:
        """Send messages to parts, replacing those in transit."""
        self.messages = messages.map(lambda item: (item[0], (MESSAGE, 0, item[1]))).partitionBy(self.count, own)

    def save(self, name: str) -> None:
        """Write kept bytes and messages, and continue from the written table, so that they are not computed again."""
        assert self.kept is not None, "a round has been run"
        assert self.messages is not None, "a round has been run"
        rows = self.kept.union(self.messages).map(_as_row)
        columns = "part int, kind int, name string, sender int, data binary"
        self.work.write(name, self.work.spark.createDataFrame(rows, columns))
        self.load(name)

    def load(self, name: str) -> None:
        """Continue from a table that `save` has written."""
        items = self.work.read(name).rdd.map(_as_item).partitionBy(self.count, own)
        self.kept = items.filter(partial(_is, KEPT))
        self.messages = items.filter(partial(_is, MESSAGE))
        self._unwritten = 0

    def release(self) -> None:
        """Release all data of the parts."""
        for made in [self.arcs, *self._made]:
            made.unpersist()


def _as_row(item: Item) -> tuple[int, int, str, int, bytes]:
    part, (kind, key, data) = item
    return (part, kind, key, 0, data) if kind == KEPT else (part, kind, "", key, data)


def _as_item(row: Any) -> Item:
    key = row["name"] if row["kind"] == KEPT else row["sender"]
    return row["part"], (row["kind"], key, bytes(row["data"]))


@dataclass(frozen=True)
class Sweeps:
    """Sequence of sweeps: how it begins, what one sweep does, and when it ends."""

    #: Name of the checkpoints.
    name: str
    begin: Callable[[Parts], None]
    #: Runs the sweep of a number and returns its facts. The last argument: how many nodes the one before has moved.
    sweep: Callable[[Parts, int, int | None], dict[str, Any]]
    max_sweeps: int
    #: The sequence ends when at most this many nodes move.
    enough: float
    save_seconds: float

    def run(self, parts: Parts, notify: Callable[[str], None]) -> dict[str, Any]:
        """Run the sweeps, resuming from a checkpoint if there is one, and return their history."""
        history = self._resume(parts)
        saved_at = time.monotonic()
        while not history["converged"] and len(history["sweeps"]) < self.max_sweeps:
            number = len(history["sweeps"]) + 1
            begun, sent = time.monotonic(), parts.shuffle_bytes
            before = history["sweeps"][-1]["moved_count"] if history["sweeps"] else None
            swept = {"number": number, **self.sweep(parts, number, before)}
            swept |= {"shuffle_bytes": parts.shuffle_bytes - sent, "seconds": time.monotonic() - begun}
            history["sweeps"].append(swept)
            moved = swept["moved_count"]
            history["converged"] = moved == 0 or moved <= self.enough
            notify(f"sweep {number}: {moved:,} nodes changed, {swept['rounds']} rounds")
            if time.monotonic() - saved_at >= self.save_seconds:
                self._save(parts, number, history)
                saved_at = time.monotonic()
        return history

    def _resume(self, parts: Parts) -> dict[str, Any]:
        number = parts.work.newest(self.name)
        history = None if number is None else parts.work.facts(f"{self.name}-{number}")
        if history is not None:
            parts.load(f"{self.name}-{number}")
            return {**history, "resumed_sweep_count": number}
        self.begin(parts)
        return {"sweeps": [], "converged": False, "resumed_sweep_count": 0}

    def _save(self, parts: Parts, number: int, history: dict[str, Any]) -> None:
        parts.work.save_facts(f"{self.name}-{number}", history)
        parts.save(f"{self.name}-{number}")
        parts.work.remove_all(self.name, but=number)


def _first(parts: Parts, seed: int) -> None:
    """Begin with stars around a quarter of the nodes; parts keep ``rounds``."""

    def begin(part: _outcore.Part, _: dict[str, bytes], __: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        rounds, sent = part.begin(seed)
        return {"rounds": rounds}, sent, None

    parts.run(begin)


def propagation(options: Mapping[str, Any], node_count: int, part_count: int) -> Sweeps:
    """Return the sweeps of label propagation; parts keep ``rounds``."""
    seed = options["seed"]
    exact = part_count <= _EXACT_PARTS if options["exact"] is None else options["exact"]
    return Sweeps(
        name="sweeps",
        begin=partial(_first, seed=seed),
        sweep=partial(_propagate, seed=seed, many=None if exact else _MANY_MOVE * node_count),
        max_sweeps=options["max_sweeps"],
        enough=options["tolerance"] * node_count,
        save_seconds=options["save_seconds"],
    )


def alike(part: _outcore.Part, _: dict[str, bytes], __: Messages) -> Labels:
    """Return labels of a part by which all nodes are in one community."""
    return part.alike()


def propagated(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Labels:
    """Return the labels of a part after label propagation."""
    return part.finish(kept["rounds"], sent)


def _propagate(parts: Parts, number: int, before: int | None, *, seed: int, many: float | None) -> dict[str, Any]:
    """Run one sweep: rounds until no part has to sweep again if `many` is None, or else at most two.

    While many nodes move, one round is enough: a second one would only repeat moves that do not last.
    """
    most = None if many is None else 1 if before is None or before > many else 2
    rounds = arcs = 0

    def step(part: _outcore.Part, kept: dict[str, bytes], messages: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        rounds, sent, report = part.round(kept["rounds"], seed, number, most is None, messages)
        return {"rounds": rounds}, sent, report

    while True:
        rounds += 1
        reports = parts.run(step)
        arcs += sum(visited for _, visited, _ in reports)
        if rounds == most or not any(later for _, _, later in reports):
            break
    return {"moved_count": sum(moved for moved, _, _ in reports), "visited_arc_count": arcs, "rounds": rounds}


def first_moves(options: Mapping[str, Any], node_count: int, *, seeded: bool) -> Sweeps:
    """Return the sweeps of local moving that start from stars, or from single nodes; parts keep labels."""

    def begin(parts: Parts) -> None:
        _first(parts, options["seed"])
        _label(parts, propagated)

    def single(part: _outcore.Part, _: dict[str, bytes], __: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        numbers = part.single()
        return {"numbers": numbers}, part.announce(numbers), None

    start = begin if seeded else partial(_gather, first=single)
    return _moves("moves", start, options, options["max_sweeps"], _FIRST_ENOUGH * node_count)


def last_moves(options: Mapping[str, Any], node_count: int) -> Sweeps:
    """Return the sweeps of local moving that start from the ``numbers`` of parts; parts keep labels."""

    def announce(part: _outcore.Part, kept: dict[str, bytes], _: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        return kept, part.announce(kept["numbers"]), None

    return _moves("last", partial(_gather, first=announce), options, _LAST_SWEEPS, _LAST_ENOUGH * node_count)


def _gather(parts: Parts, *, first: Step) -> None:
    """Make the ``numbers`` of parts, which a first step sends to other parts, their labels."""
    parts.run(first)
    _label(parts, lambda part, kept, sent: part.gather(kept["numbers"], sent))


def moved(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Labels:
    """Return the labels of a part after local moving."""
    return part.receive(labels_of(kept), sent)


def _label(parts: Parts, labels: Callable[[_outcore.Part, dict[str, bytes], Messages], Labels]) -> None:
    """Compute labels, which parts keep; no messages are sent."""
    parts.run(lambda part, kept, sent: (kept_labels(labels(part, kept, sent)), [], None))


def kept_labels(labels: Labels) -> dict[str, bytes]:
    """Return the labels of a part as bytes to keep."""
    return dict(zip(_LABELS, labels, strict=True))


def labels_of(kept: dict[str, bytes]) -> Labels:
    """Return the labels of a part from its kept bytes."""
    own, outside, around = (kept[name] for name in _LABELS)
    return own, outside, around


def _moves(
    name: str, begin: Callable[[Parts], None], options: Mapping[str, Any], max_sweeps: int, enough: float
) -> Sweeps:
    # Without a resolution the engine uses the map equation.
    resolution = (options["resolution"] or 1.0) if options["method"] == "modularity" else None
    sweep = partial(_move, seed=options["seed"], resolution=resolution)
    return Sweeps(name, begin, sweep, max_sweeps, enough, options["save_seconds"])


def _move(parts: Parts, number: int, _: int | None, *, seed: int, resolution: float | None) -> dict[str, Any]:
    """Run one sweep of local moving, in three rounds; see `moving` of `outcore-parts`."""

    def tally(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        labels = part.receive(labels_of(kept), sent)
        return kept_labels(labels), *part.tally(labels)

    def share(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        return kept, part.share(sent), None

    # These sums are exact, so that they are independent of the order of the reports.
    strength, cut, logs = (math.fsum(sums) for sums in zip(*parts.run(tally), strict=True))
    parts.run(share)

    def shift(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        own, messages, report = part.shift(labels_of(kept), resolution, seed, number, (strength, cut), sent)
        return {**kept, "own": own}, messages, report

    reports = parts.run(shift)
    counts = {"moved_count": sum(moved for moved, _ in reports), "visited_arc_count": sum(arcs for _, arcs in reports)}
    return {**counts, "rounds": 3, "strength_logs": logs}
