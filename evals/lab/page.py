"""Opens pages of the laboratory and reports of jobs in a browser: wide, narrow, light, dark and on paper (bars L7, E4).

Passes if the console is empty, nothing is fetched, every chart is shown with a size, every link has a target, and the
body does not scroll sideways and clips nothing, both folded and with all parts opened. The first screen of the
laboratory shows verdicts, and its page is short while its parts are folded. In every chart, no text is small, cut,
outside or over another text; every axis has marks and a word for what it shows; charts of the laboratory have reference
lines. Writes screenshots for inspection.

Alluvial drawings, which have no axis: no label is over a block or over another label, and none leaves the drawing.

Of reports: the answer is on the first screen; no table or text has to be scrolled sideways or is cut off; convergence
is at most 600 pixels high; in the network of communities, no name is over another name or over a circle that is not its
own; circles and headings work by mouse and by keyboard. Every name on a card is found by typing it, and for any other
the page shows the command to type; a saved drawing is an SVG with colors of its own, which does not change when it is
opened alone; every community with groups inside is entered and left by keyboard and by mouse, and its drawing has the
same bars.

    outcore lab all --quick --html page.html
    outcore cluster edges.tsv -o communities.tsv --report report.html
    python3 evals/lab/page.py page.html report.html [--screenshots FOLDER]

A page with every kind of chart and with markup in names: `OUTCORE_LAB_PAGE=page.html cargo test -p outcore-lab`.

Needs `pip install playwright` and Chromium (`apt-get install chromium`, or `playwright install chromium`).
"""

from __future__ import annotations

import argparse
import itertools
import os
import shlex
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

WINDOWS = {"narrow": (390, 844), "middle": (1024, 768), "wide": (1400, 900)}
SMALLEST_TEXT = 10.0
#: Verdicts and whole cards of the laboratory that are seen without scrolling.
VERDICTS_MIN = 4
#: Windows that a page of one report fills while its parts are folded.
SCREENS_MAX = 6

# What is wider than its place: tables of figures may be, as they scroll by themselves.
FOLDED = """() => {
  const lab = document.getElementById('outcore-lab'), root = document.documentElement;
  const wide = [...document.body.querySelectorAll('*')].filter(each => {
    const box = each.getBoundingClientRect();
    if (!box.width || each.closest('svg') || each.closest('.scroll')) return false;
    const clips = getComputedStyle(each).overflowX !== 'visible' && each.scrollWidth > each.clientWidth + 1;
    return clips || box.right > root.clientWidth + 1 || box.left < -1;
  });
  const verdicts = [...document.querySelectorAll('.badge, .card')];
  const seen = verdicts.filter(each => {
    const box = each.getBoundingClientRect();
    return box.height > 0 && box.bottom <= window.innerHeight;
  });
  return {
    clipped: wide.map(each => `${each.tagName.toLowerCase()}: ${each.textContent.trim().slice(0, 60)}`),
    verdicts: lab ? [seen.length, verdicts.length] : null,
    // Those of a network are shown one at a time, when they are chosen.
    hidden: verdicts.filter(each => !each.closest('.explorer, details') && !each.getClientRects().length).length,
    screens: lab && document.querySelectorAll('.report').length === 1 ? root.scrollHeight / window.innerHeight : 0,
    overflow: root.scrollWidth - root.clientWidth,
  };
}"""
UNFOLD = "() => document.querySelectorAll('details').forEach(part => { part.open = true; })"

# Text shrinks with its chart, so the size on the screen is measured.
LOOK = """() => {
  document.querySelectorAll('details').forEach(details => details.open = true);
  // One drawing of a network is seen at a time: that of the communities, or of the groups inside one of them.
  const figures = [...document.querySelectorAll('figure')].filter(figure => {
    const levels = figure.closest('.levels');
    return !levels || figure.closest('.within') === levels.querySelector('.within:is(:target, :has(:target))');
  });
  const shown = [...document.querySelectorAll('svg')].filter(svg => svg.getBoundingClientRect().width > 0);
  const texts = shown.flatMap(svg => [...svg.querySelectorAll('text')].map(text => {
    const size = parseFloat(getComputedStyle(text).fontSize);
    return size * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  }));
  const outside = shown.flatMap(svg => [...svg.querySelectorAll('text')].filter(text => {
    const box = text.getBBox(), view = svg.viewBox.baseVal;
    return box.x < -1 || box.x + box.width > view.width + 1 || box.y < -1 || box.y + box.height > view.height + 1;
  }).map(text => text.textContent));
  const name = svg => svg.getAttribute('aria-label');
  const words = (svg, kind) => [...svg.querySelectorAll('text' + kind)];
  const over = (a, b) => Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 1
    && Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 3;
  const charts = [];
  for (const svg of shown) {
    const texts = words(svg, '').map(text => [text.textContent, text.getBBox()]);
    texts.forEach(([text], at) => {
      if (text.endsWith('…')) charts.push(`${name(svg)}: cut: ${text}`);
      for (const [other, box] of texts.slice(at + 1))
        if (over(texts[at][1], box)) charts.push(`${name(svg)}: ${text} and ${other} overlap`);
    });
    const lacks = (what, is) => is && charts.push(`${name(svg)}: ${what}`);
    if (svg.classList.contains('network')) {
      for (const text of words(svg, '')) for (const link of svg.querySelectorAll('a')) {
        const box = link.querySelector('circle').getBBox(), radius = box.width / 2, at = text.getBBox();
        const away = (middle, low, high) => middle - Math.max(low, Math.min(middle, high));
        const across = away(box.x + radius, at.x, at.x + at.width);
        const down = away(box.y + radius, at.y + 2, at.y + at.height - 2);
        lacks(`${text.textContent} is over another circle`,
          Math.hypot(across, down) < radius - 1 && link.getAttribute('href') !== '#' + text.dataset.of);
      }
      continue;
    }
    if (svg.classList.contains('alluvial')) {
      for (const side of ['.value.end', '.value:not(.end)'])
        lacks('a column without labels', words(svg, side).length === 0);
      for (const text of words(svg, '')) for (const block of svg.querySelectorAll('rect'))
        lacks(`${text.textContent} is over a block`, over(text.getBBox(), block.getBBox()));
      continue;
    }
    lacks('an axis without words', words(svg, '.axis').every(text => text.textContent.trim() === ''));
    lacks('an axis without marks', words(svg, '.tick').length < 2);
    lacks('no reference line', document.getElementById('outcore-lab') && !svg.querySelector('.level'));
  }
  return {
    faults: charts,
    figures: figures.length,
    charts: shown.filter(svg => svg.getBoundingClientRect().height > 40).length,
    smallest: Math.min(...texts),
    outside,
    lost: [...document.querySelectorAll('a')].map(link => link.getAttribute('href'))
      .filter(to => !to.startsWith('#') || !document.getElementById(to.slice(1))),
  };
}"""


# Faults of a report as it is opened, before anything is unfolded.
FIRST = """() => {
  if (!document.getElementById('outcore-report')) return [];
  const bottom = document.querySelector('.finding').getBoundingClientRect().bottom;
  return bottom > innerHeight ? [`the answer ends at ${bottom.toFixed()} pixels`] : [];
}"""

# Faults of a report with everything unfolded.
REPORT = """() => {
  if (!document.getElementById('outcore-report')) return [];
  const faults = [];
  const called = element => `${element.tagName} ${element.className} ${element.textContent.trim().slice(0, 40)}`;
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('svg, script, style') || element.getClientRects().length === 0) continue;
    const overflow = getComputedStyle(element).overflowX;
    if (overflow !== 'visible' && element.scrollWidth > element.clientWidth + 1)
      faults.push(`${called(element)}: ${element.scrollWidth - element.clientWidth} pixels are cut off`);
    if (element.getBoundingClientRect().right > innerWidth + 1) faults.push(`${called(element)}: leaves the page`);
  }
  const sweeps = document.getElementById('sweeps');
  const height = sweeps ? sweeps.getBoundingClientRect().height : 0;
  if (height > 600) faults.push(`convergence is ${height.toFixed()} pixels high`);
  return faults;
}"""


# Cards of the first network, each with its number and the names on it.
CARDS = """() => [...document.querySelectorAll('.levels')].slice(0, 1).flatMap(levels =>
  [...levels.querySelectorAll('article.card')].map(card => [card.id, card.dataset.number,
    [...card.querySelectorAll('bdi.node')].map(node => node.dataset.name ?? node.textContent)]))"""

# What elements of a drawing look like; colors as they are painted.
STYLES = """(svg, kind) => [...svg.querySelectorAll(kind)].map(each => {
  const style = getComputedStyle(each);
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const painted = value => {
    if (value === 'none') return value;
    canvas.fillStyle = value;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].join(' ');
  };
  const words = ['stroke-width', 'opacity', 'stroke-opacity', 'stroke-dasharray', 'font-size', 'text-anchor'];
  return [painted(style.fill), painted(style.stroke), ...words.map(word => style.getPropertyValue(word))].join('; ');
})"""


def choose(page) -> list[str]:
    """Return the faults of the network and of the table when they are used."""
    found: list[str] = []
    circles = page.locator("svg.network:visible a")
    count = circles.count()
    for number in sorted({0, count // 2, count - 1} if count else ()):
        circle = circles.nth(number)
        target = circle.get_attribute("href")
        if number % 2:
            circle.focus()
            page.keyboard.press("Enter")
        else:
            circle.locator("circle").click()
        card = page.locator(str(target))
        if not card.is_visible():
            found.append(f"{target} is not shown by its circle")
        if "chosen" not in (circle.get_attribute("class") or ""):
            found.append(f"the circle of {target} is not marked")
    table = page.locator("table.sortable").first
    if count and table.count():
        numbers = "rows => rows.map(row => parseFloat(row.cells[2].textContent.replaceAll(',', '')))"
        for order in (True, False):
            table.locator("th button").nth(2).click()
            seen = table.locator("tbody tr").evaluate_all(numbers)
            if seen != sorted(seen, reverse=order):
                found.append("rows are not in the order of the heading")
    return found


def find(page) -> list[str]:
    """Return the faults of the search: every name on a card leads to it, and any other name to a command."""
    found: list[str] = []
    search = page.locator(".search").first
    if not search.count():
        return found
    box = search.get_by_role("searchbox", name="Find a community or a node")
    cards = page.evaluate(CARDS)
    for card, number, names in cards[:: max(1, len(cards) // 5)]:
        for text in [number, *names[:2]]:
            if not text or text != text.strip():
                continue
            box.fill(text)
            links = search.locator("a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
            same = [each for each, other, others in cards if text == other or text in others]
            if not set(links[:8]) & {f"#{each}" for each in same}:
                found.append(f"{text!r} of {card} is not found: {links}")
        box.press("Enter")
        if page.evaluate("location.hash.slice(1)") not in [each for each, *_ in cards]:
            found.append(f"Enter does not choose what was typed for {card}")
    hidden = "it's not & <here>"
    box.fill(hidden)
    command = search.locator("code").text_content() or ""
    result = search.get_attribute("data-result") or ""
    if shlex.split(command) != ["outcore", "inspect", result, "--node", hidden]:
        found.append(f"a name that is not on the page gives {command!r}")
    if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
        found.append("the command is wider than the page")
    box.fill("")
    return found


def save(page, folder: Path | None, name: str) -> list[str]:
    """Return the faults of saved drawings: each stands alone, with its colors, and has the texts of the page."""
    found: list[str] = []
    for at, button in enumerate(page.locator("button.save:visible").all()[:3]):
        with page.expect_download() as download:
            button.click()
        path = download.value.path()
        text = path.read_text()
        root = ElementTree.fromstring(text)
        if root.tag != "{http://www.w3.org/2000/svg}svg":
            found.append(f"a saved drawing is {root.tag}")
        found += [
            f"a saved drawing has {part}" for part in ("var(", "color(", "class=", "href=", "<style") if part in text
        ]
        page.evaluate("() => document.activeElement.blur()")
        drawing = page.locator("figure:has(button.save:visible)").nth(at).locator("svg:visible")
        alone = page.context.browser.new_page()
        alone.set_content(text)
        for kind in ("text", "circle, path, rect", "line"):
            seen = drawing.evaluate(STYLES, kind)
            saved = alone.locator("svg").evaluate(STYLES, kind)
            if saved[-len(seen) :] != seen:
                found.append(f"a saved drawing shows {kind} in another way than the page")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        if alone.locator("svg > rect").first.evaluate("rect => getComputedStyle(rect).fill") != paper:
            found.append("a saved drawing has another background than the page")
        alone.close()
        if folder and at == 0:
            (folder / f"{name}.svg").write_text(text)
    return found


def enter(page) -> list[str]:
    """Return the faults of the way into communities and back, by mouse and by keyboard."""
    found: list[str] = []
    inside = page.locator(".within").evaluate_all("all => all.map(each => each.id)")
    for at, section in enumerate(inside):
        if at % max(1, len(inside) // 8):
            continue
        link = page.locator(f"a.into[href='#{section}']")
        card = link.evaluate("link => link.closest('.card').id")
        page.evaluate(f"location.hash = '{card}'")
        circle = page.locator(f"svg:visible a[href='#{card}']")
        if at % 2:
            circle.locator("circle").click()
        else:
            circle.focus()
            page.keyboard.press("Enter")
        if not page.locator(f"#{section}").is_visible() or page.locator(f"#{card}").is_visible():
            found.append(f"{section} is not shown in place of the drawing with {card}")
        if page.evaluate("document.activeElement.id") != section:
            found.append(f"{section} has not the focus")
        seen = page.evaluate(LOOK)
        found += [f"{section}: {fault}" for fault in seen["faults"]]
        found += [f"{section}: text leaves its drawing: {text!r}" for text in seen["outside"]]
        if seen["charts"] != seen["figures"] or seen["smallest"] < SMALLEST_TEXT:
            found.append(
                f"{section}: {seen['charts']} of {seen['figures']} charts, text of {seen['smallest']:.1f} pixels"
            )
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            found.append(f"{section}: the page is too wide")
        # The first stop is the way back.
        page.keyboard.press("Tab")
        if not page.evaluate("!!document.activeElement.closest('.trail')"):
            found.append(f"{section}: the way back is not the first that the keyboard reaches")
        if at % 2:
            page.locator(f"#{section} .trail a").last.click()
        else:
            page.keyboard.press("Escape")
        if not page.locator(f"#{card}").is_visible() or page.locator(f"#{section}").is_visible():
            found.append(f"{section} does not lead back to {card}")
        if page.evaluate("document.activeElement.getAttribute('href')") != f"#{card}":
            found.append(f"back from {section}, the circle of {card} has not the focus")
    return found


def is_remote(url: str) -> bool:
    return url[:5] not in ("file:", "data:")


def faults(browser, page_path: Path, name: str, scheme: str, folder: Path | None) -> list[str]:
    """Return the faults of a page at one width and in one color scheme."""
    found: list[str] = []
    width, height = WINDOWS[name]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=2)
    page.on("console", lambda message: found.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: found.append(f"error: {error}"))
    page.on("request", lambda request: found.extend([f"fetched: {request.url}"] * is_remote(request.url)))
    page.goto(page_path.resolve().as_uri())
    found += page.evaluate(FIRST)
    shots = f"{page_path.stem}-{name}-{scheme}"
    if folder:
        page.screenshot(path=folder / f"{shots}-first.png")
        page.screenshot(path=folder / f"{shots}-folded.png", full_page=True)
    for state in ("folded", "open"):
        folded = page.evaluate(FOLDED)
        if folded["overflow"] > 0:
            found.append(f"{state}: the body is {folded['overflow']} pixels too wide")
        found += [f"{state}: clipped: {each}" for each in folded["clipped"]]
        if folded["hidden"] > 0:
            found.append(f"{state}: {folded['hidden']} cards or verdicts are not shown")
        if state == "folded" and folded["verdicts"] is not None:
            shown, count = folded["verdicts"]
            # A page of one experiment has few: all of them are seen.
            if shown < min(VERDICTS_MIN, max(count, 1)):
                found.append(f"the first screen shows {shown} of {count} verdicts")
        if state == "folded" and folded["screens"] > SCREENS_MAX:
            found.append(f"the folded page fills {folded['screens']:.1f} screens")
        page.evaluate(UNFOLD)
    seen = page.evaluate(LOOK)
    found += page.evaluate(REPORT)
    if seen["charts"] == 0 or seen["charts"] != seen["figures"]:
        found.append(f"{seen['charts']} of {seen['figures']} charts are shown")
    if seen["charts"] and seen["smallest"] < SMALLEST_TEXT:
        found.append(f"text of {seen['smallest']:.1f} pixels in a chart")
    found += seen["faults"]
    found += [f"text leaves its chart: {text!r}" for text in seen["outside"]]
    found += [f"a link has no target: {link!r}" for link in seen["lost"]]
    if folder and (name, scheme) == ("wide", "light"):
        page.pdf(path=folder / f"{page_path.stem}.pdf", format="A4", print_background=True)
    found += choose(page)
    found += find(page)
    page.evaluate("location.hash = ''")
    found += save(page, folder, shots)
    found += enter(page)
    page.close()
    of = f"{page_path.name}, {name} {scheme}"
    print(f"{of}: {seen['charts']} charts, smallest text {seen['smallest'] or 0:.1f} px, {len(found)} faults")
    return [f"{of}: {fault}" for fault in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", type=Path, nargs="+", help="pages written by `--html` of the lab or by `--report`")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER", help="folder for screenshots and a PDF")
    arguments = parser.parse_args()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("error: playwright is missing: `pip install playwright`", file=sys.stderr)
        return 2
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    found: list[str] = []
    with sync_playwright() as playwright:
        # Containers often run as root, where Chromium has no sandbox; the page is a local file.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for page_path, name, scheme in itertools.product(arguments.pages, WINDOWS, ("light", "dark")):
            found += faults(browser, page_path, name, scheme, arguments.screenshots)
        browser.close()
    for fault in found:
        print(f"FAULT {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
