"""Windows of time: the week, month, quarter or year of a record, or so many days."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.array_types import Ints
from crypsis.dataset import Dataset
from crypsis.errors import ParameterError
from crypsis.tables import Kind

ONE_LINK, LINKS_BY_NUMBER = "person", "pieces"
WINDOWS = ("year", "quarter", "month", "week")
"""From the longest to the shortest."""
_DAYS = re.compile(r"([1-9]\d{0,4}) days?$")


def checked_links(links: str | None) -> None:
    """An error if this is not a way to link records."""
    if links is None or links in (ONE_LINK, LINKS_BY_NUMBER, *WINDOWS) or _DAYS.match(links):
        return
    choices = ", ".join(map(repr, (ONE_LINK, LINKS_BY_NUMBER, *WINDOWS)))
    raise ParameterError(
        f"Parameter 'links' is {links!r}; it must be {choices}, or a number of days such as '90 days'.",
        parameter="links",
    )


def dated(data: Dataset, order: str | None, links: str | None, table: pa.Table) -> pa.Array | None:
    """The times of records if they are dates; an error if links need dates and there are none."""
    checked_links(links)
    if order is not None and data.rows.column(order).kind in (Kind.DATE, Kind.TIME):
        return table[order].combine_chunks()
    if links not in (None, ONE_LINK, LINKS_BY_NUMBER):
        what = "No column has the time of a record" if order is None else f"Column {order!r} is not a date"
        raise ParameterError(
            f"{what}, so records cannot be linked by the {links}.",
            parameter="links",
            hint="Set {order} to a column of dates.",
        )
    return None


def window_codes(times: pa.Array, window: str) -> Ints:
    """The number of the window of each time, in their order; without a time a window of its own.

    >>> import datetime as dt
    >>> days = pa.array([dt.date(2024, 1, 31), dt.date(2024, 2, 1), None, dt.date(2025, 2, 1)])
    >>> [window_codes(days, window).tolist() for window in ("year", "month")]
    [[2024, 2024, -1, 2025], [24288, 24289, -1, 24301]]
    """
    days = _DAYS.match(window)
    if days is not None or window == "week":
        length, first = (int(days[1]), 0) if days is not None else (7, 3)  # 1970-01-01: Thursday
        day = pc.cast(pc.cast(times, pa.date32()), pa.int32()).fill_null(0)
        windows = (np.asarray(day, np.int64) + first) // length
    else:
        year, month = (np.asarray(part(times).fill_null(0), np.int64) for part in (pc.year, pc.month))
        months = {"year": 12, "quarter": 3, "month": 1}[window]
        windows = (12 * year + month - 1) // months
    has_time = np.asarray(times.is_valid())
    windows[~has_time] = int(windows[has_time].min(initial=0)) - 1
    return windows
