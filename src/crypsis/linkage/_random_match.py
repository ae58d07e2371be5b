"""The distance of a random match in closed form: an open question of domingo2016.

A random record is a point whose m ranks are drawn independently. If the m columns of the masked
file are in independent orders, each column has its own random set of records within d ranks of the
point, and no record matches when the m sets have none in common. By inclusion and exclusion over
k records,

    P(D > d) = sum over k >= 0 of (-1)^k C(n, k) r_k^m,
    r_k = E[w (w-1) ... (w-k+1)] / (n (n-1) ... (n-k+1)),

where w is the number of ranks within d of a random rank: 2d + 1, fewer near the ends. Summing
w = d+1 ... 2d (each end once) gives, with c = min(2d + 1, n) and (a)_k = a (a-1) ... (a-k+1),

    E[(w)_k] = ( 2 ((c)_{k+1} - (d+1)_{k+1}) / (k+1) + (n - 2 (c - 1 - d)) (c)_k ) / n.

The terms alternate and cancel, so they are added in decimal arithmetic with extra digits.
For large n the sum is nearly exp(-n ((2d+1)/n)^m): random matches occur at about
d = n^(1 - 1/m) / 2. Where points away from the ends have hundreds of matches, only those near the
ends can have none: there the mean of exp(-n (w_1/n) ... (w_m/n)) over the w's is taken, from the
distribution of log w convolved with itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext

import numpy as np

from crypsis.errors import ParameterError
from crypsis.linkage._ranks import Floats

_NEGLIGIBLE_TERM = Decimal(10) ** -20
"""Terms of the alternating sum below this end it."""
_MAX_SUMMED_MATCHES = 200
"""Of more expected matches the terms are too large: they grow to exp(matches)."""
_GRID_CELLS = 4096
"""Cells of the grid on which the distribution of log w is convolved."""


def random_match_probability(
    records: int, columns: int, distances: Sequence[int] | Floats | None = None
) -> Floats:
    """P(D <= d): the probability that a random record has a match within d ranks.

    Parameters
    ----------
    records, columns : int
        The size of the masked file, whose columns are in independent orders.
    distances : sequence of int, optional
        The distances d in ranks; by default 0 to `records` - 1.

    Returns
    -------
    array of float
        One probability per distance: exact for the average over all masked files with independent
        columns. For dependent columns it is the wrong reference, as is the simulation of the paper.

    Examples
    --------
    >>> random_match_probability(1000, 3, [5, 50]).round(4)
    array([0.0013, 0.6151])
    """
    if records < 1 or columns < 1:
        raise ParameterError("Parameters 'records' and 'columns' must be at least 1.")
    wanted_distances = np.arange(records) if distances is None else np.asarray(distances)
    if wanted_distances.size and wanted_distances.min() < 0:
        raise ParameterError("Parameter 'distances' must be at least 0.", parameter="distances")
    different, which = np.unique(wanted_distances.astype(np.int64), return_inverse=True)
    probabilities = np.ones(len(different))
    for i, distance in enumerate(different.tolist()):
        probabilities[i] = 1.0 - _none_within(records, columns, distance)
        if probabilities[i] == 1.0:  # every record matches, to the last digit, and so at larger distances
            break
    return np.asarray(np.maximum.accumulate(probabilities)[which.ravel()])


def _none_within(n: int, m: int, d: int) -> float:
    """P(D > d), the alternating sum of the module docstring."""
    if d >= n - 1:
        return 0.0
    c = min(2 * d + 1, n)
    matches = n * (c / n) ** m  # expected matches; terms grow to about exp(matches)
    if matches > _MAX_SUMMED_MATCHES:
        return _none_near_ends(n, m, d, c)
    with localcontext() as context:
        context.prec = 40 + int(matches / 2)
        return _alternating_sum(n, m, d, c)


def _none_near_ends(n: int, m: int, d: int, c: int) -> float:
    """The mean of exp(-expected matches), from the distribution of the sum of the log w's."""
    w = np.arange(d + 1, c + 1)
    weight = np.full(len(w), 2.0 / n)
    weight[-1] = (n - 2 * (c - 1 - d)) / n
    grid_position = (np.log(w) - np.log(d + 1)) * (_GRID_CELLS - 1) / np.log(c / (d + 1))
    cell = np.minimum(grid_position.astype(np.int64), _GRID_CELLS - 2)
    mass = np.bincount(cell, weight * (cell + 1 - grid_position), minlength=_GRID_CELLS)
    mass += np.bincount(cell + 1, weight * (grid_position - cell), minlength=_GRID_CELLS)
    size = m * (_GRID_CELLS - 1) + 1
    together = np.fft.irfft(np.fft.rfft(mass, 2 * size) ** m, 2 * size)[:size]
    step = np.log(c / (d + 1)) / (_GRID_CELLS - 1)
    matches = np.exp(np.log(n) + m * np.log((d + 1) / n) + step * np.arange(size))
    return float(np.clip((np.maximum(together, 0) * np.exp(-matches)).sum(), 0.0, 1.0))


def _alternating_sum(n: int, m: int, d: int, c: int) -> float:
    ends = n - 2 * (c - 1 - d)
    falling_c = Decimal(1)  # (c)_k
    falling_d = Decimal(1)  # (d+1)_k
    falling_n = Decimal(1)  # (n)_k
    choose = Decimal(1)  # C(n, k)
    total = Decimal(0)
    for k in range(c + 1):
        edge = 2 * (falling_c * (c - k) - falling_d * (d + 1 - k)) / (k + 1)
        term = choose * ((edge + ends * falling_c) / (n * falling_n)) ** m
        total += -term if k % 2 else term
        if term < _NEGLIGIBLE_TERM and k * n ** (m - 1) > c**m:
            break
        falling_c *= c - k
        falling_d *= d + 1 - k
        falling_n *= n - k
        choose = choose * (n - k) / (k + 1)
    return float(min(max(total, Decimal(0)), Decimal(1)))
