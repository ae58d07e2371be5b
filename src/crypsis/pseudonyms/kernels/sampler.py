"""What is averaged over drawn matchings, and importance sampling for permanents.

**Rao and Blackwell.** For a cell (i, j), each matching that avoids it has exactly one neighbour
that uses it and differs in two rows. So matchings fall into stars: one with (i, j), and its
neighbours. The probability of the centre given its star is a smooth function of the drawn
matching (`star`), bounded, with a far smaller variance than "is (i, j) in it": the number that is
averaged.

**Importance sampling** for the permanent fills the rows in turn, choosing among free columns in
proportion to cell / (what is left of the column), and never one that leaves no perfect matching.
It takes the matrix item by item, as compressed rows and compressed columns, sorted.

Identical rows and columns are stored once. A `table` is: compressed rows of cells between kinds
(starts, indices, values), the kind of each row and of each column, and the columns listed by kind
(first, members).
"""

from __future__ import annotations

import numpy as np
from numba import prange

from crypsis.machine_code import kernel
from crypsis.pseudonyms.kernels.chain import draw_place, uniform


@kernel
def _place(begin, end, indices, wanted, full):  # type: ignore[no-untyped-def]
    """Where `wanted` stands in the sorted indices from begin to end, or -1."""
    if end - begin == full:
        return begin + wanted
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and indices[low] == wanted else -1


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def _full_sum(row, column, owners, inverse):  # type: ignore[no-untyped-def]
    """The sum of `_star` where nothing is zero and no two columns are identical."""
    total = 0.0
    for k in range(row.size):
        total += row[k] * column[owners[k]] * inverse[k]
    return total


@kernel(error_model="numpy")
def _star(i, j, column, of_row, uses, table):  # type: ignore[no-untyped-def]
    """The probability of the matching that uses pair (i, j), given the star of the drawn one.

    `column` has the cells of column j by kind of rows.
    """
    starts, indices, values, row_kind, column_kind, first, _ = table
    of_column, used, owners, inverse = uses
    kind = row_kind[i]
    begin, end = starts[kind], starts[kind + 1]
    cell = column[kind]
    if cell <= 0.0:
        return 0.0
    total = 0.0
    if end - begin == owners.size:
        total = _full_sum(values[begin:end], column, owners, inverse)
    else:
        for entry in range(begin, end):
            part = 0.0
            for at in range(first[indices[entry]], first[indices[entry] + 1]):
                part += column[owners[at]] * inverse[at]
            total += values[entry] * part
    now = of_row[i]
    if now == j:
        return cell / total
    rival = of_column[j]
    other_kind = row_kind[rival]
    swapped = _place(starts[other_kind], starts[other_kind + 1], indices, column_kind[now], first.size - 1)
    if swapped < 0:
        return 0.0
    return cell / (total - cell + used[i] * used[rival] / values[swapped])


@kernel(parallel=True)
def crack_stars(drawn, items, truth, smooth, table, columns, row_lists):  # type: ignore[no-untyped-def]
    """For each drawn matching and each listed item, an estimate that the item is cracked.

    Items of the same kind whose pseudonyms are of the same kind are listed once. Where `smooth`,
    the estimate is the probability of the true pair given its star; elsewhere it is the number of
    pairs between the two kinds, over the number of all such pairs.
    """
    draws = drawn.shape[0]
    row_kind, column_kind, first = table[3], table[4], table[5]
    column_starts, column_indices, column_values = columns
    row_first, row_members = row_lists
    out = np.empty((draws, items.size))
    for draw in prange(draws):
        of_row = drawn[draw]
        uses = _uses(of_row, table)
        column = np.zeros(row_first.size - 1)
        for n in range(items.size):
            i = items[n]
            j = truth[n]
            kind = column_kind[j]
            if smooth[n]:
                for entry in range(column_starts[kind], column_starts[kind + 1]):
                    column[column_indices[entry]] = column_values[entry]
                out[draw, n] = _star(i, j, column, of_row, uses, table)
                for entry in range(column_starts[kind], column_starts[kind + 1]):
                    column[column_indices[entry]] = 0.0
            else:
                begin, end = row_first[row_kind[i]], row_first[row_kind[i] + 1]
                pairs = 0
                for at in range(begin, end):
                    if column_kind[of_row[row_members[at]]] == kind:
                        pairs += 1
                out[draw, n] = pairs / ((end - begin) * (first[kind + 1] - first[kind]))
    return out


@kernel(parallel=True)
def edge_stars(drawn, table, columns, examples):  # type: ignore[no-untyped-def]
    """The smoothed probability of a pair of each stored cell, averaged over a few runs of draws.

    `examples` are a row and a column of each kind; pairs of the same kinds have one probability.
    """
    draws = drawn.shape[0]
    column_starts, column_indices, column_values = columns
    rows_of, columns_of = examples
    parts = min(draws, 16)
    sums = np.zeros((parts, column_values.size))
    for part in prange(parts):
        begin, end = part * draws // parts, (part + 1) * draws // parts
        column = np.zeros(rows_of.size)
        for draw in range(begin, end):
            of_row = drawn[draw]
            uses = _uses(of_row, table)
            for kind in range(columns_of.size):
                low, high = column_starts[kind], column_starts[kind + 1]
                for entry in range(low, high):
                    column[column_indices[entry]] = column_values[entry]
                for entry in range(low, high):
                    sums[part, entry] += _star(
                        rows_of[column_indices[entry]], columns_of[kind], column, of_row, uses, table
                    )
                for entry in range(low, high):
                    column[column_indices[entry]] = 0.0
        sums[part] /= end - begin
    return sums


@kernel
def _uses(of_row, table):  # type: ignore[no-untyped-def]
    """The inverse of a matching and the cells it uses by row; by place in the list of columns, the
    kind of the row that has the column and one over the cell used.
    """
    starts, indices, values, row_kind, column_kind, first, members = table
    size = of_row.size
    of_column = np.empty(size, dtype=np.int64)
    used = np.empty(size)
    owners = np.empty(size, dtype=np.int64)
    inverse = np.empty(size)
    for row in range(size):
        of_column[of_row[row]] = row
    for position in range(size):
        row = of_column[members[position]]
        kind = row_kind[row]
        at = _place(starts[kind], starts[kind + 1], indices, column_kind[members[position]], first.size - 1)
        used[row] = values[at]
        owners[position] = kind
        inverse[position] = 1.0 / values[at]
    return of_column, used, owners, inverse


@kernel(parallel=True)
def log_weights(drawn, table):  # type: ignore[no-untyped-def]
    """The logarithm of the weight of each drawn matching."""
    out = np.empty(drawn.shape[0])
    for draw in prange(drawn.shape[0]):
        used = _uses(drawn[draw], table)[1]
        out[draw] = np.log(used).sum()
    return out


@kernel
def _can_give_way(item, mate, of_column, done, columns, via, queue):  # type: ignore[no-untyped-def]
    """Mark every free item that can move elsewhere once `item` gives up its mate.

    `via[row]` is the column that `row` would move to (-1: it cannot). Breadth first, backwards
    along alternating paths from the mate of `item`.
    """
    column_starts, column_indices, _ = columns
    via[:] = -1
    queue[0] = mate[item]
    head, tail = 0, 1
    while head < tail:
        column = queue[head]
        head += 1
        for entry in range(column_starts[column], column_starts[column + 1]):
            row = column_indices[entry]
            if row != item and not done[row] and via[row] < 0:
                via[row] = column
                queue[tail] = mate[row]
                tail += 1


@kernel(error_model="numpy")
def _importance_draw(order, start, rows, columns, careful, stream):  # type: ignore[no-untyped-def]
    """The logarithm of the importance weight of one sequentially drawn matching (-inf: stuck)."""
    starts, indices, values = rows
    size = order.size
    mate = start.copy()
    of_column = np.empty(size, dtype=np.int64)
    for row in range(size):
        of_column[mate[row]] = row
    done = np.zeros(size, dtype=np.bool_)
    taken = np.zeros(size, dtype=np.bool_)
    left = np.zeros(size)
    for entry in range(values.size):
        left[indices[entry]] += values[entry]
    via = np.empty(size, dtype=np.int64)
    queue = np.empty(size + 1, dtype=np.int64)
    shares = np.empty(size)
    logarithm = 0.0
    for row in order:
        if careful:
            _can_give_way(row, mate, of_column, done, columns, via, queue)
        total = 0.0
        begin, end = starts[row], starts[row + 1]
        for entry in range(begin, end):
            column = indices[entry]
            share = 0.0
            if not taken[column] and (not careful or column == mate[row] or via[of_column[column]] >= 0):
                share = values[entry] / max(left[column], values[entry])
            total += share
            shares[entry - begin] = total
        if total <= 0.0:
            return -np.inf
        chosen = begin + draw_place(shares, 0, end - begin, uniform(stream))
        share = shares[chosen - begin] - (shares[chosen - begin - 1] if chosen > begin else 0.0)
        logarithm += np.log(values[chosen]) - np.log(share / total)
        column = indices[chosen]
        taken[column] = True
        done[row] = True
        for entry in range(begin, end):
            left[indices[entry]] -= values[entry]
        if careful and column != mate[row]:
            _move_along(row, column, mate, of_column, via)
    return logarithm


@kernel
def _move_along(row, column, mate, of_column, via):  # type: ignore[no-untyped-def]
    """Give `column` to `row`; whoever had it moves on, along the marked path."""
    end = mate[row]
    pushed = of_column[column]
    mate[row] = column
    of_column[column] = row
    while True:
        target = via[pushed]
        following = of_column[target]
        mate[pushed] = target
        of_column[target] = pushed
        if target == end:
            return
        pushed = following


@kernel(parallel=True)
def importance_weights(order, start, rows, columns, careful, streams):  # type: ignore[no-untyped-def]
    """Logarithms of importance weights whose mean is the permanent, one for each stream."""
    out = np.empty(streams.shape[0])
    for draw in prange(streams.shape[0]):
        out[draw] = _importance_draw(order, start, rows, columns, careful, streams[draw])
    return out
