"""Every file of communities that the command writes is read back: the same nodes in the same communities."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import outcore
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

#: Names that a careless writer or reader changes. The engine refuses names with line feeds.
HARD = [
    "tab\tinside",
    "carriage\rreturn",
    '"quoted"',
    'quote"inside',
    '""',
    '"',
    "a,b",
    "a;b",
    "a|b",
    " leading",
    "trailing ",
    "two words",
    "007",
    "7",
    "-1",
    "1e3",
    "3:0:5",
    "é",
    "日本",
    "\u200b",
    "#ai",
    "%",
    "node",
    "community",
    "path",
    "representative",
    "NA",
    "nan",
    "\\",
    "\\n",
    "{",
    '{"node":"a","community":1}',
    "x" * 300,
    "PAR1",
    "ARROW1",
]
#: Options of the command, and the forms of rows that they write.
FORMS: dict[str, tuple[str, list[str]]] = {
    "text": ("c.tsv", []),
    "other name": ("c", []),
    "csv": ("c.csv", []),
    "objects": ("c.jsonl", []),
    "objects by another name": ("c.ndjson", []),
    "parquet": ("c.parquet", []),
    "arrow": ("c.arrow", []),
    "feather": ("c.feather", []),
    "levels": ("c.tsv", ["--levels", "columns"]),
    "levels as a path": ("c.tsv", ["--levels", "tree"]),
    "levels in csv": ("c.csv", ["--levels", "columns"]),
    "levels in objects": ("c.jsonl", ["--levels", "columns"]),
    "path in objects": ("c.jsonl", ["--levels", "tree"]),
    "levels in parquet": ("c.parquet", ["--levels", "columns"]),
    "path in parquet": ("c.parquet", ["--levels", "tree"]),
    "path in arrow": ("c.arrow", ["--levels", "tree"]),
    "weights": ("c.tsv", ["--member-weights"]),
    "weights in csv": ("c.csv", ["--member-weights"]),
    "weights in objects": ("c.jsonl", ["--member-weights"]),
    "weights in parquet": ("c.parquet", ["--member-weights"]),
    "stability": ("c.tsv", ["--stability"]),
    "stability in csv": ("c.csv", ["--stability"]),
    "stability and levels": ("c.tsv", ["--stability", "--levels", "tree"]),
    "stability and weights": ("c.tsv", ["--stability", "--member-weights"]),
    "stability in objects": ("c.jsonl", ["--stability"]),
    "lines of communities": ("c.tsv", ["--rows", "community"]),
    "pairs": ("c.tsv", ["--rows", "pair"]),
    "pairs with weights": ("c.tsv", ["--rows", "pair", "--member-weights"]),
}


def run(path: Path, options: list[str], edges: Path, output: str) -> None:
    """Write communities with the command."""
    program = "import outcore._command as command; command.main()"
    command = [sys.executable, "-c", program, "cluster", str(edges), "-o", str(path / output), "-q"]
    method = ["--method", "modularity", "--columns", "source,target", "--work-dir", str(path)]
    subprocess.run([*command, *method, *options], check=True, capture_output=True, text=True)


def edges_among(names: list[str], path: Path) -> Path:
    """Write a table in which names are tied in groups of three, and the groups in a ring."""
    pairs = [(names[at], names[at // 3 * 3]) for at in range(len(names)) if at % 3]
    pairs += [(names[at], names[at + 1]) for at in range(1, len(names) - 1, 3)]
    pairs += [(names[at], names[(at + 3) % len(names)]) for at in range(0, len(names), 3)]
    table = pa.table({"source": [a for a, _ in pairs], "target": [b for _, b in pairs]})
    import pyarrow.parquet as pq

    pq.write_table(table, path / "edges.parquet")
    return path / "edges.parquet"


def partition(pairs: Any) -> set[frozenset[str]]:
    """Return communities as sets of nodes, whatever their numbers."""
    found: dict[int, set[str]] = {}
    for node, community in pairs:
        found.setdefault(community, set()).add(node)
    return {frozenset(nodes) for nodes in found.values()}


def check(found: outcore.Communities, expected: dict[str, int], rows: str) -> None:
    """Check all ways to look at a result."""
    pairs = list(found)
    if rows == "node":
        assert pairs == list(expected.items())
    else:
        assert dict(pairs) == expected
    assert [found[node] for node in expected] == list(expected.values())
    assert found[[node for node, _ in pairs]].tolist() == [community for _, community in pairs]
    assert len(found) == len(expected) == found.node_count
    assert found.community_count == len(set(expected.values()))
    assert found.sizes().sum() == len(expected)
    assert sorted(found.members(0)) == sorted(node for node, community in expected.items() if community == 0)
    assert list(zip(*pa.table(found).to_pydict().values(), strict=True)) == pairs
    assert list(found.to_pandas().itertuples(index=False, name=None)) == pairs
    assert found.to_polars().rows() == pairs
    assert "nobody is named so" not in found
    assert found.path in repr(found) and found.path in found._repr_html_()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:starts disagree")
def test_every_form_is_read_back(form: str, own_directory: Path) -> None:
    output, options = FORMS[form]
    edges = edges_among(HARD, own_directory)
    run(own_directory, [], edges, "expected.txt")
    expected = {node: int(number) for node, number in read_text(own_directory / "expected.txt")}
    assert set(expected) == set(HARD)
    run(own_directory, options, edges, output)
    rows = options[options.index("--rows") + 1] if "--rows" in options else "node"
    check(outcore.Communities(own_directory / output), expected, rows)
    found = outcore.Communities(own_directory / output, rows=rows)  # type: ignore[arg-type]
    check(found, expected, rows)
    if "--stability" in options:
        assert found.stability.shape == (len(HARD),) and 0 <= found.stability.min() <= found.stability.max() <= 1
        return
    with pytest.raises(ValueError, match="stability=True"):
        _ = found.stability


def read_text(path: Path) -> list[list[str]]:
    """Read text between tabs with another reader, for which a quote inside a name has no meaning."""
    text, fields = path.read_text(), []
    with open(path, newline="") as file:
        fields = [row[:2] for row in csv.reader(file, delimiter="\t")]
    assert text.count("\n") >= len(fields)
    return fields


names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\n"), min_size=1, max_size=8
) | st.sampled_from(HARD)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(names, min_size=9, max_size=24, unique=True), st.sampled_from(["c.csv", "c.jsonl", "c.arrow", "c"]))
def test_any_names_are_read_back(tmp_path: Path, found: list[str], output: str) -> None:
    found = found[: len(found) // 3 * 3]
    edges = pa.table({"source": found, "target": [found[at // 3 * 3 - at % 3 + 2] for at in range(len(found))]})
    options: dict[str, Any] = {"method": "components", "self_loops": "keep", "work_dir": tmp_path, "progress": False}
    expected = outcore.cluster(edges, output=tmp_path / "expected.parquet", **options)
    table = dict(zip(*pa.parquet.read_table(expected.path).to_pydict().values(), strict=True))
    assert dict(expected) == table
    written = outcore.cluster(edges, output=tmp_path / output, **options)
    for one in (written, outcore.Communities(tmp_path / output)):
        assert dict(one) == table
        assert list(one) == list(expected)


def test_a_file_of_another_form_is_an_error_that_says_how_to_read_it(own_directory: Path) -> None:
    Path("mcl.tsv").write_text("a\tb\tc\nd\te\n")
    Path("pairs.tsv").write_text("a\ta\na\tb\nd\td\n")
    Path("twice.tsv").write_text("a\tb\tc\na\te\n")
    with pytest.raises(outcore.InputError, match=r"twice\.tsv:1") as raised:
        dict(outcore.Communities("twice.tsv"))
    assert raised.value.hint and 'rows="community"' in raised.value.hint and 'rows="pair"' in raised.value.hint
    # Lines of different lengths, and a first pair of a node with itself, show what they are.
    for rows in ({"rows": "community"}, {}):
        assert dict(outcore.Communities("mcl.tsv", **rows)) == {"a": 0, "b": 0, "c": 0, "d": 1, "e": 1}  # type: ignore[arg-type]
    for rows in ({"rows": "pair"}, {}):
        assert dict(outcore.Communities("pairs.tsv", **rows)) == {"a": 0, "b": 0, "d": 1}  # type: ignore[arg-type]
    with pytest.raises(outcore.UsageError, match="`line` is not what a line is"):
        outcore.Communities("mcl.tsv", rows="line")  # type: ignore[arg-type]
    with pytest.raises(outcore.FileError):
        outcore.Communities("absent.tsv")


@pytest.mark.parametrize(
    ("name", "rows", "text", "line", "message"),
    [
        ("c.tsv", "node", "a\t0\nb\tone\n", 2, "`one` is not the number of a community"),
        ("c.tsv", "node", "a\t0\nb\t-1\n", 2, "`-1` is not the number"),
        ("c.tsv", "node", "a\t0\nb\t1\t2\n", 2, "more columns than the first one, which has 2"),
        ("c.tsv", "node", "a\t0\t1\nb\t1\n", 2, "fewer columns"),
        ("c.tsv", "node", "a\t0\n\t1\n", 2, "a name is missing"),
        ("c.tsv", "node", 'a\t0\n"b\t1\n', 2, "never closed"),
        ("c.tsv", "node", 'a\t0\n"b"c\t1\n', 2, "follows the closing quote"),
        ("c.tsv", "node", 'a\t0\n"b\n\nc"\t1\nd\tx\n', 5, "`x` is not the number"),
        ("c.tsv", "node", "a\t1234567890123456789\n", 1, "is not the number"),
        ("c.csv", "node", "node,community\na,0\nb,x\n", 3, "`x` is not the number"),
        ("c.csv", "node", "node,community\na,0\nb,c,1\n", 3, "`c` is not the number"),
        ("c.jsonl", "node", '{"node":"a","community":0}\n{"node":"b"}\n', 2, "this node has no community"),
        ("c.jsonl", "node", '{"node":"a","community":0}\n[1]\n', 2, "not a node and its community"),
        ("c.jsonl", "node", '"a"\n', 1, "not a node and its community"),
        ("c.tsv", "pair", "a\ta\nb\tc\n", 2, "the first pair of `b` is not with itself"),
        ("c.tsv", "pair", "a\ta\nb\tb\na\tc\n", 3, "the first pair of `a` is not with itself"),
        ("c.tsv", "pair", "a\ta\nb\n", 2, "a pair has a representative and a node"),
        ("c.tsv", "community", "a\tb\nc\t\td\n", 2, "a name is missing"),
    ],
)
def test_a_damaged_file_is_an_error_at_its_line(name: str, rows: Any, text: str, line: int, message: str) -> None:
    Path(name).write_text(text)
    for use in (lambda found: found.sizes(), list, lambda found: found["a"], pa.table):
        with pytest.raises((outcore.InputError, pa.ArrowException, OSError, ValueError)) as raised:
            use(outcore.Communities(name, rows=rows))
        assert message in str(raised.value)
        if isinstance(raised.value, outcore.InputError):
            assert raised.value.line == line


def test_headers_line_ends_and_marks_of_other_programs_are_read(own_directory: Path) -> None:
    expected = {"a": 0, "b": 0, "c": 1}
    for name, text in {
        "crlf.tsv": "a\t0\r\nb\t0\r\nc\t1\r\n",
        "header.tsv": "node\tcommunity\na\t0\nb\t0\nc\t1\n",
        "other-order.tsv": "community\tnode\n0\ta\n0\tb\n1\tc\n",
        "marked.csv": "\ufeffnode,community\r\na,0\r\nb,0\r\nc,1\r\n",
        "quoted.csv": '"node","community"\n"a","0"\n"b","0"\n"c","1"\n',
        "more.csv": "node,size,community\na,9,0\nb,8,0\nc,7,1\n",
        "tabs.csv": "a\t0\nb\t0\nc\t1\n",
        "no-header.csv": "a,0\nb,0\nc,1\n",
        "no-end.tsv": "a\t0\nb\t0\nc\t1",
        "path.csv": "node,path\na,0:1\nb,0:2\nc,1\n",
        "par1.tsv": "PAR1\t5\na\t0\nb\t0\nc\t1\n",
        "blank.tsv": "a\t0\n\nb\t0\n\nc\t1\n\n",
    }.items():
        Path(name).write_text(text, newline="")
        found = outcore.Communities(name)
        assert {node: number for node, number in found if node in expected} == expected, name
        assert {node: found[node] for node in expected} == expected, name
    Path("empty.tsv").write_text("")
    assert len(outcore.Communities("empty.tsv")) == 0
    assert outcore.Communities("empty.tsv").labels.tolist() == []


def test_numbers_are_read_as_they_are_written(own_directory: Path) -> None:
    """Names of digits are nodes, and a number of `match` may be large and have gaps."""
    Path("c.tsv").write_text("7\t900000000000\n007\t2\n")
    found = outcore.Communities("c.tsv")
    assert list(found) == [("7", 900_000_000_000), ("007", 2)]
    assert found["7"] == 900_000_000_000 and found["007"] == 2
    assert json.loads(json.dumps(dict(found))) == {"7": 900_000_000_000, "007": 2}
