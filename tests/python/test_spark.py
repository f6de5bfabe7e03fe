"""On Spark: the communities of the engine, independent of parts, cluster and faults."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import outcore
import outcore.spark
import pandas as pd
import pyarrow as pa
import pytest
from conftest import GRAPHS, Edge, planted
from outcore.spark import _pieces, _sweeps
from outcore.spark._work import Work
from pyspark.errors import NumberFormatException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from spark_cluster import StandaloneCluster, environment, wait_until

#: On small graphs most nodes often get one label, as expected.
pytestmark = pytest.mark.filterwarnings("ignore::outcore.errors.OutcoreWarning")

#: Mark for a further case of a kind that is always tested.
long = pytest.mark.long

Rows = list[tuple[Any, ...]]


def text(name: str, columns: int = 2) -> Rows:
    data = (GRAPHS / name).read_bytes()
    lines = (gzip.decompress(data) if name.endswith(".gz") else data).decode().splitlines()
    fields = [line.split()[:columns] for line in lines if not line.startswith("#")]
    if columns == 2:
        return [tuple(field) for field in fields]
    return [(source, target, float(weight)) for source, target, weight in fields[1:]]


def star_of_cliques() -> Rows:
    """Return a hub with an edge to every clique, cliques, loops, and an isolated node with a loop."""
    rows: Rows = []
    for clique in range(300):
        members = [f"c{clique}-{member}" for member in range(7)]
        rows += [(a, b, 1.0) for at, a in enumerate(members) for b in members[:at]]
        rows.append(("hub", members[clique % 7], 0.5))
        rows.append((members[0], members[0], 2.0))
    return [*rows, ("alone", "alone", 1.0), ("idle", "hub", 0.0)]


def path() -> Rows:
    return [(node, node + 1, 1.0) for node in range(3000)]


GENERATED: dict[str, Callable[[], Rows]] = {
    "karate": lambda: text("karate.tsv"),
    "football": lambda: text("football.tsv"),
    "yeast": lambda: text("string-yeast-physical.txt.gz", 3),
    "planted": lambda: planted(2000, 20000),
    "hub": star_of_cliques,
    "path": path,
}


def frame_of(spark: SparkSession, rows: Rows) -> DataFrame:
    columns = zip(*rows, strict=True)
    table = pa.table(dict(zip(("source", "target", "weight"), columns, strict=False)))
    return spark.createDataFrame(table).coalesce(1)


def table_of(frame: DataFrame) -> Rows:
    return [(row["node"], row["community"]) for row in frame.collect()]


def engine(rows: Rows, **options: Any) -> outcore.Communities:
    columns = dict(zip(("source", "target", "weight"), zip(*rows, strict=True), strict=False))
    return outcore.cluster(pa.table(columns), progress=False, **options)


def components_of_graph(rows: Rows, path: Path) -> outcore.Communities:
    """Return the components of a graph, whose modularity is known, unlike that of edges."""
    columns = dict(zip(("source", "target", "weight"), zip(*rows, strict=True), strict=False))
    return outcore.cluster(outcore.build(pa.table(columns), path, progress=False), method="components", progress=False)


def assert_same(found: outcore.spark.Clustered, expected: outcore.Communities) -> None:
    nodes = expected.to_arrow()
    assert table_of(found.communities) == list(
        zip(nodes["node"].to_pylist(), nodes["community"].to_pylist(), strict=True)
    )
    mine, reference = found.report["communities"], expected.report["communities"]
    for name in ("community_count", "singleton_count", "largest_size", "split_count", "converged"):
        assert mine[name] == reference[name], name
    for name in ("modularity", "coverage"):
        assert mine[name] == pytest.approx(reference[name], abs=1e-12), name
    if "sweeps" in reference:
        moved = [sweep["moved_count"] for sweep in reference["sweeps"]]
        assert [sweep["moved_count"] for sweep in found.report["sweeps"]] == moved


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("football", {"method": "label-propagation"}),
        ("yeast", {"method": "map-equation"}),
        ("planted", {"method": "modularity", "resolution": 1.5, "seed": 3}),
        ("planted", {"method": "cpm", "resolution": 0.05}),
        ("planted", {"method": "map-equation", "directed": True}),
        ("hub", {"method": "components", "self_loops": "keep"}),
        ("path", {"method": "modularity", "min_weight": 0.5, "duplicates": "max"}),
    ],
)
def test_one_task_gives_the_result_of_the_engine(spark: SparkSession, name: str, options: dict[str, Any]) -> None:
    rows = GENERATED[name]()
    weight = "weight" if len(rows[0]) == 3 else None
    found = outcore.spark.cluster(frame_of(spark, rows), weight=weight, **options)
    expected = engine(rows, **options)
    nodes = expected.to_arrow()
    assert table_of(found.communities) == list(
        zip(nodes["node"].to_pylist(), nodes["community"].to_pylist(), strict=True)
    )
    for fact in ("community_count", "singleton_count", "largest_size", "modularity"):
        assert found.report["communities"][fact] == expected.report["communities"][fact], fact
    assert found.report["graph"]["part_count"] == 1
    assert found.report["warnings"] == expected.report["warnings"]


def test_rows_of_many_tasks_reach_the_engine_in_order(spark: SparkSession) -> None:
    rows = planted(500, 5000, seed=6)
    columns = dict(zip(("source", "target", "weight"), zip(*rows, strict=True), strict=True))
    frame = spark.createDataFrame(pa.table(columns)).repartition(7)
    found = outcore.spark.cluster(frame, weight="weight")
    again = [(row["source"], row["target"], row["weight"]) for row in frame.collect()]
    nodes = engine(again, method="map-equation").to_arrow()
    assert table_of(found.communities) == list(
        zip(nodes["node"].to_pylist(), nodes["community"].to_pylist(), strict=True)
    )


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("karate", 1),
        ("hub", 3),
        pytest.param("football", 1, marks=long),
        pytest.param("yeast", 4, marks=long),
        pytest.param("planted", 6, marks=long),
        pytest.param("path", 3, marks=long),
    ],
)
def test_labels_are_those_of_the_engine(spark: SparkSession, name: str, parts: int) -> None:
    rows = GENERATED[name]()
    options: dict[str, Any] = {"method": "label-propagation", "seed": parts}
    weight = "weight" if len(rows[0]) == 3 else None
    found = outcore.spark.cluster(frame_of(spark, rows), weight=weight, parts=parts, **options)
    assert_same(found, engine(rows, **options))
    # A block has at least 256 nodes.
    graph = found.report["graph"]
    assert graph["part_count"] >= min(parts, 3)


def test_pieces_are_joined_by_rounds(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, own_directory: Path) -> None:
    """More links than a task takes give the smallest piece of each, as one task does."""
    random = Random(7)
    links = [(node + 1, node) for node in range(150)]
    links += [tuple(sorted(random.sample(range(200, 900), 2), reverse=True)) for _ in range(500)]
    expected = list(range(900))
    for _ in links:
        for piece, other in links:
            expected[piece] = expected[other] = min(expected[piece], expected[other])
    monkeypatch.setattr(_pieces, "_LINKS", 100)
    work = Work(spark, str(own_directory))
    table = spark.createDataFrame(links, "piece long, other long")
    found = _pieces.joined_by_rounds(work, table, len(links)).collect()
    assert len(list(own_directory.glob("mates-*"))) > 1
    assert sorted(map(tuple, found)) == [(at, root) for at, root in enumerate(expected) if root < at]


def test_components_are_those_of_the_engine_by_rounds(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    by_rounds, counts = _pieces.joined_by_rounds, []

    def joined(work: Work, links: DataFrame, count: int) -> DataFrame:
        counts.append(count)
        return by_rounds(work, links, count)

    monkeypatch.setattr(_pieces, "joined_by_rounds", joined)
    monkeypatch.setattr(_pieces, "_LINKS", 30)
    rows = GENERATED["hub"]()
    found = outcore.spark.cluster(frame_of(spark, rows), weight="weight", method="components", parts=3)
    assert_same(found, components_of_graph(rows, tmp_path / "graph"))
    assert counts


@pytest.mark.parametrize("name", ["hub", pytest.param("path", marks=long)])
def test_components_are_those_of_the_engine(spark: SparkSession, name: str, tmp_path: Path) -> None:
    rows = GENERATED[name]()
    found = outcore.spark.cluster(frame_of(spark, rows), weight="weight", parts=5, method="components")
    assert_same(found, components_of_graph(rows, tmp_path / "graph"))


@pytest.mark.parametrize(
    "options",
    [
        {"duplicates": "min", "self_loops": "keep", "min_weight": 0.5},
        pytest.param({"duplicates": "max", "tolerance": 0.0}, marks=long),
        pytest.param({"duplicates": "first", "max_sweeps": 2}, marks=long),
    ],
)
def test_options_have_the_same_effect(spark: SparkSession, options: dict[str, Any]) -> None:
    rows = planted(900, 12000, seed=3)
    rows += [(source, source, 1.5) for source, _, _ in rows[::100]]
    options |= {"method": "label-propagation", "seed": 7}
    found = outcore.spark.cluster(frame_of(spark, rows), weight="weight", parts=4, **options)
    assert_same(found, engine(rows, **options))


@long
def test_a_million_edges(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(int(source), int(target)) for source, target, _ in planted(60_000, 1_000_000, seed=5)]
    frame = frame_of(spark, rows)
    frame.write.parquet(f"{tmp_path}/edges.parquet")
    # Files in the order of their rows.
    stored = spark.read.schema("source long, target long").parquet(f"{tmp_path}/edges.parquet")
    found = outcore.spark.cluster(stored, method="label-propagation", parts=3, seed=2)
    assert_same(found, engine(rows, method="label-propagation", seed=2))


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("football", "map-equation"),
        pytest.param("planted", "map-equation", marks=long),
        pytest.param("football", "modularity", marks=long),
        pytest.param("yeast", "modularity", marks=long),
        pytest.param("yeast", "map-equation", marks=long),
    ],
)
def test_the_engine_finishes_what_spark_begins(spark: SparkSession, name: str, method: Any) -> None:
    rows = GENERATED[name]()
    weight = "weight" if len(rows[0]) == 3 else None
    found = outcore.spark.cluster(frame_of(spark, rows), weight=weight, parts=3, method=method)
    expected = engine(rows, method=method)
    mine, reference = found.report["communities"], expected.report["communities"]
    of_nodes = dict(table_of(found.communities))
    assert [*of_nodes] == expected.to_arrow()["node"].to_pylist()
    sizes = [list(of_nodes.values()).count(number) for number in range(mine["community_count"])]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == len(of_nodes)
    # The reported quality is that of the communities of nodes.
    Path("found.tsv").write_text("".join(f"{node}\t{number}\n" for node, number in of_nodes.items()))
    columns = dict(zip(("source", "target", "weight"), zip(*rows, strict=True), strict=False))
    graph = outcore.build(pa.table(columns), "whole.graph", progress=False)
    quality = outcore.score(graph, "found.tsv", progress=False)["quality"]
    assert quality["disconnected_count"] == 0
    assert mine["modularity"] == pytest.approx(quality["modularity"], abs=1e-6)
    # The quality may differ this much from that of the engine, as the guide says.
    if method == "modularity":
        assert mine["modularity"] >= 0.97 * reference["modularity"]
    else:
        assert mine["code_length"] == pytest.approx(quality["code_length"], abs=1e-5)
        assert mine["code_length"] <= 1.01 * reference["code_length"]


@long
def test_communities_of_communities_are_found_on_spark(spark: SparkSession) -> None:
    """Levels on Spark until a task takes the rest give the quality of the engine."""
    rows = planted(900, 6000, seed=4)
    options: dict[str, Any] = {"weight": "weight", "parts": 3, "method": "modularity", "max_sweeps": 2}
    found = outcore.spark.cluster(frame_of(spark, rows), task_rows=1000, **options)
    levels = found.report["communities"]["levels"]
    assert len(levels) > 1
    assert levels[-1]["edge_count"] <= 1000
    assert [level["edge_count"] for level in levels] == sorted((level["edge_count"] for level in levels), reverse=True)
    assert {sweep["level"] for sweep in found.report["sweeps"]} == set(range(len(levels)))
    expected = engine(rows, method="modularity").report["communities"]["modularity"]
    assert found.report["communities"]["modularity"] >= 0.98 * expected


def test_sweeps_of_two_rounds_are_as_good(spark: SparkSession) -> None:
    rows = GENERATED["planted"]()
    found = outcore.spark.cluster(
        frame_of(spark, rows), weight="weight", method="label-propagation", parts=5, exact=False
    )
    rounds = [sweep["rounds"] for sweep in found.report["sweeps"]]
    assert rounds[0] == 1
    assert max(rounds) == 2, rounds
    expected = engine(rows, method="label-propagation").report["communities"]["modularity"]
    assert found.report["communities"]["modularity"] >= 0.98 * expected


@pytest.mark.parametrize(
    ("method", "task_rows", "most"),
    [
        ("map-equation", 100_000, 9),
        # Rounds of a level come after rounds below it.
        pytest.param("modularity", 1000, 14, marks=long),
        pytest.param("label-propagation", 100_000, 6, marks=long),
    ],
)
def test_a_job_that_fails_at_many_moments_repeats_no_stage(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, method: Any, task_rows: int, most: int
) -> None:
    """The result is also independent of the number of parts. `most` tables are written before each failure."""
    write, left = Work.write, 10_000
    complete: list[str] = []

    def fail(work: Work, name: str, table: DataFrame) -> DataFrame:
        nonlocal left
        left -= 1
        if left < 0:
            raise RuntimeError("lost")
        done = write(work, name, table)
        complete.append(f"{work.directory}/{name}")
        return done

    monkeypatch.setattr(_sweeps, "_LAST_SWEEPS", 1)
    monkeypatch.setattr(Work, "write", fail)
    frame = frame_of(spark, planted(900, 6000, seed=4))
    options: dict[str, Any] = {"method": method, "max_sweeps": 2, "task_rows": task_rows}
    whole = outcore.spark.cluster(frame, parts=1, **options)
    failures = 0
    complete.clear()
    while True:
        left = most
        try:
            found = outcore.spark.cluster(frame, parts=4, work_dir="work", **options)
            break
        except RuntimeError:
            failures += 1
    assert failures >= 3
    stages = [name for name in complete if "/rounds-" not in name]
    assert sorted(stages) == sorted(set(stages))
    assert found.report["communities"]["resumed_sweep_count"] > 0
    assert found.report["graph"]["part_count"] > whole.report["graph"]["part_count"]
    assert table_of(found.communities) == table_of(whole.communities)
    (folder,) = Path("work").iterdir()
    assert files_of(folder) == ["input.json", "job.json", "report.json", "result"]


def test_nodes_without_edges_are_alone(spark: SparkSession) -> None:
    rows = [("a", "a"), ("b", "b")]
    found = outcore.spark.cluster(frame_of(spark, rows), method="map-equation")
    assert table_of(found.communities) == [("a", 0), ("b", 1)]
    assert found.report["communities"]["code_length"] == 0.0


def test_a_giant_community_of_groups_is_not_a_warning(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    find = outcore.cluster

    def cluster(*edges: Any, **options: Any) -> outcore.Communities:
        warnings.warn("one community holds 90.0 % of the nodes", outcore.OutcoreWarning, stacklevel=1)
        return find(*edges, **options)

    monkeypatch.setattr(outcore, "cluster", cluster)
    # Warnings are errors in this test.
    found = outcore.spark.cluster(frame_of(spark, text("football.tsv")), method="modularity")
    assert found.report["warnings"] == []


def test_a_giant_community_is_a_warning(spark: SparkSession) -> None:
    rows = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "e")]
    with pytest.warns(outcore.OutcoreWarning, match="holds 60.0 % of the nodes, more than half; a larger `resolution`"):
        outcore.spark.cluster(frame_of(spark, rows), method="modularity")


def test_output_is_written_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    rows = text("karate.tsv")
    expected = engine(rows, method="label-propagation")
    found = outcore.spark.cluster(frame_of(spark, rows), method="label-propagation")
    found.write(f"{tmp_path}/out")
    files = sorted(Path("out").glob("part-*"))
    assert b"".join(file.read_bytes() for file in files) == Path(expected.path).read_bytes()
    found.write("out.parquet", format="parquet")
    assert sorted(table_of(spark.read.parquet(f"{tmp_path}/out.parquet"))) == sorted(table_of(found.communities))


def test_names_are_quoted_as_by_the_engine(spark: SparkSession) -> None:
    rows = [("a\tb", '"q"'), ('"q"', 'x"y'), ('x"y', "a\tb"), ("back\\slash", "r\rr")]
    found = outcore.spark.cluster(frame_of(spark, rows), method="components")
    found.write("out")
    written = b"".join(file.read_bytes() for file in sorted(Path("out").glob("part-*")))
    assert written == Path(engine(rows, method="components").path).read_bytes()


def test_integers_stay_integers(spark: SparkSession) -> None:
    found = outcore.spark.cluster(spark.createDataFrame([(7, 3), (3, 7)], "a int, b int"), source="a", target="b")
    assert found.communities.schema["node"].dataType.simpleString() == "int"
    assert table_of(found.communities) == [(7, 0), (3, 0)]


@pytest.mark.parametrize(
    ("rows", "options", "kind", "says"),
    [
        ([("a", "b", 1.0)], {"source": "from"}, "missing-column", "`source`, `target`, `weight`"),
        ([("a", None, 1.0)], {}, "empty-name", "1 of 1 rows has a node that is null"),
        ([("a", "b\nc", 1.0)], {}, "bad-input", "1 of 1 rows has a node whose name contains a line end"),
        ([("a", "b" * 65_537, 1.0)], {}, "name-too-long", "1 of 1 rows has a node whose name is longer than 64 KiB"),
        ([("a", "b", 1.0), ("a", "", 1.0)], {}, "empty-name", "1 of 2 rows has a node without a name"),
        ([("a", "b", None)], {"weight": "weight"}, "bad-weight", "null"),
        ([("a", "b", 1.0), ("b", "c", -2.0), ("c", "d", -3.0)], {"weight": "weight"}, "bad-weight", "weight=-2.0"),
        ([("a", "b", float("nan"))], {"weight": "weight"}, "bad-weight", "not finite"),
        ([("a", "b", float("inf"))], {"weight": "weight"}, "bad-weight", "not finite"),
        ([("a", "b", 1.0)], {"weight": "source"}, "bad-weight", "string"),
        ([("a", "b", 1.0)], {"source": "weight"}, "bad-input", "not strings or integers"),
        ([], {}, "bad-input", "no edges"),
    ],
)
def test_bad_edges_are_refused(spark: SparkSession, rows: Rows, options: dict[str, Any], kind: str, says: str) -> None:
    frame = spark.createDataFrame(rows, "source string, target string, weight double").coalesce(1)
    with pytest.raises(outcore.InputError) as caught:
        outcore.spark.cluster(frame, work_dir="work", **options)
    assert caught.value.kind == kind
    assert says in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "cpm"}, "`cpm` needs `resolution`|needs `resolution`"),
        ({"method": "cpm", "resolution": 0.1, "parts": 2}, 'method="cpm"` is not available for a divided graph'),
        (
            {"directed": True, "task_rows": 0},
            "`directed` is for at most 0 edges, which one task takes, and there are 1",
        ),
        ({"method": "louvain"}, 'Louvain optimizes modularity: `method="modularity"`'),
        ({"resolution": 2.0}, "resolution"),
        ({"max_sweeps": 0}, "max_sweeps"),
        ({"parts": 0}, "parts"),
        ({"tolerance": -1}, "tolerance"),
        ({"duplicates": "mean"}, "first"),
    ],
)
def test_invalid_options_are_refused(spark: SparkSession, options: dict[str, Any], says: str) -> None:
    with pytest.raises(outcore.UsageError, match=says):
        outcore.spark.cluster(frame_of(spark, [("a", "b")]), **options)


@pytest.mark.parametrize(
    ("size", "mebibytes"),
    [("512", 512), ("512m", 512), ("2G", 2048), ("2gb", 2048), ("1073741824b", 1024), ("4096k", 4), ("1t", 1 << 20)],
)
def test_sizes_of_spark_have_its_units(size: str, mebibytes: int) -> None:
    from outcore.spark._session import _mebibytes

    assert _mebibytes(size) == mebibytes


def test_objects_other_than_tables_are_refused() -> None:
    with pytest.raises(outcore.UsageError, match=r"outcore\.cluster"):
        outcore.spark.cluster([("a", "b")])  # type: ignore[arg-type]


def files_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_a_directory_serves_many_jobs(spark: SparkSession) -> None:
    """Each has a folder, which the same call finds again and no other job touches, whatever else is there."""
    Path("work").mkdir()
    Path("work/thesis.txt").write_text("mine")
    karate, football = (frame_of(spark, text(f"{name}.tsv")) for name in ("karate", "football"))
    jobs: list[tuple[DataFrame, dict[str, Any]]] = [
        (karate, {"method": "label-propagation"}),
        (karate, {"method": "components"}),
        # The same columns and options, but other rows: another table, some of them, and one of them twice.
        (football, {"method": "label-propagation"}),
        (karate.filter("source <> '0'"), {"method": "label-propagation"}),
        (karate.union(karate.limit(1)), {"method": "label-propagation"}),
    ]
    folders: dict[Path, dict[str, int]] = {}
    found = []
    for frame, options in jobs:
        found.append(outcore.spark.cluster(frame, work_dir="work", **options))
        (new,) = (path for path in Path("work").iterdir() if path.is_dir() and path not in folders)
        assert files_of(new) == ["input.json", "job.json", "report.json", "result"]
        folders[new] = times_in(new)
    for (frame, options), before in zip(jobs, found, strict=True):
        expected = engine([(row["source"], row["target"]) for row in frame.collect()], **options)
        again = outcore.spark.cluster(frame, work_dir="work", **options)
        assert table_of(again.communities) == table_of(before.communities) == list(dict(expected).items())
        assert again.report.to_dict() == before.report.to_dict()
    assert {folder: times_in(folder) for folder in folders} == folders
    assert Path("work/thesis.txt").read_text() == "mine"
    # Only the folder of its own is begun again.
    outcore.spark.cluster(karate, method="components", work_dir="work", restart=True)
    changed = [folder for folder, times in folders.items() if times_in(folder) != times]
    assert changed == [list(folders)[1]]
    # A folder of this name that is not outcore's is left alone.
    for path in changed[0].glob("*.json"):
        path.unlink()
    for restart in (False, True):
        with pytest.raises(outcore.UsageError, match="is not empty and has no job of outcore"):
            outcore.spark.cluster(karate, method="components", work_dir="work", restart=restart)
    assert list(changed[0].glob("result/*.parquet"))


def times_in(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def by_function(frame: DataFrame) -> DataFrame:
    of_user = F.udf(lambda name: {"0": 1.0}[name], "double")
    return frame.withColumn("weight", of_user("source"))


def by_series(frame: DataFrame) -> DataFrame:
    @F.pandas_udf("double")
    def of_user(names: pd.Series) -> pd.Series:
        raise LookupError(f"no weight for {names[0]}")

    return frame.withColumn("weight", of_user("source"))


#: Edges that cannot be computed: how they are made, what is named, and what the user sees of the cause.
FAILING: dict[str, tuple[Callable[[DataFrame], DataFrame], str, str]] = {
    "function": (by_function, "column `weight`", "KeyError: '1'"),
    "pandas": (by_series, "column `weight`", "LookupError: no weight for 0"),
    "cast": (
        lambda frame: frame.withColumn("target", F.concat("target", F.lit("x")).cast("int")).withColumn(
            "weight", F.lit(1)
        ),
        "column `target`",
        r"\[CAST_INVALID_INPUT\] The value '1x'",
    ),
    "division": (
        lambda frame: frame.withColumn("weight", 1 / F.col("source").cast("int")),
        "column `weight`",
        r"\[DIVIDE_BY_ZERO\]",
    ),
    "raised": (
        lambda frame: frame.withColumn("weight", F.raise_error(F.lit("mine")).cast("double")),
        "column `weight`",
        r"\[USER_RAISED_EXCEPTION\] mine",
    ),
    "filter": (
        lambda frame: by_function(frame).filter("weight > 0"),
        "the table of edges",
        "KeyError: '1'",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_errors_of_columns_are_those_of_the_user(spark: SparkSession, name: str) -> None:
    make, place, cause = FAILING[name]
    edges = make(frame_of(spark, text("karate.tsv")))
    with pytest.raises(outcore.InputError, match=f"^{place}.* cannot be computed: {cause}") as caught:
        outcore.spark.cluster(edges, weight="weight", work_dir="work")
    assert isinstance(caught.value.__cause__, PySparkException)
    assert "outcore/spark" not in str(caught.value)
    if "Error" in cause:
        assert any(__file__ in note for note in caught.value.notes)
    assert "`edges.select('source', 'target', 'weight').collect()`" in (caught.value.hint or "")
    assert not Path("work").exists()


def test_errors_of_the_job_are_not_those_of_columns(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if they look alike, or if the columns fail no more."""

    def fail(*_: Any) -> None:
        spark.sql("SELECT CAST('x' AS int)").collect()

    monkeypatch.setattr(Work, "write", fail)
    with pytest.raises(NumberFormatException):
        outcore.spark.cluster(frame_of(spark, text("karate.tsv")))


@pytest.mark.parametrize("lost", ["input", "report"])
def test_a_table_without_its_facts_is_not_a_complete_stage(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """The driver is lost after a table is written, but before its facts are."""
    save = Work.save_facts

    def fail(work: Work, name: str, facts: Any) -> Any:
        if name == lost:
            raise RuntimeError("lost")
        return save(work, name, facts)

    rows = text("karate.tsv")
    frame = frame_of(spark, rows)
    with monkeypatch.context() as patch:
        patch.setattr(Work, "save_facts", fail)
        with pytest.raises(RuntimeError, match="lost"):
            outcore.spark.cluster(frame, method="label-propagation", work_dir="work")
    found = outcore.spark.cluster(frame, method="label-propagation", work_dir="work")
    assert_same(found, engine(rows, method="label-propagation"))


def test_a_full_disk_is_named(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError("Job aborted due to stage failure: java.io.IOException: No space left on device")

    monkeypatch.setattr("pyspark.sql.classic.dataframe.DataFrameWriter.parquet", fail)
    with pytest.raises(outcore.DiskFullError, match=r"no space is left for `.*/stages/map-equation-\w+/result`"):
        outcore.spark.cluster(frame_of(spark, text("karate.tsv")), work_dir="stages")


def test_progress_is_reported(spark: SparkSession) -> None:
    events: list[outcore.Progress] = []
    frame = frame_of(spark, text("karate.tsv"))
    outcore.spark.cluster(frame, method="label-propagation", progress=events.append)
    assert [progress.stage for progress in events if progress.is_done] == ["check", "engine"]
    outcore.spark.cluster(frame, method="label-propagation", parts=2, progress=events.append)
    assert {progress.stage for progress in events} >= {"number", "sort", "cluster", "write"}
    assert any("nodes changed" in progress.detail for progress in events)


#: Script of a job in its own process, from master, edges and work directory; prints progress, then the result.
DRIVER = """
    import json, sys
    from pyspark.sql import SparkSession
    import outcore.spark

    master, edges, work_dir, output = sys.argv[1:]
    # Without this setting for the cluster, with it in one process.
    socket = ("spark.python.unix.domain.socket.enabled", str(master.startswith("local")).lower())
    spark = SparkSession.builder.master(master).appName("outcore").config(*socket).getOrCreate()
    frame = spark.read.schema("source string, target string, weight double").csv(edges, sep="\\t")
    found = outcore.spark.cluster(
        frame, weight="weight", method="label-propagation", max_sweeps=3, parts=4, work_dir=work_dir,
        progress=lambda progress: print(progress.stage, progress.detail, flush=True),
    )
    found.write(output)
    print(json.dumps(found.report.to_dict()), flush=True)
"""


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    script = tmp_path / "driver.py"
    script.write_text(textwrap.dedent(DRIVER))
    return script


@pytest.fixture
def edge_file(tmp_path: Path, edges: list[Edge]) -> Path:
    file = tmp_path / "edges.tsv"
    file.write_text("".join(f"{source}\t{target}\t{weight}\n" for source, target, weight in edges))
    return file


def lines_of(output: Path) -> bytes:
    files = sorted(output.glob("part-*"))
    assert files
    return b"".join(file.read_bytes() for file in files)


def assert_output(output: Path, edges: list[Edge]) -> None:
    expected = engine(edges, method="label-propagation", max_sweeps=3)
    assert lines_of(output) == Path(expected.path).read_bytes()


def read_until(pipe: Any, pattern: str) -> str:
    lines = []
    for line in pipe:
        lines.append(line)
        if re.search(pattern, line):
            return str(line)
    raise AssertionError(f"nothing like {pattern} in: {''.join(lines)}")


@long
def test_a_lost_worker_does_not_change_the_result(
    spark_cluster: StandaloneCluster, driver: Path, edge_file: Path, edges: list[Edge], tmp_path: Path
) -> None:
    job = spark_cluster.driver(driver.read_text(), edge_file, tmp_path / "work", tmp_path / "out")
    out = job.process.stdout
    read_until(out, "^cluster sweep 2")
    assert all(spark_cluster.executors(worker) for worker in range(2)), "both workers are busy"
    spark_cluster.kill_worker(0)
    report = json.loads(read_until(out, "^{"))
    assert job.process.wait(60) == 0, job.log_tail()
    assert "Lost executor" in job.log.read_text()
    assert report["communities"]["resumed_sweep_count"] == 0
    assert_output(tmp_path / "out", edges)


@long
def test_every_worker_needs_the_package(driver: Path, edge_file: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    (hidden / "outcore").mkdir(parents=True)
    (hidden / "outcore" / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'outcore'\")")
    with StandaloneCluster(environments=[{}, {"PYTHONPATH": str(hidden)}]) as cluster:
        script = driver.read_text().replace("found = ", "import time; time.sleep(8); found = ", 1)
        job = cluster.driver(script, edge_file, tmp_path / "work", tmp_path / "out")
        assert job.process.wait(120) != 0
        assert "UsageError: the Python of the workers has outcore none, not " in job.log.read_text()
        assert "install it on all workers" in job.log.read_text()


#: Script of jobs on a server of Spark Connect, which it starts on this machine.
CONNECT = """
    import json, sys
    from pyspark.sql import SparkSession
    import outcore, outcore.spark
    from outcore.spark import _sweeps

    _sweeps._LAST_SWEEPS = 1
    edges, directory, jobs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    builder = SparkSession.builder.remote("local[2]").config("spark.connect.grpc.binding.address", "127.0.0.1")
    builder = builder.config("spark.python.unix.domain.socket.enabled", "true").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    frame = spark.read.schema("source string, target string, weight double").csv(edges, sep="\t").coalesce(1)
    for name, options in jobs.items():
        job = {"weight": "weight", "work_dir": f"{directory}/work", **options}
        found = outcore.spark.cluster(frame, **job)
        found.write(f"{directory}/{name}")
        # The same call returns the result that it finds.
        assert outcore.spark.cluster(frame, **job).report.to_dict() == found.report.to_dict()
    # The directory serves another job, too, and the first result is still there.
    other = outcore.spark.cluster(frame, method="components", work_dir=f"{directory}/work")
    assert other.communities.count() == found.communities.count()
    bad = frame.selectExpr("source", "target", "cast(concat(source, 'x') AS double) AS weight")
    for made, further in ((frame, {"restart": True}), (bad, {})):
        try:
            outcore.spark.cluster(made, **{**job, **further})
            raise SystemExit("nothing is refused")
        except outcore.Error as error:
            print(error.message, flush=True)
    spark.stop()
"""


@pytest.mark.parametrize(
    "jobs",
    [
        {"groups": {"method": "map-equation", "parts": 2, "max_sweeps": 1}},
        pytest.param({"engine": {"method": "cpm", "resolution": 0.1}}, marks=long),
    ],
)
def test_spark_connect_gives_the_same_bytes(
    edge_file: Path,
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    jobs: dict[str, dict[str, Any]],
) -> None:
    monkeypatch.setattr("outcore.spark._sweeps._LAST_SWEEPS", 1)
    script = textwrap.dedent(CONNECT)
    command = [sys.executable, "-c", script, str(edge_file), str(tmp_path / "remote"), json.dumps(jobs)]
    done = subprocess.run(
        command, env=environment(), text=True, capture_output=True, timeout=300, check=False, start_new_session=True
    )
    assert done.returncode == 0, done.stderr[-4000:]
    refused = done.stdout.splitlines()
    assert "cannot start over" in refused[0]
    assert "column `weight` of the edges cannot be computed: [CAST_INVALID_INPUT]" in refused[1]
    frame = spark.read.schema("source string, target string, weight double").csv(str(edge_file), sep="\t").coalesce(1)
    for name, options in jobs.items():
        outcore.spark.cluster(frame, weight="weight", **options).write(str(tmp_path / name))
        assert lines_of(tmp_path / "remote" / name) == lines_of(tmp_path / name), name


def test_a_restarted_driver_resumes(
    driver: Path, edge_file: Path, edges: list[Edge], tmp_path: Path, spark: SparkSession
) -> None:
    arguments = [edge_file, tmp_path / "work", tmp_path / "out"]
    command = [sys.executable, driver, "local[2]", *arguments]
    shown = {"env": {**os.environ, **environment()}, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    first = subprocess.Popen(command, text=True, start_new_session=True, **shown)
    try:
        read_until(first.stdout, "^cluster sweep 2")
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    wait_until(lambda: not (tmp_path / "out").exists(), "the first job has written nothing", 5)
    time.sleep(0.5)
    again = subprocess.run(command, text=True, check=True, timeout=300, **shown)
    report = json.loads(again.stdout.splitlines()[-1])
    assert report["communities"]["resumed_sweep_count"] >= 2
    assert_output(tmp_path / "out", edges)
