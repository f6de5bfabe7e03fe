"""Writes a page of the documentation from a report of the laboratory: what one machine says of each known claim.

outcore lab all --full --compile -o full.json
python3 evals/lab/judged.py full.json docs/guides/claims-measured.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FACTS = ("processor", "threads", "virtual machine", "memory", "system", "file system", "device")
WORDS = {"holds": "holds", "differs": "differs", "cannot-tell": "cannot tell"}

HEAD = """# Claims, measured once

What one run of `outcore lab all{effort} --compile` says of the [known claims](claims.md), on one machine; yours will
differ, which is why the laboratory exists. A ratio is the time of the first way over that of the second, with the
interval that holds together with all others. `evals/lab/judged.py` made this page from the report.

"""


def three(value: float) -> str:
    """Return a number with three significant digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def row(claim: dict[str, Any]) -> str:
    ratio, (subject, object_) = claim["ratio"], claim["words"]
    here = f"{three(ratio['middle'])}x ({three(ratio['low'])} to {three(ratio['high'])})" if ratio else "not measured"
    cells = (
        f"{subject} against {object_}",
        claim["source"],
        claim["original"],
        here,
        WORDS[claim["judgement"]],
        claim["because"],
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page(report: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    known = report["environment"]
    facts = [f"- {name}: {known[name].split('-')[0]}" for name in FACTS if name in known]
    claims = report["claims"]
    counts = {word: sum(WORDS[claim["judgement"]] == word for claim in claims) for word in WORDS.values()}
    holds, differs, stay_open = counts.values()
    summary = f"Of {len(claims)} claims, {holds} hold here, {differs} differ, {stay_open} stay open."
    table = [
        "| Ways | Source | Ratio there | Ratio here | Verdict | Because |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    findings = [f"- **{each['name']}**: {each['finding']}" for each in report["experiments"]]
    parts = [*facts, "", summary, "", *table, *map(row, claims), "", "## What the experiments say", "", *findings, ""]
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
