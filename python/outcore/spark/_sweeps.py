"""Sweeps of label propagation and of local moving, which consist of rounds over the parts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from outcore import _outcore
from outcore.spark._parts import Done, Messages, Parts, Step

Labels: TypeAlias = tuple[bytes, bytes, bytes]

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


@dataclass(frozen=True)
class Sweeps:
    """Sequence of sweeps: how it begins, what one sweep does, and when it ends."""

    #: Name of the file with the history of its last checkpoint.
    name: str
    begin: Callable[[Parts], None]
    #: Runs the sweep of a number and returns its facts. The last argument: how many nodes the one before has moved.
    sweep: Callable[[Parts, int, int | None], dict[str, Any]]
    max_sweeps: int
    #: The sequence ends when at most this many nodes move.
    enough: float

    def run(self, parts: Parts, notify: Callable[[str], None]) -> dict[str, Any]:
        """Run the sweeps, resuming from a checkpoint if there is one, and return their history."""
        history = self._resume(parts)
        while not history["converged"] and len(history["sweeps"]) < self.max_sweeps:
            number = len(history["sweeps"]) + 1
            begun, sent = time.monotonic(), parts.shuffle_bytes
            before = history["sweeps"][-1]["moved_count"] if history["sweeps"] else None
            swept = {"number": number, **self.sweep(parts, number, before)}
            swept |= {"shuffle_bytes": parts.shuffle_bytes - sent, "seconds": time.monotonic() - begun}
            history["sweeps"].append(swept)
            moved = swept["moved_count"]
            history["converged"] = moved == 0 or moved <= self.enough
            parts.work.save_facts(self.name, {**history, "state": parts.checkpoint()})
            notify(f"sweep {number}: {moved:,} nodes changed, {swept['rounds']} rounds")
        return history

    def _resume(self, parts: Parts) -> dict[str, Any]:
        history = parts.work.facts(self.name)
        if history is None:
            self.begin(parts)
            return {"sweeps": [], "converged": False, "resumed_sweep_count": 0}
        parts.resume(history.pop("state"))
        return {**history, "resumed_sweep_count": len(history["sweeps"])}


def _first(parts: Parts, seed: int) -> None:
    """Begin with stars around a quarter of the nodes; parts keep ``rounds``."""

    def begin(part: _outcore.Part, _: dict[str, bytes], __: Messages) -> Done:
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

    def step(part: _outcore.Part, kept: dict[str, bytes], messages: Messages) -> Done:
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

    def single(part: _outcore.Part, _: dict[str, bytes], __: Messages) -> Done:
        numbers = part.single()
        return {"numbers": numbers}, part.announce(numbers), None

    start = begin if seeded else partial(_gather, first=single)
    return _moves("moves", start, options, options["max_sweeps"], _FIRST_ENOUGH * node_count)


def last_moves(options: Mapping[str, Any], node_count: int) -> Sweeps:
    """Return the sweeps of local moving that start from the ``numbers`` of parts; parts keep labels."""

    def announce(part: _outcore.Part, kept: dict[str, bytes], _: Messages) -> Done:
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
    return Sweeps(name, begin, sweep, max_sweeps, enough)


def _move(parts: Parts, number: int, _: int | None, *, seed: int, resolution: float | None) -> dict[str, Any]:
    """Run one sweep of local moving, in three rounds; see `moving` of `outcore-parts`."""

    def tally(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Done:
        labels = part.receive(labels_of(kept), sent)
        return kept_labels(labels), *part.tally(labels)

    def share(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Done:
        return kept, part.share(sent), None

    # These sums are exact, so that they are independent of the order of the reports.
    strength, cut, logs = (math.fsum(sums) for sums in zip(*parts.run(tally), strict=True))
    parts.run(share)

    def shift(part: _outcore.Part, kept: dict[str, bytes], sent: Messages) -> Done:
        own, messages, report = part.shift(labels_of(kept), resolution, seed, number, (strength, cut), sent)
        return {**kept, "own": own}, messages, report

    reports = parts.run(shift)
    counts = {"moved_count": sum(moved for moved, _ in reports), "visited_arc_count": sum(arcs for _, arcs in reports)}
    return {**counts, "rounds": 3, "strength_logs": logs}
