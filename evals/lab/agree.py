"""Rows of the laboratory compared with fio and with plain programs (bar E3): they agree within 15 %.

Runs an experiment (quick), then fio and the programs of `plain.c` and `plain_fmt.cpp` on a file of the same size in the
same folder, in several turns, each in the other order; the median of the turns' ratios is judged, since both sides of a
turn saw the machine in the same mood. What a row and its counterpart do is the same:

- `pread` of 4 bytes at random positions, warm and cold: the median time of one call, without advice to the kernel.
- Direct reads of 4 KiB at random positions, 1, 16 and 64 at a time: the time per read. fio reads more of them than the
  experiment, because it reports milliseconds.
- `read`, `fread`, `fprintf`, {fmt}: the time per operation of a run that also opens and closes the file.

Three states have to be equal, and change figures by more than the bar if they are not:

- How the file got into the page cache: 8 KiB from a file written in one piece take 0.9 times as long as from one read
  by the megabyte, from one written by the page 1.2 times. Both sides read it by the megabyte, after dropping it.
- Whether the process has a second thread, as the laboratory has for signals: the kernel then counts the users of an
  open file, and 8 B take 1.2 times as long. The plain programs have a sleeping one; `one thread` is printed only.
- Whether the processor's caches hold the file, because it was read just before: `file not in the processor's caches` is
  printed, not judged.

Of a warm read of 4 bytes, fio reports 1.4 times the laboratory's time, and the plain program nearly the same. The first
run of a new process, which is all that fio does, takes 1.1 times as long as later ones; the rest is not explained.

Needs fio, a C and a C++ compiler and {fmt} (`apt-get install fio gcc g++ libfmt-dev`).
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results, subject
from harness.places import KIB, MIB

HERE = Path(__file__).resolve().parent
AGREED = 1.15
#: Sizes of the quick effort, which the counterparts share.
RANDOM_BYTES, TRANSFER_BYTES, TRANSFERS_MAX, LINES = 32 * MIB, 8 * MIB, 5_000, 250_000
COLD_READS, WARM_READS, DIRECT_READS = 150, 2_000, 8_192
FMT_BUFFER = 32 * KIB
#: Runs of a plain program, and programs in a turn, one of each counterpart after the other; as in the laboratory, the
#: median counts.
RUNS, CALLS = 12, 3
#: More than the caches of a processor hold.
FORGET_BYTES = 64 * MIB


@dataclass
class Pair:
    """A row of the laboratory and its counterpart, each with the nanoseconds of every turn."""

    experiment: str
    group: str
    row: str
    unit: Callable[[dict[str, Any]], float]
    counterpart: Callable[[], float]
    name: str
    other: str
    judged: bool = True
    rows: list[float] = field(default_factory=list)
    counterparts: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return statistics.median(row / other for row, other in zip(self.rows, self.counterparts, strict=True))


def an_operation(sample: dict[str, Any]) -> float:
    return sample["wall_seconds"] / sample["operations"] * 1e9


def median_operation(sample: dict[str, Any]) -> float:
    return sample["latencies"]["median"]


def output(argv: list[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        places.cannot_run(f"{' '.join(argv)} failed:\n{done.stderr}")
    return done.stdout


def lab(folder: Path, experiment: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Run an experiment; return the samples of its rows by group and name."""
    report = folder / "report.json"
    argv = [str(subject.outcore()), "lab", experiment, "--quick", "--quiet", "--dir", str(folder)]
    output([*argv, "--output", str(report), *["--compile"] * (experiment == "write-buffer")])
    (found,) = json.loads(report.read_text())["experiments"]
    return {(row["group"], row["name"]): row["samples"] for row in found["rows"]}


def fio(path: Path, **options: object) -> dict[str, Any]:
    """Read at random positions of a file; return what fio reports of the reads."""
    settings = {"filename": path, "rw": "randread", "norandommap": 1, "fadvise_hint": 0, **options}
    argv = ["fio", "--name=agree", "--output-format=json", *(f"--{name}={value}" for name, value in settings.items())]
    return json.loads(output(argv))["jobs"][0]["read"]


def cached(path: Path) -> None:
    """Bring a file into the page cache as the laboratory does."""
    with path.open("rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(MIB):
            pass


def fio_median(path: Path, reads: int, state: str) -> float:
    if state == "warm":
        cached(path)
    found = fio(path, ioengine="psync", bs=4, number_ios=reads, invalidate=int(state == "cold"))
    return found["clat_ns"]["percentile"]["50.000000"]


def fio_direct(path: Path, depth: int) -> float:
    found = fio(path, ioengine="io_uring", bs=4 * KIB, number_ios=DIRECT_READS, direct=1, iodepth=depth)
    return found["runtime"] * 1e6 / found["total_ios"]


def plain(program: Path, *arguments: object) -> float:
    if isinstance(path := arguments[1], Path) and path.exists():
        cached(path)
    return statistics.median(map(float, output([str(program), *map(str, arguments)]).split()))


def compiled(folder: Path, compiler: str, source: str, *libraries: str) -> Path:
    program = folder / source.partition(".")[0]
    output([compiler, "-O2", "-o", str(program), str(HERE / source), *libraries])
    return program


def made(path: Path, size: int) -> Path:
    """Write a file of incompressible bytes."""
    path.write_bytes(os.urandom(size))
    output(["sync", str(path)])
    return path


def size_text(size: int) -> str:
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB" if size >= KIB else f"{size} B"


def fio_pairs(path: Path, program: Path) -> list[Pair]:
    pairs = []
    for state, reads in (("warm", WARM_READS), ("cold", COLD_READS)):
        other = partial(fio_median, path, reads, state)
        name = f"pread, {state}"
        pairs.append(Pair("random-read", state, "pread, unsorted", median_operation, other, name, "fio"))
    other = partial(plain, program, "pread", path, 4, WARM_READS, RUNS, 2, 0)
    pairs.append(Pair("random-read", "warm", "pread, unsorted", median_operation, other, "pread, warm", "C"))
    for depth in (1, 16, 64):
        other = partial(fio_direct, path, depth)
        name = f"direct, {depth} at a time"
        pairs.append(Pair("queue-depth", "", f"io_uring, {depth} at a time", an_operation, other, name, "fio"))
    return pairs


def transfer_pairs(path: Path, program: Path) -> list[Pair]:
    pairs = []
    for threads, forget, what in (
        (2, 0, "C"),
        (1, 0, "C, one thread"),
        (2, FORGET_BYTES, "C, file not in the processor's caches"),
    ):
        for way in ("read", "fread"):
            for size in (8, 8 * KIB, MIB):
                text, count = size_text(size), min(TRANSFER_BYTES // size, TRANSFERS_MAX)
                other = partial(plain, program, way, path, size, count, RUNS, threads, forget)
                name = f"{way} {text}"
                pairs.append(Pair("transfer-size", text, name, an_operation, other, name, what, what == "C"))
    return pairs


def line_pairs(path: Path, c: Path, fmt: Path) -> list[Pair]:
    pairs = []
    for group, mode, kind in (
        ("lines of one string", "fprintf", "text"),
        ("lines of two indexes and a weight", "fprintf-edges", "edges"),
    ):
        # As before the laboratory's rows, the memory that the system hands out was used just before.
        by_c = partial(plain, c, mode, path, 0, LINES, RUNS, 2, 16 * MIB)
        by_fmt = partial(plain, fmt, kind, path, FMT_BUFFER, LINES, RUNS)
        pairs.append(Pair("write-buffer", group, "fprintf", an_operation, by_c, f"fprintf, {group}", "C"))
        row = f"{{fmt}} output_file, {size_text(FMT_BUFFER)}"
        pairs.append(Pair("write-buffer", group, row, an_operation, by_fmt, f"{{fmt}}, {group}", "C++"))
    return pairs


def turn(folder: Path, pairs: list[Pair], lab_first: bool) -> None:
    """Measure each experiment and the counterparts of its rows, one after the other."""
    for experiment in dict.fromkeys(pair.experiment for pair in pairs):
        own = [pair for pair in pairs if pair.experiment == experiment]
        samples = lab(folder, experiment) if lab_first else None
        calls = [[pair.counterpart() for pair in own] for _ in range(CALLS)]
        for pair, found in zip(own, zip(*calls, strict=True), strict=True):
            pair.counterparts.append(statistics.median(found))
        samples = samples or lab(folder, experiment)
        for pair in own:
            if (pair.group, pair.row) not in samples:
                places.cannot_run(f"the laboratory has no row `{pair.row}` here")
            pair.rows.append(statistics.median(map(pair.unit, samples[pair.group, pair.row])))


def main() -> int:
    options = results.arguments("lab", "rows of the laboratory compared with fio and plain programs", repeats=7)
    for program in ("fio", "cc", "g++"):
        if shutil.which(program) is None:
            places.cannot_run(f"{program} is missing: apt-get install fio gcc g++ libfmt-dev")
    full = options.scale == "full"
    folder = places.fresh(places.data_folder() / "lab")
    c, fmt = compiled(folder, "cc", "plain.c", "-pthread"), compiled(folder, "g++", "plain_fmt.cpp", "-lfmt")
    pairs = [
        *fio_pairs(made(folder / "random", RANDOM_BYTES), c),
        *transfer_pairs(made(folder / "transfers", TRANSFER_BYTES), c),
        *line_pairs(folder / "lines", c, fmt),
    ]
    for number in range(options.repeats if full else 1):
        turn(folder, pairs, lab_first=number % 2 == 0)

    turns = options.repeats if full else 1
    given = {"turns": turns, "fio": output(["fio", "--version"]).strip()}
    result = results.Result("lab", "E3", options.scale, given, part="agree")
    for pair in pairs:
        row, other = statistics.median(pair.rows), statistics.median(pair.counterparts)
        line = f"{pair.name}: {row:.4g} ns, {pair.other} {other:.4g} ns"
        if pair.judged:
            result.check(f"E3 {line}: larger / smaller", max(pair.ratio, 1 / pair.ratio), AGREED, unit="x", judged=full)
        else:
            result.notes.append(f"{line} ({other / row:.2f} times)")
        result.rows.append({"name": pair.name, "other": pair.other, "row_ns": pair.rows, "other_ns": pair.counterparts})
    places.fresh(folder)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
