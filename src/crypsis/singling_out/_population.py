"""How many people are unique in the population when a sample of it is released.

All models see only the sizes of the classes in the sample, and all take it for a simple random
sample; `individual_risk` is for samples with weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import hyp2f1

from crypsis.errors import ParameterError, RoleError
from crypsis.release import NullPolicy, Release, as_release
from crypsis.results import Estimate, Group, Result
from crypsis.singling_out._crowds import check_threshold, check_weights
from crypsis.singling_out._models import (
    Model,
    pitman_uniques,
    slide_negative_binomial_uniques,
    zayatz_uniques,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_SMALL_SAMPLE = 0.1
_REDRAWS = 60
_RANDOM_SAMPLE = "the rows are a simple random sample of the population"


@dataclass(frozen=True)
class PopulationUniqueness(Result):
    """People who are unique in the population, as a share of it, by several models."""

    columns: tuple[str, ...]
    population: int
    sampling_fraction: float
    sample_uniques: int
    pitman: Estimate | None
    """Hoshino 2001. None where the model does not fit the class sizes."""
    zayatz: Estimate | None
    """Zayatz 1991. It takes the shape of the sample's classes for the population's."""
    slide_negative_binomial: Estimate | None
    """Chen & McNulty 1998. None where the model does not fit the class sizes."""
    chosen: str
    """The model that Dankar et al. 2012 would take."""
    best: Estimate
    """What that model says."""
    advice: str


def population_uniqueness(
    release: Any,
    columns: Sequence[str] | None = None,
    *,
    population: int | None = None,
    seed: int = 0,
    **roles: Any,
) -> PopulationUniqueness:
    """The share of the population that is unique in the columns, estimated from the sample.

    Dankar et al. 2012 take Pitman's model for sampling fractions up to 0.1, and beyond that the
    smaller of Zayatz' and the slide-negative-binomial estimate; a model that does not fit falls
    back on Zayatz. Intervals come from redrawing the frequencies of class sizes as Poisson counts:
    they hold the error of sampling, not that of the model. Missing values count as the release
    says; wildcards have no classes and are an error.

    >>> import numpy as np, pyarrow as pa
    >>> ages = np.random.default_rng(1).geometric(0.02, 2000)
    >>> found = population_uniqueness(pa.table({"age": ages}), ["age"], population=100_000)
    >>> found.chosen, float(found.best) < 0.001
    ('pitman', True)
    """
    given = as_release(release, **roles)
    people = given.population if population is None else population
    if people is None or isinstance(people, Release):
        raise RoleError(
            "Give the size of the population (population=..., --population). With its table, "
            "uniqueness() of the table itself is exact."
        )
    sizes = _class_sizes(given, columns)
    rows = int(sizes.sum())
    if people < rows:
        raise ParameterError(
            f"The population ({people:,}) is smaller than the release ({rows:,} rows)."
        )
    size, number = np.unique(sizes, return_counts=True)
    models: dict[str, Estimate | None] = {
        name: _with_interval(model, size, number, float(people), seed)
        for name, model in (
            ("pitman", pitman_uniques),
            ("zayatz", zayatz_uniques),
            ("slide_negative_binomial", slide_negative_binomial_uniques),
        )
    }
    chosen = _dankar(models, rows / people)
    best = models[chosen]
    assert best is not None  # noqa: S101 - Zayatz' always exists
    names = tuple(columns) if columns is not None else given.quasi_identifiers
    return PopulationUniqueness(
        names, int(people), rows / people, int((sizes == 1).sum()), models["pitman"],
        models["zayatz"], models["slide_negative_binomial"], chosen, best,
        _advice(rows / people, int((sizes == 1).sum()), models),
    )  # fmt: skip


@dataclass(frozen=True)
class IndividualRisk(Result):
    """The risk of each record when an attacker takes the sample for what it is."""

    columns: tuple[str, ...]
    records: int
    threshold: float
    above: float
    highest: float
    average: float
    expected: float
    """The number of records to expect identified."""
    riskiest: Group


def individual_risk(
    release: Any, columns: Sequence[str] | None = None, *, threshold: float = 0.2, **roles: Any
) -> IndividualRisk:
    """Individual risk in weighted samples (Benedetti & Franconi 1998), with the exact expectation.

    A class with f records and a sum of weights F-hat has p = f / F-hat. Its people in the
    population are negative binomial given f, and the risk is E[1/F | f], which equals
    (p/f) 2F1(1, 1; f+1; 1-p) exactly; many programs use approximations. It does not apply to
    weights that do not expand the sample (a sum below f): then p is taken as 1 and the risk is 1/f.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "w": [50.0, 50.0, 100.0]})
    >>> round(individual_risk(people, ["age"], weight="w").highest, 4)
    0.0465
    """
    given = as_release(release, **roles)
    check_threshold(threshold)
    if given.weight is None:
        raise RoleError("Individual risk needs the weights of the sample (weight=..., --weight).")
    if given.missing is NullPolicy.WILDCARD:
        raise ParameterError("Wildcards have no classes; read missing values as 'value' or 'drop'.")
    cells = given.cells(columns, weighted=True)
    check_weights(cells)
    kept = np.flatnonzero(cells.class_sizes > 0)
    number = cells.class_sizes[kept].astype(np.float64)
    share = np.minimum(number / np.asarray(cells.weights)[kept], 1.0)
    risk = share / number * hyp2f1(1.0, 1.0, number + 1, 1 - share)
    records = number.sum()
    return IndividualRisk(
        cells.columns, int(records), threshold, float(number[risk > threshold].sum() / records),
        float(risk.max()), float(number @ risk / records), float(number @ risk),
        cells.group(int(kept[np.argmax(risk)])),
    )  # fmt: skip


def _class_sizes(release: Release, columns: Sequence[str] | None) -> Ints:
    cells = release.cells(columns)
    if release.missing is NullPolicy.WILDCARD and cells._blank.any():
        raise ParameterError("Wildcards have no classes; read missing values as 'value' or 'drop'.")
    sizes = cells.class_sizes[cells.class_sizes > 0]
    if not sizes.size:
        raise ParameterError("The release has no rows that count; there is nobody to single out.")
    return sizes


def _with_interval(
    model: Model, size: Ints, number: Ints, people: float, seed: int
) -> Estimate | None:
    """A model's share of unique people, with the interval of its redraws."""
    fit = model(size, number, people, None)
    if fit is None:
        return None
    value = fit.uniques
    random = np.random.default_rng(seed)
    drawn = []
    for _ in range(_REDRAWS):
        redrawn = random.poisson(number)
        some = redrawn > 0
        if 0 < size @ redrawn <= people:  # no sample is larger than its population
            again = model(size[some], redrawn[some], people, fit.point)
            if again is not None:
                drawn.append(again.uniques)
    low, high = np.quantile(drawn, [0.025, 0.975]) if drawn else (0.0, people)
    name = model.__name__.removesuffix("_uniques").replace("_", " ")
    return Estimate(
        value / people, min(low, value) / people, max(high, value) / people, 0.95,
        f"{name} model", _RANDOM_SAMPLE,
    )  # fmt: skip


def _dankar(models: dict[str, Estimate | None], fraction: float) -> str:
    """The rule of Dankar, El Emam, Neisa & Roffey 2012."""
    if fraction <= _SMALL_SAMPLE:
        return "pitman" if models["pitman"] is not None else "zayatz"
    slide, zayatz = models["slide_negative_binomial"], models["zayatz"]
    if slide is None or (zayatz is not None and zayatz.value < slide.value):
        return "zayatz"
    return "slide_negative_binomial"


def _advice(fraction: float, once: int, models: dict[str, Estimate | None]) -> str:
    """What to keep in mind with these estimates."""
    said = []
    if fraction < 0.001:
        said.append("The sample is below 0.1 % of the population; the models extrapolate far.")
    if once == 0:
        said.append("No row is unique in the sample, so the models see no unique people at all.")
    missing = [name.replace("_", " ") for name, found in models.items() if found is None]
    if missing:
        said.append(f"No fit to the class sizes: {', '.join(missing)}.")
    found = [float(model) for model in models.values() if model is not None]
    if found and max(found) > 2 * min(found) + 1e-12:
        said.append("The models differ by more than a factor of two; take the largest to be safe.")
    return " ".join(said) or "The models agree within a factor of two."
