"""Columns that a release cannot keep beside the others: released apart, or excluded."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from crypsis.assessment._request import Request
from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.options import Role
from crypsis.report.wording import named
from crypsis.results import percent_text

_OF_SENSITIVE = ("excess", "closeness", "diversity")
AGAINST_POPULATION = ("k_map", "presence", "journalist_risk")
"""The requirements that need the table of the population."""
_MIN_UNIQUE_SHARE = 0.01
"""A column is said to make records unique by itself if it does so with more of them."""
_SHOWN_COLUMNS = 3
"""The records that are unique by themselves are counted of so many columns, the first."""


def apart_or_excluded(
    data: Dataset, names: Collection[str], gone: Collection[str]
) -> tuple[set[str], set[str]]:
    """What of these columns is released apart (sensitive attributes), and what is excluded.

    One sensitive attribute stays, that with the fewest values: it is what an intruder looks for, so
    that it makes nobody unique.
    """
    sensitive = [name for name in data.sensitive if name not in gone]
    separate = {name for name in sensitive if name in names}
    if len(sensitive) > 1 and len(separate) == len(sensitive):
        separate.remove(min(sensitive, key=lambda name: values_of(data, name)))
    return separate, {name for name in names if name not in data.sensitive}


def leave_out(request: Request, parameters: dict[str, Any], names: Collection[str]) -> None:
    """Leave out further columns; without a sensitive attribute nothing is required of any."""
    before = {*parameters.get("excluded", ()), *parameters.get("apart", ())}
    separate, excluded = apart_or_excluded(request.data, names, before)
    for key, more in (("apart", separate), ("excluded", excluded)):
        columns = {*parameters.get(key, ()), *more}
        if columns:
            parameters[key] = tuple(name for name in request.data.names if name in columns)
    left = {*parameters.get("excluded", ()), *parameters.get("apart", ())}
    if not {*request.data.sensitive} - left:
        for name in _OF_SENSITIVE:
            parameters.pop(name, None)


def left_out(parameters: dict[str, Any], columns: Sequence[str]) -> str:
    """How a column leaves the table, if it does."""
    if {*columns} & {*parameters.get("excluded", ())}:
        return "excluded"
    return "released apart" if {*columns} & {*parameters.get("apart", ())} else ""


def text_left_out(data: Dataset, parameters: dict[str, Any]) -> str:
    """Which columns are released apart or excluded, and why they cannot stay."""
    text = ""
    for key, what in (("apart", "released apart"), ("excluded", "excluded")):
        names = parameters.get(key, ())
        if not names:
            continue
        text += f"; {named(names)} {'is' if len(names) == 1 else 'are'} {what}"
        shares = {name: unique_alone(data, name) for name in names[:_SHOWN_COLUMNS]}
        alone = [
            f"{name!r} alone makes {percent_text(share)} of the records unique"
            for name, share in shares.items()
            if share > _MIN_UNIQUE_SHARE
        ]
        if key == "apart":
            alone.append("in files of their own, not connected with the other columns")
        text += f" ({'; '.join(alone)})" if alone else ""
    return text


def unique_alone(data: Dataset, name: str) -> float:
    """The share of records whose value no other has."""
    with suppress(InputError, TooLargeError):
        counts = data.cells([name]).counts
        return float((counts == 1).sum() / max(1, counts.sum()))
    return 0.0


def values_of(data: Dataset, name: str) -> int:
    """The number of values of a column."""
    with suppress(InputError, TooLargeError):
        return len(data.cells([name]))
    return data.count


def decided(request: Request, parameters: dict[str, Any]) -> Dataset:
    """The data with the columns excluded that are not released."""
    excluded = {*parameters.get("excluded", ())}
    roles = {name: Role.EXCLUDED if name in excluded else role for name, role in request.data.roles.items()}
    data = request.data.with_roles(roles)
    if not {*parameters} & {*AGAINST_POPULATION}:  # the classes are those of the release
        data = replace(data, population=None)
    return data.strict()  # the only reading of a recoding
