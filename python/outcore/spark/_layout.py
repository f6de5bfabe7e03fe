"""What the lines of a text file look like, found from its first lines as the engine finds it.

The rules are those of the engine's `input/format.rs`, whose names are used here; what columns are called, the engine
says. What the engine reads and Spark does not is an error: quoted fields, files that are no lines of edges, and text
packed in a way that its name does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from outcore import _outcore
from outcore.errors import _made

#: Lines that are looked at.
SAMPLED_LINES = 1000
#: Bytes in which they are, or four times as many as long as there is none.
BLOCK_BYTES = 64 << 10
BLOCK_BYTES_MAX = 4 << 20
#: Stands for any run of spaces and tabs.
SPACES = "spaces"
CANDIDATES = ("\t", ",", ";", SPACES, "|")
#: Between these the engine reads quoted fields.
QUOTABLE = (",", ";", "|")

_NUMBER = re.compile(
    rb"[+-]?([0-9]+\.?[0-9]*|[0-9]+,[0-9]+|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE
)
#: Numbers as people write them: groups of three digits, a sign, a currency or a share around them.
_WRITTEN_NUMBER = re.compile(
    "[-+\u2212$€£¥]* ?(\\d+|\\d{1,3}([ \u00a0\u2009\u202f_'\u2019.,]\\d{3})+)([.,]\\d+)? ?[%‰€$]*"
)
#: What is written where there is no value.
_MISSING = re.compile(rb"(n/?a|#n/a|nan|null|none|nil|missing|unknown|[-+]?inf)?", re.IGNORECASE)
#: How files begin that are no lines of edges.
_OTHERS = (
    (b"%%MatrixMarket", "a Matrix Market file"),
    (b"(mclheader", "a matrix of mcl"),
    (b"(mclmatrix", "a matrix of mcl"),
    (b"PAR1", "a Parquet file, whose name has to end in .parquet"),
    (b"ARROW1", "an Arrow file"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"\x1f\x8b", "gzip, whose name has to end in .gz"),
    (b"BZh", "bzip2, whose name has to end in .bz2"),
    (b"\x28\xb5\x2f\xfd", "zstd, whose name has to end in .zst"),
    (b"\xfd7zXZ", "xz"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"PK\x03\x04", "zip"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"version https://git-lfs.github.com/", "a pointer of Git LFS"),
    (b"<!DOCTYPE html", "a page of HTML"),
    (b"<!doctype html", "a page of HTML"),
    (b"<html", "a page of HTML"),
    (b"<?xml", "XML"),
    (b"*Vertices", "Pajek"),
    (b"*vertices", "Pajek"),
    (b"graph [", "GML"),
    (b'{"', "JSON"),
    (b"[{", "JSON"),
    (b"[[", "JSON"),
)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Reading:
    """What the user says about the input."""

    columns: tuple[str, ...] | None = None
    #: One character, or `SPACES`.
    delimiter: str | None = None
    comment: str = "#"
    header: Literal["auto", "yes", "no"] = "auto"
    ignore_weights: bool = False


@dataclass(frozen=True)
class Layout:
    """How the lines of one file are split; columns are counted from 0."""

    delimiter: str
    source: int
    target: int
    weight: int | None
    #: Lines before the first edge.
    preamble: int
    has_header: bool

    @property
    def last_column(self) -> int:
        """The last column that a line has to have."""
        return max(self.source, self.target, self.weight or 0)


class Look:
    """Collects the first lines of a file."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.lines: list[bytes] = []
        #: Where they are in the file, from 1.
        self.numbers: list[int] = []
        self._number = 0
        #: Lines before the first of these, and bytes so far.
        self.before = self.bytes = 0
        self.is_full = False
        self._comment = reading.comment.encode()
        self._first = 0
        self._head = b""

    def add(self, line: bytes) -> None:
        """Take the next line of the file."""
        self._head = self._head if self.bytes else line
        self._number += 1
        self.bytes += len(line) + 1
        self.is_full = self.bytes > (self._block() if self.lines else BLOCK_BYTES_MAX)
        if self.is_full:
            return
        line = line.removeprefix(_BYTE_ORDER_MARK) if self.bytes == len(line) + 1 else line
        line = line.removesuffix(b"\r")
        is_comment = bool(self._comment) and line.startswith(self._comment)
        is_comment |= not self.lines and self._comment == b"#" and line.startswith(b"%")
        if not is_comment and not _is_blank(line, self.reading.delimiter):
            self._first = self.bytes if not self.lines else self._first
            self.lines.append(line)
            self.numbers.append(self._number)
            self.is_full = len(self.lines) >= SAMPLED_LINES
        elif not self.lines:
            self.before += 1

    def _block(self) -> int:
        """Give the bytes that the engine looks at: the first line is in them."""
        block = BLOCK_BYTES
        while block < self._first:
            block *= 4
        return block

    def layout(self, path: str) -> Layout | None:
        """Say how the lines are split; nothing if there are none."""
        for mark, what in _OTHERS:
            if self._head.startswith(mark):
                refuse_file(path, f"is {what}: not read on Spark")
        if not self.lines:
            if self.is_full:
                refuse_file(
                    path, "has nothing in its first 4 MiB but comments", "use `--comment` if they begin otherwise"
                )
            return None
        return _detect(self.lines, self.numbers, self.reading, path)


def refuse_file(path: str, message: str, hint: str | None = None, notes: Sequence[str] = ()) -> None:
    """Raise an error about a file."""
    hint = hint or "convert it to lines or Parquet, or let one machine read it: `outcore cluster`"
    raise _made({"kind": "bad-input", "message": f"`{path}` {message}", "hint": hint, "notes": list(notes)})


def fields(line: bytes, delimiter: str) -> list[bytes]:
    """Split a line."""
    return re.findall(rb"[^ \t]+", line) if delimiter == SPACES else line.split(delimiter.encode())


def _is_blank(line: bytes, delimiter: str | None) -> bool:
    blanks = b" \t" if delimiter is None else b" \t".replace(delimiter.encode(), b"")
    return not line.strip(blanks)


def _detect(lines: list[bytes], numbers: list[int], reading: Reading, path: str) -> Layout:
    before = numbers[0] - 1
    body = lines[1:] if len(lines) > 1 and reading.header != "no" else lines
    delimiter = reading.delimiter or _delimiter(lines, body)
    if reading.delimiter is None and delimiter == "," and _has_decimal_commas(lines):
        refuse_file(path, "has decimal commas: not read on Spark")
    rows = [fields(line, delimiter) for line in body]
    first = fields(lines[0], delimiter)
    if delimiter in QUOTABLE and any(field.startswith(b'"') for row in [first, *rows] for field in row):
        refuse_file(path, "has quoted fields: not read on Spark")
    if delimiter in ("\t", SPACES) and all(b'"' in line for line in lines):
        refuse_file(path, "has quoted fields: not read on Spark")
    rest = [fields(line, delimiter) for line in lines[1:]]
    chosen = _chosen(first, rest)
    if chosen and chosen[3] and _has_row_names(first, rest):
        # R writes no name for the column of row names.
        first = [b"", *first]
        chosen = _chosen(first, rest)
    by_name = bool(chosen and chosen[3])
    source, target, weight = chosen[:3] if chosen else (0, 1, None)
    if reading.columns:
        found = [_find(column, first, path, before + 1) for column in reading.columns]
        source, target, weight = found[0], found[1], found[2] if len(found) > 2 else None
    has_header = reading.header == "yes"
    if reading.header == "auto":
        names_columns = any(not column.isdigit() for column in reading.columns or ())
        has_header = names_columns or _is_header(first, rest, (source, target, weight), by_name=by_name)
    if not reading.columns and not (has_header and chosen):
        source, target, weight = 0, 1, _usual_weight(rows, delimiter)
        if weight is None:
            weight = _usual_weight([fields(line, delimiter) for line in lines], delimiter)
    if reading.ignore_weights:
        weight = None
    if has_header and by_name:
        _refuse_headers(lines, numbers, delimiter, (source, target), path)
    if delimiter in QUOTABLE and any(_has_spaces(row, at) for row in rows for at in (source, target)):
        refuse_file(path, "has spaces around names: not read on Spark")
    return Layout(delimiter, source, target, weight, before + has_header, has_header)


def _has_row_names(header: list[bytes], rest: list[list[bytes]]) -> bool:
    """Whether rows begin with a number that the header has no name for, as R writes them."""
    if not rest or not all(len(row) == len(header) + 1 and row[0].strip().isdigit() for row in rest):
        return False
    numbers = [int(row[0]) for row in rest]
    return all(low < high for low, high in pairwise(numbers))


def _refuse_headers(lines: list[bytes], numbers: list[int], delimiter: str, ends: tuple[int, int], path: str) -> None:
    """Raise an error about a header that comes again."""
    header, *rest = (fields(line, delimiter) for line in lines)
    shift = len(rest[0]) - len(header) if rest and len(rest[0]) == len(header) + 1 else 0
    names = [header[at - shift : at - shift + 1] for at in ends]
    for number, line, row in zip(numbers[1:], lines[1:], rest, strict=True):
        if [row[at : at + 1] for at in ends] == names:
            facts: dict[str, object] = {"kind": "bad-input", "message": "line names the columns again", "path": path}
            column = sum(len(field) + 1 for field in row[: ends[0]]) + 1
            raise _made({**facts, "line": number, "column": column, "text": line.decode(errors="replace")})


def _has_spaces(row: list[bytes], at: int) -> bool:
    return len(row) > at and row[at].strip(b" \t") != row[at]


def _delimiter(lines: list[bytes], body: list[bytes]) -> str:
    """Give the first that splits all lines alike, else the one that splits most."""
    for sample in (lines, body) if len(body) > 1 else (lines,):
        for candidate in CANDIDATES:
            counts = {_count(line, candidate) for line in sample}
            if len(counts) == 1 and min(counts) >= 2:
                return candidate
    return max(CANDIDATES, key=lambda candidate: sum(_count(line, candidate) >= 2 for line in lines))


def _has_decimal_commas(lines: list[bytes]) -> bool:
    """Whether commas stand for points between columns that something else separates: `a;b;1,5`."""

    def is_split_by(delimiter: str) -> bool:
        rows = [fields(line, delimiter) for line in lines]
        names = 0 if delimiter == ";" else 2
        return 2 * sum(len(row) >= 3 for row in rows) >= len(rows) and all(
            b"," not in field or (at >= names and is_number(field)) for row in rows for at, field in enumerate(row)
        )

    return any(is_split_by(delimiter) for delimiter in CANDIDATES if delimiter != ",")


def _count(line: bytes, delimiter: str) -> int:
    return len(fields(line, delimiter))


def is_number(field: bytes) -> bool:
    """Whether a field reads as a number, even one that is no weight."""
    field = field.strip(b" \t\r\n\f")
    if _NUMBER.fullmatch(field) is not None:
        return True
    return bool(field) and _WRITTEN_NUMBER.fullmatch(field.decode(errors="replace")) is not None


def _is_word(field: bytes) -> bool:
    """Whether a field may name a column."""
    text = field.strip().decode(errors="replace")
    return any(map(str.isalpha, text)) and _MISSING.fullmatch(field.strip()) is None


def _usual_weight(rows: list[list[bytes]], delimiter: str) -> int | None:
    is_blast = delimiter == "\t" and all(len(row) == 12 and all(map(is_number, row[2:])) for row in rows)
    if is_blast:
        return 11
    return 2 if _has_numbers(rows, 2) else None


def _has_numbers(rows: list[list[bytes]], column: int) -> bool:
    """Whether at least half of the rows have a number in a column."""
    count = sum(len(row) > column and is_number(row[column]) for row in rows)
    return count > 0 and 2 * count >= len(rows)


def _find(column: str, header: list[bytes], path: str, line: int) -> int:
    if column.isdigit():
        return int(column) - 1
    names = [field.strip(b" \t\r\n\f").decode(errors="replace") for field in header]
    if column not in names:
        hint = "use one of these, or numbers, such as `--columns 1,2,3`"
        refuse_file(path, f"has no column named `{column}`", hint, [f"line {line} has the columns: {', '.join(names)}"])
    return names.index(column)


def _chosen(first: list[bytes], rest: list[list[bytes]]) -> tuple[int, int, int | None, bool] | None:
    """Give the columns that the names of a header are for, whether it is one or not."""
    return _outcore.choose_columns(first, [_has_numbers(rest, at) for at in range(len(first))])


def _is_header(
    first: list[bytes], rest: list[list[bytes]], columns: tuple[int, int, int | None], *, by_name: bool
) -> bool:
    source, target, weight = columns
    is_told = by_name and not any(map(is_number, first[: max(source, target)]))
    is_told = is_told or _has_index(first, rest)
    if len(rest) >= 2 and len(first) > max(source, target) and _is_word(first[source]) and _is_word(first[target]):
        # Names of any kind over nothing but numbers are a header, too.
        is_told = is_told or all(
            len(row) > max(source, target) and row[source].strip().isdigit() and row[target].strip().isdigit()
            for row in rest
        )
    if weight is None or weight >= len(first):
        return is_told
    if is_number(first[weight]):
        return False
    return is_told or (_is_word(first[weight]) and _has_numbers(rest, weight))


def _has_index(first: list[bytes], rest: list[list[bytes]]) -> bool:
    """Whether a data frame has written the numbers of its rows first."""
    indexes = [name.strip() in (b"", b"Unnamed: 0", b"__index_level_0__") for name in first]
    if len(first) < 3 or not indexes[0] or any(indexes[1:]) or any(map(is_number, first)):
        return False
    return bool(rest) and all(row and is_number(row[0]) for row in rest)
