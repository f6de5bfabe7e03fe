"""Rounds over parts, and the sweeps of label propagation and of local moving, which are made of them.

A round is a task for each part, which keeps bytes for the next round and sends bytes to other parts.

The arcs of a part stay where they are, serialised; what a task keeps stays with them; only messages go over the
network. So a round is one job of two stages. Resilient datasets are used, not tables: they let what is kept stay in
the partition of its part.
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

ARCS, KEPT, MESSAGE, TOLD = range(4)
#: Part; kind, key, data.
Item: TypeAlias = tuple[int, tuple[int, Any, Any]]
Messages: TypeAlias = list[tuple[int, bytes]]
Labels: TypeAlias = tuple[bytes, bytes, bytes]
#: A step of one part: given what was kept and sent to it, it gives what it keeps, sends and tells the driver.
Step: TypeAlias = Callable[["_outcore.Part", dict[str, bytes], Messages], tuple[dict[str, bytes], Messages, Any]]

#: Rounds that may follow each other before all is written, so that a lost worker does not cost more than these.
_ROUNDS_UNWRITTEN = 24
#: First sweeps of local moving end when at most this share of the nodes moves, as in the engine.
MOVES_ENOUGH = 0.01
#: Sweeps over the graph after the engine has found communities of communities, as in the engine.
_LAST_SWEEPS = 2
#: Labels of a part's nodes; of nodes outside, which these are; and theirs.
_LABELS = ("own", "outside", "around")


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

    work: Work
    arcs: RDD[Item]
    bounds: bytes
    kept: RDD[Item] | None = None
    messages: RDD[Item] | None = None
    #: Bytes of messages so far.
    shuffle_bytes: int = 0
    _made: list[RDD[Item]] = field(default_factory=list)
    #: Rounds since all was written, and how often that was.
    _unwritten: int = 0
    _written: int = 0

    @classmethod
    def of(cls, work: Work, bounds: bytes) -> Parts:
        """Give the parts that have been made, without anything kept."""
        table = work.read("parts")
        rows = table.rdd.map(lambda row: (row["part"], (ARCS, row["place"], bytes(row["data"]))))
        arcs = rows.partitionBy(len(bounds) // 4 - 1, own).persist(StorageLevel.MEMORY_AND_DISK)
        return cls(work, arcs, bounds)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.bounds) // 4 - 1

    def run(self, step: Step) -> list[Any]:
        """Run a step on every part; gives what each tells, in any order."""
        if self._unwritten >= _ROUNDS_UNWRITTEN:
            self._written += 1
            self.save(f"rounds-{self._written}")
            self.work.remove_all("rounds", but=self._written)
        self._unwritten += 1
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

    def save(self, name: str) -> None:
        """Write what is kept and under way, and go on from what is written: nothing before it is computed again."""
        assert self.kept is not None, "a round has been run"
        assert self.messages is not None, "a round has been run"
        rows = self.kept.union(self.messages).map(_as_row)
        columns = "part int, kind int, name string, sender int, data binary"
        self.work.write(name, self.work.spark.createDataFrame(rows, columns))
        self.load(name)

    def load(self, name: str) -> None:
        """Go on from what was saved."""
        items = self.work.read(name).rdd.map(_as_item).partitionBy(self.count, own)
        self.kept = items.filter(partial(_is, KEPT))
        self.messages = items.filter(partial(_is, MESSAGE))
        self._unwritten = 0

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


@dataclass(frozen=True)
class Sweeps:
    """Sweeps that follow each other: what comes before them, what one is, and when they end."""

    #: What they are saved as.
    name: str
    begin: Callable[[Parts], None]
    #: Makes the sweep of a number, and says what it did.
    sweep: Callable[[Parts, int], dict[str, Any]]
    most: int
    #: They end when at most so many nodes move.
    enough: float
    save_seconds: float

    def run(self, parts: Parts, tell: Callable[[str], None]) -> dict[str, Any]:
        """Sweep, or go on from what was saved; gives the history."""
        history = self._go_on(parts)
        saved_at = time.monotonic()
        while not history["converged"] and len(history["sweeps"]) < self.most:
            number = len(history["sweeps"]) + 1
            begun, before = time.monotonic(), parts.shuffle_bytes
            swept = {"number": number, **self.sweep(parts, number)}
            swept |= {"shuffle_bytes": parts.shuffle_bytes - before, "seconds": time.monotonic() - begun}
            history["sweeps"].append(swept)
            moved = swept["moved_count"]
            history["converged"] = moved == 0 or moved <= self.enough
            tell(f"sweep {number}: {moved:,} nodes changed, {swept['rounds']} rounds")
            if time.monotonic() - saved_at >= self.save_seconds:
                self._save(parts, number, history)
                saved_at = time.monotonic()
        return history

    def _go_on(self, parts: Parts) -> dict[str, Any]:
        number = parts.work.newest(self.name)
        history = None if number is None else parts.work.facts(f"{self.name}-{number}")
        if history is not None:
            parts.load(f"{self.name}-{number}")
            return {**history, "resumed_sweep_count": number}
        self.begin(parts)
        return {"sweeps": [], "converged": False, "resumed_sweep_count": 0}

    def _save(self, parts: Parts, number: int, history: dict[str, Any]) -> None:
        parts.work.keep_facts(f"{self.name}-{number}", history)
        parts.save(f"{self.name}-{number}")
        parts.work.remove_all(self.name, but=number)


def _first(parts: Parts, seed: int) -> None:
    """Let parts keep ``rounds``: stars around a quarter of the nodes."""

    def begin(part: _outcore.Part, _: dict[str, bytes], __: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        rounds, sent = part.begin(seed)
        return {"rounds": rounds}, sent, None

    parts.run(begin)


def propagation(options: Mapping[str, Any], node_count: int) -> Sweeps:
    """Label propagation. Parts keep ``rounds``."""
    seed = options["seed"]
    return Sweeps(
        name="sweeps",
        begin=partial(_first, seed=seed),
        sweep=partial(_propagate, seed=seed),
        most=options["max_sweeps"],
        enough=options["tolerance"] * node_count,
        save_seconds=options["save_seconds"],
    )


def alike(part: _outcore.Part, _: dict[str, bytes], __: Messages) -> Labels:
    """Give the labels of a part for which all nodes are together."""
    return part.alike()


def propagated(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Labels:
    """Give the labels of a part when label propagation has ended."""
    return part.finish(kept["rounds"], sent)


def _propagate(parts: Parts, number: int, *, seed: int) -> dict[str, Any]:
    rounds = arcs = 0

    def step(part: _outcore.Part, kept: dict[str, bytes], messages: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        rounds, sent, told = part.round(kept["rounds"], seed, number, messages)
        return {"rounds": rounds}, sent, told

    while True:
        rounds += 1
        told = parts.run(step)
        arcs += sum(looked_at for _, looked_at, _ in told)
        if not any(later for _, _, later in told):
            break
    return {"moved_count": sum(moved for moved, _, _ in told), "visited_arc_count": arcs, "rounds": rounds}


def first_moves(options: Mapping[str, Any], node_count: int) -> Sweeps:
    """Local moving from stars on. Parts keep labels."""

    def begin(parts: Parts) -> None:
        _first(parts, options["seed"])
        _label(parts, propagated)

    return _moves("moves", begin, options, options["max_sweeps"], MOVES_ENOUGH * node_count)


def last_moves(options: Mapping[str, Any]) -> Sweeps:
    """Local moving from the ``numbers`` that parts keep. Parts keep labels."""

    def announce(part: _outcore.Part, kept: dict[str, bytes], _: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        return kept, part.announce(kept["numbers"]), None

    def begin(parts: Parts) -> None:
        parts.run(announce)
        _label(parts, lambda part, kept, sent: part.told(kept["numbers"], sent))

    return _moves("last", begin, options, _LAST_SWEEPS, 0)


def moved(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Labels:
    """Give the labels of a part when local moving has ended."""
    return part.hear(labels_of(kept), sent)


def _label(parts: Parts, labels: Callable[[_outcore.Part, dict[str, bytes], Messages], Labels]) -> None:
    """Let parts keep labels, and send nothing."""
    parts.run(lambda part, kept, sent: (kept_labels(labels(part, kept, sent)), [], None))


def kept_labels(labels: Labels) -> dict[str, bytes]:
    """Name labels of a part's nodes; of nodes outside, which these are; and theirs."""
    return dict(zip(_LABELS, labels, strict=True))


def labels_of(kept: dict[str, bytes]) -> Labels:
    """Give labels that are kept."""
    own, outside, around = (kept[name] for name in _LABELS)
    return own, outside, around


def _moves(name: str, begin: Callable[[Parts], None], options: Mapping[str, Any], most: int, enough: float) -> Sweeps:
    # Without a resolution the engine goes by the map equation.
    resolution = (options["resolution"] or 1.0) if options["method"] == "modularity" else None
    sweep = partial(_move, seed=options["seed"], resolution=resolution)
    return Sweeps(name, begin, sweep, most, enough, options["save_seconds"])


def _move(parts: Parts, number: int, *, seed: int, resolution: float | None) -> dict[str, Any]:
    """Move every node once: three rounds, see the engine's `parts::moving`."""

    def tally(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        labels = part.hear(labels_of(kept), sent)
        return kept_labels(labels), *part.tally(labels)

    def share(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        return kept, part.share(sent), None

    # These sums are exact, so that the order in which parts tell is of no account.
    strength, cut, logs = (math.fsum(sums) for sums in zip(*parts.run(tally), strict=True))
    parts.run(share)

    def shift(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> tuple[dict[str, bytes], Messages, Any]:
        own, messages, did = part.shift(labels_of(kept), resolution, seed, number, (strength, cut), sent)
        return {**kept, "own": own}, messages, did

    told = parts.run(shift)
    counts = {"moved_count": sum(moved for moved, _ in told), "visited_arc_count": sum(arcs for _, arcs in told)}
    return {**counts, "rounds": 3, "strength_logs": logs}
