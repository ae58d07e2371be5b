"""Orders for nominal columns, so that their values can be ranked.

Ranks need an order. Numbers, dates and ordered categories bring theirs; for other columns the
caller says which one holds: his own, the one a taxonomy implies, or how frequent the values are.
"""

from __future__ import annotations

import csv
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import ColumnError, ParameterError, SourceError

Floats: TypeAlias = NDArray[np.float64]


class Taxonomy:
    """A tree over the values of a nominal column: each value with its ancestors, parent first.

    Two values are log2(1 + share of their ancestors that they do not have in common) apart, where a
    value counts among its own ancestors: 0 for the same value, less than 1 under a common root. The
    marginality of a value is its total distance to all records (Domingo-Ferrer, Sanchez and
    Rufian-Torrell 2013): the central values come first, the marginal ones last.

    >>> tree = Taxonomy({"flu": ("lung", "*"), "cold": ("lung", "*"), "ulcer": ("gut", "*")})
    >>> tree.order({"flu": 5, "cold": 2, "ulcer": 1})
    ('flu', 'cold', 'ulcer')
    >>> round(tree.distance("flu", "cold"), 3), tree.distance("flu", "flu")
    (0.585, 0.0)
    """

    def __init__(self, ancestors: Mapping[Hashable, Sequence[Hashable]]) -> None:
        if not ancestors:
            raise ParameterError("A taxonomy needs at least one value with its ancestors.")
        self._nodes = {
            # A node is known by its path to the root: equal names on two branches stay apart.
            value: frozenset([("", value), *(tuple(path[i:]) for i in range(len(path)))])
            for value, path in ancestors.items()
        }

    @classmethod
    def read(cls, path: str | Path, *, delimiter: str = ";") -> Taxonomy:
        """A taxonomy from a file as ARX writes it: a value, then its ancestors, root last."""
        try:
            with Path(path).open(newline="", encoding="utf-8") as lines:
                rows = [
                    [cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)
                ]
        except OSError as error:
            raise SourceError(
                f"The taxonomy {str(path)!r} cannot be read: {error.strerror}."
            ) from error
        rows = [row for row in rows if row]
        if any(len(row) < 2 for row in rows):
            raise SourceError(
                f"Some lines of the taxonomy {str(path)!r} have a value and no ancestor; expected "
                f"the value, then its ancestors, separated by {delimiter!r}."
            )
        return cls({row[0]: row[1:] for row in rows})

    def distance(self, one: Hashable, other: Hashable) -> float:
        """How far two values are apart: 0 for the same, near 1 with only the root in common."""
        a, b = self._nodes_of(one), self._nodes_of(other)
        union = len(a | b)
        return float(np.log2(1 + (union - len(a & b)) / union))

    def distances(self, values: Sequence[Hashable]) -> Floats:
        """The table of distances between `values`."""
        return np.array([[self.distance(a, b) for b in values] for a in values], dtype=np.float64)

    def order(self, counts: Mapping[Hashable, int]) -> tuple[Hashable, ...]:
        """The values, the most central one first, given how often each occurs."""
        values = sorted(counts, key=str)
        weights = np.array([counts[value] for value in values], dtype=np.float64)
        # Rounded, so that equal marginalities do not split on the last bit of a sum.
        marginality = np.round(self.distances(values) @ weights, 9)
        return tuple(values[i] for i in np.argsort(marginality, kind="stable"))

    def _nodes_of(self, value: Hashable) -> frozenset[Any]:
        try:
            return self._nodes[value]
        except KeyError:
            raise ColumnError(
                "A value of the column does not occur in its taxonomy; add it there, with its "
                "ancestors, or use another order for the column."
            ) from None


Order: TypeAlias = Sequence[Hashable] | Taxonomy | Literal["frequency"]


def ordered_values(
    order: Order, counts: Mapping[Hashable, int], others: Sequence[Hashable], name: str
) -> tuple[Hashable, ...]:
    """All values of a nominal column, in order.

    `counts` are the values of the file that decides (the original; for the subject the release) and
    how often they occur there; `others` occur in the other file only. By frequency, the rarest
    value comes first; equally frequent ones are taken in the order of their names.
    """
    everything: dict[Hashable, int] = {**dict.fromkeys(others, 0), **counts}
    if isinstance(order, Taxonomy):
        return order.order(everything)
    if isinstance(order, str):
        if order != "frequency":
            raise ParameterError(
                f"The order of column {name!r} is {order!r}; expected 'frequency', a Taxonomy, or "
                "the list of its values in order."
            )
        return tuple(sorted(everything, key=lambda value: (everything[value], str(value))))
    listed = tuple(order)
    missing = sum(value not in set(listed) for value in everything)
    if missing or len(set(listed)) != len(listed):
        raise ColumnError(
            f"The order given for column {name!r} must list each of its values once; "
            + (f"{missing} of them are missing." if missing else "some are listed twice.")
        )
    return listed
