"""The edges that lie in some perfect matching, and the irreducible blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.array_types import Ints
from crypsis.pseudonyms._kinds import KindMatrix
from crypsis.scientific import csgraph, sparse


class BlockStructure(NamedTuple):
    """One perfect matching, the irreducible blocks, and how many edges lie in no matching.

    Edges between different blocks are in no perfect matching (Dulmage and Mendelsohn 1958); within
    a block every edge is in one.
    """

    matching: Ints
    blocks: tuple[tuple[Ints, Ints], ...]
    superfluous: int


def matching_or_deficiency(kinds: KindMatrix) -> tuple[Ints | None, Ints]:
    """A perfect matching, or a set of rows that have too few columns among them (Hall).

    Returns (the column of each row, empty) or (None, the rows of a deficient set). Kinds of rows
    and columns are matched by a maximum flow.
    """
    flow = _flow(kinds)
    missing = np.flatnonzero(kinds.rows - flow.sum(axis=1) > 0)
    if missing.size == 0:
        return _of_items(kinds, flow), np.zeros(0, dtype=np.int64)
    # Alternating paths from a free row: all columns they meet are taken by rows they meet.
    by_column = sparse.csr_array(flow.T)
    seen, queue = {int(missing[0])}, [int(missing[0])]
    met: set[int] = set()
    while queue:
        row = queue.pop()
        weights = kinds.weights
        for column in weights.indices[weights.indptr[row] : weights.indptr[row + 1]].tolist():
            if column in met:
                continue
            met.add(column)
            takers = by_column.indices[by_column.indptr[column] : by_column.indptr[column + 1]]
            new = [taker for taker in takers.tolist() if taker not in seen]
            seen.update(new)
            queue += new
    return None, np.flatnonzero(np.isin(kinds.row_kind, sorted(seen)))


def random_matching(kinds: KindMatrix, generator: np.random.Generator) -> Ints:
    """A perfect matching that is far from another one: kinds are met in a random order.

    There must be one. It is not a random draw: it only depends on the order.
    """
    orders = [generator.permutation(wide) for wide in kinds.weights.shape]
    weights = sparse.csr_array(kinds.weights[orders[0]][:, orders[1]])
    weights.sort_indices()
    places = [np.argsort(order) for order in orders]
    kind_matrix = KindMatrix(weights, places[0][kinds.row_kind], places[1][kinds.column_kind])
    return _of_items(kind_matrix, _flow(kind_matrix))


def _narrow(matrix: sparse.csr_array) -> sparse.csr_array:
    """With places of 32 bits, which the graph algorithms of SciPy 1.14 ask for."""
    places = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return sparse.csr_array((matrix.data, *places), shape=matrix.shape)


def _flow(kinds: KindMatrix) -> sparse.csr_array:
    """How many rows of each kind are matched to columns of each kind, as many as possible."""
    many, wide = kinds.weights.shape
    if kinds.is_distinct:
        columns = csgraph.maximum_bipartite_matching(_narrow(kinds.weights), perm_type="column").astype(
            np.int64
        )
        rows = np.flatnonzero(columns >= 0)
        units = np.ones(rows.size, dtype=np.int64)
        return sparse.csr_array((units, (rows, columns[rows])), shape=(many, wide))
    source, sink = many + wide, many + wide + 1
    rows, columns = kinds.cell_rows, kinds.cell_columns
    capacity = np.concatenate(
        [np.minimum(kinds.rows[rows], kinds.columns[columns]), kinds.rows, kinds.columns]
    )
    tails = np.concatenate([rows, np.full(many, source), many + np.arange(wide)])
    heads = np.concatenate([many + columns, np.arange(many), np.full(wide, sink)])
    graph = sparse.coo_array((capacity.astype(np.int32), (tails, heads)), shape=(sink + 1, sink + 1))
    flow = sparse.csr_array(csgraph.maximum_flow(_narrow(sparse.csr_array(graph)), source, sink).flow)[
        :many, many:source
    ]
    flow = sparse.csr_array(flow, dtype=np.int64)
    flow.data = np.maximum(flow.data, 0)
    flow.eliminate_zeros()
    return flow


def _of_items(kinds: KindMatrix, flow: sparse.csr_array) -> Ints:
    """The column of each row, from the number of pairs between kinds."""
    pairs = sparse.coo_array(flow)
    rows, columns = (np.repeat(part, pairs.data) for part in pairs.coords)
    matching = np.empty(kinds.size, dtype=np.int64)
    by_row = np.lexsort((columns, rows))
    by_column = np.lexsort((rows, columns))
    of_pair = np.empty(kinds.size, dtype=np.int64)
    of_pair[by_column] = np.argsort(kinds.column_kind, kind="stable")
    matching[np.argsort(kinds.row_kind, kind="stable")] = of_pair[by_row]
    return matching


def block_structure(kinds: KindMatrix, matching: Ints) -> BlockStructure:
    """The irreducible blocks: strongly connected components of rows, columns and the matching.

    Identical rows are always in one block, and so are identical columns: O(edges between kinds).
    Blocks come in the order of their first row.
    """
    many, wide = kinds.weights.shape
    rows, columns = kinds.cell_rows, kinds.cell_columns
    matched = np.unique(kinds.row_kind * wide + kinds.column_kind[matching])
    tails = np.concatenate([rows, many + matched % wide])
    heads = np.concatenate([many + columns, matched // wide])
    graph = sparse.csr_array((np.ones(tails.size, dtype=np.int8), (tails, heads)), shape=(many + wide,) * 2)
    _, component = csgraph.connected_components(graph, directed=True, connection="strong")
    within = component[rows] == component[many + columns]
    superfluous = int((kinds.rows[rows] * kinds.columns[columns])[~within].sum())
    of_row = component[kinds.row_kind]
    order = np.argsort(of_row, kind="stable")
    ends = np.cumsum(np.bincount(of_row, minlength=int(component.max()) + 1))
    parts = [part for part in np.split(order, ends[:-1]) if part.size]
    parts.sort(key=lambda part: int(part[0]))
    blocks = tuple((part, np.sort(matching[part])) for part in parts)
    return BlockStructure(matching, blocks, superfluous)
