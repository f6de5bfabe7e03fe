"""Errors have a place and a hint, with options spelled for Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import outcore
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from outcore.errors import as_arguments, as_keywords, option


def test_a_bad_line_has_its_place() -> None:
    Path("edges.tsv").write_text("a\tb\t1\nb\tc\tmany\nc\ta\t2\n")
    with pytest.raises(outcore.InputError) as raised:
        outcore.cluster("edges.tsv")
    error = raised.value
    assert (error.kind, error.path, error.line, error.column, error.byte) == (
        "bad-weight",
        "edges.tsv",
        2,
        5,
        10,
    )
    assert error.hint and 'on_bad_line="skip"' in error.hint
    assert isinstance(error, ValueError)
    assert str(error).startswith("edges.tsv:2:5: weight is not a number\n")


def test_a_bad_row_has_its_place() -> None:
    table = pa.table({"a": ["x", "y", None], "b": [1, 2, 3], "w": [1.0, 2.0, 3.0]})
    with pytest.raises(outcore.InputError) as raised:
        outcore.cluster(table)
    assert (raised.value.path, raised.value.line, raised.value.column) == ("the table", 3, 1)
    with pytest.warns(outcore.OutcoreWarning, match="skipped 1 of 3 lines"):
        assert outcore.cluster(table, on_bad_line="skip", method="components").node_count == 4


@pytest.mark.parametrize(
    ("keyword", "said"),
    [
        ("gamma", ": use `resolution`"),
        ("resolutoin", ": did you mean `resolution`?"),
        ("random_state", ": use `seed`"),
        ("maxSize", ": it is spelled `max_size`"),
        ("n_iterations", ": sweeps end by themselves; to limit their number use `max_sweeps`"),
        # An option of the command that is no keyword, and what nothing is like.
        ("quiet", ""),
        ("zzz", ""),
    ],
)
def test_unknown_keywords_are_explained(keyword: str, said: str, karate: Path) -> None:
    with pytest.raises(TypeError) as raised:
        outcore.cluster(karate, **{keyword: 1})  # type: ignore[call-overload]
    assert str(raised.value) == f"cluster() has no keyword `{keyword}`{said}"


def test_functions_name_their_own_keywords(karate: Path) -> None:
    with pytest.raises(TypeError, match=r"build\(\) has no keyword `method`$"):
        outcore.build(karate, "g.graph", method="cpm")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"export\(\) has no keyword `outptu`: did you mean `output`\?"):
        outcore.export("g.graph", outptu="x")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("options", "error", "what"),
    [
        ({"memory": "1MiB"}, outcore.MemoryTooSmallError, 'memory="'),
        ({"method": "cpm"}, outcore.UsageError, "needs `resolution`"),
        ({"method": "leiden"}, outcore.UsageError, 'Leiden optimizes modularity: `method="modularity"`'),
        ({"threads": 0}, outcore.UsageError, "0"),
        ({"columns": ("a", "b")}, outcore.InputError, "no column"),
        ({"output": "missing/c.tsv"}, outcore.FileError, "no directory"),
    ],
)
def test_impossible_options_are_errors(
    options: dict[str, object], error: type[Exception], what: str, karate: Path
) -> None:
    with pytest.raises(error) as raised:
        outcore.cluster(karate, **options)  # type: ignore[arg-type]
    assert what in str(raised.value)


def test_missing_files_and_empty_directories_are_errors() -> None:
    with pytest.raises(outcore.FileError) as raised:
        outcore.cluster("nothing.tsv")
    assert not list(Path().iterdir())
    assert isinstance(raised.value, OSError)
    assert raised.value.errno == 2
    Path("not.graph").mkdir()
    with pytest.raises(outcore.Error):
        outcore.open_graph("not.graph")


def files() -> list[tuple[str, bytes]]:
    table = pa.table({"source": ["a", "b", "c"] * 500, "target": range(1500), "weight": [0.5] * 1500})
    pa.parquet.write_table(table, "t.parquet", row_group_size=400)
    pa.feather.write_feather(table, "t.arrow", compression="zstd")
    return [(name, Path(name).read_bytes()) for name in ("t.parquet", "t.arrow")]


@pytest.mark.filterwarnings("ignore:one community holds")  # Nearly all nodes are joined, as they should be.
def test_damaged_files_are_errors() -> None:
    for name, whole in files():
        for at in range(1, len(whole), len(whole) // 60):
            Path("cut").write_bytes(whole[:at])
            flipped = bytearray(whole)
            flipped[at] ^= 0xFF
            Path("flipped").write_bytes(flipped)
            for path in ("cut", "flipped"):
                try:
                    outcore.cluster(path, method="components", output="c.tsv")
                except (outcore.InputError, outcore.UsageError) as error:
                    assert path in str(error), (name, at)


def test_hints_spell_options_for_python_or_the_command() -> None:
    hint = ("use ", option("memory", "2GiB"), ", ", option("on-bad-line", "skip"), " or ", option("restart"))
    assert as_keywords(hint) == 'use `memory="2GiB"`, `on_bad_line="skip"` or `restart`'
    assert as_arguments(hint) == "use `--memory 2GiB`, `--on-bad-line skip` or `--restart`"
    assert as_keywords([option("min-weight", 0.5)]) == "`min_weight=0.5`"
    both = [*option("format", "lines"), *option("header", "yes")]
    assert as_keywords([both]) == '`format="lines", header="yes"`'
    assert as_arguments([both]) == "`--format lines --header yes`"


def test_file_names_are_not_taken_for_options() -> None:
    Path("`--memory 2GiB`").write_text("a\tb\tx\n")
    with pytest.raises(outcore.InputError, match="`--memory 2GiB`:1:5"):
        outcore.cluster("`--memory 2GiB`", columns="1,2,3", header="no")


INTERRUPTED = """
import os, signal, threading, outcore
def interrupt(progress):
    if progress.stage == "cluster":
        os.kill(os.getpid(), signal.SIGINT)
try:
    outcore.cluster("edges.tsv", output="c.tsv", progress=interrupt)
except outcore.Interrupted as error:
    print("interrupted", isinstance(error, KeyboardInterrupt), error.kept is not None)
"""


@pytest.mark.filterwarnings("ignore:only one of")
def test_the_call_after_ctrl_c_resumes() -> None:
    lines = (f"{i}\t{i * 7919 % 50_000}\t{i % 9 + 1}\n" for i in range(300_000))
    Path("edges.tsv").write_text("".join(lines))
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["interrupted", "True", "True"], done.stderr
    assert not Path("c.tsv").exists()
    assert outcore.cluster("edges.tsv", output="c.tsv").report["resumed"]
    expected = Path("c.tsv").read_bytes()
    outcore.cluster("edges.tsv", output="d.tsv")
    assert Path("d.tsv").read_bytes() == expected


def test_the_command_comes_with_the_package(karate: Path) -> None:
    command = Path(sys.executable).parent / "outcore"
    done = subprocess.run([command, "cluster", karate, "-o", "-", "-q"], capture_output=True, text=True, check=True)
    assert done.stdout == Path(outcore.cluster(karate).path).read_text()
    failed = subprocess.run([command, "cluster", "nothing", "-o", "-"], capture_output=True, text=True)
    assert failed.returncode == 1 and "nothing" in failed.stderr
    if os.name == "posix":
        # Background jobs of a shell start with SIGINT ignored.
        assert signal.getsignal(signal.SIGINT) is not signal.SIG_DFL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a larger `--resolution` gives smaller ones", "a larger `resolution` gives smaller ones"),
        ("`--method map-equation` does not", '`method="map-equation"` does not'),
        ("use `--trials 5` or `--max-size=10`", "use `trials=5` or `max_size=10`"),
        ("use `--format lines --header yes`", 'use `format="lines", header="yes"`'),
        ("`--rejects bad file.tsv` has more words", "`--rejects bad file.tsv` has more words"),
        ("the file `a--b` and `outcore build`", "the file `a--b` and `outcore build`"),
    ],
)
def test_warnings_have_the_keywords_of_python(text: str, expected: str) -> None:
    assert outcore.errors.with_keywords(text) == expected


def test_a_warning_names_a_keyword(own_directory: Path) -> None:
    star = [("hub", f"node {at}") for at in range(20)]
    with pytest.warns(outcore.OutcoreWarning, match='`method="map-equation"` does not .* `max_size` sets a limit'):
        outcore.cluster(star, method="label-propagation")
