"""Work directory of a job on Spark, with the output of each stage, from which an interrupted job resumes.

A stage is a Parquet table or a small JSON file. A table is complete once Spark has written its ``_SUCCESS``. The file
``job.json`` identifies the job that the directory belongs to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from outcore.errors import _made, option

#: Options of tables with rows of megabytes: small row groups, since writers and readers hold a whole one in memory.
_PACKED = {
    "parquet.block.size": str(4 << 20),
    "parquet.block.size.row.check.min": "1",
    "parquet.page.size.row.check.min": "1",
}


class Work:
    """Stages of a job, in a directory that the driver and all workers reach."""

    def __init__(self, spark: SparkSession, directory: str, job: Mapping[str, Any], *, restart: bool) -> None:
        self.spark = spark
        self.directory = directory.rstrip("/")
        self._java: Any = spark._jvm
        path = self._path("")
        self._files = path.getFileSystem(spark._jsc.hadoopConfiguration())
        job = json.loads(json.dumps(job))
        found = self.facts("job")
        if restart and found is not None:
            self.remove(*self._names())
            found = None
        if found is None and self._names():
            raise _made(
                {
                    "kind": "usage",
                    "message": f"`{directory}` is not empty and has no job of outcore",
                    "hint": "name a directory that does not exist yet",
                }
            )
        if found is not None and found != job:
            changed = sorted(name for name in job if found.get(name) != job[name])
            raise _made(
                {
                    "kind": "usage",
                    "message": f"`{directory}` belongs to another job, which differs in {', '.join(changed)}",
                    "hint": ("name another ", option("work-dir"), ", or start over with ", option("restart")),
                }
            )
        if found is None:
            self.save_facts("job", job)

    def path(self, name: str) -> str:
        """Return the path of a stage."""
        return f"{self.directory}/{name}" if name else self.directory

    def _path(self, name: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(self.path(name))

    def _names(self) -> list[str]:
        if not self._files.exists(self._path("")):
            return []
        return sorted(entry.getPath().getName() for entry in self._files.listStatus(self._path("")))

    def has(self, name: str) -> bool:
        """Return whether a table is complete."""
        return bool(self._files.exists(self._path(f"{name}/_SUCCESS")))

    def write(self, name: str, frame: DataFrame) -> DataFrame:
        """Write a table and return the written one, so that it is not computed again."""
        writer = frame.write.mode("overwrite")
        if any(kind == "binary" for _, kind in frame.dtypes):
            writer = writer.options(**_PACKED)
        writer.parquet(self.path(name))
        return self.read(name)

    def read(self, name: str) -> DataFrame:
        """Return a complete table."""
        return self.spark.read.parquet(self.path(name))

    def take(self, path: str, name: str) -> DataFrame:
        """Copy a local Parquet file to the directory and return it as a table."""
        self._files.copyFromLocalFile(
            False, True, self._java.org.apache.hadoop.fs.Path(f"file://{path}"), self._path(name)
        )
        return self.read(name)

    def local_directory(self) -> str | None:
        """Return the directory if it is local, otherwise None."""
        return self.directory if "://" not in self.directory and os.path.isdir(self.directory) else None

    def stage(self, name: str, make: Callable[[], DataFrame]) -> DataFrame:
        """Return a table, which is computed unless it is complete."""
        return self.read(name) if self.has(name) else self.write(name, make())

    def newest(self, prefix: str) -> int | None:
        """Return the largest number of the complete tables ``prefix-NUMBER``."""
        numbers = [name.removeprefix(f"{prefix}-") for name in self._names() if name.startswith(f"{prefix}-")]
        complete = [int(number) for number in numbers if number.isdigit() and self.has(f"{prefix}-{number}")]
        return max(complete, default=None)

    def remove(self, *names: str) -> None:
        """Remove stages, if they exist."""
        for name in names:
            self._files.delete(self._path(name), True)

    def remove_all(self, prefix: str, *, but: int | None = None) -> None:
        """Remove the stages ``prefix-NUMBER`` except those of one number."""
        spared = f"{prefix}-{but}"
        self.remove(*(name for name in self._names() if name.startswith(prefix) and name.split(".")[0] != spared))

    def facts(self, name: str) -> dict[str, Any] | None:
        """Return facts saved as JSON, or None."""
        path = self._path(f"{name}.json")
        if not self._files.exists(path):
            return None
        stream = self._files.open(path)
        try:
            text = self._java.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        facts: dict[str, Any] = json.loads(text)
        return facts

    def save_facts(self, name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Save facts as JSON atomically, and return them."""
        begun, path = self._path(f"_{name}.begun"), self._path(f"{name}.json")
        stream = self._files.create(begun, True)
        try:
            stream.write(bytearray(json.dumps(facts).encode()))
        finally:
            stream.close()
        self._files.delete(path, False)
        self._files.rename(begun, path)
        return dict(facts)
