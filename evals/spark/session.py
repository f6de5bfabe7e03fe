"""One measured run on Spark in a process of its own, with a memory setting and a time limit; prints a line of JSON.

The driver memory of Spark is the heap of a JVM that is created with the session, so every run is a new process. The
line on standard output has `ok`, the seconds of each stage and the memory of all processes of the run. For a failed run
it also has the stage and the reason (`out of memory`, `time limit`, `error`), the exit code is 1, and the standard
error of the JVM is printed. Needs PySpark and Java; Linux.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pyspark
from pyspark.sql import SparkSession

KIB = 1 << 10
SAMPLE_SECONDS = 0.25
LOG_TAIL_BYTES = 4000
MESSAGE_LENGTH = 300
# Exit code of Spark's handler of uncaught exceptions when memory ran out.
EXIT_JVM_OUT_OF_MEMORY = 52
OUT_OF_MEMORY = re.compile(r"[\w.]*OutOfMemoryError.*|GC overhead limit.*|UNABLE_TO_ACQUIRE_MEMORY.*")

Facts = dict[str, Any]


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser of the arguments that all engines take."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("edges", type=Path, help="text (two columns of integers, more are ignored) or Parquet")
    made.add_argument("--steps", type=int, default=5, help="sweeps over all nodes (default: %(default)s)")
    made.add_argument("--master", default="local[2]", help="master of Spark (default: %(default)s)")
    made.add_argument("--memory", default="1g", help="heap of the driver and of each executor (default: %(default)s)")
    made.add_argument("--parts", type=int, help="partitions of the edges (default: the engine's own choice)")
    made.add_argument("--output", type=Path, help="folder for node<TAB>community, which must not exist")
    made.add_argument("--work-dir", type=Path, help="folder for spilled data of Spark (default: a temporary folder)")
    made.add_argument("--limit-seconds", type=float, default=1800, help="end a longer run (default: %(default)s)")
    made.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="further setting of Spark")
    return made


class Run:
    """Facts of a run, collected while it runs. Exactly one of `finish` and `fail` ends the process."""

    def __init__(self, engine: str, options: argparse.Namespace, log: IO[bytes], errors: int, folder: str) -> None:
        self.facts: Facts = {"engine": engine, "spark": pyspark.__version__, "steps": options.steps}
        self.facts |= {"master": options.master, "memory": options.memory, "seconds": {}}
        self._log = log
        self._errors = errors
        self._folder = folder
        self._stage = "start"
        self._ended = threading.Lock()
        self._memory = MemoryWatch()
        self._limit_seconds: float = options.limit_seconds
        self._timer = threading.Timer(self._limit_seconds, self._too_long)
        self._timer.daemon = True

    def begin(self) -> None:
        self._memory.start()
        self._timer.start()

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage, and record it as the place of a failure."""
        self._stage = name
        start = time.perf_counter()
        yield
        self.facts["seconds"][name] = round(time.perf_counter() - start, 3)

    def finish(self) -> None:
        self._end({"ok": True}, 0)

    def fail(self, error: BaseException) -> None:
        """Report the reason of a failure, from the log of the JVM if it ended too early to answer."""
        text = f"{error}\n{self._log_tail()}"
        memory = OUT_OF_MEMORY.search(text)
        # The exception of the JVM is in the second line, after a colon.
        cause = memory or re.search(r"(?<=^: ).*|\A.+", text, re.MULTILINE)
        out_of_memory = memory is not None or _jvm_exit_code() == EXIT_JVM_OUT_OF_MEMORY
        message = type(error).__name__ if cause is None else cause[0]
        reason = "out of memory" if out_of_memory else "error"
        self._end({"ok": False, "reason": reason, "message": message[:MESSAGE_LENGTH]}, 1)

    def _too_long(self) -> None:
        self._end({"ok": False, "reason": "time limit", "message": f"longer than {self._limit_seconds:g} s"}, 1)

    def _end(self, outcome: Facts, exit_code: int) -> None:
        """Exit immediately, since a JVM that is busy collecting garbage would not answer a request to stop."""
        self._ended.acquire()  # The lock is never released: a second caller waits for the end of the process.
        facts = self.facts | outcome | self._memory.peaks
        if not outcome["ok"]:
            facts["stage"] = self._stage
            os.write(self._errors, self._log_tail().encode())
        print(json.dumps(facts), flush=True)
        while processes := _descendants(os.getpid()):
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(-1, 0)
        shutil.rmtree(self._folder, ignore_errors=True)
        os._exit(exit_code)

    def _log_tail(self) -> str:
        size = os.fstat(self._log.fileno()).st_size
        kept = os.pread(self._log.fileno(), LOG_TAIL_BYTES, max(0, size - LOG_TAIL_BYTES))
        return kept.decode(errors="replace")


class MemoryWatch:
    """Sampler of the memory of the JVM and all processes of the run, counting shared pages once."""

    def __init__(self) -> None:
        self.peaks: dict[str, int] = {"peak_memory_bytes": 0, "peak_jvm_bytes": 0}
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        while True:
            held = {process: _held_bytes(process) for process in [os.getpid(), *_descendants(os.getpid())]}
            jvm = max((size for process, size in held.items() if _is_java(process)), default=0)
            for name, now in (("peak_memory_bytes", sum(held.values())), ("peak_jvm_bytes", jvm)):
                self.peaks[name] = max(self.peaks[name], now)
            time.sleep(SAMPLE_SECONDS)


def _held_bytes(process: int) -> int:
    """Return the resident memory, with a proportional part of shared pages; 0 for a process that has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/smaps_rollup") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * KIB
    return 0


def _is_java(process: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text().strip() == "java"
    return False


def _descendants(process: int) -> list[int]:
    """Return all descendants of this process."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # The name before it is in parentheses and may contain anything.
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    pending = [process]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


def _jvm_exit_code() -> int | None:
    """Return the exit code of a JVM, after waiting up to five seconds for its end."""
    gateway = pyspark.SparkContext._gateway
    process = None if gateway is None else gateway.proc
    with contextlib.suppress(Exception):
        return process.wait(timeout=5) if process is not None else None
    return None


def start(engine: str, options: argparse.Namespace, folder: str) -> SparkSession:
    """Start a session that listens on this machine only, with the given heap."""
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    # These variables may refer to another installation of Spark.
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS"):
        os.environ.pop(name, None)
    settings = {
        "spark.driver.memory": options.memory,
        "spark.executor.memory": options.memory,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder}",
        "spark.local.dir": folder,
        # As the guide recommends; GraphX has no Python tasks.
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    settings |= dict(setting.split("=", 1) for setting in options.conf)
    builder = SparkSession.builder.master(options.master).appName(engine)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(
    engine: str, options: argparse.Namespace, job: Callable[[SparkSession, argparse.Namespace, Run], None]
) -> None:
    """Run the job and end this process."""
    if not options.edges.exists():
        sys.exit(f"error: {options.edges} does not exist")
    folder = tempfile.mkdtemp(prefix="outcore-spark-", dir=options.work_dir)
    with tempfile.TemporaryFile() as log:
        run = Run(engine, options, log, os.dup(2), folder)
        # The JVM inherits this descriptor.
        os.dup2(log.fileno(), 2)
        run.begin()
        try:
            with run.stage("start"):
                spark = start(engine, options, folder)
            job(spark, options, run)
        except BaseException as error:
            run.fail(error)
        run.finish()
