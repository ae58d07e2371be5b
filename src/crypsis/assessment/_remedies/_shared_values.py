"""Sensitive attributes that single out most records alone: values that several records share."""

from __future__ import annotations

from collections.abc import Collection

import narwhals.stable.v2 as nw

from crypsis.assessment._request import Request
from crypsis.errors import InputError, TooLargeError
from crypsis.report.wording import named
from crypsis.singling_out import released_uniqueness
from crypsis.tables import Kind

_FEWEST_SHARING = 3
"""The fewest records that share a released value, as a threshold rule has it; a policy may require more."""


def identifying_attributes(request: Request) -> tuple[str, ...]:
    """The sensitive attributes that count as known, because their values are almost unique."""
    try:
        return released_uniqueness(request.data, limit=1.0, seed=request.seed).identifying
    except (InputError, TooLargeError):
        return ()


def sharing_methods(request: Request, names: Collection[str], k: int) -> dict[str, str]:
    """What makes each released value of these attributes shared by k records; text has no such method."""
    types = request.data.rows.frame.collect_schema()
    methods = {}
    for name in names:
        column = request.data.rows.column(name)
        if column.kind.numeric:
            methods[name] = f"microaggregate:{max(k, _FEWEST_SHARING)}"
        elif column.kind is Kind.DATE or types[column.inner] == nw.Datetime:
            methods[name] = "year"
    return methods


def sharing_text(request: Request, names: Collection[str]) -> str:
    """What to do about attributes that are almost unique."""
    of_text = [name for name in names if not sharing_methods(request, [name], 1)]
    rounded = [name for name in names if name not in of_text]
    parts = [f"round {named(rounded)}, so that several records share each released value"] if rounded else []
    parts += [f"exclude {named(of_text)}"] if of_text else []
    text = ", ".join([*parts, "or write with the role why nobody outside can know the value"])
    return f"{text[0].upper()}{text[1:]}."


def without_shared_values(request: Request, names: Collection[str]) -> set[str]:
    """Of these attributes those that no method changes, and which are therefore excluded."""
    return {name for name in names if not sharing_methods(request, [name], 1)}
