"""Edge lists that Spark reads, with their rows in the order in which the engine reads them.

Spark reads files in splits, and sorts the splits by size. So all is gone through once to count the rows of each split;
then each row is told its number among all rows, which numbers the nodes as the engine does and names bad lines.
Cost: one pass over the input, on all cores, and a row on the driver for each split.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from outcore import _outcore
from outcore.errors import InputError, _made
from outcore.spark._cluster import Clustered, cluster
from outcore.spark._index import PLACE
from outcore.spark._layout import QUOTABLE, SPACES, Layout, Look, Reading, fields, refuse_file

#: The bits of a row's number within its task: see `monotonically_increasing_id`.
_WITHIN = (1 << 33) - 1
_NAME_BYTES_MAX = 64 << 10
_LINE_BYTES_MAX = 1 << 20
_ASCII_SPACE = " \t\r\n\f"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
#: Names of text that is packed in a way that Spark does not read.
_PACKED = (".xz", ".lz4", ".zip", ".7z", ".Z")
_NOT_LINES = (".metis", ".graph", ".arrow", ".feather", ".ipc")
_TABLE = "table:"
_SHOWN = 160
_TABLES = ".parquet"
#: The columns of edges: of which types, with what to say of others, and as what they are read.
_PARTS: tuple[tuple[str, Any, str, str], ...] = (
    ("source", (T.StringType, T.IntegralType), "names are text or whole numbers", "string"),
    ("target", (T.StringType, T.IntegralType), "names are text or whole numbers", "string"),
    ("weight", T.NumericType, "a weight is a number", "double"),
)
#: How a row of a table is shown. Of a file of lines without a layout, no line is an edge.
_ROWS = Layout("\t", 0, 1, 2, 1 << 62, False)


@dataclass(frozen=True)
class _Split:
    """A part of a file that one task reads."""

    file: int
    #: As Spark tells it with each row.
    path: str
    start: int
    #: The number of its first row within its task.
    first: int
    count: int


@dataclass(frozen=True)
class Edges:
    """A table of edges (source, target, weight), and where its rows come from."""

    frame: DataFrame
    is_weighted: bool
    #: By the number of the file; those of Parquet have none.
    paths: tuple[str, ...] = ()
    layouts: tuple[Layout | None, ...] = ()

    def cluster(self, **options: Any) -> Clustered:
        """Find communities; the error for bad rows is about the earliest, as that of the engine."""
        try:
            return cluster(self.frame, weight="weight" if self.is_weighted else None, **options)
        except InputError as error:
            raise self._earliest_fault() or error from None

    def _earliest_fault(self) -> BaseException | None:
        if "problem" not in self.frame.columns:
            return None
        row = self.frame.filter("problem IS NOT NULL").orderBy(PLACE).select("file", "line", "text", "problem").first()
        return None if row is None else _fault(row, self.paths[row["file"]], self.layouts[row["file"]])


def read(spark: SparkSession, inputs: Sequence[str], reading: Reading) -> Edges:
    """Read files, patterns of files, and directories in the order given, or one table of the catalog."""
    tables = [name for name in inputs if name.startswith(_TABLE)]
    if tables:
        if len(inputs) > 1:
            _refuse_use("a table of the catalog is the only input", "join others to it in a view")
        return _read_catalog(spark, tables[0].removeprefix(_TABLE), reading)
    paths = [path for given in inputs for path in _listed(spark, given)]
    _check_names(paths)
    # Else the splits depend on how many workers there are just then.
    if spark.conf.get("spark.sql.files.minPartitionNum", None) is None:
        spark.conf.set("spark.sql.files.minPartitionNum", spark.sparkContext.defaultParallelism)
    numbers = {path: number for number, path in enumerate(paths)}
    texts = [path for path in paths if not path.endswith(_TABLES)]
    tables = [path for path in paths if path.endswith(_TABLES)]
    frames = ([_scan_lines(spark, texts)] if texts else []) + ([_scan_tables(spark, tables, reading)] if tables else [])
    splits: list[_Split] = []
    layouts: list[Layout | None] = [None] * len(paths)
    for frame in frames:
        _look_at(frame, reading, numbers, splits, layouts)
    if not any(_has_edges(paths[split.file], layouts[split.file]) for split in splits):
        raise _made({"kind": "bad-input", "message": "there are no edges", "hint": "look at what is in the files"})
    is_weighted = _common_weights(paths, layouts, frames)
    places = _places(spark, splits, layouts)
    edges = [
        _of_lines(_placed(frame, places), reading, is_weighted=is_weighted)
        if _is_text(frame)
        else _of_table(_placed(frame, places), is_weighted=is_weighted)
        for frame in frames
    ]
    # The job of a work directory is told by the columns: these files, in this order, read so.
    mark = zlib.crc32(json.dumps([paths, list(vars(reading).items())]).encode())
    frame = edges[0] if len(edges) == 1 else edges[0].unionByName(edges[1])
    return Edges(frame.withColumn(f"input_{mark:08x}", F.lit(0)), is_weighted, tuple(paths), tuple(layouts))


def _has_edges(path: str, layout: Layout | None) -> bool:
    """Whether a split with rows is of a table, or of a file of lines that are more than comments."""
    return layout is not None or path.endswith(_TABLES)


def _refuse_use(message: str, hint: str) -> None:
    raise _made({"kind": "usage", "message": message, "hint": hint})


def _listed(spark: SparkSession, given: str) -> list[str]:
    """Give the files of a path or pattern by name, as Spark names them."""
    from py4j.protocol import Py4JJavaError

    java: Any = spark._jvm
    try:
        path = java.org.apache.hadoop.fs.Path(given)
        system = path.getFileSystem(spark._jsc.hadoopConfiguration())
        found = [system.getFileStatus(path)] if system.exists(path) else _matching(system, path)
        files = [file for status in found for file in _files_of(system, status)]
    except Py4JJavaError as error:
        reason = str(error.java_exception.getMessage())
        hint = "name it as Spark does, such as `s3a://bucket/edges.tsv`" if "scheme" in reason else None
        raise _made({"kind": "io", "message": f"cannot read `{given}`: {reason}", "hint": hint}) from None
    if not files:
        raise _made({"kind": "io", "message": f"no file matches `{given}`"})
    return files


def _matching(system: Any, pattern: Any) -> list[Any]:
    """Give what matches in the engine's order: directory by directory."""
    return sorted(system.globStatus(pattern) or [], key=lambda status: str(status.getPath().toString()).split("/"))


def _files_of(system: Any, status: Any) -> list[str]:
    if status.isFile():
        return [_plain(status.getPath().toUri().toString())]
    inside = sorted(system.listStatus(status.getPath()), key=lambda entry: str(entry.getPath().getName()))
    seen = [entry for entry in inside if not entry.getPath().getName().startswith(("_", "."))]
    for entry in seen:
        if not entry.isFile():
            path = status.getPath().toString()
            _refuse_use(f"`{path}` holds directories", f"use a pattern for the files in them: `{path}/*/*`")
    return [_plain(entry.getPath().toUri().toString()) for entry in seen]


def _plain(address: str) -> str:
    """Write an address without a host in one way: Hadoop has `file:/a` and `file:///a`."""
    return re.sub("^([^:/]+):///", r"\1:/", address)


def _check_names(paths: list[str]) -> None:
    """Refuse files of which Spark would read nothing, or something else, without a word."""
    if len(set(paths)) < len(paths):
        twice = next(path for at, path in enumerate(paths) if path in paths[:at])
        _refuse_use(f"`{twice}` is given twice", "name it once")
    for path in paths:
        name = path.rsplit("/", 1)[-1]
        if name.startswith(("_", ".")):
            _refuse_use(f"`{path}` is hidden: Spark reads no file whose name begins with `{name[0]}`", "rename it")
        if path.endswith(_PACKED):
            refuse_file(path, "is packed in a way that Spark does not read", "pack it with gzip, bzip2 or zstd")
        if path.endswith(_NOT_LINES):
            refuse_file(path, "is not a file of lines, nor Parquet")


def _scan_lines(spark: SparkSession, paths: list[str]) -> DataFrame:
    reader = spark.read.option("recursiveFileLookup", "true")
    return _with_splits(reader.text(_escaped(spark, paths), lineSep="\n"), [F.col("value")])


def _scan_tables(spark: SparkSession, paths: list[str], reading: Reading) -> DataFrame:
    frame = spark.read.option("recursiveFileLookup", "true").parquet(*_escaped(spark, paths))
    return _with_splits(frame, _edge_columns(frame, reading, paths[0]))


def _escaped(spark: SparkSession, paths: list[str]) -> list[str]:
    """Give names that are no patterns to Spark."""
    java: Any = spark._jvm
    names = [str(java.org.apache.hadoop.fs.Path(java.java.net.URI(path)).toString()) for path in paths]
    return [re.sub(r"([\\*?\[\]{}])", r"\\\1", name) for name in names]


def _with_splits(frame: DataFrame, columns: list[Column]) -> DataFrame:
    """Say where each row is: file, start of the split, number within the task."""
    return frame.select(
        *columns,
        F.col("_metadata.file_path").alias("_path"),
        F.col("_metadata.file_block_start").alias("_start"),
        F.monotonically_increasing_id().bitwiseAND(_WITHIN).alias("_low"),
    )


def _look_at(
    frame: DataFrame, reading: Reading, numbers: dict[str, int], splits: list[_Split], layouts: list[Layout | None]
) -> None:
    """Count the rows of each split, and find the layout of each file of lines."""
    is_text = _is_text(frame)
    head = F.when(F.col("_start") == 0, F.col("value").cast("binary")) if is_text else F.lit(None).cast("binary")
    schema = "path string, start long, first long, count long, layout string"
    rows = frame.select("_path", "_start", "_low", head.alias("head")).mapInArrow(
        partial(_count_splits, reading=reading, is_text=is_text), schema
    )
    refused = {}
    for row in rows.collect():
        file = numbers[_plain(row["path"])]
        splits.append(_Split(file, row["path"], row["start"], row["first"], row["count"]))
        found = json.loads(row["layout"])
        if found and "kind" in found:
            refused[file] = found
        elif found:
            layouts[file] = Layout(**found)
    if refused:
        raise _made(refused[min(refused)])


def _count_splits(batches: Iterable[pa.RecordBatch], reading: Reading, *, is_text: bool) -> Iterator[pa.RecordBatch]:
    """Give a row for each split of a task; a layout that cannot be found is the facts of an error."""
    names = ["path", "start", "first", "count", "layout"]
    path, start, first, count, look = "", -1, 0, 0, Look(reading)

    def split() -> pa.RecordBatch:
        try:
            found = look.layout(path) if is_text and start == 0 else None
            facts = vars(found) if found else None
        except InputError as error:
            facts = _facts(error)
        values = [path, start, first, count, json.dumps(facts)]
        return pa.RecordBatch.from_arrays([pa.array([value]) for value in values], names)

    for batch in batches:
        for begin, end in _runs(batch):
            key = batch.column(0)[begin].as_py(), batch.column(1)[begin].as_py()
            if key != (path, start):
                if count:
                    yield split()
                (path, start), first, count, look = key, batch.column(2)[begin].as_py(), 0, Look(reading)
            count += end - begin
            at = begin
            while is_text and start == 0 and not look.is_full and at < end:
                look.add(batch.column(3)[at].as_py())
                at += 1
    if count:
        yield split()


def _runs(batch: pa.RecordBatch) -> list[tuple[int, int]]:
    """Divide the rows of a batch by split: mostly they are all of one."""
    count = len(batch)
    keys = [batch.column(0), batch.column(1)]
    if count and all(key[0] == key[count - 1] for key in keys):
        return [(0, count)]
    values = list(zip(*(key.to_pylist() for key in keys), strict=True))
    begins = [at for at in range(count) if at == 0 or values[at] != values[at - 1]]
    return list(zip(begins, [*begins[1:], count], strict=True))


def _facts(error: InputError) -> dict[str, Any]:
    facts = {name: getattr(error, name) for name in ("kind", "message", "hint", "notes")}
    if error.line is None:
        return facts
    return {**facts, **{name: getattr(error, name) for name in ("path", "line", "column", "text")}}


def _is_text(frame: DataFrame) -> bool:
    return "value" in frame.columns


def _places(spark: SparkSession, splits: list[_Split], layouts: list[Layout | None]) -> DataFrame:
    """Give a row for each split: what leads from the number of a row in its task to its number among all rows."""
    rows, before, before_file, file = [], 0, 0, -1
    for split in sorted(splits, key=lambda split: (split.file, split.start)):
        if split.file != file:
            file, before_file = split.file, before
        layout = layouts[file] or _ROWS
        shift = before - split.first
        of_lines = (layout.delimiter, layout.source, layout.target, layout.weight, layout.preamble)
        rows.append((split.path, split.start, file, shift, before_file, *of_lines))
        before += split.count
    schema = (
        "_path string, _start long, file int, _shift long, _before long, "
        "_delimiter string, _source int, _target int, _weight int, _preamble long"
    )
    return spark.createDataFrame(rows, schema)


def _placed(frame: DataFrame, places: DataFrame) -> DataFrame:
    """Give each row its place among all rows, and its line in its file."""
    lost = F.raise_error(F.concat(F.lit("the input has changed while it was read: "), "_path")).cast("long")
    placed = frame.join(F.broadcast(places), ["_path", "_start"], "left")
    placed = placed.withColumn(PLACE, F.col("_low") + F.coalesce("_shift", lost))
    # Nothing here may let Spark see that rows without a split are of no use: it would drop them unseen.
    return placed.withColumn("line", F.col(PLACE) - F.coalesce("_before", F.lit(0)) + 1)


def _of_lines(frame: DataFrame, reading: Reading, *, is_weighted: bool) -> DataFrame:
    """Split lines into source, target and weight; where that fails the source is null, and `problem` says why."""
    text = F.when(F.endswith("value", F.lit("\r")), F.expr("substr(value, 1, length(value) - 1)")).otherwise(
        F.col("value")
    )
    lines = frame.filter(F.col("line") > F.coalesce("_preamble", F.lit(0))).withColumn("text", text)
    delimiter = F.col("_delimiter")
    blanks = F.when(delimiter == "\t", " ").when(delimiter == " ", "\t").otherwise(" \t")
    lines = lines.filter(F.btrim("text", blanks) != "")
    if reading.comment:
        lines = lines.filter(~F.startswith("text", F.lit(reading.comment)))
    words = F.split(F.btrim(F.translate("text", "\t", " "), F.lit(" ")), F.lit(" +"))
    cut = F.split("text", F.concat(F.lit("\\Q"), "_delimiter", F.lit("\\E")))
    split = lines.withColumn("fields", F.when(F.col("_delimiter") == SPACES, words).otherwise(cut))
    named = split.withColumns({name: F.get("fields", F.col(f"_{name}")) for name in ("source", "target")})
    weight = F.btrim(F.get("fields", F.col("_weight")), F.lit(_ASCII_SPACE))
    last = F.greatest("_source", "_target", F.coalesce("_weight", F.lit(0)))
    used = F.slice("fields", F.lit(1), last + 1)
    is_quoted = F.col("_delimiter").isin(*QUOTABLE) & F.exists(used, lambda field: F.startswith(field, F.lit('"')))
    problem = (
        F.when(~F.is_valid_utf8("value"), "encoding")
        .when(F.octet_length("value") >= _LINE_BYTES_MAX, "line")
        .when(is_quoted, "quote")
        .when(F.size("fields") <= last, "missing")
    )
    return _checked(named, problem, _number(weight) if is_weighted else None)


def _number(text: Column) -> Column:
    """Read a number as the engine does: one too small for 64 bits is the smallest there is."""
    value = F.when(text.rlike(_NUMBER), text.try_cast("double"))
    smallest = F.when(text.startswith("-"), -5e-324).otherwise(5e-324)
    return F.when((value == 0) & text.rlike("^[^eE]*[1-9]"), smallest).otherwise(value)


def _of_table(frame: DataFrame, *, is_weighted: bool) -> DataFrame:
    names = ["source", "target", *(["weight"] if is_weighted else [])]
    shown = F.concat_ws("\t", *(F.coalesce(F.col(name).cast("string"), F.lit("")) for name in names))
    return _checked(frame.withColumn("text", shown), F.when(F.lit(False), ""), F.col("weight") if is_weighted else None)


def _checked(frame: DataFrame, problem: Column, weight: Column | None) -> DataFrame:
    """Give the columns of all edges; bad ones have no source, so that they cannot go unnoticed."""
    for name in ("source", "target"):
        problem = problem.when(F.col(name).isNull() | (F.col(name) == ""), name)
        problem = problem.when(F.octet_length(name) > _NAME_BYTES_MAX, f"long-{name}")
    if weight is not None:
        is_weight = (weight >= 0) & (weight < float("inf"))
        problem = problem.when(~F.coalesce(is_weight, F.lit(False)), "weight")
    source = F.when(F.col("problem").isNull(), F.col("source")).alias("source")
    weights = [] if weight is None else [F.abs("weight").alias("weight")]
    checked = frame.withColumn("weight", F.lit(1.0) if weight is None else weight).withColumn("problem", problem)
    return checked.select(source, "target", *weights, PLACE, "file", "line", "text", "problem")


def _edge_columns(frame: DataFrame, reading: Reading, path: str) -> list[Column]:
    """Choose the columns of a table as the engine does: source and target as text, and perhaps a weight."""
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    names = list(kinds)
    chosen = [_named(column, names, path) for column in reading.columns or ()] or _usual(kinds)
    if len(chosen) < 2:
        refuse_file(path, f"has {len(names)} columns, but an edge needs two", "use `--columns SOURCE,TARGET[,WEIGHT]`")
    chosen = chosen[:2] if reading.ignore_weights else chosen
    for name, (_, usable, wanted, _) in zip(chosen, _PARTS, strict=False):
        if not isinstance(kinds[name], usable):
            hint = "use `--columns SOURCE,TARGET[,WEIGHT]` to name others, or change its type"
            refuse_file(path, f"has a column `{name}` that is {kinds[name].simpleString()}, but {wanted}", hint)
    parts = zip(chosen, _PARTS, strict=False)
    return [F.col(f"`{name}`").cast(kind).alias(part) for name, (part, _, _, kind) in parts]


def _usual(kinds: dict[str, T.DataType]) -> list[str]:
    names = list(kinds)
    numbers = [isinstance(kind, T.NumericType) for kind in kinds.values()]
    chosen = _outcore.choose_columns([name.encode() for name in names], numbers)
    return [names[at] for at in chosen[:3] if at is not None] if chosen else names


def _named(column: str, names: list[str], path: str) -> str:
    if column in names:
        return column
    if column.isdigit() and int(column) <= len(names):
        return names[int(column) - 1]
    wanted = column if column.isdigit() else f"`{column}`"
    notes = [f"its columns are {', '.join(f'`{name}`' for name in names[:20])}"]
    refuse_file(path, f"has no column {wanted}", "use `--columns` with names of these, or their numbers from 1", notes)
    raise AssertionError("refused")


def _common_weights(paths: list[str], layouts: list[Layout | None], frames: list[DataFrame]) -> bool:
    """Whether the files have weights; an error if only some do."""
    known = {path: layout.weight is not None for path, layout in zip(paths, layouts, strict=True) if layout}
    for frame in frames:
        if not _is_text(frame):
            known |= {path: "weight" in frame.columns for path in paths if path.endswith(_TABLES)}
    if len(set(known.values())) == 2:
        some, other = (next(path for path in paths if known.get(path) is having) for having in (True, False))
        message, hint = (
            f"`{some}` has weights, but `{other}` has none",
            "use `--columns 1,2` to read both without weights",
        )
        raise _made({"kind": "bad-input", "message": message, "hint": hint})
    return any(known.values())


def _read_catalog(spark: SparkSession, name: str, reading: Reading) -> Edges:
    try:
        frame = spark.table(name)
    except AnalysisException as error:
        reason = error.getCondition() or "no such table"
        raise _made({"kind": "io", "message": f"cannot read table `{name}`: {reason}"}) from None
    columns = _edge_columns(frame, reading, name)
    return Edges(frame.select(*columns), len(columns) > 2)


def _fault(row: Any, path: str, layout: Layout | None) -> BaseException:
    """Give the error for a bad row, as the engine tells it."""
    problem, text = row["problem"], row["text"]
    role = problem.removeprefix("long-")
    hint = "correct it, or leave it out"
    notes = []
    if problem == "encoding":
        kind, message, hint = (
            "bad-input",
            "line is not UTF-8",
            "convert it, or let one machine read it: it takes any bytes",
        )
    elif problem == "line":
        kind, message = "bad-input", "line is longer than 1 MiB"
    elif problem == "quote":
        kind, message, hint = (
            "bad-quote",
            "quoted fields are not read on Spark",
            "write them without quotes, or as Parquet",
        )
    elif problem == "missing":
        assert layout is not None, "rows of tables have all columns"
        count = len(fields(text.encode(), layout.delimiter))
        roles = sorted((at, name) for name, at in _roles(layout) if at >= count)
        kind = "missing-column"
        message = f"line has {count} column{'s' * (count != 1)}, but the {roles[0][1]} is column {roles[0][0] + 1}"
        hint = "use `--columns` to say which columns hold the edge, or `--delimiter`"
    elif problem.startswith("long-"):
        kind, message = "name-too-long", "name is longer than 64 KiB"
    elif problem == "weight":
        kind, message = "bad-weight", _reason(_field(text, layout, role), layout)
        hint = "use `--ignore-weights`"
        if layout and row["line"] == layout.preamble + 1 and not layout.has_header and message.endswith("number"):
            hint = "use `--header yes` if this line names the columns"
    else:
        kind, message = "empty-name", f"{role} has no name"
    if layout is None:
        notes.append(f"row {row['line']:,} of the table")
    column = _column(text, layout, role) if layout else dict(_roles(_ROWS))[role] + 1
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    place = {"path": path, "line": row["line"], "column": column, "text": shown.replace("\t", "\\t")}
    return _made({"kind": kind, "message": message, "hint": hint, "notes": notes, **place})


def _roles(layout: Layout) -> list[tuple[str, int]]:
    roles = [("source", layout.source), ("target", layout.target)]
    return roles if layout.weight is None else [*roles, ("weight", layout.weight)]


def _field(text: str, layout: Layout | None, role: str) -> str:
    at = dict(_roles(layout or _ROWS))[role]
    return fields(text.encode(), (layout or _ROWS).delimiter)[at].decode()


def _column(text: str, layout: Layout, role: str) -> int:
    """Give the character, from 1, at which a field begins; the first if no field is at fault."""
    at = dict(_roles(layout)).get(role, 0)
    if layout.delimiter == SPACES:
        words = [word.start() for word in re.finditer(r"[^ \t]+", text)]
        return words[at] + 1 if at < len(words) else 1
    return sum(len(field) + 1 for field in text.split(layout.delimiter)[:at]) + 1


def _reason(weight: str, layout: Layout | None) -> str:
    text = weight.strip(_ASCII_SPACE).lower()
    if not text:
        return "weight is empty" if layout else "weight is null"
    sign, digits = text[:1], text.lstrip("+-")
    if digits == "nan":
        return "weight is NaN"
    if not re.fullmatch(_NUMBER, text) and digits not in ("inf", "infinity"):
        return "weight is not a number"
    return "weight is negative" if sign == "-" else "weight is infinite"
