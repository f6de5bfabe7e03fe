"""Work directory of a job on Spark, with the output of each stage, from which an interrupted job resumes.

Each job has a folder of its own there, so that one directory serves many jobs. Its name is a hash of the options and of
the rows: the same call finds it again, and another job never does. A stage is a Parquet table or a small JSON file. A
table is complete once Spark has written its ``_SUCCESS``. The file ``job.json`` says what job the folder belongs to. On
Spark Connect all of them are tables, which the server reads and writes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from outcore.errors import option
from outcore.spark._session import cores_of, has_context, naming_full_disks, usage

#: Options of tables with rows of megabytes: small row groups, since writers and readers hold a whole one in memory.
_PACKED = {
    "parquet.block.size": str(4 << 20),
    "parquet.block.size.row.check.min": "1",
    "parquet.page.size.row.check.min": "1",
}

_ANOTHER = ("name another ", option("work-dir"))


class Work:
    """Stages of a job, in a directory that the driver and all workers reach."""

    def __init__(self, spark: SparkSession, directory: str) -> None:
        self.spark = spark
        self.directory = directory.rstrip("/")
        self._files = _Files(spark, self.directory) if has_context(spark) else _Remote(spark, self.directory)

    @cached_property
    def cores(self) -> int:
        """Number of tasks that the cluster runs at the same time."""
        return cores_of(self.spark)

    def below(self, name: str) -> Work:
        """Return the stages of a part of the job, which are removed with this name."""
        return Work(self.spark, self.path(name))

    def of_job(self, job: Mapping[str, Any], *, restart: bool) -> Work:
        """Return the stages of a job, in its folder below this directory; `restart` removes them first."""
        text = json.dumps(job, sort_keys=True)
        folder = self.below(f"{job['method']}-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}")
        folder._claim(job, restart=restart)
        return folder

    def _claim(self, job: Mapping[str, Any], *, restart: bool) -> None:
        """Make this the folder of a job; refuse one that has anything else."""
        is_own = self.facts("job") is not None
        if restart and is_own:
            if not has_context(self.spark):
                raise usage("a job on Spark Connect cannot start over: its files are the server's", _ANOTHER)
            self.remove(*self._files.names())
            is_own = False
        if not is_own:
            if self._files.names():
                raise usage(f"`{self.directory}` is not empty and has no job of outcore", _ANOTHER)
            self.save_facts("job", job)

    def path(self, name: str) -> str:
        """Return the path of a stage."""
        return f"{self.directory}/{name}"

    def has(self, name: str) -> bool:
        """Return whether a table is complete."""
        return self._files.has(name)

    def write(self, name: str, frame: DataFrame) -> DataFrame:
        """Write a table and return the written one, so that it is not computed again."""
        writer = frame.write.mode("overwrite")
        if any(kind == "binary" for _, kind in frame.dtypes):
            writer = writer.options(**_PACKED)
        with naming_full_disks(self.path(name)):
            writer.parquet(self.path(name))
        # With the known schema no footer is read.
        return self.spark.read.schema(frame.schema).parquet(self.path(name))

    def read(self, name: str) -> DataFrame:
        """Return a complete table."""
        return self.spark.read.parquet(self.path(name))

    def stage(self, name: str, make: Callable[[], DataFrame]) -> DataFrame:
        """Return a table, which is computed unless it is complete."""
        return self.read(name) if self.has(name) else self.write(name, make())

    def remove(self, *names: str) -> None:
        """Remove stages, if they exist."""
        for name in names:
            self._files.remove(name)

    def remove_all(self, prefix: str) -> None:
        """Remove the stages ``prefix-NUMBER``."""
        self.remove(*(name for name in self._files.names() if name.startswith(f"{prefix}-")))

    def facts(self, name: str) -> dict[str, Any] | None:
        """Return facts saved as JSON, or None."""
        text = self._files.text(f"{name}.json")
        facts: dict[str, Any] | None = None if text is None else json.loads(text)
        return facts

    def save_facts(self, name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Save facts as JSON atomically, and return them."""
        with naming_full_disks(self.path(name)):
            self._files.save(f"{name}.json", json.dumps(facts))
        return dict(facts)


class _Files:
    """Files of a directory, by the Hadoop client of the driver."""

    def __init__(self, spark: SparkSession, directory: str) -> None:
        self._directory = directory
        self._java: Any = spark._jvm
        self._system = self._path("").getFileSystem(spark._jsc.hadoopConfiguration())

    def _path(self, name: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(f"{self._directory}/{name}" if name else self._directory)

    def names(self) -> list[str]:
        """Return the names of all stages."""
        if not self._system.exists(self._path("")):
            return []
        return sorted(entry.getPath().getName() for entry in self._system.listStatus(self._path("")))

    def has(self, name: str) -> bool:
        """Return whether a table is complete."""
        return bool(self._system.exists(self._path(f"{name}/_SUCCESS")))

    def remove(self, name: str) -> None:
        """Remove a stage, if it exists."""
        self._system.delete(self._path(name), True)

    def text(self, name: str) -> str | None:
        """Return the text of a file, or None."""
        path = self._path(name)
        if not self._system.exists(path):
            return None
        stream = self._system.open(path)
        try:
            return str(self._java.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def save(self, name: str, text: str) -> None:
        """Write a file atomically."""
        begun, path = self._path(f"_{name}.begun"), self._path(name)
        stream = self._system.create(begun, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        self._system.delete(path, False)
        self._system.rename(begun, path)


class _Remote:
    """Files of a directory that only the server of Spark Connect reaches: texts are tables, and nothing is removed."""

    def __init__(self, spark: SparkSession, directory: str) -> None:
        self._spark, self._directory = spark, directory

    def names(self) -> list[str]:
        """Return the names of all stages."""
        reader = self._spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        rows = self._unless_missing(lambda: reader.load(self._directory).select("path").collect())
        below = self._directory.partition("://")[2] or self._directory
        return sorted({row["path"].partition(f"{below}/")[2].partition("/")[0] for row in rows or ()})

    def has(self, name: str) -> bool:
        """Return whether a table is complete."""
        path = f"{self._directory}/{name}/_SUCCESS"
        reader = self._spark.read.format("binaryFile")
        return bool(self._unless_missing(lambda: reader.load(path).select("path").collect()))

    def remove(self, name: str) -> None:
        """Leave a stage: the next job of this directory replaces it."""

    def text(self, name: str) -> str | None:
        """Return the text of a file, or None."""
        path = f"{self._directory}/{name}"
        rows = self._unless_missing(lambda: self._spark.read.option("wholetext", "true").text(path).collect())
        return "".join(row["value"] for row in rows).strip() if rows else None

    def save(self, name: str, text: str) -> None:
        """Write a file."""
        table = self._spark.createDataFrame([(text,)], "value string").coalesce(1)
        table.write.mode("overwrite").text(f"{self._directory}/{name}")

    @staticmethod
    def _unless_missing(read: Callable[[], list[Any]]) -> list[Any] | None:
        """Return what is read; None if the path does not exist."""
        try:
            return read()
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            return None
