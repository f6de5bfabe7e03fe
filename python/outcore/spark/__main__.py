"""`python -m outcore.spark`: the program behind `outcore cluster --engine spark`.

Options, messages and exit statuses are those of the command; see `outcore help cluster`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from outcore._outcore import table_endings
from outcore._progress import Progress
from outcore.errors import Error, OutcoreWarning, Text, _made, as_arguments, option
from outcore.spark._cluster import TASK_ROWS, engine_methods

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from outcore.spark import Clustered
    from outcore.spark._reading import Reading

#: Exit statuses by kind of error; 3 for any other kind.
_STATUSES = {"usage": 2, "memory-too-small": 4, "disk-too-small": 4, "disk-full": 4, "io": 1}
_INTERRUPTED, _TERMINATED = 130, 143
_JAVA_HINT = "install OpenJDK 17 or newer (Debian: `apt install openjdk-17-jre-headless`), or set JAVA_HOME"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = _parser().parse_args(arguments)
    terminal = _Terminal(options)
    # PySpark warns about versions of pandas.
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    # The terminal takes these warnings from the report.
    warnings.filterwarnings("ignore", category=OutcoreWarning)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        _run(options, terminal)
    except Error as error:
        terminal.error(error)
        return _STATUSES.get(error.kind, 3)
    except KeyboardInterrupt:
        kept = f"\n  = kept: completed stages in `{options.work_dir}`" if options.work_dir else ""
        terminal.say(f"interrupted{kept}")
        return _INTERRUPTED
    except _Terminated:
        terminal.say("interrupted")
        return _TERMINATED
    return 0


#: With a network socket the kernel waits 40 ms for more data in each Python task: half of the time of a round.
_FASTER = {"spark.python.unix.domain.socket.enabled": "true"}


class _Terminated(BaseException):
    """Raised when SIGTERM arrives."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated


def _run(options: argparse.Namespace, terminal: _Terminal) -> None:
    reading = _reading(options)
    if options.min_weight is not None and options.ignore_weights:
        message = (option("min-weight"), " needs weights, but ", option("ignore-weights"), " drops them")
        _refuse(message, "leave one of them out")
    _check_output(options)
    spark = _session(options)
    try:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        try:
            found = _cluster(spark, options, reading, terminal)
        except (Py4JJavaError, PySparkException) as error:
            if options.verbose:
                terminal.say(str(error))
            raise _made({"kind": "io", "message": f"Spark failed: {_first_line(error)}", "hint": _MORE}) from error
        terminal.done(found)
    finally:
        spark.stop()


_MORE = ("add ", option("verbose"), " for the full message of Spark")


def _first_line(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    text = str(java.getMessage() or java.toString()) if java is not None else str(error)
    return text.strip().splitlines()[0] if text.strip() else type(error).__name__


def _cluster(spark: SparkSession, options: argparse.Namespace, reading: Reading, terminal: _Terminal) -> Clustered:
    from outcore.spark import _files

    _check_place(spark, options.output)
    edges = _files.read(spark, options.inputs, reading)
    if options.min_weight is not None and not edges.is_weighted:
        message = ("the edges have no weights, but ", option("min-weight"), " needs them")
        raise _made({"kind": "bad-input", "message": message, "hint": "leave it out"})
    found = edges.cluster(
        method=options.method,
        seed=options.seed,
        resolution=options.resolution,
        max_sweeps=options.max_sweeps,
        tolerance=options.tolerance,
        duplicates=options.duplicates,
        self_loops=options.self_loops,
        min_weight=options.min_weight,
        directed=options.directed,
        memory=options.memory,
        work_dir=options.work_dir,
        task_rows=options.task_rows,
        parts=options.parts,
        restart=options.restart,
        progress=terminal.stage,
    )
    is_table = options.output.endswith(".parquet")
    found.write(options.output, format="parquet" if is_table else "tsv", overwrite=True)
    if options.report:
        _write_report(found, options.report)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m outcore.spark",
        description="Find communities in edge lists on Apache Spark. `outcore help cluster` describes the options.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("inputs", nargs="+", metavar="EDGES", help="lines (also .gz, .bz2, .zst), *.parquet, patterns, or table:NAME")
    add(
        "-o",
        "--output",
        required=True,
        metavar="DIRECTORY",
        help="where to write `node<TAB>community`: a directory "
        "of files, as many machines cannot write a single file; a table if the name ends in .parquet",
    )
    add("--report", metavar="FILE", help="also write a report as JSON on this machine; - for standard output")
    add("--master", metavar="URL", help="the cluster, such as spark://host:7077, yarn or local[4]")
    add("--spark-conf", action="append", default=[], metavar="KEY=VALUE", help="setting of Spark; may be repeated")
    add("--task-rows", type=int, default=TASK_ROWS, metavar="N", help="largest number of edges that one task takes")
    add("--parts", type=int, metavar="N", help="divide a graph of any size into about N parts")
    add("-w", "--work-dir", metavar="DIR", help="directory for completed stages, reachable by all workers")
    add("--restart", action="store_true", help="ignore saved progress and start from scratch")
    add("-m", "--memory", metavar="SIZE|PERCENT", help="memory limit of the engine in its task")
    add("--columns", metavar="SOURCE,TARGET[,WEIGHT]", help="columns by name or number from 1")
    add("--delimiter", metavar="TEXT", help="one character, `tab`, or `spaces`")
    add("--comment", metavar="TEXT", help="skip lines that start with this")
    add("--header", choices=("auto", "yes", "no"), default="auto", help="whether the first line names the columns")
    add("--ignore-weights", action="store_true", help="give every edge the weight 1")
    add("--duplicates", choices=("sum", "max", "min", "first"), default="sum", help="weight of a repeated edge")
    add("--self-loops", choices=("keep", "drop"), default="drop", help="what to do with self-loops")
    add("--directed", action="store_true", help="edges have a direction")
    add("--min-weight", type=float, metavar="W", help="drop edges with a smaller weight")
    add("--method", choices=engine_methods(), default="map-equation", help="how to find communities")
    add("--seed", type=int, default=0, metavar="N", help="seed of every random choice")
    add("--resolution", type=_single, metavar="X", help="larger values give smaller communities")
    add("--max-sweeps", type=int, metavar="N", help="maximum number of sweeps")
    add("--tolerance", type=float, metavar="SHARE", help="share of nodes that may still change at the end")
    add("-q", "--quiet", action="store_true", help="print errors only")
    add("-v", "--verbose", action="store_true", help="also print details of each stage")
    add("--progress", choices=("auto", "always", "never"), default="auto", help="show progress")
    add("--color", choices=("auto", "always", "never"), default="auto", help="color messages")
    return parser


def _single(text: str) -> float:
    if "," in text:
        raise argparse.ArgumentTypeError("takes one number: a job on Spark has one result")
    return float(text)


def _refuse(message: Text, hint: Text) -> None:
    raise _made({"kind": "usage", "message": message, "hint": hint})


def _reading(options: argparse.Namespace) -> Reading:
    from outcore.spark._reading import Reading

    columns = tuple(options.columns.split(",")) if options.columns else None
    reading = Reading(columns, options.delimiter, options.comment, options.header, options.ignore_weights)
    reading.check()
    return reading


def _check_output(options: argparse.Namespace) -> None:
    """Refuse an output that Spark cannot write, before Spark starts."""
    written = {"." + ending for ending in table_endings()} - {".parquet"}
    if options.output == "-" or options.output.endswith(tuple(written)):
        hint = "name a directory; `cat DIRECTORY/part-*` has the lines in order"
        _refuse(f"`{options.output}` cannot be written: Spark writes a directory of files", hint)
    if options.report and options.report.endswith(".html"):
        _refuse("a job on Spark cannot write its report as a page", "use a name that ends in .json")


def _check_place(spark: SparkSession, output: str) -> None:
    """Refuse to replace anything but an earlier result."""
    java: Any = spark._jvm
    path = java.org.apache.hadoop.fs.Path(output)
    files = path.getFileSystem(spark._jsc.hadoopConfiguration())
    if files.exists(path) and not files.exists(java.org.apache.hadoop.fs.Path(path, "_SUCCESS")):
        _refuse(f"`{output}` exists and is not a result of Spark", "name a directory that does not exist yet")


def _session(options: argparse.Namespace) -> SparkSession:
    _check_java()
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        _refuse("PySpark is not installed", f"install it: `{sys.executable} -m pip install 'outcore[spark]'`")
    if options.master is None or options.master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.app.name": "outcore", "spark.ui.showConsoleProgress": "false", **_FASTER}
    for text in options.spark_conf:
        name, is_setting, value = text.partition("=")
        if not is_setting or not name:
            hint = ("write ", option("spark-conf", "spark.executor.memory=4g"))
            _refuse((option("spark-conf", text), " is not a setting"), hint)
        settings[name] = value
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    if options.master is not None:
        builder = builder.master(options.master)
    try:
        spark = builder.getOrCreate()
    except Exception as error:
        raise _made({"kind": "io", "message": f"Spark did not start: {_first_line(error)}"}) from error
    spark.sparkContext.setLogLevel("WARN" if options.verbose else "ERROR")
    return spark


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if java is None:
        where = f"JAVA_HOME, `{home}`, has no" if home else "there is no"
        _refuse(f"Spark needs Java, and {where} `java`", _JAVA_HINT)


def _write_report(found: Clustered, path: str) -> None:
    text = json.dumps(found.report.to_dict(), indent=2) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    begun = Path(f"{path}.begun")
    try:
        begun.write_text(text)
        begun.replace(path)
    except OSError as error:
        raise _made({"kind": "io", "message": f"cannot write `{path}`: {error.strerror}"}) from error


class _Terminal:
    """Messages on standard error, in the form of the command."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._quiet = options.quiet
        is_terminal = sys.stderr.isatty()
        is_shown = options.progress == "always" or (options.progress == "auto" and is_terminal)
        self._details = not options.quiet and (options.verbose or is_shown)
        is_plain = not is_terminal or "NO_COLOR" in os.environ
        self._colored = options.color == "always" or (options.color == "auto" and not is_plain)
        self._begun = self._stage_begun = time.monotonic()
        self._detail = ""

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)

    def stage(self, progress: Progress) -> None:
        """Show progress of a stage."""
        if progress.is_done:
            if not self._quiet:
                seconds = _seconds(time.monotonic() - self._stage_begun)
                self.say(f" {progress.stage:<9} {self._detail:<60} {seconds:>7}")
            self._detail = ""
        elif progress.detail:
            self._detail = progress.detail
            if self._details:
                self.say(f"  {progress.detail}")
        else:
            self._stage_begun = time.monotonic()

    def done(self, found: Clustered) -> None:
        """Print warnings and a summary."""
        if not self._quiet:
            nodes, communities = found.report["graph"]["node_count"], found.report["communities"]["community_count"]
            for text in found.report["warnings"]:
                self.say(f"{self._bold('warning', 33)}: {text}")
            seconds = _seconds(time.monotonic() - self._begun)
            what = "community" if communities == 1 else "communities"
            self.say(f"done in {seconds} · {nodes:,} nodes in {communities:,} {what}")

    def error(self, error: Error) -> None:
        """Print an error with its place and hints."""
        facts = error._facts
        title = f"error[{error.kind}]"
        lines = [f"{self._bold(title, 31)}: {as_arguments(facts['message'])}"]
        margin = " "
        if error.line is not None:
            margin = " " * len(str(error.line))
            lines.append(f"{margin}--> {error.path}:{error.line}:{error.column}")
            lines += [f"{margin} |", f"{error.line} | {error.text}", f"{margin} |"]
        footer = [("note", note) for note in facts.get("notes", ())]
        footer += [("help", facts["hint"])] if facts.get("hint") else []
        lines += [f"{margin} = {self._bold(name)}: {as_arguments(text)}" for name, text in footer]
        self.say("\n".join(lines))

    def _bold(self, text: str, color: int | None = None) -> str:
        codes = "1" if color is None else f"1;{color}"
        return f"\x1b[{codes}m{text}\x1b[0m" if self._colored else text


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2f}s" if seconds < 1 else f"{seconds:.1f}s"
    whole = round(seconds)
    return f"{whole // 60}m {whole % 60:02}s" if whole < 3600 else f"{whole // 3600}h {whole % 3600 // 60:02}m"


if __name__ == "__main__":
    sys.exit(main())
