"""Configuration of Sphinx for the site: `make docs`.

The pages are Markdown that also reads well where the repository is hosted: links are relative paths, also out of this
directory. The help of the command is printed by the command, and the reference of Python comes from docstrings.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import outcore
from docutils import nodes
from outcore import _outcore
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent

project = "outcore"
author = "The outcore developers"
version = release = outcore.__version__
html_title = f"outcore {release}"
html_theme = "furo"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["page.css"]
html_js_files = [("copy.js", {"defer": "defer"})]
html_show_copyright = False
exclude_patterns = ["_build"]
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
highlight_language = "text"
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88
numpydoc_show_class_members = False
nitpicky = True

#: Pages whose text is a file outside this directory.
ELSEWHERE = {
    "project/architecture": ROOT / "ARCHITECTURE.md",
    "project/changelog": ROOT / "CHANGELOG.md",
    "project/contributing": ROOT / "CONTRIBUTING.md",
    "project/evals": ROOT / "evals/README.md",
    "project/graphs": ROOT / "tests/graphs/README.md",
}
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def take_from_repository(app: Sphinx, name: str, source: list[str]) -> None:
    """Replace a page by the text of its file elsewhere, and adapt links that leave this directory."""
    path = ELSEWHERE.get(name, DOCS / f"{name}.md")
    text = source[0] if path.is_relative_to(DOCS) else path.read_text()
    page = DOCS / name

    def adapt(link: re.Match[str]) -> str:
        target = (path.parent / link[1]).resolve()
        return f"]({os.path.relpath(place_of(target), page.parent)}{link[2] or ''})"

    source[0] = LINK.sub(adapt, text)


def place_of(target: Path) -> Path:
    """Return the page of a file of the repository, or the file; directories of `evals` lead to the page of evals."""
    for name, path in ELSEWHERE.items():
        if target == path:
            return DOCS / f"{name}.md"
    if target.is_dir() and target.is_relative_to(ROOT / "evals"):
        return DOCS / "project/evals.md"
    return target


class Help(SphinxDirective):
    """What `outcore COMMAND --help` prints, with an anchor for each option."""

    required_arguments = 0
    optional_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Run the command of the package, and format its help as Markdown."""
        command = " ".join(self.arguments)
        call = "import outcore._command as command; command.main()"
        argv = [sys.executable, "-c", call, *self.arguments, "--help"]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=DOCS)
        return self.parse_text_to_nodes("\n".join(page_of(command, done.stdout)))


#: Options of all commands, which the page of `outcore` itself describes.
COMMON = "Message options"
#: Text in backticks, and everything else.
CODE = re.compile(r"(`[^`]*`)")


def page_of(command: str, text: str) -> Iterator[str]:
    """Yield lines of Markdown: description, usage, commands, options by heading, examples."""
    about, _, rest = text.partition("\n\nUsage: ")
    usage, _, rest = rest.partition("\n\n")
    yield from [escaped(" ".join(about.split())) + ".", "", "```text", usage, "```", ""]
    listed = re.search(r"^(?:Commands|Models|Experiments):\n(?:(?: .*)?\n)+", rest, flags=re.M)
    if listed:
        yield from ["```text", listed[0].rstrip(), "```", ""]
    yield from [f"```{{program}} outcore {command}".rstrip(), "```", ""]
    is_root = not command
    headings: dict[str, list[dict[str, Any]]] = {}
    for option in json.loads(_outcore.options(command)):
        heading = option["heading"] or ("Options" if option["typed"].startswith("-") else "Arguments")
        if is_root or heading != COMMON:
            headings.setdefault(heading, []).append(option)
    for heading, options in headings.items():
        yield from [f"```{{rubric}} {heading}", "```", ""]
        for option in options:
            yield from definition(option)
    if not is_root:
        yield from ["The {doc}`message options </reference/command>` apply as well.", ""]
    examples = rest.partition("\nExamples:\n")[2]
    if examples:
        yield from ["```{rubric} Examples", "```", "", "```sh", *dedented(examples.split("\n\n")[0]), "```"]


def definition(option: dict[str, Any]) -> Iterator[str]:
    """Yield the definition of an option, which has an anchor of its own."""
    yield from [f"````{{option}} {option['typed']}", "", escaped(option["help"])]
    values = ", ".join(f"`{value}`" for value in option["values"])
    if values:
        yield from ["", f"One of {values}."]
    if option["default"] is not None and option["takes_value"]:
        yield from ["", f"Default: `{option['default']}`."]
    yield from ["````", ""]


def escaped(text: str) -> str:
    """Return plain text as Markdown, in which only backticks have a meaning."""
    parts = CODE.split(text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]{}$])", r"\\\1", part) for part in parts)


def dedented(text: str) -> list[str]:
    """Return lines without their common margin."""
    return textwrap.dedent(text.rstrip()).splitlines()


def setup(app: Sphinx) -> None:
    """Register the hook and the directive."""
    app.connect("source-read", take_from_repository)
    app.add_directive("outcore-help", Help)
