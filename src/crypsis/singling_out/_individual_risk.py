"""The risk of each record of a weighted sample (Benedetti & Franconi 1998)."""

from __future__ import annotations

from typing import Unpack, get_args

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.counting.match_probability import PopulationModel, match_variance
from crypsis.dataset import DESIGN, Data, Dataset, as_seen, takes_roles
from crypsis.errors import ParameterError, RoleError
from crypsis.options import Columns, Roles
from crypsis.results import Estimate, Group, Number, Result
from crypsis.scientific import special, stats
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._risk import (
    PersonCells,
    attacker_risk,
    check_threshold,
    expanded_sizes,
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
    expected: Number
    """The expected number of re-identifications, and an interval for their number under the model:
    the sum of 1/F over the records (Rinott & Shlomo 2007)."""
    riskiest: Group
    """The equivalence class with the highest risk."""
    riskiest_interval: tuple[float, float]
    """An interval for 1/F of that class under the model."""
    model: PopulationModel = "negative binomial"
    """The distribution of the people of a class, given its records."""
    confidence: float = 0.95


@takes_roles(without=DESIGN)
def individual_risk(
    data: Data,
    columns: Columns | None = None,
    *,
    threshold: float = 0.2,
    model: PopulationModel = "negative binomial",
    confidence: float = 0.95,
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
    model : {"negative binomial", "poisson"}
        The distribution of the people of a class in the population, given its records.
    confidence : float
        The confidence of the intervals.
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

    In the Poisson model F - f is Poisson with the mean F-hat - f: the weights are taken as exact, F
    varies less, and the risk of small classes is much lower (of a unique of weight 100 it is 0.0101).
    The negative binomial model knows only the sampling fraction, and is the careful one.

    The intervals are those of 1/F under the model: of the number of correct matches, by the normal
    distribution with the variance of 1/F in each class, and of the class with the highest risk, by
    the quantiles of F. They know no error of the weights.

    The model knows nothing of the population but the weights. For classes of one record in a sample
    of a hundredth it gives 0.0465, whatever the other classes are: where many sample uniques are
    unique in the population, that is too low, see `population_uniqueness`.

    References
    ----------
    Benedetti & Franconi (1998), Statistical and technological solutions for controlled data
    dissemination. Rinott (2003), On models for statistical disclosure risk estimation. Franconi &
    Polettini (2004), Individual risk estimation in mu-Argus: a review. Rinott & Shlomo (2007),
    Variances and confidence intervals for sample disclosure risk measures.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "w": [50.0, 50.0, 100.0]})
    >>> round(individual_risk(people, ["age"], weight="w").maximum, 4)
    0.0465
    """
    dataset = as_seen(data, columns, **roles)
    check_threshold(threshold)
    _check_options(model, confidence)
    require_weights(dataset)
    cells = dataset.cells(quasi_identifiers(dataset, columns))
    units, sizes, person = units_alike(dataset, cells)
    if not (sizes > 0).any():
        raise ParameterError("No record can be counted.", code="no-records", columns=cells.columns)
    risk = risk_by_weights(dataset, cells, sizes, person, model)
    risk_summary = attacker_risk(risk, units, sizes > 0, person, threshold)
    number = unit_count(units, sizes > 0, person)
    counted = sizes > 0
    expanded = np.where(counted, expanded_sizes(dataset, cells, person), 1.0)
    spread = np.zeros(len(cells))
    spread[counted] = match_variance(sizes[counted].astype(float), expanded[counted], model)
    each = _units_at_risk(risk, units, person)
    expected = float(risk_summary.average) * number
    reach = float(special.ndtri((1 + confidence) / 2) * np.sqrt((each**2 * spread).sum()))
    riskiest = int(np.argmax(risk))
    return IndividualRisk(
        cells.columns,
        "records" if person is None else "people",
        number,
        threshold,
        float(risk_summary.share_above),
        float(risk_summary.maximum),
        float(risk_summary.average),
        Estimate(
            expected,
            max(0.0, expected - reach),
            min(float(number), expected + reach),
            confidence,
            f"{model} model",
            "The weights expand each class without error.",
        ),
        cells.group(riskiest),
        _quantiles(int(sizes[riskiest]), float(expanded[riskiest]), model, confidence),
        model,
        confidence,
    )


def _units_at_risk(risk: Floats, units: Ints, person: PersonCells | None) -> Floats:
    """The records of each class, or the persons whose class with the highest risk it is."""
    if person is None:
        return units.astype(np.float64)
    member, persons, _ = person
    has_person = np.flatnonzero(persons >= 0)
    order = has_person[np.lexsort((-risk[member[has_person]], persons[has_person]))]
    _, first = np.unique(persons[order], return_index=True)
    return np.bincount(member[order[first]], minlength=risk.size).astype(np.float64)


def _quantiles(size: int, expanded: float, model: PopulationModel, confidence: float) -> tuple[float, float]:
    """The interval of 1/F for one class, by the quantiles of F."""
    total = max(expanded, float(size))
    tails = np.array([(1 + confidence) / 2, (1 - confidence) / 2])
    more = (
        stats.poisson.ppf(tails, total - size)
        if model == "poisson"
        else stats.nbinom.ppf(tails, size, size / total)
    )
    low, high = (float(1 / (size + max(0.0, added))) for added in more)
    return low, high


def _check_options(model: str, confidence: float) -> None:
    if model not in get_args(PopulationModel):
        names = ", ".join(map(repr, get_args(PopulationModel)))
        raise ParameterError(
            f"Parameter 'model' must be one of {names}; {model!r} was given.", parameter="model"
        )
    if not 0 < confidence < 1:
        raise ParameterError(
            f"Parameter 'confidence' must be between 0 and 1; {confidence} was given.", parameter="confidence"
        )


def require_weights(dataset: Dataset) -> None:
    """Raise unless the data is a weighted sample."""
    if dataset.weight is None:
        raise RoleError(
            "Individual risk needs the weights of the sample.", code="no-weights", hint="Set {weight}."
        )
