"""R: `ExoLabel()` beside that of SynExtend, and data frames beside files and the command.

Needs R with the package outcore (a release build), and the C core of SynExtend, built outside of the repository in the
folder SYNEXTEND: its `src/ExoLabel/*.c` and `src/SEutils.c` as `exo.so`, and `R/ExoLabel.R`:

    cd SYNEXTEND && PKG_CFLAGS=-DCOMPILING_SYNEXTEND_VIA_R PKG_LIBS='-lz -lbz2' R CMD SHLIB -o exo.so *.c
    R CMD INSTALL --library=/tmp/rlib r
    R_LIBS=/tmp/rlib SYNEXTEND=/tmp/synextend python3 evals/r/run.py [--part example|differential|speed|frame]

Partitions are compared with the planted communities, and by their modularity: 50 graphs of several sizes and mixings.
Seconds are those of the call in R, with the file in the page cache; bytes are added to what R has before.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, subject
from harness.running import Command, settle

ONCE = Path(__file__).resolve().parent / "once.R"
GRAPHS = {"full": 50, "smoke": 4}
SPEED_EDGES = {"full": 5_000_000, "smoke": 50_000}
FRAME_EDGES = {"full": 20_000_000, "smoke": 100_000}
LIMIT = {"full": 1 << 30, "smoke": 1 << 30}
MIN_SPEED, MAX_FRAME = 10.0, 1.2


def check_needs() -> None:
    folder = Path(os.environ.get("SYNEXTEND", ""))
    if not (folder / "exo.so").exists():
        places.cannot_run("SYNEXTEND names no folder with exo.so: see the top of evals/r/run.py")
    done = subprocess.run(["Rscript", "-e", "library(outcore)"], capture_output=True, text=True)
    if done.returncode != 0:
        places.cannot_run("R has no package outcore: see the top of evals/r/run.py")


def once(what: str, path: Path, output: Path, name: str, work: Path) -> Command:
    return Command(name, ["Rscript", str(ONCE), what, str(path), str(output)], cwd=work)


def modularity(path: Path, communities: Path) -> float:
    """Return the modularity of communities in the graph that was built beside the edges."""
    argv = [str(subject.outcore()), "score", str(path.with_suffix(".graph")), str(communities), "--json", "--quiet"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["quality"]["modularity"])


def example(result: results.Result, work: Path) -> None:
    """Compare the documented example: SynExtend itself seldom has the same clusters twice."""
    command = Command("example", ["Rscript", str(ONCE.with_name("example.R"))], cwd=work)
    result.measure([command], 1)
    found = result.samples["example"][0].json_line()
    result.rows.append(dict(found))
    # Of a hundred examples; ten are two standard deviations of the difference of two such shares.
    result.check("same clusters, less those that theirs has twice", found["same"] - found["theirs_twice"], -10, ">=")
    result.check("mean modularity, less theirs", found["modularity_gain"], 0.0, ">=")


def differential(result: results.Result, count: int, work: Path) -> None:
    """Compare partitions on graphs of 200 to 20,000 nodes with 10 to 60 % of edges between communities."""
    found: dict[str, list[tuple[float, float]]] = {"ours": [], "theirs": []}
    for seed in range(count):
        nodes = (200, 1_000, 4_000, 20_000)[seed % 4]
        mixing = (0.1, 0.2, 0.35, 0.5, 0.6)[seed % 5]
        degree = (8, 12, 20)[seed % 3]
        path, truth = work / f"{seed}.tsv", work / f"{seed}.truth.tsv"
        argv = [str(subject.outcore()), "generate", "planted", "--nodes", str(nodes), "--weights", "--quiet"]
        argv += ["--edges", str(nodes * degree // 2), "--mixing", str(mixing), "--community-max", str(nodes // 10)]
        subprocess.run([*argv, "--truth", str(truth), "-o", str(path), "--seed", str(seed)], check=True)
        argv = [str(subject.outcore()), "build", str(path), "-o", str(path.with_suffix(".graph")), "--quiet"]
        subprocess.run(argv, check=True)
        planted = inputs.read_communities(truth)
        row: dict[str, object] = {"nodes": nodes, "mixing": mixing, "degree": degree, "seed": seed}
        for what in found:
            output = work / f"{seed}.{what}.tsv"
            command = once(what, path, output, f"{what} {seed}", work)
            result.measure([command], 1)
            communities = inputs.read_communities(output)
            agreement = inputs.nmi({name: planted[name] for name in communities}, communities)
            found[what].append((agreement, modularity(path, output)))
            row |= {f"nmi_{what}": round(agreement, 5), f"modularity_{what}": round(found[what][-1][1], 5)}
        result.rows.append(row)
    for at, measure in enumerate(("agreement with what was planted", "modularity")):
        ours, theirs = ([values[at] for values in found[what]] for what in ("ours", "theirs"))
        result.check(f"mean {measure}, less theirs", statistics.fmean(ours) - statistics.fmean(theirs), 0.0, ">=")
        worse = sum(own < other - 0.001 for own, other in zip(ours, theirs, strict=True))
        result.check(f"graphs with less {measure}", worse, count, "<=")


def planted(edges: int) -> Path:
    return inputs.planted(edges // 10, edges).path


def speed(result: results.Result, edges: int, repeats: int, work: Path, *, judged: bool) -> None:
    path = planted(edges)
    settle(path)
    commands = [once(what, path, work / f"{what}.tsv", f"{what}, {edges:,} edges", work) for what in ("ours", "theirs")]
    result.measure(commands, repeats)
    ours, theirs = (medians(result, command) for command in commands)
    result.check("ExoLabel(): times as fast", theirs["seconds"] / ours["seconds"], MIN_SPEED, ">=", judged=judged)


def frame(result: results.Result, edges: int, repeats: int, work: Path, *, judged: bool) -> None:
    path = planted(edges)
    settle(path)
    command = Command(
        "command",
        [str(subject.outcore()), "cluster", str(path), "-o", str(work / "command.tsv"), "--quiet", "--memory", "1GiB"]
        + ["--method", "label-propagation"],
        cwd=work,
    )
    commands = [command, once("frame", path, work / "frame.tsv", "data frame", work)]
    commands.append(once("file", path, work / "file.tsv", "file from R", work))
    result.measure(commands, repeats)
    base = statistics.median(sample.wall_seconds for sample in result.samples["command"])
    held, read = (medians(result, command) for command in commands[1:])
    same = (work / "command.tsv").read_bytes() == (work / "frame.tsv").read_bytes()
    result.check("data frame and command have other bytes", int(not same), 0)
    result.check("data frame, of the command", held["seconds"] / base, MAX_FRAME, judged=judged)
    result.check("file from R, of the command", read["seconds"] / base, MAX_FRAME, judged=judged)
    result.check("memory beside the frame, of the limit", held["added_bytes"] / (1 << 30), 1.0, judged=judged)


def medians(result: results.Result, command: Command) -> dict[str, float]:
    runs = [sample.json_line() for sample in result.samples[command.name] if sample.ok]
    row = {field: statistics.median(run[field] for run in runs) for field in runs[0]}
    result.rows.append({"run": command.name, **{field: round(value, 3) for field, value in row.items()}})
    return row


def main() -> int:
    parts = ("example", "differential", "speed", "frame")
    options = results.arguments(
        "r", "the R package", repeats=3, extend=lambda parser: parser.add_argument("--part", choices=parts)
    )
    check_needs()
    judged = options.scale == "full"
    status = 0
    for part in parts if options.part is None else [options.part]:
        result = results.Result("r", "U1", options.scale, {}, part=part)
        places.data_folder().mkdir(parents=True, exist_ok=True)
        work = places.fresh(places.data_folder() / "r-work")
        if part == "example":
            example(result, work)
        elif part == "differential":
            differential(result, GRAPHS[options.scale], work)
        elif part == "speed":
            speed(result, SPEED_EDGES[options.scale], options.repeats, work, judged=judged)
        else:
            frame(result, FRAME_EDGES[options.scale], options.repeats, work, judged=judged)
        places.fresh(work)
        status = max(status, result.finish())
    return status


if __name__ == "__main__":
    sys.exit(main())
