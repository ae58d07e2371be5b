"""How exactly an intruder knows an event: to the day or to the week, a prefix, an amount within 10 %."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.array_types import Floats, Ints
from crypsis.errors import ParameterError
from crypsis.hierarchies.labels import as_text
from crypsis.tables import Kind

Tolerances = Mapping[str, str | int | float]
_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_FORM = re.compile(r"^(\d+(?:\.\d+)?)\s*(%|[a-z]+)$")
_PREFIX = re.compile(r"^prefix\s*:?\s*(\d+)$")


@dataclass(frozen=True)
class Tolerance:
    """Values within a distance, absolute or relative, or with the same first characters."""

    prefix: int | None = None
    absolute: float = 0.0
    relative: float = 0.0

    def bounds(self, values: Floats) -> tuple[Floats, Floats]:
        """The interval around each of the values that the intruder knows."""
        width = self.absolute + self.relative * np.abs(values)
        slack = 1e-12 * np.abs(values)
        return values - width - slack, values + width + slack


def tolerance_of(name: str, kind: Kind, setting: str | int | float) -> Tolerance:
    """What was given for a column: "7 days", "prefix 3", "10 %" or a number.

    >>> tolerance_of("zip", Kind.TEXT, "prefix 3").prefix, tolerance_of("t", Kind.DATE, "1 week").absolute
    (3, 604800.0)
    """
    text = str(setting).strip().lower()
    prefix, form = _PREFIX.match(text), _FORM.match(text)
    if prefix is not None and int(prefix[1]) > 0:
        return Tolerance(prefix=int(prefix[1]))
    if form is not None and form[2] == "%" and kind.numeric:
        return Tolerance(relative=float(form[1]) / 100)
    unit = None if form is None else _SECONDS.get(form[2].rstrip("s"))
    if form is not None and unit is not None and kind in (Kind.DATE, Kind.TIME):
        return Tolerance(absolute=float(form[1]) * unit)
    if kind.numeric and re.fullmatch(r"\d+(\.\d+)?", text):
        return Tolerance(absolute=float(text))
    forms = "'prefix 3'"
    if kind in (Kind.DATE, Kind.TIME):
        forms = "'1 day', '2 weeks', '3 hours'"
    elif kind.numeric:
        forms = "a number, '10 %' or 'prefix 3'"
    raise ParameterError(
        f"The tolerance of column {name!r} ({kind.value}) is not valid; it is {forms}.",
        code="tolerance",
        parameter="tolerance",
        columns=(name,),
    )


def prefix_codes(values: pa.Array, length: int) -> tuple[Ints, int]:
    """The number of the first characters of each value, a missing value last, and how many."""
    texts = [None if value is None else as_text(value)[:length] for value in values.to_pylist()]
    coded = pa.array(texts, pa.string()).dictionary_encode()
    size = len(coded.dictionary)
    return np.asarray(coded.indices.fill_null(size), np.int64), size + 1


def measured(values: pa.Array) -> Floats:
    """Numbers as they are, dates and times in seconds; a missing value is 0."""
    kind: Any = values.type
    if pa.types.is_date(kind):
        values = values.cast(pa.timestamp("s"))
    elif pa.types.is_timestamp(kind):
        values = values.cast(pa.timestamp("us", tz=kind.tz))
    if pa.types.is_timestamp(values.type):
        per_second = 1.0 if values.type.unit == "s" else 1e6
        whole = values.cast(pa.int64()).fill_null(0)
        return np.asarray(whole.to_numpy(zero_copy_only=False), np.float64) / per_second
    return np.asarray(values.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, eq=False)
class Buckets:
    """The values of a column in buckets, so that those within a tolerance are in a few of them."""

    values: pa.Array
    """All different values, in their order, a missing value last."""
    bucket: Ints
    first: Ints
    last: Ints
    """The bucket of each value, and those in which the values are that are within the tolerance."""

    @classmethod
    def of(cls, values: pa.Array, rule: Tolerance) -> Buckets:
        """A bucket begins with the first value out of reach of the one before it began with."""
        if rule.prefix is not None:
            bucket, _ = prefix_codes(values, rule.prefix)
            return cls(values, bucket, bucket, bucket)
        present = values.drop_null()
        number = measured(present)
        low, high = rule.bounds(number)
        after = np.searchsorted(number, high, "right")
        bucket = np.zeros(len(values), np.int64)
        start = 0
        while start < number.size:
            bucket[start] = 1
            start = int(after[start])
        bucket = np.cumsum(bucket) - 1
        bucket[number.size :] += 1  # a missing value is within reach of no other
        first, last = bucket.copy(), bucket.copy()
        first[: number.size] = bucket[np.searchsorted(number, low, "left")]
        last[: number.size] = bucket[after - 1]
        return cls(values, bucket, first, last)
