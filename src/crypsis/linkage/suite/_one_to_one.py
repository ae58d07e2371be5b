"""One-to-one linkage by scores: the assignment with the highest total, among the candidates."""

from __future__ import annotations

import numpy as np

from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage.suite._candidates import Candidates
from crypsis.linkage.suite._files import Files
from crypsis.scientific import csgraph, sparse

_MAX_ASSIGNED_TARGETS = 12_000
"""With more targets they are not assigned one to one."""
_ASSIGNED_CANDIDATES = 10
"""Candidates of each target with the highest scores that the assignment considers."""
_NOBODY_SCORE = 60.0
"""The score, below the best, of being linked to nobody: what makes an assignment possible."""


def one_to_one(files: Files, pairs: Candidates, score: Floats) -> Ints | None:
    """The place of each target; None if there are too many, or not all records are attacked."""
    many = len(files.targets)
    if many > _MAX_ASSIGNED_TARGETS or many < files.originals or files.sizes.max() > 1:
        return None
    below = np.maximum(score - pairs.best(score)[pairs.target], -_NOBODY_SCORE)
    order = np.lexsort((-below, pairs.target))
    rank = np.arange(len(order)) - pairs.start[pairs.target[order]]
    kept = order[rank < _ASSIGNED_CANDIDATES]
    places = len(files.sizes)
    rng = np.random.default_rng((files.seed, 22))
    row, column = rng.permutation(many), rng.permutation(places)  # ties reveal nothing
    # A place of one's own for each target, in case that all candidates are taken by others.
    rows = np.concatenate([row[pairs.target[kept]], row])
    columns = np.concatenate([column[pairs.place[kept]], places + row])
    costs = np.concatenate([1.0 - below[kept], np.full(many, 1.0 + 2 * _NOBODY_SCORE)])
    table = sparse.csr_array((costs, (rows, columns)), shape=(many, places + many))
    matching = np.asarray(csgraph.min_weight_full_bipartite_matching(table)[1], dtype=np.int64)
    back = np.empty(places, np.int64)
    back[column] = np.arange(places)
    partner = np.full(many, -1, np.int64)
    taken = matching < places
    partner[taken] = back[matching[taken]]
    return partner[row]
