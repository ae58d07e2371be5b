"""What every measure hands back: frozen results that print, show in a notebook and turn into JSON.

A quantity that is known exactly is a plain `int` or `float` (`Exact`). One that was estimated is an
`Estimate`: it turns into a float and always carries its interval. Everything else is a `Result`
with named fields. Fields that hold values of the data itself are declared with `raw()`; they are
left out of JSON, HTML and print unless the owner asks with `reveal=True`. Fields whose names begin
with an underscore are what methods work on, such as arrays; they are never shown.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from html import escape
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from crypsis.errors import ParameterError

_ROWS_SHOWN = 20


def raw(**options: Any) -> Any:
    """A dataclass field that holds values of the data: shown to the owner, never by default.

    Its `repr` leaves it out too: that is what ends up in logs and tracebacks.
    """
    return field(metadata={"raw": True}, repr=False, **options)


class Result:
    """A frozen dataclass that prints well, shows as HTML in a notebook and has `to_dict()`."""

    def to_dict(self, *, reveal: bool = False) -> dict[str, Any]:
        """The fields as plain Python values, fit for JSON; data values only with `reveal=True`."""
        return {name: _plain(value, reveal) for name, value in self._shown(reveal)}

    def _shown(self, reveal: bool) -> list[tuple[str, Any]]:
        return [
            (part.name, getattr(self, part.name))
            for part in fields(self)  # type: ignore[arg-type]
            if not part.name.startswith("_") and (reveal or not part.metadata.get("raw"))
        ]

    def __str__(self) -> str:
        shown = self._shown(False)
        width = max((len(name) for name, _ in shown), default=0)
        lines = [f"{name:<{width}}  {_text(value)}" for name, value in shown]
        return "\n".join([type(self).__name__, *("  " + line for line in lines)])

    def _repr_html_(self) -> str:
        return to_html(self)


@dataclass(frozen=True)
class Estimate(Result):
    """A number that was estimated: its value, its interval, and how it was found.

    >>> share = Estimate(0.25, low=0.2, high=0.31, method="Wilson interval")
    >>> float(share), str(share)
    (0.25, '0.25 (0.2 to 0.31 at 95 %)')
    """

    value: float
    low: float
    high: float
    confidence: float = 0.95
    method: str = ""
    assumes: str = ""

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ParameterError(
                f"An estimate lies within its interval; {self.value} is not in "
                f"[{self.low}, {self.high}]."
            )

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        interval = f"{self.low:.4g} to {self.high:.4g} at {100 * self.confidence:.3g} %"
        return f"{self.value:.4g} ({interval})"

    def __format__(self, spec: str) -> str:
        """Never without its interval, in whatever form a number is asked for."""
        if not spec:
            return str(self)
        told = [round(x) if spec == "," else x for x in (self.value, self.low, self.high)]
        value, low, high = (format(x, spec) for x in told)
        return f"{value} ({low} to {high})"


Exact: TypeAlias = int | float
Number: TypeAlias = Exact | Estimate


@dataclass(frozen=True)
class Group(Result):
    """The rows that share one combination of values: which columns, how many rows, which values."""

    columns: tuple[str, ...]
    size: int
    values: tuple[Any, ...] = raw(default=())


def _plain(value: Any, reveal: bool) -> Any:
    """`value` as JSON knows it: results become dicts, arrays lists, infinities and NaN None."""
    if isinstance(value, Result):
        return value.to_dict(reveal=reveal)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.generic):
        return _plain(value.item(), reveal)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.ndarray):
        return _plain(value.tolist(), reveal)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, reveal) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [_plain(item, reveal) for item in value]
    if dataclasses.is_dataclass(value):
        return {p.name: _plain(getattr(value, p.name), reveal) for p in fields(value)}
    return str(value)


def _text(value: Any) -> str:
    """`value` in a line of print."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Estimate):
        return str(value)
    if isinstance(value, Result):
        return ", ".join(f"{name} {_text(item)}" for name, item in value._shown(False))
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(item)}" for key, item in list(value.items())[:_ROWS_SHOWN])
    if isinstance(value, tuple | list):
        if value and isinstance(value[0], Result):
            return f"{len(value):,} of {type(value[0]).__name__}"
        more = ", ..." if len(value) > _ROWS_SHOWN else ""
        return ", ".join(_text(item) for item in value[:_ROWS_SHOWN]) + more
    return str(value)


def to_html(result: Result) -> str:
    """A small table for notebooks; everything is escaped, and no data value is shown."""
    if isinstance(result, Estimate):
        return f"<span>{escape(str(result))}</span>"
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{_html(value)}</td></tr>"
        for name, value in result._shown(False)
    )
    name = escape(type(result).__name__)
    return f"<table class='crypsis'><caption>{name}</caption><tbody>{rows}</tbody></table>"


def _html(value: Any) -> str:
    if isinstance(value, tuple | list) and value and isinstance(value[0], Result):
        return table_html(value)
    if isinstance(value, Result) and not isinstance(value, Estimate):
        return to_html(value)
    return escape(_text(value))


def table_html(results: Sequence[Result]) -> str:
    """Results of one kind as the rows of a table (the first twenty)."""
    names = [name for name, _ in results[0]._shown(False)]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_text(v))}</td>" for _, v in row._shown(False)) + "</tr>"
        for row in results[:_ROWS_SHOWN]
    )
    more = len(results) - _ROWS_SHOWN
    note = f"<tr><td colspan='{len(names)}'>and {more:,} more</td></tr>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}{note}</tbody></table>"


class Verdict(Enum):
    """May it leave the house?"""

    SAFE = "safe"
    NOT_SAFE = "not safe"
    CANNOT_TELL = "cannot tell"


class Status(Enum):
    """How a measure stands to its threshold."""

    OUTSIDE = "outside"
    UNKNOWN = "cannot tell"
    WITHIN = "within"
    NOT_ASKED = "not asked"


class Severity(Enum):
    """How bad it is that a threshold is broken; the policy says so."""

    CRITICAL = "critical"
    HIGH = "high"
    MODERATE = "moderate"
    NONE = "none"


@dataclass(frozen=True)
class Remedy(Result):
    """What to do about a finding: a command that can be pasted, and what it was seen to bring."""

    text: str
    command: str | None
    tried: bool = False
    """Whether it was carried out on this very release and measured."""
    value_after: Number | None = None
    """What the measure came to when it was tried."""
    outcome: str = ""


@dataclass(frozen=True)
class Finding(Result):
    """A measure held against its threshold: how bad, for how many, in which columns, what to do."""

    question: str
    measure: str
    status: Status
    severity: Severity
    statement: str
    value: Number | None
    comparison: str
    threshold: float
    unit: str
    crowd: int | None
    why: str
    source: str
    columns: tuple[str, ...] = ()
    people: int | None = None
    """How many people it exposes, where that can be counted."""
    remedy: Remedy | None = None


@dataclass(frozen=True)
class ColumnRole(Result):
    """A column: what it is, and who said so."""

    column: str
    kind: str
    role: str
    guessed: bool
    confidence: float
    reason: str
    distinct: Number
    """An estimate where the column has too many values to count."""
    missing: int
    hipaa: str | None
    free_text: bool


@dataclass(frozen=True)
class Answer(Result):
    """One of the four questions: how it stands, in one sentence, and the results behind it."""

    question: str
    title: str
    status: Status
    headline: str
    results: Mapping[str, Result]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change(Result):
    """A number before and after, where the original was given."""

    measure: str
    before: float
    after: float
    unit: str


@dataclass(frozen=True)
class Assessment(Result):
    """May this release leave the house? The verdict, the findings and everything behind them."""

    verdict: Verdict
    complete: bool
    """False where the work was stopped: the findings are those known by then."""
    reasons: tuple[str, ...]
    """Why the verdict is what it is, and for "cannot tell" what is missing."""
    name: str
    """What the release is called."""
    rows: int
    policy: Mapping[str, Any]
    columns: tuple[ColumnRole, ...]
    findings: tuple[Finding, ...]
    answers: tuple[Answer, ...]
    changes: tuple[Change, ...]
    parameters: Mapping[str, Any]
    versions: Mapping[str, str]
    made: str
    """When, in UTC; the only part that two equal runs differ in."""

    @property
    def guessed(self) -> tuple[ColumnRole, ...]:
        """The columns whose role nobody decided."""
        return tuple(column for column in self.columns if column.guessed)

    @property
    def exposed(self) -> tuple[Finding, ...]:
        """The findings outside the policy."""
        return tuple(one for one in self.findings if one.status is Status.OUTSIDE)

    def answer(self, question: str) -> Answer | None:
        """What was found of a question."""
        return next((one for one in self.answers if one.question == question), None)

    def to_json(self) -> str:
        """As JSON, with its version; its schema is `crypsis.report.json.schema()`."""
        return str(_report("json").assessment_json(self))

    def to_html(self) -> str:
        """As one HTML page that stands alone."""
        return str(_report("assessment").assessment_page(self))

    def to_markdown(self) -> str:
        """As Markdown."""
        return str(_report("markdown").assessment_markdown(self))

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.verdict.value}" + ("" if self.complete else " (incomplete)")]
        lines += [f"  - {reason}" for reason in self.reasons]
        lines += [f"  {one.status.value:<12} {one.statement}" for one in self.findings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return str(_report("assessment").assessment_fragment(self))


def _report(module: str) -> Any:
    """The drawing part, fetched when asked for: results stand below everything that shows them."""
    return import_module(f"crypsis.report.{module}")
