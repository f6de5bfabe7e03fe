"""Label propagation by GraphX, which is part of Spark, on an edge list; prints one line of JSON.

    python3 evals/spark/graphx.py EDGES --steps 5 --master 'local[2]' --memory 1g [--output FOLDER]

`org.apache.spark.graphx.lib.LabelPropagation` through py4j; no row passes through Python. Text is read by
`GraphLoader.edgeListFile`, Parquet by Spark SQL and `Graph.fromEdgeTuples`. Each row counts as one edge; further
columns are ignored. `--storage MEMORY_AND_DISK` lets Spark move cached partitions of the graph to disk, which GraphX
does not do by default.

GraphX runs exactly `--steps` supersteps, in each of which all nodes change at the same time by the labels before. Among
equally frequent labels it takes the one that its hash map iterates over first.
"""

from __future__ import annotations

import argparse
from typing import Any

import session
from pyspark.sql import SparkSession

STORAGE = ("MEMORY_ONLY", "MEMORY_AND_DISK")


def scala_object(spark: SparkSession, name: str) -> Any:
    """Return the instance of a Scala `object`."""
    return getattr(spark._jvm.java.lang.Class.forName(f"{name}$").getField("MODULE$"), "get")(None)


def read_text(spark: SparkSession, options: argparse.Namespace, storage: Any) -> Any:
    loader = scala_object(spark, "org.apache.spark.graphx.GraphLoader")
    context = spark.sparkContext._jsc.sc()
    return loader.edgeListFile(context, str(options.edges), False, options.parts or -1, storage, storage)


def read_parquet(spark: SparkSession, options: argparse.Namespace, storage: Any) -> Any:
    frame = spark.read.parquet(str(options.edges))
    source, target, *_ = frame.columns
    pairs = frame.selectExpr(f"CAST(`{source}` AS LONG) AS _1", f"CAST(`{target}` AS LONG) AS _2")
    pairs = pairs if options.parts is None else pairs.repartition(options.parts)
    jvm = spark._jvm
    # `as` is a keyword of Python.
    rows = getattr(pairs._jdf, "as")(pair_encoder(spark)).rdd()
    graph = scala_object(spark, "org.apache.spark.graphx.Graph")
    no_strategy = scala_object(spark, "scala.None")
    one = jvm.java.lang.Integer.valueOf(1)
    return graph.fromEdgeTuples(rows, one, no_strategy, storage, storage, int_tag(spark))


def pair_encoder(spark: SparkSession) -> Any:
    encoders = spark._jvm.org.apache.spark.sql.Encoders
    return encoders.tuple(encoders.LONG(), encoders.LONG())


def int_tag(spark: SparkSession) -> Any:
    return scala_object(spark, "scala.reflect.ClassTag").Int()


def propagate(spark: SparkSession, options: argparse.Namespace, run: session.Run) -> None:
    jvm = spark._jvm
    storage = getattr(jvm.org.apache.spark.storage.StorageLevel, options.storage)()
    run.facts["storage"] = options.storage
    with run.stage("load"):
        read = read_parquet if options.edges.suffix == ".parquet" else read_text
        graph = read(spark, options, storage)
        run.facts["edges"] = graph.edges().count()
        run.facts["nodes"] = graph.vertices().count()
    run.facts["parts"] = graph.edges().getNumPartitions()
    with run.stage("propagation"):
        labelled = scala_object(spark, "org.apache.spark.graphx.lib.LabelPropagation").run(
            graph, options.steps, int_tag(spark)
        )
        vertices = labelled.vertices()
        vertices.count()
    with run.stage("count"):
        any_tag = scala_object(spark, "scala.reflect.ClassTag").Any()
        labels = jvm.org.apache.spark.api.java.JavaPairRDD.fromRDD(vertices, any_tag, any_tag).values()
        run.facts["communities"] = labels.distinct().count()
    if options.output is not None:
        with run.stage("write"):
            frame = spark._jsparkSession.createDataset(vertices, pair_encoder(spark))
            frame.write().option("sep", "\t").csv(str(options.output))


def main() -> None:
    parser = session.parser("label propagation by GraphX")
    parser.add_argument("--storage", choices=STORAGE, default=STORAGE[0], help="storage level (default: %(default)s)")
    session.main("graphx", parser.parse_args(), propagate)


if __name__ == "__main__":
    main()
