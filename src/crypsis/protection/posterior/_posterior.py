"""The exact posterior of an intruder who knows the masks: how likely each link is the right one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.dataset import Data, Dataset, as_dataset
from crypsis.errors import TooLargeError, unknown_columns
from crypsis.linkage import LinkAttack, true_matches
from crypsis.protection.masking import Mask, Transition, transitions
from crypsis.protection.posterior._likelihoods import Pairs
from crypsis.pseudonyms import Belief, likely_pairs
from crypsis.results import Estimate, Number, Result, raw

_MAX_FILLED_PAIRS = 20_000_000
"""The most pairs with a record that fits all, where a file has fewer records."""
_PROBABILITY_EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0)
"""Between these the probabilities of links are grouped."""


class CalibrationBin(Result):
    """The links with a probability from `low` to `high`: how many, and how many are correct."""

    low: float
    high: float
    links: int
    probability: float
    correct: int


class LinkPosterior(Result, eq=False):
    """The best link of each record, with the probability that it is the right one.

    `expected_share` is the mean of the probabilities: the share of the records that the intruder
    links correctly, as the intruder knows it. `attack` has what is measured against the true matches
    in the shape of all attacks, and `calibration` compares both. `exact_records` are in blocks that
    were solved exactly; the other probabilities are sampled, with 95 % `half_widths`. `captured` is
    the mean share of the likelihood in the pairs that were considered.
    """

    records: int
    columns: tuple[str, ...]
    expected_share: Number
    attack: LinkAttack
    calibration: tuple[CalibrationBin, ...]
    exact_records: int
    largest_block: int
    pairs: int
    captured: float
    partners: NDArray[np.int64] = raw()
    probabilities: NDArray[np.float64] = raw()
    half_widths: NDArray[np.float64] = raw()

    def __str__(self) -> str:
        return (
            f"Posterior of {self.records:,} links: {self.expected_share:.2%} expected to be correct\n"
            f"{self.attack}"
        )


def link_posterior(
    original: Data,
    masked: Data,
    masks: Mapping[Any, str | Mask] | Sequence[Transition],
    *,
    on: str | None = None,
    row_map: Sequence[int] | NDArray[np.int64] | str | None = None,
    nearest: int = 48,
    seed: int = 0,
) -> LinkPosterior:
    """How likely each record's best link is the right one, for an intruder who knows the masks.

    Parameters
    ----------
    original, masked : Data
        The two files. Of records without a partner, because they were suppressed or because the
        intruder does not know all the originals, each is as likely as any.
    masks : mapping, or sequence of Transition
        The published masks by column, as for `crypsis.protection.mask`, or their models. Columns
        of both files without a mask are unchanged or generalized: a masked label fits the values
        that it covers.
    on, row_map
        The true matches, to measure the links with; see `crypsis.linkage.PairOptions`. The intruder
        does not use them.
    nearest : int
        How many masked records are considered for each original, beyond 1,000 records.
    seed : int
        The seed of what is sampled.

    Returns
    -------
    LinkPosterior
        The links with their probabilities, how many are expected and how many are correct.

    Notes
    -----
    The likelihoods of all pairs are a belief matrix (bagai2017): the probability of a link is that
    of the pair in a random perfect matching, weighted by the product of its likelihoods, because the
    file is a permutation of the masked records. Pairs with a probability below 0.0001 are left
    out. The likelihood beyond the pairs that are considered is estimated from random pairs and
    lowers the probabilities.

    References
    ----------
    domingo2016, Sec. 5; bagai2017, Sec. III.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from crypsis.protection import mask
    >>> people = pa.table({"income": np.random.default_rng(0).normal(size=200)})
    >>> released = mask(people, {"income": "noise:0.1"}, seed=1, shuffle=False).frame
    >>> found = link_posterior(people, released, {"income": "noise:0.1"})
    >>> 0 < found.expected_share < 0.5
    True
    """
    first, second = as_dataset(original), as_dataset(masked)
    fewer, more = sorted((first.count, second.count))
    if more * (more - fewer) > _MAX_FILLED_PAIRS:
        raise TooLargeError(
            f"The files have {first.count:,} and {second.count:,} records; so many without a partner "
            "are too many for the posterior.",
            code="unequal-records",
            hint="Leave out the records that were suppressed, or link a sample of both.",
        )
    models = _models(first, masks)
    used = {name for model in models for name in model.columns}
    lacking = [name for name in used if name not in second.names]
    if lacking:
        raise unknown_columns(lacking, second.names)
    excluded = {*first.identifiers, *second.identifiers, on}
    unmasked = [
        name for name in second.names if name in first.names and name not in used and name not in excluded
    ]
    needed = {name for model in models for name in (*model.columns, *model.given)}
    before = first.to_arrow([name for name in first.names if name in needed or name in unmasked])
    after = second.to_arrow([name for name in second.names if name in needed or name in unmasked])
    with progress.step("likelihoods"):
        pairs = Pairs(before, after, models, unmasked)
        likelihoods = pairs.near(min(nearest, fewer), seed)
        matrix, kept = likelihoods.belief_matrix()
    likely = likely_pairs(Belief(matrix), seed=seed)
    partners = likely.pseudonyms[: first.count]
    kept = np.where(partners < second.count, kept, 0.0)  # a record without a partner is not linked
    partners = np.where(partners < second.count, partners, -1)
    chance, half = (values[: first.count] * kept for values in (likely.probabilities, likely.half_widths))
    ids = [] if on is None else [on]
    true_partners = true_matches(
        *((first.to_arrow(ids), second.to_arrow(ids)) if ids else (before, after)), on=on, row_map=row_map
    )
    expected: Number = float(chance.mean())
    if half.any() or kept.min() < 1:
        width = float(np.sqrt((half**2).sum()) / len(half))
        expected = Estimate(
            expected,
            max(0.0, expected - width),
            min(1.0, expected + width),
            method="matchings drawn at random",
        )
    names = tuple(name for name in second.names if name in used or name in unmasked)
    return LinkPosterior(
        first.count,
        names,
        expected,
        LinkAttack.of_links("posterior", names, partners, chance, true_partners, second.count),
        _calibration(
            chance, None if true_partners is None else (partners == true_partners) & (partners >= 0)
        ),
        likely.exact_items,
        likely.largest_block,
        int(matrix.nnz),
        float(likelihoods.captured.mean()),
        partners,
        chance,
        half,
    )


def _models(original: Dataset, masks: Any) -> tuple[Transition, ...]:
    return transitions(original, masks) if isinstance(masks, Mapping) else tuple(masks)


def _calibration(
    chance: NDArray[np.float64], correct: NDArray[np.bool_] | None
) -> tuple[CalibrationBin, ...]:
    if correct is None:
        return ()
    bins = []
    for low, high in pairwise(_PROBABILITY_EDGES):
        here = (chance >= low) & ((chance < high) | (high == 1.0))
        if here.any():
            bins.append(
                CalibrationBin(
                    low, high, int(here.sum()), float(chance[here].mean()), int(correct[here].sum())
                )
            )
    return tuple(bins)
