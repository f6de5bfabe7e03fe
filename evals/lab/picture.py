"""Extracts a chart from a page of the laboratory as an SVG file with its own style, for the documentation.

outcore lab transfer-size --quick --html page.html
python3 evals/lab/picture.py page.html "Rate in MB/s, by transfer size in bytes and method" chart.svg
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

SVG = re.compile(
    r'<svg class="wide" viewBox="(?P<box>[^"]*)" role="img" aria-label="(?P<title>[^"]*)">(?P<inside>.*?)</svg>', re.S
)
STYLE = re.compile(r"<style>(.*?)</style>", re.S)
RULE = re.compile(r"(?m)^(?:svg [^\n{]*\{[^\n]*|:root \{.*?^\}|@media \(prefers-color-scheme: dark\) \{.*?^\})", re.S)
#: Style of the root, which in a page is that of `svg` and of the body.
ROOT = 'svg { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; background: var(--paper); }'


def picture(page: str, title: str) -> str | None:
    """Return the wide chart with a title as a document; None if the page has none."""
    chart = next((found for found in SVG.finditer(page) if html.unescape(found["title"]) == title), None)
    style = STYLE.search(page)
    if chart is None or style is None:
        return None
    rules = [ROOT, *RULE.findall(html.unescape(style[1]))]
    inside = re.sub(r"\n\s*", "", chart["inside"])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{chart["box"]}">\n'
        f"<style>\n{chr(10).join(rules)}\n</style>\n{inside}\n</svg>\n"
    )


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    page, title, target = Path(sys.argv[1]).read_text(), sys.argv[2], Path(sys.argv[3])
    made = picture(page, title)
    if made is None:
        titles = sorted({html.unescape(found["title"]) for found in SVG.finditer(page)})
        print("error: no such chart; there are:\n  " + "\n  ".join(titles), file=sys.stderr)
        return 2
    target.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
