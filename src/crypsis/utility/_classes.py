"""What the groups of a release cost: discernibility, average class size, NCP and GCP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crypsis.errors import ParameterError
from crypsis.release import as_release
from crypsis.results import Result


@dataclass(frozen=True)
class ClassCosts(Result):
    """Costs of equivalence classes; rows left out count as classes of the whole table."""

    rows: int
    suppressed: int
    classes: int
    discernibility: float
    """Sum of squared class sizes, plus rows times n for each row left out (Bayardo 2005)."""
    average_class_size: float
    """Rows per class, over k (LeFevre 2006): 1 is the best that k allows."""


def class_costs(data: Any, *, k: int = 1, suppressed: int = 0, **roles: Any) -> ClassCosts:
    """The costs of the classes that the quasi-identifiers make.

    >>> import pyarrow as pa
    >>> class_costs(pa.table({"a": [1, 1, 2, 2]}), k=2, quasi_identifiers=["a"]).discernibility
    8.0
    """
    release = as_release(data, **roles)
    if k < 1 or suppressed < 0:
        raise ParameterError("k is at least 1, and no fewer than 0 rows are suppressed.")
    sizes = release.cells().counts.astype(float)
    rows = int(sizes.sum())
    whole = rows + suppressed
    cost = float((sizes**2).sum()) + float(suppressed) * whole
    return ClassCosts(rows, suppressed, sizes.size, cost, rows / max(1, sizes.size) / k)


def ncp(
    original: Any,
    released: Any,
    columns: Sequence[str],
    *,
    leaves: Mapping[str, Mapping[Any, int]],
    sizes: Mapping[str, int],
) -> float:
    """Normalized certainty penalty averaged over rows and columns: the GCP of Ghinita et al. 2007.

    `leaves[column][label]` is how many values a released label stands for, `sizes[column]` how many
    there are; a label that is not listed stands for itself, a missing value for all. Rows that are
    in the original and not in the release count in full (Xu et al. 2006 for one row).

    >>> import pyarrow as pa
    >>> before, after = pa.table({"a": ["x", "y", "z"]}), pa.table({"a": ["xy", "xy"]})
    >>> round(ncp(before, after, ["a"], leaves={"a": {"xy": 2}}, sizes={"a": 3}), 4)
    0.7778
    """
    first, second = as_release(original), as_release(released)
    lost = 0.0
    for name in columns:
        cells = second.cells([name])
        for code, count in zip(cells.codes[0], cells.counts, strict=True):
            label = cells.values[0][int(code)].as_py()
            stands = sizes[name] if label is None else leaves[name].get(label, 1)
            lost += count * (stands / sizes[name] if stands > 1 else 0.0)
    gone = first.count - second.count
    if gone < 0:
        raise ParameterError("The release has more rows than the original.")
    return float((lost + gone * len(columns)) / (first.count * len(columns)))
