"""The list of choices is what is shown, tried and released; only a person takes a choice back."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from crypsis.web import ListeningServer
from tests.browser.conftest import checked
from tests.browser.test_page_faults import _address
from tests.web.conftest import Caller

Visit = Callable[..., Any]
COLUMNS = ["age", "zip", "sex", "visits", "disease", "job"]
ROLES = {
    "age": "quasi-identifier",
    "zip": "quasi-identifier",
    "sex": "quasi-identifier",
    "visits": "insensitive",
    "disease": "sensitive",
    "job": "sensitive",
}
_DRAW = random.Random(11)
PEOPLE = [
    (
        str(_DRAW.randrange(20, 60)),
        str(_DRAW.randrange(10100, 10112)),
        _DRAW.choice("mf"),
        str(_DRAW.randrange(1, 6)),
        _DRAW.choice(["flu", "gout", "none"]),
        _DRAW.choice("abcd"),
    )
    for _ in range(300)
]
CSV = "".join(",".join(row) + "\n" for row in [COLUMNS, *PEOPLE])

CHOICES = {
    "excluded": ("aim:sex", "exclude", "sex: exclude: not released"),
    "apart": ("aim:disease", "apart", "disease: apart: in a file of its own"),
    "kept level": ("aim:age", "keep:0", "age: must stay as it is"),
    "weight": ("aim:zip", "may go", "zip: may go"),
    "requirement": ("diversity", "2", "Distinct sensitive values in every class"),
}
"""Each kind of choice: its field, its value, and the words of the panel."""
CONTROLS = {
    "method": ("method:zip", "prefix"),
    "top code": ("top:age", "55"),
    "level": ("level:zip", "1"),
    "class size": ("k", "4"),
    "suppression": ("suppression", "0.2"),
    "recoding": ("recoding", "subtree"),
    "population": ("requirement", "population"),
    "mask": ("mask:visits", "shuffle"),
    "another column": ("aim:job", "may change"),
    "preserved": ("preserve", "visits"),
    "further requirement": ("advanced:average_risk", "0.5"),
    "form": ("form", "parquet"),
    "policy": ("policy", "wp216"),
}
"""Every other control of the page, and what it is set to."""


@pytest.fixture
def table(server: ListeningServer) -> str:
    with Caller(server) as caller:
        opened = caller.table("people.csv", CSV.encode())
        caller.put(f"/api/v1/tables/{opened}/roles", json={"roles": ROLES})
        return opened


@pytest.fixture
def page(visit: Visit, table: str) -> Any:
    """The page "Make it safe", with everything unfolded."""
    shown = visit()
    shown.goto(_address(shown, f"/t/{table}/protect"))
    _settled(shown)
    return shown


def _settled(page: Any) -> None:
    """Wait until recipients' view is that of the list, and unfold everything."""
    page.wait_for_selector("#tried:not(.old) :is([data-remains], .bad)")
    page.eval_on_selector_all(
        "form details:not(#by-hand)", "all => all.forEach((one) => { one.open = true; })"
    )


def _changed(response: Any) -> bool:
    return bool(response.request.method == "PATCH" and response.url.endswith("/choices"))


def _set(page: Any, name: str, value: str) -> None:
    """Use a control as a person does, and wait until the server has the change."""
    control = page.locator(f"#protect [name='{name}']").first
    with page.expect_response(_changed):
        if control.get_attribute("type") == "radio":
            page.check(f"#protect [name='{name}'][value='{value}']")
        elif control.evaluate("one => one.tagName") == "SELECT":
            control.select_option(value)
        else:
            control.fill(value)


def _list(caller: Caller, table: str) -> dict[str, Any]:
    chosen: dict[str, Any] = caller.get(f"/api/v1/tables/{table}/choices").json()["choices"]
    return chosen


def _panel(page: Any) -> list[str]:
    return [str(line) for line in page.locator("[data-chosen] > li").all_inner_texts()]


def _shown_as(page: Any, chosen: dict[str, Any]) -> None:
    """The panel has a line for each choice of the list, and the fields have its values."""
    expect(page.locator("[data-chosen] > li")).to_have_count(len(chosen))
    names = page.locator("[data-chosen] > li").evaluate_all("all => all.map((one) => one.dataset.choiceOf)")
    assert set(names) == set(chosen)
    for name, value in chosen.items():
        field = page.locator(f"#protect [name='{name}']")
        if field.count() == 1:
            expect(field).to_have_value(str(value))


def _released(page: Any, caller: Caller, table: str) -> list[dict[str, str]]:
    """Make the release on the page; its rows as a recipient reads them."""
    page.click("#protect button:text-is('Anonymize')")
    page.wait_for_selector(".pairs")
    assert page.is_hidden("#trouble")
    assert page.locator("text=made with other choices").count() == 0
    answer = caller.get(f"/api/v1/tables/{table}/downloads/release.csv")
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.text)))


def _is_what_the_list_says(
    rows: list[dict[str, str]], chosen: dict[str, Any], caller: Caller, table: str
) -> None:
    """Counted in the released rows themselves."""
    columns = set(rows[0])
    away = {name.partition(":")[2] for name, aim in chosen.items() if aim in ("exclude", "apart")}
    assert columns == set(COLUMNS) - away
    apart = [name.partition(":")[2] for name, aim in chosen.items() if aim == "apart"]
    for place, column in enumerate(apart, 1):
        file = caller.get(f"/api/v1/tables/{table}/downloads/release.apart-{place}.csv").text
        assert file.splitlines()[0] == column
        before = Counter(row[COLUMNS.index(column)] for row in PEOPLE)
        assert Counter(file.splitlines()[1:]) <= before
    for name, aim in chosen.items():
        column = name.partition(":")[2]
        if aim == "keep:0":  # the values are those of the original
            assert {row[column] for row in rows} <= {row[COLUMNS.index(column)] for row in PEOPLE}
    known = [name for name, role in ROLES.items() if role == "quasi-identifier" and name in columns]
    classes: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        classes.setdefault(tuple(row[name] for name in known), []).append(row)
    assert min(map(len, classes.values())) >= int(chosen.get("k", 20))
    if "diversity" in chosen:
        secret = [n for n, role in ROLES.items() if role == "sensitive" and n in columns]
        for members in classes.values():
            assert all(len({row[n] for row in members}) >= 2 for n in secret)


def test_an_excluded_column_stays_excluded_when_a_method_changes(
    page: Any, table: str, caller: Caller
) -> None:
    _set(page, "aim:sex", "exclude")
    _settled(page)
    assert "sex" not in page.inner_text("#what-if")
    _set(page, "method:zip", "prefix")
    _settled(page)
    expect(page.locator("[name='aim:sex']")).to_have_value("exclude")
    assert "sex is not released" in page.inner_text("#tried")
    rows = _released(page, caller, table)
    assert set(rows[0]) == {"age", "zip", "visits", "disease", "job"}
    made = caller.get(f"/api/v1/tables/{table}/release").json()
    assert "sex is not released" in [one["words"] for one in made["released"]]


@pytest.mark.parametrize(
    "kinds",
    [tuple(CHOICES), *(pytest.param((kind,), marks=pytest.mark.heavy) for kind in CHOICES)],
    ids=lambda kinds: "all" if len(kinds) > 1 else kinds[0],
)
def test_choices_stay_whatever_else_is_changed(
    page: Any, table: str, caller: Caller, kinds: tuple[str, ...]
) -> None:
    chosen = {}
    for name, value, _ in map(CHOICES.__getitem__, kinds):
        _set(page, name, value)
        chosen[name] = value
    for other, setting in CONTROLS.values():
        _settled(page)
        _set(page, other, setting)
        chosen[other] = setting
        assert _list(caller, table) == chosen
        panel = _panel(page)
        assert all(any(line.startswith(CHOICES[kind][2]) for line in panel) for kind in kinds), (other, panel)
        _shown_as(page, chosen)
    # These are set back by the person: the release is read as a CSV file, is made for its own k, and
    # a shuffled column would be shuffled anew, so that the trial could not be compared.
    for other, setting in (("form", "csv"), ("requirement", "release"), ("mask:visits", "")):
        _settled(page)
        _set(page, other, setting)
        del chosen[other]
    page.reload()
    _settled(page)
    _shown_as(page, chosen)
    page.goto(_address(page, f"/t/{table}/columns"))
    page.go_back()
    _settled(page)
    _shown_as(page, chosen)
    assert _list(caller, table) == chosen
    words_before = page.locator("#tried [data-of] > span:first-child").all_inner_texts()
    rows = _released(page, caller, table)
    _is_what_the_list_says(rows, chosen, caller, table)
    after = [line.rstrip(".") for line in page.locator("ul.remains li").all_inner_texts()]
    assert [line for line in after if not line.startswith("Unchanged")] == words_before


def test_undo_and_redo_are_of_the_list(page: Any, table: str, caller: Caller) -> None:
    chosen = {}
    for name, value, _ in CHOICES.values():
        _set(page, name, value)
        chosen[name] = value
    for steps, name in enumerate(reversed(chosen), 1):
        with page.expect_response("**/undo*"):
            page.click("[data-undo]")
        left = dict(list(chosen.items())[: len(chosen) - steps])
        _shown_as(page, left)
        assert _list(caller, table) == left, name
    for steps in range(1, len(chosen) + 1):
        with page.expect_response("**/redo*"):
            page.click("[data-redo]")
        _shown_as(page, dict(list(chosen.items())[:steps]))
    # One choice is taken back from the panel, whatever came after it.
    with page.expect_response(_changed):
        page.click("[data-choice-of='aim:age'] button")
    del chosen["aim:age"]
    _shown_as(page, chosen)
    assert page.input_value("[name='aim:age']") == ""
    checked(page)
    _is_what_the_list_says(_released(page, caller, table), chosen, caller, table)


def test_a_second_tab_has_the_same_list(page: Any, table: str, caller: Caller) -> None:
    second = page.context.new_page()
    second.goto(page.url)
    _settled(second)
    _set(page, "aim:sex", "exclude")
    expect(second.locator("[name='aim:sex']")).to_have_value("exclude")  # at once
    _set(second, "aim:disease", "apart")
    expect(page.locator("[name='aim:disease']")).to_have_value("apart")
    chosen = {"aim:sex": "exclude", "aim:disease": "apart"}
    for tab in (page, second):
        _shown_as(tab, chosen)
    _settled(second)
    _is_what_the_list_says(_released(second, caller, table), chosen, caller, table)


def test_a_window_that_was_not_told_overwrites_nothing(page: Any, table: str, caller: Caller) -> None:
    """A program, or a browser of its own, changes the list meanwhile."""
    address = f"/api/v1/tables/{table}/choices"
    assert caller.patch(address, json={"changes": {"aim:sex": "exclude"}}).status_code == 200
    with page.expect_response(_changed) as refused:
        page.select_option("[name=recoding]", "subtree")
    assert refused.value.status == 412
    page.wait_for_selector("#trouble:has-text('in another window')")
    expect(page.locator("[name='aim:sex']")).to_have_value("exclude")
    expect(page.locator("[name=recoding]")).to_have_value("local")
    assert _list(caller, table) == {"aim:sex": "exclude"}
    # A release is not made of a list that was not shown, either.
    _settled(page)
    caller.patch(address, json={"changes": {"aim:sex": None, "aim:disease": "exclude"}})
    page.click("#protect button:text-is('Anonymize')")
    page.wait_for_selector("#trouble:has-text('in another window')")
    assert caller.get(f"/api/v1/tables/{table}/release").status_code == 409
    expect(page.locator("[name='aim:disease']")).to_have_value("exclude")
    rows = _released(page, caller, table)
    _is_what_the_list_says(rows, {"aim:disease": "exclude"}, caller, table)
    # What is chosen after it is not what was released, and the release says so.
    caller.patch(address, json={"changes": {"aim:job": "exclude"}})
    page.reload()
    page.wait_for_selector("text=made with other choices")


def test_nothing_is_made_while_a_field_has_what_the_list_has_not(
    page: Any, table: str, caller: Caller
) -> None:
    for wrong in ("..", "5"):
        page.fill("[name=closeness]", wrong)
        page.wait_for_selector("#trouble:visible")
        page.click("#protect button:text-is('Anonymize')")
        page.wait_for_timeout(300)
        page.wait_for_selector("#trouble:visible")
        assert _list(caller, table) == {}
        assert caller.get(f"/api/v1/tables/{table}/release").status_code == 409
    _set(page, "closeness", "0,5")
    assert _list(caller, table) == {"closeness": "0.5"}


@pytest.mark.heavy
@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("kind", CHOICES)
def test_each_choice_with_each_control(
    page: Any, table: str, caller: Caller, kind: str, control: str
) -> None:
    name, value, _ = CHOICES[kind]
    other, setting = CONTROLS[control]
    _set(page, name, value)
    _settled(page)
    _set(page, other, setting)
    chosen = {name: value, other: setting}
    assert _list(caller, table) == chosen
    _shown_as(page, chosen)
    if setting not in ("parquet", "population"):
        _is_what_the_list_says(_released(page, caller, table), chosen, caller, table)
