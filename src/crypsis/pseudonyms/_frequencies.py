"""The attack of Fig. 2: what the attacker expects of each item against what the release shows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import betaln, xlog1py, xlogy

from crypsis.errors import InputError, ParameterError
from crypsis.pseudonyms._belief import Belief
from crypsis.pseudonyms._scaling import balance

Truth = Sequence[int] | Mapping[Hashable, Hashable] | str | None
# A bound that was itself computed (such as 1.1 times a frequency) is off by a few units in the last
# place; a frequency that equals it must not fall outside for that.
_SLACK = 1e-12
_FLOOR = 1e-300


@dataclass(frozen=True)
class Frequencies:
    """How often each pseudonym occurs, in how many transactions."""

    pseudonyms: tuple[Hashable, ...]
    counts: NDArray[np.int64]
    transactions: int

    @property
    def shares(self) -> NDArray[np.float64]:
        """Counts over the number of transactions."""
        return self.counts / self.transactions


def frequencies(transactions: Iterable[Iterable[Hashable]]) -> Frequencies:
    """Count in how many transactions each pseudonym occurs; twice in one counts once.

    >>> frequencies([["a", "b"], ["b"], ["b", "b"]]).counts
    array([1, 3])
    """
    counted: Counter[Hashable] = Counter()
    total = 0
    for transaction in transactions:
        if isinstance(transaction, str):
            raise InputError(
                "A transaction is a collection of pseudonyms, not one string; give lists or sets."
            )
        counted.update(set(transaction))
        total += 1
    if not counted:
        raise InputError("The transactions name no pseudonym at all.")
    names = sorted(counted, key=lambda name: (counted[name], str(name)))
    return Frequencies(tuple(names), np.array([counted[name] for name in names]), total)


def frequency_attack(
    transactions: Iterable[Iterable[Hashable]] | Frequencies,
    ranges: Mapping[Hashable, tuple[float, float]],
    *,
    truth: Truth = None,
) -> Belief:
    """Which pseudonyms fit the range of frequencies expected of each item (bagai2017, Fig. 2).

    `ranges` gives for each item the lowest and highest share of transactions the attacker expects;
    both ends belong to it. `truth` is the owner's: a dict from item to pseudonym, or "names" where
    pseudonyms are still named like the items. O(items * pseudonyms).

    >>> belief = frequency_attack([["a"], ["a", "b"], ["a"]], {"bread": (0.5, 1), "eggs": (0, 0.9)})
    >>> belief.matrix.toarray(), belief.pseudonyms
    (array([[0., 1.],
           [1., 0.]]), ('b', 'a'))
    """
    observed = transactions if isinstance(transactions, Frequencies) else frequencies(transactions)
    items = tuple(ranges)
    bounds = np.array([_range(bound) for bound in ranges.values()]).reshape(-1, 2)
    shares = observed.shares
    fits = (bounds[:, :1] * (1 - _SLACK) <= shares) & (shares <= bounds[:, 1:] * (1 + _SLACK))
    return _belief(csr_array(fits.astype(np.float64)), items, observed, truth)


def probabilistic_frequency_attack(
    transactions: Iterable[Iterable[Hashable]] | Frequencies,
    expected: Mapping[Hashable, float],
    *,
    experience: float | None = None,
    negligible: float = 0.0,
    truth: Truth = None,
) -> Belief:
    """How well each pseudonym's count fits each item's expected frequency: the binomial likelihood.

    `experience` is the number of transactions from which the attacker learned the frequencies; the
    likelihood is then beta-binomial, wider the less he has seen. None means that he knows them.
    Pairs with a probability below `negligible` (in the doubly stochastic matrix) are ruled out,
    which may make exact work possible; 0 rules out nothing.

    >>> seen = [["a"]] * 6 + [["a", "b"]] * 3 + [["b"]]
    >>> belief = probabilistic_frequency_attack(seen, {"bread": 0.9, "eggs": 0.4})
    >>> bool(belief.matrix[0, 1] > belief.matrix[0, 0])
    True
    """
    if experience is not None and not experience > 0:
        raise ParameterError(f"The experience must be above 0 transactions, not {experience}.")
    if not 0 <= negligible < 1:
        raise ParameterError(f"`negligible` must be at least 0 and below 1, not {negligible}.")
    observed = transactions if isinstance(transactions, Frequencies) else frequencies(transactions)
    chances = np.array(list(expected.values()), dtype=np.float64)
    if not (np.isfinite(chances) & (chances >= 0) & (chances <= 1)).all():
        raise ParameterError("Expected frequencies are shares of transactions, from 0 to 1.")
    hits, total = observed.counts[None, :], observed.transactions
    if experience is None:
        logs = xlogy(hits, chances[:, None]) + xlog1py(total - hits, -chances[:, None])
    else:
        # Half a transaction on either side keeps a frequency of 0 or 1 from being certain.
        yes = chances[:, None] * experience + 0.5
        no = (1 - chances[:, None]) * experience + 0.5
        logs = betaln(yes + hits, no + total - hits) - betaln(yes, no)
    return _belief(csr_array(from_logs(logs, negligible)), tuple(expected), observed, truth)


def from_logs(logs: NDArray[np.float64], negligible: float = 0.0) -> NDArray[np.float64]:
    """Log-likelihoods as cells; impossible stays 0.

    Rows and columns are divided so that the likeliest matching has cells of 1 and no cell is larger
    (the dual prices of the assignment problem). So only matchings 1e300 times less likely than that
    one fall to the floor, whatever the sizes of the likelihoods.

    Pairs that are below `negligible` once the matrix is doubly stochastic are ruled out. A perfect
    matching remains as long as that is below about 4 / t^2 (every doubly stochastic matrix has one
    with all cells at least that large).
    """
    possible = np.isfinite(logs)
    logs = _priced(np.where(possible, logs, -np.inf))
    cells = np.where(possible, np.maximum(np.exp(np.maximum(logs, -800.0)), _FLOOR), 0.0)
    if negligible and possible.any(axis=1).all() and possible.any(axis=0).all():
        factors = balance(cells, tolerance=1e-3, most=1000)
        scaled = factors.rows[:, None] * cells * factors.columns
        cells = np.where(scaled < negligible, 0.0, cells)
    return np.asarray(cells)


def _priced(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-likelihoods less the prices of rows and columns; unchanged if nothing can be matched."""
    from scipy.optimize import linear_sum_assignment

    try:
        _, match = linear_sum_assignment(-logs)
    except ValueError:  # no perfect matching: Belief says which items lack one
        return logs
    if len(match) != logs.shape[1]:
        return logs
    rows = np.arange(len(match))
    # Moving item i from its own pseudonym to j loses this much; along no cycle is anything won, so
    # the prices of the pseudonyms are shortest ways (Bellman and Ford).
    loss = logs[rows, match][:, None] - logs
    prices = np.zeros(len(match))
    for _ in rows:
        better = np.minimum(prices, (prices[match][:, None] + loss).min(axis=0))
        if np.allclose(better, prices, rtol=0, atol=1e-9):
            break
        prices = better
    own = logs[rows, match] + prices[match]
    return np.asarray(np.minimum(logs + prices[None, :] - own[:, None], 0.0))


def _range(bound: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in bound)
    except (TypeError, ValueError) as error:
        raise ParameterError("A range is a pair of shares: lowest and highest.") from error
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ParameterError(f"A range goes from its lower to its higher end, not {low} to {high}.")
    return low, high


def _belief(
    matrix: csr_array, items: tuple[Hashable, ...], observed: Frequencies, truth: Truth
) -> Belief:
    if len(items) != len(observed.pseudonyms):
        raise InputError(
            f"The attacker has expectations of {len(items)} items, and {len(observed.pseudonyms)} "
            "pseudonyms occur in the transactions; there must be one item for each pseudonym."
        )
    if isinstance(truth, str):
        if truth != "names":
            raise ParameterError('The truth is a dict, column positions, or "names".')
        truth = {item: item for item in items}
    return Belief(matrix, truth=truth, items=items, pseudonyms=observed.pseudonyms)
