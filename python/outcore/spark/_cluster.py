"""The verb: options, the stages in their order, and the result."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from outcore._progress import Progress, ProgressOption
from outcore._report import Report
from outcore.errors import Options, OutcoreWarning, Text, _made, as_keywords, option

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Clustered", "cluster"]

Method: TypeAlias = Literal["map-equation", "modularity", "label-propagation", "components"]
#: Methods that the engine finishes, and most sweeps before it does, as in the engine.
_BY_ENGINE = ("map-equation", "modularity")
_FIRST_SWEEPS = 5
_CHOICES = {
    "method": (*_BY_ENGINE, "label-propagation", "components"),
    "duplicates": ("sum", "max", "min", "first"),
    "self_loops": ("keep", "drop"),
}
#: Stages that nobody needs when the result is there; of those with numbers, what they are called.
_PASSING = ("names", "parts", "sums", "communities", "coarse", "group-sums", "groups", "merged", "engine.parquet")
_PASSING_NUMBERED = ("sweeps", "moves", "last", "rounds")


#: A name as the engine writes it: one that would break the line is quoted.
_QUOTED = """
CASE WHEN cast(node AS string) RLIKE '[\\t\\r]|^"' THEN concat('"', replace(node, '"', '""'), '"') ELSE node END
"""


@dataclass(frozen=True)
class Clustered:
    """Communities found on Spark.

    Attributes
    ----------
    communities : pyspark.sql.DataFrame
        A row for each node, in the order in which nodes first appear in the edges: ``node``, of the type that nodes
        have in the edges, and ``community``, a number; 0 is the largest. Read from the work directory when it is used.
    report : Report
        What was done and found.
    """

    communities: DataFrame
    report: Report

    def write(self, path: str, *, format: Literal["tsv", "parquet"] = "tsv", overwrite: bool = False) -> None:
        """Write the communities as Spark writes: a directory of files whose order is that of their names.

        Parameters
        ----------
        path : str
            Where to, as Spark names it: ``hdfs://``, ``s3a://``, or a path that all workers have.
        format : {"tsv", "parquet"}
            Lines of ``node<TAB>community``, as the engine writes them, or a table.
        overwrite : bool
            Replace what is there.
        """
        place = _place(self.communities.sparkSession, path)
        writer = self.communities.write.mode("overwrite" if overwrite else "error")
        if format == "parquet":
            writer.parquet(place)
        else:
            nodes = self.communities.selectExpr(f"concat({_QUOTED}, '\\t', community) AS value")
            nodes.write.mode("overwrite" if overwrite else "error").text(place)

    def __repr__(self) -> str:
        found = self.report["communities"]
        counts = f"{self.report['graph']['node_count']:,} nodes in {found['community_count']:,} communities"
        return f"<Clustered: {counts}, modularity {found['modularity']:.3g}>"


def cluster(
    edges: DataFrame,
    *,
    source: str = "source",
    target: str = "target",
    weight: str | None = None,
    method: Method = "map-equation",
    seed: int = 0,
    resolution: float | None = None,
    max_sweeps: int | None = None,
    tolerance: float | None = None,
    duplicates: Literal["sum", "max", "min", "first"] = "sum",
    self_loops: Literal["keep", "drop"] = "drop",
    min_weight: float | None = None,
    memory: str | int = "50%",
    work_dir: str | os.PathLike[str] | None = None,
    parts: int | None = None,
    save_every: float = 60.0,
    restart: bool = False,
    progress: ProgressOption = "auto",
) -> Clustered:
    """Find communities in a table of edges on a Spark cluster.

    Label propagation and components give the communities of :func:`outcore.cluster` for the rows in the order of
    ``edges.collect()``, whatever the cluster, its workers and the number of parts. The other methods divide the labor:
    on Spark nodes move between communities, all parts side by side; the engine finds communities of these
    communities in the memory of the driver's machine; and on Spark nodes move once more. These are not the communities
    of the engine alone, where each move counts before the next one: the guide says how far they are from them, and
    the report what they are worth.

    Parameters
    ----------
    edges : pyspark.sql.DataFrame
        A row for each edge of an undirected graph. Each reading has to give the same rows in the same order, as it does
        for files and tables.
    source, target : str
        Columns of the nodes: strings or integers.
    weight : str, optional
        Column of the weights: numbers that are not negative. Without it each edge weighs 1.
    method : str
        How to find communities; as for :func:`outcore.cluster`, which has more of them.
    seed : int
        Seed of every random choice.
    resolution : float, optional
        Larger values give smaller communities: modularity alone.
    max_sweeps, tolerance
        When to stop: after so many sweeps (30; 5 before the engine goes on), or, of label propagation, when at most
        this share of the nodes changes (0.001).
    duplicates, self_loops, min_weight
        What becomes of edges and weights, as for :func:`outcore.cluster`.
    memory : str or int
        The engine's memory on the driver's machine, for methods that it finishes.
    work_dir : str, optional
        Where stages are kept: a directory that the driver and all workers reach (``hdfs://``, ``s3a://``, a shared
        path), of this job alone. The same call goes on from there after a failure. With a local master a temporary
        one is used if none is named.
    parts : int, optional
        About how many parts the graph is divided into: more let more tasks work at a time, and need more rounds. As
        many as cores, or more if parts would have more than 8 million nodes and arcs.
    save_every : float
        Seconds between two savings of the sweeps: what is lost at most if the driver is.
    restart : bool
        Begin anew in a directory that has an earlier job.
    progress : bool, "auto" or callable
        As for :func:`outcore.cluster`.

    Returns
    -------
    Clustered
        The communities, as a table on Spark, and a report.

    Raises
    ------
    outcore.InputError
        For columns that are missing or of the wrong type, nodes that are null or empty, weights that are null, negative
        or not finite, and tables without rows.
    outcore.UsageError
        For options that cannot be used, a missing PySpark or Java, and a work directory of another job.
    """
    spark = _session(edges)
    options = _options(
        method=method,
        seed=seed,
        resolution=resolution,
        max_sweeps=max_sweeps,
        tolerance=tolerance,
        duplicates=duplicates,
        self_loops=self_loops,
        min_weight=min_weight,
        parts=parts,
    )
    options |= {"is_weighted": weight is not None, "save_seconds": save_every}
    job = {name: value for name, value in options.items() if name != "save_seconds"}
    job |= {"version": _version(), "source": source, "target": target, "weight": weight}
    job |= {"columns": [f"{name} {kind}" for name, kind in edges.dtypes], "files": sorted(edges.inputFiles())}

    from outcore.spark._index import Input
    from outcore.spark._work import Work

    _check_workers(spark)
    columns = Input(source, target, weight)
    rows = columns.rows(edges)
    directory, temporary = _directory(spark, work_dir)
    try:
        work = Work(spark, directory, job, restart=restart)
        found = _Job(work, options, _teller(progress), memory).run(rows, columns.node_type(edges))
    except BaseException:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    for text in found.report["warnings"]:
        warnings.warn(text, OutcoreWarning, stacklevel=2)
    if temporary:
        weakref.finalize(found.communities, shutil.rmtree, temporary, ignore_errors=True)
    return found


class _Job:
    """One call: each stage is made once, and found again after a failure."""

    def __init__(self, work: Any, options: dict[str, Any], tell: Callable[[str, str, bool], None], memory: Any) -> None:
        self.work, self.options, self.memory = work, options, memory
        self._tell = tell
        self._seconds: list[dict[str, Any]] = []

    def _stage(self, name: str, make: Callable[[], Any]) -> Any:
        begun = time.monotonic()
        self._tell(name, "", False)
        made = make()
        self._seconds.append({"name": name, "seconds": time.monotonic() - begun})
        self._tell(name, "", True)
        return made

    def run(self, rows: DataFrame, node_type: Any) -> Clustered:
        work = self.work
        # The report is kept last.
        if work.facts("report") is None:
            facts = self._find(rows, node_type)
            work.keep_facts("report", {"stages": self._seconds, **facts})
            work.remove(*_PASSING)
            for name in _PASSING_NUMBERED:
                work.remove_all(f"{name}-")
        result = work.read("result").orderBy("id").select("node", "community")
        return Clustered(result, Report(work.facts("report") or {}))

    def _find(self, rows: DataFrame, node_type: Any) -> dict[str, Any]:
        from outcore.spark import _index
        from outcore.spark._sweeps import Parts

        work, options = self.work, self.options
        names, node_count = self._stage("number", lambda: _index.names_of(work, rows))
        if not work.has("parts"):
            chunks = self._stage("sort", lambda: _index.chunks_of(work, rows, names, options))
            bounds = _index.bounds_of(work, chunks, node_count, options["parts"])
            self._stage("divide", lambda: _index.parts_of(work, chunks, bounds))
            work.remove("chunks")
        parts = Parts.of(work, _index.known_bounds(work))
        try:
            history, nodes, found = self._communities(parts, node_count)
            result = names.join(nodes, "id").select("id", names["name"].cast(node_type).alias("node"), "community")
            ordered = result.repartitionByRange(_index.tasks_for(work, rows), "id").sortWithinPartitions("id")
            self._stage("write", lambda: work.write("result", ordered))
        finally:
            parts.release()
        return self._report(parts, node_count, history, found)

    def _communities(self, parts: Any, node_count: int) -> tuple[dict[str, Any], DataFrame, dict[str, Any]]:
        """Give the history of the sweeps, the community of each node, and what is known of all."""
        from outcore.spark import _closing, _sweeps

        work, options = self.work, self.options
        history: dict[str, Any] = {"sweeps": [], "converged": True, "resumed_sweep_count": 0}
        further: dict[str, Any] = {}
        labels: Any = _sweeps.alike
        if options["method"] == "label-propagation":
            history, labels = self._sweep(parts, _sweeps.propagation(options, node_count)), _sweeps.propagated
        elif options["method"] in _BY_ENGINE:
            history, further = self._move(parts, node_count)
            labels = _sweeps.moved
        found = self._close(parts, ("sums", "communities"), labels)[-1]
        if options["method"] != "components":
            found["split_count"] = _closing.split_count(work, "communities")
        if options["method"] == "map-equation":
            found["code_length"] = _closing.code_length(work, "communities", history.pop("strength_logs"))
        return history, _closing.nodes_of(work, parts), {"split_count": 0, **found, **further}

    def _sweep(self, parts: Any, sweeps: Any) -> dict[str, Any]:
        def tell(text: str) -> None:
            self._tell("cluster", text, False)

        found: dict[str, Any] = self._stage("cluster", lambda: sweeps.run(parts, tell))
        return found

    def _close(self, parts: Any, names: tuple[str, str], labels: Any) -> tuple[DataFrame, DataFrame, dict[str, Any]]:
        """Number the connected pieces of labels: their sums in each part, their numbers, and what is known of all."""
        from outcore.spark import _closing

        self._stage("join", lambda: _closing.join_pieces(parts, labels))
        sums = self.work.write(names[0], _closing.sums_of(self.work, parts))
        numbers, found = self._stage("count", lambda: _closing.count(self.work, names[1], sums))
        _closing.rename(parts, sums, numbers)
        return sums, numbers, found

    def _move(self, parts: Any, node_count: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Move nodes, let the engine find communities of their communities, and move nodes once more."""
        from outcore.spark import _closing, _sweeps

        work, options = self.work, self.options
        last = _sweeps.last_moves(options)
        before = work.facts("moved") if work.newest(last.name) is not None else None
        if before is None:
            history = self._sweep(parts, _sweeps.first_moves(options, node_count))
            sums, numbers, found = self._close(parts, ("group-sums", "groups"), _sweeps.moved)
            merged = self._stage("engine", lambda: self._by_engine(parts, numbers))
            _closing.rename(parts, sums, merged)
            before = work.keep_facts("moved", {"history": history, "group_count": found["community_count"]})
        history, polished = before["history"], self._sweep(parts, last)
        sweeps = [sweep | {"stage": "groups"} for sweep in history["sweeps"]]
        sweeps += [sweep | {"stage": "communities"} for sweep in polished["sweeps"]]
        logs = [sweep.pop("strength_logs") for sweep in sweeps]
        resumed = history["resumed_sweep_count"] + polished["resumed_sweep_count"]
        if polished["resumed_sweep_count"]:
            resumed = len(history["sweeps"]) + polished["resumed_sweep_count"]
        told = {"sweeps": sweeps, "converged": history["converged"], "resumed_sweep_count": resumed}
        return told | {"strength_logs": logs[-1]}, {"group_count": before["group_count"]}

    def _by_engine(self, parts: Any, numbers: DataFrame) -> DataFrame:
        """Let the engine find communities of communities (root, number)."""
        from pyspark.sql import functions as F  # noqa: N812

        import outcore
        from outcore.spark import _closing

        work, options = self.work, self.options
        coarse = work.write("coarse", _closing.contracted(work, parts))
        if coarse.isEmpty():
            # Nothing joins any two nodes.
            return numbers.select("root", "number")
        # Edges stream through this process, and communities lie in a file: the engine's memory is all that it takes.
        with (
            tempfile.TemporaryDirectory(prefix="outcore-engine-", dir=work.local_directory()) as directory,
            warnings.catch_warnings(),
        ):
            # They would be about groups, not nodes.
            warnings.simplefilter("ignore", OutcoreWarning)
            output = os.path.join(directory, "engine.parquet")
            outcore.cluster(
                _closing.stream_of(coarse.orderBy("source", "target")),
                output=output,
                columns=("source", "target", "weight"),
                method=options["method"],
                seed=options["seed"],
                resolution=options["resolution"],
                # Nodes are groups already, and may be as few as communities.
                seeding="own",
                self_loops="keep",
                memory=self.memory,
                progress=False,
            )
            table = work.take(output, "engine.parquet")
        table = table.selectExpr("cast(node AS long) AS number", "community AS g")
        # Communities without edges are none of the engine's.
        columns = ("number", "root", "count", "coalesce(g, -1 - number) AS merged")
        whole = numbers.join(table, "number", "left").selectExpr(*columns)
        merged = whole.groupBy("merged").agg(F.min("root").alias("root"), F.sum("count").alias("count"))
        numbered, _ = _closing.numbered_by_size(work, "merged", merged)
        found = numbered.select("merged", F.col("number").alias("community"))
        return whole.select("root", "merged").join(found, "merged").selectExpr("root", "community AS number")

    def _report(self, parts: Any, node_count: int, history: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
        rows, arcs = self.work.facts("input"), self.work.facts("bounds")
        return {
            "input": rows,
            "graph": {
                "node_count": node_count,
                "part_count": parts.count,
                "combined_count": arcs["combined_count"] // 2,
                "dropped_loop_count": arcs["dropped_loop_count"],
                "weight_total": found.pop("weight_total", None),
            },
            "communities": {
                "method": self.options["method"],
                "seed": self.options["seed"],
                **found,
                "sweep_count": len(history["sweeps"]),
                "resumed_sweep_count": history["resumed_sweep_count"],
                "converged": history["converged"],
            },
            "sweeps": history["sweeps"],
            "warnings": [
                as_keywords(text) for text in warnings_of(self.options["method"], found["largest_size"] / node_count)
            ],
        }


def warnings_of(method: str, largest_share: float) -> list[Text]:
    """Say, as the engine does, that one community holds most nodes, which is rarely what was asked for."""
    if largest_share <= 0.5 or method == "components":
        return []
    advice: dict[str, tuple[str | Options, ...]] = {
        "label-propagation": ("; ", option("method", "map-equation"), " does not let one label flood the graph"),
        "modularity": ("; a larger ", option("resolution"), " gives smaller ones"),
    }
    percent = f"{100 * largest_share:.1f} %"
    return [(f"one community holds {percent} of the nodes, more than half", *advice.get(method, ()))]


def _session(edges: DataFrame) -> SparkSession:
    """Give the session of a table; refuse what is none."""
    try:
        from pyspark.sql import DataFrame
    except ImportError as error:
        raise _usage("PySpark is not installed", "pip install 'outcore[spark]'") from error
    if not isinstance(edges, DataFrame):
        raise _usage(f"edges are a table of Spark, not {type(edges).__name__}", "use `outcore.cluster` for others")
    if not hasattr(edges, "_jdf"):
        raise _usage(
            "this session is one of Spark Connect, which has no resilient datasets",
            "use a session of the cluster itself: `SparkSession.builder.master(...)`",
        )
    return edges.sparkSession


def _check_workers(spark: SparkSession) -> None:
    """Refuse workers whose Python lacks this version of outcore."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        (found,) = spark.sparkContext.parallelize([0], 1).map(_version).collect()
    except (Py4JError, PySparkException) as error:
        if "No module named 'outcore'" not in str(error):
            raise
        found = "none"
    if found != _version():
        raise _usage(
            f"the Python of the workers has outcore {found}, not {_version()}",
            "install it on all machines, and name their Python: `PYSPARK_PYTHON`, or `spark.pyspark.python`",
        )


def _version(_: int = 0) -> str:
    from outcore import _outcore

    return _outcore.__version__


def _usage(message: Text, hint: Text) -> BaseException:
    return _made({"kind": "usage", "message": message, "hint": hint})


def engine_methods() -> list[str]:
    """Return the methods of the engine, of which some are not on Spark."""
    from outcore import _outcore

    options: list[dict[str, Any]] = json.loads(_outcore.options("cluster"))
    return next(list(option["values"]) for option in options if option["name"] == "method")


def _options(**options: Any) -> dict[str, Any]:
    """Check options, and fill in defaults."""
    method = options["method"]
    if method in engine_methods() and method not in _CHOICES["method"]:
        hint = "use `modularity`, or `outcore.cluster` on one machine"
        raise _usage(f"`{method}` is not among the methods on Spark", hint)
    for name, values in _CHOICES.items():
        if options[name] not in values:
            raise _usage((option(name), f" is one of {', '.join(map(repr, values))}, not {options[name]!r}"), "")
    if options["resolution"] is not None and method != "modularity":
        raise _usage((option("resolution"), f" is for `modularity`, not for `{method}`"), "leave it out")
    least = {"max_sweeps": 1, "parts": 1, "tolerance": 0, "min_weight": 0, "seed": 0}
    for name, bound in least.items():
        if options[name] is not None and not options[name] >= bound:
            raise _usage((option(name), f" is at least {bound}, not {options[name]}"), "")
    if options["tolerance"] is not None and method != "label-propagation":
        raise _usage((option("tolerance"), f" is for `label-propagation`, not for `{method}`"), "leave it out")
    defaults = {"max_sweeps": _FIRST_SWEEPS if method in _BY_ENGINE else 30, "tolerance": 0.001}
    return options | {name: value for name, value in defaults.items() if options[name] is None}


def _directory(spark: SparkSession, work_dir: str | os.PathLike[str] | None) -> tuple[str, str | None]:
    """Give the work directory, and its path if it is temporary."""
    if work_dir is not None:
        return _place(spark, os.fspath(work_dir)), None
    if not _is_here(spark):
        raise _usage(
            "on a cluster stages are kept in a directory that all workers reach",
            ("name one: ", option("work-dir", "hdfs:///tmp/outcore"), ", or `s3a://bucket/outcore`, or a shared path"),
        )
    temporary = tempfile.mkdtemp(prefix="outcore-spark-")
    return temporary, temporary


def _place(spark: SparkSession, path: str) -> str:
    """Name a place as Spark does; in this process's directory if Spark is on this machine."""
    return os.path.abspath(path) if "://" not in path and _is_here(spark) else path


def _is_here(spark: SparkSession) -> bool:
    """Say whether all of Spark is on this machine, in one process."""
    return (spark.sparkContext.master or "").startswith("local")


def _teller(progress: ProgressOption) -> Callable[[str, str, bool], None]:
    """Say who hears of stages: a function, the terminal, or nobody."""
    if callable(progress):
        return lambda stage, text, done: (progress(Progress(stage=stage, detail=text, is_done=done)), None)[1]
    if progress is True or (progress == "auto" and sys.stderr is not None and sys.stderr.isatty()):
        return lambda stage, text, done: None if done else print(f"{stage}: {text}" if text else stage, file=sys.stderr)
    return lambda stage, text, done: None
