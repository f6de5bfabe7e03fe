"""A cluster of Spark for tests: a master and workers on 127.0.0.1, each a process that a test can kill. Linux.

A Python process has one Spark context at a time, and the fixture `spark` holds one for all tests. A job for a cluster
is therefore a script in a process of its own, started by `StandaloneCluster.driver`. It takes the address of the
cluster from `sys.argv[1]`, and reports its progress to the test in lines on standard output.

Master, workers and drivers each lead a session of the kernel, which includes all processes that they start, also
executors and their Python workers. These processes, and no others, can be found and ended.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType

START_SECONDS = 60
END_SECONDS = 20
POLL_SECONDS = 0.05
LOG_TAIL_BYTES = 4000
#: Options for many small jobs, whose code is not worth optimizing.
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

MASTER_STARTED = re.compile(r"Starting Spark master at (spark://\S+)")
WORKER_REGISTERED = re.compile(r"Successfully registered with master (\S+)")


def require_java() -> None:
    """Raise an error with the package to install if Java is missing."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if java is None:
        raise RuntimeError(
            "Spark needs Java 17 or newer, and there is no `java`: install it (Debian: openjdk-17-jre-headless), "
            "or set JAVA_HOME"
        )


def environment() -> dict[str, str]:
    """Return the environment of Spark's processes: this Python and its Spark, on this machine only."""
    import pyspark

    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return inherited | {
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": BRIEF,
        "SPARK_SUBMIT_OPTS": BRIEF,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


@dataclass(frozen=True)
class Process:
    """Process that leads a session, and its log."""

    name: str
    process: subprocess.Popen[str]
    log: Path

    def log_tail(self) -> str:
        return self.log.read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace")

    def wait_for(self, line: re.Pattern[str]) -> str:
        """Wait for a line in the log that matches, and return its first group."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if found := line.search(self.log.read_text(errors="replace")):
                return found[1]
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended with {self.process.returncode}:\n{self.log_tail()}")
            time.sleep(POLL_SECONDS)
        raise TimeoutError(f"{self.name} was not ready after {START_SECONDS} s:\n{self.log_tail()}")

    def members(self) -> list[int]:
        """Return all living processes of the session."""
        return session_members(self.process.pid)

    def kill(self) -> None:
        """Kill all processes of the session, also those started meanwhile, and wait until they have ended."""
        end = time.monotonic() + END_SECONDS
        while members := self.members():
            for member in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(member, signal.SIGKILL)
            # A child still exists until its parent has waited for it.
            self.process.poll()
            if time.monotonic() > end:
                raise TimeoutError(f"{self.name}: processes {members} do not end")
            time.sleep(POLL_SECONDS)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def session_members(session: int) -> list[int]:
    """Return the processes of a session that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # The name, in parentheses, may contain anything; state, parent, group and session follow it.
                state, _, _, its_session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(its_session) == session and state != "Z":
                    found.append(int(entry.name))
    return found


class StandaloneCluster:
    """Master and workers that run inside a `with` block.

    Parameters
    ----------
    workers
        Number of workers, each with one executor per driver.
    cores
        Number of tasks that a worker runs in parallel.
    environments
        Further environment variables of each worker.
    memory
        Memory of a worker for its executors, in the notation of Spark. The `spark.executor.memory` of a driver must
        fit.

    Attributes
    ----------
    url
        Address of the master: `spark://127.0.0.1:PORT`.
    folder
        Folder of the logs and of the workers' files while the cluster runs.
    """

    def __init__(
        self,
        workers: int = 2,
        cores: int = 1,
        memory: str = "1g",
        environments: Sequence[Mapping[str, str]] = (),
    ) -> None:
        self._workers_wanted, self._cores, self._memory = workers, cores, memory
        self._environments = [*environments, *[{}] * (workers - len(environments))]
        self._processes: list[Process] = []
        self._workers: list[Process] = []
        self.url = ""
        self.folder = Path()

    def __enter__(self) -> StandaloneCluster:
        require_java()
        self.folder = Path(tempfile.mkdtemp(prefix="spark-cluster-"))
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _start(self) -> None:
        here = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        master = self._daemon("master", ["org.apache.spark.deploy.master.Master", *here])
        self.url = master.wait_for(MASTER_STARTED)
        for number in range(self._workers_wanted):
            size = ["--cores", str(self._cores), "--memory", self._memory]
            own = ["--work-dir", str(self.folder / f"worker-{number}")]
            argv = ["org.apache.spark.deploy.worker.Worker", *here, *size, *own, self.url]
            self._workers.append(self._daemon(f"worker {number}", argv, self._environments[number]))
        for worker in self._workers:
            worker.wait_for(WORKER_REGISTERED)

    def _daemon(self, name: str, arguments: list[str], variables: Mapping[str, str] = MappingProxyType({})) -> Process:
        # The script replaces itself by the JVM.
        argv = [str(Path(environment()["SPARK_HOME"]) / "bin" / "spark-class"), *arguments]
        return self._process(name, argv, None, variables)

    def _process(
        self, name: str, argv: list[str], output: int | None, variables: Mapping[str, str] = MappingProxyType({})
    ) -> Process:
        log = self.folder / f"{name.replace(' ', '-')}.log"
        local = self.folder / "local"
        local.mkdir(exist_ok=True)
        with log.open("wb") as file:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=file if output is None else output,
                stderr=file,
                cwd=self.folder,
                env=environment() | {"SPARK_LOCAL_DIRS": str(local)} | dict(variables),
                text=True,
                start_new_session=True,
            )
        started = Process(name, process, log)
        self._processes.append(started)
        return started

    def driver(self, script: str, *arguments: object) -> Process:
        """Start Python on a script with the master's address and the arguments; standard output is a pipe.

        Its standard error is in `log_tail()`. The process ends with the cluster at the latest.
        """
        name = f"driver {len(self._processes)}"
        argv = [sys.executable, "-u", "-c", script, self.url, *(str(argument) for argument in arguments)]
        return self._process(name, argv, output=subprocess.PIPE)

    def executors(self, index: int) -> int:
        """Return the number of executor processes of a worker."""
        return sum(
            _command(member).count("CoarseGrainedExecutorBackend") > 0 for member in self._workers[index].members()
        )

    def kill_worker(self, index: int) -> None:
        """Kill a worker, its executors and their Python workers, as if its machine were lost."""
        self._workers[index].kill()

    def _stop(self) -> None:
        # Drivers end first, then workers, then the master, so that none reports the loss of another.
        errors = []
        for process in reversed(self._processes):
            try:
                process.kill()
            except TimeoutError as error:
                errors.append(str(error))
        self._processes.clear()
        self._workers.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
        if errors:
            raise TimeoutError("\n".join(errors))


def _command(process: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    return ""


def wait_until(condition: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> None:
    """Wait until the condition holds; raise an error with its description after `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not after {seconds:g} s")
        time.sleep(POLL_SECONDS)
