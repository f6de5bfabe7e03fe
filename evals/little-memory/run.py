"""The cost of little memory: whole jobs with a small limit compared with a large one (bars R1, R2, R3).

R1: edges nearly all of whose names occur once, clustered in 128 MiB and in 8 GiB. R2: 5 M nodes and 50 M edges in 64
MiB and in 4 GiB. The communities must be the same byte for byte. R3: the same jobs under a hard limit of the kernel of
the given memory plus 32 MiB, including page cache and without swap; and once more from a compressed file. R3 is skipped
with a message if control groups cannot be created.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import groups, inputs, places, results, running, subject
from harness.running import Command

TOLERANCE_MIB = 32


@dataclass(frozen=True)
class Bar:
    """Graph, its two memory limits, and the maximum ratio of time."""

    name: str
    sizes: dict[str, tuple[int, int]]
    little_mib: int
    much_mib: int
    most_ratio: float


BARS = (
    Bar("R1", {"full": (21_000_000, 10_000_000), "smoke": (3_000_000, 2_000_000)}, 128, 8192, 1.5),
    Bar("R2", {"full": (5_000_000, 50_000_000), "smoke": (500_000, 3_000_000)}, 64, 4096, 2.0),
)


def compressed(path: Path, folder: Path) -> Path:
    """Return the file compressed by gzip."""
    packed = folder / f"{path.name}.gz"
    with path.open("rb") as text, gzip.open(packed, "wb", compresslevel=1) as file:
        shutil.copyfileobj(text, file, places.MIB)
    return packed


def measure(bar: Bar, scale: str, repeats: int, groups_missing: str | None) -> int:
    nodes, edges = bar.sizes[scale]
    places.require_space(edges * 200)
    graph = inputs.planted(nodes, edges)
    folder = places.fresh(places.data_folder() / "little-memory")
    found: dict[str, list[str]] = {}

    def command(name: str, source: Path, mib: int, group: groups.MemoryGroup | None = None) -> Command:
        own = folder / name.replace(" ", "-")
        communities = own / "communities"

        def prepare() -> None:
            if communities.exists():
                found.setdefault(name, []).append(inputs.sha256(communities))
            places.fresh(own)
            running.settle(source)

        argv = subject.cluster_argv(source, communities, own / "work", f"{mib}MiB")
        return Command(name, argv if group is None else group.argv(argv), [own], prepare)

    little, much = f"{bar.little_mib} MiB", f"{bar.much_mib} MiB"
    limits = {little: bar.little_mib, much: bar.much_mib}
    result = results.Result("little-memory", bar.name, scale, graph.description, part=bar.name)
    free = [command(name, graph.path, mib) for name, mib in limits.items()]
    result.measure(free, repeats)
    if groups_missing is None:
        group = groups.MemoryGroup(bar.name, (bar.little_mib + TOLERANCE_MIB) * places.MIB)
        try:
            packed = compressed(graph.path, folder)
            inside = {"in a group": graph.path, "in a group from gzip": packed}
            held = [command(name, source, bar.little_mib, group) for name, source in inside.items()]
            result.measure(held, 1)
        finally:
            group.remove()
        result.check_runs(little, much, *inside)
    else:
        print(f"  R3 is skipped: {groups_missing}", file=sys.stderr)
        result.check_runs(little, much)
    for own in sorted(folder.iterdir()):
        if (own / "communities").exists():
            found.setdefault(own.name, []).append(inputs.sha256(own / "communities"))
    places.fresh(folder)

    every = [digest for digests in found.values() for digest in digests]
    result.check("different communities", sum(digest != every[0] for digest in every), 0)
    for name, mib in limits.items():
        row = result.summary(name)
        result.check(f"{name}: peak memory", row.peak_memory_bytes / places.MIB, mib + TOLERANCE_MIB, unit="MiB")
    ratio = result.summary(little).median_seconds / result.summary(much).median_seconds
    result.check("time in little memory / in much", ratio, bar.most_ratio, unit="x", judged=scale == "full")
    return result.finish(much)


def main() -> int:
    def extend(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--bar", choices=[bar.name for bar in BARS], help="only this part (default: all)")

    described = "whole jobs in little memory: time, memory, same bytes"
    options = results.arguments("little-memory", described, repeats=1, extend=extend)
    groups_missing = groups.reason_for_none()
    bars = [bar for bar in BARS if options.bar in (None, bar.name)]
    return max(measure(bar, options.scale, options.repeats, groups_missing) for bar in bars)


if __name__ == "__main__":
    sys.exit(main())
