"""Uniqueness in the population, estimated from a sample of it.

The models use only the sizes of the equivalence classes and assume a simple random sample;
`individual_risk` is for samples with weights.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis.dataset import Data, Dataset, as_dataset, takes_roles
from crypsis.errors import ParameterError, RoleError
from crypsis.options import Columns, Roles
from crypsis.results import Estimate, Result
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._design import refuse_design
from crypsis.singling_out._measures import population_too_small
from crypsis.singling_out._models import (
    Model,
    pitman_uniques,
    slide_negative_binomial_uniques,
    zayatz_uniques,
)
from crypsis.singling_out._risk import refuse_wildcards

Ints = NDArray[np.int64]

_SMALL_SAMPLE = 0.1
_REDRAWS = 60
_MODELS: dict[str, Model] = {
    "pitman": pitman_uniques,
    "zayatz": zayatz_uniques,
    "slide_negative_binomial": slide_negative_binomial_uniques,
}


class PopulationUniqueness(Result):
    """The share of the population that is unique, estimated by several models."""

    columns: tuple[str, ...]
    population: int
    sampling_fraction: float
    sample_uniques: int
    pitman: Estimate | None
    """Hoshino 2001. None where the model does not fit the class sizes."""
    zayatz: Estimate | None
    """Zayatz 1991. It assumes that the classes of the population are shaped as in the sample."""
    slide_negative_binomial: Estimate | None
    """Chen & McNulty 1998. None where the model does not fit the class sizes."""
    chosen: str
    """The model that the rule of Dankar et al. 2012 chooses."""
    best: Estimate
    """The estimate of that model."""
    advice: str


@takes_roles
def population_uniqueness(
    data: Data,
    columns: Columns | None = None,
    *,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> PopulationUniqueness:
    """Estimate the share of the population that is unique in the columns.

    Parameters
    ----------
    data : Dataset, frame or path
        The data: a sample of the population.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    seed : int
        The seed of the intervals.
    **roles
        See `crypsis.read`. `population` is the number of people, or their table, of which only the
        size is used: in the table itself uniques can be counted (`uniqueness`).

    Returns
    -------
    PopulationUniqueness
        The estimates of three models, and the one chosen.

    Notes
    -----
    The rule of Dankar et al. takes Pitman's model for sampling fractions up to 0.1, and beyond that
    the smaller of Zayatz' and the slide-negative-binomial estimate; Zayatz' replaces a model that
    does not fit. Intervals come from redrawing the frequencies of class sizes as Poisson counts:
    they cover the error of sampling, not that of the model. Missing values count as the data says;
    wildcards are an error.

    References
    ----------
    Dankar, El Emam, Neisa & Roffey (2012), Estimating the re-identification risk of clinical data
    sets.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> ages = np.random.default_rng(1).geometric(0.02, 2000)
    >>> found = population_uniqueness(pa.table({"age": ages}), ["age"], population=100_000)
    >>> found.chosen, float(found.best) < 0.001
    ('pitman', True)
    """
    dataset = as_dataset(data, **roles)
    population = dataset.population
    if population is None:
        raise RoleError(
            "Population models need the size of the population.",
            code="no-population-size",
            hint="Set {population}.",
        )
    people = population.count if isinstance(population, Dataset) else int(population)
    refuse_design(dataset)
    names = quasi_identifiers(dataset, columns)
    cells = dataset.cells(names)
    refuse_wildcards(cells)
    sizes = cells.class_sizes[cells.class_sizes > 0]
    if not sizes.size:
        raise ParameterError("No record can be counted.", code="no-records", columns=names)
    rows, uniques = int(sizes.sum()), int((sizes == 1).sum())
    if people < rows:
        raise population_too_small(people, rows)
    size, number = np.unique(sizes, return_counts=True)
    models = {name: _estimate(name, size, number, float(people), seed) for name in _MODELS}
    chosen = _choose(models, rows / people)
    best = models[chosen]
    assert best is not None  # noqa: S101 - Zayatz' estimate always exists
    advice = _advice(rows / people, uniques, models)
    return PopulationUniqueness(
        names, people, rows / people, uniques, **models, chosen=chosen, best=best, advice=advice
    )


def _estimate(name: str, size: Ints, number: Ints, people: float, seed: int) -> Estimate | None:
    """A model's share of unique people, with an interval from redraws of the class sizes."""
    model = _MODELS[name]
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
    return Estimate(
        value / people, min(low, value) / people, max(high, value) / people, 0.95,
        f"{name.replace('_', ' ')} model", "the records are a simple random sample",
    )  # fmt: skip


def _choose(models: dict[str, Estimate | None], fraction: float) -> str:
    """The rule of Dankar, El Emam, Neisa & Roffey 2012."""
    if fraction <= _SMALL_SAMPLE:
        return "pitman" if models["pitman"] is not None else "zayatz"
    slide, zayatz = models["slide_negative_binomial"], models["zayatz"]
    if slide is None or (zayatz is not None and zayatz.value < slide.value):
        return "zayatz"
    return "slide_negative_binomial"


def _advice(fraction: float, once: int, models: dict[str, Estimate | None]) -> str:
    """The limits of these estimates."""
    notes = []
    if fraction < 0.001:
        notes.append("The sample is below 0.1 % of the population; the models extrapolate far.")
    if once == 0:
        notes.append("No record is unique in the sample, so the models find no unique people.")
    missing = [name.replace("_", " ") for name, found in models.items() if found is None]
    if missing:
        notes.append(f"No fit to the class sizes: {', '.join(missing)}.")
    found = [float(model) for model in models.values() if model is not None]
    if found and max(found) > 2 * min(found) + 1e-12:
        notes.append("The models differ by more than a factor of two; use the largest estimate.")
    return " ".join(notes) or "The models agree within a factor of two."
