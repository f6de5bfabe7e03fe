"""The graphs of methods.py, generated or real, with the bars of the map equation; standard library only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import lfr
from graphs import existing
from harness import inputs, places

# Rounds to 1 with four digits.
EXACT = 0.99995


@dataclass(frozen=True)
class Case:
    """Graph and the bars of the map equation: agreement with the truth, pairs found, share of the largest community."""

    name: str
    files: Callable[[Path], tuple[Path, Path | None]]
    nmi_bar: float = 0.0
    pair_f1_bar: float = 0.0
    largest_bar: float = 1.0
    exact: bool = False
    beats_infomap: bool = False


def made(parameters: lfr.Parameters) -> tuple[Path, Path]:
    folder = places.data_folder() / "graphs"
    folder.mkdir(parents=True, exist_ok=True)
    edges, truth = folder / f"{parameters.stem}.tsv", folder / f"{parameters.stem}.truth.tsv"
    if not edges.exists():
        print(f"  generating {parameters.stem} ..", file=sys.stderr)
        partial_edges = edges.with_suffix(".incomplete")
        lfr.make(parameters, partial_edges, truth)
        partial_edges.rename(edges)
    return edges, truth


def lfr_case(
    nodes: int,
    mixing: float,
    nmi_bar: float,
    sizes: tuple[int, int] = (20, 100),
    weight_mixing: float | None = None,
    beats_infomap: bool = False,
) -> Case:
    minimum, maximum = sizes
    parameters = lfr.Parameters(nodes, mixing, weight_mixing, community_min=minimum, community_max=maximum)
    return Case(parameters.stem, lambda _: made(parameters), nmi_bar, beats_infomap=beats_infomap)


def ring(cliques: int, size: int) -> Case:
    """Return a ring of cliques with one edge from each to the next; every clique is a community."""
    name = f"ring-{cliques}x{size}"

    def files(_: Path) -> tuple[Path, Path]:
        folder = places.data_folder() / "graphs"
        folder.mkdir(parents=True, exist_ok=True)
        edges, truth = folder / f"{name}.tsv", folder / f"{name}.truth.tsv"
        with edges.open("w") as file:
            for first in range(0, cliques * size, size):
                file.writelines(f"{first + a}\t{first + b}\n" for a in range(size) for b in range(a + 1, size))
                file.write(f"{first + size - 1}\t{(first + size) % (cliques * size)}\n")
        truth.write_text("".join(f"{node}\t{node // size}\n" for node in range(cliques * size)))
        return edges, truth

    return Case(name, files, EXACT, exact=True)


def planted(nodes: int, edges: int) -> Case:
    def files(_: Path) -> tuple[Path, Path]:
        graph = inputs.planted(nodes, edges)
        return graph.path, graph.truth

    return Case(f"planted-{nodes}", files, EXACT)


def real(stem: str, truth_stem: str = "", nmi_bar: float = 0.0, pair_f1_bar: float = 0.0) -> Case:
    def files(folder: Path) -> tuple[Path, Path]:
        return existing(folder, f"{stem}.tsv"), existing(folder, f"{truth_stem or stem}.truth.tsv")

    return Case(stem.removesuffix(".score-ratio"), files, nmi_bar, pair_f1_bar)


def converted(stem: str, source: str, rows: Callable[[Path], Iterator[str]], truth: bool, largest_bar: float) -> Case:
    """Return a real graph in another format; `rows` yields lines of `source<TAB>target[<TAB>weight]`."""

    def files(folder: Path) -> tuple[Path, Path | None]:
        given = existing(folder, source)
        edges = places.data_folder() / "graphs" / f"{stem}.tsv"
        edges.parent.mkdir(parents=True, exist_ok=True)
        with edges.open("w") as file:
            file.writelines(f"{row}\n" for row in rows(given))
        return edges, existing(folder, f"{stem}.truth.tsv") if truth else None

    return Case(stem, files, largest_bar=largest_bar)


def columns(path: Path, delimiter: str | None, header: bool) -> Iterator[list[str]]:
    lines = inputs.lines(path)
    if header:
        next(lines)
    return (line.split(delimiter) for line in lines)


def email_rows(path: Path) -> Iterator[str]:
    return ("\t".join(row) for row in columns(path, ",", header=True))


def vote_rows(path: Path) -> Iterator[str]:
    return ("\t".join(row[:2]) for row in columns(path, None, header=False))


def protein_rows(path: Path) -> Iterator[str]:
    """Yield each edge once, of the two directions in the file, with its score as a probability."""
    for one, other, score in columns(path, " ", header=True):
        if one < other:
            yield f"{one}\t{other}\t{int(score) / 1000}"


BIG = (50, 1000)
SMALL = (10, 100)

CASES = {
    "full": (
        *(lfr_case(10_000, mixing, 0.999) for mixing in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)),
        lfr_case(10_000, 0.7, 0.99, beats_infomap=True),
        # Infomap begins to fail here.
        lfr_case(10_000, 0.73, 0.0, beats_infomap=True),
        *(lfr_case(10_000, mixing, bar, SMALL) for mixing, bar in ((0.5, 0.999), (0.7, 0.99))),
        *(lfr_case(100_000, mixing, 0.999) for mixing in (0.3, 0.5, 0.6, 0.7)),
        *(lfr_case(100_000, mixing, 0.999, BIG) for mixing in (0.5, 0.6)),
        *(lfr_case(10_000, 0.5, 0.999, weight_mixing=mixing) for mixing in (0.2, 0.4)),
        planted(200_000, 2_000_000),
        real("lfr_n10000_mu0.6", nmi_bar=0.999),
        real("lfr_n100000_mu0.5", nmi_bar=0.999),
        ring(30, 5),
        ring(1000, 10),
        real("orthobench.score-ratio", "orthobench", nmi_bar=0.97, pair_f1_bar=0.905),
        real("football"),
        real("karate"),
        converted("email-eu-core", "email-eu-core.csv", email_rows, True, 1.0),
        converted("string-yeast-physical", "string-yeast-physical.txt", protein_rows, False, 0.25),
        converted("wiki-vote", "wiki-vote.txt", vote_rows, False, 1.0),
    ),
    "smoke": (lfr_case(10_000, 0.3, 0.999), ring(30, 5), real("football"), real("karate")),
}
