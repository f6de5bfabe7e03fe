"""Connected components of named pairs by programs for tables and matrices in memory, each in its fastest way.

    rivals.py scipy|duckdb PAIRS.tsv ANSWER.tsv --dir WORK    # prints the seconds of the parts as JSON

Both read the first two columns of the text, number the names, find the components and write `id<TAB>component`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

Parts = dict[str, float]
Clock = Callable[[str], None]


def scipy(pairs: Path, answer: Path, _: Path, clock: Clock) -> None:
    """Find components by `connected_components`.

    Reading and numbering by pyarrow are faster than by polars, with its own categories, or by pandas.
    """
    import numpy
    import pyarrow
    from pyarrow import csv
    from scipy.sparse import csgraph, csr_array

    table = csv.read_csv(
        pairs,
        read_options=csv.ReadOptions(column_names=["left", "right", "weight"], block_size=16 << 20),
        parse_options=csv.ParseOptions(delimiter="\t", quote_char=False),
        convert_options=csv.ConvertOptions(
            include_columns=["left", "right"], column_types={"left": pyarrow.string(), "right": pyarrow.string()}
        ),
    )
    clock("read")
    # All chunks have the same dictionary.
    encoded = pyarrow.chunked_array(table["left"].chunks + table["right"].chunks).dictionary_encode()
    del table
    names = encoded.chunk(0).dictionary
    numbers = numpy.concatenate([chunk.indices for chunk in encoded.chunks])
    del encoded
    clock("number")
    left, right = numpy.split(numbers, 2)
    # In the type that `connected_components` would turn others into.
    graph = csr_array((numpy.ones(len(left)), (left, right)), shape=(len(names), len(names)))
    del left, right, numbers
    _, components = csgraph.connected_components(graph, directed=False)
    clock("find")
    found = pyarrow.table({"id": names, "component": components})
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    csv.write_csv(found, answer, options)
    clock("write")


def literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def duckdb(pairs: Path, answer: Path, work: Path, clock: Clock) -> None:
    """Find components by contraction in SQL (Bögeholz, Brand and Todor 2020).

    Each node is replaced by the least of itself and its neighbors, until no pair is left. Hashes of the names serve as
    numbers, without a join of strings, once it is certain that they are distinct. `row_number` instead of hashes and
    `WITH RECURSIVE .. USING KEY` instead of contraction are slower.
    """
    import duckdb

    connection = duckdb.connect(config={"temp_directory": str(work), "preserve_insertion_order": False})

    def value(query: str) -> int:
        row = connection.execute(query).fetchone()
        return row[0] if row else 0

    connection.execute(f"""
        CREATE TABLE names_of_pairs AS
        SELECT source, target FROM read_csv({literal(pairs)}, delim = '\t', header = false, quote = '', escape = '',
            auto_detect = false, columns = {{'source': 'VARCHAR', 'target': 'VARCHAR', 'weight': 'DOUBLE'}})
    """)
    clock("read")
    connection.execute("""
        CREATE TABLE nodes AS
        SELECT name, (hash(name) >> 1)::BIGINT AS node
        FROM (SELECT source AS name FROM names_of_pairs UNION SELECT target FROM names_of_pairs)
    """)
    if value("SELECT count(*) - count(DISTINCT node) FROM nodes"):
        sys.exit("error: two names have the same hash")
    connection.execute("""
        CREATE TABLE pairs AS
        SELECT (hash(source) >> 1)::BIGINT AS source, (hash(target) >> 1)::BIGINT AS target FROM names_of_pairs
        WHERE source <> target
    """)
    connection.execute("DROP TABLE names_of_pairs")
    clock("number")
    connection.execute("CREATE TABLE labels AS SELECT node, node AS label FROM nodes")
    while value("SELECT count(*) FROM pairs"):
        connection.execute("""
            CREATE OR REPLACE TABLE steps AS
            SELECT node, least(node, min(neighbor)) AS label
            FROM (SELECT source AS node, target AS neighbor FROM pairs UNION ALL SELECT target, source FROM pairs)
            GROUP BY node
        """)
        connection.execute("""
            CREATE OR REPLACE TABLE pairs AS
            SELECT DISTINCT least(s.label, t.label) AS source, greatest(s.label, t.label) AS target
            FROM pairs JOIN steps s ON s.node = source JOIN steps t ON t.node = target
            WHERE s.label <> t.label
        """)
        connection.execute("""
            CREATE OR REPLACE TABLE labels AS
            SELECT labels.node, coalesce(steps.label, labels.label) AS label
            FROM labels LEFT JOIN steps ON steps.node = labels.label
        """)
    clock("find")
    connection.execute(f"""
        COPY (SELECT name, label FROM nodes JOIN labels USING (node))
        TO {literal(answer)} (FORMAT csv, DELIMITER '\t', HEADER false)
    """)
    clock("write")


TOOLS: dict[str, Callable[[Path, Path, Path, Clock], None]] = {"scipy": scipy, "duckdb": duckdb}


def main() -> None:
    parser = argparse.ArgumentParser(description="Connected components by programs in memory")
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("answer", type=Path)
    parser.add_argument("--dir", type=Path, required=True, help="folder for temporary files")
    arguments = parser.parse_args()
    parts: Parts = {}
    start = time.perf_counter()

    def clock(part: str) -> None:
        parts[part] = time.perf_counter() - start - sum(parts.values())

    TOOLS[arguments.tool](arguments.pairs, arguments.answer, arguments.dir, clock)
    print(json.dumps(parts), flush=True)
    # What is held need not be freed piece by piece.
    os._exit(0)


if __name__ == "__main__":
    main()
