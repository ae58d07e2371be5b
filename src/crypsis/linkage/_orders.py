"""Orders of nominal columns, so that their values can be ranked.

Numbers, dates and ordered categories have an order. For other columns the caller sets one: a list
of the values, the order that a hierarchy implies, or the frequency of the values.
"""

from __future__ import annotations

import csv
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from crypsis.errors import ColumnError, ParameterError
from crypsis.hierarchies import Hierarchy

Order: TypeAlias = Sequence[Hashable] | Hierarchy | Literal["frequency"]
Orders: TypeAlias = Mapping[str, Order]


def read_orders(orders: Sequence[str] = (), hierarchies: Sequence[str] = ()) -> dict[str, Order]:
    """Orders of columns from text, as the command line and settings files have them.

    Parameters
    ----------
    orders : sequence of str
        `"column=frequency"`, or the values in order: `"column=low,middle,high"`.
    hierarchies : sequence of str
        `"column=file"`, a hierarchy in a file of `Hierarchy.read`.

    Returns
    -------
    dict
        The order of each column, for the `orders` of `link` and `compare`.

    Examples
    --------
    >>> read_orders(["job=frequency", "size=low,middle,high"])
    {'job': 'frequency', 'size': ['low', 'middle', 'high']}
    """
    order_of: dict[str, Order] = {}
    for text in orders:
        name, values = _name_and_value(text, "COLUMN=frequency or COLUMN=low,middle,high")
        listed = next(csv.reader([values], skipinitialspace=True))
        order_of[name] = "frequency" if values == "frequency" else [value.strip() for value in listed]
    for text in hierarchies:
        name, path = _name_and_value(text, "COLUMN=FILE")
        order_of[name] = Hierarchy.read(Path(path))
    return order_of


def _name_and_value(text: str, form: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name or not value:
        raise ParameterError(f"The order of a column is written {form}.", code="order-syntax")
    return name, value


def ordered_values(
    order: Order, counts: Mapping[Hashable, int], hashables: Sequence[Hashable], name: str
) -> tuple[Hashable, ...]:
    """All values of a nominal column, in order.

    `counts` has the values of the file that decides (the original; for a data subject the release)
    and their frequencies; `hashables` occur in the other file only. By frequency, the rarest value
    comes first; equally frequent values come in the order of their names.
    """
    value_counts: dict[Hashable, int] = {**dict.fromkeys(hashables, 0), **counts}
    if isinstance(order, Hierarchy):
        return order.marginality_order(value_counts, name)
    if isinstance(order, str):
        if order != "frequency":
            raise ParameterError(
                f"The order of column {name!r} must be 'frequency', a Hierarchy, or a list of its "
                f"values; {order!r} was given.",
                parameter="orders",
            )
        return tuple(sorted(value_counts, key=lambda value: (value_counts[value], str(value))))
    listed = tuple(order)
    missing = sum(value not in set(listed) for value in value_counts)
    if missing or len(set(listed)) != len(listed):
        problem = f"{missing} of them are missing" if missing else "some are listed twice"
        raise ColumnError(
            f"The order of column {name!r} must list each of its values once; {problem}.",
            code="incomplete-order",
            columns=(name,),
        )
    return listed
