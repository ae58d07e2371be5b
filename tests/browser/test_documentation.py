"""The built site: no warning, no broken link, no request that leaves the machine, readable."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.conftest import ROOT

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("documentation")]  # it is built once


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as `make docs` builds it."""
    pytest.importorskip("furo", reason="the documentation's own parts are not installed")
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"),
            *("-d", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html")),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ended.returncode == 0, ended.stderr
    return folder / "html"


class _Page(HTMLParser):
    """The links, the anchors and what is loaded of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in given}
        self.anchors |= {attributes[name] for name in ("id", "name") if name in attributes}
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if tag in ("script", "img", "iframe", "source") and "src" in attributes:
            self.loaded.append(attributes["src"])
        if tag == "link" and attributes.get("rel") != "canonical":
            self.loaded.append(attributes.get("href", ""))


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    found = {path.resolve(): _Page(path) for path in site.rglob("*.html")}
    assert len(found) > 40
    return found


def test_no_link_is_broken(pages: dict[Path, _Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                broken.append(f"{path.name} -> {link}")
                continue
            anchors = pages[target].anchors if target in pages else set()
            if parts.fragment and anchors and unquote(parts.fragment) not in anchors:
                broken.append(f"{path.name} -> {link}")
    assert not broken, broken


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, _Page]) -> None:
    outside = [
        f"{path.name}: {source}"
        for path, page in pages.items()
        for source in page.loaded
        if urlsplit(source).scheme or urlsplit(source).netloc
    ]
    assert not outside, outside


@pytest.fixture
def window(browser: Any) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield page
    page.close()


@pytest.mark.parametrize("name", ["index", "singling_out", "pseudonyms", "reference/command"])
def test_pages_show_offline_at_both_widths(window: Any, site: Path, name: str) -> None:
    asked: list[str] = []
    wrong: list[str] = []
    window.on("request", lambda request: asked.append(request.url))
    window.on("pageerror", lambda error: wrong.append(str(error)))
    window.goto((site / f"{name}.html").as_uri())
    for width in (1280, 390):
        window.set_viewport_size({"width": width, "height": 800})
        wide = window.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{name} is {wide} wide on a screen of {width}"
    assert not wrong
    assert all(url.startswith(("file:", "data:")) for url in asked), asked


def test_formulas_and_pictures_are_drawn(window: Any, site: Path) -> None:
    window.goto((site / "singling_out.html").as_uri())
    assert window.locator("math").count() > 10
    assert window.locator("math mfrac").first.bounding_box()["height"] > 15
    assert window.locator("math").first.text_content() == "n"
    box = window.locator("svg.picture").bounding_box()
    assert box["width"] > 400
    assert box["height"] > 100
