"""The function `cluster` and its options."""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from outcore._progress import Progress, ProgressOption
from outcore.errors import OutcoreWarning, option, with_keywords
from outcore.spark._job import Job, refuse_undivided
from outcore.spark._result import Clustered
from outcore.spark._session import check_workers, directory_of, session_of, task_memory, usage, version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from outcore._api import Method

__all__ = ["Clustered", "cluster"]

#: Methods with a resolution.
_RESOLVED = ("modularity", "cpm")
_CHOICES = {"duplicates": ("sum", "max", "min", "first"), "self_loops": ("keep", "drop")}
#: Default of `task_rows`: a task takes some minutes for this many rows.
TASK_ROWS = 100_000_000


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
    directed: bool = False,
    memory: str | int | None = None,
    work_dir: str | os.PathLike[str] | None = None,
    task_rows: int = TASK_ROWS,
    parts: int | None = None,
    exact: bool | None = None,
    restart: bool = False,
    progress: ProgressOption = "auto",
) -> Clustered:
    """Find communities in a table of edges on a Spark cluster.

    Up to `task_rows` rows are clustered by the engine in one task, with any method: the result is that of
    :func:`outcore.cluster` for the rows in the order of ``edges.collect()``, and a job takes seconds. The engine keeps
    within `memory` and uses the local disk of the executor, so a task can take far more edges than fit its memory.

    Graphs with more rows are divided into parts. Label propagation and components still give the communities of the
    engine, independent of the cluster, its workers and the number of parts. For modularity and the map equation nodes
    move between communities on Spark, in all parts in parallel; the engine finds communities of these communities in
    one task; then nodes move on Spark once more. The result differs from that of the engine alone, where each move
    takes effect before the next one: the guide compares the two, and the report has the quality of the result.

    Parameters
    ----------
    edges : pyspark.sql.DataFrame
        Table with one row per edge. Every read must give the same rows in the same order, as for files and tables.
    source, target : str
        Columns of the nodes, which are strings or integers.
    weight : str, optional
        Column of the weights, which are not negative. By default each edge has the weight 1.
    method : str
        Method, as for :func:`outcore.cluster`. A divided graph takes ``"map-equation"``, ``"modularity"``,
        ``"label-propagation"`` and ``"components"``.
    seed : int
        Seed of all random choices.
    resolution : float, optional
        Resolution, as for :func:`outcore.cluster`. Larger values give smaller communities.
    max_sweeps : int, optional
        Maximum number of sweeps, as for :func:`outcore.cluster`; in a divided graph 30 by default, or 24 on Spark for
        the methods that the engine finishes.
    tolerance : float, optional
        Stop label propagation when at most this share of the nodes changes in a sweep; 0.001 by default.
    duplicates, self_loops, min_weight
        Treatment of edges and weights, as for :func:`outcore.cluster`.
    directed : bool
        Edges have a direction, as for :func:`outcore.cluster`. A divided graph has none.
    memory : str or int, optional
        Memory limit of the engine in its task. By default half of the memory with a local master; otherwise what an
        executor has for Python: half of ``spark.executor.pyspark.memory``, or the overhead of the executor, less 150
        MiB and not less than 256 MiB.
    work_dir : str, optional
        Directory for completed stages, reachable by the driver and all workers (``hdfs://``, ``s3a://``, a shared
        path). Each job makes a folder of its own there, so that one directory serves many jobs, also at the same time.
        After a failure the same call resumes from its folder, if the rows are the same. The communities are read from
        there; the folder may be removed when they have been written elsewhere. With a local master a temporary
        directory is used by default.
    task_rows : int
        Largest number of rows that the engine clusters in one task.
    parts : int, optional
        Divide a graph of any size into approximately this many parts: more parts allow more parallel tasks, and need
        more rounds. By default one per core, or more if parts would have more than 8 million nodes and arcs. There are
        no more parts than blocks of the graph: about 64 from 16 thousand to 4 million nodes.
    exact : bool, optional
        Sweep label propagation as the engine does, for any number of parts, which takes more rounds; by default for up
        to 16 parts.
    restart : bool
        Ignore saved progress of this job in the work directory and start from scratch.
    progress : bool, "auto" or callable
        See :func:`outcore.cluster`.

    Returns
    -------
    Clustered
        Communities as a table on Spark, and a report.

    Raises
    ------
    outcore.InputError
        If a column is missing or has the wrong type, a node is null or empty, a weight is null, negative or not finite,
        or the table has no rows. If a column cannot be computed: a function of the user raises an error, or a cast
        fails. The error has the message, and the exception of Spark is its cause.
    outcore.UsageError
        If an option cannot be used, or PySpark or Java is missing.
    """
    spark = session_of(edges)
    options = _options(
        method=method,
        seed=seed,
        resolution=resolution,
        max_sweeps=max_sweeps,
        tolerance=tolerance,
        duplicates=duplicates,
        self_loops=self_loops,
        min_weight=min_weight,
        directed=directed,
        task_rows=task_rows,
        parts=parts,
        exact=exact,
    )
    options["is_weighted"] = weight is not None
    options["memory"] = task_memory(spark) if memory is None else memory
    job = {name: value for name, value in options.items() if name != "memory"}
    job |= {"version": version(), "source": source, "target": target, "weight": weight}

    from outcore.spark._errors import naming_columns
    from outcore.spark._index import Input
    from outcore.spark._work import Work

    check_workers(spark)
    columns = Input(source, target, weight)
    rows = columns.rows(edges)
    directory, temporary = directory_of(spark, work_dir)
    try:
        with naming_columns(edges, columns.names):
            running = Job(Work(spark, directory), options, _notifier(progress))
            found = running.run(rows, columns.node_type(edges), job, restart=restart)
    except BaseException:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    for text in found.report["warnings"]:
        warnings.warn(with_keywords(text), OutcoreWarning, stacklevel=2)
    if temporary:
        weakref.finalize(found.communities, shutil.rmtree, temporary, ignore_errors=True)
    return found


def engine_methods() -> list[str]:
    """Return the methods of the engine, some of which are not available on Spark."""
    from outcore import _outcore

    options: list[dict[str, Any]] = json.loads(_outcore.options("cluster"))
    return next(list(option["values"]) for option in options if option["name"] == "method")


def _options(**options: Any) -> dict[str, Any]:
    """Check options and fill in defaults."""
    from outcore import _outcore

    method = options["method"]
    _outcore.check_method(method)
    for name, values in _CHOICES.items():
        if options[name] not in values:
            raise usage((option(name), f" must be one of {', '.join(map(repr, values))}, not {options[name]!r}"), "")
    if options["resolution"] is not None and method not in _RESOLVED:
        names = " and ".join(f"`{name}`" for name in _RESOLVED)
        raise usage((option("resolution"), f" has no effect with `{method}`, only with {names}"), "leave it out")
    minima = {"max_sweeps": 1, "parts": 1, "tolerance": 0, "min_weight": 0, "seed": 0, "task_rows": 0}
    for name, bound in minima.items():
        if options[name] is not None and not options[name] >= bound:
            raise usage((option(name), f" must be at least {bound}, not {options[name]}"), "")
    if options["tolerance"] is not None and method != "label-propagation":
        raise usage(
            (option("tolerance"), f" has no effect with `{method}`, only with `label-propagation`"), "leave it out"
        )
    if options["parts"] is not None:
        refuse_undivided(options)
    return options


def _notifier(progress: ProgressOption) -> Callable[[str, str, bool], None]:
    """Return a function that reports stages to a function or to the terminal, or ignores them."""
    if callable(progress):
        return lambda stage, text, done: (progress(Progress(stage=stage, detail=text, is_done=done)), None)[1]
    if progress is True or (progress == "auto" and sys.stderr is not None and sys.stderr.isatty()):
        return lambda stage, text, done: None if done else print(f"{stage}: {text}" if text else stage, file=sys.stderr)
    return lambda stage, text, done: None
