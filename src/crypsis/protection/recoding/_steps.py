"""Recoding steps of a column: generalization, top coding, suppression.

A step is a small frozen model, so that a plan can be written to a file, edited and used again.
`label` recodes one value, `expression` a column where the rows are stored; `raw_value` is a value
that a label represents, so that coarser steps apply to values that are generalized already.
"""

from __future__ import annotations

import bisect
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, Literal

import narwhals.stable.v2 as nw
from pydantic import BaseModel, ConfigDict, Field, model_validator

from crypsis.hierarchies.labels import TOP, UNITS, as_text, date_expression, date_label, first_day, unit_name
from crypsis.protection.recoding._clusters import number_label
from crypsis.tables import Kind


class _Step(BaseModel, ABC):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @abstractmethod
    def label(self, value: Any) -> Any:
        """A value that is not missing, recoded."""

    @abstractmethod
    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        """A column of that kind, recoded where the rows are stored; missing stays missing."""

    def raw_value(self, label: Any) -> Any:
        """A value with this label."""
        return label

    def kind(self, kind: Kind) -> Kind:
        """The kind of the recoded column."""
        return Kind.TEXT

    def suits(self, kind: Kind) -> bool:
        """Whether the step applies to a column of that kind."""
        return True

    @abstractmethod
    def describe(self) -> str:
        """A few words for the plan and the statement."""


class Keep(_Step):
    """The column is not recoded."""

    method: Literal["keep"] = "keep"

    def label(self, value: Any) -> Any:
        return value

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        return column

    def kind(self, kind: Kind) -> Kind:
        return kind

    def describe(self) -> str:
        return "as it is"


class Intervals(_Step):
    """Numbers by interval; `upper` is the largest value of each interval but the last.

    `labels` are texts such as "30-39", or one number for each interval.
    """

    method: Literal["intervals"] = "intervals"
    upper: tuple[float, ...]
    labels: tuple[str, ...] | tuple[float, ...]

    @model_validator(mode="after")
    def _fits(self) -> Intervals:
        if len(self.labels) != len(self.upper) + 1:
            raise ValueError("intervals need one label more than upper bounds")
        if any(map(math.isnan, self.upper)):
            raise ValueError("the upper bounds of intervals must be numbers")
        if any(b <= a for a, b in zip(self.upper, self.upper[1:], strict=False)):
            raise ValueError("the upper bounds of intervals must increase")
        return self

    def label(self, value: Any) -> Any:
        return self.labels[bisect.bisect_left(self.upper, value)]

    def raw_value(self, label: Any) -> Any:
        if not self.upper:
            return 0
        position = self.labels.index(label)
        return self.upper[position] if position < len(self.upper) else self.upper[-1] + 1

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        present = ~column.is_null()
        if kind is Kind.NUMBER:
            present = present & ~column.cast(nw.Float64).is_nan()
        return self._tree(column, present, 0, len(self.labels))

    def _tree(self, column: nw.Expr, expr: nw.Expr, start: int, end: int) -> nw.Expr:
        """Bisection as nested conditions: log2(intervals) comparisons a value.

        Comparing a missing value is false and NaN sorts after all numbers: both end in the last
        interval, and only that one tests for them.
        """
        if end - start == 1:
            label = nw.lit(self.labels[start])
            return label if end < len(self.labels) else nw.when(expr).then(label)
        half = (start + end) // 2
        left = self._tree(column, expr, start, half)
        right = self._tree(column, expr, half, end)
        return nw.when(column <= self.upper[half - 1]).then(left).otherwise(right)

    def suits(self, kind: Kind) -> bool:
        return kind.numeric

    def kind(self, kind: Kind) -> Kind:
        return Kind.TEXT if isinstance(self.labels[0], str) else Kind.NUMBER

    def describe(self) -> str:
        form = "intervals" if isinstance(self.labels[0], str) else "intervals, one number for each"
        return f"{len(self.labels)} {form}"


class DateUnit(_Step):
    """Dates by month, quarter, half-year, year, decade or period of years."""

    method: Literal["date"] = "date"
    unit: Literal["month", "quarter", "half-year", "year", "decade", "20 years", "40 years", "80 years"]

    def label(self, value: Any) -> Any:
        return date_label(value, self.unit)

    def suits(self, kind: Kind) -> bool:
        return kind in (Kind.DATE, Kind.TIME)

    def raw_value(self, label: Any) -> Any:
        return first_day(label)

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        return date_expression(column, self.unit)

    def describe(self) -> str:
        return f"{unit_name(self.unit)} only"


class Prefix(_Step):
    """Codes by their first characters, then asterisks; integers are padded with zeros first."""

    method: Literal["prefix"] = "prefix"
    length: Annotated[int, Field(ge=1)]
    width: Annotated[int, Field(ge=1)]

    def suits(self, kind: Kind) -> bool:
        return kind in (Kind.INTEGER, Kind.TEXT)

    def label(self, value: Any) -> Any:
        text = as_text(value)
        if not isinstance(value, str):
            text = text.zfill(self.width)
        return text[: self.length] + TOP * (self.width - self.length)

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        text = column.cast(nw.String)
        if kind is not Kind.TEXT:
            text = column.cast(nw.Int64).cast(nw.String).str.zfill(self.width)
        stars = nw.lit(TOP * (self.width - self.length))
        return nw.concat_str(text.str.slice(0, self.length), stars)

    def describe(self) -> str:
        return f"first {self.length} of {self.width} characters"


class HierarchyLevel(_Step):
    """The labels of one level of a hierarchy, each with its values."""

    method: Literal["level"] = "level"
    level: Annotated[int, Field(ge=1)]
    groups: dict[str, tuple[str, ...]]

    @cached_property
    def _names(self) -> dict[str, str]:
        return {value: label for label, values in self.groups.items() for value in values}

    def label(self, value: Any) -> Any:
        return self._names.get(as_text(value))

    def raw_value(self, label: Any) -> Any:
        return self.groups[label][0]

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        text, labels = text_of(column, kind), nw.lit(None, nw.String)
        for label, values in self.groups.items():
            labels = nw.when(text.is_in(list(values))).then(nw.lit(label)).otherwise(labels)
        return labels

    def describe(self) -> str:
        return f"level {self.level} of its hierarchy, {len(self.groups)} labels"


class FrequentValues(_Step):
    """The most frequent values are kept, all others share one label."""

    method: Literal["frequent"] = "frequent"
    values: tuple[str, ...]
    other: str = "other"

    def label(self, value: Any) -> Any:
        return as_text(value) if as_text(value) in self.values else self.other

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        text = text_of(column, kind)
        kept = nw.when(text.is_in(list(self.values))).then(text).otherwise(nw.lit(self.other))
        return nw.when(~column.is_null()).then(kept)

    def describe(self) -> str:
        kept = f"{len(self.values)} most frequent values"
        kept = "most frequent value" if len(self.values) == 1 else kept
        return f"the {kept}, the others as {self.other!r}"


class Top(_Step):
    """Top coding: numbers of at least `limit` become `limit`, such as ages over 89 as 90."""

    method: Literal["top"] = "top"
    limit: Annotated[float, Field(allow_inf_nan=False)]

    def label(self, value: Any) -> Any:
        if isinstance(value, Decimal):  # with as many digits as the column has
            return min(value, Decimal(str(self.limit)).quantize(value))
        return min(value, type(value)(self.limit))

    def suits(self, kind: Kind) -> bool:
        return kind.numeric

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        limit = int(self.limit) if kind is Kind.INTEGER else self.limit
        return nw.when(column > limit).then(nw.lit(limit)).otherwise(column)

    def kind(self, kind: Kind) -> Kind:
        return kind

    def describe(self) -> str:
        return f"top coded at {number_label(float(self.limit))}"


class Suppress(_Step):
    """Every value is suppressed."""

    method: Literal["suppress"] = "suppress"

    def label(self, value: Any) -> Any:
        return None

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        return nw.when(nw.lit(False)).then(column)

    def kind(self, kind: Kind) -> Kind:
        return kind

    def describe(self) -> str:
        return "suppressed"


Step = Annotated[
    Keep | Intervals | DateUnit | Prefix | HierarchyLevel | FrequentValues | Top | Suppress,
    Field(discriminator="method"),
]
DATE_STEPS = tuple(DateUnit(unit=unit) for unit in UNITS)  # type: ignore[arg-type]


def text_of(column: nw.Expr, kind: Kind) -> nw.Expr:
    """A column as `as_text` writes its values."""
    if kind is not Kind.NUMBER:
        return column.cast(nw.String)
    integer = column == column.round(0)
    return nw.when(integer).then(column.cast(nw.Int64).cast(nw.String)).otherwise(column.cast(nw.String))


def intervals(
    upper: Sequence[float], *, integer: bool, representatives: Sequence[float] | None = None
) -> Intervals:
    """Intervals by their upper bounds; the first and the last are open, so no extreme is shown.

    >>> intervals([29, 89], integer=True).labels
    ('<=29', '30-89', '>=90')
    """
    bounds = tuple(float(bound) for bound in upper)
    if representatives is not None:
        return Intervals(upper=bounds, labels=tuple(map(float, representatives)))
    if not bounds:
        return Intervals(upper=(), labels=("all",))
    names = [number_label(bound) for bound in bounds]
    lows = [
        number_label(bound + 1) if integer else f">{name}" for bound, name in zip(bounds, names, strict=True)
    ]
    labels = [f"<={names[0]}"]
    for low, bound, name in zip(lows, bounds[1:], names[1:], strict=False):
        dash = " to " if low.startswith((">", "-")) or bound < 0 else "-"
        labels.append(name if low == name else f"{low}{dash}{name}")
    labels.append(f">={lows[-1]}" if integer else lows[-1])
    return Intervals(upper=bounds, labels=tuple(labels))


def merged(step: Intervals, *, integer: bool) -> Intervals | None:
    """The same intervals two by two; None when there is one interval already."""
    if not step.upper:
        return None
    kept = step.upper[1::2]
    if isinstance(step.labels[0], str):
        return intervals(kept, integer=integer) if kept else None
    # The median of two groups of one size is the bound between them.
    middles = [*step.upper[::2], *step.labels[2 * len(step.upper[::2]) :]]
    return intervals(kept, integer=integer, representatives=[float(middle) for middle in middles])


def coarser_intervals(step: Intervals, *, integer: bool) -> list[Intervals]:
    """The intervals merged two by two, again and again."""
    levels: list[Intervals] = []
    above = merged(step, integer=integer)
    while above is not None:
        levels.append(above)
        above = merged(above, integer=integer)
    return levels
