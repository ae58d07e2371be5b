"""Uniqueness in the population, estimated from a sample of it.

The estimates use only the sizes of the equivalence classes and assume a simple random sample, of all
people or in each stratum; `individual_risk` and `unique_match_risk` are for other samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from crypsis.array_types import Ints
from crypsis.counting.match_probability import check_weights
from crypsis.dataset import Data, Dataset, as_seen, takes_roles
from crypsis.errors import ParameterError, RoleError
from crypsis.options import Columns, Roles
from crypsis.results import Estimate, Result
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._measures import population_too_small
from crypsis.singling_out._models import (
    Model,
    pitman_uniques,
    slide_negative_binomial_uniques,
    zayatz_uniques,
)
from crypsis.singling_out._population_bounds import SampledClasses, unique_people
from crypsis.singling_out._risk import refuse_wildcards

_SMALL_SAMPLE_FRACTION = 0.1
"""Up to this fraction Pitman's model is preferred: the rule of Dankar et al. 2012."""
_MAX_WEIGHTS = 30
"""Different weights of strata, each with fits of its own; more are refused."""
_MODELS: dict[str, Model] = {
    "pitman": pitman_uniques,
    "zayatz": zayatz_uniques,
    "slide_negative_binomial": slide_negative_binomial_uniques,
}


class PopulationUniqueness(Result):
    """The share of the population that is unique: an interval, and the estimates of three models.

    The interval of `best` holds for every population that fits the class sizes of the sample. The
    models are points within it or outside: each assumes a shape of the population, so none has an
    interval of its own.
    """

    columns: tuple[str, ...]
    population: int
    sampling_fraction: float
    sample_uniques: int
    best: Estimate
    """The estimate of the model chosen, with the interval."""
    chosen: str
    """The model that the rule of Dankar et al. 2012 chooses among those that fit the class sizes;
    "none" where none does, and `best` is then the likeliest population of any shape."""
    pitman: float | None
    """Hoshino 2001. None where the likelihood has no interior maximum."""
    zayatz: float
    """Zayatz 1991. It assumes that the classes of the population are shaped as in the sample."""
    slide_negative_binomial: float | None
    """Chen & McNulty 1998. None where the likelihood has no interior maximum."""
    excluded: tuple[str, ...]
    """The models whose estimate is outside the interval: the class sizes exclude it."""
    advice: str
    stratum: str | None = None
    """The column of the strata, in which people are unique too: one of `columns`."""


@takes_roles()
def population_uniqueness(
    data: Data, columns: Columns | None = None, **roles: Unpack[Roles]
) -> PopulationUniqueness:
    """Estimate the share of the population that is unique in the columns.

    Parameters
    ----------
    data : Dataset, frame or path
        The data: a sample of the population.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    **roles
        See `crypsis.read`. `population` is the number of people, or their table, of which only the
        size is used: in the table itself uniques can be counted (`uniqueness`). Of a sample that was
        drawn in strata, `stratum` and `weight`, the same in each stratum; they give the size.

    Returns
    -------
    PopulationUniqueness
        The share with its interval, and the estimates of three models.

    Notes
    -----
    The interval goes from the least to the largest share of unique people in any population whose
    likelihood, given the numbers of sampled classes of 1, 2, ..., 12 records, is at least 1/20 of
    the highest: it assumes a simple random sample and no shape of the population. A model whose
    estimate is outside is excluded by the class sizes. Among the others the rule of Dankar et al.
    takes Pitman's for sampling fractions up to 0.1, and beyond that the smaller of Zayatz' and the
    slide-negative-binomial estimate. In small samples the interval is wide: few records cannot
    distinguish a unique person from a member of a class of which one record was sampled. Its
    coverage over many populations is in the manual. Missing values count as the data says;
    wildcards are an error.

    In a stratified sample the classes are those of the columns and the stratum, each stratum with
    its own sampling fraction: what an intruder who knows the stratum finds. One who does not know it
    finds no more, so where the stratum is not a quasi-identifier the result is an upper bound.
    Models are fitted in each group of strata with the same fraction and summed.

    References
    ----------
    Dankar, El Emam, Neisa & Roffey (2012), Estimating the re-identification risk of clinical data
    sets. Rust & Burrus (1972), Mathematical programming and the numerical solution of linear
    equations (intervals from all solutions that fit). Efron & Thisted (1976), Estimating the number
    of unseen species (bounds over all populations).

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> ages = np.random.default_rng(1).geometric(0.02, 2000)
    >>> found = population_uniqueness(pa.table({"age": ages}), ["age"], population=100_000)
    >>> found.chosen, found.pitman < 0.001 < found.best.high < 0.03
    ('pitman', True)
    """
    dataset = as_seen(data, columns, **roles)
    refuse_design(dataset)
    names = quasi_identifiers(dataset, columns)
    if dataset.stratum is not None:
        names = tuple(dict.fromkeys((*names, dataset.stratum)))
    strata = _sampled(dataset, names)
    rows, people = (round(sum(part)) for part in zip(*((s.rows, s.population) for s in strata), strict=True))
    uniques = round(sum(stratum.once for stratum in strata))
    shares = {name: _share(model, strata) for name, model in _MODELS.items()}
    fit = unique_people(strata)
    low, high = fit.least / people, fit.largest / people
    fitting = {name: x for name, x in shares.items() if x is not None and low <= x <= high}
    chosen = _choose(fitting, rows / people)
    best = Estimate(
        fitting.get(chosen, fit.likeliest / people),
        low,
        high,
        0.95,
        "all populations that fit the class sizes",
        "the records are a simple random sample" + ("" if dataset.stratum is None else " in each stratum"),
    )
    excluded = tuple(name for name, x in shares.items() if x is not None and name not in fitting)
    return PopulationUniqueness(
        names,
        people,
        rows / people,
        uniques,
        best,
        chosen,
        **shares,  # type: ignore[arg-type]
        excluded=excluded,
        advice=_advice(rows / people, uniques, best, shares, excluded),
        stratum=dataset.stratum,
    )


def _sampled(dataset: Dataset, names: tuple[str, ...]) -> list[SampledClasses]:
    """The classes of the sample; of strata with the same weight together."""
    cells = dataset.cells(names)
    refuse_wildcards(cells)
    counted = cells.class_sizes > 0
    sizes = cells.class_sizes[counted]
    if not sizes.size:
        raise ParameterError("No record can be counted.", code="no-records", columns=names)
    if dataset.stratum is None:
        return [_classes(sizes, float(_people(dataset, int(sizes.sum()))))]
    weighted = dataset.cells(names, weighted=True)
    check_weights(weighted)
    each = np.round(np.asarray(weighted.weights)[counted] / cells.counts[counted], 9)
    weights, group = np.unique(each, return_inverse=True)
    if weights.size > _MAX_WEIGHTS:
        raise ParameterError(
            f"The strata have {weights.size:,} different weights; population uniqueness takes up to "
            f"{_MAX_WEIGHTS}.",
            code="too-many-weights",
            hint="Use unique_match_risk().",
        )
    strata_classes = []
    for position, weight in enumerate(weights.tolist()):
        stratum_sizes = sizes[group == position]
        if weight < 1:
            raise population_too_small(round(weight * float(stratum_sizes.sum())), int(stratum_sizes.sum()))
        strata_classes.append(_classes(stratum_sizes, weight * float(stratum_sizes.sum())))
    return strata_classes


def _classes(sizes: Ints, people: float) -> SampledClasses:
    size, number = np.unique(sizes, return_counts=True)
    return SampledClasses(size, number, people)


def _people(dataset: Dataset, rows: int) -> int:
    """The size of the population, from its number, its table or weights that are all equal."""
    population = dataset.population
    if population is None and dataset.weight is not None:
        weighted = dataset.cells([dataset.weight], weighted=True)
        check_weights(weighted)
        return max(rows, round(float(np.asarray(weighted.weights).sum())))
    if population is None:
        raise RoleError(
            "Population models need the size of the population.",
            code="no-population-size",
            hint="Set {population}.",
        )
    people = population.count if isinstance(population, Dataset) else int(population)
    if people < rows:
        raise population_too_small(people, rows)
    return people


def _share(model: Model, strata: Sequence[SampledClasses]) -> float | None:
    """The share of unique people by one model, summed over the strata; None where one has no fit."""
    fits = [model(stratum.size, stratum.number, stratum.population) for stratum in strata]
    if any(fit is None for fit in fits):
        return None
    total = sum(fit.uniques for fit in fits if fit is not None)
    return float(total / sum(stratum.population for stratum in strata))


def _choose(fitting: dict[str, float], fraction: float) -> str:
    """The rule of Dankar, El Emam, Neisa & Roffey 2012, among the models that fit."""
    if fraction <= _SMALL_SAMPLE_FRACTION:
        for name in ("pitman", "zayatz"):
            if name in fitting:
                return name
    named_models = [name for name in fitting if name != "pitman"] or list(fitting)
    return min(named_models, key=lambda name: fitting[name], default="none")


def _advice(
    fraction: float, once: int, best: Estimate, models: dict[str, float | None], excluded: tuple[str, ...]
) -> str:
    """The limits of these estimates."""
    notes = []
    if once == 0:
        notes.append("No record is unique in the sample, so no record is unique in the population.")
    if fraction < 0.001:
        notes.append("The sample is below 0.1 % of the population; the models extrapolate far.")
    if excluded:
        notes.append(f"The class sizes exclude: {_listed(excluded)}.")
    missing = [name for name, model in models.items() if model is None]
    if missing:
        notes.append(f"No fit to the class sizes: {_listed(missing)}.")
    if best.high > 2 * best.low:
        notes.append(
            "The class sizes fit populations that differ by more than a factor of two: use the upper end."
        )
    return " ".join(notes) or "The interval is within a factor of two."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


def refuse_design(dataset: Dataset) -> None:
    """Raise unless the records may be a simple random sample, of all people or in each stratum.

    >>> import pyarrow as pa
    >>> refuse_design(Dataset.from_frame(pa.table({"w": [2.0, 2.0]}), weight="w"))
    """
    design = [] if dataset.cluster is None else ["clusters"]
    weight, stratum = dataset.weight, dataset.stratum
    if stratum is not None and weight is None:
        design.append("strata without weights")
    elif weight is not None:
        by = [weight] if stratum is None else [stratum, weight]
        different = 1 if stratum is None else dataset.rows.tally([stratum]).distinct
        if dataset.rows.tally(by).distinct > different:
            design.append("unequal weights" + ("" if stratum is None else " within the strata"))
    if design:
        raise RoleError(
            "The models of population uniqueness assume a simple random sample, of all people or in "
            f"each stratum; this one has {', '.join(design)}.",
            code="not-a-simple-random-sample",
            hint="Use unique_match_risk() or loglinear_risk() with {weight}.",
        )
