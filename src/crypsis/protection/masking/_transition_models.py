"""The transition models of the masks: how likely a masked value is, given the original one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.array_types import Floats, Ints
from crypsis.protection.masking._swap_model import SwapModel
from crypsis.scientific import special
from crypsis.tables.values import clean_column

Values = Mapping[str, Any]
"""An array for each column, one value a pair; all arrays broadcast together."""
_ROUNDING_VARIANCE = 1 / 12
"""The variance that rounding to whole numbers adds: that of a uniform distribution of width 1."""
_MIN_VARIANCE = 1e-10
"""Along a direction with less variance (in noise, less of the largest one) nothing is taken to vary."""
_MISSING_CODE = -1
"""Stands for a missing value."""
_UNKNOWN_CODE = -2
"""Stands for a value that is none of the categories."""


class Transition(Protocol):
    """How likely a masked value is, given the original one: the model of one mask.

    Notes
    -----
    By the transparency principle an intruder knows the mask and its parameters; one with maximum
    knowledge has the original as well. The log-likelihoods of the transitions of a release, added up,
    are those of a masked record given an original.
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """The masked columns."""
        ...

    @property
    def given(self) -> tuple[str, ...]:
        """The columns of the original that the model reads; those masked, for most masks."""
        ...

    def likelihood(self, original: Values, masked: Values) -> Floats:
        """The log-likelihood of each pair of an original and a masked record.

        Parameters
        ----------
        original : mapping of str to array
            The original values of each pair by column, those in `given`: numbers with NaN for
            missing, or texts with None.
        masked : mapping of str to array
            The masked values of each pair by column, those in `columns`. The arrays of both
            broadcast together: n by 1 and 1 by m give all n m pairs.

        Returns
        -------
        array of float
            The natural logarithm of a probability; of a density where the masked values are
            continuous. Minus infinity where the original cannot become the masked value.
        """
        ...


@dataclass(frozen=True, eq=False)
class _OneColumn:
    name: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def given(self) -> tuple[str, ...]:
        return (self.name,)


@dataclass(frozen=True, eq=False)
class NoiseModel(_OneColumn):
    """Independent normal noise on one column; integers were rounded after it."""

    spread: float
    integer: bool

    def likelihood(self, original: Values, masked: Values) -> Floats:
        before, after = _numbers(original[self.name]), _numbers(masked[self.name])
        gap = np.subtract(after, before)
        if self.spread == 0:
            log_likelihood = np.where(gap == 0, 0.0, -np.inf)
        elif self.integer:
            log_likelihood = _between((np.abs(gap) - 0.5) / self.spread, (np.abs(gap) + 0.5) / self.spread)
        else:
            log_likelihood = -0.5 * (gap / self.spread) ** 2 - np.log(self.spread * np.sqrt(2 * np.pi))
        return _with_missing(log_likelihood, np.isnan(before), np.isnan(after))


@dataclass(frozen=True, eq=False)
class CorrelatedNoiseModel:
    """Normal noise with a covariance; the rounding of integers counts as a variance of 1/12."""

    columns: tuple[str, ...]
    covariance: Floats
    integer: tuple[bool, ...]

    @property
    def given(self) -> tuple[str, ...]:
        return self.columns

    def likelihood(self, original: Values, masked: Values) -> Floats:
        pairs = [(_numbers(original[name]), _numbers(masked[name])) for name in self.columns]
        gaps = np.stack(np.broadcast_arrays(*(after - before for before, after in pairs)), axis=-1)
        values, vectors = np.linalg.eigh(
            self.covariance + np.diag(np.array(self.integer) * _ROUNDING_VARIANCE)
        )
        regular = values > _MIN_VARIANCE * max(float(values.max()), np.finfo(float).tiny)
        along = np.where(np.isnan(gaps), 0.0, gaps) @ vectors
        scale = values[regular]
        log_likelihood = -0.5 * (along[..., regular] ** 2 / scale + np.log(2 * np.pi * scale)).sum(axis=-1)
        impossible = np.abs(along[..., ~regular]) > 1e-6 * np.sqrt(values.max(initial=0.0))
        log_likelihood = np.where(impossible.any(axis=-1), -np.inf, log_likelihood)
        # A missing value stays missing; of records with one, the other columns are not judged.
        gone = np.stack([np.isnan(before) != np.isnan(after) for before, after in pairs], axis=-1)
        log_likelihood = np.where(np.isnan(gaps).any(axis=-1), 0.0, log_likelihood)
        return np.asarray(np.where(gone.any(axis=-1), -np.inf, log_likelihood))


@dataclass(frozen=True, eq=False)
class MatrixModel(_OneColumn):
    """Categories that change by a matrix of probabilities (PRAM)."""

    values: pa.Array
    matrix: Floats

    def likelihood(self, original: Values, masked: Values) -> Floats:
        before = places(original[self.name], self.values)
        after = places(masked[self.name], self.values)
        return _by_places(self.matrix[before, after], before, after)


@dataclass(frozen=True, eq=False)
class RedrawnModel(_OneColumn):
    """Categories kept with a probability, otherwise drawn by their frequencies (PRAM)."""

    values: pa.Array
    shares: Floats
    stay: float

    def likelihood(self, original: Values, masked: Values) -> Floats:
        before = places(original[self.name], self.values)
        after = places(masked[self.name], self.values)
        chances = (1 - self.stay) * self.shares[after] + self.stay * (before == after)
        return _by_places(chances, before, after)


@dataclass(frozen=True, eq=False)
class RankSwapModel(_OneColumn):
    """Numbers that were swapped with others of near rank."""

    ordered: Floats
    """The original values in their order, without missing ones."""
    reach: int

    def likelihood(self, original: Values, masked: Values) -> Floats:
        before, after = np.broadcast_arrays(_numbers(original[self.name]), _numbers(masked[self.name]))
        gone, lost = np.isnan(before), np.isnan(after)
        values, first, count = self._ranks
        at, to = (np.minimum(np.searchsorted(values, x), values.size - 1) for x in (before, after))
        possible = ~gone & ~lost & (values[at] == before) & (values[to] == after)
        log_likelihood = np.full(before.shape, -np.inf)
        keys, inverse = np.unique(at[possible] * values.size + to[possible], return_inverse=True)
        log_likelihood[possible] = _log(self._chances(keys, first, count))[inverse]
        return _with_missing(log_likelihood, gone, lost)

    @cached_property
    def _ranks(self) -> tuple[Floats, Ints, Ints]:
        """The distinct values, the first rank of each, and how many it has."""
        return np.unique(self.ordered, return_index=True, return_counts=True)

    @cached_property
    def _swaps(self) -> SwapModel:
        return SwapModel(self.ordered.size, self.reach)

    def _chances(self, keys: Ints, first: Ints, count: Ints) -> Floats:
        """The probability of each pair of distinct values: the average over the ranks they share."""
        at, to = keys // first.size, keys % first.size
        if self.reach < 1:
            return np.asarray((at == to).astype(float))
        last = first + count - 1
        in_reach = (first[to] <= last[at] + self.reach) & (last[to] >= first[at] - self.reach)
        times = np.where(in_reach, count[at], 0)
        pair = np.repeat(np.arange(keys.size), times)
        offset = np.arange(pair.size) - np.repeat(np.cumsum(times) - times, times)
        chance = self._swaps.to_ranks(first[at][pair] + offset, first[to][pair], (first + count)[to][pair])
        return np.bincount(pair, chance, minlength=keys.size) / count[at]


@dataclass(frozen=True, eq=False)
class ShuffleModel:
    """Numbers in another order: normal scores drawn given those of the columns that stay.

    `shuffled` and `fixed` have the original rows without missing values. Records with one are not judged.
    """

    columns: tuple[str, ...]
    given: tuple[str, ...]
    shuffled: Mapping[str, Floats]
    fixed: Mapping[str, Floats]

    def likelihood(self, original: Values, masked: Values) -> Floats:
        after = _stacked(masked, self.columns, self.shuffled)
        scores = np.column_stack([_scores(x, x) for x in self.shuffled.values()])
        spread, center = _covariance(scores), np.zeros(1)
        if self.given:
            fixed = np.column_stack([_scores(x, x) for x in self.fixed.values()])
            across = scores.T @ fixed / scores.shape[0]
            slope = across @ np.linalg.pinv(_covariance(fixed))
            center = _stacked(original, self.given, self.fixed) @ slope.T
            spread = spread - slope @ across.T
        values, vectors = np.linalg.eigh(spread)
        scale = np.maximum(values, _MIN_VARIANCE)
        along = (after - center) @ vectors
        log_likelihood = -0.5 * (along**2 / scale + np.log(2 * np.pi * scale)).sum(axis=-1)
        return np.asarray(np.where(np.isnan(log_likelihood), 0.0, log_likelihood))


@dataclass(frozen=True, eq=False)
class AssignedModel:
    """Masks without chance, given the file: how often each original value became each masked one.

    Recodings of single values, microaggregation and local suppression. Where records of equal values
    were treated differently (they are in two groups, or in two strata), these are the shares.
    """

    columns: tuple[str, ...]
    before: KnownTuples
    after: KnownTuples
    pairs: Ints
    """The pairs of tuples that occur, as numbers in their order."""
    shares: Floats

    @property
    def given(self) -> tuple[str, ...]:
        return self.columns

    @classmethod
    def of(cls, original: pa.Table, masked: pa.Table) -> AssignedModel:
        """The model of a mask that made the rows of `masked` from those of `original`."""
        before, from_ = KnownTuples.of(original)
        after, to = KnownTuples.of(masked)
        pairs, count = np.unique(from_ * after.count + to, return_counts=True)
        total = np.bincount(from_, minlength=before.count)
        shares = count / total[pairs // max(1, after.count)]
        return cls(tuple(original.column_names), before, after, pairs, shares)

    def likelihood(self, original: Values, masked: Values) -> Floats:
        before, after = np.broadcast_arrays(self.before.places(original), self.after.places(masked))
        if not self.pairs.size:
            return np.full(before.shape, -np.inf)
        wanted = before * self.after.count + after
        at = np.minimum(np.searchsorted(self.pairs, wanted), self.pairs.size - 1)
        possible = (before >= 0) & (after >= 0) & (self.pairs[at] == wanted)
        return _log(np.where(possible, self.shares[at], 0.0))


@dataclass(frozen=True, eq=False)
class KnownTuples:
    """The tuples of some columns that occur in a table, each with a number."""

    values: Mapping[str, pa.Array]
    steps: tuple[Ints, ...]
    """For each column the codes that occur, of the number so far and the value."""

    @property
    def count(self) -> int:
        return self.steps[-1].size

    @classmethod
    def of(cls, table: pa.Table) -> tuple[KnownTuples, Ints]:
        """The tuples of a table, and the number of that of each row."""
        values, steps = {}, []
        number = np.zeros(table.num_rows, np.int64)
        for name in table.column_names:
            column = clean_column(_plain(table[name]))
            values[name] = pc.unique(column).drop_null()
            codes = np.asarray(pc.fill_null(pc.index_in(column, value_set=values[name]), -1))
            step, number = np.unique(number * (len(values[name]) + 1) + codes + 1, return_inverse=True)
            steps.append(step)
        return cls(values, tuple(steps)), np.asarray(number, np.int64)

    def places(self, rows: Values) -> Ints:
        """The number of the tuple of each row; -1 if it does not occur."""
        number: Ints = np.zeros((), np.int64)
        is_known: Any = True
        for (name, values), step in zip(self.values.items(), self.steps, strict=True):
            code = places(rows[name], values)
            wanted = number * (len(values) + 1) + code + 1
            number = np.minimum(np.searchsorted(step, wanted), step.size - 1)
            is_known = is_known & (code != _UNKNOWN_CODE) & (step[number] == wanted)
        return np.asarray(np.where(is_known, number, -1))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


@dataclass(frozen=True, eq=False)
class DateShiftModel(_OneColumn):
    """Dates moved by a number of days, each from -days to days equally likely."""

    days: int

    def likelihood(self, original: Values, masked: Values) -> Floats:
        before = np.asarray(original[self.name], "datetime64[us]")
        after = np.asarray(masked[self.name], "datetime64[us]")
        gap = (after - before) / np.timedelta64(1, "D")
        possible = (np.abs(gap) <= self.days) & (gap == np.rint(gap))
        log_likelihood = np.where(possible, -np.log(2 * self.days + 1), -np.inf)
        return _with_missing(log_likelihood, np.isnat(before), np.isnat(after))


def _numbers(values: Any) -> Floats:
    return np.asarray(values, np.float64)


def _log(chances: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chances))


def _between(low: Floats, high: Floats) -> Floats:
    """The logarithm of the normal probability from low to high, where high is positive."""
    upper, lower = special.log_ndtr(-low), special.log_ndtr(-high)
    with np.errstate(invalid="ignore"):
        return np.asarray(upper + np.log(-np.expm1(np.minimum(lower - upper, -1e-300))))


def _with_missing(log_likelihood: Floats, gone: Any, lost: Any) -> Floats:
    """A missing value stays missing, and no other becomes missing."""
    return np.asarray(np.where(gone | lost, np.where(gone & lost, 0.0, -np.inf), log_likelihood))


def _by_places(chances: Floats, before: Ints, after: Ints) -> Floats:
    unknown = (before == _UNKNOWN_CODE) | (after == _UNKNOWN_CODE)
    log_likelihood = _with_missing(_log(chances), before == _MISSING_CODE, after == _MISSING_CODE)
    return np.asarray(np.where(unknown, -np.inf, log_likelihood))


def places(values: Any, categories: pa.Array) -> Ints:
    """The place of each value among those known; -1 where it is missing, -2 if it is none of them."""
    array = np.asarray(values)
    column = clean_column(pa.chunked_array([pa.array(array.ravel(), from_pandas=True)]))
    if column.type != categories.type:
        column = column.cast(categories.type)
    codes = pc.fill_null(pc.index_in(column, value_set=categories), _UNKNOWN_CODE)
    codes = pc.if_else(column.is_valid(), codes, _MISSING_CODE)
    return np.asarray(codes, np.int64).reshape(array.shape)


def _scores(values: Floats, reference: Floats) -> Floats:
    """The normal scores of values by their ranks among those known; NaN where missing."""
    ordered = np.sort(reference[~np.isnan(reference)])
    low = np.searchsorted(ordered, values, "left")
    high = np.searchsorted(ordered, values, "right")
    score = special.ndtri((low + high + 1) / 2 / (ordered.size + 1))
    return np.asarray(np.where(np.isnan(values), np.nan, score))


def _covariance(scores: Floats) -> Floats:
    return np.atleast_2d(np.cov(scores.T, ddof=0))


def _stacked(values: Values, names: tuple[str, ...], references: Mapping[str, Floats]) -> Floats:
    scores = [_scores(_numbers(values[name]), references[name]) for name in names]
    return np.stack(np.broadcast_arrays(*scores), axis=-1)
