"""The same edges from text, Parquet and Arrow; a Parquet file far larger than memory; Python against the command.

Bars P2 (memory), P3 and P4. The tables have text or numbers for names and three columns; one is the table of a sequence
search with twelve columns, of which three are read. Needs pyarrow, and for P4 the package `outcore`, in the Python that
runs it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import inputs, places, results, running, subject
from harness.running import Command

SIZES = {"full": (1_000_000, 20_000_000), "smoke": (20_000, 200_000)}
MEMORY = "2GiB"
LITTLE_MIB = 96
TOLERANCE_MIB = 32
BATCH_ROWS = 1 << 16
PYTHON = """
import sys, outcore
outcore.cluster(sys.argv[1], output=sys.argv[2], memory=sys.argv[3], method="label-propagation", progress=False)
"""


def made(folder: Path, source: Path) -> dict[str, list[Path]]:
    """Return text, Parquet and Arrow of each kind of table, which are generated unless they exist.

    Another process generates them: memory of this one would count for all processes that it starts.
    """
    files = {
        kind: [folder / f"{kind}.{ending}" for ending in ("tsv", "parquet", "arrow")]
        for kind in ("names", "numbers", "search")
    }
    if not all(path.exists() for paths in files.values() for path in paths):
        print("  generating tables ..", file=sys.stderr)
        subprocess.run([sys.executable, __file__, "--make", folder, source], check=True)
    return files


def make(folder: Path, source: Path) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as csv
    import pyarrow.ipc as ipc
    import pyarrow.parquet as parquet

    read = csv.ReadOptions(column_names=["source", "target", "weight"])
    names = csv.read_csv(source, read_options=read, parse_options=csv.ParseOptions(delimiter="\t"))
    both = pa.chunked_array([*names.column(0).chunks, *names.column(1).chunks])
    indices = pc.dictionary_encode(both.combine_chunks()).indices.cast(pa.int64())
    rows = names.num_rows
    of_numbers = pa.table({"source": indices[:rows], "target": indices[rows:], "weight": names.column(2)})
    count = pa.array(range(rows), pa.int64())
    other = {name: count for name in ("length", "mismatch", "gapopen", "qstart", "qend", "sstart", "send")}
    search = pa.table(
        {"query": names.column(0), "target": names.column(1), "pident": names.column(2)}
        | other
        | {"evalue": names.column(2), "bitscore": names.column(2)}
    )
    for kind, table in {"names": names, "numbers": of_numbers, "search": search}.items():
        text, packed, arrow = (folder / f"{kind}.{ending}" for ending in ("tsv", "parquet", "arrow"))
        options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
        csv.write_csv(table, text, write_options=options)
        parquet.write_table(table, packed)
        with pa.OSFile(str(arrow), "wb") as file, ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=BATCH_ROWS)


def main() -> int:
    options = results.arguments("formats", "text, Parquet, Arrow and Python, the same edges", repeats=3)
    nodes, edges = SIZES[options.scale]
    places.require_space(edges * 700)
    graph = inputs.planted(nodes, edges)
    folder = places.data_folder() / "formats"
    folder.mkdir(parents=True, exist_ok=True)
    files = made(folder, graph.path)
    own = folder / "own"

    def command(name: str, argv: list[str], source: Path) -> Command:
        def prepare() -> None:
            places.fresh(own)
            running.settle(source)

        return Command(name, argv, [own], prepare)

    commands = []
    for kind, paths in files.items():
        for path in paths:
            argv = subject.build_argv(path, own / "graph", own / "work", MEMORY)
            commands.append(command(f"{kind} {path.suffix[1:]}", argv, path))
    text, packed = files["names"][0], files["search"][1]
    little = subject.build_argv(packed, own / "graph", own / "work", f"{LITTLE_MIB}MiB")
    commands.append(command("Parquet in little memory", little, packed))
    cluster = [str(subject.outcore()), "cluster", str(text), "-o", str(own / "c"), "--memory", MEMORY]
    commands.append(command("command", [*cluster, "--method", "label-propagation", "--quiet"], text))
    python = [sys.executable, "-c", PYTHON, str(text), str(own / "c"), MEMORY]
    commands.append(command("Python", python, text))

    described = graph.description | {f"{path.name} bytes": path.stat().st_size for of in files.values() for path in of}
    result = results.Result("formats", "P2, P3, P4", options.scale, described)
    result.measure(commands, options.repeats)
    places.fresh(own)

    result.check_runs(*(command.name for command in commands))
    judged = options.scale == "full"
    seconds = {command.name: result.summary(command.name).median_seconds for command in commands}
    for kind in files:
        for other in ("parquet", "arrow"):
            ratio = seconds[f"{kind} tsv"] / seconds[f"{kind} {other}"]
            result.check(f"{kind}: text / {other}", ratio, 1.5, ">=", unit="x", judged=judged)
    peak = result.summary("Parquet in little memory").peak_memory_bytes / places.MIB
    size = packed.stat().st_size / places.MIB / LITTLE_MIB
    result.check("Parquet in little memory: file / limit", size, 10, ">=", unit="x", judged=judged)
    result.check("Parquet in little memory: peak", peak, LITTLE_MIB + TOLERANCE_MIB, unit="MiB")
    result.check("Python / command", seconds["Python"] / seconds["command"], 1.03, unit="x", judged=judged)
    return result.finish("names tsv")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        sys.exit(main())
