"""The page in a real browser, from a file to a release: what is shown, and that nothing breaks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from crypsis.demo import people, write_demo
from tests.browser.conftest import checked, drawn, upload

SCRIPT = "<script>window.hacked=1</script>"
IMAGE = "<img src=x onerror='window.hacked=1'>"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder, rows=600)
    return folder


@pytest.mark.heavy  # what test_steward.py does with a German file, with an invented one
def test_the_whole_way(visit: Callable[..., Any], files: Path, tmp_path: Path) -> None:
    page = visit()
    checked(page)
    table = people(600)
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(table, path)
    upload(page, path)
    page.wait_for_selector(".columns")
    assert "8 of 8 roles are guesses or undecided" in page.inner_text("#guesses")
    checked(page)
    occupation = page.locator("fieldset[data-column=occupation]")
    occupation.locator("input[value=excluded]").check(force=True)
    page.wait_for_selector("#guesses:has-text('7 of 8')")
    assert "decided" in occupation.locator("xpath=..").inner_text()
    page.locator("fieldset[data-column=income] input[value=excluded]").check(force=True)
    page.wait_for_selector("#guesses:has-text('6 of 8')")
    page.check("[name=record][value='each record']")
    page.click("[data-assess-now]")
    page.wait_for_selector(".verdict")
    assert page.inner_text(".verdict > strong") == "Not safe to release"
    drawn(page)
    checked(page)
    # What is behind a finding: columns, groups, and on request the values.
    page.locator("details.finding.exceeded:visible summary").first.click()
    page.wait_for_selector("[data-causes] .bar-table")
    page.click("[data-reveal]")
    page.wait_for_selector("text=These are values of your data")
    checked(page)
    # Tabs without a mouse.
    page.focus("#tab-singling_out")
    page.keyboard.press("ArrowRight")
    assert page.locator("#panel-inference").is_visible()
    assert not page.locator("#panel-singling_out").is_visible()
    drawn(page)
    page.click("a.button.main")
    page.wait_for_selector("[data-choice]")  # the levels are counted
    page.click("#by-hand > summary")
    page.wait_for_selector("#what-if .big")
    page.wait_for_selector("#curve svg.marks")
    page.wait_for_selector("#plan table")
    assert page.input_value("[name=excess]") == "0.2"
    before = page.inner_text("#what-if .big")
    page.locator("#along").focus()
    page.keyboard.press("End")
    page.wait_for_selector("#what-if .big:text-is('0 %')")
    assert before == "100 %"
    checked(page)
    page.click("#protect button:text-is('Anonymize')")
    page.wait_for_selector(".pairs")
    assert page.inner_text(".verdict > strong") == "Safe to release under this policy"
    drawn(page)
    checked(page)
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
    page.click("dialog button:has-text('Close')")  # the key goes with the table
    page.wait_for_selector("text=Is this data safe to release?")


def test_adult_and_cancelling_on_a_narrow_dark_screen(visit: Callable[..., Any]) -> None:
    page = visit(390, "dark")
    checked(page)
    page.click("[data-open-given='0']")
    page.wait_for_selector(".columns")
    assert "32,561 rows" in page.inner_text("main")
    checked(page)
    page.check("[name=record][value='each record']")
    page.click("[data-assess-now]")
    page.wait_for_selector(".progress progress[value]")  # one question is answered
    page.click(".progress [data-cancel]")
    page.wait_for_selector(".verdict")  # what is known by then
    assert "incomplete" in page.inner_text(".verdict")
    page.goto(page.url.replace("/verdict", "/protect"))
    page.wait_for_selector("[data-choice]")  # the levels are counted
    page.click("#by-hand > summary")
    page.wait_for_selector("#what-if .big")
    page.wait_for_selector("#curve svg.marks")
    checked(page)
    page.check("input[value=population]")
    page.wait_for_selector("#what-if:has-text('Values that each column may keep')")
    page.wait_for_selector("#plan:has-text('combinations are allowed')")
    checked(page)


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
    upload(page, path)
    page.wait_for_selector(".columns")
    checked(page)
    assert SCRIPT in page.inner_text("main")
    for fields in page.locator("fieldset.roles").all()[:2]:
        fields.locator("input[value=quasi-identifier]").check(force=True)
    page.wait_for_selector("#guesses:has-text('2 of 4')")
    # Another tab of the same browser with another file: neither sees the other's.
    other = page.context.new_page()
    other.goto(page.url.split("/t/")[0] + "/")
    plain = tmp_path / "plain.csv"
    plain.write_text("height,town\n" + "180,Ulm\n170,Bonn\n" * 30)
    upload(other, plain)
    other.wait_for_selector(".columns")
    assert other.locator(".column").count() == 2
    page.reload()
    assert page.locator(".column").count() == 4
    page.check("[name=record][value='each record']")
    page.click("[data-assess-now]")
    page.wait_for_selector(".verdict")
    drawn(page)
    for finding in page.locator("details.finding:visible").all()[:2]:
        finding.locator("summary").first.click()
    page.click("[data-reveal]")
    page.wait_for_selector("text=These are values of your data")
    checked(page)
    assert other.evaluate("window.hacked") is None


def test_a_bad_file(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit(390)
    path = tmp_path / "bad.csv"
    path.write_bytes(b"a,b\n1,2\n3\n" + b"\xff\xfe\x00" * 10)
    upload(page, path)
    page.wait_for_selector("text=The file could not be opened")
    checked(page)
    page.goto(page.url.split("/t/")[0] + "/")
    (tmp_path / "x.exe").write_bytes(b"MZ")
    upload(page, tmp_path / "x.exe")
    page.wait_for_selector("#trouble:has-text('This kind of file is not taken')")
    checked(page)


@pytest.mark.heavy
def test_two_files(visit: Callable[..., Any], files: Path) -> None:
    page = visit()
    base = page.url
    page.goto(base + "compare")
    upload(page, files / "people.csv", "#file-original")
    upload(page, files / "released.csv", "#file-masked")
    page.click("[type=submit]:not([disabled])")
    page.wait_for_selector(".verdict")
    assert page.inner_text(".verdict > strong") == "Not safe"
    drawn(page)
    checked(page)
    page.goto(base + "verify")
    upload(page, files / "released.csv", "#file-released")
    page.fill("[data-value=birth_date]", "1970-05-05")
    page.click("[type=submit]:not([disabled])")
    page.wait_for_selector(".verdict")
    checked(page)
    page.goto(base + "pseudonyms")
    page.check("input[value=frequencies]")
    for slot, name in (("released", "baskets"), ("known", "expected"), ("truth", "truth")):
        upload(page, files / f"{name}.csv", f"#file-{slot}")
        page.wait_for_selector(f".drop.done[data-slot={slot}]")
    page.fill("[name=max_cracks]", "2")
    page.click("[type=submit]:not([disabled])")
    page.wait_for_selector(".verdict")
    assert page.inner_text(".verdict > strong") == "Not safe"
    checked(page)
    page.goto(base + "api")
    page.locator("details.endpoint summary").first.click()
    checked(page)
