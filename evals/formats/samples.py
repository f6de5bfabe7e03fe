"""Sample files of other programs' tests: as the program that owns the format reads them, or refused by name.

The files are those of public repositories, read from clones and never stored here: SAMPLES is a folder of bare clones
named OWNER+NAME; one that is missing is made. Each file is read by `outcore` and by its peer: DuckDB's sniffer for
text, pyarrow for Parquet, Arrow and Feather, scipy for Matrix Market, igraph and networkx for graphs. A table is the
same if some columns of the peer's rows give the same nodes, components and strengths; if they do only together with the
header, the header was taken for an edge. The rows of the result say what is read (and from which columns), and what is
refused (and how). Needs duckdb, igraph, networkx, pyarrow and scipy in the Python that runs it.

    SAMPLES=clones OUTCORE=target/release/outcore python3 evals/formats/samples.py [--only TEXT]
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import itertools
import multiprocessing
import os
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import places, results, subject

MAX_BYTES = 2 << 20
MAX_ROWS = 20_000
MAX_COLUMNS = 40
TIMEOUT_SECONDS = 60
PEER_BYTES = 4 << 30

#: Repositories, and which of their files; those without a peer have to be refused, or are listed.
SOURCES: dict[str, tuple[str, ...]] = {
    "apache/parquet-testing": ("data/*", "bad_data/*", "variant/*", "shredded_variant/*"),
    "apache/arrow-testing": ("data/*",),
    "maxogden/csv-spectrum": ("csvs/*",),
    "duckdb/duckdb": ("data/csv/*", "data/parquet-testing/*", "data/json/*", "data/*.tsv"),
    "pola-rs/polars": ("*/files/*.csv", "*/files/*.parquet", "*/files/*.ipc", "*/files/*.feather", "*/files/*.tsv"),
    "scipy/scipy": ("scipy/io/tests/test_mmio.py", "scipy/io/tests/data/*", "scipy/io/_harwell_boeing/tests/*"),
    "igraph/igraph": ("tests/*/*.*", "examples/simple/*.*", "fuzzing/test_inputs/*"),
    "networkx/networkx": ("examples/*.edgelist", "examples/*.gz", "examples/*.txt", "networkx/*.gz"),
    "mapequation/infomap": ("test/fixtures/*", "examples/networks/*", "examples/notebooks/data/*"),
    "networkit/networkit": ("input/*",),
    "micans/mcl": ("graphs/*", "testing/stream/*"),
    "gephi/gephi": ("modules/*Plugin/src/test/resources/*", "modules/WelcomeScreen/*/samples/*"),
    "snap-stanford/snap": ("examples/*.txt", "test/*.txt", "tutorials/*.txt", "data/*"),
}
#: Sources and scripts beside the samples.
PASSED_OVER = ("*.c", "*.cc", "*.cpp", "*.h", "*.py", "*.md", "*.rs", "*.out", "*.sh", "*.in", "*.java", "*Makefile*",
               "*CMake*", "*.gitignore", "*.vcxproj*", "*.sln", "*.pem", "*.key", "*.srl", "*.properties")  # fmt: skip


@dataclass
class Table:
    """Rows as a peer reads them: text, or None where a value is missing.

    `header` if the names are in the text; `typed` if there are numbers or times in a column below: otherwise the peer
    only assumes that names of columns are not names of nodes.
    """

    names: list[str]
    rows: list[list[str | None]]
    header: bool = False
    typed: bool = False


@dataclass
class Graph:
    """Edges as a peer reads them, under each set of names that the format has."""

    edges: list[tuple[int, int, float]]
    names: list[list[str]]


@dataclass
class Reading:
    """What `outcore` makes of a file: strength of each node, and its component; or the first line of its refusal."""

    status: int
    message: str
    strengths: dict[str, float] = field(default_factory=dict)
    components: set[frozenset[str]] = field(default_factory=set)


def clone(repository: str) -> Path:
    folder = Path(os.environ.get("SAMPLES", places.data_folder() / "samples"))
    path = folder / repository.replace("/", "+")
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        address = f"https://github.com/{repository}"
        subprocess.run(["git", "clone", "--quiet", "--bare", "--depth", "1", address, path], check=True)
    return path if (path / "HEAD").exists() else path / "repo"


def git(folder: Path, *argv: str, text: bytes | None = None) -> bytes:
    # A clone without its largest files is used as it is.
    env = os.environ | {"GIT_NO_LAZY_FETCH": "1"}
    return subprocess.run(["git", f"--git-dir={folder}", *argv], env=env, input=text, stdout=-1, stderr=-1).stdout


def samples(repository: str, only: str) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the contents of each sample in a repository."""
    folder = clone(repository)
    for line in git(folder, "ls-tree", "-r", "-l", "-z", "HEAD").decode().split("\0"):
        if not line:
            continue
        facts, path = line.split("\t", 1)
        _, kind, name, size = facts.split()
        wanted = (
            any(fnmatch.fnmatch(path, pattern) for pattern in SOURCES[repository]) and only in f"{repository}/{path}"
        )
        if kind != "blob" or not size.isdigit() or int(size) > MAX_BYTES or not wanted:
            continue
        data = git(folder, "cat-file", "blob", name)
        if path.endswith("test_mmio.py"):
            yield from matrices_of(path, data)
        elif not any(fnmatch.fnmatch(path, pattern) for pattern in PASSED_OVER) and len(data) == int(size):
            yield path, data


def matrices_of(path: str, source: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the matrices that scipy's tests contain as text."""
    for node in ast.walk(ast.parse(source)):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Constant) and isinstance(value, str) and value.lstrip().startswith("%%MatrixMarket"):
            yield f"{path}:{node.lineno}.mtx", value.lstrip().encode()


# --- peers


def peer(path: Path) -> tuple[str, Table | Graph | None, str]:
    """Return what `peer_here` does, from a process of its own: some samples crash their readers, or fill the memory."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=lambda: sender.send(limited(path)))
    child.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(TIMEOUT_SECONDS) else ("peer", None, "timeout")
    except EOFError:
        return "peer", None, "crash"
    finally:
        child.kill()
        child.join()


def limited(path: Path) -> tuple[str, Table | Graph | None, str]:
    resource.setrlimit(resource.RLIMIT_AS, (PEER_BYTES, PEER_BYTES))
    return peer_here(path)


def peer_here(path: Path) -> tuple[str, Table | Graph | None, str]:
    """Return the name of the peer of a file, what it reads, and else its error."""
    ending = path.suffix.lower()
    head = path.read_bytes()[:4]
    try:
        if head == b"PAR1" or ending in (".parquet", ".arrow", ".ipc", ".feather", ".stream", ".arrow_file"):
            return "pyarrow", of_arrow(path, head), ""
        if ending == ".mtx":
            return "scipy", of_scipy(path), ""
        if ending in (".net", ".gml", ".graphml", ".lgl", ".ncol", ".dl", ".gexf", ".max", ".el", ".edgelist"):
            return "networkx" if ending == ".gexf" else "igraph", of_graph(path), ""
        if ending in (".csv", ".tsv", ".txt", ".dat", ".edges", ".gz", ".zst", ".tab"):
            return "DuckDB", of_duckdb(path), ""
    except Exception as error:  # noqa: BLE001  (peers raise anything)
        return "peer", None, f"{type(error).__name__}: {error}".splitlines()[0][:150]
    return "", None, ""


def of_arrow(path: Path, head: bytes) -> Table:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    if head == b"PAR1":
        file = pa.parquet.ParquetFile(path)
        if file.metadata.num_rows > MAX_ROWS:
            return Table(file.schema_arrow.names, [[]] * file.metadata.num_rows)
        table = file.read()
    elif path.suffix == ".feather":
        table = pa.feather.read_table(path)
    else:
        with pa.OSFile(str(path), "rb") as file:
            opened = pa.ipc.open_file(file) if path.read_bytes()[:6] == b"ARROW1" else pa.ipc.open_stream(file)
            table = opened.read_all()
    columns = [column_of(column) for column in table.columns]
    return Table(table.column_names, [list(row) for row in zip(*columns, strict=True)], header=False)


def column_of(column: Any) -> list[str | None]:
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_nested(kind):
        return [None] * len(column)
    values = column.to_pylist()
    return [
        value.decode("latin-1") if isinstance(value, bytes) else None if value is None else str(value)
        for value in values
    ]


def of_duckdb(path: Path) -> Table:
    import duckdb

    with duckdb.connect() as connection:
        sniffed = connection.execute("SELECT * FROM sniff_csv(?)", [str(path)])
        facts = dict(zip([column[0] for column in sniffed.description], sniffed.fetchone() or (), strict=True))
        columns = [column["name"] for column in facts["Columns"]]
        options = {
            "delim": facts["Delimiter"],
            "quote": _none(facts["Quote"]),
            "escape": _none(facts["Escape"]),
            "comment": _none(facts["Comment"]),
        }
        settings = ", ".join(f"{name}={_quoted(value)}" for name, value in options.items())
        types = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in columns)
        query = f"SELECT * FROM read_csv(?, auto_detect=false, {settings}, skip={facts['SkipRows']}, "
        rows = connection.execute(query + f"header={facts['HasHeader']}, columns={{{types}}})", [str(path)]).fetchall()
    typed = bool(rows) and any(column["type"] != "VARCHAR" for column in facts["Columns"])
    return Table(columns, [list(row) for row in rows], bool(facts["HasHeader"]), typed)


def _none(option: str) -> str:
    return "" if option in ("(empty)", "\0", None) else option


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def of_scipy(path: Path) -> Graph:
    import scipy.io

    _, _, _, layout, values, symmetry = scipy.io.mminfo(path)
    if layout != "coordinate" or values == "complex" or symmetry == "hermitian":
        raise ValueError(f"{layout} {values} {symmetry} is no graph")
    matrix = scipy.io.mmread(path, spmatrix=False).tocoo()
    size = max(matrix.shape)
    entries = list(zip(matrix.row.tolist(), matrix.col.tolist(), map(float, matrix.data), strict=True))
    if symmetry != "general":
        entries = [(row, column, value) for row, column, value in entries if row >= column]
    return Graph(entries, [[str(at + 1) for at in range(size)]])


def of_graph(path: Path) -> Graph:
    if path.suffix == ".gexf":
        import networkx

        found = networkx.read_gexf(path)
        at = {node: index for index, node in enumerate(found)}
        edges = [(at[a], at[b], float(w or 1)) for a, b, w in found.edges(data="weight")]
        labels = [str(label or node) for node, label in found.nodes(data="label")]
        return Graph(edges, [[str(node) for node in found], labels])
    import igraph

    kinds = {".net": "pajek", ".max": "dimacs", ".el": "edgelist", ".edgelist": "edgelist"}
    graph = igraph.Graph.Read(str(path), format=kinds.get(path.suffix, path.suffix[1:]))
    if isinstance(graph, tuple):
        graph = graph[0]
    weights = next((graph.es[name] for name in ("weight", "value") if name in graph.es.attributes()), None)
    edges = [(a, b, 1.0 if weights is None else float(weights[at])) for at, (a, b) in enumerate(graph.get_edgelist())]
    names = [[str(at + first) for at in range(graph.vcount())] for first in (0, 1)]
    for attribute in ("name", "id", "label"):
        if attribute in graph.vs.attributes():
            names.append([f"{value:g}" if isinstance(value, float) else str(value) for value in graph.vs[attribute]])
    return Graph(edges, names)


# --- comparison


def reading(path: Path, folder: Path) -> Reading:
    import pyarrow.parquet as parquet

    output = folder / "out.parquet"
    argv = [subject.outcore(), "cluster", path, "-o", output, "--method", "components", "--member-weights"]
    argv += ["--self-loops", "keep", "--quiet", "--memory", "256MiB", "--threads", "1", "--profile", "none"]
    argv += ["--work-dir", folder]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return Reading(124, "timeout")
    said = done.stderr.decode(errors="replace").strip().splitlines()
    found = Reading(done.returncode, said[0].replace(str(path.parent) + "/", "") if said else "")
    if done.returncode:
        return found
    table = parquet.read_table(output)
    output.unlink()
    nodes = [node if isinstance(node, str) else node.decode("latin-1") for node in table.column("node").to_pylist()]
    found.strengths = dict(zip(nodes, table.column(table.num_columns - 1).to_pylist(), strict=True))
    found.components = grouped(zip(nodes, table.column("community").to_pylist(), strict=True))
    return found


def grouped(labels: Iterable[tuple[str, Any]]) -> set[frozenset[str]]:
    groups: dict[Any, set[str]] = {}
    for node, label in labels:
        groups.setdefault(label, set()).add(node)
    return {frozenset(group) for group in groups.values()}


def is_graph(found: Reading, edges: list[tuple[str, str, float]]) -> bool:
    """Whether edges have the strengths and components that were found; other nodes may be alone."""
    strengths = dict.fromkeys(found.strengths, 0.0)
    parents = {node: node for node in strengths}

    def root(node: str) -> str:
        while parents[node] != node:
            parents[node] = node = parents[parents[node]]
        return node

    for source, target, weight in edges:
        if source not in strengths or target not in strengths:
            return False
        strengths[source] += weight
        strengths[target] += weight
        if weight:
            parents[root(source)] = root(target)
    close = all(abs(strengths[node] - found.strengths[node]) <= 1e-4 * max(1e-3, strengths[node]) for node in strengths)
    return close and grouped((node, root(node)) for node in strengths) == found.components


def columns_of(found: Reading, table: Table) -> tuple[int, int, int | None] | None:
    """Return source, target and weight: the columns that give what was found, with spaces around names or not."""
    trimmed = [[None if value is None else value.strip() for value in row] for row in table.rows]
    return columns_in(found, table, table.rows) or columns_in(found, table, trimmed)


def columns_in(found: Reading, table: Table, rows: list[list[str | None]]) -> tuple[int, int, int | None] | None:
    count = min(len(table.names), MAX_COLUMNS)
    nodes = set(found.strengths)
    fitting = [at for at in range(count) if rows and all(row[at] in nodes for row in rows)]
    weights: list[tuple[int | None, list[float]]] = [(None, [1.0] * len(rows))]
    for at in range(count):
        try:
            weights.append((at, [float(row[at] or "") for row in rows]))
        except ValueError:
            continue
    for source, target in itertools.combinations(fitting, 2):
        if {row[source] for row in rows} | {row[target] for row in rows} != nodes:
            continue
        for at, values in weights:
            ends = zip(rows, values, strict=True)
            if at not in (source, target) and is_graph(found, [(row[source], row[target], w) for row, w in ends]):  # type: ignore[misc]
                return source, target, at
    return None


def verdict(found: Reading, peer_name: str, read: Table | Graph | None) -> tuple[str, str]:
    """Return how a reading compares with that of the peer, and the columns."""
    if found.status not in (0, 2, 3):
        return "crash", ""
    if found.status:
        return ("refused" if read is not None else "both refuse" if peer_name else "refused, no peer"), ""
    if read is None:
        return ("read, the peer refuses" if peer_name else "read, no peer"), ""
    if isinstance(read, Graph):
        same = any(
            is_graph(found, [(names[a], names[b], weight) for a, b, weight in read.edges]) for names in read.names
        )
        return ("same" if same else "DIFFERENT"), ""
    if len(read.rows) > MAX_ROWS:
        return "too large to compare", ""
    chosen = columns_of(found, read)
    if chosen is None and read.header:
        named = Table(read.names, [list(read.names), *read.rows])
        if columns_of(found, named) is not None:
            word = "HEADER READ AS AN EDGE" if read.typed else "assumed header read as an edge"
            return word, ", ".join(read.names)
    if chosen is None:
        return "DIFFERENT", ", ".join(read.names)[:100]
    words = [read.names[at] for at in chosen if at is not None]
    return "same", f"{' -> '.join(words[:2])}{', weight ' + words[2] if words[2:] else ''} of {len(read.names)} columns"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="files whose repository and path contain this text")
    options = parser.parse_args()
    folder = places.fresh(places.data_folder() / "formats-samples")
    rows: list[dict[str, object]] = []
    for repository in SOURCES:
        for number, (path, data) in enumerate(samples(repository, options.only)):
            local = places.fresh(folder / str(number)) / Path(path).name.replace(":", "-")
            local.write_bytes(data)
            found = reading(local, folder)
            name, read, error = peer(local)
            word, columns = verdict(found, name, read)
            rows.append({"file": f"{repository}/{path}", "peer": name, "verdict": word, "columns": columns,
                         "said": found.message[:200], "peer error": error.replace(str(local), local.name)})  # fmt: skip
            if word.isupper() or word == "crash":
                print(f"{word}: {repository}/{path}: {columns}", file=sys.stderr)
    places.fresh(folder)
    counts = Counter(str(row["verdict"]) for row in rows)
    result = results.Result(
        "formats", "M3", "full" if not options.only else "smoke", {"files": len(rows)}, part="samples"
    )
    result.rows = rows
    result.notes = [f"{word}: {count} files" for word, count in counts.most_common()]
    for word in ("DIFFERENT", "HEADER READ AS AN EDGE", "crash"):
        result.check(word.lower(), counts[word], 0, unit="files")
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
