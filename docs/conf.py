"""Configuration of Sphinx for the site: `make docs`.

The pages are Markdown that also reads well where the repository is hosted: links are relative paths, also out of this
directory. The help of the command is printed by the command, and the reference of Python comes from docstrings.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import outcore
from docutils import nodes
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
    """Output of `outcore COMMAND --help`."""

    required_arguments = 0
    optional_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Run the command of the package."""
        call = "import outcore._command as command; command.main()"
        argv = [sys.executable, "-c", call, *self.arguments, "--help"]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=DOCS)
        text = "\n".join(line.rstrip() for line in done.stdout.splitlines())
        return [nodes.literal_block(text, text, language="text")]


def setup(app: Sphinx) -> None:
    """Register the hook and the directive."""
    app.connect("source-read", take_from_repository)
    app.add_directive("outcore-help", Help)
