"""A person at the page: a server, a browser, and what may never happen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from crypsis.web import GivenSource, ListeningServer
from tests.conftest import ADULT_COLUMNS, DATA
from tests.web.conftest import Caller, running

LONG = 240_000


@pytest.fixture(scope="package")
def server(census_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ListeningServer]:
    """The page with the Adult table; where that is not at hand, with invented people in its form."""
    real = DATA / "adult" / "adult.data"
    given = real if real.is_file() else census_file
    adult = GivenSource(str(given), "adult.data", {"names": list(ADULT_COLUMNS)})
    with running(given=(adult,), tables=60, folder=tmp_path_factory.mktemp("serve")) as started:
        yield started


@pytest.fixture
def caller(server: ListeningServer) -> Iterator[Caller]:
    with Caller(server) as asking:
        yield asking


@pytest.fixture
def visit(browser: Any, server: ListeningServer) -> Iterator[Callable[..., Any]]:
    """Opens the page as a person does; in the end nothing may have been complained of."""
    opened: list[Any] = []
    trouble: list[str] = []
    elsewhere: list[str] = []

    def enter(width: int = 1280, scheme: str = "light") -> Any:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, accept_downloads=True)
        opened.append(context)
        context.set_default_timeout(LONG)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        base = f"http://127.0.0.1:{server.port}/"
        page.on(
            "request",
            lambda asked: asked.url.startswith((base, "data:", "blob:")) or elsewhere.append(asked.url),
        )
        page.goto(server.address)
        page.wait_for_selector("text=Is this data safe to release?")
        assert server.token not in page.url
        return page

    yield enter
    for context in opened:
        context.close()
    # The browser tells of every refused request in its console; those are asked for here.
    asked = ("status of 4", "CONNECTION_REFUSED")
    assert [text for text in trouble if not any(part in text for part in asked)] == []
    assert elsewhere == []


def checked(page: Any) -> None:
    """No serious finding of the accessibility scan, and nothing wider than the window."""
    found = Axe().run(page)
    serious = [
        (one["id"], [node["html"][:200] for node in one["nodes"]][:3])
        for one in found.response["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= page.viewport_size["width"]
    assert page.evaluate("window.hacked") is None


def upload(page: Any, path: Path, box: str = "#file-data") -> None:
    page.set_input_files(box, str(path))


def drawn(page: Any) -> None:
    page.wait_for_selector("figure.chart:visible svg.marks")
