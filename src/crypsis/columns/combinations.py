"""Combinations of quasi-identifiers: far fewer of them than independent people would have."""

from __future__ import annotations

import numpy as np

from crypsis.array_types import Ints
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.hierarchies.cover import is_label
from crypsis.results import Result
from crypsis.tables import Kind

MIN_COLUMNS = 3
"""Two columns alone may determine each other for reasons of their own, as a tract and a postal code."""
MIN_RECORDS = 200
"""The count of combinations of fewer records varies too much."""
MAX_COMBINATIONS_SHARE = 0.5
"""Above so many combinations a record, few records are alike and none of their classes matters."""
MIN_REDUNDANCY = 0.75
"""Of 726 random sets of columns of people (Adult, Diabetes 130, CASC, invented) none reaches 0.6; of 3,000
invented patients with 5 to 13 visits each, a postal code of 100 values, an age and a sex have 0.80."""
MAX_CELLS = 2_000_000
"""More combinations are not counted for this evidence."""


class RepeatedCombinations(Result):
    """How many combinations of quasi-identifiers there are, and would be of independent people."""

    columns: tuple[str, ...]
    records: int
    combinations: int
    expected: float
    """The expected number, if the column with the most values were independent of the others."""
    redundancy: float
    """The smallest share, over the columns, of the combinations that independence would add and that are
    missing: 0 if a column is independent of the others, 1 if every column is given by the others."""


def repeated_combinations(data: Dataset) -> RepeatedCombinations | None:
    """The combinations of quasi-identifiers, if they are far fewer than independent people would have.

    Parameters
    ----------
    data : Dataset
        The data with its roles, at full detail.

    Returns
    -------
    RepeatedCombinations or None
        None where the data do not indicate that records repeat those of the same people; if
        quasi-identifiers are recoded already, in intervals, prefixes and the like; or of fewer than
        three columns, of which none gives another one, or fewer than 200 records.

    Notes
    -----
    Columns of people depend on each other, but hardly ever does every one of them follow from the
    others: a sex is not given by an age and an occupation. Of several records of each person, all are.
    For each column, the number of combinations is compared with that expected if the column were
    drawn independently of the others, and with that of the others alone, which is the least possible.
    The column that is the least given by the others decides. On independent people a column that
    depends on no other one is as far from the threshold as can be; see `MIN_REDUNDANCY` for what
    was measured.

    Examples
    --------
    >>> import pyarrow as pa
    >>> draw = np.random.default_rng(0)
    >>> person = {"birth": draw.integers(0, 20_000, 400), "town": draw.integers(0, 50, 400),
    ...           "sex": draw.integers(0, 2, 400)}
    >>> rows = np.repeat(np.arange(400), draw.integers(5, 13, 400))
    >>> visits = pa.table({name: values[rows] for name, values in person.items()})
    >>> found = repeated_combinations(Dataset.from_frame(visits, quasi_identifiers=list(person)))
    >>> found.combinations, found.expected > 5 * found.combinations
    (400, True)
    """
    names = [name for name in data.quasi_identifiers if data.rows.column(name).kind is not Kind.NESTED]
    if len(names) < MIN_COLUMNS or data.count < MIN_RECORDS:
        return None
    try:
        counted = data.counted(names)
        if counted is None:
            table = data.rows.cells(names, at_most=MAX_CELLS)
            counted = Cells.from_table(table, names)
    except (InputError, TooLargeError):  # the classes are not evaluated either
        return None
    if len(counted) > MAX_COMBINATIONS_SHARE * data.count or _recoded(counted):
        return None
    kept = _not_given_by_one(counted)
    if len(kept) < MIN_COLUMNS:
        return None
    cells = counted.marginal(kept)
    if len(cells) > MAX_COMBINATIONS_SHARE * data.count:
        return None
    compared = [_compared(cells, position) for position in range(len(kept))]
    redundancy = min(share for share, _ in compared)
    if redundancy < MIN_REDUNDANCY:
        return None
    return RepeatedCombinations(
        tuple(kept), data.count, len(cells), max(number for _, number in compared), redundancy
    )


def _recoded(cells: Cells) -> bool:
    """Whether a column has labels of intervals, prefixes or periods: classes are made then."""
    return any(
        is_label(text)
        for values in cells.values
        for text in values.slice(0, 1_000).to_pylist()
        if isinstance(text, str)
    )


def _not_given_by_one(cells: Cells) -> list[str]:
    """The columns without those that another one determines, as a postal code does a town."""
    domains = dict(zip(cells.columns, cells.domains, strict=True))
    kept: list[str] = []
    for name in sorted(cells.columns, key=lambda name: -domains[name]):
        determined = any(
            len(cells.marginal([determinant, name])) == domains[determinant] for determinant in kept
        )
        if not determined and domains[name] > 1:
            kept.append(name)
    return kept


def _compared(cells: Cells, position: int) -> tuple[float, float]:
    """How far a column is given by the others, and the combinations expected if it were independent."""
    rest = [i for i in range(len(cells.columns)) if i != position]
    _, classes = group(tuple(cells.codes[i] for i in rest), tuple(cells.domains[i] for i in rest))
    sizes = np.bincount(classes, cells.counts).astype(np.int64)
    frequencies = np.bincount(cells.codes[position], cells.counts).astype(np.int64)
    expected = _expected_pairs(sizes, frequencies)
    least = max(sizes.size, frequencies.size)
    if expected <= least:
        return 0.0, expected
    return float((expected - len(cells)) / (expected - least)), expected


def _expected_pairs(sizes: Ints, frequencies: Ints) -> float:
    """The expected number of pairs of a class and a value, if values were drawn for each record."""
    size, classes = np.unique(sizes, return_counts=True)
    frequency, values = np.unique(frequencies[frequencies > 0], return_counts=True)
    shares = frequency / frequencies.sum()
    logarithms = np.log1p(-np.minimum(shares, 1 - 1e-15))
    drawn = [-(values * np.expm1(n * logarithms)).sum() for n in size]
    return float(classes @ np.array(drawn))
