"""The list of choices of a table: the one place that says what is previewed, tried and released.

A choice is the name of a field with its value, such as `aim:zip` with `exclude`. Every control of
the page sends one change of the list; the plan is made from the list alone, never from the fields
that happen to be on a page.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from pydantic import ValidationError

from crypsis.web import forms as f
from crypsis.web.errors import RequestError
from crypsis.web.options import advanced

Value = str | bool
MAX_STEPS = 100
"""How many steps can be undone: more than a person goes through, and little memory."""
DEFAULT_K = 20
"""The smallest class where no policy was asked: links to the original are tried at 5 %."""
PREFERRED_WEIGHT = 4.0
"""The weight in the search of a column that is preferred to be kept; others have 1."""

_NUMBERS = ("diversity", "closeness", "best_guess", "excess", "journalist_risk", "k_map", "presence")
_UNITS = ("person", "household", "weight")
_SWITCHES = ("each_column", "neutralize_formulas")
_OF_COLUMNS = ("aim", "level", "weight", "method", "top", "mask", "amount")
_FIXED: dict[str, Value] = {
    "requirement": "release",
    "suppression": "0.05",
    "population": "6",
    "beta": "0.05",
    "recursive_diversity": "",
    "preserve": "",
    "form": "csv",
    "recoding": "local",
    **dict.fromkeys(_SWITCHES, False),
    **dict.fromkeys((*_NUMBERS, *_UNITS), ""),
    **{f"advanced:{name}": "" for name in advanced()},
}


class StaleError(RequestError):
    """The list is not the one that was shown to whoever asks."""

    def __init__(self) -> None:
        super().__init__(
            "The choices or the roles were changed in another window. They are shown here now; "
            "check them, and choose again.",
            412,
        )


class PlanDraft:
    """The choices that differ from the defaults, the latest list last, and what was undone."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._shown = ""
        self._version = 0
        self._lists: list[dict[str, Value]] = [{}]
        self._undone: list[dict[str, Value]] = []

    @property
    def chosen(self) -> dict[str, Value]:
        """The list as it is now."""
        return dict(self._lists[-1])

    def numbered(self, shown: str) -> int:
        """The number of this list together with what else is shown beside it."""
        with self.lock:
            now = f"{sorted(self._lists[-1].items())} {shown}"
            if now != self._shown:
                self._shown, self._version = now, self._version + 1
            return self._version

    def choose(self, changes: Mapping[str, Value | None], defaults: Mapping[str, Value]) -> None:
        """Change the list in one step; None, or what a field begins with, takes a choice back."""
        after = differing({**self.chosen, **changes}, defaults)
        if after != self._lists[-1]:
            self._lists, self._undone = [*self._lists[-MAX_STEPS:], after], []

    def open(self, chosen: Mapping[str, Value], defaults: Mapping[str, Value]) -> None:
        """Begin again with the list of a project."""
        self._lists, self._undone = [differing(chosen, defaults)], []

    def undo(self, steps: int) -> None:
        """Take the last steps back."""
        for _ in range(min(steps, len(self._lists) - 1)):
            self._undone.append(self._lists.pop())

    def redo(self, steps: int) -> None:
        """Choose again what was taken back last."""
        for _ in range(min(steps, len(self._undone))):
            self._lists.append(self._undone.pop())

    def history(self, defaults: Mapping[str, Value]) -> dict[str, Any]:
        """How many steps can be undone and redone, and what each of them changed."""
        lists = [*self._lists, *reversed(self._undone)]
        steps = [
            {
                name: after.get(name, defaults.get(name, ""))
                for name in sorted({*before, *after})
                if before.get(name) != after.get(name)
            }
            for before, after in pairwise(lists)
        ]
        return {"steps": len(self._lists) - 1, "undone": len(self._undone), "history": steps}


def defaults_of(requirements: Mapping[str, Any], assessed_options: Mapping[str, Any]) -> dict[str, Value]:
    """What each field has before anything is chosen: the requirements of the policy assessed last."""
    wanted = {"k": str(int(requirements.get("k", DEFAULT_K)))}
    if "diversity" in requirements:
        wanted["diversity"] = str(int(requirements["diversity"]))
    for name in ("excess", "closeness"):
        if name in requirements:
            wanted[name] = str(requirements[name])
    wanted |= {f"advanced:{n}": str(requirements[n]) for n in advanced() if n in requirements}
    units = {name: str(assessed_options[name]) for name in _UNITS if assessed_options.get(name)}
    return {**_FIXED, **wanted, **units, "policy": str(assessed_options.get("policy", "default"))}


def differing(chosen: Mapping[str, Value | None], defaults: Mapping[str, Value]) -> dict[str, Value]:
    """The choices that are none of the defaults; those of columns begin with nothing, or 0."""
    kept = {}
    for name, value in chosen.items():
        nothing = ("", "0") if name not in defaults else (defaults[name],)
        if value is not None and value not in nothing:
            kept[name] = value
    return kept


def check_names(changes: Mapping[str, Value | None], columns: Mapping[str, str]) -> None:
    """Refuse what is no field, and fields of columns that do not exist; either could not be done."""
    for name, value in changes.items():
        kind, _, column = name.partition(":")
        if value is None or (name in _FIXED and (name in _SWITCHES) == isinstance(value, bool)):
            continue
        if name in ("k", "policy") and isinstance(value, str):
            continue
        if kind not in _OF_COLUMNS or not column or isinstance(value, bool):
            raise RequestError(f"{name[:80]!r} is not a field of the page, or has another type.")
        if column not in columns:
            raise RequestError(f"Column {column[:80]!r} does not exist.")


def plan_form(values: Mapping[str, Value]) -> f.AnonymizeForm:
    """The release that a list of choices, with its defaults, comes to."""
    try:
        return f.AnonymizeForm.model_validate(_plan_body(values))
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False, include_context=False)
        words = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:5])
        raise RequestError("; ".join(words), 422) from None
    except (ValueError, OverflowError, KeyError):
        raise RequestError("A choice has a value that is not valid.", 422) from None


def counted_for(plan: f.AnonymizeForm) -> dict[str, Any]:
    """What the cells of a preview depend on: which columns there are, and how they are recoded."""
    named = {"methods", "top_code", "representative", "person", "household", "weight"}
    return {"exclude": sorted(plan.options.exclude), **plan.options.model_dump(include=named)}


def _plan_body(values: Mapping[str, Value]) -> dict[str, Any]:
    texts = {
        name: value.strip() for name, value in values.items() if isinstance(value, str) and value.strip()
    }
    aims = _of_columns(texts, "aim")
    excluded = [column for column, aim in aims.items() if aim == "exclude"]

    def released(kind: str) -> dict[str, str]:
        """A choice for each column that is released: of the others none matters."""
        chosen = _of_columns(texts, kind)
        return {column: text for column, text in chosen.items() if column not in excluded}

    whole_population = texts["requirement"] == "population"
    options: dict[str, Any] = {
        "k": texts["k"],
        "suppression": texts["suppression"],
        "each_column": values["each_column"],
        "methods": released("method"),
        "top_code": released("top"),
        "preserve": _preserved(texts.get("preserve", "")),
        "recursive_diversity": _pair(texts.get("recursive_diversity", "")),
        "exclude": excluded,
        "weights": {},
        "keep": {},
        "may_change": [],
        "apart": [],
        **{name: texts[name] for name in (*_NUMBERS, *_UNITS) if name in texts},
        **_of_columns(texts, "advanced"),
    }
    levels: dict[str, int] = {}
    if whole_population:
        options |= {"population": round(10 ** float(texts["population"])), "beta": texts["beta"]}
        weights = {name: 2 ** float(text) for name, text in released("weight").items()}
        options["weights"] |= weights
    elif texts["requirement"] == "release":
        levels = {name: int(text) for name, text in released("level").items() if int(text)}
    else:
        raise ValueError
    for column, aim in released("aim").items():
        if aim.startswith("keep:"):
            options["keep"][column] = int(aim.removeprefix("keep:"))
        elif aim in ("prefer", "may go"):
            options["weights"][column] = PREFERRED_WEIGHT if aim == "prefer" else 0.0
        elif aim in ("apart", "may change"):
            options[aim.replace(" ", "_")].append(column)
        else:
            raise ValueError
    amounts = released("amount")
    masks = {
        column: {"method": method, "amount": amounts.get(column)}
        for column, method in released("mask").items()
    }
    return {
        "options": options,
        "levels": levels,
        "masks": masks,
        "recoding": texts["recoding"],
        "form": texts["form"],
        "policy": texts["policy"],
        "neutralize_formulas": values["neutralize_formulas"] and texts["form"] == "csv",
    }


def _of_columns(texts: Mapping[str, str], kind: str) -> dict[str, str]:
    """The choices of a kind by their column."""
    start = f"{kind}:"
    return {name[len(start) :]: text for name, text in texts.items() if name.startswith(start)}


def _preserved(text: str) -> list[list[str]]:
    """Columns, and pairs of columns, as in `income, age + sex`."""
    parts = ([name.strip() for name in part.split("+")] for part in text.split(","))
    return [names for names in ([n for n in part if n] for part in parts) if names]


def _pair(text: str) -> list[float] | None:
    """Two numbers, as in `3, 2`; with decimal commas as in `2,5; 2`."""
    parts = text.split(";") if ";" in text else re.split(r"[,\s]+", text)
    numbers = [float(part.strip().replace(",", ".")) for part in parts if part.strip()]
    return numbers or None
