"""Hostile inputs: small files that unpack to large ones, long names, stars, hubs, and nodes that occur once."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import places, running, subject
from harness.running import Command

try:
    import pyarrow
    import pyarrow.feather
    import pyarrow.parquet
except ImportError:
    places.cannot_run("this eval writes tables with pyarrow: run it with the Python of `make python`")

STARS = {"full": (1_000_000, 5_000_000, 20_000_000), "smoke": (100_000,)}
EDGES = {"full": 2_000_000, "smoke": 50_000}
BOMB_BYTES = {"full": 1 << 28, "smoke": 1 << 26}
LONG_NAMES = {"full": 8_000, "smoke": 500}
LONG_BYTES = 64_000
PART = 100_000


class Inputs:
    """Files in a folder, generated on first use."""

    def __init__(self, folder: Path, scale: str) -> None:
        self._folder, self._scale = folder, scale
        places.require_space(3 << 30)
        folder.mkdir(parents=True, exist_ok=True)

    def _made(self, name: str, make: Callable[[Path], object]) -> Path:
        path = self._folder / f"{self._scale}-{name}"
        if not path.exists():
            partial = path.with_name("incomplete-" + path.name)
            make(partial)
            partial.rename(path)
        return path

    def bombs(self) -> Iterator[Path]:
        """Yield files of a few kilobytes that unpack to a quarter of a gigabyte."""
        size = BOMB_BYTES[self._scale]
        line = b"a\tb\n" * 4096

        def packed(module: object) -> Callable[[Path], object]:
            def make(path: Path) -> None:
                with module.open(path, "wb") as file:  # type: ignore[attr-defined]
                    for _ in range(size // len(line)):
                        file.write(line)

            return make

        def one_line(path: Path) -> None:
            with gzip.open(path, "wb", compresslevel=6) as file:
                for _ in range(size >> 20):
                    file.write(b"a" * (1 << 20))

        yield self._made("lines.tsv.gz", packed(gzip))
        yield self._made("lines.tsv.bz2", packed(bz2))
        yield self._made("lines.tsv.xz", packed(lzma))
        yield self._made("one-line.tsv.gz", one_line)
        name = "n" * LONG_BYTES
        count = size // LONG_BYTES
        for kind, text in (("one-name", [name] * count), ("two-names", [name, name + "2"] * (count // 2))):
            table = pyarrow.table({"source": ["hub"] * len(text), "target": text})
            for packing in ("zstd", "snappy"):
                yield self._made(
                    f"{kind}-{packing}.parquet",
                    lambda path, table=table, packing=packing: pyarrow.parquet.write_table(
                        table, path, compression=packing
                    ),
                )
            yield self._made(
                f"{kind}.arrow",
                lambda path, table=table: pyarrow.feather.write_feather(table, path, compression="zstd"),
            )

    def long_names(self) -> Iterator[Path]:
        """Yield edges with names of 64 KB, as text and as a table."""
        names = [f"{number:08}" + "x" * (LONG_BYTES - 8) for number in range(LONG_NAMES[self._scale])]

        def text(path: Path) -> None:
            with path.open("w") as file:
                file.writelines(f"{a}\t{b}\n" for a, b in zip(names[::2], names[1::2], strict=True))

        def table(path: Path) -> None:
            columns = {"source": names[::2], "target": names[1::2]}
            pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=64)

        yield self._made("names.tsv", text)
        yield self._made("names.parquet", table)

    def stars(self) -> Iterator[Path]:
        """Yield stars: one node with an edge to all others."""
        for leaves in STARS[self._scale]:

            def make(path: Path, leaves: int = leaves) -> None:
                with path.open("w") as file:
                    for first in range(0, leaves, PART):
                        file.writelines(f"hub\tleaf{leaf}\n" for leaf in range(first, min(first + PART, leaves)))

            yield self._made(f"star-{leaves}.tsv", make)

    def graphs(self) -> Iterator[Path]:
        """Yield a graph with communities, one with hubs, and one most of whose nodes occur once."""
        edges = EDGES[self._scale]
        for name, model in (
            ("communities", ["planted", "--nodes", str(edges // 5), "--edges", str(edges)]),
            ("hubs", ["rmat", "--scale", str(edges.bit_length() - 5)]),
            ("once", ["planted", "--nodes", str(edges * 3 // 2), "--edges", str(edges)]),
        ):

            def make(path: Path, model: list[str] = model) -> None:
                argv = [str(subject.outcore()), "generate", *model, "--seed", "7", "-o", str(path)]
                done = running.run_once(Command("generate", argv))
                if not done.ok:
                    places.cannot_run(done.error)

            yield self._made(f"{name}-{edges}.tsv", make)

    def self_hits(self) -> Iterator[Path]:
        """Yield hits of sequences, each with the weight of its hit to itself."""
        count = EDGES[self._scale] // 2

        def make(path: Path) -> None:
            with path.open("w") as file:
                for node in range(count):
                    file.write(f"seq{node}\tseq{node}\t{500 + node % 97}\n")
                    file.write(f"seq{node}\tseq{node * 7919 % count}\t{100 + node % 89}\n")

        yield self._made(f"hits-{count}.tsv", make)

    def _of(self, graph: Path, name: str, argv: list[str]) -> Path:
        def make(path: Path) -> None:
            command = [str(subject.outcore()), *argv, "-o", str(path), "--memory", "2GiB"]
            done = running.run_once(Command(name, command, cwd=self._folder))
            if not done.ok:
                places.cannot_run(done.error)

        return self._made(f"{graph.stem.removeprefix(self._scale + '-')}.{name}", make)

    def graph(self, graph: Path) -> Path:
        """Return the graph of an edge list."""
        return self._of(graph, "graph", ["build", str(graph)])

    def labels(self, graph: Path) -> Path:
        """Return communities of an edge list."""
        return self._of(graph, "labels.tsv", ["cluster", str(graph), "--method", "label-propagation"])
