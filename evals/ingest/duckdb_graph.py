"""Builds a graph with DuckDB, as a data engineer would: from text edges to a sorted table of arcs and a table of names.

    duckdb_graph.py EDGES.tsv --dir DIR [--memory 1GB] [--threads 2]

Reads source, target, weight; numbers the names; adds up the weights of repeated pairs; stores both directions of every
pair; orders by source and target; writes arcs.parquet and names.parquet. Prints one line of JSON with the counts.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import duckdb


def literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def statements(edges: Path, folder: Path) -> list[str]:
    return [
        f"""
        CREATE TABLE edges AS
        SELECT * FROM read_csv({literal(edges)}, delim = '\t', header = false, quote = '', escape = '',
            auto_detect = false, columns = {{'source': 'VARCHAR', 'target': 'VARCHAR', 'weight': 'DOUBLE'}})
        """,
        """
        CREATE TABLE names AS
        SELECT name, (row_number() OVER () - 1)::UINTEGER AS id
        FROM (SELECT source AS name FROM edges UNION SELECT target FROM edges)
        """,
        # One row per undirected pair first: half as many groups as with both directions.
        """
        CREATE TABLE pairs AS
        SELECT least(s.id, t.id) AS source, greatest(s.id, t.id) AS target, sum(weight) AS weight
        FROM edges JOIN names s ON s.name = edges.source JOIN names t ON t.name = edges.target
        GROUP BY ALL
        """,
        "DROP TABLE edges",
        f"""
        COPY (
            SELECT source, target, weight FROM (
                SELECT source, target, weight FROM pairs
                UNION ALL
                SELECT target AS source, source AS target, weight FROM pairs WHERE source <> target
            ) ORDER BY source, target
        ) TO {literal(folder / "arcs.parquet")} (FORMAT parquet)
        """,
        f"COPY names TO {literal(folder / 'names.parquet')} (FORMAT parquet)",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds a graph with DuckDB")
    parser.add_argument("edges", type=Path)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    config = {
        "memory_limit": arguments.memory,
        "threads": arguments.threads,
        "temp_directory": str(arguments.dir / "duckdb.tmp"),
        "preserve_insertion_order": False,
    }
    with duckdb.connect(str(arguments.dir / "graph.duckdb"), config=config) as connection:
        for statement in statements(arguments.edges, arguments.dir):
            connection.execute(statement)
        nodes = connection.execute("SELECT count(*) FROM names").fetchone()
        pairs = connection.execute("SELECT count(*) FROM pairs").fetchone()
    print(json.dumps({"nodes": nodes[0] if nodes else 0, "edges": pairs[0] if pairs else 0}))


if __name__ == "__main__":
    main()
