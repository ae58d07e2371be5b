"""Which edges can be in a perfect matching at all, and which blocks they fall into."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

Indices = NDArray[np.int64]


class Structure(NamedTuple):
    """One perfect matching, the irreducible blocks, and how many edges lie in no matching.

    Edges between different blocks are in no perfect matching (Dulmage and Mendelsohn 1958); within
    a block every edge is in one.
    """

    matching: Indices
    blocks: tuple[tuple[Indices, Indices], ...]
    superfluous: int


def matching_or_deficiency(matrix: csr_array) -> tuple[Indices | None, Indices]:
    """A perfect matching, or a set of rows that have too few columns among them (Hall).

    Returns (the column of each row, empty) or (None, the rows of a deficient set).
    """
    columns = maximum_bipartite_matching(matrix, perm_type="column").astype(np.int64)
    free = np.flatnonzero(columns < 0)
    if free.size == 0:
        return columns, np.zeros(0, dtype=np.int64)
    of_column = np.full(matrix.shape[1], -1, dtype=np.int64)
    of_column[columns[columns >= 0]] = np.flatnonzero(columns >= 0)
    # Alternating paths from a free row: all columns they meet are taken by rows they meet.
    seen = {int(free[0])}
    queue = [int(free[0])]
    while queue:
        row = queue.pop()
        for column in matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]:
            owner = int(of_column[column])
            if owner not in seen:
                seen.add(owner)
                queue.append(owner)
    return None, np.array(sorted(seen), dtype=np.int64)


def structure(matrix: csr_array, matching: Indices) -> Structure:
    """The irreducible blocks: strongly connected components once the matching is contracted.

    O(edges). Blocks come in the order of their first row.
    """
    size = matrix.shape[0]
    of_column = np.empty(size, dtype=np.int64)
    of_column[matching] = np.arange(size)
    row_of = np.repeat(np.arange(size), np.diff(matrix.indptr))
    graph = csr_array(
        (np.ones(matrix.nnz, dtype=np.int8), of_column[matrix.indices], matrix.indptr),
        shape=matrix.shape,
    )
    _, component = connected_components(graph, directed=True, connection="strong")
    within = component[row_of] == component[of_column[matrix.indices]]
    order = np.argsort(component, kind="stable")
    ends = np.cumsum(np.bincount(component))
    parts = [part for part in np.split(order, ends[:-1]) if part.size]
    parts.sort(key=lambda part: int(part[0]))
    blocks = tuple((part, np.sort(matching[part])) for part in parts)
    return Structure(matching, blocks, int((~within).sum()))
