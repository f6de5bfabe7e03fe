"""Edge lists read by Spark, and the command on Spark: order, bytes and errors are those of the engine."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import outcore
import pyarrow as pa
import pyarrow.parquet
import pytest
from spark_cluster import environment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark")

from outcore.spark import _files
from outcore.spark._reading import Reading

#: Rows of names and optionally a weight.
Rows = list[tuple[str, ...]]


@pytest.fixture
def small_splits(spark: SparkSession) -> Iterator[SparkSession]:
    """Use splits so small that each file has many, several of them in one task."""
    settings = {
        "spark.sql.files.maxPartitionBytes": "700",
        "spark.sql.files.openCostInBytes": "100",
        "spark.sql.files.minPartitionNum": "1",
    }
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield spark
    for name in settings:
        spark.conf.unset(name)


def some_rows(count: int, seed: int) -> Rows:
    chance = random.Random(seed)
    return [
        (f"n{chance.randrange(300)}", f"n{chance.randrange(300)}", str(chance.randrange(9) / 4)) for _ in range(count)
    ]


def as_text(rows: Rows, delimiter: str = "\t", end: str = "\n") -> str:
    return "".join(delimiter.join(row) + end for row in rows)


def here(*names: str | Path) -> list[str]:
    """Return absolute paths, since Spark stays in the directory in which it was started."""
    return [str(Path.cwd() / name) for name in names]


def read(spark: SparkSession, *inputs: str | Path, **reading: object) -> Rows:
    """Return the rows that Spark reads, in the order of their places."""
    edges = _files.read(spark, here(*inputs), Reading(**reading))  # type: ignore[arg-type]
    names = ["source", "target", *(["weight"] if edges.is_weighted else [])]
    found = edges.frame.orderBy(_files.PLACE).select("problem", *names).collect()
    assert not [row for row in found if row["problem"]]
    return [tuple(str(row[name]) for name in names) for row in found]


def as_read(rows: Rows) -> Rows:
    return [(*row[:2], *(str(float(weight)) for weight in row[2:])) for row in rows]


def test_rows_come_in_the_order_of_the_files(small_splits: SparkSession) -> None:
    folder = Path("in")
    folder.mkdir()
    parts = [some_rows(count, seed) for seed, count in enumerate((30, 400, 5, 90, 60, 200, 1500))]
    (folder / "b 0[x].csv").write_text("# note\n\nsource,target,weight\n" + as_text(parts[0], ","))
    (folder / "a1.tsv").write_text("% of KONECT\n" + as_text(parts[1], "\t", "\r\n"), newline="")
    (folder / "z2.txt").write_text(as_text(parts[2], "  "))
    with gzip.open(folder / "c3.gz", "wt") as packed:
        packed.write(as_text(parts[3], ";"))
    (folder / "y=1").mkdir()
    (folder / "y=1" / "4.tsv").write_text("\ufeff" + as_text(parts[4], "|").rstrip("\n"))
    table = pa.table([list(column) for column in zip(*parts[5], strict=True)], ["to", "from", "w"])
    weights = pa.array([float(row[2]) for row in parts[5]])
    pyarrow.parquet.write_table(table.set_column(2, "weight", weights), folder / "5.parquet", row_group_size=20)
    (folder / "6.tsv.bz2").write_bytes(bz2.compress(as_text(parts[6]).encode(), 1))
    (folder / "7.tsv").write_text("# nothing but this\n")
    found = read(
        small_splits,
        folder / "z*.txt",
        folder / "5.parquet",
        folder / "[ab]*",
        folder / "y=1",
        folder / "c3.gz",
        folder / "7.tsv",
        folder / "6.tsv.bz2",
    )
    by_name = [(source, target, weight) for target, source, weight in parts[5]]
    assert found == as_read(parts[2] + by_name + parts[1] + parts[0] + parts[4] + parts[3] + parts[6])


def test_communities_are_those_of_the_engine(small_splits: SparkSession, own_directory: Path) -> None:
    names = []
    for seed in range(8):
        names.append(f"part-{7 - seed}.tsv")
        header = "from\tto\tscore\n" if seed % 2 else ""
        Path(names[-1]).write_text(header + as_text(some_rows(20 + 40 * (seed % 3), seed)))
    options = {"method": "label-propagation", "seed": 3}
    edges = _files.read(small_splits, here(*names), Reading())
    found = edges.cluster(**options, progress=False)
    found.write(str(own_directory / "found"))
    outcore.cluster(names, **options, output="expected.tsv", progress=False)  # type: ignore[arg-type]
    lines = b"".join(path.read_bytes() for path in sorted(Path("found").glob("part-*")))
    assert lines == Path("expected.tsv").read_bytes()


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("a,b\nc,d\n", {}),
        ("a b 1\nb c 2\n", {}),
        ("x 3 a b\ny 4 c d\n", {"columns": ("3", "4", "2")}),
        ("weight,to,from\n1,a,b\n", {"columns": ("from", "to", "weight")}),
        ("from\tto\nto\tfrom\n", {}),
        ("x\ty\n1\t2\n2\t3\n", {}),
        ("source\ttarget\na\tb\n", {"header": "no"}),
        ("a\tb\nc\td\n", {"header": "yes"}),
        ("//no\na:b:1e-400\nc:d:+.5\n", {"comment": "//", "delimiter": ":"}),
        ("#a\tb\n", {"comment": ""}),
        ("a\tb\t1\t\n", {"ignore_weights": True}),
        ("q s 98.5 20 0 0 1 20 1 20 1e-5 12\n".replace(" ", "\t"), {}),
        ("a\tb\t 2 \nprotein1\tprotein2\t0\n", {}),
        ("protein1 protein2 score\nx y 5\n", {}),
        ('"a,b",c\n"say ""a""",d\n', {}),
        ('"from" "to"\n"1" "a" "b"\n"2" "b" "c"\n', {}),
        ("a;b;1,5\nb;c;2,25\n", {}),
        ("a, b\nb, c\n", {}),
    ],
)
def test_lines_are_read_as_the_engine_reads_them(spark: SparkSession, text: str, reading: dict[str, object]) -> None:
    Path("edges").write_text(text)
    # No edge is repeated; sums of search results would be warned of.
    keywords = {**reading, "delimiter": reading.get("delimiter"), "duplicates": "max"}
    outcore.build("edges", "graph", self_loops="keep", progress=False, **keywords)  # type: ignore[arg-type]
    rows = read(spark, "edges", **reading)
    columns = [list(column) for column in zip(*rows, strict=True)]
    weights = [[float(weight) for weight in column] for column in columns[2:]]
    table = pa.table([*columns[:2], *weights], ["source", "target", "weight"][: len(columns)])
    pyarrow.parquet.write_table(table, "rows.parquet")
    outcore.build("rows.parquet", "again", self_loops="keep", duplicates="max", progress=False)
    facts, again = (json.loads(Path(graph, "graph.json").read_text()) for graph in ("graph", "again"))
    assert Path("graph/names").read_bytes() == Path("again/names").read_bytes()
    assert Path("graph/arcs").read_bytes() == Path("again/arcs").read_bytes()
    assert facts["node_count"] == again["node_count"]


BAD = [
    ("a\tb\t2\nb\tc\tten\nc\td\t-1\n", {}),
    ("a\tb\t2\nb\tc\t-1e-999\n", {}),
    ("a\tb\t2\nb\tc\tnan\n", {}),
    ("a\tb\t2\nb\tc\tinf\n", {}),
    ("a\tb\t2\nb\tc\t\n", {}),
    ("a\tb\n\tc\n", {}),
    ("a\tb\nb\t\n", {}),
    ("a\tb\n# x\n\nb\n", {}),
    ("a b 1\nb c 1\nc d\n", {}),
    ("a\tb\n" + "x" * 70000 + "\tb\n", {}),
    ("a\tb\n", {"columns": ("1", "5")}),
    ("source\ttarget\n", {"columns": ("source", "to")}),
    ("# nothing\n", {}),
    ("# x\nsource\ttarget\n\na\tb\nsource\ttarget\n", {}),
    ("a\tb\tNA\nb\tc\t2\n", {}),
    ("a\tb\t1 000\nb\tc\t2\n", {}),
    ("a\tb\t5%\nb\tc\t6 %\n", {}),
    ("a,b\n" * 2000 + '"a,c\n', {}),
    ("<html>\n<body>\n", {}),
]


@pytest.mark.parametrize(("text", "reading"), BAD)
def test_errors_are_those_of_the_engine(spark: SparkSession, text: str, reading: dict[str, object]) -> None:
    Path("edges.tsv").write_text(text)
    with pytest.raises(outcore.InputError) as expected:
        outcore.cluster("edges.tsv", progress=False, **reading)  # type: ignore[arg-type]
    with pytest.raises(outcore.InputError) as found:
        options = Reading(**reading)  # type: ignore[arg-type]
        _files.read(spark, here("edges.tsv"), options).cluster(method="components", progress=False)
    assert found.value.kind == expected.value.kind
    assert (found.value.line, found.value.column) == (expected.value.line, expected.value.column)
    if found.value.line is not None:
        assert found.value.message == expected.value.message
        assert (found.value.byte, found.value.text) == (expected.value.byte, expected.value.text)


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("edges.mci", b"(mclheader\nmcltype matrix\n", "bad-input"),
        ("edges.tsv", b"a\tb\nb\t\xff\n", "bad-input"),
        ("edges.tsv", gzip.compress(b"a\tb\n", mtime=0), "bad-input"),
        ("edges.mtx", b"%%MatrixMarket matrix coordinate real general\n", "bad-input"),
        ("edges.tsv.xz", b"", "bad-input"),
        ("edges.metis", b"1 1\n", "bad-input"),
        ("_edges.tsv", b"a\tb\n", "usage"),
    ],
)
def test_formats_that_spark_does_not_read_are_errors(spark: SparkSession, name: str, data: bytes, kind: str) -> None:
    Path(name).write_bytes(data)
    with pytest.raises(outcore.errors.Error) as error:
        _files.read(spark, here(name), Reading()).cluster(method="components", progress=False)
    assert error.value.kind == kind


def test_impossible_inputs_are_errors(spark: SparkSession) -> None:
    Path("a.tsv").write_text("a\tb\n")
    Path("b.tsv").write_text("a\tb\t1\n")
    for inputs, kind in (
        (here("missing.tsv"), "io"),
        (here("x*.tsv"), "io"),
        (["nowhere://a.tsv"], "io"),
        (here("a.tsv", "../" + Path.cwd().name + "/a.tsv"), "usage"),
        (here("a.tsv", "b.tsv"), "bad-input"),
        (["table:a", *here("b.tsv")], "usage"),
        (["table:no_such_table"], "io"),
    ):
        with pytest.raises(outcore.errors.Error) as error:
            _files.read(spark, inputs, Reading())
        assert error.value.kind == kind, inputs


def test_a_split_that_was_not_counted_is_an_error(spark: SparkSession) -> None:
    Path("a.tsv").write_text("a\tb\n")
    frame = _files._scan_lines(spark, [Path("a.tsv").absolute().as_uri()])
    with pytest.raises(Exception, match="has changed while it was read"):
        _files._of_lines(frame, {}, is_weighted=False).collect()


def test_tables_of_the_catalog_are_read(spark: SparkSession) -> None:
    spark.createDataFrame([(1, 2, 0.5), (2, 3, 1.0)], ["from", "to", "strength"]).createOrReplaceTempView("links")
    edges = _files.read(spark, ["table:links"], Reading())
    assert edges.frame.columns == ["source", "target", "weight"]
    found = edges.cluster(method="components", progress=False)
    assert [tuple(row) for row in found.communities.collect()] == [("1", 0), ("2", 0), ("3", 0)]


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command as its package starts it."""
    call = "import outcore._command as command; command.main()"
    argv = [sys.executable, "-c", call, "cluster", *words]
    return subprocess.run(argv, capture_output=True, text=True, env={**environment(), **variables})


def test_the_command_writes_what_the_engine_writes(karate: Path) -> None:
    common = [str(karate), "--method", "label-propagation"]
    assert run(*common, "-o", "expected.tsv").returncode == 0
    on_spark = ["--engine", "spark", "--master", "local[2]", "--spark-conf", "spark.ui.enabled=false"]
    done = run(*common, "-o", "found", "--report", "report.json", *on_spark)
    assert done.returncode == 0, done.stderr
    lines = b"".join(path.read_bytes() for path in sorted(Path("found").glob("part-*")))
    assert lines == Path("expected.tsv").read_bytes()
    assert json.loads(Path("report.json").read_text())["graph"]["node_count"] == 34
    assert "34 nodes in" in done.stderr
    Path("bad.tsv").write_text("a\tb\t2\nb\tc\tten\n")
    done = run("bad.tsv", "--columns", "1,2,3", "-o", "found", *on_spark)
    assert done.returncode == 3, done.stderr
    assert "error[bad-weight]: weight is not a number\n --> " in done.stderr
    assert "bad.tsv:2:5\n  |\n2 | b\\tc\\tten\n" in done.stderr
    assert Path("found/_SUCCESS").exists()


def test_wrong_usage_is_reported_before_spark_starts(karate: Path) -> None:
    spark = [str(karate), "--engine", "spark", "-o", "found"]
    for words, variables, message in (
        ([*spark, "--levels", "tree", "--threads", "2"], {}, "`--levels`, `--threads` are not available"),
        ([str(karate), "-o", "found", "--master", "yarn"], {}, "`--master` is for Spark"),
        ([*spark], {"OUTCORE_PYTHON": "no-such-python"}, "cannot start `no-such-python`"),
        ([*spark], {"JAVA_HOME": "/nowhere"}, "install OpenJDK 17"),
        ([*spark[:-1], "found.jsonl"], {}, "Spark writes a directory of files"),
        ([*spark[:-1], "found.feather"], {}, "Spark writes a directory of files"),
        ([*spark, "--columns", "1"], {}, "`--columns` names 1 columns"),
        ([*spark, "--spark-conf", "memory"], {}, "`--spark-conf memory` is not a setting"),
        ([*spark, "--min-weight", "1", "--ignore-weights"], {}, "leave one of them out"),
    ):
        done = run(*words, **variables)
        assert done.returncode == 2, done.stderr
        assert message in done.stderr
    assert os.listdir() == []
