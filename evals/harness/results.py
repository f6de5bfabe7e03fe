"""Bars, tables and stored results of evals, and their command line."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import math
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .places import EVALS, MIB, REPOSITORY, data_folder, relative
from .running import Command, Sample, Summary, measure, summary
from .subject import outcore

EXIT_BAR_MISSED = 1


@dataclass(frozen=True)
class Check:
    """Measured figure and the bar that it has to meet. `judged` is false if the scale makes the figure meaningless."""

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
    """Result of an eval, printed and stored by `finish`.

    `rows` are figures other than costs of commands, stored on one line each. `part` distinguishes the results of
    several scripts in one folder.
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
        """Measure commands; a command that was measured before gets further samples."""
        self.commands.update({command.name: command for command in commands})
        for name, samples in measure(commands, repeats).items():
            self.samples.setdefault(name, []).extend(samples)

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
        """Check that the named commands have succeeded in every run."""
        for name in names:
            failures = self.summary(name).failures
            if failures:
                print(f"\n{name} failed:\n{next(s.error for s in self.samples[name] if not s.ok)}", file=sys.stderr)
            self.check(f"{name}: failed runs", failures, 0)

    def finish(self, baseline: str | None = None) -> int:
        """Print the tables, store the result and return the exit code."""
        print(f"\n{self.name} ({self.bar}, {self.scale} scale)")
        if self.samples:
            print("\n" + self._table(baseline))
        print("\n" + checks_table(self.checks))
        for note in self.notes:
            print(f"note: {note}")
        path = self.store(baseline)
        print(f"\nresults: {path.relative_to(REPOSITORY)}")
        return EXIT_BAR_MISSED if any(check.judged and not check.met for check in self.checks) else 0

    @property
    def path(self) -> Path:
        """File of the stored result."""
        return EVALS / self.name / "results" / (f"{self.part}-{self.scale}.json" if self.part else f"{self.scale}.json")

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

    def rows_table(self) -> str:
        """Return the rows as a table, with the columns of the first one."""
        header = list(self.rows[0])
        return table(header, [[str(row[column]) for column in header] for row in self.rows])

    def store(self, baseline: str | None = None) -> Path:
        """Store the result so far, and return the path."""
        document = {
            "eval": self.name,
            "bar": self.bar,
            "scale": self.scale,
            "date": date(),
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
        path = self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(_storable(document), indent=1, ensure_ascii=False)
        rows = ",\n  ".join(json.dumps(_storable(row), ensure_ascii=False) for row in self.rows)
        path.write_text(text.replace('"rows": []', f'"rows": [\n  {rows}\n ]' if rows else '"rows": []', 1) + "\n")
        return path


def _stored(sample: Sample) -> dict[str, object]:
    """Return a sample without its output, unless that is its result or the reason of its failure."""
    kept = {name: value for name, value in asdict(sample).items() if name not in ("output", "error")}
    if sample.source_seconds is None:
        del kept["source_seconds"]
    if reported := sample.json_line():
        kept["reported"] = reported
    if not sample.ok:
        kept["error"] = sample.error
    return kept


def _storable(value: object) -> object:
    """Return a value without nan, which JSON lacks, and without insignificant digits."""
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return value


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a plain table with the first column left-aligned and the others right-aligned."""
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


def date() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def version() -> str:
    done = subprocess.run([str(outcore()), "--version"], capture_output=True, text=True, check=False)
    return relative(done.stdout.strip()) or "unknown"


def commit() -> str:
    """Return the commit of the working tree, with `-dirty` if sources differ from it."""
    argv = ["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty", "--exclude", "*"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def machine() -> dict[str, object]:
    """Return the properties of the machine that figures depend on, without names and paths."""
    return {
        "cpu": _field("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        # Only the number, since suffixes of distributors can name the provider of a machine.
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
    """Return the type of the file system of a folder: that of the mount with the longest matching path."""
    target = str(folder.resolve())
    best, kind = "", "unknown"
    with contextlib.suppress(OSError), open("/proc/self/mounts") as file:
        for line in file:
            _, mount, this_kind, *_ = line.split()
            inside = target == mount or target.startswith(mount.rstrip("/") + "/")
            if inside and len(mount) >= len(best):
                best, kind = mount, this_kind
    return kind


def arguments(
    name: str, description: str, repeats: int = 3, extend: Callable[[argparse.ArgumentParser], object] | None = None
) -> argparse.Namespace:
    """Parse the arguments that all evals take. With --clean, remove generated data and exit."""
    parser = argparse.ArgumentParser(prog=f"evals/{name}/run.py", description=description)
    parser.add_argument(
        "--scale", choices=("smoke", "full"), default="full", help="smoke: a test of the eval that takes seconds"
    )
    parser.add_argument("--repeats", type=int, default=repeats, help="rounds of all commands (default: %(default)s)")
    parser.add_argument("--clean", action="store_true", help="remove the generated data of this eval and exit")
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
