"""Connected components by GraphFrames on Spark; prints one line of JSON.

    python3 evals/entities/graph_frames.py PAIRS.tsv --output FOLDER --conf spark.jars=JAR,.. [--memory 12g]

`GraphFrame.connectedComponents` through py4j: no row passes through Python, and the Python package is not needed. The
answer is a folder of `id<TAB>component`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "spark"))

import session
from pyspark.sql import SparkSession


def components(spark: SparkSession, options: argparse.Namespace, run: session.Run) -> None:
    pairs = spark.read.csv(str(options.edges), sep="\t", schema="src STRING, dst STRING, weight DOUBLE")
    with run.stage("find"):
        graph = spark._jvm.org.graphframes.GraphFrame.fromEdges(pairs.select("src", "dst")._jdf)
        found = graph.connectedComponents().run()
    with run.stage("write"):
        found.select("id", ["component"]).write().option("sep", "\t").csv(str(options.output))


def main() -> None:
    options = session.parser("connected components by GraphFrames").parse_args()
    # Without a folder for checkpoints.
    options.conf.append("spark.graphframes.useLocalCheckpoints=true")
    session.main("graphframes", options, components)


if __name__ == "__main__":
    main()
