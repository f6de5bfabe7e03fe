"""Writes a page of the documentation from a report of the laboratory: what one machine says of each known claim.

outcore lab all --full --compile -o full.json
python3 evals/lab/judged.py full.json docs/guides/claims-measured.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FACTS = ("processor", "threads", "virtual machine", "memory", "system", "file system", "device")
WORDS = {"holds": "holds", "differs": "differs", "cannot-tell": "cannot tell", "not-measured": "not measured"}

HEAD = """# Claims, measured once

What to use, and what is true of the [known claims](claims.md), by one run of `outcore lab all{effort} --compile` on one
machine; yours will differ, which is why the laboratory exists. A ratio is the time of the first way over that of the
second, with the interval that holds together with all others. `evals/lab/judged.py` made this page from the report.

"""


def three(value: float) -> str:
    """Return a number with three significant digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def row(claim: dict[str, Any]) -> str:
    subject, object_ = claim["words"]
    cells = (
        WORDS[claim["judgement"]],
        f"{subject} against {object_}",
        interval(claim["ratio"]),
        claim["original"],
        claim["source"],
        claim["because"],
    )
    return line(cells)


def line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def interval(ratio: dict[str, float] | None) -> str:
    return f"{three(ratio['middle'])}x ({three(ratio['low'])} to {three(ratio['high'])})" if ratio else "-"


def answer(task: str, advice: dict[str, Any]) -> str:
    times = interval(advice["times"]) if advice["times"] else "nothing faster was found"
    sure = "sure" if advice["is_sure"] else "unsure"
    return line((f"{task}, {advice['when']}", f"`{advice['way']}`", times, f"`{advice['naive']}`", sure))


def page(report: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    known = report["environment"]
    facts = [f"- {name}: {known[name].split('-')[0]}" for name in FACTS if name in known]
    claims = report["claims"]
    counts = {word: sum(WORDS[claim["judgement"]] == word for claim in claims) for word in WORDS.values()}
    summary = (
        f"Of {len(claims)} claims: " + ", ".join(f"{count} {word}" for word, count in counts.items() if count) + "."
    )
    uses = ["| Task | Use | Times as fast | As | |", "| --- | --- | --- | --- | --- |"]
    uses += [answer(each["task"], advice) for each in report["answers"] for advice in each["advice"]]
    table = [
        "| Verdict | Ways | Ratio here | Ratio there | Source | Because |",
        "| --- | --- | --- | --- | --- | --- |",
        *map(row, claims),
    ]
    findings = [f"- **{each['name']}**: {each['finding']}" for each in report["experiments"] if each["finding"]]
    parts = [*facts, "", "## What to use", "", *uses, "", "## Known claims", "", summary, "", *table, ""]
    parts += ["## What else the experiments say", "", *findings, ""]
    return HEAD.format(effort={"default": ""}.get(report["effort"], f" --{report['effort']}")) + "\n".join(parts)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    report = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(page(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
