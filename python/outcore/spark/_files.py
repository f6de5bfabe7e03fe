"""Reads edge lists with Spark, with the rows in the order in which the engine reads them.

Spark reads files in splits and sorts the splits by size. A first pass therefore counts the rows of each split. Then
each row gets its number among all rows, so that nodes are numbered as by the engine and bad lines can be located. The
engine detects the layout from the first lines of a file, and parses the lines split by split.

Cost: one pass over the input, on all cores, and one row per split on the driver.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from outcore import _outcore
from outcore.errors import InputError, Text, UsageError, _made, option
from outcore.spark._cluster import Clustered, cluster
from outcore.spark._index import PLACE
from outcore.spark._reading import Reading, refuse_file

#: Mask for the number of a row within its task: see `monotonically_increasing_id`.
_WITHIN = (1 << 33) - 1
_NAME_BYTES_MAX = 64 << 10
#: Bytes from which the engine first tries to detect the layout of a file; quadrupled until they suffice.
_HEAD_BYTES = 64 << 10
#: Endings of compressed text that Spark does not read.
_PACKED = (".xz", ".lz4", ".zip", ".7z", ".Z")
_TABLE = "table:"
_SHOWN = 160
_COLUMNS = option("columns", "SOURCE,TARGET[,WEIGHT]")
_TABLES = ".parquet"
#: Columns of edges: name, accepted types, message about other types, and type in Spark.
_PARTS: tuple[tuple[str, Any, str, str], ...] = (
    ("source", (T.StringType, T.IntegralType), "names are text or whole numbers", "string"),
    ("target", (T.StringType, T.IntegralType), "names are text or whole numbers", "string"),
    ("weight", T.NumericType, "a weight is a number", "double"),
)


@dataclass(frozen=True)
class _Split:
    """Part of a file that one task reads."""

    file: int
    #: Path as Spark reports it with each row.
    path: str
    start: int
    #: Number of the first row within its task.
    first: int
    count: int
    #: Bytes of the lines.
    bytes: int


@dataclass(frozen=True)
class Edges:
    """Table of edges (source, target, weight), and the files of its rows."""

    frame: DataFrame
    is_weighted: bool
    #: Paths by the number of the file.
    paths: tuple[str, ...] = ()

    def cluster(self, **options: Any) -> Clustered:
        """Find communities. For bad rows, raise the error about the earliest one, as the engine does."""
        try:
            return cluster(self.frame, weight="weight" if self.is_weighted else None, **options)
        except InputError as error:
            raise self._earliest_fault() or error from None

    def _earliest_fault(self) -> BaseException | None:
        if "problem" not in self.frame.columns:
            return None
        row = self.frame.filter("problem IS NOT NULL").orderBy(PLACE).first()
        if row is None:
            return None
        problem = row["problem"]
        return _made(json.loads(problem)) if problem.startswith("{") else _fault_of_table(row, self.paths[row["file"]])


def read(spark: SparkSession, inputs: Sequence[str], reading: Reading) -> Edges:
    """Read files, patterns and directories in the given order, or one table of the catalog."""
    tables = [name for name in inputs if name.startswith(_TABLE)]
    if tables:
        if len(inputs) > 1:
            _refuse_use("a table of the catalog must be the only input", "combine the inputs in a view")
        return _read_catalog(spark, tables[0].removeprefix(_TABLE), reading)
    paths = [path for given in inputs for path in _listed(spark, given)]
    _check_names(paths)
    # Otherwise the splits depend on the current number of workers.
    if spark.conf.get("spark.sql.files.minPartitionNum", None) is None:
        spark.conf.set("spark.sql.files.minPartitionNum", spark.sparkContext.defaultParallelism)
    numbers = {path: number for number, path in enumerate(paths)}
    texts = [path for path in paths if not path.endswith(_TABLES)]
    tables = [path for path in paths if path.endswith(_TABLES)]
    frames = ([_scan_lines(spark, texts)] if texts else []) + ([_scan_tables(spark, tables, reading)] if tables else [])
    splits: list[_Split] = []
    layouts: list[str | None] = [None] * len(paths)
    for frame in frames:
        _look_at(frame, reading, numbers, splits, layouts)
    if not any(_has_edges(paths[split.file], layouts[split.file]) for split in splits):
        raise _made({"kind": "bad-input", "message": "there are no edges", "hint": "check what the files contain"})
    is_weighted = _common_weights(paths, layouts, frames)
    places = _places(splits, layouts)
    edges = [
        _of_lines(frame, places, is_weighted=is_weighted)
        if _is_text(frame)
        else _of_table(_placed(spark, frame, places), is_weighted=is_weighted)
        for frame in frames
    ]
    # The columns identify the job of a work directory: these files, in this order, with these options.
    mark = zlib.crc32(json.dumps([paths, list(vars(reading).items())]).encode())
    frame = edges[0] if len(edges) == 1 else edges[0].unionByName(edges[1], allowMissingColumns=True)
    return Edges(frame.withColumn(f"input_{mark:08x}", F.lit(0)), is_weighted, tuple(paths))


def _has_edges(path: str, layout: str | None) -> bool:
    """Return whether a split belongs to a table, or to a file with lines other than comments."""
    return layout is not None or path.endswith(_TABLES)


def _refuse_use(message: str, hint: str) -> None:
    raise _made({"kind": "usage", "message": message, "hint": hint})


def _listed(spark: SparkSession, given: str) -> list[str]:
    """Return the files of a path or pattern, sorted by name, as Spark names them."""
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
    """Return the matches of a pattern in the order of the engine: directory by directory."""
    return sorted(system.globStatus(pattern) or [], key=lambda status: str(status.getPath().toString()).split("/"))


def _files_of(system: Any, status: Any) -> list[str]:
    if status.isFile():
        return [_plain(status.getPath().toUri().toString())]
    inside = sorted(system.listStatus(status.getPath()), key=lambda entry: str(entry.getPath().getName()))
    seen = [entry for entry in inside if not entry.getPath().getName().startswith(("_", "."))]
    for entry in seen:
        if not entry.isFile():
            path = status.getPath().toString()
            _refuse_use(f"`{path}` contains directories", f"use a pattern for the files in them: `{path}/*/*`")
    return [_plain(entry.getPath().toUri().toString()) for entry in seen]


def _plain(address: str) -> str:
    """Return an address without a host in a unique form: Hadoop uses `file:/a` and `file:///a`."""
    return re.sub("^([^:/]+):///", r"\1:/", address)


def _check_names(paths: list[str]) -> None:
    """Refuse files that Spark would silently ignore or misread."""
    if len(set(paths)) < len(paths):
        twice = next(path for at, path in enumerate(paths) if path in paths[:at])
        _refuse_use(f"`{twice}` is given twice", "name it once")
    for path in paths:
        name = path.rsplit("/", 1)[-1]
        if name.startswith(("_", ".")):
            _refuse_use(f"`{path}` is hidden: Spark reads no file whose name begins with `{name[0]}`", "rename it")
        if path.endswith(_PACKED):
            refuse_file(path, "is compressed in a way that Spark does not read", "compress it with gzip, bzip2 or zstd")


def _scan_lines(spark: SparkSession, paths: list[str]) -> DataFrame:
    reader = spark.read.option("recursiveFileLookup", "true")
    return _with_splits(reader.text(_escaped(spark, paths), lineSep="\n"), [F.col("value")])


def _scan_tables(spark: SparkSession, paths: list[str], reading: Reading) -> DataFrame:
    frame = spark.read.option("recursiveFileLookup", "true").parquet(*_escaped(spark, paths))
    return _with_splits(frame, _edge_columns(frame, reading, paths[0]))


def _escaped(spark: SparkSession, paths: list[str]) -> list[str]:
    """Return paths, escaped so that Spark does not take them for patterns."""
    java: Any = spark._jvm
    names = [str(java.org.apache.hadoop.fs.Path(java.java.net.URI(path)).toString()) for path in paths]
    return [re.sub(r"([\\*?\[\]{}])", r"\\\1", name) for name in names]


def _with_splits(frame: DataFrame, columns: list[Column]) -> DataFrame:
    """Add the place of each row: file, start of the split, number within the task."""
    return frame.select(
        *columns,
        F.col("_metadata.file_path").alias("_path"),
        F.col("_metadata.file_block_start").alias("_start"),
        (F.col("_metadata.file_block_length") == F.col("_metadata.file_size")).alias("_whole"),
        F.monotonically_increasing_id().bitwiseAND(_WITHIN).alias("_low"),
    )


def _look_at(
    frame: DataFrame, reading: Reading, numbers: dict[str, int], splits: list[_Split], layouts: list[str | None]
) -> None:
    """Count the rows of each split, and find the layout of each file of lines."""
    is_text = _is_text(frame)
    head = F.when(F.col("_start") == 0, _line()) if is_text else F.lit(None).cast("binary")
    length = F.octet_length("value") + 1 if is_text else F.lit(0)
    schema = "path string, start long, first long, count long, bytes long, layout string"
    rows = frame.select("_path", "_start", "_low", length.alias("bytes"), "_whole", head.alias("head")).mapInArrow(
        partial(_count_splits, options=reading.arguments() if is_text else None), schema
    )
    refused = {}
    for row in rows.collect():
        file = numbers[_plain(row["path"])]
        splits.append(_Split(file, row["path"], row["start"], row["first"], row["count"], row["bytes"]))
        found = row["layout"] and json.loads(row["layout"])
        if found and "kind" in found:
            refused[file] = found
        elif found:
            layouts[file] = row["layout"]
    if refused:
        raise _made(refused[min(refused)])


def _line() -> Column:
    """Return the expression for a line with its line end, as the engine expects it."""
    return F.expr("concat(cast(value AS binary), x'0A')")


@dataclass
class _Head:
    """First lines of a file, and the layout that the engine detects in them."""

    path: str
    options: list[str]
    text: bytearray = field(default_factory=bytearray)
    wanted: int = _HEAD_BYTES
    layout: str | None = None
    is_done: bool = False

    def add(self, text: bytes) -> None:
        """Add the next lines, and detect the layout once there are enough."""
        self.text += text
        while not self.is_done and len(self.text) >= self.wanted:
            self._look(self.wanted, is_whole=False)
            self.wanted *= 4

    def end(self, *, is_whole: bool) -> None:
        """Detect the layout from the lines so far."""
        if not self.is_done:
            self._look(len(self.text), is_whole=is_whole)

    def _look(self, count: int, *, is_whole: bool) -> None:
        try:
            found = _outcore.Lines.find(self.path, bytes(self.text[:count]), is_whole, self.options)
            if found is not None:
                self.layout, self.is_done = found.to_json(), True
        except (InputError, UsageError) as error:
            self.layout, self.is_done = json.dumps(error._facts), True


def _count_splits(batches: Iterable[pa.RecordBatch], options: list[str] | None) -> Iterator[pa.RecordBatch]:
    """Yield a row for each split of a task; if no layout is detected, it has the facts of the error instead."""
    names = ["path", "start", "first", "count", "bytes", "layout"]
    split: dict[str, Any] = {}
    head: _Head | None = None
    is_whole = False

    def ended() -> pa.RecordBatch:
        if head is not None:
            head.end(is_whole=is_whole)
            split["layout"] = head.layout
        kinds = [pa.string(), *[pa.int64()] * 4, pa.string()]
        arrays = [pa.array([split[name]], kind) for name, kind in zip(names, kinds, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names)

    for batch in batches:
        for begin, end in _runs(batch):
            path, start, first, is_whole_here = (batch.column(at)[begin].as_py() for at in (0, 1, 2, 4))
            if (path, start) != (split.get("path"), split.get("start")):
                if split:
                    yield ended()
                split = {"path": path, "start": start, "first": first, "count": 0, "bytes": 0, "layout": None}
                head = _Head(path, options) if options is not None and start == 0 else None
                is_whole = is_whole_here
            split["count"] += end - begin
            split["bytes"] += pc.sum(batch.column(3).slice(begin, end - begin)).as_py()
            if head is not None and not head.is_done:
                head.add(_text(batch.column(5), begin, end))
    if split:
        yield ended()


def _text(lines: pa.Array, begin: int, end: int) -> bytes:
    """Return some rows of a column of bytes as one text."""
    _, bounds, data = lines.buffers()
    ends = pa.Array.from_buffers(pa.int32(), len(lines) + 1, [None, bounds], offset=lines.offset)
    return data[ends[begin].as_py() : ends[end].as_py()].to_pybytes() if data else b""


def _runs(batch: pa.RecordBatch) -> list[tuple[int, int]]:
    """Divide the rows of a batch by split; usually all belong to one."""
    count = len(batch)
    keys = [batch.column(0), batch.column(1)]
    if count and all(key[0] == key[count - 1] for key in keys):
        return [(0, count)]
    values = list(zip(*(key.to_pylist() for key in keys), strict=True))
    begins = [at for at in range(count) if at == 0 or values[at] != values[at - 1]]
    return list(zip(begins, [*begins[1:], count], strict=True))


def _is_text(frame: DataFrame) -> bool:
    return "value" in frame.columns


@dataclass(frozen=True)
class _Place:
    """Position of a split in its file and among all rows."""

    file: int
    #: Number of rows in all splits before this one.
    before: int
    #: Difference between the number of a row among all rows and its number in its task.
    shift: int
    #: Number of the first line in the file, and the byte at which it begins.
    line: int
    byte: int
    #: Layout of the lines; None if no line of the file is an edge.
    layout: str | None


_Places = dict[tuple[str, int], _Place]


def _places(splits: list[_Split], layouts: list[str | None]) -> _Places:
    places, before, line, byte, file = {}, 0, 1, 0, -1
    for split in sorted(splits, key=lambda split: (split.file, split.start)):
        if split.file != file:
            file, line, byte = split.file, 1, 0
        shift = before - split.first
        places[split.path, split.start] = _Place(file, before, shift, line, byte, layouts[file])
        before, line, byte = before + split.count, line + split.count, byte + split.bytes
    return places


def _placed(spark: SparkSession, frame: DataFrame, places: _Places) -> DataFrame:
    """Add to each row of a table its place among all rows, and its number in its file."""
    rows = [(*key, place.file, place.shift, place.before - place.line + 1) for key, place in places.items()]
    known = spark.createDataFrame(rows, "_path string, _start long, file int, _shift long, _before long")
    lost = F.raise_error(F.concat(F.lit(_CHANGED), "_path")).cast("long")
    placed = frame.join(F.broadcast(known), ["_path", "_start"], "left")
    placed = placed.withColumn(PLACE, F.col("_low") + F.coalesce("_shift", lost))
    # Spark must not be able to infer that rows without a split are unused: it would drop them silently.
    return placed.withColumn("line", F.col(PLACE) - F.coalesce("_before", F.lit(0)) + 1)


_CHANGED = "the input has changed while it was read: "


def _of_lines(frame: DataFrame, places: _Places, *, is_weighted: bool) -> DataFrame:
    """Let the engine parse lines. The row of a bad line has no source, and the error in `problem`."""
    weight = "weight double, " if is_weighted else ""
    schema = f"source string, target string, {weight}{PLACE} long, problem string"
    rows = frame.select("_path", "_start", _line().alias("text"))
    return rows.mapInArrow(partial(_parse, places=places, is_weighted=is_weighted), schema)


def _parse(batches: Iterable[pa.RecordBatch], places: _Places, *, is_weighted: bool) -> Iterator[pa.RecordBatch]:
    key, place, lines, line, byte = None, None, None, 0, 0
    names = ["source", "target", *(["weight"] if is_weighted else []), "line", "problem"]
    kinds = [pa.string(), pa.string(), *([pa.float64()] if is_weighted else []), pa.int64(), pa.string()]
    for batch in batches:
        for begin, end in _runs(batch):
            if (batch.column(0)[begin].as_py(), batch.column(1)[begin].as_py()) != key:
                key = batch.column(0)[begin].as_py(), batch.column(1)[begin].as_py()
                place = places.get(key)
                if place is None:
                    raise RuntimeError(_CHANGED + key[0])
                line, byte = place.line, place.byte
                lines = _outcore.Lines(place.layout) if place.layout else None
            if lines is None or place is None:
                continue
            text = _text(batch.column(2), begin, end)
            found, fault = lines.parse(text, line, byte)
            table = pa.RecordBatchReader.from_stream(found).read_all()
            rows = [table.column(name).combine_chunks() for name in names[:-1]]
            values = [*rows[:-1], rows[-1].cast(pa.int64()), pa.nulls(len(table), pa.string())]
            if fault is not None:
                last = [None] * (len(names) - 2) + [fault["line"], json.dumps(fault)]
                ends = [pa.array([value], kind) for value, kind in zip(last, kinds, strict=True)]
                values = [pa.concat_arrays(pair) for pair in zip(values, ends, strict=True)]
            values[-2] = pc.add(values[-2], place.before - place.line)
            yield pa.RecordBatch.from_arrays(values, [*names[:-2], PLACE, "problem"])
            line, byte = line + end - begin, byte + len(text)


def _of_table(frame: DataFrame, *, is_weighted: bool) -> DataFrame:
    """Check the rows of a table. Bad rows have no source, so that they cannot go unnoticed."""
    names = ["source", "target", *(["weight"] if is_weighted else [])]
    shown = F.concat_ws("\t", *(F.coalesce(F.col(name).cast("string"), F.lit("")) for name in names))
    problem = F.when(F.lit(False), "")
    for name in ("source", "target"):
        problem = problem.when(F.col(name).isNull() | (F.col(name) == ""), name)
        problem = problem.when(F.octet_length(name) > _NAME_BYTES_MAX, f"long-{name}")
    if is_weighted:
        is_weight = (F.col("weight") >= 0) & (F.col("weight") < float("inf"))
        problem = problem.when(~F.coalesce(is_weight, F.lit(False)), "weight")
    source = F.when(F.col("problem").isNull(), F.col("source")).alias("source")
    weights = [F.abs("weight").alias("weight")] if is_weighted else []
    checked = frame.withColumn("text", shown).withColumn("problem", problem)
    return checked.select(source, "target", *weights, PLACE, "line", "file", "text", "problem")


def _edge_columns(frame: DataFrame, reading: Reading, path: str) -> list[Column]:
    """Choose the columns of a table as the engine does: source and target as text, and optionally a weight."""
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    names = list(kinds)
    chosen = [_named(column, names, path) for column in reading.columns or ()] or _usual(kinds)
    if len(chosen) < 2:
        refuse_file(path, f"has {len(names)} columns, but an edge needs two", ("use ", _COLUMNS))
    chosen = chosen[:2] if reading.ignore_weights else chosen
    for name, (_, usable, wanted, _) in zip(chosen, _PARTS, strict=False):
        if not isinstance(kinds[name], usable):
            hint = ("use ", _COLUMNS, " to name others, or change its type")
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
    hint = ("use ", option("columns"), " with these names, or with numbers from 1")
    refuse_file(path, f"has no column {wanted}", hint, notes)
    raise AssertionError("refused")


def _common_weights(paths: list[str], layouts: list[str | None], frames: list[DataFrame]) -> bool:
    """Return whether the files have weights; raise an error if only some do."""
    pairs = zip(paths, layouts, strict=True)
    known = {path: _outcore.Lines(layout).is_weighted for path, layout in pairs if layout}
    for frame in frames:
        if not _is_text(frame):
            known |= {path: "weight" in frame.columns for path in paths if path.endswith(_TABLES)}
    if len(set(known.values())) == 2:
        some, other = (next(path for path in paths if known.get(path) is having) for having in (True, False))
        hint = ("use ", option("columns", "1,2"), " to read both without weights")
        message = f"`{some}` has weights, but `{other}` has none"
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


def _fault_of_table(row: Any, path: str) -> BaseException:
    """Return the error for a bad row of a table, as the engine reports it."""
    problem, text = row["problem"], row["text"]
    role = problem.removeprefix("long-")
    hint: Text = "correct it, or leave it out"
    if problem.startswith("long-"):
        kind, message = "name-too-long", "name is longer than 64 KiB"
    elif problem == "weight":
        kind, message, hint = "bad-weight", _reason(text.split("\t")[2]), ("use ", option("ignore-weights"))
    else:
        kind, message = "empty-name", f"{role} has no name"
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    column = [part for part, *_ in _PARTS].index(role) + 1
    place = {"path": path, "line": row["line"], "column": column, "text": shown.replace("\t", "\\t")}
    notes = [f"row {row['line']:,} of the table"]
    return _made({"kind": kind, "message": message, "hint": hint, "notes": notes, **place})


def _reason(weight: str) -> str:
    if not weight or weight == "NaN":
        return "weight is NaN" if weight else "weight is null"
    return "weight is negative" if weight.startswith("-") else "weight is infinite"
