"""The null distribution: match distances of records that are not in the masked file.

domingo2016 draws random records column by column; where columns depend on each other such records
are unlike any real one. The other null distributions keep the dependence: each original with its
own masked record excluded, or people known not to be in the file (controls).
"""

from __future__ import annotations

import numpy as np

from crypsis.counting.distributions import hellinger
from crypsis.linkage._random_match import random_match_probability
from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage._search import share
from crypsis.results import Estimate, Result, raw

_MAX_COMBINATIONS = 100_000
"""Up to so many combinations of values are all taken; of more a sample is drawn."""
_MAX_RANK_BINS = 60
"""Up to so many ranks have a bin each."""
_EQUAL_BINS = 30
"""About so many equal bins divide more ranks."""


class MatchDistanceBin(Result):
    """One line of the comparison (domingo2016, Tables 5 and 6): distances from `low` to `high`.

    `originals` and `random` are the shares of records that match at such a distance; `closed_form`
    is the value of `random` for independent masked columns. `within_if_random` is
    P(D <= high | random); `random_if_within` is P(random | D <= high), by Bayes' rule from the
    estimated share of random links. The paper reads one as the other.
    """

    low: float
    high: float
    originals: float
    random: float
    closed_form: float | None
    within_if_random: float
    random_if_within: float | None


class NullComparison(Result, eq=False):
    """The match distances of the originals compared with a null distribution.

    `advantage` is the largest difference between the shares matched within some distance: 0 when
    originals match no nearer than records that are not in the file, 1 when a cut-off separates
    them. `discoveries` are links too near for chance, at the false discovery rate (Benjamini and
    Hochberg); `p_values` and `q_values` are by record. `random_share` is the estimated share of
    random links (Storey). `exhaustive`: all combinations were used, so nothing is sampled.
    """

    null: str
    records: int
    exhaustive: bool
    hellinger: float
    advantage: Estimate
    discoveries: int
    random_share: float
    bins: tuple[MatchDistanceBin, ...]
    distances: Floats = raw()
    null_distances: Floats = raw()
    p_values: Floats = raw()
    q_values: Floats = raw()

    def random_within(self, distance: float) -> Estimate:
        """P(D <= distance | random): how often a record of the null matches that near."""
        hits = int(np.searchsorted(self.null_distances, distance, side="right"))
        if self.exhaustive:
            value = hits / self.records
            return Estimate(value, value, value, 1.0, "all combinations")
        return share(hits, self.records)

    def random_given_within(self, distance: float) -> float | None:
        """P(random | D <= distance): how likely a link that near is chance; None without links."""
        ours = float((self.distances <= distance).mean())
        theirs = self.random_within(distance).value
        return None if ours == 0 else min(1.0, self.random_share * theirs / ours)


def random_records(ranks: Floats, wanted: int, rng: np.random.Generator) -> tuple[Floats, bool]:
    """Records drawn column by column: all combinations where they are few, else a sample."""
    n, m = ranks.shape
    if n**m <= _MAX_COMBINATIONS:
        axes = np.meshgrid(*ranks.T, indexing="ij")
        return np.column_stack([axis.ravel() for axis in axes]), True
    drawn = rng.integers(0, n, size=(wanted, m))
    return np.take_along_axis(ranks, drawn, axis=0), False


def compare_with_null(
    distances: Floats,
    null_distances: Floats,
    *,
    null: str,
    exhaustive: bool,
    false_discovery_rate: float,
    closed_form_columns: int | None,
    masked_records: int,
) -> NullComparison:
    """Compare match distances with a null distribution (exact if exhaustive, else a sample)."""
    sorted_null = np.sort(null_distances)
    different, which = np.unique(distances, return_inverse=True)
    within = np.searchsorted(sorted_null, different, side="right")
    level = within / len(sorted_null) if exhaustive else (within + 1) / (len(sorted_null) + 1)
    p, q = level[which], _benjamini_hochberg(level, np.bincount(which))[which]
    random_share = min(1.0, 2.0 * float((p > 0.5).mean()))
    edges = _edges(distances, sorted_null)
    return NullComparison(
        null=null,
        records=len(sorted_null),
        exhaustive=exhaustive,
        hellinger=hellinger(np.histogram(distances, edges)[0], np.histogram(sorted_null, edges)[0]),
        advantage=_advantage(distances, sorted_null, exhaustive),
        discoveries=int((q <= false_discovery_rate).sum()),
        random_share=random_share,
        bins=_bins(distances, sorted_null, edges, random_share, closed_form_columns, masked_records),
        distances=distances,
        null_distances=sorted_null,
        p_values=p,
        q_values=q,
    )


def _benjamini_hochberg(p: Floats, counts: Ints) -> Floats:
    """The smallest false discovery rate at which each link is a discovery.

    `p` has the different p-values in increasing order, `counts` the number of links of each.
    """
    scaled = p * (counts.sum() / np.cumsum(counts))
    return np.asarray(np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0))


def _advantage(distances: Floats, null_distances: Floats, exhaustive: bool) -> Estimate:
    """The largest excess of originals over the null within a distance, with its band."""
    ordered = np.sort(distances)
    at = np.unique(ordered)
    ours = np.searchsorted(ordered, at, side="right") / len(ordered)
    theirs = np.searchsorted(null_distances, at, side="right") / len(null_distances)
    value = max(0.0, float((ours - theirs).max()))
    # Each distribution is within its band with 97.5 %, so both are with 95 %.
    band = np.sqrt(np.log(2 / 0.025) / (2 * len(ordered)))
    if not exhaustive:
        band += np.sqrt(np.log(2 / 0.025) / (2 * len(null_distances)))
    return Estimate(
        value,
        max(0.0, value - float(band)),
        min(1.0, value + float(band)),
        method="Dvoretzky-Kiefer-Wolfowitz band",
        assumes="links of different records count as independent",
    )


def _edges(distances: Floats, null_distances: Floats) -> Floats:
    """One bin per rank while they are few, else about thirty equal bins: [edge, next edge)."""
    largest = max(float(distances.max()), float(null_distances[-1]))
    step = 1.0 if largest < _MAX_RANK_BINS else float(np.ceil((largest + 1) / _EQUAL_BINS))
    edges = np.arange(0.0, largest + 1.5 * step, step)
    edges[-1] = np.inf
    return edges


def _bins(
    distances: Floats,
    null_distances: Floats,
    edges: Floats,
    random_share: float,
    columns: int | None,
    records: int,
) -> tuple[MatchDistanceBin, ...]:
    highs = edges[1:] - 1.0
    highs[-1] = max(edges[-2], float(distances.max()), float(null_distances[-1]))
    ordered = np.sort(distances)
    ours = np.searchsorted(ordered, edges[1:], side="left") / len(ordered)
    theirs = np.searchsorted(null_distances, edges[1:], side="left") / len(null_distances)
    theory = None
    if columns is not None:
        upto = random_match_probability(records, columns, np.minimum(highs, records - 1))
        upto[-1] = 1.0
        theory = np.diff(upto, prepend=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bayes = np.minimum(random_share * theirs / ours, 1.0)
    return tuple(
        MatchDistanceBin(
            low=float(edges[i]),
            high=float(highs[i]),
            originals=float(ours[i] - (ours[i - 1] if i else 0.0)),
            random=float(theirs[i] - (theirs[i - 1] if i else 0.0)),
            closed_form=None if theory is None else float(theory[i]),
            within_if_random=float(theirs[i]),
            random_if_within=float(bayes[i]) if ours[i] > 0 else None,
        )
        for i in range(len(highs))
    )
