"""Every block of the documentation runs, in the order of its page, and prints the output shown; the site has no errors.

Each fence names its language. `sh` must succeed; `console` has the expected output after each `$` command, where times
and memory may differ; `python` is executed, and `pycon` compared. In an output `[..]` matches anything in a line, and a
line `...` any number of lines. Before a fence, `<!-- fails: 3 -->` gives another exit status, and
`<!-- not run: why -->` excludes the block.

Before a picture, `<!-- drawn in PAGE -->` names the page that a block of this guide writes, whose first drawing it is;
`<!-- drawn in PAGE: TITLE -->` is another drawing of it. The picture must equal that drawing. After an intended change,
`OUTCORE_PICTURES=write` with the test writes it. `<!-- not drawn: why -->` excludes the picture.
"""

from __future__ import annotations

import doctest
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import networkx
import numpy
import outcore
import pytest
from conftest import planted
from picture import picture

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
RUN = {"sh", "console", "python", "pycon"}
#: Blocks of R are run by `make test-r`.
SHOWN = {"text", "json", "r", "{toctree}", "{outcore-help}", "{eval-rst}"}
#: Number of blocks that are not run, and of pictures that are not drawn; a new one must be counted here.
NOT_RUN = 10
NOT_DRAWN = 2
#: What finds communities.
CLUSTERS = re.compile(r"outcore(?:\.spark)?[. ]cluster\b")
#: Bytes of a picture.
PICTURE_MAX = 40_000
#: Where the description of the package, which is shown elsewhere, has pictures from.
HOSTED = "https://raw.githubusercontent.com/outcore/outcore/main/"


class Block(NamedTuple):
    """Content of a fence."""

    line: int
    language: str
    text: str
    status: int
    is_run: bool


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page; a fence without a known language is an error."""
    lines = page.read_text().splitlines()
    opened = None
    before = ""
    for number, line in enumerate(lines, 1):
        if opened is None and line.lstrip().startswith(("```", "~~~", ":::")):
            language = line.removeprefix("```").split(" ")[0]
            assert language in RUN | SHOWN, f"{page}:{number}: `{line}` is not a known fence"
            opened = number, language
        elif opened is not None and line == "```":
            first, language = opened
            text = "".join(f"{part}\n" for part in lines[first : number - 1])
            status = re.fullmatch(r"<!-- fails: (\d+) -->", before)
            reason = re.fullmatch(r"<!-- not run: .+ -->", before)
            assert status or reason or not before.startswith("<!--"), (
                f"{page}:{first}: `{before}` is not a known comment"
            )
            is_run = language in RUN and reason is None
            yield Block(first, language, text, int(status[1]) if status else 0, is_run)
            opened, before = None, ""
        elif opened is None and line.strip():
            before = line.strip()
    assert opened is None, f"{page}:{opened}: this fence has no end"


class Shown(NamedTuple):
    """Picture of a page."""

    place: str
    words: str
    path: Path
    drawn_in: str | None
    title: str | None


def pictures(page: Path) -> Iterator[Shown]:
    """Yield the pictures of a page; one without a comment on its origin, or without words, is an error."""
    before = ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", line):
            place = f"{os.path.relpath(page, ROOT)}:{number}"
            drawn = re.fullmatch(r"<!-- drawn in (\S+?)(?:: (.+))? -->", before)
            assert drawn or re.fullmatch(r"<!-- not drawn: .+ -->", before), f"{place}: `{before}` names no drawing"
            assert len(words.split()) > 5, f"{place}: the words do not say what is seen"
            path = (page.parent / target).resolve()
            yield Shown(place, words, path, drawn[1] if drawn else None, drawn[2] if drawn else None)
        before = line.strip()


def check_picture(shown: Shown, directory: Path, path: Path) -> None:
    """Check that the picture in a file is the drawing of a page in a directory; write it if that is asked for."""
    assert shown.drawn_in
    made = picture((directory / shown.drawn_in).read_text(), shown.title)
    assert made, f"{shown.place}: `{shown.drawn_in}` has no such drawing"
    ElementTree.fromstring(made)
    assert "href=" not in made, f"{shown.place}: a picture has links"
    assert len(made) <= PICTURE_MAX, f"{shown.place}: {len(made)} bytes are too many"
    if os.environ.get("OUTCORE_PICTURES") == "write":
        path.write_text(made)
    page = shown.place.removeprefix("docs/").partition(":")[0]
    again = f"OUTCORE_PICTURES=write python -m pytest tests/python/test_docs.py -k {page}"
    is_same = path.exists() and path.read_text() == made
    assert is_same, f"{shown.place}: the drawing has changed; look at it, and write the picture again: {again}"


class Runner:
    """Runs the blocks of one page in one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.names: dict[str, Any] = {"__name__": "page"}

    def run(self, page: Path, block: Block) -> None:
        place = f"{page.relative_to(ROOT)}:{block.line}"
        if block.language == "sh":
            status, output = self.shell(block.text)
            assert status == block.status, f"{place}: status {status}\n{output}"
        elif block.language == "console":
            for command, expected in commands(block.text):
                status, output = self.shell(command)
                assert status == block.status, f"{place}: `{command}`: status {status}\n{output}"
                assert matches(expected, output), f"{place}: `{command}` prints\n{output}"
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, str(page), "exec"), self.names)
        else:
            test = doctest.DocTestParser().get_doctest(block.text, self.names, place, str(page), block.line)
            assert test.examples, f"{place}: no example"
            failures: list[str] = []
            doctest.DocTestRunner(checker=Checker(), verbose=False).run(test, out=failures.append, clear_globs=False)
            self.names.update(test.globs)
            assert not failures, "".join(failures)

    def shell(self, script: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Only a command that hangs takes so long: a busy machine decides no test.
            timeout=1200,
        )
        return done.returncode, done.stdout


def commands(text: str) -> list[tuple[str, str]]:
    """Return each command of a console with its expected output."""
    found: list[list[str]] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:], ""])
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0] += line[2:]
        else:
            found[-1][1] += line
    return [(command, expected) for command, expected in found]


def matches(expected: str, output: str) -> bool:
    """Return whether an output matches the expected one, up to times, memory and wildcards."""
    return lines_match(plain(expected).splitlines(), plain(output).splitlines())


def lines_match(expected: list[str], output: list[str]) -> bool:
    """Return whether lines match the expected ones; a line `...` matches any lines up to the next match."""
    at = 0
    for number, line in enumerate(expected):
        if line == "...":
            rest = expected[number + 1 :]
            return not rest or any(lines_match(rest, output[later:]) for later in range(at, len(output)))
        pattern = re.escape(line).replace(re.escape("[..]"), ".*")
        if at == len(output) or re.fullmatch(pattern, output[at]) is None:
            return False
        at += 1
    return at == len(output)


def plain(text: str) -> str:
    """Remove details that differ between runs."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r" +(?:\d+h )?(?:\d+m )?\d+(?:\.\d+)?s$", " [..]", text, flags=re.M)
    text = re.sub(r"^done in .*", "done in [..]", text, flags=re.M)
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


class Checker(doctest.OutputChecker):
    """Compares output as for consoles."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return matches(want, got)


@pytest.fixture
def runner(own_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Return a runner in a directory like the root of the repository, with the command of the package."""
    (own_directory / "tests").symlink_to(ROOT / "tests")
    bin_directory = own_directory / ".bin"
    bin_directory.mkdir()
    command = bin_directory / "outcore"
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c 'from outcore._command import main; main()' \"$@\"\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_directory}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own_directory / ".config"))
    monkeypatch.delenv("CLICOLOR_FORCE", raising=False)
    return Runner(own_directory)


def similarities(directory: Path) -> None:
    """Write `hits.m8.gz` and `genes.tsv`: a real table if available, otherwise one of the same form."""
    real = Path(os.environ.get("OUTCORE_GRAPHS", "/nowhere")) / "orthobench.m8.gz"
    table = directory / "hits.m8.gz"
    if real.exists():
        shutil.copy(real, table)
    else:
        made = "".join(
            f"{a}\t{b}\t71.4\t320\t91\t2\t1\t320\t4\t322\t1e-90\t{score:.0f}\n"
            for source, target, weight in planted(600, 6000)
            for a, b, score in [
                (f"g{source}", f"g{target}", 60 + 20 * weight),
                (f"g{target}", f"g{source}", 61 + 20 * weight),
                (f"g{source}", f"g{source}", 700),
                (f"g{target}", f"g{target}", 720),
            ]
        )
        table.write_bytes(gzip.compress(made.encode(), 1))
    with gzip.open(table, "rt") as lines:
        genes = dict.fromkeys(line.split("\t", 1)[0] for line in lines)
    species = ("fly", "human", "yeast")
    rows = "".join(f"{gene}\t{species[at % 3]}\n" for at, gene in enumerate(genes))
    (directory / "genes.tsv").write_text("gene\tspecies\n" + rows)


PREPARED = {"guides/sequences.md": similarities}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_block_of_a_page_runs(page: Path, runner: Runner) -> None:
    prepare = PREPARED.get(str(page.relative_to(DOCS)))
    if prepare:
        prepare(runner.directory)
    for block in blocks(page):
        if block.is_run:
            runner.run(page, block)
    for shown in pictures(page):
        if shown.drawn_in:
            check_picture(shown, runner.directory, shown.path)


def test_every_guide_with_a_result_ends_in_its_picture() -> None:
    guides = [
        page
        for page in PAGES
        if page.parent.name == "guides" and any(CLUSTERS.search(block.text) and block.is_run for block in blocks(page))
    ]
    assert len(guides) > 10
    for page in guides:
        last = page.read_text().split("\n## ")[-1]
        assert "<!-- drawn in " in last, f"{page.relative_to(ROOT)} does not end in a picture of its result"
    assert any(shown.drawn_in for shown in pictures(DOCS / "index.md"))


def test_every_picture_is_shown_and_nearly_all_are_drawn() -> None:
    every = [shown for page in PAGES for shown in pictures(page)]
    assert {shown.path for shown in every} == set((DOCS / "_static").glob("*.svg"))
    assert len({shown.path for shown in every}) == len(every)
    assert len([shown for shown in every if shown.drawn_in is None]) == NOT_DRAWN
    of_readme = re.findall(r"!\[[^\]]+\]\(([^)]*)\)", (ROOT / "README.md").read_text())
    assert of_readme
    drawn = {f"{HOSTED}{shown.path.relative_to(ROOT)}" for shown in every if shown.drawn_in}
    assert set(of_readme) <= drawn


def test_pictures_that_differ_are_detected(runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, output = runner.shell("outcore cluster tests/graphs/karate.tsv -o c.tsv -q --report page.html")
    assert status == 0, output
    path = tmp_path / "picture.svg"

    def shown(title: str | None) -> Shown:
        return Shown("docs/index.md:1", "words", path, "page.html", title)

    monkeypatch.delenv("OUTCORE_PICTURES", raising=False)
    with pytest.raises(AssertionError, match=r"OUTCORE_PICTURES=write .* -k index\.md"):
        check_picture(shown(None), tmp_path, path)
    with pytest.raises(AssertionError, match="no such drawing"):
        check_picture(shown("Nothing"), tmp_path, path)
    with monkeypatch.context() as patch:
        patch.setenv("OUTCORE_PICTURES", "write")
        check_picture(shown(None), tmp_path, path)
    check_picture(shown(None), tmp_path, path)
    with pytest.raises(AssertionError, match="has changed"):
        check_picture(shown("Communities by size"), tmp_path, path)
    for text in ["![a drawing of what was found](x.svg)\n", "<!-- drawn in x.html -->\n![drawing](x.svg)\n"]:
        page = tmp_path / "page.md"
        page.write_text(text)
        with pytest.raises(AssertionError):
            list(pictures(page))


def test_a_picture_has_the_drawing_and_only_its_style(runner: Runner) -> None:
    status, output = runner.shell(
        "outcore cluster tests/graphs/karate.tsv -o c.tsv -q --method modularity --report page.html"
    )
    assert status == 0, output
    made = picture(Path("page.html").read_text())
    assert made
    root = ElementTree.fromstring(made)
    svg = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{svg}circle")) == 4
    assert [text.text for text in root.findall(f"{svg}text")] == ["0: 23", "1: 0", "2: 16", "3: 5"]
    style = root.findtext(f"{svg}style") or ""
    assert "svg .community {" in style and "svg .flow {" not in style and ":hover" not in style
    light, dark = style.split("@media")
    used = set(re.findall(r"var\((--\w+)\)", style))
    for colors in (light, dark.splitlines()[0]):
        assert used - {"--own"} == set(re.findall(r"(--\w+):", colors))
    for name in re.findall(r'class="([^"]*)"', made.split("</style>")[1]):
        assert any(f".{each} " in style or f".{each}," in style for each in name.split()), name


def test_few_blocks_are_not_run() -> None:
    left_out = [
        f"{page.relative_to(ROOT)}:{block.line}"
        for page in PAGES
        for block in blocks(page)
        if block.language in RUN and not block.is_run
    ]
    assert len(left_out) == NOT_RUN, left_out


def test_the_runner_detects_wrong_blocks(runner: Runner, tmp_path: Path) -> None:
    page = ROOT / "docs/index.md"
    for language, text in [
        ("sh", "false | true\n"),
        ("console", "$ echo one\ntwo\n"),
        ("console", "$ printf 'one\\ntwo\\n'\none\n"),
        ("console", "$ outcore cluster tests/graphs/karate.tsv -o c.tsv -q --seed none\n"),
        ("python", "import outcore\nassert not outcore.__all__\n"),
        ("pycon", ">>> 1 + 1\n3\n"),
    ]:
        with pytest.raises(AssertionError):
            runner.run(page, Block(1, language, text, 0, True))
    runner.run(page, Block(1, "console", "$ printf 'a 1\\nb\\nc\\n'\na [..]\n...\nc\n", 0, True))
    for text in ["```\nls\n```\n", "  ```sh\nls\n```\n", "<!-- not run -->\n```sh\nls\n```\n", "```sh\nls\n"]:
        (tmp_path / "page.md").write_text(text)
        with pytest.raises(AssertionError):
            list(blocks(tmp_path / "page.md"))


def helped(runner: Runner, command: str = "") -> set[str]:
    """Return all commands that `outcore --help` lists."""
    _, output = runner.shell(f"outcore {command} --help")
    listed = re.search(r"^(?:Commands|Models):\n((?: +.*\n)+)", output, flags=re.M)
    names = re.findall(r"^  ([a-z][a-z-]*) ", listed[1], flags=re.M) if listed else []
    found = {command} if command else set()
    for name in names:
        if name != "help":
            found |= helped(runner, f"{command} {name}".strip())
    return found


def reference(name: str) -> str:
    """Return the text of a page of the reference, and of the pages below it."""
    pages = [DOCS / f"reference/{name}.md", *sorted((DOCS / "reference" / name).glob("*.md"))]
    return "\n".join(page.read_text() for page in pages)


#: Experiment whose help is shown for all experiments.
EXPERIMENT = "lab random-read"


def test_the_reference_has_every_command(runner: Runner) -> None:
    shown = {name.strip() for name in re.findall(r"^```\{outcore-help\}(.*)$", reference("command"), flags=re.M)}
    known = helped(runner) | {""}
    assert shown <= known

    def options(command: str) -> str:
        return str(runner.shell(f"outcore {command} --help")[1].split("Options:")[1])

    assert {options(command) for command in known - shown} <= {options(EXPERIMENT)}, (
        "experiments must have the same options"
    )


def cells(page: str, column: int = 0) -> list[str]:
    """Return the names in backticks in a column of the tables of a page."""
    rows = [line for line in (DOCS / page).read_text().splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split(" | ")[column].strip("| "))]


def test_the_reference_has_every_error_and_exception() -> None:
    source = (ROOT / "crates/outcore-io/src/error.rs").read_text()
    kinds = set(re.findall(r'Self::\w+ => "([a-z-]+)"', source))
    assert len(kinds) > 10
    assert set(cells("reference/errors.md")) == kinds
    for kind, name in zip(cells("reference/errors.md"), cells("reference/errors.md", 2), strict=True):
        made = outcore.errors._made({"kind": kind, "message": ""})
        assert type(made).__name__ == name, kind


def test_the_reference_has_every_name_of_the_package() -> None:
    shown = set(re.findall(r"^\.\. auto\w+:: outcore\.(\w+)$", reference("python"), flags=re.M))
    assert shown == set(outcore.__all__) - {"__version__"}


def fields(value: object, name: str = "") -> set[str]:
    """Return the names of all fields, such as `stages[].seconds`, without those inside `propagation` and `results`."""
    if value is None and "." not in name:
        # The job did not have this part.
        return set()
    if isinstance(value, dict) and not name.endswith("propagation"):
        parts = [fields(part, f"{name}.{key}" if name else key) for key, part in value.items()]
        return set().union(*parts)
    if isinstance(value, list) and value and isinstance(value[0], dict) and name != "results":
        return set().union(*(fields(part, f"{name}[]") for part in value))
    return {name}


def test_the_reference_has_every_field_of_reports_plans_and_scores(runner: Runner) -> None:
    status, output = runner.shell(
        "cp tests/graphs/karate.tsv . && outcore build karate.tsv -o karate.graph -q\n"
        "outcore build tests/graphs/string-yeast-physical.txt.gz -o yeast.graph -q"
    )
    assert status == 0, output
    # Cliques in groups of cliques, and edges at random.
    inside = [(8 * clique + a, 8 * clique + b) for clique in range(64) for b in range(8) for a in range(b)]
    across = [(64 * g + 8 * a + b, 64 * g + 8 * b + a) for g in range(8) for b in range(8) for a in range(b)]
    between = [(64 * a + b, 64 * b + a) for b in range(8) for a in range(b)]
    Path("nested.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in inside + across + between))
    Path("random.tsv").write_text("".join(f"{i % 60}\t{i * 7919 % 59}\n" for i in range(600)))
    status, output = runner.shell(
        "outcore build nested.tsv -o nested.graph -q && outcore cluster nested.graph --levels tree -o n.tree -q\n"
        "outcore build karate.tsv --two-mode -o kinds.graph -q && outcore cluster kinds.graph -o kinds.jsonl -q"
    )
    assert status == 0, output
    found: set[str] = set()
    for options in [
        "random.tsv",
        "karate.tsv --two-mode --method modularity",
        "karate.tsv --method map-equation --levels tree --summary s.tsv",
        "tests/graphs/football.tsv --method modularity --levels columns",
        "karate.tsv --method modularity --resolution 0.5,1 --min-size 3 --match tests/graphs/karate.truth.tsv",
        "karate.tsv --method label-propagation --max-size 9 --well-connected",
        "yeast.graph --method label-propagation --attenuation 0.1 --min-weight 500",
        "karate.tsv --on-bad-line skip --rejects bad.tsv",
    ]:
        status, output = runner.shell(f"outcore cluster {options} -o c.tsv -q --report r.json")
        assert status == 0, output
        found |= fields(json.loads(Path("r.json").read_text()))
    status, output = runner.shell("outcore build karate.tsv --append karate.graph -o more.graph -q --report r.json")
    assert status == 0, output
    found |= fields(json.loads(Path("r.json").read_text()))
    numbers = {"source": numpy.arange(3), "target": numpy.arange(1, 4)}
    sources = {"rows": networkx.path_graph(3), "named": networkx.Graph([("a", "b")]), "numbers": numbers}
    for name, edges in sources.items():
        found |= fields(outcore.build(edges, f"{name}.graph").report.to_dict())
    found |= fields(outcore.export("named.graph", "named.gexf").to_dict())
    for command in [
        "plan karate.tsv --json --spark 2,2,8GiB",
        "plan karate.tsv --json --build --append karate.graph",
        "score karate.graph tests/graphs/karate.truth.tsv --against tests/graphs/karate.truth.tsv --json -q "
        "--well-connected",
        "score nested.graph n.tree --json -q",
        "score kinds.graph kinds.jsonl --json -q",
        "compare tests/graphs/karate.truth.tsv c.tsv --json -q",
    ]:
        status, output = runner.shell(f"outcore {command}")
        assert status == 0, output
        found |= fields(json.loads(output))
    # A job that is matched with an earlier result reports what `compare` does.
    within = "communities.compared"
    compared = {name for name in found if name.startswith(f"{within}.")}
    # Lists may be empty.
    lists = {name.partition("[]")[0] for name in found if "[]" in name}
    known = found | lists
    assert {name.removeprefix(f"{within}.") for name in compared} <= known
    assert set(cells("reference/fields.md")) == found - lists - compared | {within}


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    for package in ("sphinx", "myst_parser", "furo", "numpydoc"):
        pytest.importorskip(package)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", str(DOCS), str(tmp_path / "site")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for page in PAGES:
        assert (tmp_path / "site" / page.relative_to(DOCS).with_suffix(".html")).exists()


#: A stage of a run that is shown, and its end, with the time of each.
STAGE = re.compile(r"^ [a-z]+ .* ([\d.]+)s$")
DONE = re.compile(r"^done in ([\d.]+)s")


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_times_of_stages_add_up(page: Path) -> None:
    """Of a run that is shown, less than a tenth and 0.1 s is outside of its stages, and nothing is counted twice."""
    stages: list[float] = []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("$ "):
            stages = []
        elif stage := STAGE.match(line):
            stages.append(float(stage[1]))
        elif (done := DONE.match(line)) and stages:
            whole, rounding = float(done[1]), 0.005 * (len(stages) + 1)
            outside = whole - sum(stages)
            assert -rounding <= outside <= 0.1 * whole + 0.1 + rounding, f"{page.name}, line {number}"
