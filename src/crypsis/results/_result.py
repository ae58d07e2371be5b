"""Frozen results that print, show in a notebook and become JSON or frames."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from html import escape
from typing import Any, dataclass_transform

import numpy as np

from crypsis.errors import MissingDependencyError, ParameterError
from crypsis.results._estimate import Estimate

_ROWS_SHOWN = 20


def raw(**options: Any) -> Any:
    """A field that contains data values: shown only with `reveal=True`."""
    return field(metadata={"raw": True}, **options)


@dataclass_transform(frozen_default=True, field_specifiers=(field, raw))
class Result:
    """The base of all results: every subclass is a frozen dataclass that shows no data values.

    `repr` is one short line, `print` a few, and in a notebook it is a table. `to_dict()` has the
    fields as plain values; `to_frame()` the rows of a result that is a table.
    """

    def __init_subclass__(cls, *, eq: bool = True) -> None:
        dataclass(frozen=True, repr=False, eq=eq)(cls)

    def to_dict(self, *, reveal: bool = False) -> dict[str, Any]:
        """The fields as plain Python values, fit for JSON; data values only with `reveal=True`."""
        return {name: _plain(value, reveal) for name, value in self._shown(reveal)}

    def to_frame(self, kind: str = "arrow", *, reveal: bool = False) -> Any:
        """The rows of a result that is a table, as an Arrow, pandas or Polars frame.

        Parameters
        ----------
        kind : {"arrow", "pandas", "polars"}
            The library whose frame is returned.
        reveal : bool
            Whether fields that contain data values are included.

        Returns
        -------
        frame
            An estimate has two more columns, for the ends of its interval.
        """
        import narwhals.stable.v2 as nw
        import pyarrow as pa

        if kind not in ("arrow", "pandas", "polars"):
            raise ParameterError(
                f"Parameter 'kind' must be 'arrow', 'pandas' or 'polars'; {kind!r} was given.",
                parameter="kind",
            )
        parts = (value for _, value in self._shown(reveal))
        rows = next((v for v in parts if _is_table(v)), (self,))
        records = [_record(row, reveal) for row in rows]
        names = dict.fromkeys(name for record in records for name in record)
        table = pa.table({name: [record.get(name) for record in records] for name in names})
        if kind == "arrow":
            return table
        backend: Any = kind
        try:
            return nw.from_arrow(table, backend=backend).to_native()
        except ImportError:
            raise MissingDependencyError(
                f"A {kind} frame needs the package {kind}, which is not installed.", parameter="kind"
            ) from None

    def _shown(self, reveal: bool) -> list[tuple[str, Any]]:
        return [
            (part.name, getattr(self, part.name))
            for part in fields(self)  # type: ignore[arg-type]
            if not part.name.startswith("_") and (reveal or not part.metadata.get("raw"))
        ]

    def __repr__(self) -> str:
        parts = [f"{name}={_short(v)}" for name, v in self._shown(False) if _short(v)]
        text = ", ".join(parts[:6]) + (", ..." if len(parts) > 6 else "")
        return f"{type(self).__name__}({text})"

    def __str__(self) -> str:
        shown = self._shown(False)
        width = max((len(name) for name, _ in shown), default=0)
        lines = [f"{name:<{width}}  {_text(value)}" for name, value in shown]
        return "\n".join([type(self).__name__, *("  " + line for line in lines)])

    def _repr_html_(self) -> str:
        return to_html(self)


class Group(Result):
    """The records that share one combination of values: columns, number of records, values."""

    columns: tuple[str, ...]
    size: int
    values: tuple[Any, ...] = raw(default=())


def _is_table(value: object) -> bool:
    return isinstance(value, tuple | list) and bool(value) and isinstance(value[0], Result)


def _record(row: Result, reveal: bool) -> dict[str, Any]:
    """The fields of a row; the interval of an estimate has columns of its own."""
    record: dict[str, Any] = {}
    for name, value in row._shown(reveal):
        if isinstance(value, Estimate):
            record |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        else:
            record[name] = _plain(value, reveal)
    return record


def _short(value: Any) -> str:
    """A scalar or a short list of names for `repr`; nothing for everything else."""
    if isinstance(value, Enum):
        return repr(value.value)
    if isinstance(value, Estimate):
        return repr(value)
    if isinstance(value, bool | int | np.integer):
        return str(value)
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    if isinstance(value, str):
        return repr(value) if len(value) <= 60 else repr(value[:57] + "...")
    if isinstance(value, tuple) and value and all(isinstance(element, str) for element in value):
        names = ", ".join(map(repr, value[:4]))
        return f"({names}, ...)" if len(value) > 4 else f"({names})"
    return ""


def _plain(value: Any, reveal: bool) -> Any:
    """`value` as JSON knows it: results become dicts, arrays lists, infinities and NaN None."""
    if isinstance(value, Result | Estimate):
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
    if isinstance(value, Estimate):
        return str(value)
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Result):
        return ", ".join(f"{name} {_text(item)}" for name, item in value._shown(False))
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(item)}" for key, item in list(value.items())[:_ROWS_SHOWN])
    if isinstance(value, tuple | list):
        if _is_table(value):
            return f"{len(value):,} of {type(value[0]).__name__}"
        more = ", ..." if len(value) > _ROWS_SHOWN else ""
        return ", ".join(_text(item) for item in value[:_ROWS_SHOWN]) + more
    return str(value)


def to_html(result: Result) -> str:
    """A small table for notebooks; everything is escaped, and no data value is shown."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{_html(value)}</td></tr>"
        for name, value in result._shown(False)
    )
    name = escape(type(result).__name__)
    return f"<table class='crypsis'><caption>{name}</caption><tbody>{rows}</tbody></table>"


def _html(value: Any) -> str:
    if _is_table(value):
        return table_html(value)
    if isinstance(value, Result):
        return to_html(value)
    return escape(_text(value))


_CONTROL = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10, 13}, "\ufffd")


def without_control(text: str) -> str:
    """A text from the data in which control characters are replaced by a sign that is seen.

    A terminal would obey them: they set colors and titles, and move what was said before.

    >>> without_control("age\x1b[31m")
    'age\ufffd[31m'
    """  # noqa: D301 - the escapes are the example
    return text.translate(_CONTROL)


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
