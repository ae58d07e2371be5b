"""The pages of the papers in the manual (`make paper-pages`), from one run of each.

Nothing in these pages is typed by hand; a test compares them with a fresh run. Figures are SVG, or
PNG where that is smaller by far (a cloud of thousands of marks).
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from papers.figures import save_figures
from papers.report import reproduction_markdown
from papers.results import Reproduction

MAX_SVG_BYTES = 100_000
"""A larger SVG is shown as PNG, so that no page of the manual loads slowly."""


def write_pages(reproductions: Sequence[Reproduction], folder: Path) -> None:
    """Write a page of Markdown for each paper into a folder, with its figures."""
    folder.mkdir(parents=True, exist_ok=True)
    for reproduction in reproductions:
        page = reproduction_markdown(reproduction, pictures=_pictures(reproduction, folder))
        (folder / f"{reproduction.paper}.md").write_text(page, encoding="utf-8")


def _pictures(reproduction: Reproduction, folder: Path) -> dict[str, str]:
    """Draw the figures of a paper; the file of each item that has one."""
    names = {}
    for previous in folder.glob(f"{reproduction.paper}_*.*"):
        previous.unlink()
    with tempfile.TemporaryDirectory() as drawings:
        drawn = {path.name: path for path in save_figures(reproduction, drawings)}
        for item in reproduction.items:
            if not item.drawable:
                continue
            stem = f"{reproduction.paper}_{item.slug}"
            svg, png = drawn[f"{stem}.svg"], drawn[f"{stem}.png"]
            picture = svg if svg.stat().st_size <= MAX_SVG_BYTES else png
            (folder / picture.name).write_bytes(picture.read_bytes())
            names[item.name] = picture.name
    return names
