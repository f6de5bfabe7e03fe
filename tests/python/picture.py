"""Takes a drawing out of a page of `outcore` as a picture with its own style, for the documentation.

outcore cluster edges.tsv -o communities.tsv --report page.html
python3 tests/python/picture.py page.html picture.svg

It is the first drawing of the page, such as the network of communities; a third argument names another by its title.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

DRAWING = re.compile(
    r'<svg class="wide ?(?P<name>[^"]*)" viewBox="0 0 (?P<width>\d+) (?P<height>\d+)" role="\w+" '
    r'aria-label="(?P<title>[^"]*)">(?P<inside>.*?)</svg>',
    re.S,
)
STYLE = re.compile(r"<style>(.*?)</style>", re.S)
DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{(.*?)^\}", re.S | re.M)
MEDIA = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
VARIABLE = re.compile(r"(--\w+): ([^;]+);")
#: Free space around a drawing, which in a page is that of the page.
MARGIN = 8
#: Style of the root, which in a page is that of `svg` and of the body.
ROOT = 'svg { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; background: var(--paper); }'
#: Links to cards of the page, names of cards, and a pointer to its table: a picture has neither.
OF_PAGE = re.compile(r'<a href="#[^"]*"[^>]*>|</a>| data-(?:ends|of)="[^"]*"| The table below has the figures\.')
ELEMENT = re.compile(r">(?=<(?:circle|desc|g|line|path|rect|text)\b)")


def picture(page: str, title: str | None = None) -> str | None:
    """Return the first drawing of a page, or the one with a title, as an SVG document; None if the page has none."""
    drawings = (found for found in DRAWING.finditer(page) if title in (None, html.unescape(found["title"])))
    found = next(drawings, None)
    style = STYLE.search(page)
    if found is None or style is None:
        return None
    inside = ELEMENT.sub(">\n", OF_PAGE.sub("", re.sub(r"\n\s*", "", found["inside"])))
    name = f' class="{found["name"]}"' if found["name"] else ""
    width, height = (int(found[side]) + 2 * MARGIN for side in ("width", "height"))
    size = f'viewBox="{-MARGIN} {-MARGIN} {width} {height}" width="{width}" height="{height}"'
    drawn = f'{size} role="img" aria-label="{found["title"]}">'
    rules = "\n".join(style_of(html.unescape(style[1]), f"<svg{name}>{inside}"))
    return f'<svg xmlns="http://www.w3.org/2000/svg"{name} {drawn}\n<style>\n{rules}\n</style>\n{inside}\n</svg>\n'


def style_of(style: str, drawing: str) -> list[str]:
    """Return the variables and the rules of a page's style that apply to a drawing, dark and light."""
    names = set(re.findall(r"<(\w+)", drawing))
    names |= {f".{each}" for classes in re.findall(r' class="([^"]*)"', drawing) for each in classes.split()}
    rules = [ROOT]
    for selectors, body in RULE.findall(MEDIA.sub("", style)):
        # States, such as `:hover`, need a page. The size of `svg` itself is that of the picture.
        kept = [
            each
            for each in map(str.strip, selectors.split(","))
            if re.match(r"svg[ .]", each) and ":" not in each and set(re.findall(r"\.[\w-]+|\w+", each)) <= names
        ]
        if kept:
            rules.append(f"{', '.join(kept)} {{{body}}}")
    used = set(re.findall(r"var\((--\w+)\)", "".join(rules)))

    def colors(text: str) -> str:
        return " ".join(f"{name}: {value};" for name, value in VARIABLE.findall(text) if name in used)

    light, dark = RULE.search(style), DARK.search(style)
    assert light and dark, "the page has no colors"
    return [
        f":root {{ {colors(light[2])} }}",
        f"@media (prefers-color-scheme: dark) {{ :root {{ {colors(dark[1])} }} }}",
        *rules,
    ]


def titles(page: str) -> list[str]:
    """Return the titles of all drawings of a page."""
    return [html.unescape(found["title"]) for found in DRAWING.finditer(page)]


def main() -> int:
    """Write the picture; print what there is if the page has no such drawing."""
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    page = Path(sys.argv[1]).read_text()
    made = picture(page, *sys.argv[3:])
    if made is None:
        print("error: no such drawing; there are:\n  " + "\n  ".join(titles(page)), file=sys.stderr)
        return 2
    Path(sys.argv[2]).write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
