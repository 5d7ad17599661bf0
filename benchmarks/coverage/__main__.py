"""Write the table of docs/coverage.md from the JSON of `python -m benchmarks run coverage --json FILE`."""

import json
import sys
from pathlib import Path
from typing import Any

START, END = "<!-- coverage: begin -->\n", "<!-- coverage: end -->\n"


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as a table in Markdown."""
    lines = [
        "| setting | respondents | covered | worst | samples | width against Wald's | infinite ends |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        width = "" if row["width"] is None else f"{row['width']:.2f}, at most {row['widest']:.2f}"
        infinite = f"{100 * row['infinite']:.0f} %" if row["infinite"] else ""
        runs = row["runs"] if isinstance(row["runs"], str) else f"{row['runs']:,}"
        shares = f"{100 * row['covered']:.1f} % | {100 * row['worst']:.1f} %"
        size = "" if row["respondents"] is None else f"{row['respondents']:,}"
        lines.append(f"| {row['name']} | {size} | {shares} | {runs} | {width} | {infinite} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Replace the table in the documentation by one of the rows in a file."""
    rows = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["rows"]
    page = Path(__file__).parents[2] / "docs/coverage.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{START}{table(rows)}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
