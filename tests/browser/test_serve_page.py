"""The page in a real browser, from a file to a release: what is shown, and that nothing breaks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from axe_playwright_python.sync_playwright import Axe

from crypsis.demo import people, write_demo
from crypsis.web import GivenSource, ListeningServer
from tests.conftest import ADULT_COLUMNS
from tests.web.conftest import running

SCRIPT = "<script>window.hacked=1</script>"
IMAGE = "<img src=x onerror='window.hacked=1'>"
LONG = 90_000


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder, rows=600)
    return folder


@pytest.fixture(scope="module")
def server(
    files: Path, data_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ListeningServer]:
    adult = GivenSource(
        str(data_folder / "adult" / "adult.data"), "adult.data", {"names": list(ADULT_COLUMNS)}
    )
    with running(given=(adult,), tables=40, folder=tmp_path_factory.mktemp("serve")) as started:
        yield started


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
            lambda asked: (
                asked.url.startswith((base, "data:", "blob:")) or elsewhere.append(asked.url)
            ),
        )
        page.goto(server.address)
        page.wait_for_selector("text=Is this data safe to release?")
        assert server.token not in page.url
        return page

    yield enter
    for context in opened:
        context.close()
    # The browser tells of every refused upload in its console; those are asked for here.
    assert [text for text in trouble if "status of 4" not in text] == []
    assert elsewhere == []


def _checked(page: Any) -> None:
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


def _upload(page: Any, path: Path, box: str = "#file-data") -> None:
    page.set_input_files(box, str(path))


def _drawn(page: Any) -> None:
    page.wait_for_selector("figure.chart:visible svg.marks")


def test_the_whole_way(visit: Callable[..., Any], files: Path, tmp_path: Path) -> None:
    page = visit()
    _checked(page)
    table = people(600)
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(table, path)
    _upload(page, path)
    page.wait_for_selector(".columns")
    assert "8 of 8 columns are undecided" in page.inner_text("#guesses")
    _checked(page)
    occupation = page.locator("fieldset[data-column=occupation]")
    occupation.locator("input[value=excluded]").check(force=True)
    page.wait_for_selector("#guesses:has-text('7 of 8')")
    assert "decided" in occupation.locator("xpath=..").inner_text()
    page.locator("fieldset[data-column=income] input[value=excluded]").check(force=True)
    page.wait_for_selector("#guesses:has-text('6 of 8')")
    page.click("[data-assess-now]")
    page.wait_for_selector(".verdict")
    assert page.inner_text(".verdict > strong") == "Not safe to release"
    _drawn(page)
    _checked(page)
    # What is behind a finding: columns, groups, and on request the values.
    page.locator("details.finding.exceeded:visible summary").first.click()
    page.wait_for_selector("[data-causes] .bar-table")
    page.click("[data-reveal]")
    page.wait_for_selector("text=These are values of your data")
    _checked(page)
    # Tabs without a mouse.
    page.focus("#tab-singling_out")
    page.keyboard.press("ArrowRight")
    assert page.locator("#panel-inference").is_visible()
    assert not page.locator("#panel-singling_out").is_visible()
    _drawn(page)
    page.click("a.button.main")
    page.wait_for_selector("#what-if .big")
    page.wait_for_selector("#curve svg.marks")
    page.wait_for_selector("#plan table")
    assert page.input_value("[name=excess]") == "0.2"
    before = page.inner_text("#what-if .big")
    page.locator("#along").focus()
    page.keyboard.press("End")
    page.wait_for_selector("#what-if .big:text-is('0 %')")
    assert before == "100 %"
    _checked(page)
    page.click("#protect button:text-is('Anonymize')")
    page.wait_for_selector(".pairs")
    assert page.inner_text(".verdict > strong") == "Safe to release under this policy"
    _drawn(page)
    _checked(page)
    for name in ("release.csv", "release.csv.statement.md", "plan.toml", "report-after.html"):
        with page.expect_download() as coming:
            page.click(f"a:text-is('{name}')")
        saved = tmp_path / name
        coming.value.save_as(saved)
        assert saved.stat().st_size > 100
    released = pyarrow.csv.read_csv(tmp_path / "release.csv")
    assert "ssn" not in released.column_names
    assert page.is_disabled("[data-key]")
    page.check("#key-confirm")
    with page.expect_download() as coming:
        page.click("[data-key]")
    coming.value.save_as(tmp_path / "key.json")
    assert json.loads((tmp_path / "key.json").read_text())["format"] == "crypsis key 1"
    page.click("[data-close]")
    page.wait_for_selector("text=Is this data safe to release?")


def test_adult_and_cancelling_on_a_narrow_dark_screen(visit: Callable[..., Any]) -> None:
    page = visit(390, "dark")
    _checked(page)
    page.click("[data-open-given='0']")
    page.wait_for_selector(".columns")
    assert "32,561 rows" in page.inner_text("main")
    _checked(page)
    page.click("[data-assess-now]")
    page.wait_for_selector(".progress progress")
    page.click(".progress [data-cancel]")
    page.wait_for_selector(".progress", state="detached")
    page.goto(page.url.replace("/columns", "/verdict"))
    page.wait_for_selector("form[data-assess] button", state="attached")
    page.goto(page.url.replace("/verdict", "/protect"))
    page.wait_for_selector("#what-if .big")
    page.wait_for_selector("#curve svg.marks")
    _checked(page)
    page.check("input[value=population]")
    page.wait_for_selector("#what-if:has-text('Values that each column may keep')")
    page.wait_for_selector("#plan:has-text('combinations are allowed')")
    _checked(page)


def test_hostile_names_and_values_in_two_tabs(visit: Callable[..., Any], tmp_path: Path) -> None:
    hostile = pa.table(
        {
            SCRIPT: [i % 7 for i in range(200)],
            IMAGE: [IMAGE if i % 3 else SCRIPT for i in range(200)],
            "a\u202eb" + "x" * 300: [f"{i % 5}{SCRIPT}" for i in range(200)],
            "zip": [i % 11 for i in range(200)],
        }
    )
    path = tmp_path / "evil<b>.csv"
    pyarrow.csv.write_csv(hostile, path)
    page = visit()
    _upload(page, path)
    page.wait_for_selector(".columns")
    _checked(page)
    assert SCRIPT in page.inner_text("main")
    for fields in page.locator("fieldset.roles").all()[:2]:
        fields.locator("input[value=quasi-identifier]").check(force=True)
    page.wait_for_selector("#guesses:has-text('2 of 4')")
    # Another tab of the same browser with another file: neither sees the other's.
    other = page.context.new_page()
    other.goto(page.url.split("/t/")[0] + "/")
    plain = tmp_path / "plain.csv"
    plain.write_text("height,town\n" + "180,Ulm\n170,Bonn\n" * 30)
    _upload(other, plain)
    other.wait_for_selector(".columns")
    assert other.locator(".column").count() == 2
    page.reload()
    assert page.locator(".column").count() == 4
    page.click("[data-assess-now]")
    page.wait_for_selector(".verdict")
    _drawn(page)
    for finding in page.locator("details.finding:visible").all()[:2]:
        finding.locator("summary").first.click()
    page.click("[data-reveal]")
    page.wait_for_selector("text=These are values of your data")
    _checked(page)
    assert other.evaluate("window.hacked") is None


def test_a_bad_file(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit(390)
    path = tmp_path / "bad.csv"
    path.write_bytes(b"a,b\n1,2\n3\n" + b"\xff\xfe\x00" * 10)
    _upload(page, path)
    page.wait_for_selector("text=The file could not be opened")
    _checked(page)
    page.goto(page.url.split("/t/")[0] + "/")
    (tmp_path / "x.exe").write_bytes(b"MZ")
    _upload(page, tmp_path / "x.exe")
    page.wait_for_selector("#trouble:has-text('This kind of file is not taken')")
    _checked(page)


def test_two_files(visit: Callable[..., Any], files: Path) -> None:
    page = visit()
    base = page.url
    page.goto(base + "compare")
    _upload(page, files / "people.csv", "#file-original")
    _upload(page, files / "released.csv", "#file-masked")
    page.click("[type=submit]:not([disabled])")
    page.wait_for_selector(".verdict")
    assert page.inner_text(".verdict > strong") == "Not safe"
    _drawn(page)
    _checked(page)
    page.goto(base + "verify")
    _upload(page, files / "released.csv", "#file-released")
    page.fill("[data-value=birth_date]", "1970-05-05")
    page.click("[type=submit]:not([disabled])")
    page.wait_for_selector(".verdict")
    _checked(page)
    page.goto(base + "pseudonyms")
    page.check("input[value=frequencies]")
    for slot, name in (("released", "baskets"), ("known", "expected"), ("truth", "truth")):
        _upload(page, files / f"{name}.csv", f"#file-{slot}")
        page.wait_for_selector(f".drop.done[data-slot={slot}]")
    page.fill("[name=max_cracks]", "2")
    page.click("[type=submit]:not([disabled])")
    page.wait_for_selector(".verdict")
    assert page.inner_text(".verdict > strong") == "Not safe"
    _checked(page)
    page.goto(base + "api")
    page.locator("details.endpoint summary").first.click()
    _checked(page)
