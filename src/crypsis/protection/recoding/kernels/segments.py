# mypy: disable-error-code="no-any-return"
"""The cheapest cut of sorted points into clusters of at least k rows: lodha2007, section 4.1.

The dynamic program F(j) = min F(i) + w(i, j), over the cuts i that leave at least k rows between i
and j, has a cost w that satisfies the quadrangle inequality
w(a,c) + w(b,d) <= w(a,d) + w(b,c) for a <= b <= c <= d
(sum of squares and of distances to the median: well known; diameter times size: because it is a
product of two functions that add up along the line; rank difference: because it is convex in the
size). Then a later cut that has once become better
than an earlier one stays better, so the candidates form a queue of stretches of j, each with its
best cut, and a new candidate finds its stretch by bisection: O(m log m) for m points, however large
k is, instead of the paper's O(nk) (Galil and Park 1992).

Sums of squares of nearby values far from zero cancel, so prefix sums are kept as pairs of floats
(Dekker 1971), which carry about 32 digits.
"""

from __future__ import annotations

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.machine_code import kernel

SQUARES, MEDIAN, CELLULAR, RANKS = 0, 1, 2, 3


@kernel(inline="always")
def _two_sum(a: float, b: float) -> tuple[float, float]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@kernel(inline="always")
def _two_product(a: float, b: float) -> tuple[float, float]:
    product = a * b
    big = 134217729.0 * a
    a_high = big - (big - a)
    big = 134217729.0 * b
    b_high = big - (big - b)
    a_low, b_low = a - a_high, b - b_high
    low = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, low


@kernel
def prefix_sums(points: Floats, counts: Ints) -> tuple[Ints, Floats, Floats]:
    """Rows, sums and sums of squares before each cut; the sums as pairs (high, low)."""
    m = points.size
    rows = np.zeros(m + 1, np.int64)
    sums = np.zeros((m + 1, 2))
    squares = np.zeros((m + 1, 2))
    for i in range(m):
        count = float(counts[i])
        rows[i + 1] = rows[i] + counts[i]
        once, once_low = _two_product(points[i], count)
        high, low = _two_sum(sums[i, 0], once)
        sums[i + 1] = _two_sum(high, low + (once_low + sums[i, 1]))
        twice, twice_low = _two_product(once, points[i])
        high, low = _two_sum(squares[i, 0], twice)
        rest = low + (twice_low + once_low * points[i] + squares[i, 1])
        squares[i + 1] = _two_sum(high, rest)
    return rows, sums, squares


@kernel(inline="always")
def _difference(pairs: Floats, i: int, j: int) -> tuple[float, float]:
    high, low = _two_sum(pairs[j, 0], -pairs[i, 0])
    return _two_sum(high, low + (pairs[j, 1] - pairs[i, 1]))


@kernel
def middle(rows: Ints, i: int, j: int) -> int:
    """The point of the lower median of the rows between cuts i and j."""
    wanted = rows[i] + (rows[j] - rows[i] + 1) // 2
    if rows[j] - rows[i] == j - i:
        return int(i + (j - i + 1) // 2 - 1)
    low, high = i, j - 1
    while low < high:
        half = (low + high) // 2
        if rows[half + 1] >= wanted:
            high = half
        else:
            low = half + 1
    return int(low)


@kernel
def segment_cost(
    cost: int, points: Floats, rows: Ints, sums: Floats, squares: Floats, i: int, j: int
) -> float:
    """The cost of one cluster of the points between cuts i and j."""
    size = float(rows[j] - rows[i])
    if cost == CELLULAR:
        return 0.5 * (points[j - 1] - points[i]) * size
    if cost == RANKS:  # the distances of the ranks 1..size to their median
        return float((rows[j] - rows[i]) // 2 * ((rows[j] - rows[i] + 1) // 2))
    if cost == SQUARES:
        total, total_low = _difference(sums, i, j)
        square, square_low = _two_product(total, total)
        square_low += 2.0 * total * total_low
        # square / size as a pair: the quotient and the remainder of the division.
        share = square / size
        back, back_low = _two_product(share, size)
        share_low = ((square - back) - back_low + square_low) / size
        high, low = _difference(squares, i, j)
        return max(0.0, (high - share) + (low - share_low))
    m = middle(rows, i, j)
    center = points[m]
    above, above_low = _difference(sums, m, j)
    below, below_low = _difference(sums, i, m)
    up, up_low = _two_product(center, float(rows[j] - rows[m]))
    down, down_low = _two_product(center, float(rows[m] - rows[i]))
    upper = (above - up) + (above_low - up_low)
    lower = (down - below) + (down_low - below_low)
    return max(0.0, upper + lower)


@kernel
def segment_costs(cost: int, points: Floats, rows: Ints, sums: Floats, squares: Floats, cuts: Ints) -> Floats:
    """The cost of each cluster between two cuts."""
    found = np.empty(cuts.size - 1)
    for c in range(found.size):
        found[c] = segment_cost(cost, points, rows, sums, squares, cuts[c], cuts[c + 1])
    return found


@kernel
def middles(rows: Ints, cuts: Ints) -> Ints:
    """The point in the middle of each cluster between two cuts."""
    found = np.empty(cuts.size - 1, np.int64)
    for c in range(found.size):
        found[c] = middle(rows, cuts[c], cuts[c + 1])
    return found


@kernel
def cuts_of(before: Ints) -> Ints:
    """The cuts of all points, from the best cut before each."""
    cuts = np.empty(before.size, np.int64)
    place = before.size - 1
    cuts[place] = last = before.size - 1
    while last > 0:
        place -= 1
        cuts[place] = last = before[last]
    return cuts[place:].copy()


@kernel
def cheapest_squares(points: Floats, k: int) -> Ints:
    """The same as `cheapest_cuts` for sums of squares of points that occur once, and a small k.

    An optimal cluster has fewer than 2k points, so each cut is compared with the k cuts that may
    come before it, adding one point after the other to the mean and the sum of squares (Welford
    1962): O(mk), as in the paper, and for a small k faster than a queue.
    """
    m = points.size
    best = np.full(m + 1, np.inf)
    best[0] = 0.0
    before = np.full(m + 1, -1, np.int64)
    share = 1.0 / np.arange(1, 2 * k)
    for j in range(k, m + 1):
        mean = squares = 0.0
        for size in range(1, min(j, 2 * k - 1) + 1):
            i = j - size
            step = points[i] - mean
            mean += step * share[size - 1]
            squares += step * (points[i] - mean)
            if size >= k and best[i] + squares < best[j]:
                best[j] = best[i] + squares
                before[j] = i
    return before


@kernel
def cheapest_cuts(cost: int, points: Floats, rows: Ints, sums: Floats, squares: Floats, k: int) -> Ints:
    """For each cut j the best cut before it, -1 where no clustering ends at j."""
    m = points.size
    best = np.full(m + 1, np.inf)
    best[0] = 0.0
    before = np.full(m + 1, -1, np.int64)
    queue = np.empty(m + 1, np.int64)  # candidate cuts
    since = np.empty(m + 1, np.int64)  # the first j for which each is the best of the queue
    head, tail, waiting = 0, 0, 0
    # No optimal cluster has 2k rows or more, except where equal values that stay together cannot
    # be split: whatever lies further away than that need not be compared.
    widest, limit = 2 * k, 0
    for i in range(m):
        widest = max(widest, 2 * k + rows[i + 1] - rows[i])
    for j in range(1, m + 1):
        while waiting < j and rows[j] - rows[waiting] >= k:
            new = waiting
            waiting += 1
            if best[new] == np.inf:
                continue
            while limit < m and rows[limit] - rows[new] < widest:
                limit += 1
            start = j
            while tail > head:
                last = queue[tail - 1]
                low = max(since[tail - 1], j)
                if best[new] + segment_cost(cost, points, rows, sums, squares, new, low) <= best[
                    last
                ] + segment_cost(cost, points, rows, sums, squares, last, low):
                    start = low
                    tail -= 1
                    continue
                high = limit + 1  # by convention the new one is better there
                while low + 1 < high:
                    half = (low + high) // 2
                    mine = best[new] + segment_cost(cost, points, rows, sums, squares, new, half)
                    its = best[last] + segment_cost(cost, points, rows, sums, squares, last, half)
                    if mine <= its:
                        high = half
                    else:
                        low = half
                start = high if high <= limit else m + 1
                break
            if start <= m:
                queue[tail] = new
                since[tail] = start
                tail += 1
        while tail - head > 1 and since[head + 1] <= j:
            head += 1
        if tail > head:
            i = queue[head]
            best[j] = best[i] + segment_cost(cost, points, rows, sums, squares, i, j)
            before[j] = i
    return before


@kernel
def cuts_within(points: Floats, rows: Ints, k: int, diameter: float) -> Ints:
    """For each cut a cut before it such that no cluster is wider than `diameter`; -1 for none."""
    m = points.size
    before = np.full(m + 1, -1, np.int64)
    latest = -1  # the last cut that can be reached and leaves k rows
    waiting = 0
    for j in range(1, m + 1):
        while waiting < j and rows[j] - rows[waiting] >= k:
            if waiting == 0 or before[waiting] >= 0:
                latest = waiting
            waiting += 1
        if latest >= 0 and points[j - 1] - points[latest] <= diameter:
            before[j] = latest
    return before


@kernel
def narrowest_cuts(points: Floats, rows: Ints, k: int) -> Ints:
    """The cuts that make the widest cluster as narrow as possible.

    The width is found exactly, by bisection over the floats themselves (their bit patterns, as
    integers, are ordered as they are): 64 passes.
    """
    m = points.size
    bits = np.empty(1, np.int64)
    width = bits.view(np.float64)
    width[0] = points[m - 1] - points[0]
    low, high = np.int64(-1), bits[0]
    while high - low > 1:
        bits[0] = low + (high - low) // 2
        if cuts_within(points, rows, k, width[0])[m] >= 0:
            high = bits[0]
        else:
            low = bits[0]
    bits[0] = high
    return cuts_within(points, rows, k, width[0])
