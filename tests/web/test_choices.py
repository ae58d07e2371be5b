"""The list of choices of the page: which there can be, and the plan that they come to."""

from __future__ import annotations

from typing import Any

import pytest

from crypsis.web import ListeningServer
from crypsis.web.draft import PREFERRED_WEIGHT, PlanDraft, defaults_of, plan_form
from crypsis.web.errors import RequestError
from tests.web.conftest import Caller
from tests.web.test_project import CSV, ROLES

ROLED = {**ROLES, "ward": "sensitive"}


@pytest.fixture
def table(server: ListeningServer) -> str:
    with Caller(server) as caller:
        opened = caller.table("p.csv", CSV.encode())
        caller.put(f"/api/v1/tables/{opened}/roles", json={"roles": ROLED})
        return opened


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"more": "1"}, 400),
        ({"aim:other": "exclude"}, 400),
        ({"aim:": "exclude"}, 400),
        ({"aim:sex": "keep"}, 422),
        ({"aim:sex": "keep:x"}, 422),
        ({"aim:sex": True}, 400),
        ({"k": "many"}, 422),
        ({"k": "0"}, 422),
        ({"k": ""}, 422),
        ({"closeness": "5"}, 422),
        ({"population": "1e9", "requirement": "population"}, 422),
        ({"requirement": "x"}, 422),
        ({"weight:sex": "nan", "requirement": "population"}, 422),
        ({"each_column": "x"}, 400),
        ({"recursive_diversity": "3"}, 422),
        ({"mask:ward": "x"}, 422),
        ({"advanced:x": "1"}, 400),
    ],
)
def test_what_is_no_choice_is_refused_whole(
    caller: Caller, table: str, changes: dict[str, Any], status: int
) -> None:
    address = f"/api/v1/tables/{table}/choices"
    answer = caller.patch(address, json={"changes": {"aim:zip": "may go", **changes}})
    assert answer.status_code == status, answer.text
    assert caller.get(address).json()["choices"] == {}


DEFAULTS = defaults_of({}, {})


def _plan(**chosen: Any) -> dict[str, Any]:
    named = {name.replace("__", ":"): value for name, value in chosen.items()}
    return plan_form({**DEFAULTS, **named}).model_dump()


@pytest.mark.parametrize(
    ("chosen", "option", "value"),
    [
        ({"aim__a": "exclude", "aim__b": "exclude"}, "exclude", ["a", "b"]),
        ({"aim__a": "apart"}, "apart", ["a"]),
        ({"aim__a": "may change"}, "may_change", ["a"]),
        ({"aim__a": "keep:2", "aim__b": "keep:0"}, "keep", {"a": 2, "b": 0}),
        ({"aim__a": "prefer", "aim__b": "may go"}, "weights", {"a": PREFERRED_WEIGHT, "b": 0}),
        ({"weight__a": "-2", "requirement": "population"}, "weights", {"a": 0.25}),
        ({"weight__a": "-2"}, "weights", {}),
        ({"requirement": "population", "population": "3.3"}, "population", 1995),
        ({"method__a": "prefix", "aim__a": "exclude"}, "methods", {}),
        ({"top__a": "80.5"}, "top_code", {"a": 80.5}),
        ({"recursive_diversity": "2,5; 3"}, "recursive_diversity", (2.5, 3)),
        ({"recursive_diversity": "3, 2"}, "recursive_diversity", (3, 2)),
        ({"preserve": "a, b + c"}, "preserve", [["a"], ["b", "c"]]),
        ({"advanced__average_risk": "0.1"}, "average_risk", 0.1),
        ({"each_column": True}, "each_column", True),
        ({"person": "a"}, "person", "a"),
    ],
)
def test_each_choice_is_an_option_of_the_plan(chosen: dict[str, Any], option: str, value: Any) -> None:
    plan = _plan(**chosen)
    assert plan["options"][option] == value
    others = {n: v for n, v in plan["options"].items() if v != _plan()["options"][n]}
    assert set(others) <= {option, "exclude", "population"}


def test_choices_outside_of_the_options() -> None:
    plan = _plan(
        level__a="2",
        level__b="1",
        aim__b="exclude",
        mask__c="noise",
        amount__c="0.5",
        recoding="subtree",
        policy="wp216",
        form="parquet",
        neutralize_formulas=True,
    )
    assert plan["levels"] == {"a": 2}
    assert plan["masks"] == {"c": {"method": "noise", "amount": 0.5}}
    assert (plan["recoding"], plan["policy"], plan["form"]) == ("subtree", "wp216", "parquet")
    assert plan["neutralize_formulas"] is False  # there are none in Parquet
    assert _plan(level__a="2", requirement="population")["levels"] == {}


def test_a_choice_is_what_differs_from_the_defaults() -> None:
    draft = PlanDraft()
    required = defaults_of({"k": 5, "excess": 0.2}, {"policy": "wp216"})
    draft.choose({"k": "5", "aim:a": "", "level:a": "0"}, required)
    assert (draft.chosen, draft.history(required)["steps"]) == ({}, 0)
    draft.choose({"excess": "", "k": "9"}, required)
    assert draft.chosen == {"excess": "", "k": "9"}
    draft.choose({"excess": None}, required)
    assert draft.chosen == {"k": "9"}
    assert draft.history(required)["history"][-1] == {"excess": "0.2"}
    first = draft.numbered("")
    draft.undo(1)
    second = draft.numbered("")
    draft.redo(1)
    assert first < second < draft.numbered("") == draft.numbered("")
    with pytest.raises(RequestError):
        plan_form({**required, "k": "x"})
