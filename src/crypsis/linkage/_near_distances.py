"""The distances of a linkage as a sparse matrix, for a belief matrix of pseudonyms."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from crypsis.dataset import Data, takes_options
from crypsis.errors import ParameterError
from crypsis.linkage._pair import RankOptions, pair
from crypsis.scientific import sparse, spatial


@takes_options(RankOptions)
def near_distances(
    original: Data, masked: Data, *, nearest: int = 10, **options: Unpack[RankOptions]
) -> sparse.csr_array:
    """The permutation distances from each original to its nearest masked records.

    They are the input of `pseudonyms.Belief.from_distances`: a belief matrix of which masked record
    belongs to whom. The own masked record is included where it is known: a belief without it
    excludes the truth.

    Parameters
    ----------
    original, masked, **options
        See `link`.
    nearest : int
        How many masked records per original.

    Returns
    -------
    scipy.sparse.csr_array
        Originals by masked records, in ranks; a stored zero is a distance of zero.

    Examples
    --------
    >>> near_distances({"a": [1, 2, 3]}, {"a": [1.1, 2.2, 2.9]}, nearest=2).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    if nearest < 1:
        raise ParameterError(
            f"Parameter 'nearest' must be at least 1; {nearest} was given.", parameter="nearest"
        )
    both = pair(original, masked, ranks_only=True, **options)
    points, shape = both.points, (both.original_records, both.masked_records)
    # Not grouped into places: each masked record is a pair of its own here.
    tree = spatial.cKDTree(points.masked, balanced_tree=False, compact_nodes=False)
    k = min(nearest, shape[1])
    distance, neighbors = tree.query(points.original, k=range(1, k + 1), p=np.inf, workers=-1)
    rows, columns, distances = np.repeat(np.arange(shape[0]), k), neighbors.ravel(), distance.ravel()
    if both.own is not None:
        absent = np.flatnonzero((neighbors != both.own[:, None]).all(axis=1) & (both.own >= 0))
        masked_rows = both.own[absent]
        far = np.abs(points.original[absent] - points.masked[masked_rows]).max(axis=1)
        rows, columns, distances = (
            np.concatenate(parts) for parts in ((rows, absent), (columns, masked_rows), (distances, far))
        )
    return sparse.csr_array((distances / points.unit, (rows, columns)), shape=shape)
