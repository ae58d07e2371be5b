#!/usr/bin/env python3
"""Make docs/papers/: a page for each paper with its figures, from one run of `crypsis reproduce`.

    CRYPSIS_DATA=... .venv/bin/python tools/paper_pages.py [PAPER ...]

Nothing in these pages is typed by hand; a test holds them against a fresh run. Figures are SVG, or
PNG where that is smaller by far (a cloud of thousands of marks).
"""

import sys
import tempfile
from pathlib import Path

from crypsis import reproduce
from crypsis.reproduce.report import reproduction_markdown

PLACE = Path(__file__).resolve().parent.parent / "docs" / "papers"
LARGEST_SVG = 100_000


def main(names: list[str]) -> int:
    """Make the pages of the papers named, or of all."""
    PLACE.mkdir(exist_ok=True)
    failed = False
    for name in names or list(reproduce.PAPERS):
        found = reproduce.paper(name)
        failed |= found.differs
        pictures = _pictures(found)
        page = reproduction_markdown(found, pictures=pictures)
        (PLACE / f"{name}.md").write_text(page, encoding="utf-8")
        print(f"{name}: {len(found.values)} values, {len(pictures)} figures")
    return int(failed)


def _pictures(found: reproduce.Reproduction) -> dict[str, str]:
    """Draw the figures of a paper; for each item the file that was kept."""
    kept = {}
    for old in PLACE.glob(f"{found.paper}_*.*"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        drawn = {path.name: path for path in reproduce.save_figures(found, folder)}
        for item in found.items:
            if not item.drawable:
                continue
            stem = f"{found.paper}_{item.slug}"
            svg, png = drawn[f"{stem}.svg"], drawn[f"{stem}.png"]
            chosen = svg if svg.stat().st_size <= LARGEST_SVG else png
            (PLACE / chosen.name).write_bytes(chosen.read_bytes())
            kept[item.name] = chosen.name
    return kept


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
