"""The picture of the dossier in the README; `make picture` takes it again."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import crypsis as cr
from crypsis.demo import write_demo

WIDTH, HEIGHT = 1000, 760
ROLES: dict[str, Any] = {
    "quasi_identifiers": ["birth_date", "zip", "sex", "occupation"],
    "sensitive": ["income", "disease"],
    "person": "each record",
}


def report(folder: Path) -> Path:
    """The report on the sample of `crypsis demo`, with decided roles."""
    files = write_demo(folder, rows=5_000)
    found = cr.assess(
        cr.read(files.masked, **ROLES),
        cr.read(files.original),
        cr.pseudonyms.load_attack(files.attack),
        name="released.csv",
    )
    page = folder / "report.html"
    page.write_text(found.to_html(), encoding="utf-8")
    return page


def main(target: Path) -> None:
    """Make the report and take its picture."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = report(Path(folder))
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        window = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        window.goto(page.as_uri())
        target.parent.mkdir(parents=True, exist_ok=True)
        window.screenshot(path=str(target))
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
