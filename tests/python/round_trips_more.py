"""Further writers of `test_round_trip.py`: polars, pyarrow, DuckDB, Infomap, the module csv, and R by its rules."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
from round_trips import ANY, HEADERS, PLAIN, QUOTED, Made, Writer, Written, frame, numbers, table_writer, writer

try:
    import duckdb
except ImportError:
    duckdb = None
try:
    import infomap
except ImportError:
    infomap = None

# --- polars


def _polars() -> None:
    def text(**options: Any) -> Writer:
        return table_writer(lambda table, path, _: pl.from_pandas(table).write_csv(path, **options))

    def packed(method: str, ending: str, **options: Any) -> Writer:
        return table_writer(lambda table, path, _: getattr(pl.from_pandas(table), method)(path, **options), ending)

    writer("polars CSV", QUOTED)(text())
    writer("polars CSV, no header", PLAIN)(text(include_header=False))
    writer("polars CSV, tabs", PLAIN)(text(separator="\t"))
    writer("polars CSV, semicolons", PLAIN)(text(separator=";"))
    writer("polars CSV, spaces")(text(separator=" "))
    writer("polars CSV, pipes")(text(separator="|"))
    writer("polars CSV, all quoted")(text(quote_style="always"))
    writer("polars CSV, text quoted")(text(quote_style="non_numeric"))
    writer("polars CSV, never quoted")(text(quote_style="never"))
    writer("polars CSV, byte-order mark", PLAIN)(text(include_bom=True))
    writer("polars CSV, CRLF", PLAIN)(text(line_terminator="\r\n"))
    writer("polars CSV, decimal comma")(text(separator=";", decimal_comma=True))
    writer("polars CSV, scientific", PLAIN)(text(float_scientific=True))
    for compression in ("uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd"):
        writer(f"polars Parquet {compression}", ANY)(packed("write_parquet", ".parquet", compression=compression))
    for compression in ("uncompressed", "lz4", "zstd"):
        writer(f"polars IPC {compression}", ANY)(packed("write_ipc", ".arrow", compression=compression))
    writer("polars IPC stream", ANY)(packed("write_ipc_stream", ".arrows"))
    writer("polars NDJSON")(packed("write_ndjson", ".ndjson"))
    writer("polars JSON")(packed("write_json", ".json"))
    writer("polars Avro")(packed("write_avro", ".avro"))


# --- pyarrow


def _pyarrow() -> None:
    def text(header: bool, **options: Any) -> Writer:
        settings = pa.csv.WriteOptions(include_header=header, **options)
        return table_writer(lambda table, path, _: pa.csv.write_csv(_arrow(table), path, write_options=settings))

    writer("pyarrow CSV", QUOTED)(text(True))
    writer("pyarrow CSV, no header")(text(False))
    writer("pyarrow CSV, all quoted")(text(True, quoting_style="all_valid"))
    writer("pyarrow CSV, never quoted")(text(True, quoting_style="none"))
    writer("pyarrow CSV, tabs")(text(True, delimiter="\t"))
    writer("pyarrow CSV, semicolons, no header")(text(False, delimiter=";"))

    def arrow(ending: str, save: Callable[[pa.Table, Path], object]) -> Writer:
        return table_writer(lambda table, path, _: save(_arrow(table), path), ending)

    def ipc(new: Any) -> Callable[[pa.Table, Path], None]:
        def save(table: pa.Table, path: Path) -> None:
            with pa.OSFile(str(path), "wb") as file, new(file, table.schema) as sink:
                sink.write_table(table, max_chunksize=7)

        return save

    writer("pyarrow Parquet", ANY)(arrow(".parquet", pa.parquet.write_table))
    writer("pyarrow Parquet, small pages", ANY)(
        arrow(".parquet", lambda table, path: pa.parquet.write_table(table, path, row_group_size=5, data_page_size=64))
    )
    writer("pyarrow Parquet 1.0, no dictionary", ANY)(
        arrow(".pq", lambda table, path: pa.parquet.write_table(table, path, version="1.0", use_dictionary=False))
    )
    writer("pyarrow Parquet, pages 2.0", ANY)(
        arrow(".parquet", lambda table, path: pa.parquet.write_table(table, path, data_page_version="2.0"))
    )
    writer("pyarrow Parquet, single precision", ANY)(
        arrow(".parquet", lambda table, path: pa.parquet.write_table(_single(table), path))
    )
    writer("pyarrow IPC file", ANY)(arrow(".arrow", ipc(pa.ipc.new_file)))
    writer("pyarrow IPC stream", ANY)(arrow(".arrows", ipc(pa.ipc.new_stream)))
    writer("pyarrow IPC, another ending", ANY)(arrow(".bin", ipc(pa.ipc.new_file)))
    writer("pyarrow Feather", ANY)(arrow(".feather", pa.feather.write_feather))
    writer("pyarrow Feather 1")(arrow(".feather", lambda table, path: pa.feather.write_feather(table, path, version=1)))
    writer("pyarrow dictionaries", ANY)(
        arrow(".arrow", lambda table, path: ipc(pa.ipc.new_file)(_encoded(table), path))
    )


def _arrow(table: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(table, preserve_index=False)


def _single(table: pa.Table) -> pa.Table:
    if table.num_columns == 2:
        return table
    return table.set_column(2, table.column_names[2], table.column(2).cast(pa.float32()))


def _encoded(table: pa.Table) -> pa.Table:
    for at in (0, 1):
        table = table.set_column(at, table.column_names[at], table.column(at).combine_chunks().dictionary_encode())
    return table


# --- DuckDB


def _duckdb() -> None:
    def copied(ending: str, options: str, select: str = "*") -> Writer:
        def save(table: pd.DataFrame, path: Path, _: Made) -> None:
            with duckdb.connect() as connection:
                connection.register("edges", table)
                connection.execute(f"COPY (SELECT {select} FROM edges) TO '{path}' ({options})")

        return table_writer(save, ending)

    writer("DuckDB CSV", QUOTED)(copied(".csv", "FORMAT csv"))
    writer("DuckDB CSV, no header")(copied(".csv", "FORMAT csv, HEADER false"))
    writer("DuckDB CSV, tabs")(copied(".tsv", "FORMAT csv, DELIMITER '\t'"))
    writer("DuckDB CSV, pipes")(copied(".csv", "FORMAT csv, DELIMITER '|'"))
    writer("DuckDB CSV, all quoted")(copied(".csv", "FORMAT csv, FORCE_QUOTE *"))
    writer("DuckDB CSV, escaped")(copied(".csv", "FORMAT csv, ESCAPE '\\'"))
    writer("DuckDB CSV, gzip", PLAIN)(copied(".csv.gz", "FORMAT csv, COMPRESSION gzip"))
    writer("DuckDB Parquet", ANY)(copied(".parquet", "FORMAT parquet"))
    writer("DuckDB Parquet zstd", ANY)(copied(".parquet", "FORMAT parquet, COMPRESSION zstd"))
    writer("DuckDB Parquet version 2", ANY)(copied(".parquet", "FORMAT parquet, PARQUET_VERSION v2"))
    writer("DuckDB Parquet with row numbers")(copied(".parquet", "FORMAT parquet", "row_number() OVER () AS id, *"))
    writer("DuckDB JSON")(copied(".json", "FORMAT json"))
    writer("DuckDB JSON array")(copied(".json", "FORMAT json, ARRAY true"))


# --- Infomap


def _infomap() -> None:
    def run(method: str, ending: str) -> Writer:
        def write(made: Made, path: Path) -> Written:
            found = infomap.Infomap(silent=True, num_trials=1, include_self_links=True)
            for at, name in enumerate(made.names):
                found.add_node(at + 1, name)
            for source, target, weight in made.simple:
                found.add_link(source + 1, target + 1, weight)
            found.run()
            path = path.with_suffix(ending)
            getattr(found, method)(str(path))
            edges = made.simple
            return Written(path, edges, [made.names, numbers(made, 1)])

        return write

    writer("Infomap Pajek")(run("write_pajek", ".net"))
    writer("Infomap state network")(run("write_state_network", ".net"))
    writer("Infomap tree")(run("write_tree", ".tree"))
    writer("Infomap flow tree")(run("write_flow_tree", ".ftree"))
    writer("Infomap clu")(run("write_clu", ".clu"))
    writer("Infomap JSON")(run("write_json", ".json"))
    writer("Infomap CSV")(run("write_csv", ".csv"))


# --- the module csv


def _csv_module() -> None:
    def rows(**options: Any) -> Writer:
        def save(table: pd.DataFrame, path: Path, _: Made) -> None:
            with path.open("w", newline="") as file:
                out = csv.writer(file, **options)
                out.writerow(table.columns)
                out.writerows(table.itertuples(index=False))

        return table_writer(save)

    writer("csv excel", QUOTED)(rows())
    writer("csv excel-tab", PLAIN)(rows(dialect="excel-tab"))
    writer("csv unix", PLAIN)(rows(dialect="unix"))
    writer("csv spaces")(rows(delimiter=" "))
    writer("csv colons")(rows(delimiter=":"))
    writer("csv single quotes")(rows(quotechar="'"))


# --- R


def r_number(value: float) -> str:
    """Return a number as R writes it: fifteen significant digits, in the shorter of two notations."""
    fixed = f"{value:.15g}"
    if "e" not in fixed:
        mantissa, exponent = f"{value:.14e}".split("e")
        scientific = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent):+03d}"
        return scientific if len(scientific) < len(fixed) else fixed
    return fixed


def r_table(
    table: pd.DataFrame,
    *,
    quote: bool = True,
    sep: str = " ",
    row_names: bool = True,
    col_names: bool | None = True,
    double: bool = False,
    dec: str = ".",
) -> str:
    """Return what `write.table` of R writes; `col_names` None is its NA, `double` is `qmethod = "double"`.

    Text is quoted, numbers are not, row names are text. Without NA a header has no field above the row names.
    """

    def field(value: object) -> str:
        if isinstance(value, str):
            escaped = value.replace('"', '""' if double else '\\"')
            return f'"{escaped}"' if quote else value
        return r_number(float(value)).replace(".", dec)  # type: ignore[arg-type]

    lines = []
    if col_names is not False:
        above = [field("")] if row_names and col_names is None else []
        lines.append(sep.join(above + [field(name) for name in table.columns]))
    for at, row in enumerate(table.itertuples(index=False)):
        lines.append(sep.join(([field(str(at + 1))] if row_names else []) + [field(value) for value in row]))
    return "".join(line + "\n" for line in lines)


def _r() -> None:
    def written(ending: str = ".txt", **options: Any) -> Writer:
        def write(made: Made, path: Path) -> Written:
            header = HEADERS[made.seed % len(HEADERS)]
            header = tuple(name.replace(" ", ".") for name in header)  # type: ignore[assignment]
            path = path.with_suffix(ending)
            path.write_text(r_table(frame(made, header), **options))
            return Written(path, made.edges, [made.names])

        return write

    known = {"row_names": False}
    writer("R write.table")(written())
    writer("R write.table, no quotes")(written(quote=False))
    writer("R write.table, tabs")(written(sep="\t"))
    writer("R write.table, tabs, no quotes")(written(sep="\t", quote=False))
    writer("R write.table, col.names=NA")(written(sep="\t", col_names=None))
    writer("R write.table, col.names=NA, no quotes")(written(sep="\t", col_names=None, quote=False))
    writer("R write.table, no row names")(written(**known))
    writer("R write.table, no row names, no quotes")(written(**known, quote=False))
    writer("R write.table, no names")(written(**known, col_names=False))
    writer("R write.table, no names, no quotes", PLAIN)(written(**known, col_names=False, quote=False))
    writer("R write.table, no names, no quotes, tabs", PLAIN)(written(**known, col_names=False, quote=False, sep="\t"))
    writer("R write.table, row names only")(written(col_names=False))
    writer("R write.table, row names only, no quotes")(written(col_names=False, quote=False))
    writer("R write.csv")(written(".csv", sep=",", col_names=None, double=True))
    writer("R write.csv, no row names")(written(".csv", **known, sep=",", double=True))
    writer("R write.csv2, no row names")(written(".csv", **known, sep=";", double=True, dec=","))
    writer("R write.csv2")(written(".csv", sep=";", col_names=None, double=True, dec=","))
    writer("R readr write_csv", PLAIN)(written(".csv", **known, sep=",", quote=False))
    writer("R fwrite of data.table, tabs", PLAIN)(written(**known, sep="\t", quote=False))


for _register in (_polars, _pyarrow, _csv_module, _r):
    _register()
if duckdb is not None:
    _duckdb()
if infomap is not None:
    _infomap()
