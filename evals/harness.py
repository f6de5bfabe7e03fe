"""What the evals share: commands run as whole processes and measured, inputs, bars, results.

Standard library only, Python 3.11 or newer, Linux (resource use by wait4, disk use by blocks).
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import gzip
import hashlib
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, NoReturn

EVALS = Path(__file__).resolve().parent
REPOSITORY = EVALS.parent
TEMPORARY = Path(tempfile.gettempdir())

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SAMPLE_SECONDS = 0.05
OUTPUT_KEPT = 2000

EXIT_BAR_MISSED = 1
EXIT_CANNOT_RUN = 2


def cannot_run(message: str) -> NoReturn:
    """Stops an eval that lacks something, in a way that is not mistaken for a bar not met."""
    print(f"error: {message}", file=sys.stderr)
    sys.exit(EXIT_CANNOT_RUN)


# Places ----------------------------------------------------------------------------------------------------------


def data_folder() -> Path:
    """Where inputs are generated and jobs work; can be gigabytes."""
    return Path(os.environ.get("DATA", TEMPORARY / "outcore-evals"))


def rivals_folder() -> Path:
    """Where evals/rivals.sh has installed the programs to compare with."""
    return Path(os.environ.get("RIVALS", TEMPORARY / "outcore-rivals"))


def rival(path: str) -> Path:
    program = rivals_folder() / path
    if not program.exists():
        cannot_run(f"{path} is not below RIVALS: run evals/rivals.sh first")
    return program


def use_rivals_python() -> None:
    """Goes on in the Python of evals/rivals.sh, which has the packages that evals compare with."""
    python = rival("venv/bin/python")
    if Path(sys.prefix).resolve() != python.parents[1].resolve():
        os.execv(python, [str(python), "-W", "ignore", *sys.argv])


def require_space(needed_bytes: int) -> None:
    """Refuses before any work what would fill the disk."""
    folder = data_folder()
    folder.mkdir(parents=True, exist_ok=True)
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        cannot_run(
            f"this eval needs about {needed_bytes / GIB:.1f} GiB below DATA, {free_bytes / GIB:.1f} GiB are free: "
            "set DATA to a folder on a larger disk"
        )


def fresh(folder: Path) -> Path:
    """An empty folder of that name."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def relative(text: str) -> str:
    """Replaces this machine's folders by their roles, so that results say nothing about the machine's paths."""
    roles = [(data_folder(), "DATA"), (rivals_folder(), "RIVALS"), (REPOSITORY, ".")]
    variables = {"OUTCORE": "outcore", "OUTCORE_SORT_BENCH": "sort_bench", "OUTCORE_GRAPHS": "GRAPHS"}
    roles += [(Path(os.environ[name]), role) for name, role in variables.items() if name in os.environ]
    names = {name: role for path, role in roles for name in {str(path), str(path.resolve())}}
    names[str(TEMPORARY)] = "TMPDIR"
    names[str(Path.home())] = "HOME"
    for name in sorted(names, key=len, reverse=True):
        if len(name) > 1:
            text = text.replace(name, names[name])
    return text


# The command under test ------------------------------------------------------------------------------------------

METHODS = ("label-propagation", "map-equation", "modularity", "cpm", "components")
# The constant Potts model has no resolution that fits all graphs: this one, in units of the mean weight, finds
# communities of some twenty nodes.
CPM_RESOLUTION = 0.05


def method_resolution(method: str) -> float | None:
    """What `--resolution` says where a method needs it."""
    return CPM_RESOLUTION if method == "cpm" else None


def chosen_methods(text: str) -> tuple[str, ...]:
    """Reads `--method`: names with commas, or `all`."""
    names = METHODS if text == "all" else tuple(text.split(","))
    for name in names:
        if name not in METHODS:
            raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(METHODS)}")
    return names


def outcore() -> Path:
    """The `outcore` command: OUTCORE, or what `cargo build --release` has made."""
    program = Path(os.environ.get("OUTCORE", REPOSITORY / "target/release/outcore"))
    if not program.exists():
        cannot_run("there is no outcore command: run `cargo build --release`, or set OUTCORE")
    return program


def sort_bench() -> Path:
    """The example that sorts records: OUTCORE_SORT_BENCH, or what `cargo build --release --examples` has made."""
    program = Path(os.environ.get("OUTCORE_SORT_BENCH", REPOSITORY / "target/release/examples/sort_bench"))
    if not program.exists():
        cannot_run("there is no sort_bench example: run `cargo build --release --examples`")
    return program


def generate_argv(nodes: int, edges: int, seed: int, output: Path, truth: Path, names: str = "string") -> list[str]:
    sizes = ["--nodes", str(nodes), "--edges", str(edges)]
    options = ["--names", names, "--weights", "--seed", str(seed)]
    return [str(outcore()), "generate", "planted", *sizes, *options, "-o", str(output), "--truth", str(truth)]


def build_argv(
    edges: Path,
    graph: Path,
    work: Path,
    memory: str = "1GiB",
    threads: int = 2,
    report: Path | None = None,
    weighted: bool = True,
) -> list[str]:
    argv = [str(outcore()), "build", str(edges), "-o", str(graph)]
    argv += [] if weighted else ["--ignore-weights"]
    return argv + _limits(memory, threads, work, report)


def cluster_argv(
    source: Path,
    communities: Path,
    work: Path,
    memory: str = "1GiB",
    threads: int = 2,
    method: str = "label-propagation",
    seed: int = 1,
    report: Path | None = None,
    resolution: float | None = None,
) -> list[str]:
    """`source` is an edge list or a graph that `build` has made."""
    argv = [str(outcore()), "cluster", str(source), "-o", str(communities), "--method", method]
    # Components depend on nothing that is random.
    argv += [] if method == "components" else ["--seed", str(seed)]
    argv += [] if resolution is None else ["--resolution", f"{resolution:.12g}"]
    # A graph needs no temporary files.
    return argv + _limits(memory, threads, None if source.is_dir() else work, report)


def sort_argv(records: int, memory: str, folder: Path) -> list[str]:
    return [str(sort_bench()), "--records", str(records), "--memory", memory, "--dir", str(folder)]


def _limits(memory: str, threads: int, work: Path | None, report: Path | None) -> list[str]:
    argv = ["--memory", memory, "--threads", str(threads)]
    argv += [] if work is None else ["--work-dir", str(work)]
    return argv if report is None else [*argv, "--report", str(report)]


def sweeps_in_report(report: Path) -> int | None:
    """The number of sweeps that a report names, wherever in it: a number, or a list with an entry per sweep."""

    def find(value: object) -> int | None:
        if isinstance(value, dict):
            for name in ("sweeps", "sweep_count"):
                found = value.get(name)
                if isinstance(found, int) and not isinstance(found, bool):
                    return found
                if isinstance(found, list):
                    return len(found)
            children: Iterable[object] = value.values()
        elif isinstance(value, list):
            children = value
        else:
            return None
        return next((found for child in children if (found := find(child)) is not None), None)

    if not report.exists():
        return None
    return find(json.loads(report.read_text()))


# Measuring -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """A process to measure. `prepare` runs before each repeat and is not timed."""

    name: str
    argv: Sequence[str]
    watch: Sequence[Path] = ()
    prepare: Callable[[], object] | None = None
    stdin: Path | None = None
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """What one run of a command cost.

    `peak_memory_bytes` is the largest resident set of the process or of one of its children. The kernel counts the
    moment between fork and exec too, so that it is never below the resident set of this interpreter (some 25 MiB).
    `peak_disk_bytes` is sampled: files that lived for less than 50 ms, or without a name, are not in it.
    """

    wall_seconds: float
    user_seconds: float
    system_seconds: float
    peak_memory_bytes: int
    peak_disk_bytes: int
    exit_code: int
    output: str
    error: str

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    def json_line(self) -> dict[str, float]:
        """The last line of the output, which the sorting programs write as JSON."""
        lines = [line for line in self.output.splitlines() if line.startswith("{")]
        value = json.loads(lines[-1]) if lines else {}
        return value if isinstance(value, dict) else {}


def disk_bytes(paths: Iterable[Path]) -> int:
    """Bytes allocated on disk below the paths, each file once."""
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
    """Samples the bytes used below some paths while a command runs; counts what comes on top of the beginning."""

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
        while not self._stop.wait(SAMPLE_SECONDS):
            self._peak = max(self._peak, disk_bytes(self._paths))

    @property
    def peak_bytes(self) -> int:
        return self._peak - self._before


def run_once(command: Command) -> Sample:
    """Runs a command to its end and measures it. A failure is a sample too."""
    if command.prepare is not None:
        command.prepare()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        stdin: IO[bytes] | int = subprocess.DEVNULL if command.stdin is None else command.stdin.open("rb")
        try:
            with DiskWatch(command.watch) as watch:
                start = time.perf_counter()
                process = subprocess.Popen(
                    list(command.argv),
                    stdin=stdin,
                    stdout=output,
                    stderr=error,
                    cwd=command.cwd,
                    env={**os.environ, **command.env},
                )
                _, status, usage = os.wait4(process.pid, 0)
                wall_seconds = time.perf_counter() - start
                # wait4 has reaped the child: Popen must not wait for it again.
                process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if not isinstance(stdin, int):
                stdin.close()
        return Sample(
            wall_seconds=wall_seconds,
            user_seconds=usage.ru_utime,
            system_seconds=usage.ru_stime,
            peak_memory_bytes=usage.ru_maxrss * KIB,
            peak_disk_bytes=watch.peak_bytes,
            exit_code=process.returncode,
            output=_tail(output),
            error=_tail(error),
        )


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - OUTPUT_KEPT))
    return relative(file.read().decode(errors="replace"))


def measure(commands: Sequence[Command], repeats: int) -> dict[str, list[Sample]]:
    """Runs the commands in turn, A B C A B C .., so that a change of the machine's mood meets all of them."""
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
    """Writes out what is dirty, so that no command pays for another's, and reads the inputs into the page cache."""
    os.sync()
    for path in inputs:
        with path.open("rb", buffering=0) as file:
            while file.read(4 * MIB):
                pass


@dataclass(frozen=True)
class Summary:
    """Middle, best and worst of a command's successful runs."""

    median_seconds: float
    min_seconds: float
    max_seconds: float
    user_seconds: float
    system_seconds: float
    peak_memory_bytes: int
    peak_disk_bytes: int
    failures: int


def summary(samples: Sequence[Sample]) -> Summary:
    """Times are medians; memory and disk are the worst run's. Without a successful run, everything is nan."""
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


# Bars and results ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """A measured figure and the bar that it has to meet. `judged` is false where the scale gives it no meaning."""

    figure: str
    measured: float | str
    bar: float | str
    sense: str = "<="
    aim: float | None = None
    unit: str = ""
    judged: bool = True

    def __post_init__(self) -> None:
        if self.sense not in ("<=", ">=", "=="):
            raise ValueError(f"unknown sense {self.sense}")

    @property
    def met(self) -> bool:
        if self.sense == "==":
            return self.measured == self.bar
        measured, bar = float(self.measured), float(self.bar)
        if math.isnan(measured):
            return False
        return measured <= bar if self.sense == "<=" else measured >= bar

    @property
    def verdict(self) -> str:
        if not self.judged:
            return "not judged"
        return "met" if self.met else "MISSED"


@dataclass
class Result:
    """All that an eval has found; `finish` prints and stores it.

    `rows` are figures that are no costs of commands, stored a line each. `part` tells the results of several scripts in
    one folder apart.
    """

    name: str
    bar: str
    scale: str
    input: dict[str, object]
    commands: dict[str, Command] = field(default_factory=dict)
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    rows: list[dict[str, object]] = field(default_factory=list)
    part: str = ""
    notes: list[str] = field(default_factory=list)

    def measure(self, commands: Sequence[Command], repeats: int) -> None:
        self.commands.update({command.name: command for command in commands})
        self.samples.update(measure(commands, repeats))

    def summary(self, name: str) -> Summary:
        return summary(self.samples[name])

    def check(
        self,
        figure: str,
        measured: float | str,
        bar: float | str,
        sense: str = "<=",
        aim: float | None = None,
        unit: str = "",
        judged: bool = True,
    ) -> Check:
        check = Check(figure, measured, bar, sense, aim, unit, judged)
        self.checks.append(check)
        return check

    def check_runs(self, *names: str) -> None:
        """Demands that the named commands have succeeded in every run."""
        for name in names:
            failures = self.summary(name).failures
            if failures:
                print(f"\n{name} failed:\n{next(s.error for s in self.samples[name] if not s.ok)}", file=sys.stderr)
            self.check(f"{name}: failed runs", failures, 0)

    def finish(self, baseline: str | None = None) -> int:
        """Prints the tables, stores the result, returns the exit code."""
        print(f"\n{self.name} ({self.bar}, {self.scale} scale)")
        if self.samples:
            print("\n" + self._table(baseline))
        print("\n" + checks_table(self.checks))
        for note in self.notes:
            print(f"note: {note}")
        path = self._store(baseline)
        print(f"\nresults: {path.relative_to(REPOSITORY)}")
        return EXIT_BAR_MISSED if any(check.judged and not check.met for check in self.checks) else 0

    def _table(self, baseline: str | None) -> str:
        header = ["command", "median s", "min", "max", "user s", "system s", "memory MiB", "disk MiB"]
        if baseline is not None:
            header.append(f"x {baseline}")
        rows = []
        for name in self.samples:
            row = self.summary(name)
            cells = [
                name,
                *(f"{value:.2f}" for value in (row.median_seconds, row.min_seconds, row.max_seconds)),
                *(f"{value:.2f}" for value in (row.user_seconds, row.system_seconds)),
                f"{row.peak_memory_bytes / MIB:.0f}",
                f"{row.peak_disk_bytes / MIB:.0f}" if self.commands[name].watch else "",
            ]
            if baseline is not None:
                cells.append(f"{row.median_seconds / self.summary(baseline).median_seconds:.2f}")
            if row.failures:
                cells[0] += f" ({row.failures} failed)"
            rows.append(cells)
        return table(header, rows)

    def _store(self, baseline: str | None) -> Path:
        document = {
            "eval": self.name,
            "bar": self.bar,
            "scale": self.scale,
            "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "version": version(),
            "commit": commit(),
            "machine": machine(),
            "input": self.input,
            "baseline": baseline,
            "commands": [
                {
                    "name": name,
                    "argv": [relative(argument) for argument in self.commands[name].argv],
                    "env": {key: relative(value) for key, value in self.commands[name].env.items()},
                    "summary": asdict(summary(samples)),
                    "runs": [_stored(sample) for sample in samples],
                }
                for name, samples in self.samples.items()
            ],
            "rows": [],
            "checks": [asdict(check) | {"verdict": check.verdict} for check in self.checks],
            "notes": self.notes,
        }
        folder = EVALS / self.name / "results"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (f"{self.part}-{self.scale}.json" if self.part else f"{self.scale}.json")
        text = json.dumps(_storable(document), indent=1, ensure_ascii=False)
        rows = ",\n  ".join(json.dumps(_storable(row), ensure_ascii=False) for row in self.rows)
        path.write_text(text.replace('"rows": []', f'"rows": [\n  {rows}\n ]' if rows else '"rows": []', 1) + "\n")
        return path


def _stored(sample: Sample) -> dict[str, object]:
    """A sample without what it wrote, unless that is its result or the reason of its failure."""
    kept = {name: value for name, value in asdict(sample).items() if name not in ("output", "error")}
    if reported := sample.json_line():
        kept["reported"] = reported
    if not sample.ok:
        kept["error"] = sample.error
    return kept


def _storable(value: object) -> object:
    """Without nan, which JSON does not know, and without digits that mean nothing."""
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return value


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A plain table: the first column to the left, the others to the right."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(_line(cells, widths) for cells in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    others = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join([first, *others]).rstrip()


def checks_table(checks: Sequence[Check]) -> str:
    rows = []
    for check in checks:
        aim = "" if check.aim is None else f"{check.aim:g}"
        bar = f"{check.sense} {_figure(check.bar)}"
        rows.append([check.figure, _figure(check.measured), bar, aim, check.unit, check.verdict])
    return table(["figure", "measured", "bar", "aim", "unit", "verdict"], rows)


def _figure(value: float | str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    return f"{value:.1e}" if 0 < abs(value) < 1e-4 else f"{value:.4f}".rstrip("0").rstrip(".")


def version() -> str:
    done = subprocess.run([str(outcore()), "--version"], capture_output=True, text=True, check=False)
    return relative(done.stdout.strip()) or "unknown"


def commit() -> str:
    """The commit of the working tree, with `-dirty` where sources differ from it."""
    argv = ["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty", "--exclude", "*"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def machine() -> dict[str, object]:
    """What figures depend on; no name, no path."""
    return {
        "cpu": _field("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        # The number alone: what distributors append can name a machine's provider.
        "kernel": f"{platform.system()} {platform.release().partition('-')[0]}",
        "filesystem": _filesystem(data_folder()),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
    }


def _field(path: str, name: str) -> str:
    with contextlib.suppress(OSError), open(path) as file:
        for line in file:
            if line.startswith(name):
                return line.partition(":")[2].strip()
    return "unknown"


def _filesystem(folder: Path) -> str:
    """The type of the file system that holds the folder: the mount with the longest matching path."""
    target = str(folder.resolve())
    best, kind = "", "unknown"
    with contextlib.suppress(OSError), open("/proc/self/mounts") as file:
        for line in file:
            _, mount, this_kind, *_ = line.split()
            inside = target == mount or target.startswith(mount.rstrip("/") + "/")
            if inside and len(mount) >= len(best):
                best, kind = mount, this_kind
    return kind


# Inputs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Planted:
    """A generated planted partition on disk."""

    nodes: int
    edges: int
    seed: int
    path: Path
    truth: Path

    @property
    def description(self) -> dict[str, object]:
        return {
            "kind": "planted partition",
            "nodes": self.nodes,
            "edges": self.edges,
            "seed": self.seed,
            "bytes": self.path.stat().st_size,
        }


def planted(nodes: int, edges: int, seed: int = 1, names: str = "string") -> Planted:
    """The planted partition of that size, generated unless it is there; the evals share it."""
    folder = data_folder() / "graphs"
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"planted-{names}-{nodes}-{edges}-{seed}"
    graph = Planted(nodes, edges, seed, folder / f"{stem}.tsv", folder / f"{stem}.truth.tsv")
    if not graph.path.exists():
        require_space(edges * 45 + nodes * 30)
        print(f"  generating {nodes} nodes, {edges} edges ..", file=sys.stderr)
        partial = graph.path.with_suffix(".incomplete")
        done = run_once(Command("generate", generate_argv(nodes, edges, seed, partial, graph.truth, names)))
        if not done.ok:
            cannot_run(f"outcore generate failed:\n{done.error}")
        partial.rename(graph.path)
    return graph


def lines(path: Path) -> Iterator[str]:
    """The lines of a text file, decompressed where its name ends in .gz, without comments."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for line in file:
            if not line.startswith("#"):
                yield line.rstrip("\n")


def read_communities(path: Path) -> dict[str, str]:
    """Node name to community, from a file of `node<TAB>community`."""
    communities = {}
    for line in lines(path):
        node, _, community = line.partition("\t")
        communities[node] = community.strip()
    return communities


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Agreement of partitions -----------------------------------------------------------------------------------------


def nmi(left: Mapping[str, str], right: Mapping[str, str], normalisation: str = "sum") -> float:
    """Normalised mutual information of two partitions over the nodes that both have.

    `sum`: 2 I / (H1 + H2); `max`: I / max(H1, H2). Two partitions into one community each agree fully.
    """
    nodes = left.keys() & right.keys()
    if not nodes:
        return math.nan
    joint = Counter((left[node], right[node]) for node in nodes)
    lefts = Counter(left[node] for node in nodes)
    rights = Counter(right[node] for node in nodes)
    left_entropy, right_entropy = _entropy(lefts, len(nodes)), _entropy(rights, len(nodes))
    if left_entropy == 0 and right_entropy == 0:
        return 1.0
    information = math.fsum(
        count / len(nodes) * math.log(count * len(nodes) / (lefts[a] * rights[b])) for (a, b), count in joint.items()
    )
    if normalisation == "sum":
        return 2 * information / (left_entropy + right_entropy)
    if normalisation == "max":
        return information / max(left_entropy, right_entropy)
    raise ValueError(f"unknown normalisation {normalisation}")


def _entropy(counts: Mapping[str, int], total: int) -> float:
    return -math.fsum(count / total * math.log(count / total) for count in counts.values())


# The command line of an eval -------------------------------------------------------------------------------------


def arguments(
    name: str, description: str, repeats: int = 3, extend: Callable[[argparse.ArgumentParser], object] | None = None
) -> argparse.Namespace:
    """Parses what every eval takes. With --clean it removes what evals have generated, and stops."""
    parser = argparse.ArgumentParser(prog=f"evals/{name}/run.py", description=description)
    parser.add_argument(
        "--scale", choices=("smoke", "full"), default="full", help="smoke: seconds, to see that it works"
    )
    parser.add_argument("--repeats", type=int, default=repeats, help="rounds of all commands (default: %(default)s)")
    parser.add_argument("--clean", action="store_true", help="remove the generated data of this eval, and stop")
    if extend is not None:
        extend(parser)
    parsed = parser.parse_args()
    if parsed.clean:
        for folder in (data_folder() / name, data_folder() / "graphs"):
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            data_folder().rmdir()
        sys.exit(0)
    if parsed.repeats < 1:
        parser.error("--repeats must be at least 1")
    return parsed
