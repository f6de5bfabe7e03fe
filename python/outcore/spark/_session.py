"""The session of Spark: what it is, where it may write, and what its workers have and grant to a task."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outcore.errors import Text, _made, option

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Memory of a task beside the engine's, and the least that the engine gets by default.
_PYTHON_MIB, _LEAST_MIB = 150, 256
#: Size with a unit, and the units as powers of two.
_SIZE = re.compile(r"(\d+)(b|[kmgtp]?)b?")
_SHIFTS = {"": 20, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}


def usage(message: Text, hint: Text) -> BaseException:
    """Return an error about how a function is called."""
    return _made({"kind": "usage", "message": message, "hint": hint})


def session_of(edges: DataFrame) -> SparkSession:
    """Return the session of a table of Spark, and refuse any other object."""
    try:
        from pyspark.sql import DataFrame
    except ImportError as error:
        raise usage("PySpark is not installed", "pip install 'outcore[spark]'") from error
    if not isinstance(edges, DataFrame):
        raise usage(f"edges must be a DataFrame of Spark, not {type(edges).__name__}", "use `outcore.cluster`")
    return edges.sparkSession


def has_context(spark: SparkSession) -> bool:
    """Return whether the driver of the cluster is this process, and not a server of Spark Connect."""
    return hasattr(spark, "_jsc")


def directory_of(spark: SparkSession, work_dir: str | os.PathLike[str] | None) -> tuple[str, str | None]:
    """Return the work directory, and its path again if it is temporary."""
    if work_dir is not None:
        return place_of(spark, os.fspath(work_dir)), None
    if not _is_here(spark):
        raise usage(
            "a job on a cluster needs a work directory that all workers reach",
            ("name one: ", option("work-dir", "hdfs:///tmp/outcore"), ", or `s3a://bucket/outcore`, or a shared path"),
        )
    temporary = tempfile.mkdtemp(prefix="outcore-spark-")
    return temporary, temporary


def place_of(spark: SparkSession, path: str) -> str:
    """Return a path for Spark, relative to the current directory of this process if Spark is on this machine."""
    return os.path.abspath(path) if "://" not in path and _is_here(spark) else path


def _is_here(spark: SparkSession) -> bool:
    """Return whether Spark runs in one process on this machine."""
    host = "localhost" if has_context(spark) else spark.client.host
    master = spark.conf.get("spark.master", None) or ""
    return master.startswith("local") and host in ("localhost", "127.0.0.1", "::1")


@contextlib.contextmanager
def described(spark: SparkSession, text: str) -> Iterator[None]:
    """Show a text beside the jobs of Spark."""
    if not has_context(spark):
        yield
        return
    spark.sparkContext.setJobDescription(text)
    try:
        yield
    finally:
        spark.sparkContext.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]


#: What the systems of files say when they are full, or when a quota is used up.
_FULL = ("No space left on device", "Disk quota exceeded", "QuotaExceededException")


@contextlib.contextmanager
def naming_full_disks(place: str) -> Iterator[None]:
    """Name a full disk as the cause if writing to a place fails."""
    try:
        yield
    except Exception as error:
        if not any(text in str(error) for text in _FULL):
            raise
        message = f"no space is left for `{place}`, or in the local directories of the workers (`spark.local.dir`)"
        hint = "free some space and run the same again: stages that are complete are kept"
        raise _made({"kind": "disk-full", "message": message, "hint": hint}) from error


def cores_of(spark: SparkSession) -> int:
    """Return the number of tasks that the cluster runs at the same time."""
    if has_context(spark):
        return int(spark.sparkContext.defaultParallelism)
    from pyspark.sql import functions as F  # noqa: N812

    # Spark divides a range by the number of cores.
    parts = spark.range(1 << 16).select(F.spark_partition_id().alias("part"))
    last = parts.agg(F.max("part")).first()
    return 1 if last is None else int(last[0]) + 1


def check_workers(spark: SparkSession) -> None:
    """Refuse workers whose Python lacks this version of outcore."""
    tasks = 2 * cores_of(spark)

    # Sent by value: a worker without the package runs it too.
    def versions(batches: Any) -> Any:
        import socket

        import pyarrow as pa

        try:
            from outcore import _outcore

            found = _outcore.__version__
        except ImportError:
            found = "none"
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"host": [socket.gethostname()], "version": [found]})

    found = spark.range(0, tasks, 1, tasks).mapInArrow(versions, "host string, version string").distinct().collect()
    wrong = sorted({(row["version"], row["host"]) for row in found if row["version"] != version()})
    if wrong:
        hosts = ", ".join(host for version, host in wrong if version == wrong[0][0])
        raise usage(
            f"the Python of the workers has outcore {wrong[0][0]}, not {version()}: {hosts}",
            "install it on all workers, and set `PYSPARK_PYTHON` or `spark.pyspark.python` to their Python",
        )


def task_memory(spark: SparkSession) -> str | int:
    """Return the memory that the engine may use in a task by default."""
    if _is_here(spark):
        return "50%"

    def setting(name: str) -> int | None:
        value = spark.conf.get(name, None)
        return None if value is None else _mebibytes(value)

    python = setting("spark.executor.pyspark.memory")
    executor = setting("spark.executor.memory") or 1024
    overhead = setting("spark.executor.memoryOverhead") or max(384, executor // 10)
    granted = python // 2 if python else overhead - _PYTHON_MIB
    return max(granted, _LEAST_MIB) << 20


def _mebibytes(value: str) -> int:
    """Return a size of Spark, which is in MiB unless it has a unit."""
    found = _SIZE.fullmatch(value.strip().lower())
    if found is None:
        raise usage(f"`{value}` is not a size of Spark", "write it as `2g` or `512m`")
    return int(found[1]) << _SHIFTS[found[2]] >> 20


def task_threads(spark: SparkSession) -> int | None:
    """Return the number of threads of the engine in a task, which has the executor to itself; None for all."""
    cores = spark.conf.get("spark.executor.cores", None)
    return None if _is_here(spark) or cores is None else int(cores)


def version() -> str:
    """Return the version of this package."""
    from outcore import _outcore

    return _outcore.__version__
