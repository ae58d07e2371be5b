"""Matches that were taken as true, and near pairs that speak against them.

Rows may be in another order, a key may be that of another release, records may be numbered anew.

A masked record whose original is in the file is nearer to some original than to all other masked
records more often than not; if none of them has its original there, it is so in half of the cases,
by symmetry. So the share above one half is that of records which can be linked. If far fewer links
are correct, the matches are not the true ones.
"""

from __future__ import annotations

import numpy as np

from crypsis.linkage._alignment import ALIGNED_Z
from crypsis.linkage._search import share
from crypsis.linkage.suite._attack import LinkAttack
from crypsis.linkage.suite._candidates import alike
from crypsis.linkage.suite._files import Files
from crypsis.results import Estimate, Result
from crypsis.scientific import spatial

_MAX_COMPARED_RECORDS = 3_000
"""Masked records whose nearest records are compared; of more a sample is drawn."""
_EXPLAINED_MARGIN = 0.02
"""Near pairs that exceed the correct links by no more than this share are explained by them."""
_NEARER_CONFIDENCE = 0.9999
"""Of the interval of the share of near pairs: it misses the share once in 10,000 files."""
_MIN_INTERVAL_RECORDS = 30
"""Fewer generalized values are not compared with their originals."""
_COVERED_SHARE = 0.9
"""Where so many originals are covered, the records correspond, even if chance covers as many."""


class Contradiction(Result):
    """The share of masked records nearer to an original than to another masked record."""

    records: int
    nearer: Estimate


def rows_correspond(files: Files) -> bool:
    """Whether true pairs agree better than random ones in some column, as they were given.

    The mean dissimilarity along the rows against that of shuffled rows: z > 4, or a tenth of it.
    """
    if files.own is None or len(files.known) < 2:
        return False
    rng = np.random.default_rng((files.seed, 26))
    rows, masked_rows = files.targets[files.known], files.own[files.known]
    for field in files.fields:
        along = field.apart(rows, masked_rows)
        random = field.apart(rows, rng.permutation(masked_rows))
        spread = float(np.hypot(along.std(), random.std())) / np.sqrt(len(rows))
        if random.mean() - along.mean() > ALIGNED_Z * spread + 1e-12:
            return True
        if random.mean() > 0 and along.mean() < 0.1 * random.mean():
            return True
    return False


def values_covered(files: Files) -> bool:
    """Whether generalized values cover their originals, or at least rather than those of others.

    What a key or record numbers pair need not be near: a mask may be strong. But an interval and
    the label of a group are made from the value that they cover.
    """
    if files.own is None:
        return True
    rng = np.random.default_rng((files.seed, 27))
    rows, masked_rows = files.targets[files.known], files.own[files.known]
    for field in files.fields:
        wide = field.wide[masked_rows] & ~field.lost[rows]
        if wide.sum() < _MIN_INTERVAL_RECORDS:
            continue
        wide_rows, theirs = rows[wide], masked_rows[wide]
        along = float((field.apart(wide_rows, theirs) <= 0).mean())
        random = float((field.apart(wide_rows, rng.permutation(theirs)) <= 0).mean())
        if along < _COVERED_SHARE and along - random < ALIGNED_Z / 2 / np.sqrt(len(wide_rows)):
            return False
    return True


def contradicted(files: Files, worst: LinkAttack) -> Contradiction | None:
    """Near pairs that the assumed matches do not explain; None if they do, or if there are none."""
    if worst.correct_share is None or len(files.sizes) < 3:
        return None
    x, y = alike(files, range(len(files.fields)))
    rng = np.random.default_rng((files.seed, 25))
    order = files.place_of[rng.permutation(files.masked)[:_MAX_COMPARED_RECORDS]]
    to_other_file = spatial.cKDTree(x).query(y[order], k=1, p=1.0, workers=-1)[0]
    to_same_file = spatial.cKDTree(y).query(y[order], k=2, p=1.0, workers=-1)[0][:, 1]
    to_same_file = np.where(files.sizes[order] > 1, 0.0, to_same_file)
    nearer = float((to_other_file < to_same_file).sum() + 0.5 * (to_other_file == to_same_file).sum())
    share_nearer = share(nearer, len(order), _NEARER_CONFIDENCE)
    if share_nearer.low - 0.5 <= worst.correct_share.high + _EXPLAINED_MARGIN:
        return None
    return Contradiction(len(order), share_nearer)
