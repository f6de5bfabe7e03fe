"""Jobs of sizes at which known tools fail, on one machine in 4 or 8 GiB (bars F5 and X1).

    python3 evals/records/run.py [--scale smoke|full] [--only NAME,..]

Each record is one command, `outcore generate planted .. | outcore cluster - --memory 4GiB`: no text on disk. Beside its
costs stand those that `outcore plan` predicts for the same counts, and the time of each stage. Then `outcore score`
compares the communities with the planted ones, in as much memory: on a graph of the nodes alone, without the edges.
Above `SCORED_NODES` nodes, the limit of `score` in 4 GiB, the comparison is that of the first planted communities with
as many nodes, whose names are spread over the graph.

The result is stored after each record. Earlier results of other records remain, each with its date and commit: an
interrupted run continues with `--only` and the names of the records that it lacks. A record that this disk or the limit
has no room for is skipped, and the message and the result state the figures.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results, running, subject
from harness.places import GIB, MIB
from harness.results import Check, Result
from harness.running import Command, Sample

SMOKE_MEMORY_MIB = 128
TOLERANCE_MIB = 32
SCORED_NODES = {"full": 240_000_000, "smoke": 240_000}
SMOKE_SHARE = 1000
THREADS = 2
# Names of `generate` have 12 to 15 bytes, and weights make lines longer.
STRING_BYTES = 14
# Upper bounds of what the comparison takes: communities, truth, names, and both sorts of `score`.
SCORE_BYTES = 110
LINE_BYTES = 16
PLAN_FIGURES = ("peak_memory_bytes", "disk_bytes", "disk_bytes_most", "seconds", "memory_bytes_min")


@dataclass(frozen=True)
class Report:
    """What others have reported of a job of this size."""

    tool: str
    size: str
    outcome: str
    source: str


@dataclass(frozen=True)
class Record:
    """Job: a planted partition and a method. `minutes`, `disk_gib` and `nmi` are bars."""

    name: str
    nodes: int
    edges: int
    method: str
    report: Report | None = None
    strings: bool = False
    weights: bool = False
    both_directions: bool = False
    sizes: tuple[int, int] = (10, 1000)
    # Of a search: the lines of a node stand together, near those of its community.
    grouped: bool = False
    mixing: float | None = None
    memory_mib: int = 4096
    minutes: float | None = None
    disk_gib: float | None = None
    nmi: float | None = None

    @property
    def lines(self) -> int:
        return self.edges * (2 if self.both_directions else 1)

    def smoke(self) -> Record:
        nodes, edges = self.nodes // SMOKE_SHARE, self.edges // SMOKE_SHARE
        sizes = (self.sizes[0], min(self.sizes[1], nodes // 10))
        changed = {"nodes": nodes, "edges": edges, "sizes": sizes, "report": self.report, "memory_mib": SMOKE_MEMORY_MIB}
        return Record(**{**asdict(self), **changed})

    def model(self, edges: int) -> list[str]:
        """Return the arguments that `generate` needs for the same nodes and communities with any number of edges."""
        low, high = self.sizes
        counts = ["--nodes", str(self.nodes), "--edges", str(edges), "--seed", "1"]
        sizes = ["--community-min", str(low), "--community-max", str(high)]
        names = ["--names", "string" if self.strings else "integer"]
        return [str(subject.outcore()), "generate", "planted", "--quiet", *counts, *sizes, *names]

    def generate_argv(self) -> list[str]:
        options = ["--weights"] if self.weights else []
        options += ["--both-directions"] if self.both_directions else []
        options += ["--order", "grouped"] if self.grouped else []
        options += ["--mixing", str(self.mixing)] if self.mixing is not None else []
        return [*self.model(self.edges), *options, "-o", "-"]

    def plan_argv(self, memory: str, folder: Path) -> list[str]:
        # A plan takes all edges to be distinct, although some pairs are drawn more than once. If each edge comes in
        # both directions, the counts are those of the lines: right for what is read, an upper bound for the graph. In a
        # grouped list, the two lines of a pair meet before they reach the disk, whose room decides here.
        counts = ["--nodes", str(self.nodes), "--edges", str(self.edges if self.grouped else self.lines)]
        options = ["--weighted"] if self.weights else []
        options += ["--name-bytes", str(STRING_BYTES)] if self.strings else []
        limits = ["--memory", memory, "--threads", str(THREADS), "--work-dir", str(folder)]
        return [str(subject.outcore()), "plan", *counts, *options, "--method", self.method, *limits, "--json"]


MCL = Report(
    "mcl",
    "6,819,611 nodes, 1,053,766,185 entries",
    "finished with 16 threads; 45 hours for seven iterations in its log, which may count the threads' processor time",
    "github.com/davidemms/OrthoFinder/issues/187",
)
INFOMAP = Report(
    "Infomap",
    "200 M nodes, 1 B links",
    "not finished on the fourth day, on a machine with 512 GB",
    "github.com/mapequation/infomap/issues/332",
)
NETWORKIT = Report(
    "NetworKit",
    "graph of more than 3 B edges",
    "0.45 kB per edge in a test with 10 M edges",
    "github.com/networkit/networkit/issues/714",
)
FLASHX = Report(
    "FlashX",
    "2 B edges",
    "conversion ended by the system above 30 GB, on a machine with 32 GB",
    "github.com/flashxio/FlashX/issues/232",
)
IGRAPH = Report(
    "igraph",
    "600 M nodes, 3.8 B edges",
    "Leiden ends with a segmentation fault",
    "github.com/igraph/igraph/issues/1435",
)
EXOLABEL = Report(
    "ExoLabel",
    "16.2 M nodes, 18.3 B edges",
    "finished in less than a day with a few gigabytes of memory",
    "abstract at ISMB 2025, decipher.codes/Video7.html",
)
DEFAULT, LABELS = "map-equation", "label-propagation"
M = 1_000_000
RECORDS = [
    Record("billion", 100 * M, 1000 * M, DEFAULT, minutes=25, nmi=0.99),
    Record(
        "similarity",
        6_819_611,
        526_883_092,
        DEFAULT,
        MCL,
        strings=True,
        weights=True,
        both_directions=True,
        sizes=(200, 10_000),
        minutes=15,
    ),
    Record("three-billion", 100 * M, 3000 * M, LABELS, NETWORKIT, sizes=(100, 5000)),
    Record("links", 200 * M, 1000 * M, DEFAULT, INFOMAP),
    Record("links-labels", 200 * M, 1000 * M, LABELS, INFOMAP),
    Record("four-billion", 400 * M, 4000 * M, LABELS, FLASHX),
    Record("six-hundred-million", 600 * M, 3800 * M, LABELS, IGRAPH),
    # Families as a search lists them, where a query lists most members: the size that ExoLabel is known for.
    Record(
        "families",
        200 * M,
        9150 * M,
        LABELS,
        EXOLABEL,
        both_directions=True,
        sizes=(60, 200),
        grouped=True,
        mixing=0.02,
        memory_mib=8192,
        minutes=180,
        disk_gib=70,
        nmi=0.99,
    ),
]


class SkippedError(Exception):
    """Record that cannot run here, with the figures."""


@dataclass
class Outcome:
    """Result of a record: its row, and its checks."""

    row: dict[str, object]
    checks: list[Check] = field(default_factory=list)


def planned(record: Record, memory: str, folder: Path) -> dict:
    done = subprocess.run(record.plan_argv(memory, folder), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        # Refusals begin with what is missing and end with what would be enough.
        raise SkippedError(" ".join(places.relative(done.stderr).split()))
    return json.loads(done.stdout)


def require_room(record: Record, plan: dict, folder: Path, scored: int) -> None:
    needed = max(plan["disk_bytes"], record.nodes * LINE_BYTES + scored * SCORE_BYTES)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SkippedError(f"needs {needed / GIB:.1f} GiB of disk, {free / GIB:.1f} GiB are free")


def run(record: Record, scale: str, folder: Path, keep: Callable[[Outcome], object]) -> Outcome:
    """Return the outcome of a record, which is also kept before the comparison with the truth."""
    limit_mib = record.memory_mib
    memory, scored = f"{limit_mib}MiB", min(record.nodes, SCORED_NODES[scale])
    job = {name: value for name, value in asdict(record).items() if name not in ("name", "minutes", "disk_gib", "nmi")}
    row: dict[str, object] = {"record": record.name, **job, "lines": record.lines, "limit MiB": limit_mib}
    row |= {"date": results.date(), "version": results.version(), "commit": results.commit()}
    row["machine"] = results.machine()
    try:
        plan = planned(record, memory, folder)
        row["planned"] = {name: plan[name] for name in PLAN_FIGURES}
        require_room(record, plan, folder, scored)
    except SkippedError as reason:
        print(f"  {record.name} is skipped: {reason}", file=sys.stderr)
        return Outcome(row | {"skipped": str(reason)})

    communities, report = folder / "communities.tsv", folder / "report.json"
    argv = subject.cluster_argv(Path("-"), communities, folder, memory, THREADS, record.method, report=report)
    command = Command(record.name, argv, [folder], running.settle, source=record.generate_argv())
    print(f"  {record.name}: {record.nodes} nodes, {record.lines} lines, {record.method} ..", file=sys.stderr)
    sample = running.run_once(command)
    outcome = Outcome(row | costs("", sample))
    check(outcome, "failed runs", int(not sample.ok), 0)
    if not sample.ok:
        print(f"\n{record.name} failed:\n{sample.error}", file=sys.stderr)
        outcome.row["error"] = sample.error
        return outcome
    facts = json.loads(report.read_text())
    outcome.row |= {**described(facts), "stages": stages(plan, facts)}
    judge(outcome, record, sample, plan, limit_mib, judged=scale == "full")
    keep(outcome)
    compare(outcome, record, communities, folder, memory, scored)
    if record.nmi is not None and "NMI" in outcome.row:
        check(outcome, "NMI with the truth", outcome.row["NMI"], record.nmi, ">=", judged=scale == "full")
    return outcome


def described(facts: dict) -> dict[str, object]:
    """Return what the report of a job says about the graph and the communities."""
    names = ("community_count", "largest_size", "singleton_count", "code_length", "modularity", "sweep_count")
    found = {name: facts["communities"].get(name) for name in names}
    return {"read": facts["read_bytes"], "written": facts["write_bytes"], "communities": found}


def stages(plan: dict, facts: dict) -> list[dict[str, object]]:
    """Return the stages with pairs of planned and measured values."""
    plans = {stage["stage"]: stage for stage in plan["stages"]}
    return [
        {
            "stage": stage["stage"],
            "seconds": [plans.get(stage["stage"], {}).get("seconds"), stage["seconds"]],
            "memory": [plans.get(stage["stage"], {}).get("memory_bytes"), stage.get("peak_memory_bytes")],
            "summary": stage["summary"],
        }
        for stage in facts["stages"]
    ]


def costs(prefix: str, sample: Sample) -> dict[str, object]:
    """Return the measured costs of a command for a row."""
    measured = {
        "seconds": sample.wall_seconds,
        "processor seconds": sample.user_seconds + sample.system_seconds,
        "peak memory": sample.peak_memory_bytes,
        "peak disk": sample.peak_disk_bytes,
    }
    if sample.source_seconds is not None:
        measured["processor seconds of generate"] = sample.source_seconds
    return {f"{prefix}{name}": value for name, value in measured.items()}


def check(outcome: Outcome, figure: str, measured: float, bar: float, sense: str = "<=", **more: object) -> None:
    outcome.checks.append(Check(f"{outcome.row['record']}: {figure}", measured, bar, sense, **more))


def judge(outcome: Outcome, record: Record, sample: Sample, plan: dict, limit_mib: int, judged: bool) -> None:
    check(outcome, "peak memory", sample.peak_memory_bytes / MIB, limit_mib + TOLERANCE_MIB, unit="MiB")
    memory = sample.peak_memory_bytes / plan["peak_memory_bytes"]
    check(outcome, "peak memory / planned", memory, 1.0, unit="x", judged=judged)
    disk = sample.peak_disk_bytes / plan["disk_bytes_most"]
    check(outcome, "peak disk / planned", disk, 1.0, unit="x", judged=judged)
    # Planned without a profile of this disk.
    check(outcome, "time / planned", sample.wall_seconds / plan["seconds"], 1.5, unit="x", judged=False)
    check(outcome, "disk per line", sample.peak_disk_bytes / record.lines, 16, unit="bytes", judged=False)
    if record.disk_gib is not None:
        check(outcome, "peak disk", sample.peak_disk_bytes / GIB, record.disk_gib, unit="GiB", judged=judged)
    if record.minutes is not None:
        check(outcome, "time", sample.wall_seconds / 60, record.minutes, unit="min", judged=judged)


def compare(outcome: Outcome, record: Record, communities: Path, folder: Path, memory: str, scored: int) -> None:
    """Compare communities with the planted ones of the first `scored` nodes, by `score` on a graph without edges."""
    few, truth, nodes = folder / "few.tsv", folder / "truth.tsv", folder / "nodes.graph"
    limits = ["--memory", memory, "--threads", str(THREADS), "--work-dir", str(folder)]
    program = str(subject.outcore())
    # The truth lists the nodes by community; `head` ends `generate` early.
    generate = shlex.join([*record.model(1), "-o", str(few), "--truth", "-"])
    steps = {
        "truth": ["sh", "-c", f"(printf 'id\\tcommunity\\n'; {generate} | head -n {scored}) > {shlex.quote(str(truth))}"],
        "nodes": [program, "build", str(few), "--nodes", str(truth), "-o", str(nodes), *limits],
        "score": [
            *(program, "score", str(nodes), str(communities), "--against", str(truth)),
            *("--unnamed", "singletons", "--json", *limits),
        ],
    }
    outcome.row["scored nodes"] = scored
    report = folder / "score.json"
    for name, argv in steps.items():
        if name == "score":
            argv = ["sh", "-c", f"{shlex.join(argv)} > {shlex.quote(str(report))}"]
        print(f"  {record.name}: {name} ..", file=sys.stderr)
        sample = running.run_once(Command(name, argv, [folder]))
        outcome.row |= costs(f"{name}: ", sample)
        check(outcome, f"{name}: failed runs", int(not sample.ok), 0)
        bar = int(memory.removesuffix("MiB")) + TOLERANCE_MIB
        check(outcome, f"{name}: peak memory", sample.peak_memory_bytes / MIB, bar, unit="MiB")
        if not sample.ok:
            print(f"\n{name} failed:\n{sample.error}", file=sys.stderr)
            outcome.row["error"] = sample.error
            return
    agreement = json.loads(report.read_text())["against"]["agreement"]
    outcome.row |= {"compared nodes": agreement["node_count"], "NMI": agreement["nmi"], "ARI": agreement["ari"]}


def merge(result: Result, outcome: Outcome) -> None:
    """Put an outcome in place of an earlier one of the same record, unless that has finished and this is skipped."""
    name = outcome.row["record"]
    earlier = next((row for row in result.rows if row["record"] == name), None)
    if earlier is not None and "skipped" in outcome.row and "skipped" not in earlier:
        return
    rows = {row["record"]: row for row in [*result.rows, outcome.row]}
    result.rows = [rows[record.name] for record in RECORDS if record.name in rows]
    kept = [check for check in result.checks if not check.figure.startswith(f"{name}: ")]
    result.checks = kept + outcome.checks


def restore(result: Result) -> None:
    """Read the stored results of earlier runs."""
    if not result.path.exists():
        return
    stored = json.loads(result.path.read_text())
    result.rows = stored["rows"]
    for check in stored["checks"]:
        del check["verdict"]
        check["measured"] = float("nan") if check["measured"] is None else check["measured"]
        result.checks.append(Check(**check))


def print_rows(result: Result) -> None:
    header = ["record", "method", "M nodes", "M lines", "min", "of it planned", "GiB", "disk GiB", "planned", "NMI"]
    lines = []
    for row in result.rows:
        plan = row.get("planned") or {}
        cells = [row["record"], row["method"], f"{row['nodes'] / M:g}", f"{row['lines'] / M:g}"]
        if "seconds" in row:
            cells += [f"{row['seconds'] / 60:.1f}", f"{plan['seconds'] / 60:.1f}", f"{row['peak memory'] / GIB:.2f}"]
            cells += [f"{row['peak disk'] / GIB:.1f}", f"{plan['disk_bytes_most'] / GIB:.1f}"]
            cells += [f"{row['NMI']:.4f}" if "NMI" in row else "failed" if "error" in row else ""]
        else:
            cells += ["skipped", f"{plan['seconds'] / 60:.1f}" if plan else "", "", ""]
            cells += [f"{plan['disk_bytes_most'] / GIB:.1f}" if plan else "", ""]
        lines.append([str(cell) for cell in cells])
    print("\n" + results.table(header, lines))


def extend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only",
        type=partial(str.split, sep=","),
        default=[record.name for record in RECORDS],
        metavar="NAME,..",
        help="records to run: " + ", ".join(record.name for record in RECORDS),
    )


def main() -> int:
    options = results.arguments("records", "jobs of sizes at which known tools fail", repeats=1, extend=extend)
    if unknown := set(options.only) - {record.name for record in RECORDS}:
        places.cannot_run(f"there is no record {', '.join(sorted(unknown))}")
    if options.repeats != 1:
        places.cannot_run("a record runs once")
    limits = {"threads": THREADS, "scored nodes": SCORED_NODES[options.scale]}
    result = Result("records", "F5", options.scale, limits)
    restore(result)
    folder = places.data_folder() / "records"

    def keep(outcome: Outcome) -> None:
        merge(result, outcome)
        result.store()

    for record in RECORDS:
        if record.name in options.only:
            record = record if options.scale == "full" else record.smoke()
            keep(run(record, options.scale, places.fresh(folder), keep))
    places.fresh(folder)
    print_rows(result)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
