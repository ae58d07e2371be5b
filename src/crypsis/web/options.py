"""The options of an anonymization that the page offers, from the models that declare them."""

from __future__ import annotations

import types
from typing import Any, Union, get_args, get_origin, get_type_hints

from crypsis.options import PeopleOptions, PlanOptions, Roles, descriptions

PEOPLE = tuple(PeopleOptions.__annotations__)
_ON_PAGE = (
    "beta",
    "diversity",
    "closeness",
    "best_guess",
    "excess",
    "journalist_risk",
    "suppression",
    "rank_error",
    "k_map",
    "presence",
)
"""Options that have their own field."""


def _simple(hint: Any) -> type | None:
    """The type of an option that is a number or a text and may be unset."""
    if get_origin(hint) not in (Union, types.UnionType):
        return None
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 and kinds[0] in (int, float, str) else None


def advanced() -> dict[str, tuple[type, str]]:
    """The further requirements by name, each with its type and its description.

    >>> advanced()["beta_likeness"][0], "diversity" in advanced(), advanced()["links"][0]
    (<class 'float'>, False, <class 'str'>)
    """
    fields = {}
    for model in (PlanOptions, PeopleOptions):
        texts, hints = descriptions(model), get_type_hints(model)
        for name, hint in hints.items():
            kind = _simple(hint)
            if kind is not None and name not in _ON_PAGE and name not in Roles.__annotations__:
                fields[name] = (kind, texts[name])
    return fields
