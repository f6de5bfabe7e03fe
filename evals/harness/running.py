"""Runs and measures commands as whole processes (resource use by wait4, disk use by blocks)."""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .places import KIB, MIB, relative

SAMPLE_SECONDS = 0.05
# Disk space of many files is sampled less often, so that sampling takes at most this share of a core.
SAMPLE_SHARE = 0.01
OUTPUT_TAIL_BYTES = 2000


@dataclass(frozen=True)
class Command:
    """Process to measure. `prepare` runs before each repeat and is not timed; `limit_seconds` ends one that hangs.

    The standard input is the file `stdin`, or what the process with the arguments `source` writes; it is not measured
    with the command, except that it takes its share of the processor.
    """

    name: str
    argv: Sequence[str]
    watch: Sequence[Path] = ()
    prepare: Callable[[], object] | None = None
    stdin: Path | None = None
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    limit_seconds: float | None = None
    source: Sequence[str] = ()


@dataclass(frozen=True)
class Sample:
    """Cost of one run of a command.

    `peak_memory_bytes` is the largest resident set of the process or of one of its children. The kernel also counts the
    time between fork and exec, so it is never below the resident set of this interpreter (about 25 MiB).
    `peak_disk_bytes` is sampled: it misses files without a name, and files that exist for less than 50 ms.
    `source_seconds` is the processor time of the process that wrote the standard input.
    """

    wall_seconds: float
    user_seconds: float
    system_seconds: float
    peak_memory_bytes: int
    peak_disk_bytes: int
    exit_code: int
    output: str
    error: str
    source_seconds: float | None = None

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    def json_line(self) -> dict[str, float]:
        """Return the last line of JSON in the output."""
        lines = [line for line in self.output.splitlines() if line.startswith('{"')]
        value = json.loads(lines[-1]) if lines else {}
        return value if isinstance(value, dict) else {}


def disk_bytes(paths: Iterable[Path]) -> int:
    """Return the bytes allocated on disk below the paths, counting each file once."""
    seen: dict[tuple[int, int], int] = {}
    pending = [os.fspath(path) for path in paths]
    while pending:
        path = pending.pop()
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            seen[(status.st_dev, status.st_ino)] = status.st_blocks * 512
            if os.path.isdir(path) and not os.path.islink(path):
                pending.extend(entry.path for entry in os.scandir(path))
    return sum(seen.values())


class DiskWatch:
    """Sampler of the bytes that a command adds below some paths while it runs."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._before = disk_bytes(paths)
        self._peak = self._before
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> DiskWatch:
        if self._paths:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._paths:
            self._thread.join()
            self._peak = max(self._peak, disk_bytes(self._paths))

    def _run(self) -> None:
        pause = SAMPLE_SECONDS
        while not self._stop.wait(pause):
            started = time.monotonic()
            self._peak = max(self._peak, disk_bytes(self._paths))
            pause = max(SAMPLE_SECONDS, (time.monotonic() - started) / SAMPLE_SHARE)

    @property
    def peak_bytes(self) -> int:
        return self._peak - self._before


def run_once(command: Command) -> Sample:
    """Run a command to its end and measure it. A failure is a sample, too, as is one of the source of its input."""
    if command.prepare is not None:
        command.prepare()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        with DiskWatch(command.watch) as watch:
            start = time.perf_counter()
            source = _start_source(command, error)
            stdin: IO[bytes] | int = subprocess.DEVNULL if command.stdin is None else command.stdin.open("rb")
            if source is not None and source.stdout is not None:
                stdin = source.stdout
            try:
                process = subprocess.Popen(
                    list(command.argv),
                    stdin=stdin,
                    stdout=output,
                    stderr=error,
                    cwd=command.cwd,
                    env={**os.environ, **command.env},
                )
            finally:
                # Once the command has ended, nobody else may hold the pipe, so that its source ends, too.
                if not isinstance(stdin, int):
                    stdin.close()
            timer = threading.Timer(command.limit_seconds or 0, os.kill, (process.pid, signal.SIGKILL))
            if command.limit_seconds is not None:
                timer.start()
            exit_code, usage = _wait(process)
            timer.cancel()
            source_seconds = None
            if source is not None:
                source_code, source_usage = _wait(source)
                source_seconds = source_usage.ru_utime + source_usage.ru_stime
                exit_code = exit_code or source_code
            wall_seconds = time.perf_counter() - start
        return Sample(
            wall_seconds=wall_seconds,
            user_seconds=usage.ru_utime,
            system_seconds=usage.ru_stime,
            peak_memory_bytes=usage.ru_maxrss * KIB,
            peak_disk_bytes=watch.peak_bytes,
            exit_code=exit_code,
            output=_tail(output),
            error=_tail(error),
            source_seconds=source_seconds,
        )


def _start_source(command: Command, error: IO[bytes]) -> subprocess.Popen[bytes] | None:
    if not command.source:
        return None
    environment = {**os.environ, **command.env}
    return subprocess.Popen(
        list(command.source), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=error, env=environment
    )


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, resource.struct_rusage]:
    """Wait for a process, and return its exit code and what it has used."""
    _, status, usage = os.wait4(process.pid, 0)
    # wait4 has reaped the child: Popen must not wait for it again.
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - OUTPUT_TAIL_BYTES))
    return relative(file.read().decode(errors="replace"))


def measure(commands: Sequence[Command], repeats: int) -> dict[str, list[Sample]]:
    """Run the commands in turn, A B C A B C .., so that changes in the speed of the machine affect all of them."""
    samples: dict[str, list[Sample]] = {command.name: [] for command in commands}
    for number in range(1, repeats + 1):
        for command in commands:
            print(f"  {number}/{repeats} {command.name} ..", end=" ", file=sys.stderr, flush=True)
            sample = run_once(command)
            samples[command.name].append(sample)
            outcome = "" if sample.ok else f" (exit code {sample.exit_code})"
            print(f"{sample.wall_seconds:.2f} s{outcome}", file=sys.stderr)
    return samples


def settle(*inputs: Path) -> None:
    """Write out dirty pages, so that no command pays for another, and read the inputs into the page cache."""
    os.sync()
    for path in inputs:
        with path.open("rb", buffering=0) as file:
            while file.read(4 * MIB):
                pass


@dataclass(frozen=True)
class Summary:
    """Median, best and worst of the successful runs of a command."""

    median_seconds: float
    min_seconds: float
    max_seconds: float
    user_seconds: float
    system_seconds: float
    peak_memory_bytes: int
    peak_disk_bytes: int
    failures: int


def summary(samples: Sequence[Sample]) -> Summary:
    """Summarize runs: medians of times, maxima of memory and disk. Without a successful run, times are nan."""
    good = [sample for sample in samples if sample.ok]
    failures = len(samples) - len(good)
    if not good:
        nan = math.nan
        return Summary(nan, nan, nan, nan, nan, 0, 0, failures)
    walls = [sample.wall_seconds for sample in good]
    return Summary(
        median_seconds=statistics.median(walls),
        min_seconds=min(walls),
        max_seconds=max(walls),
        user_seconds=statistics.median(sample.user_seconds for sample in good),
        system_seconds=statistics.median(sample.system_seconds for sample in good),
        peak_memory_bytes=max(sample.peak_memory_bytes for sample in good),
        peak_disk_bytes=max(sample.peak_disk_bytes for sample in good),
        failures=failures,
    )
