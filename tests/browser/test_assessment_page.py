"""The dossier in a real browser: no request, nothing injected, nothing too wide, clean for axe."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from axe_playwright_python.sync_playwright import Axe

import crypsis as cr
from crypsis.assessment import make_dossier

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
    belief = cr.pseudonyms.Belief([[1, 1, 0], [1, 1, 1], [0, 1, 1]], truth=[0, 1, 2], items=[VALUE, "b", "c"])
    found = cr.assess(
        released,
        released,
        belief,
        quasi_identifiers=[SCRIPT, LONG],
        sensitive=[TURNED, "income"],
        population=10_000,
        name="<b>people</b>.csv",
        person="each record",
    )
    told = make_dossier(
        found,
        released,
        released,
        title=f'{SCRIPT} </style> "}} {LONG}',
        purpose=SCRIPT,
        conditions=[SCRIPT],
        examples=False,
    )
    path = tmp_path_factory.mktemp("report") / "dossier.html"
    return told.write(path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_dossier(browser: Any, page_file: Path, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    trouble: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(page_file.as_uri())
    assert trouble == []
    assert requests == [page_file.as_uri()]
    assert page.evaluate("window.hacked") is None
    assert page.inner_text("h1").startswith("<script>window.hacked=1")
    assert SCRIPT in page.inner_text("body")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("figure .bar").count() >= 8
    small = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => e.textContent.trim() && "
        "parseFloat(getComputedStyle(e).fontSize) < 12).length"
    )
    assert small == 0
    page.close()


def test_axe_finds_nothing(browser: Any, page_file: Path) -> None:
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 900})
        page.goto(page_file.as_uri())
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        page.close()


def test_what_is_in_the_page(page_file: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    assert len(text.encode()) < 200_000
    assert "<script" not in text
    assert "secret-value" not in text
    assert "\u202e" not in text
    assert text.count("</style>") == 1
    # Measures, questions and parameters have words, not the names that programs use.
    words = re.sub(r"<pre>.*?</pre>", "", text, flags=re.DOTALL)  # calls of Python
    assert not re.search(r"(singling_out|inference|linkage|pseudonyms)\.[a-z_]+", words)
    assert "accept_guesses" not in text


def test_it_prints_with_page_numbers(browser: Any, page_file: Path) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(page_file.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    printed = page.pdf(prefer_css_page_size=True)
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 3 <= pages <= 14
    page.close()


def test_in_a_notebook() -> None:
    found = cr.assess(pa.table({SCRIPT: [1, 2, 3]}), quasi_identifiers=[SCRIPT], person="each record")
    shown = found._repr_html_()
    assert "Not safe to release" in shown
    assert "<script>" not in shown
