"""Advice for raw data (itpr2019, section 5.4): which columns and values are risky to publish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from crypsis import progress
from crypsis.dataset import SAMPLE, Data, Dataset, as_columns, as_dataset, takes_roles
from crypsis.errors import ColumnError, TooLargeError, unknown_columns
from crypsis.inference._suspects import SuspectValue, suspects
from crypsis.inference._uniqueness import uniqueness_basis
from crypsis.inference.conditional import Conditional, check_at_least, conditional, unique_conditional
from crypsis.options import Columns, Roles
from crypsis.results import Result

_MAX_ONE_SCAN_RECORDS = 1_000_000
"""Up to so many records all cells are fetched at once; of more each pair of columns is counted."""


class ColumnAdvice(Result):
    """How risky one column is to publish unchanged."""

    column: str
    risk: float
    """The larger of `identity_guess` and `inference_gain`: what the columns are ranked by."""
    distinct: int
    identity_guess: float
    """The average probability of re-identifying the record from this column alone."""
    identity_itpr: float
    """ITPR of re-identification from this column alone."""
    identity_itpr_without_suspects: float
    """The same without the suspect values."""
    inferred_from: str | None
    """The one other column that reveals the most about this one; None where none does."""
    inference_gain: float
    """How much uncertainty it removes: (best guess with it - without) / (1 - without)."""
    discrimination_rate: float
    """That column's discrimination rate for this one."""
    inference_itpr: float
    """Its ITPR for this one; high for rare classes too, so read it together with the gain."""
    suspects: tuple[SuspectValue, ...]
    """Outliers and probable errors, which raise the risk by themselves."""


class Advice(Result):
    """The columns by how risky they are to publish, the riskiest first."""

    records: int
    rare: int
    columns: tuple[ColumnAdvice, ...]
    skipped: tuple[tuple[str, str], ...]
    """Pairs of columns with too many combinations to be counted."""

    def __getitem__(self, column: str) -> ColumnAdvice:
        for advice in self.columns:
            if advice.column == column:
                return advice
        raise unknown_columns([column], [column.column for column in self.columns])


@takes_roles(without=SAMPLE)
def advise(data: Data, columns: Columns | None = None, *, rare: int = 5, **roles: Unpack[Roles]) -> Advice:
    """Rank columns by how risky they are to publish unchanged, and flag suspect values.

    Parameters
    ----------
    data : Data
        A Dataset, a frame or a path.
    columns : Columns, optional
        The columns to rank; by default all.
    rare : int
        Classes of fewer records count as revealing nothing in `inference_gain`, because they agree
        by chance; values of fewer records may be suspect.
    **roles
        See `crypsis.read`.

    Returns
    -------
    Advice
        The columns, the riskiest first.

    Notes
    -----
    A column is risky if it identifies records, or if another column reveals its value. A rare value
    is suspect if it lies more than three quartile ranges beyond the quartiles (Tukey 1977), is
    spelled almost as a frequent one, is not numeric among numbers, or is rare in a column where
    that is unusual. Missing values count as the dataset sets. Cost: one scan up to a million
    records, beyond that one for each pair of columns.

    References
    ----------
    itpr2019, section 5.4.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ages = [30, 31, 32, 33] * 25 + [999]
    >>> places = ["north", "south"] * 50 + ["Nroth"]
    >>> found = advise(pa.table({"age": ages, "place": places}))
    >>> [(one.column, one.suspects[0].reason.value) for one in found.columns]
    [('place', 'misspelled'), ('age', 'outlier')]
    """
    dataset = as_dataset(data, **roles)
    names = list(dataset.names if columns is None else as_columns(columns))
    unknown = [name for name in names if name not in dataset.names]
    if unknown:
        raise unknown_columns(unknown, dataset.names)
    if not names or len(set(names)) < len(names):
        raise ColumnError("Columns are at least one, each named once.", hint="Set {columns}.")
    check_at_least("rare", rare, 2)
    bases = {name: uniqueness_basis(dataset, name) for name in names}
    counted = [name for name in names if not bases[name].unique]
    if counted and dataset.count <= _MAX_ONE_SCAN_RECORDS:
        dataset.cells(counted)  # kept by the dataset: the pairs come from it
    best, skipped = _predictors(dataset, counted, rare)
    advised = [
        _unique(dataset, name) if bases[name].unique else _column(dataset, name, best.get(name), rare)
        for name in names
    ]
    advised.sort(key=lambda advice: (-advice.risk, -advice.identity_itpr, advice.column))
    return Advice(dataset.count, rare, tuple(advised), tuple(skipped))


def _predictors(
    dataset: Dataset, names: Sequence[str], rare: int
) -> tuple[dict[str, tuple[str, Conditional, float]], list[tuple[str, str]]]:
    """For each column the other one that reveals the most about it, and how much."""
    best: dict[str, tuple[str, Conditional, float]] = {}
    skipped = []
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    for a, b in progress.track(pairs, "pairs of columns"):
        try:
            cells = dataset.cells([a, b])
        except TooLargeError:
            skipped.append((a, b))
            continue
        for target, predictor in ((a, b), (b, a)):
            result = conditional(cells, [predictor], target)
            gain = _gain(result, rare)
            if gain > (best[target][2] if target in best else 0.0):
                best[target] = (predictor, result, gain)
    return best, skipped


def _gain(conditional: Conditional, rare: int) -> float:
    prior = conditional.prior_guess
    if prior == 1:
        return 0.0
    right = np.where(conditional.sizes >= rare, conditional.modes, conditional.sizes * prior)
    return max(0.0, (float(right.sum()) / conditional.records - prior) / (1 - prior))


def _column(
    dataset: Dataset, name: str, best: tuple[str, Conditional, float] | None, rare: int
) -> ColumnAdvice:
    identity = unique_conditional(dataset.cells([name]))
    suspected = suspects(identity, name, dataset.rows.column(name).kind, rare)
    predictor, best_conditional, gain = best if best is not None else (None, None, 0.0)
    guess = len(identity.classes) / identity.records
    return ColumnAdvice(
        column=name,
        risk=max(guess, gain),
        distinct=len(identity.classes),
        identity_guess=guess,
        identity_itpr=identity.itpr,
        identity_itpr_without_suspects=_itpr_without(identity, list(suspected)),
        inferred_from=predictor,
        inference_gain=gain,
        discrimination_rate=best_conditional.discrimination_rate if best_conditional is not None else 0.0,
        inference_itpr=best_conditional.itpr if best_conditional is not None else 0.0,
        suspects=tuple(suspected.values()),
    )


def _itpr_without(identity: Conditional, places: Sequence[int]) -> float:
    """ITPR of re-identification without the records of some values."""
    sizes = np.delete(identity.sizes, places)
    if sizes.size < 2:
        return 0.0
    rows = float(sizes.sum())
    return float(max(0.0, 1 - sizes.size * (sizes / rows * np.log2(sizes)).min() / np.log2(rows)))


def _unique(dataset: Dataset, name: str) -> ColumnAdvice:
    """A column that identifies every record; there is nothing to count."""
    return ColumnAdvice(
        column=name,
        risk=1.0,
        distinct=dataset.count,
        identity_guess=1.0,
        identity_itpr=1.0,
        identity_itpr_without_suspects=1.0,
        inferred_from=None,
        inference_gain=0.0,
        discrimination_rate=0.0,
        inference_itpr=0.0,
        suspects=(),
    )
