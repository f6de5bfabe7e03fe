"""The job of the sort eval in DuckDB: ORDER BY over records of 16 bytes within a memory limit.

    duckdb_sort.py prepare --records N --dir DIR [--seed S]
    duckdb_sort.py sort --records N --memory-mib M --dir DIR [--threads T]

`prepare` writes the records as a table in a database file, outside the measured process. `sort` prints one line of
JSON, {"seconds": .., "records": ..}: the time of the one statement that orders the table, then reads and checks the
result in order. Nothing is written, which is the fastest way to consume a sorted table in DuckDB (COPY to Parquet and
CREATE TABLE AS took about 30 % longer). Generating the records is part of the time of the other programs, but not of
this one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import duckdb

DATABASE = "records.duckdb"

ORDERED = """
    SELECT count(*), coalesce(sum(CASE WHEN key < previous THEN 1 ELSE 0 END), 0)
    FROM (SELECT key, value, lag(key) OVER () AS previous
          FROM (SELECT key, value FROM records ORDER BY key, value))
"""


def prepare(arguments: argparse.Namespace) -> None:
    database = arguments.dir / DATABASE
    database.unlink(missing_ok=True)
    with duckdb.connect(str(database), config={"memory_limit": "1GiB"}) as connection:
        connection.execute(
            "CREATE TABLE records AS SELECT hash(i) AS key, hash(-i) AS value FROM range(?, ?) t(i)",
            [arguments.seed << 40, (arguments.seed << 40) + arguments.records],
        )


def sort(arguments: argparse.Namespace) -> None:
    config = {
        "memory_limit": f"{arguments.memory_mib}MiB",
        "threads": arguments.threads,
        "temp_directory": str(arguments.dir / "duckdb.tmp"),
    }
    with duckdb.connect(str(arguments.dir / DATABASE), read_only=True, config=config) as connection:
        start = time.perf_counter()
        row = connection.execute(ORDERED).fetchone()
        seconds = time.perf_counter() - start
    if row is None or row[0] != arguments.records:
        sys.exit("duckdb_sort: records lost or gained")
    if row[1] != 0:
        sys.exit("duckdb_sort: records out of order")
    print(json.dumps({"seconds": round(seconds, 6), "records": row[0]}))


def main() -> None:
    parser = argparse.ArgumentParser(description="The job of the sort eval in DuckDB")
    commands = parser.add_subparsers(required=True)
    for name, run in (("prepare", prepare), ("sort", sort)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("--records", type=int, required=True)
        command.add_argument("--dir", type=Path, required=True)
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--memory-mib", type=int, default=512)
        command.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
