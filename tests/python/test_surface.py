"""Python has the options of the command, with their names, defaults and values; stubs and types are right."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
import typing
from pathlib import Path

import outcore
import pytest
from outcore import _outcore

ROOT = Path(__file__).resolve().parents[2]
#: Options of the command that have another form in Python: results are objects, progress is a keyword, and Spark has a
#: function of its own.
ELSEWHERE = {
    "cluster": {
        "inputs",
        "report",
        "levels",
        "rows",
        "member-weights",
        "engine",
        "master",
        "task-rows",
        "parts",
        "spark-conf",
        "quiet",
        "verbose",
        "progress",
        "color",
    },
    "build": {"edges", "report", "quiet", "verbose", "progress", "color"},
    "plan": {
        # `outcore.spark.plan` is a function of its own.
        "spark",
        "inputs",
        "json",
        "build",
        "levels",
        "edges",
        "name-bytes",
        "weighted",
        "quiet",
        "verbose",
        "progress",
        "color",
    },
    "score": {"graph", "communities", "json", "quiet", "verbose", "progress", "color"},
    "export": {"graph", "communities", "quiet", "verbose", "progress", "color"},
    # More than two results are compared by a loop.
    "compare": {"a", "b", "more", "json", "quiet", "verbose", "progress", "color"},
}
#: Keywords that are not options of the command, or that have other values: levels are columns, or not wanted.
OWN = {"edges", "graph", "communities", "a", "b", "progress", "levels"}


def options(command: str) -> dict[str, dict[str, typing.Any]]:
    found = {option["name"]: option for option in json.loads(_outcore.options(command))}
    assert found
    return found


@pytest.mark.parametrize("command", ["cluster", "build", "score", "export", "compare"])
def test_every_option_is_a_keyword(command: str) -> None:
    function = getattr(outcore, command)
    keywords = inspect.signature(function).parameters
    of_command = {name.replace("-", "_") for name in options(command) if name not in ELSEWHERE[command]}
    assert set(keywords) - OWN == of_command


@pytest.mark.parametrize("command", ["cluster", "build", "plan", "score", "export", "compare"])
def test_keywords_have_the_defaults_and_values_of_options(command: str) -> None:
    function = getattr(outcore, command)
    hints = typing.get_type_hints(function)
    known = options(command)
    for name, keyword in inspect.signature(function).parameters.items():
        option = known.get(name.replace("_", "-"))
        if option is None or name in OWN:
            assert name in OWN, name
            continue
        if keyword.default is inspect.Parameter.empty or keyword.default is None:
            continue
        if keyword.default is False:
            assert not option["takes_value"]
            continue
        default = option["default"]
        assert str(keyword.default).removesuffix(".0") == default, name
        values = typing.get_args(hints[name])
        if option["values"] and isinstance(keyword.default, str):
            assert list(values) == option["values"], name


def test_overloads_have_the_keywords_and_types_of_the_function() -> None:
    from outcore._options import ClusterOptions

    several = {"edges", *outcore._api.SEVERAL}
    hints = typing.get_type_hints(outcore.cluster)
    keywords = {name: hints[name] for name in inspect.signature(outcore.cluster).parameters if name not in several}
    assert typing.get_type_hints(ClusterOptions) == keywords
    overloads = typing.get_overloads(outcore.cluster) if sys.version_info >= (3, 11) else []
    assert all(several <= set(inspect.signature(one).parameters) for one in overloads)


def test_the_stub_matches_the_module() -> None:
    tree = ast.parse((ROOT / "python/outcore/_outcore.pyi").read_text())
    stub = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    real = {name: value for name, value in vars(_outcore).items() if not name.startswith("__")}
    assert set(stub) == set(real)
    for name, value in real.items():
        node = stub[name]
        if isinstance(node, ast.FunctionDef):
            assert [argument.arg for argument in node.args.args] == list(inspect.signature(value).parameters)
            continue
        methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        public = {method for method in vars(value) if not method.startswith("__")}
        assert {method for method in methods if not method.startswith("__")} == public, name
        assert all(hasattr(value, method) for method in methods), name


def test_types_and_style() -> None:
    for command in (
        ["mypy"],
        ["ruff", "check", "python", "tests/python"],
        ["ruff", "format", "--check", "python", "tests/python"],
    ):
        done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    import doctest
    import importlib

    monkeypatch.chdir(ROOT)
    tried = 0
    for module in (
        "outcore",
        "outcore._api",
        "outcore._communities",
        "outcore._estimator",
        "outcore._graph",
        "outcore.errors",
        "outcore.tl",
    ):
        result = doctest.testmod(importlib.import_module(module))
        assert result.failed == 0, module
        tried += result.attempted
    assert tried > 10


def test_the_example_of_the_readme_runs(monkeypatch: pytest.MonkeyPatch, own_directory: Path) -> None:
    text = (ROOT / "README.md").read_text()
    example = text.split("```python\n")[1].split("```")[0]
    (own_directory / "tests").symlink_to(ROOT / "tests")
    exec(compile(example, "README.md", "exec"), {})
