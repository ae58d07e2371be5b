"""What can be done to a column: each step says how, for one value and for the engine.

A step is a small frozen model, so that a plan is a file that can be read, edited and used again.
`label` gives what a value becomes, `expression` the same where the rows are, `raw_value` a value
that a label stands for (so that coarser steps can be applied to what was generalized already).
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

from crypsis.anonymize._cluster import _plain
from crypsis.anonymize._dates import UNITS, date_expression, date_label, first_day
from crypsis.anonymize._hierarchy import TOP, as_text
from crypsis.engine.base import Kind


class _Step(BaseModel, ABC):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @abstractmethod
    def label(self, value: Any) -> Any:
        """What a value that is not missing becomes."""

    @abstractmethod
    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        """The same for a column of that kind, where the rows are; missing stays missing."""

    def raw_value(self, label: Any) -> Any:
        """A value that becomes this label."""
        return label

    def kind(self, kind: Kind) -> Kind:
        """What the column holds afterwards."""
        return Kind.TEXT

    def suits(self, kind: Kind) -> bool:
        """Whether it can be done to a column of that kind."""
        return True

    @abstractmethod
    def describe(self) -> str:
        """In a few words, for the table and the statement."""


class Keep(_Step):
    """Leave the column as it is."""

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
    """Numbers into groups of neighbours; `upper` is the largest value of each but the last.

    `labels` are texts such as "30-39", or the numbers that stand for the groups.
    """

    method: Literal["intervals"] = "intervals"
    upper: tuple[float, ...]
    labels: tuple[str, ...] | tuple[float, ...]

    @model_validator(mode="after")
    def _fits(self) -> Intervals:
        if len(self.labels) != len(self.upper) + 1:
            raise ValueError("intervals need one label more than upper bounds")
        if any(map(math.isnan, self.upper)):
            raise ValueError("the upper bounds of intervals are numbers")
        if any(b <= a for a, b in zip(self.upper, self.upper[1:], strict=False)):
            raise ValueError("the upper bounds of intervals rise")
        return self

    def label(self, value: Any) -> Any:
        return self.labels[bisect.bisect_left(self.upper, value)]

    def raw_value(self, label: Any) -> Any:
        if not self.upper:
            return 0
        place = self.labels.index(label)
        return self.upper[place] if place < len(self.upper) else self.upper[-1] + 1

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        there = ~column.is_null()
        if kind is Kind.NUMBER:
            there = there & ~column.cast(nw.Float64).is_nan()
        return self._tree(column, there, 0, len(self.labels))

    def _tree(self, column: nw.Expr, there: nw.Expr, start: int, end: int) -> nw.Expr:
        """Bisection as nested conditions: log2(groups) comparisons a value.

        A missing value is at most nothing, and NaN comes after all numbers: both end in the last
        group, and only there is looked for them.
        """
        if end - start == 1:
            label = nw.lit(self.labels[start])
            return label if end < len(self.labels) else nw.when(there).then(label)
        half = (start + end) // 2
        left = self._tree(column, there, start, half)
        right = self._tree(column, there, half, end)
        return nw.when(column <= self.upper[half - 1]).then(left).otherwise(right)

    def suits(self, kind: Kind) -> bool:
        return kind.numeric

    def kind(self, kind: Kind) -> Kind:
        return Kind.TEXT if isinstance(self.labels[0], str) else Kind.NUMBER

    def describe(self) -> str:
        form = "intervals" if isinstance(self.labels[0], str) else "groups, one number for each"
        return f"{len(self.labels)} {form}"


class DateUnit(_Step):
    """Dates by month, quarter, half-year, year or decade."""

    method: Literal["date"] = "date"
    unit: Literal["month", "quarter", "half-year", "year", "decade"]

    def label(self, value: Any) -> Any:
        return date_label(value, self.unit)

    def suits(self, kind: Kind) -> bool:
        return kind in (Kind.DATE, Kind.TIME)

    def raw_value(self, label: Any) -> Any:
        return first_day(label)

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        return date_expression(column, self.unit)

    def describe(self) -> str:
        return f"{self.unit} only"


class Prefix(_Step):
    """Codes by their first characters; the others become stars. Numbers get leading zeros first."""

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


class Level(_Step):
    """Names of one level of a hierarchy, each with the values it stands for."""

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
        text, found = text_of(column, kind), nw.lit(None, nw.String)
        for label, values in self.groups.items():
            found = nw.when(text.is_in(list(values))).then(nw.lit(label)).otherwise(found)
        return found

    def describe(self) -> str:
        return f"level {self.level} of its hierarchy, {len(self.groups)} names"


class Common(_Step):
    """The commonest values as they are, all others under one name."""

    method: Literal["common"] = "common"
    values: tuple[str, ...]
    other: str = "other"

    def label(self, value: Any) -> Any:
        return as_text(value) if as_text(value) in self.values else self.other

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        text = text_of(column, kind)
        common = nw.when(text.is_in(list(self.values))).then(text).otherwise(nw.lit(self.other))
        return nw.when(~column.is_null()).then(common)

    def describe(self) -> str:
        return f"the {len(self.values)} commonest values, the others as {self.other!r}"


class Top(_Step):
    """Numbers of at least `limit` become `limit`: ages over 89 as 90."""

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
        return f"{_plain(float(self.limit))} stands for that and more"


class Suppress(_Step):
    """Every value becomes missing."""

    method: Literal["suppress"] = "suppress"

    def label(self, value: Any) -> Any:
        return None

    def expression(self, column: nw.Expr, kind: Kind) -> nw.Expr:
        return nw.when(nw.lit(False)).then(column)

    def kind(self, kind: Kind) -> Kind:
        return kind

    def describe(self) -> str:
        return "left empty"


Step = Annotated[
    Keep | Intervals | DateUnit | Prefix | Level | Common | Top | Suppress,
    Field(discriminator="method"),
]
DATE_STEPS = tuple(DateUnit(unit=unit) for unit in UNITS)  # type: ignore[arg-type]


def text_of(column: nw.Expr, kind: Kind) -> nw.Expr:
    """A column as `as_text` spells its values."""
    if kind is not Kind.NUMBER:
        return column.cast(nw.String)
    whole = column == column.round(0)
    return (
        nw.when(whole).then(column.cast(nw.Int64).cast(nw.String)).otherwise(column.cast(nw.String))
    )


def intervals(
    upper: Sequence[float], *, whole: bool, stands: Sequence[float] | None = None
) -> Intervals:
    """Groups by their upper bounds; the first and the last stay open, so no extreme is told.

    >>> intervals([29, 89], whole=True).labels
    ('<=29', '30-89', '>=90')
    """
    bounds = tuple(float(bound) for bound in upper)
    if stands is not None:
        return Intervals(upper=bounds, labels=tuple(float(number) for number in stands))
    if not bounds:
        return Intervals(upper=(), labels=("all",))
    names = [_plain(bound) for bound in bounds]
    lows = [
        _plain(bound + 1) if whole else f">{name}"
        for bound, name in zip(bounds, names, strict=True)
    ]
    labels = [f"<={names[0]}"]
    for low, bound, name in zip(lows, bounds[1:], names[1:], strict=False):
        dash = " to " if low.startswith((">", "-")) or bound < 0 else "-"
        labels.append(name if low == name else f"{low}{dash}{name}")
    labels.append(f">={lows[-1]}" if whole else lows[-1])
    return Intervals(upper=bounds, labels=tuple(labels))


def merged(step: Intervals, *, whole: bool) -> Intervals | None:
    """The same groups two by two; None when there is one group already."""
    if not step.upper:
        return None
    kept = step.upper[1::2]
    if isinstance(step.labels[0], str):
        return intervals(kept, whole=whole) if kept else None
    # The median of two groups of one size is the bound between them.
    stands = [*step.upper[::2], *step.labels[2 * len(step.upper[::2]) :]]
    return intervals(kept, whole=whole, stands=[float(number) for number in stands])
