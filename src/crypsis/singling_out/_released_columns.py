"""The intruder who knows every released column except one sensitive attribute."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Unpack

import numpy as np

from crypsis.counting import arrays
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.counting.kernels import refinement as kernels
from crypsis.counting.partitions import CodeTable, Partition
from crypsis.dataset import DESIGN, Data, Dataset, as_dataset, takes_roles
from crypsis.errors import ColumnError, TooLargeError
from crypsis.options import Roles
from crypsis.results import Number, Result
from crypsis.singling_out._equivalence_classes import EquivalenceClasses, equivalence_classes
from crypsis.tables import Kind

MISSING_PATTERN = "the pattern of missing values"
"""The name of the column that states which values of a record are missing."""
_IDENTIFYING_SHARE = 0.9
"""The share of records that a sensitive attribute may single out alone: above, it is almost unique. In
releases that are safe, diagnoses with all their digits single out 77 %, salaries in steps of 20 84 %."""
_MAX_SEARCHED_CELLS = 2_000_000
"""Of more cells no smallest set of columns is sought."""


class ReleasedUniqueness(Result):
    """The records that are unique on all released columns except one sensitive attribute."""

    target: str | None
    """The sensitive attribute that the intruder does not know, of those the one with most uniques;
    None if there is no sensitive attribute."""
    columns: tuple[str, ...]
    """What the intruder knows."""
    signed_off: tuple[str, ...]
    """The columns that the intruder cannot know, as the owner wrote."""
    not_counted: tuple[str, ...]
    """Nested columns, whose values have no equality: the true share may be higher."""
    unit: str
    """Records, or persons."""
    units: int
    unique: Number
    fraction: Number
    """The share of unique records. No subset of the columns has a larger one."""
    quasi_identifiers_fraction: Number
    """The same share on the quasi-identifiers alone."""
    enough: tuple[str, ...] = ()
    """A few columns on which half as many records are unique, where the limit is exceeded."""
    enough_fraction: Number = 0.0
    """The share of unique records on these."""
    identifying: tuple[str, ...] = ()
    """Sensitive attributes that are counted because more than 90 % of the records have a value of their
    own: whoever knows the cost to the cent finds the record by it."""
    left_out_fraction: Number = 0.0
    """The share of records that the target alone singles out, which is not counted."""


@takes_roles(without=DESIGN)
def released_uniqueness(
    data: Data, *, limit: float = 0.05, exact: bool | None = None, seed: int = 0, **roles: Unpack[Roles]
) -> ReleasedUniqueness:
    """Count the records that are unique on all released columns except one sensitive attribute.

    An attribute that singles out more than 90 % of the records alone is not left out: whoever knows its
    value finds the record.

    Parameters
    ----------
    data : Dataset, frame or path
        The release.
    limit : float
        The share of unique records from which a small set of columns is searched for.
    exact : bool, optional
        See `equivalence_classes`.
    seed : int
        The seed of a sample of the classes.
    **roles
        See `crypsis.read`.

    Returns
    -------
    ReleasedUniqueness
        For the sensitive attribute with the largest share.

    Notes
    -----
    The intruder knows quasi-identifiers, insensitive and undecided columns, the other sensitive
    attributes, and which values are missing, except the columns with a `sign_off` in the roles
    file. One more column never makes a record less unique, so the share on all columns is the
    largest of all subsets of any size, and no search is needed to show that it is low. Missing
    values equal each other, because a recipient sees them. Where the share exceeds the limit,
    columns are added one by one, that with most unique records first, until half as many records
    are unique, and then those that are not needed are removed: a minimal set, not always the
    smallest.

    Cost: one grouping by all columns for each sensitive attribute; the search is one pass over the
    cells for each column and step.

    References
    ----------
    lodha2007, section 2: uniqueness grows with the columns. domingo2016, section 5: the
    maximum-knowledge intruder.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 30, 30], "shoe": [38, 39, 40, 41], "ill": list("abab")})
    >>> found = released_uniqueness(
    ...     people, quasi_identifiers="age", insensitive="shoe", sensitive="ill"
    ... )
    >>> found.fraction, found.enough, found.quasi_identifiers_fraction
    (1.0, ('shoe',), 0.0)
    """
    # Uniques are those of the release.
    dataset = as_dataset(data, **roles)
    dataset = replace(dataset.as_written(dataset.knowable).strict(), population=None)
    known_names: list[str] = []
    nested: list[str] = []
    for name in dataset.knowable:
        (nested if dataset.rows.column(name).kind is Kind.NESTED else known_names).append(name)
    if not known_names:
        raise ColumnError("No released column is left that an intruder may know.", code="no-columns")
    with suppress(TooLargeError):
        dataset.cells(known_names)  # counted once; every set of fewer columns follows from it
    sensitive = [name for name in known_names if name in dataset.sensitive]
    alone = {name: equivalence_classes(dataset, [name], exact=exact, seed=seed) for name in sensitive}
    identifying = tuple(
        name
        for name, classes in alone.items()
        if classes.units > 1 and float(classes.unique_share) > _IDENTIFYING_SHARE
    )
    targets: list[str | None] = [name for name in sensitive if name not in identifying]
    hidden = [name for name in dataset.sensitive if name not in known_names]
    if hidden or not targets:
        targets.append(next(iter(hidden), None))
    worst, columns, classes = _worst(dataset, known_names, targets, exact, seed)
    released_uniqueness = ReleasedUniqueness(
        worst,
        columns,
        dataset.signed_off,
        tuple(nested),
        classes.unit,
        classes.units,
        classes.records_below(2),
        classes.unique_share,
        _of_quasi_identifiers(dataset, exact, seed),
        identifying=identifying,
        left_out_fraction=alone[worst].unique_share if worst in alone else 0.0,
    )
    if float(released_uniqueness.fraction) <= limit:
        return released_uniqueness
    enough = _enough(dataset, columns, max(limit, float(released_uniqueness.fraction) / 2))
    if not enough:
        return released_uniqueness
    share = float(released_uniqueness.fraction)
    named = [name for name in enough if name != MISSING_PATTERN]
    if len(named) == len(enough):
        share = float(equivalence_classes(dataset, enough, exact=exact, seed=seed).unique_share)
    return replace(released_uniqueness, enough=enough, enough_fraction=share)


def _worst(
    dataset: Dataset, known_names: Sequence[str], targets: Sequence[str | None], exact: bool | None, seed: int
) -> tuple[str | None, tuple[str, ...], EquivalenceClasses]:
    """The sensitive attribute without which most records are still unique."""
    candidates = []
    for target in targets:
        columns = tuple(name for name in known_names if name != target)
        if columns:
            classes = equivalence_classes(dataset, columns, exact=exact, seed=seed)
            candidates.append((target, columns, classes))
            if float(classes.unique_share) == 1:
                break
    if not candidates:  # the only column that is known is the sensitive attribute itself
        raise ColumnError("No released column is left that an intruder may know.", code="no-columns")
    return max(candidates, key=lambda candidate: float(candidate[2].unique_share))


def _of_quasi_identifiers(dataset: Dataset, exact: bool | None, seed: int) -> Number:
    if not dataset.quasi_identifiers:
        return 0.0
    return equivalence_classes(dataset, exact=exact, seed=seed).unique_share


def _enough(dataset: Dataset, columns: tuple[str, ...], limit: float) -> tuple[str, ...]:
    """A minimal set of columns whose share of unique records exceeds the limit; () if too many."""
    try:
        cells = dataset.cells(columns)
    except TooLargeError:
        return ()
    if len(cells) > _MAX_SEARCHED_CELLS:
        return ()
    cells = _with_missing_pattern(cells)
    table = CodeTable(cells)
    needed = int(limit * cells.rows) + 1
    branch = Partition.coarsest(table)
    chosen: list[int] = []
    while branch.statistics()[kernels.SINGLETONS] < needed and len(chosen) < len(table):
        left = np.array([c for c in range(len(table)) if c not in chosen], np.int64)
        best = int(left[np.argmax(branch.tally(left)[:, kernels.SINGLETONS])])
        chosen.append(best)
        branch = branch.refine(best)
    for column in [*chosen][:-1]:
        rest = [kept for kept in chosen if kept != column]
        if _singletons(table, rest) >= needed:
            chosen = rest
    return tuple(cells.columns[p] for p in sorted(table.places[c] for c in chosen))


def _singletons(table: CodeTable, chosen: Sequence[int]) -> int:
    branch = Partition.coarsest(table)
    for column in chosen:
        branch = branch.refine(column)
    return int(branch.statistics()[kernels.SINGLETONS])


def _with_missing_pattern(cells: Cells) -> Cells:
    """The cells with one column more: which of their values are missing."""
    mask = cells.missing_mask
    if mask.any(axis=1).sum() < 2:  # the pattern of one column is that column's own
        return cells
    varied = tuple(missing.astype(np.int32) for missing in mask if missing.any())
    patterns, member = group(varied, (2,) * len(varied))
    return replace(
        cells,
        columns=(*cells.columns, MISSING_PATTERN),
        codes=(*cells.codes, member.astype(np.int32)),
        values=(*cells.values, arrays.column(np.arange(len(patterns)))),
    )
