"""Pair frequencies: items that are alike in frequency distinguished by what they occur with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import InputError
from crypsis.pseudonyms._belief import Belief, true_columns
from crypsis.pseudonyms._pair_assignment import MAX_JOINT_ITEMS, joint_assignment
from crypsis.results import Result

_MIN_LIKELIHOOD_RATIO = 0.01
"""Pseudonyms that are less likely, relative to the likeliest of an item, are no candidates."""
_DEFAULT_ERROR = 0.05
"""The relative error with which an intruder knows pair frequencies unless the caller states it."""
_CHANCE_DEVIATIONS = 3.0
"""Standard deviations of a count by which two counts may differ by chance."""


class PairIdentification(Result):
    """How many items an intruder identifies who knows pair frequencies besides single ones."""

    size: int
    by_frequency: int
    """Items that have one candidate pseudonym by their frequency alone."""
    with_pairs: int
    """Items that have one candidate once their pairs with identified items are compared, or that an
    assignment of all items at once nearly always resolves: the better of both intruders."""
    expected: float = 0.0
    """Items that the better of both resolves on average."""
    assigned_jointly: bool = True
    """Whether all items were assigned at once; they were not if there are too many."""

    def __str__(self) -> str:
        return (
            f"{self.by_frequency:,} of {self.size:,} items are identified by their frequency, "
            f"{self.with_pairs:,} with their pair frequencies."
        )


def pair_identification(belief: Belief, *, error: float = _DEFAULT_ERROR) -> PairIdentification:
    """Identify items by how often they occur together with items identified already.

    The candidates of an item are the pseudonyms that its frequency allows. A candidate is ruled out
    if its count of transactions with an identified item differs from that of the item's own
    pseudonym by more than the error and three standard deviations of a Poisson count, or if one of
    its counts with all other items, sorted by size, does. Items with one candidate left are
    identified, and help to identify others. Another intruder assigns all items at once so that all
    pairs fit together: many small differences, none of which rules a candidate out, add up.

    Parameters
    ----------
    belief : Belief
        A frequency attack with its truth, made from transactions.
    error : float
        The relative error with which the intruder knows pair frequencies.

    Returns
    -------
    PairIdentification

    Raises
    ------
    InputError
        If the belief was not made from transactions.

    Notes
    -----
    Cost: O(possible pairs * items) for each round; a round identifies at least one item. For
    it, samples like the release are drawn ten times from a population estimated from the release; an
    item counts if it is assigned correctly in nine. Up to 400 items are assigned at once.

    Examples
    --------
    >>> from crypsis.pseudonyms import frequency_attack
    >>> baskets = [["a", "b"]] * 40 + [["a"]] * 10 + [["c"]] * 40
    >>> ranges = {"a": (0.5, 1.0), "b": (0.4, 0.5), "c": (0.4, 0.5)}
    >>> print(pair_identification(frequency_attack(baskets, ranges, truth="names")))
    1 of 3 items are identified by their frequency, 3 with their pair frequencies.
    """
    if belief.pairs is None:
        raise InputError(
            "Pair frequencies need the transactions, and the belief was made without them.",
            code="no-transactions",
        )
    truth, counts = true_columns(belief), belief.pairs
    candidates = _candidates(belief)
    resolved = np.zeros(belief.size, bool)  # by pseudonym
    by_frequency = sum(candidate.size == 1 for candidate in candidates)
    while True:
        fresh = [
            own_column
            for own_column, candidate in zip(truth.tolist(), candidates, strict=True)
            if not resolved[own_column] and _alone(own_column, candidate, counts, resolved, error)
        ]
        if not fresh:
            break
        resolved[fresh] = True
    identified = int(resolved.sum())
    if belief.size > MAX_JOINT_ITEMS:
        return PairIdentification(belief.size, by_frequency, identified, identified, False)
    jointly = joint_assignment(counts, truth, belief.matrix.toarray(), error)
    return PairIdentification(
        belief.size, by_frequency, max(identified, jointly.near_certain), max(identified, jointly.expected)
    )


def _candidates(belief: Belief) -> list[NDArray[np.int64]]:
    """The pseudonyms of each item that are not much less likely than its likeliest one."""
    matrix, candidates = belief.matrix, []
    for row in range(belief.size):
        start, end = matrix.indptr[row], matrix.indptr[row + 1]
        cells = matrix.data[start:end]
        candidates.append(
            matrix.indices[start:end][cells >= _MIN_LIKELIHOOD_RATIO * cells.max()].astype(np.int64)
        )
    return candidates


def _alone(
    own_column: int,
    candidates: NDArray[np.int64],
    counts: NDArray[np.int64],
    identified: NDArray[np.bool_],
    error: float,
) -> bool:
    """Whether every other candidate differs from the item's own pseudonym in a known pair."""
    if own_column not in candidates:
        return False
    rivals = candidates[(candidates != own_column) & ~identified[candidates]]
    if not rivals.size:
        return True
    anchors = np.flatnonzero(identified)
    differ = _differ(counts[own_column, anchors], counts[np.ix_(rivals, anchors)], error)
    differ |= _differ(_profile(counts, own_column), _profile(counts, rivals), error)
    return bool(differ.all())


def _differ(mine: NDArray[np.int64], theirs: NDArray[np.int64], error: float) -> NDArray[np.bool_]:
    """Which rows of counts differ from one row by more than the error and chance."""
    largest = np.maximum(mine, theirs)
    differ = np.abs(mine - theirs) > error * largest + _CHANCE_DEVIATIONS * np.sqrt(largest)
    return np.asarray(differ.any(axis=1))


def _profile(counts: NDArray[np.int64], places: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """How often an item occurs with each other one, by size: the same whatever they are called."""
    alone = counts.copy()
    np.fill_diagonal(alone, 0)
    return np.sort(alone[places], axis=-1)
