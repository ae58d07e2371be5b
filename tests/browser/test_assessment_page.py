"""The report in a real browser: no error, no request, nothing injected, nothing too wide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr

SCRIPT = "<script>window.hacked=1</script>"
TURNED = "a\u202eb\u200b<img src=x onerror='window.hacked=1'>"
LONG = "x" * 400
VALUE = "<b onmouseover='window.hacked=1'>secret-value</b>"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(1)
    released = pa.table(
        {
            SCRIPT: rng.integers(0, 40, 500),
            LONG: rng.integers(0, 30, 500),
            TURNED: pa.array([VALUE, "</script>", "none"]).take(pa.array(rng.integers(0, 3, 500))),
            "income": rng.normal(size=500),
        }
    )
    belief = cr.pseudonyms.Belief(
        [[1, 1, 0], [1, 1, 1], [0, 1, 1]], truth=[0, 1, 2], items=[VALUE, "b", "c"]
    )
    found = cr.assess(
        released,
        released,
        belief,
        quasi_identifiers=[SCRIPT, LONG],
        sensitive=[TURNED, "income"],
        population=10_000,
        name="<b>people</b>.csv",
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(found.to_html(), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1280, 390])
def test_the_report(browser: Any, page_file: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    trouble: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(page_file.as_uri())
    charts = page.locator("figure.chart").count()
    assert charts >= 7
    page.wait_for_function(
        "document.querySelectorAll('figure.chart.drawn').length == "
        "document.querySelectorAll('figure.chart').length",
        timeout=30_000,
    )
    assert trouble == []
    # The pictures are in the page itself; nothing is fetched.
    assert [url for url in requests if not url.startswith("data:")] == [page_file.as_uri()]
    assert page.evaluate("window.hacked") is None
    assert page.inner_text("h1") == "<b>people</b>.csv"
    assert SCRIPT in page.inner_text("body")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("figure.chart svg").count() == charts
    first = page.locator("figure.chart svg").first.bounding_box()
    assert first["width"] <= width
    page.close()


def test_what_is_in_the_page(page_file: Path) -> None:
    whole = page_file.read_text(encoding="utf-8")
    assert len(whole.encode()) < 3_000_000
    text = whole[: whole.index('<script type="module">')]
    assert "secret-value" not in text
    assert "window.hacked" not in text.replace("&lt;script&gt;window.hacked", "").replace(
        "onerror=&#39;window.hacked", ""
    ).replace("\\u003cscript>window.hacked", "").replace("onerror='window.hacked", "")
    assert "\u202e" not in text
    assert text.count("alt=") == text.count("<img src=")
    assert 'alt=""' not in text


def test_print_and_without_script(browser: Any, page_file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    shown = page.locator("figure.chart img")
    assert shown.count() >= 7
    assert all(one.is_visible() for one in shown.all())
    context.close()
    page = browser.new_page()
    page.goto(page_file.as_uri())
    page.wait_for_selector("figure.chart.drawn")
    page.emulate_media(media="print")
    assert page.locator("figure.chart img").first.is_visible()
    assert len(page.pdf()) > 10_000
    page.close()


def test_in_a_notebook() -> None:
    found = cr.assess(pa.table({SCRIPT: [1, 2, 3]}), quasi_identifiers=[SCRIPT])
    shown = found._repr_html_()
    assert "Not safe to release" in shown
    assert "<script>" not in shown
