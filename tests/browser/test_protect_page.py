"""Make it safe: what is chosen stays, can be undone and saved, and the preview is the result."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from crypsis.web import ListeningServer
from tests.browser.conftest import checked
from tests.browser.test_page_faults import PEOPLE, ROLES, _address
from tests.web.conftest import Caller

Visit = Callable[..., Any]


@pytest.fixture(scope="module")
def table(server: ListeningServer) -> str:
    """A table of which the levels are known."""
    with Caller(server) as caller:
        found = caller.table("people.csv", PEOPLE)
        caller.put(f"/api/v1/tables/{found}/roles", json={"roles": ROLES})
        caller.done(caller.ask(found, "preview"))
        return found


def _remains(page: Any) -> list[str]:
    page.wait_for_selector("#tried:not(.old) [data-remains]")
    return [str(one) for one in page.locator("[data-remains] li > span:first-child").all_inner_texts()]


def test_choices_stay_and_are_undone(visit: Visit, table: str, caller: Caller, tmp_path: Path) -> None:
    page = visit()
    with page.expect_response("**/choices"):
        page.goto(_address(page, f"/t/{table}/protect"))
    assert page.is_disabled("[data-undo]")
    assert page.input_value("[name=recoding]") == "local"  # the least loss
    with page.expect_response("**/choices"):
        page.select_option("[name='aim:sex']", "exclude")
    with page.expect_response("**/choices"):
        page.fill("[name=k]", "7")
    page.reload()
    expect(page.locator("[name=k]")).to_have_value("7")
    expect(page.locator("[name='aim:sex']")).to_have_value("exclude")
    page.goto(_address(page, f"/t/{table}/columns"))
    page.go_back()
    expect(page.locator("[name=k]")).to_have_value("7")
    with page.expect_download() as coming:
        page.click("[data-project-save]")
    coming.value.save_as(tmp_path / "project.json")
    saved = json.loads((tmp_path / "project.json").read_text())
    assert (saved["choices"]["k"], saved["roles"]) == ("7", ROLES)
    page.click("[data-undo]")
    expect(page.locator("[name=k]")).to_have_value("20")
    assert page.input_value("[name='aim:sex']") == "exclude"
    page.click("[data-redo]:enabled")
    expect(page.locator("[name=k]")).to_have_value("7")
    assert page.is_disabled("[data-redo]")
    page.click(".history summary")
    steps = page.locator(".history li button")
    assert steps.all_inner_texts() == ["sex: exclude: not released", "Smallest class size (k): 7"]
    steps.first.click()
    page.wait_for_selector(".history .undone")
    expect(page.locator("[name=k]")).to_have_value("20")
    assert page.is_hidden("#trouble")
    checked(page)
    # A file that is no project changes nothing, and one can go on.
    (tmp_path / "other.json").write_text("[]")
    page.set_input_files("[data-project-open] input", str(tmp_path / "other.json"))
    page.wait_for_selector("#trouble:has-text('not a project')")
    with page.expect_response("**/try"):
        page.fill("[name=k]", "8")
    # What was chosen of columns stays where their cells have to be counted again.
    for role in ("excluded", ROLES["visits"]):
        caller.put(f"/api/v1/tables/{table}/roles", json={"roles": {"visits": role}})
    page.goto(_address(page, f"/t/{table}/protect"))
    page.wait_for_selector("[data-choice]")
    expect(page.locator("[name='aim:sex']")).to_have_value("exclude")


def test_a_sensitive_attribute_is_released_apart(visit: Visit, table: str) -> None:
    page = visit()
    page.goto(_address(page, f"/t/{table}/protect"))
    _remains(page)
    secret = next(name for name, role in ROLES.items() if role == "sensitive")
    page.select_option(f"[name='aim:{secret}']", "apart")
    page.wait_for_selector("#tried.old", state="attached")
    words = f"{secret} apart, in a file of its own"
    assert words in _remains(page)
    assert page.inner_text(f"[data-sensitive={secret}] [data-left]") == words
    assert "pairs of columns" in page.inner_text("#tried")
    checked(page)
    with page.expect_response("**/choices"):
        page.select_option(f"[name='aim:{secret}']", "")


def test_the_preview_is_the_result(visit: Visit, table: str, caller: Caller) -> None:
    page = visit(390, "dark")
    page.goto(_address(page, f"/t/{table}/protect"))
    page.select_option("[name='aim:sex']", "keep:0")
    page.fill("[name=k]", "6")
    page.wait_for_selector("#tried.old", state="attached")
    words = _remains(page)
    assert "sex as it is" in words
    assert page.inner_text("[data-choice=sex] [data-left]") == "sex as it is"
    checked(page)
    # At once after a change: nothing that is still under way complains.
    page.fill("[name=suppression]", "0.04")
    page.click("#protect button:text-is('Anonymize')")
    page.wait_for_selector(".pairs")
    assert page.is_hidden("#trouble")
    after = [one.rstrip(".") for one in page.locator("ul.remains li").all_inner_texts()]
    assert after == [*words, "Unchanged: visits, disease"]
    made = caller.get(f"/api/v1/tables/{table}/release").json()
    assert made["requirements"]["k"] == 6
    checked(page)
    # Links to the original are tried: it is on this machine.
    row = page.locator(".pairs tr:has-text('correct links')")
    assert row.locator(".state").inner_text() in ("met", "exceeded", "not evaluated")
