"""The measures of the HIPAA Safe Harbor: identifiers, places, dates and ages in the columns."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from crypsis.assessment._request import Request
from crypsis.columns.roles import Hipaa
from crypsis.columns.safe_harbor import (
    ColumnValues,
    Recoding,
    SafeHarborHit,
    examine,
    postal_areas_of,
    recoding_of,
)
from crypsis.dataset import Dataset
from crypsis.errors import TooLargeError
from crypsis.options import Role
from crypsis.policies import Measurement
from crypsis.policies.assessed import ColumnRole
from crypsis.report.wording import plural

_MAX_SMALL_AREA_PEOPLE = 20_000
"""Postal areas of so many people or fewer may not be released: 45 CFR 164.514(b)(2)(i)(B)."""
_MAX_EXAMINED_VALUES = 5_000_000
"""The values of a column with more are not examined."""
PARTS = {
    "identifiers": ("hipaa_identifiers", "one of the 18 identifiers of HIPAA"),
    "places": ("geographic_subdivisions", "places smaller than HIPAA allows"),
    "dates": ("dates_finer_than_year", "dates finer than the year"),
    "ages": ("ages_over_89", "ages above 89, or years of birth that show them"),
}
"""The measure of each part of the rule, and what it counts."""


def safe_harbor_measures(request: Request) -> list[Measurement]:
    """The measures of the rule that the policy limits, with the reason of every column."""
    limited = {threshold.measure for threshold in request.policy.of("columns")}
    wanted = {part: name for part, (name, _) in PARTS.items() if f"columns.{name}" in limited}
    if not wanted:
        return []
    hits = [hit for safe_harbor_hit in safe_harbor_hits(request).values() for hit in safe_harbor_hit]
    return [
        _measurement(request, name, PARTS[part][1], [hit for hit in hits if hit.part == part])
        for part, name in wanted.items()
    ]


def _measurement(request: Request, name: str, what: str, hits: list[SafeHarborHit]) -> Measurement:
    verb = "contains" if len(hits) == 1 else "contain"
    text = f"{plural(len(hits), 'column')} {verb} {what}"
    if hits:
        text += ": " + "; ".join(f"{hit.column!r} ({hit.item}: {hit.reason})" for hit in hits)
    columns = tuple(hit.column for hit in hits)
    return Measurement(f"columns.{name}", len(hits), f"{text}.", columns, request.data.count if hits else 0)


def safe_harbor_hits(request: Request) -> dict[str, tuple[SafeHarborHit, ...]]:
    """What each released column shows; a column with a written reason is the owner's decision."""
    hits_of = {}
    for column in request.columns:
        if column.role == Role.EXCLUDED.value or column.override:
            continue
        values = _values(request.data, column)
        hits = examine(values, _small_areas(request, values))
        if hits:
            hits_of[column.column] = hits
    return hits_of


def safe_harbor_recodings(request: Request) -> dict[str, Recoding]:
    """The recoding of each column that shows an identifier, after which it shows none."""
    columns = {column.column: column for column in request.columns}
    recodings: dict[str, Recoding] = {}
    for name, hits in safe_harbor_hits(request).items():
        column = _values(request.data, columns[name])
        recodings[name] = recoding_of(column, hits, _small_areas(request, column))
    return recodings


def judges_postal_codes(request: Request) -> bool:
    """Whether three-digit postal codes are judged by the list of the policy."""
    if not request.policy.small_zip3 or isinstance(request.data.population, Dataset):
        return False
    shown = [column for column in request.columns if column.role != Role.EXCLUDED.value]
    return any(postal_areas_of(_values(request.data, column)) for column in shown)


def _values(data: Dataset, column_role: ColumnRole) -> ColumnValues:
    """A column with its distinct values as texts without the missing ones, if they fit."""
    texts = None
    if float(column_role.distinct) <= _MAX_EXAMINED_VALUES:
        try:
            values = data.cells([column_role.column]).values[0].drop_null()
            written = pc.cast(values, pa.string()).to_pylist()
            texts = tuple(dict.fromkeys(text for value in written if (text := str(value).strip())))
        except (TooLargeError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
            texts = None
    guessed = next((item for item in Hipaa if item.value == column_role.hipaa), None)
    identifier = column_role.role == Role.IDENTIFIER.value
    return ColumnValues(column_role.column, column_role.kind, texts, data.count, identifier, guessed)


def _small_areas(request: Request, column: ColumnValues) -> Collection[str]:
    """The areas of 20,000 people or fewer: counted in the population's table, else as listed."""
    people = request.data.population
    if not isinstance(people, Dataset) or column.name not in people.names:
        return request.policy.small_zip3
    digits = postal_areas_of(column) or ()
    cells = people.cells([column.name])
    counts = dict.fromkeys(digits, 0)
    for value, count in zip(cells.values[0].to_pylist(), cells.counts.tolist(), strict=True):
        code = _padded(str(value).strip())[:3]
        if code in counts:
            counts[code] += count
    return {code for code, count in counts.items() if count <= _MAX_SMALL_AREA_PEOPLE}


def _padded(text: str) -> str:
    """A postal code as it is written; three digits stay three."""
    return text if len(text) == 3 or not text.isdecimal() else text.zfill(5)
