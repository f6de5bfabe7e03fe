"""What all tests share: graphs, and a directory to be in."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

GRAPHS = Path(__file__).resolve().parents[1] / "graphs"

Edge = tuple[str, str, float]


@pytest.fixture(autouse=True)
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in a directory of one's own, in which nothing may be left over."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def karate() -> Path:
    return GRAPHS / "karate.tsv"


def planted(nodes: int, edges: int, seed: int = 1) -> list[Edge]:
    """Edges mostly inside groups of twenty nodes, whose names are numbers."""
    chance = random.Random(seed)
    found = []
    for _ in range(edges):
        source = chance.randrange(nodes)
        inside = chance.random() < 0.8
        target = source // 20 * 20 + chance.randrange(20) if inside else chance.randrange(nodes)
        if source != target:
            found.append((str(source), str(target % nodes), chance.randrange(1, 40) / 8))
    return found


@pytest.fixture(scope="session")
def edges() -> list[Edge]:
    return planted(2000, 20000)


def write_text(edges: list[Edge], path: Path) -> Path:
    path.write_text("".join(f"{source}\t{target}\t{weight}\n" for source, target, weight in edges))
    return path
