"""k-anonymity of every combination of some columns."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Unpack

from crypsis import progress
from crypsis.dataset import SAMPLE, Data, as_seen, takes_roles
from crypsis.errors import ParameterError, TooLargeError
from crypsis.options import Columns, Roles
from crypsis.results import Result
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._risk import units_alike

_MAX_COMBINATIONS = 100_000
"""Combinations of columns that are counted; more are refused."""


class CombinationK(Result):
    """The k-anonymity of one combination of columns."""

    columns: tuple[str, ...]
    k: int
    """The size of the smallest class, in persons where they are known; 0 where no record counts."""
    classes: int
    records_below: int
    """The records in classes smaller than the k that is required."""
    fraction_below: float


@takes_roles(without=SAMPLE)
def combination_k(
    data: Data, columns: Columns | None = None, *, size: int = 3, k: int = 5, **roles: Unpack[Roles]
) -> tuple[CombinationK, ...]:
    """Measure k-anonymity of every combination of `size` columns, the worst first.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    size : int
        The number of columns that an intruder knows; all of them where there are fewer.
    k : int
        The class size that is required.
    **roles
        See `crypsis.read`.

    Returns
    -------
    tuple of CombinationK
        For each combination its k and the records in smaller classes than required.

    Notes
    -----
    With many quasi-identifiers k-anonymity of all of them together leaves little; offices then
    require it of every combination that an intruder may know (mu-Argus, sdcMicro's `combs`).
    Records are counted, persons where the data names them, missing values as the data says. Cost: a
    pass over the cells for each combination.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [3, 3, 4, 4], "sex": [1, 2, 1, 2], "town": [7, 7, 7, 7]})
    >>> [(one.columns, one.k) for one in combination_k(people, ["age", "sex", "town"], size=2)]
    [(('age', 'sex'), 1), (('age', 'town'), 2), (('sex', 'town'), 2)]
    """
    dataset = as_seen(data, columns, **roles)
    names = quasi_identifiers(dataset, columns)
    for name, value in (("size", size), ("k", k)):
        if value < 1:
            raise ParameterError(f"Parameter {name!r} must be at least 1; {value} was given.", parameter=name)
    size = min(size, len(names))
    number = math.comb(len(names), size)
    if number > _MAX_COMBINATIONS:
        raise TooLargeError(
            f"There are {number:,} combinations of {size} columns; up to {_MAX_COMBINATIONS:,} are counted.",
            code="too-many-combinations",
            hint="Lower {size}, or use fewer columns.",
        )
    cells = dataset.cells(names)
    combinations_below = []
    with progress.step("combinations of columns", number) as step:
        for chosen in combinations(names, size):
            part = cells.marginal(chosen)
            _, sizes, _ = units_alike(dataset, part)
            counts = part.counts
            counted_cells = part.class_sizes > 0
            below = int(counts[counted_cells & (sizes < k)].sum())
            rows = part.rows
            combinations_below.append(
                CombinationK(
                    chosen,
                    int(sizes[counted_cells].min(initial=rows)),
                    int(counted_cells.sum()),
                    below,
                    below / rows if rows else 0.0,
                )
            )
            step.advance()
    return tuple(
        sorted(
            combinations_below,
            key=lambda combination: (-combination.records_below, combination.k, combination.columns),
        )
    )
