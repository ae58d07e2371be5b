"""The risk of each record of a weighted sample (Benedetti & Franconi 1998)."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from crypsis.dataset import Data, Dataset, as_dataset, takes_roles
from crypsis.errors import ParameterError, RoleError
from crypsis.options import Columns, Roles
from crypsis.results import Group, Result
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._risk import (
    attacker_risk,
    check_threshold,
    risk_by_weights,
    unit_count,
    units_alike,
)


class IndividualRisk(Result):
    """The re-identification risk of the records of a weighted sample."""

    columns: tuple[str, ...]
    unit: str
    """What is counted: records, or persons where the data says whose records they are."""
    units: int
    threshold: float
    share_above: float
    """The share of records (or persons) whose risk is above the threshold."""
    maximum: float
    average: float
    expected: float
    """The expected number of re-identifications."""
    riskiest: Group
    """The equivalence class with the highest risk."""


@takes_roles
def individual_risk(
    data: Data,
    columns: Columns | None = None,
    *,
    threshold: float = 0.2,
    **roles: Unpack[Roles],
) -> IndividualRisk:
    """Measure individual risk in a weighted sample, with the exact expectation.

    Parameters
    ----------
    data : Dataset, frame or path
        The data: a sample with weights.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    threshold : float
        The risk above which a record counts as at risk.
    **roles
        See `crypsis.read`. `weight` is the column of the sampling weights.

    Returns
    -------
    IndividualRisk
        The maximum, the average, the share above the threshold and the expected number;
        `record_risks` has the risk of each record.

    Notes
    -----
    A class with f records and a sum of weights F-hat has p = f / F-hat. Its people F in the
    population are negative binomial given f, and the risk is E[1/F | f], which equals
    (p/f) 2F1(1, 1; f+1; 1-p) exactly; many programs use approximations. It is computed by
    recurrence or by a series of positive terms, and has 14 digits for every f. Weights that do not
    expand the sample (a sum below f) do not fit the model: then p is 1 and the risk is 1/f. Missing
    values count as the data says; as wildcards they match every value in f and in F-hat. Where the
    data names the person of each record, f counts persons, each with the mean of their weights.

    The model knows nothing of the population but the weights. For classes of one record in a sample
    of a hundredth it gives 0.0465, whatever the other classes are: where many sample uniques are
    unique in the population, that is too low, see `population_uniqueness`.

    References
    ----------
    Benedetti & Franconi (1998), Statistical and technological solutions for controlled data
    dissemination. Rinott (2003), On models for statistical disclosure risk estimation. Franconi &
    Polettini (2004), Individual risk estimation in mu-Argus: a review.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "w": [50.0, 50.0, 100.0]})
    >>> round(individual_risk(people, ["age"], weight="w").maximum, 4)
    0.0465
    """
    dataset = as_dataset(data, **roles)
    check_threshold(threshold)
    require_weights(dataset)
    cells = dataset.cells(quasi_identifiers(dataset, columns))
    units, sizes, person = units_alike(dataset, cells)
    if not (sizes > 0).any():
        raise ParameterError("No record can be counted.", code="no-records", columns=cells.columns)
    risk = risk_by_weights(dataset, cells, sizes, person)
    found = attacker_risk(risk, units, sizes > 0, person, threshold)
    number = unit_count(units, sizes > 0, person)
    return IndividualRisk(
        cells.columns, "records" if person is None else "persons", number, threshold,
        float(found.share_above), float(found.maximum), float(found.average),
        float(found.average) * number, cells.group(int(np.argmax(risk))),
    )  # fmt: skip


def require_weights(dataset: Dataset) -> None:
    """Raise unless the data is a weighted sample."""
    if dataset.weight is None:
        raise RoleError(
            "Individual risk needs the weights of the sample.",
            code="no-weights",
            hint="Set {weight}.",
        )
