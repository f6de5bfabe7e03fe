"""Fixtures of all tests: graphs, a directory per test, and Spark."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from spark_cluster import StandaloneCluster, environment, require_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GRAPHS = Path(__file__).resolve().parents[1] / "graphs"

Edge = tuple[str, str, float]


@pytest.fixture(autouse=True)
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run each test in an empty directory of its own, without drawings of other tests."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    if drawings := sys.modules.get("matplotlib.pyplot"):
        drawings.close("all")


@pytest.fixture
def karate() -> Path:
    return GRAPHS / "karate.tsv"


def planted(nodes: int, edges: int, seed: int = 1) -> list[Edge]:
    """Return edges that are mostly inside groups of twenty nodes; names are numbers."""
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


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Start Spark in a JVM next to this process, with two threads, listening on this machine only."""
    require_java()
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": str(folder),
        # Tests of the cluster run without this setting.
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment().items():
            patch.setenv(name, value)
        builder = SparkSession.builder.master("local[2]").appName("outcore tests")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        session.stop()


@pytest.fixture
def spark_cluster() -> Iterator[StandaloneCluster]:
    """Start a cluster of two workers with one core for a single test, which may kill its workers."""
    with StandaloneCluster() as cluster:
        yield cluster
