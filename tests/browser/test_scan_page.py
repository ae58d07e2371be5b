"""The scan page in a real browser: no error, no request, nothing injected, nothing too wide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.report.html import scan_page


@pytest.fixture
def page_file(tmp_path: Path) -> Path:
    table = pa.table(
        {
            "<script>window.hacked=1</script>": ["a", "b", "a"],
            "x" * 400: [1, 2, 3],
            "a\u202eb<img src=x onerror='window.hacked=1'>": [1, 1, 2],
        }
    )
    path = tmp_path / "scan.html"
    path.write_text(scan_page(cr.scan(table), "<b>people</b>.csv"), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1280, 390])
def test_the_scan_page(browser: Any, page_file: Path, width: int, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    trouble: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(page_file.as_uri())
    assert trouble == []
    assert requests == [page_file.as_uri()]
    assert page.evaluate("window.hacked") is None
    assert page.inner_text("h1") == "<b>people</b>.csv"
    assert "<script>window.hacked=1</script>" in page.inner_text("body")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
