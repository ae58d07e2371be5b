"""The risk of sample uniques by a log-linear model of the population."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Unpack

import numpy as np

from crypsis import progress
from crypsis.array_types import Floats
from crypsis.counting.cells import Cells
from crypsis.counting.match_probability import check_weights
from crypsis.dataset import DESIGN, Data, Dataset, as_seen, takes_roles
from crypsis.errors import ParameterError, RoleError, TooLargeError, unknown_columns
from crypsis.options import Columns, Roles
from crypsis.results import Result
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._measures import population_too_small
from crypsis.singling_out._risk import refuse_wildcards

_MAX_CELLS = 4_000_000
"""Cells of a table whose interactions the caller states; more are refused."""
_MAX_CHOSEN_CELLS = 300_000
"""Cells of a table whose interactions are chosen, from many fits; more are refused."""
_MAX_BIAS_SCORE = 1.96
"""Standard errors up to which a bias may be chance: at 95 % confidence."""


class LoglinearModel(Result):
    """A model that was tried: its interactions, its bias and what it estimates."""

    interactions: tuple[tuple[str, str], ...]
    bias: float
    """The estimated bias of `correct_matches`: above 0, it is too high."""
    score: float
    """The bias in standard deviations."""
    population_uniques: float
    correct_matches: float


class LoglinearRisk(Result):
    """The risk of the sample uniques by a log-linear model of the population."""

    columns: tuple[str, ...]
    records: int
    population: float
    sampling_fraction: float
    weighted: bool
    """Whether the model was fitted to the weighted table."""
    table_cells: int
    """The combinations of values that can occur, those without a record included."""
    sample_uniques: int
    interactions: tuple[tuple[str, str], ...]
    """The interactions of the chosen model, besides the main effects."""
    population_uniques: float
    """The expected number of sample uniques that are unique in the population."""
    correct_matches: float
    """The expected number of correct matches with sample uniques."""
    uniqueness: float
    """The share of the population that is unique."""
    bias: float
    score: float
    """The estimated bias of the chosen model, and the same in standard deviations."""
    models: tuple[LoglinearModel, ...]
    """The models in the order in which interactions were added; the last is the chosen one."""
    advice: str

    @property
    def uncertain(self) -> bool:
        """Whether the estimated bias is beyond its error."""
        return abs(self.score) > _MAX_BIAS_SCORE


@takes_roles(without=DESIGN)
def loglinear_risk(
    data: Data,
    columns: Columns | None = None,
    *,
    interactions: Sequence[Sequence[str]] | None = None,
    **roles: Unpack[Roles],
) -> LoglinearRisk:
    """Estimate how many sample uniques are unique in the population, by a log-linear model.

    Parameters
    ----------
    data : Dataset, frame or path
        The data: a sample of the population.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    interactions : sequence of pairs of str, optional
        The two-way interactions of the model, besides the main effects; by default they are chosen.
        An empty sequence is the model of independence.
    **roles
        See `crypsis.read`. `population` is the number of people (or their table), or `weight` the
        column of the sampling weights.

    Returns
    -------
    LoglinearRisk
        The expected population uniques and correct matches, the model and how it was chosen.

    Raises
    ------
    TooLargeError
        If the columns have more than 300,000 combinations of values, or 4 million where the
        interactions are given.

    Notes
    -----
    The counts of all combinations of values are Poisson with means that follow a log-linear model,
    fitted by iterative proportional fitting. Unlike `individual_risk`, it uses the frequencies of
    the values: a sample unique of frequent values is hardly ever unique in the population.

    Models that are too simple have a bias upwards, models that are too rich one downwards. The
    choice begins with independence and adds the interaction that brings the estimated bias of the
    correct matches, in standard deviations, nearest to 0, as long as it comes nearer (Skinner &
    Shlomo). A score beyond 1.96 remains where no model fits; `advice` says so.

    With weights the model is chosen on the sample and fitted to the weighted table (pseudo maximum
    likelihood), and a sample unique of weight w has the sampling fraction 1/w. Strata and clusters
    change the variance of the fit, not the estimates; weights account for unequal probabilities of
    selection. Missing values count as the data says; wildcards are an error. Cost: a pass over all
    combinations of values for each pair of columns and each interaction added: seconds for a
    hundred thousand combinations.

    References
    ----------
    Skinner & Holmes (1998), Estimating the re-identification risk per record in microdata. Skinner &
    Shlomo (2008), Assessing identification risk in survey microdata using log-linear models.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> random = np.random.default_rng(1)
    >>> rows = {"age": random.geometric(0.1, 900), "town": random.geometric(0.2, 900)}
    >>> found = loglinear_risk(pa.table(rows), ["age", "town"], population=9000)
    >>> found.interactions, found.population_uniques < found.correct_matches < found.sample_uniques
    ((), True)
    """
    dataset = as_seen(data, columns, **roles)
    names = quasi_identifiers(dataset, columns)
    cells = dataset.cells(names)
    refuse_wildcards(cells)
    _check_size(cells, chosen=interactions is None)
    counts, expanded, people = _tables(dataset, cells)
    overall = float(counts.sum()) / people
    chosen_interactions = None if interactions is None else _given(interactions, names)
    models = _models(counts, overall, chosen_interactions)
    pairs, chosen = models[-1]
    if expanded is not None:
        chosen = _weighted_fit(counts, expanded, pairs)
    shown = tuple(
        LoglinearModel(
            _named(margins, names), fit.bias, fit.score, fit.population_uniques, fit.correct_matches
        )
        for margins, fit in models
    )
    records = int(counts.sum())
    return LoglinearRisk(
        columns=names,
        records=records,
        population=people,
        sampling_fraction=overall,
        weighted=expanded is not None,
        table_cells=int(counts.size),
        sample_uniques=int((counts == 1).sum()),
        interactions=_named(pairs, names),
        population_uniques=chosen.population_uniques,
        correct_matches=chosen.correct_matches,
        uniqueness=chosen.population_uniques / records,
        bias=models[-1][1].bias,
        score=models[-1][1].score,
        models=shown,
        advice=_advice(models[-1][1], chosen_interactions is not None),
    )


def _check_size(cells: Cells, *, chosen: bool) -> None:
    size, most = math.prod(cells.domains), _MAX_CHOSEN_CELLS if chosen else _MAX_CELLS
    if size > most:
        raise TooLargeError(
            f"The columns have {size:,} combinations of values; a log-linear model "
            f"{'is chosen' if chosen else 'is fitted'} for up to {most:,}.",
            code="too-many-combinations",
            hint="Use fewer columns, or generalize them.",
        )


def _tables(dataset: Dataset, cells: Cells) -> tuple[Floats, Floats | None, float]:
    """The table of counts, that of the weights where there are any, and the people."""
    kept = cells.class_sizes > 0
    if not kept.any():
        raise ParameterError("No record can be counted.", code="no-records", columns=cells.columns)
    cell_index = tuple(np.asarray(code)[kept] for code in cells.codes)
    counts = np.zeros(cells.domains)
    counts[cell_index] = cells.class_sizes[kept]
    records = int(counts.sum())
    if dataset.weight is not None:
        weighted = dataset.cells(cells.columns, weighted=True)
        check_weights(weighted)
        expanded = np.zeros(cells.domains)
        expanded[cell_index] = np.maximum(np.asarray(weighted.weights)[kept], cells.class_sizes[kept])
        return counts, expanded, float(expanded.sum())
    population = dataset.population
    if population is None:
        raise RoleError(
            "A log-linear model needs the size of the population or the weights of the sample.",
            code="no-population-size",
            hint="Set {population} or {weight}.",
        )
    people = population.count if isinstance(population, Dataset) else int(population)
    if people < records:
        raise population_too_small(people, records)
    return counts, None, float(people)


def _given(interactions: Sequence[Sequence[str]], names: tuple[str, ...]) -> list[_Margin]:
    """The pairs of columns that were asked for, by their places."""
    margins: list[_Margin] = []
    for pair in interactions:
        unknown = [name for name in pair if name not in names]
        if unknown:
            raise unknown_columns(unknown, names)
        places = tuple(sorted({names.index(name) for name in pair}))
        if isinstance(pair, str) or len(places) != 2:
            raise ParameterError(
                "An interaction is a pair of two different columns.", parameter="interactions"
            )
        margins.append(places)
    return margins


def _models(
    counts: Floats, overall: float, margins: list[_Margin] | None
) -> list[tuple[tuple[_Margin, ...], _TableFit]]:
    """The models that were accepted one after the other, or the one that was asked for."""

    def fitted(pairs: Sequence[_Margin], start: Floats | None) -> _TableFit:
        return judge(counts, fit_margins(counts, [*mains, *pairs], start), overall, overall)

    mains: list[_Margin] = [(axis,) for axis in range(counts.ndim)]
    if margins is not None:
        return [(tuple(margins), fitted(margins, None))]
    best = fitted([], None)
    models: list[tuple[tuple[_Margin, ...], _TableFit]] = [((), best)]
    left = list(combinations(range(counts.ndim), 2))
    with progress.step("log-linear models", len(left)) as step:
        while left:
            pairs = models[-1][0]
            tried = [(fitted([*pairs, interaction], best.fitted), interaction) for interaction in left]
            nearest, added = min(tried, key=lambda pair: abs(pair[0].score))
            if abs(nearest.score) >= abs(best.score):
                break
            best = nearest
            models.append(((*pairs, added), best))
            left.remove(added)
            step.advance()
    return models


def _weighted_fit(counts: Floats, expanded: Floats, pairs: tuple[_Margin, ...]) -> _TableFit:
    """The same model fitted to the weighted table, with the sampling fraction of each cell."""
    overall = float(counts.sum() / expanded.sum())
    mains: list[_Margin] = [(axis,) for axis in range(counts.ndim)]
    fitted = fit_margins(expanded * overall, [*mains, *pairs])
    fraction = np.divide(counts, expanded, out=np.full_like(counts, overall), where=expanded > 0)
    return judge(counts, fitted, fraction, overall)


def _named(pairs: Sequence[_Margin], names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((names[first], names[second]) for first, second in pairs)


def _advice(fit: _TableFit, were_chosen: bool) -> str:
    if abs(fit.score) <= _MAX_BIAS_SCORE:
        return "The estimated bias is within its error."
    way = "high" if fit.bias > 0 else "low"
    what = "the model that was asked for" if were_chosen else "every model that was tried"
    return f"The estimates of {what} are too {way}: the bias is beyond its error."


_Margin = tuple[int, ...]

_MAX_CYCLES = 200
"""Cycles of fitting the margins at most, where they do not agree before."""
_MARGIN_TOLERANCE = 1e-6
"""As a part of all people: margins that differ by less agree."""
_SERIES_LIMIT = 1e-3
"""Below this the first terms of the series: the formula would lose its digits."""


@dataclass(frozen=True, eq=False)
class _TableFit:
    """A fitted table, its uniques' risk, and the error that its bias would make."""

    fitted: Floats
    population_uniques: float
    correct_matches: float
    bias: float
    deviation: float

    @property
    def score(self) -> float:
        """The bias in standard deviations: about normal if the model is right."""
        return self.bias / self.deviation if self.deviation else 0.0


def fit_margins(table: Floats, margins: Sequence[_Margin], start: Floats | None = None) -> Floats:
    """The table with these margins of `table` and no interaction beyond them, by scaling.

    Iterative proportional fitting (Deming & Stephan 1940): each margin in turn is scaled to that of
    the table, until all agree. It ends after one cycle where the model is decomposable. `start` may
    be the fit of a model with fewer margins.
    """
    largest = [margin for margin in margins if not any(set(margin) < set(larger) for larger in margins)]
    axes = [tuple(i for i in range(table.ndim) if i not in margin) for margin in largest]
    targets = [table.sum(axis=summed_axes, keepdims=True) for summed_axes in axes]
    fitted = np.ones_like(table) if start is None else start.copy()
    close = _MARGIN_TOLERANCE * float(table.sum())
    for _ in range(_MAX_CYCLES):
        worst = 0.0
        for margin_axes, target in zip(axes, targets, strict=True):
            now = fitted.sum(axis=margin_axes, keepdims=True)
            worst = max(worst, float(np.abs(now - target).max()))
            fitted *= np.divide(target, now, out=np.zeros_like(now), where=now > 0)
        if worst <= close:
            break
    return fitted


def judge(counts: Floats, fitted: Floats, fraction: float | Floats, overall: float) -> _TableFit:
    """The risk of the sample uniques under a fitted table, and its estimated bias.

    Parameters
    ----------
    counts : array
        f of each cell.
    fitted : array
        The fitted mean of f, as if every cell had the sampling fraction `overall`.
    fraction : float or array
        The sampling fraction of each cell.
    overall : float
        The sampling fraction of the sample.

    Notes
    -----
    The bias of the expected correct matches is that of Skinner & Shlomo (2008): with h(L) the
    probability of a correct match, mu the fitted mean and L = mu / p, it is the sum over all cells
    of mu exp(-mu) (-h'(L) (f - mu) / p + h''(L) ((f - mu)^2 - f) / (2 p^2)). For Poisson counts f -
    mu and (f - mu)^2 - f are uncorrelated, with variances mu and 2 mu^2, which gives its variance.
    """
    people = fitted / overall
    left = (1 - fraction) * people
    unique = counts == 1
    alone = float(np.exp(-left)[unique].sum())
    matches, _, _ = _match(left)
    _, slope, bend = _match((1 - overall) * people)
    rest = (1 - overall) / overall
    chance = fitted * np.exp(-fitted)
    first, second = -chance * rest * slope, chance * rest**2 * bend / 2
    error = counts - fitted
    bias = float((first * error + second * (error**2 - counts)).sum())
    variance = float((first**2 * fitted + 2 * second**2 * fitted**2).sum())
    return _TableFit(fitted, alone, float(matches[unique].sum()), bias, variance**0.5)


def _match(m: Floats) -> tuple[Floats, Floats, Floats]:
    """(1 - exp(-m)) / m and its first two derivatives."""
    x = np.maximum(m, _SERIES_LIMIT)
    gone = np.exp(-x)
    small = m < _SERIES_LIMIT
    value = np.where(small, 1 - m / 2 + m**2 / 6, -np.expm1(-x) / x)
    slope = np.where(small, -0.5 + m / 3, (gone * (x + 1) - 1) / x**2)
    bend = np.where(small, 1 / 3 - m / 4, (2 - gone * (x**2 + 2 * x + 2)) / x**3)
    return value, slope, bend
