"""What people ran into at the page, each once: it stays right."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crypsis.web import ListeningServer
from tests.browser.conftest import checked, upload
from tests.web.conftest import Caller

_DRAW = random.Random(7)
ROWS = "".join(
    f"{_DRAW.randrange(20, 60)},{_DRAW.randrange(10100, 10112)},{_DRAW.choice('mf')},"
    f"{_DRAW.randrange(1, 6)},{_DRAW.choice(['flu', 'gout', 'none'])}\n"
    for _ in range(240)
)
PEOPLE = f"age,zip,sex,visits,disease\n{ROWS}".encode()
ROLES = {
    "age": "quasi-identifier",
    "zip": "quasi-identifier",
    "sex": "quasi-identifier",
    "visits": "insensitive",
    "disease": "sensitive",
}
Visit = Callable[..., Any]


def _address(page: Any, path: str) -> str:
    return str(page.url).split("/t/")[0].rstrip("/") + path


@pytest.fixture(scope="module")
def decided(server: ListeningServer) -> str:
    """A table whose roles are decided."""
    with Caller(server) as caller:
        return _decided(caller)


def _decided(caller: Caller) -> str:
    table = caller.table("people.csv", PEOPLE)
    assert caller.put(f"/api/v1/tables/{table}/roles", json={"roles": ROLES}).status_code == 200
    return table


@pytest.fixture(scope="module")
def assessed(server: ListeningServer) -> str:
    """A table with a verdict."""
    with Caller(server) as caller:
        table = _decided(caller)
        caller.done(caller.ask(table, "assess"))
        return table


def test_a_refused_role_is_taken_back(visit: Visit, decided: str) -> None:
    page = visit()
    page.goto(_address(page, f"/t/{decided}/columns"))
    refused = '{"error": "A job is running on this table; wait for it or cancel it first."}'
    page.route(
        "**/roles", lambda route: route.fulfill(status=409, body=refused, content_type="application/json")
    )
    field = page.locator("fieldset[data-column=visits]")
    field.locator("input[value=excluded]").check(force=True)
    page.wait_for_selector("#trouble:has-text('A job is running')")
    assert field.locator("input[value=insensitive]").is_checked()
    # A bar for each of the values 1 to 5, and the ends are those of the column.
    ends = page.locator("li[data-name=visits] .ends span")
    assert ends.all_inner_texts() == ["1", "5"]
    # Of a number with many values, too: the smallest and the largest.
    ages = sorted({int(line.split(",")[0]) for line in ROWS.splitlines()})
    ends = page.locator("li[data-name=age] .ends span")
    assert ends.all_inner_texts() == [str(ages[0]), str(ages[-1])]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fields_can_be_seen(visit: Visit, decided: str, scheme: str) -> None:
    """The borders of all fields have a contrast of at least 3 to 1 (WCAG 2.2, 1.4.11)."""
    page = visit(scheme=scheme)
    for path in ("columns", "protect"):
        page.goto(_address(page, f"/t/{decided}/{path}"))
        found = page.evaluate(_CONTRAST)
        assert len(found) >= 2
        assert min(found) >= 3


def test_progress_does_not_go_back(visit: Visit, decided: str) -> None:
    page = visit()
    steps = [{"what": "counting"}]
    shares = [0.1, 0.6, 0.2, None, 0.3]
    asked: list[str] = []

    def state(route: Any) -> None:
        share = shares[len(asked) % len(shares)]
        asked.append(route.request.url)
        now = {"state": "running", "share": share, "steps": steps, "seconds": 3.0}
        route.fulfill(json={**now, "what": "The verdict", "page": ""})

    begun = {"id": "x", "what": "The verdict"}
    page.route("**/jobs/x", state)
    page.route("**/assess", lambda route: route.fulfill(json=begun))
    for _ in range(3):  # a page that is not ready yet hears no click
        asked.clear()
        page.goto(_address(page, f"/t/{decided}/columns"))
        page.evaluate(_WATCHED)
        page.check("[name=record][value='each record']")
        page.click("[data-assess-now]")
        for _ in range(200):
            page.wait_for_timeout(50)
            if len(asked) > len(shares):
                break
        if len(asked) > len(shares):
            break
    shown = page.evaluate("window.shown")
    assert shown == sorted(shown)
    assert max(shown) == 0.6
    assert "counting, 3 s" in page.inner_text(".progress [data-state]")


_WATCHED = """() => {
  window.shown = [];
  new MutationObserver(() => {
    const bar = document.querySelector(".progress progress");
    if (bar?.hasAttribute("value")) window.shown.push(bar.value);
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
}"""
_CONTRAST = """() => {
  const part = (c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const light = (text) => {
    const [r, g, b] = text.match(/[0-9.]+/g).map(Number);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const kinds = "input:not([type=range], [type=checkbox], [type=radio], [type=file]), select, textarea";
  const seen = [...document.querySelectorAll(kinds)].filter((one) => one.offsetParent);
  return seen.map((one) => getComputedStyle(one)).map((style) => {
    const [one, two] = [style.borderTopColor, style.backgroundColor].map(light);
    return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
  });
}"""


_PRINTED = "all => all.map((one) => getComputedStyle(one, '::before').content)"
_SIZES = """all => all.filter((one) => one.textContent && one.getBBox().height).map((one) => {
  const { a, b } = one.getScreenCTM();
  return parseFloat(getComputedStyle(one).fontSize) * Math.hypot(a, b);
})"""


def test_all_tabs_are_printed(visit: Visit, assessed: str) -> None:
    page = visit(390)
    page.goto(_address(page, f"/t/{assessed}/verdict"))
    page.wait_for_selector("figure.chart:visible svg.marks")
    sizes = page.eval_on_selector_all("figure.chart svg.marks text", _SIZES)
    assert min(sizes) >= 11  # also on a telephone
    page.emulate_media(media="print")
    assert page.locator("[role=tabpanel]:visible").count() == 4
    assert "e+0" not in page.inner_text("main")
    # A chart that is printed before it is drawn is printed in words.
    page.route("**/vega.js", lambda route: None)
    page.reload(wait_until="domcontentloaded")
    words = page.eval_on_selector_all(".live", _PRINTED)
    assert len(words) > 1
    assert all(len(one) > 20 for one in words)
    page.unroute("**/vega.js")
    assert not re.search(r"\b1 (people|records)\b|--[a-z]|\w+=\[", page.inner_text("main"))


def test_files_that_cannot_be_opened_do_not_fill_the_list(
    visit: Visit, caller: Caller, tmp_path: Path
) -> None:
    for _ in range(3):
        bad = caller.post("/api/v1/tables/upload", params={"name": "bad.csv"}, content=b"a,b\n1\n1,2,3\n")
        caller.ended(bad)
    page = visit()
    path = tmp_path / "good.csv"
    path.write_bytes(PEOPLE)
    upload(page, path)
    page.wait_for_selector(".columns")
    page.goto(_address(page, "/"))
    assert page.locator("li:has-text('bad.csv')").count() <= 1


def test_a_server_that_is_gone_is_called_so(visit: Visit, decided: str) -> None:
    page = visit()
    page.goto(_address(page, f"/t/{decided}/columns"))
    page.route("**/assess", lambda route: route.abort("connectionrefused"))
    page.check("[name=record][value='each record']")
    page.click("[data-assess-now]")
    page.wait_for_selector("#trouble:has-text('The server does not answer')")


def test_a_job_of_another_page_changes_nothing_here(visit: Visit, caller: Caller, decided: str) -> None:
    begun = caller.ask(decided, "assess")
    page = visit()
    page.goto(_address(page, f"/t/{decided}/columns"))
    page.fill("#find", "zip")
    page.wait_for_selector(".notice.ok:has-text('done')", state="attached")
    assert page.input_value("#find") == "zip"  # no reload
    assert caller.ended(begun)["state"] == "done"


def test_a_role_does_not_discard_a_verdict_unasked(visit: Visit, caller: Caller, assessed: str) -> None:
    page = visit()
    page.goto(_address(page, f"/t/{assessed}/columns"))
    field = page.locator("fieldset[data-column=visits]")
    field.locator("input[value=excluded]").check(force=True)
    assert "This discards the verdict" in page.inner_text("dialog")
    checked(page)
    page.click("dialog button:has-text('Cancel')")
    page.wait_for_selector("dialog", state="detached")
    assert field.locator("input[value=insensitive]").is_checked()
    assert caller.get(f"/api/v1/tables/{assessed}").json()["assessed"]
    field.locator("input[value=excluded]").check(force=True)
    page.click("dialog button:has-text('Discard')")
    page.wait_for_selector("li[data-name=visits][data-role=excluded]")
    state = caller.get(f"/api/v1/tables/{assessed}").json()
    assert (state["assessed"], state["downloads"]) == (False, [])


def test_the_records_are_shown_as_one_scrolls(visit: Visit, caller: Caller) -> None:
    many = b"age,town\n" + b"".join(b"%d,T%d\n" % (i % 90, i) for i in range(3_000))
    table = caller.table("many.csv", many)
    page = visit(390)
    page.goto(_address(page, f"/t/{table}/data"))
    page.wait_for_selector("#grid td:text-is('T0')")
    checked(page)
    assert page.locator("#grid tbody tr").count() < 100
    page.eval_on_selector("#grid", "box => { box.scrollTop = box.scrollHeight; }")
    page.wait_for_selector("#grid td:text-is('T2999')")
    page.select_option("#grid-order", "risk")
    page.wait_for_selector("#grid td:text-is('T0')")


def test_a_file_chosen_before_the_script_runs_is_taken(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    held: list[Any] = []
    first = "**/assets/crypsis.js"
    page.route(first, lambda route: held.append(route), times=1)
    page.reload(wait_until="commit")
    path = tmp_path / "early.csv"
    path.write_bytes(PEOPLE)
    page.wait_for_selector("#file-data", state="attached")
    upload(page, path)
    assert page.evaluate("document.querySelector('#file-data').onchange") is None
    held[0].continue_()
    page.wait_for_selector(".columns")


def test_a_doubtful_guess_is_confirmed_by_a_click_on_it(visit: Visit, server: ListeningServer) -> None:
    with Caller(server) as caller:
        rows = "".join(f"{row.rsplit(',', 2)[0]},{_DRAW.choice('AB')}\n" for row in ROWS.splitlines())
        table = caller.table("insured.csv", f"age,zip,sex,insurance\n{rows}".encode())
    page = visit()
    page.goto(_address(page, f"/t/{table}/columns"))
    guess = page.locator("[data-name=insurance]")
    assert "guess, 60 %" in guess.inner_text()
    page.check("[name=record][value='each record']")
    page.click("[data-assess-now]")  # decides what is confident only
    page.wait_for_selector(".verdict")
    # What is left is one click away, and nothing can be made before.
    page.goto(_address(page, f"/t/{table}/protect"))
    page.wait_for_selector("#tried ul")
    assert page.locator("#protect .main").is_disabled()
    page.click("main .notice a")
    page.wait_for_selector(".columns")
    page.locator("[data-name=zip]").wait_for(state="hidden")
    assert page.input_value("#which") == "guessed"
    guess.locator("input[value=quasi-identifier]").focus()
    page.keyboard.press("Space")
    guess.wait_for(state="hidden")
    # Who decides without a mouse goes on with the next one.
    assert page.evaluate("document.activeElement.checkVisibility()")
    assert page.evaluate("document.activeElement !== document.body")
    checked(page)


def test_what_recoding_cannot_do_is_said_before_it_is_done(visit: Visit, caller: Caller) -> None:
    table = _decided(caller)
    caller.done(caller.ask(table, "assess"))
    page = visit()
    page.goto(_address(page, f"/t/{table}/verdict"))
    needed = page.locator(".finding:has-text('which an intruder may know too')").first
    assert needed.count() == 1
    page.goto(_address(page, f"/t/{table}/protect"))
    notice = page.inner_text("main .notice")
    assert "'visits'" in notice
    assert "the roles of the columns" in notice


def test_numbers_are_read_as_people_write_them(visit: Visit, decided: str) -> None:
    page = visit()
    written = {
        "0,05": 0.05,
        "0.05": 0.05,
        "1,000,000": 1e6,
        "1.000.000": 1e6,
        "1,000": 1000,
        "3.999,42": 3999.42,
        "3,999.42": 3999.42,
        "-1,5": -1.5,
        " 20 ": 20,
        "": None,
    }
    root = "document.querySelector('meta[name=root]').content"
    read = f"async (texts) => texts.map((await import({root} + '/assets/ask.js')).number)"
    assert page.evaluate(read, list(written)) == list(written.values())
    page.goto(_address(page, f"/t/{decided}/verdict"))
    page.eval_on_selector("details:has(form[data-assess])", "one => { one.open = true; }")
    page.fill("[name=population]", "..")
    page.click("form[data-assess] [type=submit]")
    page.wait_for_selector("#trouble:has-text('“..” is not a number.')")


def test_what_can_be_written_about_a_column_follows_its_role(visit: Visit, caller: Caller) -> None:
    page = visit()
    page.goto(_address(page, f"/t/{caller.table('people.csv', PEOPLE)}/columns"))
    column = page.locator("[data-name=visits]")
    kinds = {"insensitive": ["sign_off"], "sensitive": ["harmless", "public_presence"], "excluded": []}
    for role, notes in kinds.items():
        column.locator(f"input[value={role}]").check(force=True)
        page.locator(f"[data-name=visits][data-role={role}]:not(.guessed)").wait_for()
        for one in column.locator("summary:visible").all():
            one.click()
        shown = column.locator("[data-note]:visible").evaluate_all(
            "all => all.map((one) => one.dataset.note)"
        )
        assert [one for one in shown if one != "override"] == notes
        assert column.locator(".mark.doubt").count() == 0
