"""The risk of households: at least one member is re-identified."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.dataset import DESIGN, Data, Dataset, as_seen, takes_roles
from crypsis.errors import ParameterError, RoleError
from crypsis.options import Columns, Roles
from crypsis.results import Result
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._risk import check_threshold, population_risk, units_alike


class HouseholdRisk(Result):
    """The probability that at least one member of a household is re-identified."""

    columns: tuple[str, ...]
    household: str
    households: int
    members: int
    """The records (or persons) in these households."""
    threshold: float
    share_above: float
    """The share of households whose risk is above the threshold."""
    maximum: float
    average: float
    """The average over the households."""
    member_average: float
    """The average over the members, each with the risk of their household."""
    expected: float
    """The expected number of households with a re-identified member."""


@takes_roles(without=DESIGN)
def household_risk(
    data: Data, columns: Columns | None = None, *, threshold: float = 0.2, **roles: Unpack[Roles]
) -> HouseholdRisk:
    """Measure the risk of households: 1 - product over the members of (1 - risk).

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    threshold : float
        The risk above which a household counts as at risk.
    **roles
        See `crypsis.read`. `household` is the column that identifies the household of a record.

    Returns
    -------
    HouseholdRisk
        The maximum, the averages, the share above the threshold and the expected number.

    Notes
    -----
    Members are assumed independent. The risk of a member is that of the journalist where the
    population is known, else the prosecutor's: 1/F where a table of the population has F matching
    people, and E[1/F | f] of `individual_risk` where weights estimate them. (1 over the sum of the
    weights is smaller: 1/F is convex, so by Jensen's inequality it is below the expectation; for a
    sample unique of weight 50 by a factor of 4.) Records without a household, or dropped for a
    missing value, are not counted. Where the data names the person of each record, a person counts
    once in a household, with their highest risk.

    References
    ----------
    Templ, Kowarik & Meindl (2015), Statistical disclosure control for micro-data using the R
    package sdcMicro, section 2.5. `member_average` is its hierarchical risk.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"home": [1, 1, 2], "age": [30, 41, 30]})
    >>> household_risk(people, ["age"], household="home").maximum
    1.0
    """
    dataset = as_seen(data, columns, **roles)
    check_threshold(threshold)
    cells = dataset.cells(quasi_identifiers(dataset, columns))
    home = _household_column(dataset, cells)
    total, members = household_risks(dataset, cells)
    kept = members > 0
    if not kept.any():
        raise ParameterError(
            f"Column {home!r} has no values; there are no households.", code="no-households", columns=(home,)
        )
    total, members = total[kept], members[kept]
    return HouseholdRisk(
        cells.columns,
        home,
        int(total.size),
        int(members.sum()),
        threshold,
        float((total > threshold).mean()),
        float(total.max()),
        float(total.mean()),
        float(total @ members / members.sum()),
        float(total.sum()),
    )


def household_risks(dataset: Dataset, cells: Cells) -> tuple[Floats, Ints]:
    """The risk of each household and its members, by the code of the household.

    The codes are those of `dataset.cells([household])`; a missing household has no members.
    """
    home = _household_column(dataset, cells)
    _, sizes, person = units_alike(dataset, cells)
    risk = population_risk(dataset, cells, sizes, person)
    if risk is None:
        risk = np.where(sizes > 0, 1 / np.maximum(sizes, 1), 0.0)
    extra = (home,) if dataset.person is None else (home, dataset.person)
    finer = dataset.cells((*cells.columns, *extra))
    width = len(cells.columns)
    _, member = group(finer.codes[:width], finer.domains[:width])  # in the order of `cells`
    homes, number = finer.codes[width].astype(np.int64), finer.counts
    kept = (homes != finer.missing_codes[width]) & (sizes[member] > 0)
    each = risk[member]
    if dataset.person is not None:  # a person counts once, with the highest risk
        kept &= finer.codes[-1] != finer.missing_codes[-1]
        first, which = group(finer.codes[width:], finer.domains[width:])
        worst = np.zeros(first.size)
        np.maximum.at(worst, which[kept], each[kept])
        homes, each, number = homes[first], worst, np.ones(first.size, np.int64)
        kept = worst > 0
    with np.errstate(divide="ignore"):
        safe = number[kept] * np.log1p(-each[kept])
    households = finer.domains[width]
    total = -np.expm1(np.bincount(homes[kept], weights=safe, minlength=households))
    members = np.bincount(homes[kept], weights=number[kept], minlength=households)
    return total, members.astype(np.int64)


def _household_column(dataset: Dataset, cells: Cells) -> str:
    """The column of households, which is not one of the quasi-identifiers."""
    home = dataset.household
    if home is None:
        raise RoleError(
            "Household risk needs the household of each record.", code="no-household", hint="Set {household}."
        )
    if home in cells.columns:
        raise RoleError(
            f"Column {home!r} identifies the household of a record; it cannot be a quasi-identifier as well.",
            code="household-is-quasi-identifier",
            columns=(home,),
        )
    return home
