"""Label propagation by outcore on Spark, on an edge list; prints a line of JSON as graphx.py does.

    python3 evals/spark/outcore_spark.py EDGES --steps 5 --master 'local[2]' --memory 1g [--output FOLDER]

Weights are ignored, as by GraphX: each row counts as one edge. With a tolerance of 0 no sweep is omitted unless no node
moves any more.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import session
from pyspark.sql import DataFrame, SparkSession

SCHEMA = "source LONG, target LONG, weight DOUBLE"
SWEEP_FACTS = ("number", "moved_count", "rounds", "seconds", "shuffle_bytes")


def read(spark: SparkSession, path: Path) -> DataFrame:
    if path.suffix != ".parquet":
        return spark.read.csv(str(path), sep="\t", schema=SCHEMA, comment="#").select("source", "target")
    frame = spark.read.parquet(str(path))
    return frame.toDF("source", "target", *frame.columns[2:]).select("source", "target")


def propagate(spark: SparkSession, options: argparse.Namespace, run: session.Run) -> None:
    import outcore.spark

    with run.stage("load"):
        # Only the table is opened: its rows are read in the next stage.
        edges = read(spark, options.edges)
    with run.stage("propagation"):
        found = outcore.spark.cluster(
            edges,
            method="label-propagation",
            seed=options.seed,
            max_sweeps=options.steps,
            tolerance=0,
            work_dir=None if options.work_dir is None else options.work_dir / "job",
            parts=options.parts,
            progress=False,
        )
        run.facts["nodes"] = found.communities.count()
    # The engine in one task does not time its sweeps.
    run.facts["sweeps"] = [{name: sweep.get(name) for name in SWEEP_FACTS} for sweep in found.report["sweeps"]]
    with run.stage("count"):
        run.facts["communities"] = found.communities.select("community").distinct().count()
    if options.output is not None:
        with run.stage("write"):
            found.communities.write.csv(str(options.output), sep="\t")


def main() -> None:
    parser = session.parser("label propagation by outcore on Spark")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random choices (default: %(default)s)")
    session.main("outcore", parser.parse_args(), propagate)


if __name__ == "__main__":
    main()
