"""Frequency attack: expected frequencies of items against those of pseudonyms (Fig. 2)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import InputError, ParameterError
from crypsis.pseudonyms._belief import Belief, Matching
from crypsis.pseudonyms._kinds import KindMatrix, merge_kinds
from crypsis.pseudonyms._scaling import scaling_factors
from crypsis.scientific import optimize, sparse, special

Truth: TypeAlias = Matching | str | None
_BOUND_ROUNDING = 1e-12
"""A bound that was computed is off by this; a frequency that equals it must not fall outside."""
_LEAST_CELL = 1e-300
"""Possible pairs keep at least this weight: zero would rule them out."""
_MAX_PAIRED_ITEMS = 5_000
"""Of more items the pairs are not counted."""


@dataclass(frozen=True)
class Frequencies:
    """The number of transactions with each pseudonym, and the number of all transactions."""

    pseudonyms: tuple[Hashable, ...]
    counts: NDArray[np.int64]
    transactions: int
    pairs: NDArray[np.int64] | None = None
    """The number of transactions with each two pseudonyms; None for more than 5,000 pseudonyms."""

    @property
    def shares(self) -> NDArray[np.float64]:
        """Counts over the number of transactions."""
        return self.counts / self.transactions


def frequencies(transactions: Iterable[Iterable[Hashable]]) -> Frequencies:
    """Count the transactions with each pseudonym.

    Parameters
    ----------
    transactions : iterable of iterables
        The pseudonyms of each transaction; twice in one counts once.

    Returns
    -------
    Frequencies
        Pseudonyms from the rarest to the most frequent.

    Examples
    --------
    >>> frequencies([["a", "b"], ["b"], ["b", "b"]]).counts
    array([1, 3])
    """
    counted: Counter[Hashable] = Counter()
    total = 0
    baskets = []
    for transaction in transactions:
        if isinstance(transaction, str):
            raise InputError("A transaction is a list or set of pseudonyms; one string was given.")
        basket = set(transaction)
        counted.update(basket)
        baskets.append(basket)
        total += 1
    if not counted:
        raise InputError("The transactions contain no pseudonym.")
    names = sorted(counted, key=lambda name: (counted[name], str(name)))
    counts = np.array([counted[name] for name in names])
    return Frequencies(tuple(names), counts, total, _pair_counts(baskets, names))


def _pair_counts(baskets: Sequence[set[Hashable]], names: Sequence[Hashable]) -> NDArray[np.int64] | None:
    if len(names) > _MAX_PAIRED_ITEMS:
        return None
    index_of = {name: i for i, name in enumerate(names)}
    ends = np.cumsum([0, *map(len, baskets)])
    columns = np.fromiter((index_of[name] for basket in baskets for name in basket), np.int64, ends[-1])
    table = sparse.csr_array((np.ones(ends[-1], np.int64), columns, ends), (len(baskets), len(names)))
    return np.asarray((table.T @ table).toarray(), np.int64)


def frequency_attack(
    transactions: Iterable[Iterable[Hashable]] | Frequencies,
    ranges: Mapping[Hashable, tuple[float, float]],
    *,
    truth: Truth = None,
) -> Belief:
    """An intruder who knows a range for the frequency of each item (infeasibility attack).

    Parameters
    ----------
    transactions : iterable of iterables, or Frequencies
        The released transactions, or their frequencies.
    ranges : dict
        From item to the lowest and highest share of transactions, both included.
    truth : dict, sequence of int or "names", optional
        The pseudonym of each item; "names" where pseudonyms are named like the items.

    Returns
    -------
    Belief
        1 where the share of a pseudonym is in the range of an item. Items with the same possible
        pseudonyms are one kind, so time and memory go with the kinds and not with the pairs.

    References
    ----------
    bagai2017, Sec. II-B and Fig. 2.

    Examples
    --------
    >>> belief = frequency_attack([["a"], ["a", "b"], ["a"]], {"bread": (0.5, 1), "eggs": (0, 0.9)})
    >>> belief.matrix.toarray(), belief.pseudonyms
    (array([[0., 1.],
           [1., 0.]]), ('b', 'a'))
    """
    observed = transactions if isinstance(transactions, Frequencies) else frequencies(transactions)
    bounds = np.array([_range(bound) for bound in ranges.values()]).reshape(-1, 2)
    matrix = _interval_kinds(bounds, observed.shares)
    return _belief(matrix, tuple(ranges), observed, truth)


def _interval_kinds(bounds: NDArray[np.float64], shares: NDArray[np.float64]) -> KindMatrix:
    """Which shares are within which bounds: the distinct shares in order, and an interval a row."""
    distinct, column_kind = np.unique(shares, return_inverse=True)
    begin = np.searchsorted(distinct, bounds[:, 0] * (1 - _BOUND_ROUNDING), side="left")
    end = np.searchsorted(distinct, bounds[:, 1] * (1 + _BOUND_ROUNDING), side="right")
    ends, row_kind = np.unique(np.stack([begin, np.maximum(begin, end)], axis=1), axis=0, return_inverse=True)
    lengths = ends[:, 1] - ends[:, 0]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.arange(starts[-1]) - np.repeat(starts[:-1] - ends[:, 0], lengths)
    shape = (len(ends), distinct.size)
    cells = sparse.csr_array((np.ones(indices.size), indices, starts), shape=shape)
    return merge_kinds(cells, row_kind.ravel(), column_kind.ravel())


def probabilistic_frequency_attack(
    transactions: Iterable[Iterable[Hashable]] | Frequencies,
    expected: Mapping[Hashable, float],
    *,
    experience: float | None = None,
    negligible: float = 0.0,
    truth: Truth = None,
) -> Belief:
    """An intruder who expects a frequency of each item: the binomial likelihood of each count.

    Parameters
    ----------
    transactions, truth
        See `frequency_attack`.
    expected : dict
        From item to the expected share of transactions.
    experience : float, optional
        The number of transactions from which the intruder learned the shares. The likelihood is
        then beta-binomial; by default they know the shares exactly.
    negligible : float
        Pairs with a smaller probability (in the doubly stochastic matrix) are ruled out, which may
        make exact computation possible; 0 rules out none.

    Returns
    -------
    Belief
        Likelihoods up to factors of rows and columns.

    Examples
    --------
    >>> seen = [["a"]] * 6 + [["a", "b"]] * 3 + [["b"]]
    >>> belief = probabilistic_frequency_attack(seen, {"bread": 0.9, "eggs": 0.4})
    >>> bool(belief.matrix[0, 1] > belief.matrix[0, 0])
    True
    """
    if experience is not None and not experience > 0:
        raise ParameterError(
            f"Parameter 'experience' must be above 0; {experience} was given.", parameter="experience"
        )
    check_negligible(negligible)
    observed = transactions if isinstance(transactions, Frequencies) else frequencies(transactions)
    chances = np.array(list(expected.values()), dtype=np.float64)
    if not (np.isfinite(chances) & (chances >= 0) & (chances <= 1)).all():
        raise ParameterError("Expected frequencies are shares of transactions, from 0 to 1.")
    hits, total = observed.counts[None, :], observed.transactions
    if experience is None:
        logs = special.xlogy(hits, chances[:, None]) + special.xlog1py(total - hits, -chances[:, None])
    else:
        # Half a transaction on either side keeps a frequency of 0 or 1 from being certain.
        yes = chances[:, None] * experience + 0.5
        no = (1 - chances[:, None]) * experience + 0.5
        logs = special.betaln(yes + hits, no + total - hits) - special.betaln(yes, no)
    return _belief(sparse.csr_array(from_logs(logs, negligible)), tuple(expected), observed, truth)


def check_negligible(negligible: float) -> None:
    """Refuse a probability out of range."""
    if not 0 <= negligible < 1:
        raise ParameterError(
            f"Parameter 'negligible' must be at least 0 and below 1; {negligible} was given.",
            parameter="negligible",
        )


def from_logs(logs: NDArray[np.float64], negligible: float = 0.0) -> NDArray[np.float64]:
    """Log-likelihoods as cells; impossible stays 0.

    Rows and columns are divided so that the likeliest matching has cells of 1 and no cell is larger
    (the dual prices of the assignment problem), so only matchings 1e300 times less likely than that
    one reach the floor.

    Pairs that are below `negligible` once the matrix is doubly stochastic are ruled out. A perfect
    matching remains as long as that is below about 4 / t^2 (every doubly stochastic matrix has one
    with all cells at least that large).
    """
    possible = np.isfinite(logs)
    logs = _priced(np.where(possible, logs, -np.inf))
    cells = np.where(possible, np.maximum(np.exp(np.maximum(logs, -800.0)), _LEAST_CELL), 0.0)
    if negligible and possible.any(axis=1).all() and possible.any(axis=0).all():
        factors = scaling_factors(cells, tolerance=1e-3, max_sweeps=1000)
        scaled = factors.rows[:, None] * cells * factors.columns
        cells = np.where(scaled < negligible, 0.0, cells)
    return np.asarray(cells)


def _priced(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-likelihoods less the prices of rows and columns; unchanged if nothing can be matched."""
    try:
        _, match = optimize.linear_sum_assignment(-logs)
    except ValueError:  # no perfect matching: Belief says which items lack one
        return logs
    if len(match) != logs.shape[1]:
        return logs
    rows = np.arange(len(match))
    # Moving item i from its own pseudonym to j loses this much, and no cycle gains, so the prices
    # of the pseudonyms are shortest paths (Bellman and Ford).
    loss = logs[rows, match][:, None] - logs
    prices = np.zeros(len(match))
    for _ in rows:
        better = np.minimum(prices, (prices[match][:, None] + loss).min(axis=0))
        if np.allclose(better, prices, rtol=0, atol=1e-9):
            break
        prices = better
    own_loss = logs[rows, match] + prices[match]
    return np.asarray(np.minimum(logs + prices[None, :] - own_loss[:, None], 0.0))


def _range(bound: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in bound)
    except (TypeError, ValueError) as error:
        raise ParameterError("A range is a pair of shares: lowest and highest.") from error
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ParameterError(f"A range is a lowest and a highest share; {low} and {high} were given.")
    return low, high


def _belief(
    matrix: sparse.csr_array | KindMatrix, items: tuple[Hashable, ...], observed: Frequencies, truth: Truth
) -> Belief:
    if len(items) != len(observed.pseudonyms):
        raise InputError(
            f"The intruder expects frequencies of {len(items)} items, and "
            f"{len(observed.pseudonyms)} pseudonyms occur in the transactions; there must be one "
            "item for each pseudonym."
        )
    if isinstance(truth, str):
        if truth != "names":
            raise ParameterError('The truth is a dict, column positions or "names".')
        truth = {item: item for item in items}
    return Belief(matrix, truth=truth, items=items, pseudonyms=observed.pseudonyms, pairs=observed.pairs)
