"""Permanents and edge probabilities by a dynamic program over the frontier of a matrix.

Columns are matched one by one, and states that agree on which rows are still free are one state
(`states`). Every term is positive, so nothing cancels: the relative error is a few units in the
last place per column. Forward sums times backward sums give the expected number of edges between
each class of rows and each class of columns, in one sweep each way. Time and memory go with the
number of states: small for band matrices and for intervals, at most 2^t for anything.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Ints
from crypsis.machine_code import kernel
from crypsis.pseudonyms.kernels.order import ColumnOrder, MergedMatrix, column_order, merge_identical
from crypsis.pseudonyms.kernels.states import column_step, key_layout, match_column

STATES = 20_000_000  # in all layers together, by default; a few gigabytes at worst


class Edges(NamedTuple):
    """The logarithm of the permanent, edge probabilities by class, and how many states it took."""

    log_permanent: float
    means: NDArray[np.float64]
    states: int


class _Layer(NamedTuple):
    """One column: the states before it, where each active row class leads, and the weights."""

    column: int
    keys: NDArray[np.int64]
    moves: NDArray[np.int32]
    active: Ints
    bits: NDArray[np.int64]


class FrontierStates(NamedTuple):
    """The states of a matrix, ready to be summed over: once built, used for every quantity."""

    kinds: MergedMatrix
    layers: list[_Layer]
    states: int


def build(
    matrix: NDArray[np.float64] | MergedMatrix, *, limit: int = STATES, way: ColumnOrder | None = None
) -> FrontierStates | None:
    """Lay out the states, or None where there are more than `limit` or they do not fit 63 bits."""
    kinds = matrix if isinstance(matrix, MergedMatrix) else merge_identical(matrix)
    support = kinds.weights > 0
    way = way or column_order(support, kinds.rows, kinds.columns)
    plan = None if way is None else key_layout(support[:, way.columns], kinds.rows)
    if way is None or plan is None:
        return None
    order = way.columns
    ordered, widths = support[:, order], kinds.columns[order]
    keys = np.zeros(1, dtype=np.int64)
    layers: list[_Layer] = []
    states = 1
    for position, column in enumerate(order):
        now = column_step(position, ordered, kinds.rows, widths, plan)
        active = np.stack([plan.shift[now.active], plan.mask[now.active]], axis=1)
        waiting = np.stack([plan.shift[now.waiting], plan.mask[now.waiting]], axis=1)
        keys = keys + now.opening
        for done in range(int(widths[position])):
            column_count = np.ones(keys.size, dtype=np.int32)
            new, _, moves = match_column(
                keys, column_count, 1, active, waiting, now.room, done, limit - states
            )
            if new.size == 0:
                return None
            layers.append(_Layer(int(column), keys, moves, now.active, active))
            keys = new
            states += new.size
    return FrontierStates(kinds, layers, states)


def edges(frontier: FrontierStates) -> Edges:
    """The permanent and all edge probabilities, forward and backward once each.

    >>> found = edges(build(np.tri(4, k=1)))
    >>> round(math.exp(found.log_permanent)), found.means[0].round(3)
    (8, array([0.5, 0. , 0. ]))
    """
    kinds, layers = frontier.kinds, frontier.layers
    forward = [np.ones(1)]
    logarithm = 0.0
    for layer in layers:
        weights = kinds.weights[layer.active, layer.column]
        size = layer.moves.max() + 1
        values = _forward(layer.keys, layer.moves, layer.bits, weights, forward[-1], size)
        total = values.sum()
        logarithm += math.log(total)
        forward.append(values / total)
    expected = np.zeros_like(kinds.weights)
    backward = np.ones(forward[-1].size)
    for layer, before in zip(reversed(layers), reversed(forward[:-1]), strict=True):
        weights = kinds.weights[layer.active, layer.column]
        share, backward = _backward(layer.keys, layer.moves, layer.bits, weights, before, backward)
        expected[layer.active, layer.column] += share / share.sum()
        backward /= backward.max()
    # The last state of all has every row matched; states that got stuck never reach it.
    expected /= kinds.rows[:, None] * kinds.columns
    return Edges(logarithm, expected, frontier.states)


def count(frontier: FrontierStates, log_bound: float) -> int:
    """The permanent of a 0-1 matrix as an exact integer, from residues (Chinese remainders).

    `log_bound` is the logarithm of a bound of the permanent; it decides how many residues.
    """
    bits = 62 - int(frontier.kinds.rows.max()).bit_length()
    moduli = _coprime_moduli(bits, int(log_bound / math.log(2)) + 2)
    values = np.ones((1, len(moduli)), dtype=np.int64)
    each = np.array(moduli, dtype=np.int64)
    for layer in frontier.layers:
        size = layer.moves.max() + 1
        values = _forward_residues(layer.keys, layer.moves, layer.bits, values, each, size)
    total, product = 0, math.prod(moduli)
    for residue, modulus in zip(values[0], moduli, strict=True):
        rest = product // modulus
        total += int(residue) * rest * pow(rest, -1, modulus)
    return total % product


def _coprime_moduli(bits: int, needed: int) -> list[int]:
    """Pairwise coprime moduli just below 2^bits whose product has more than `needed` bits."""
    moduli: list[int] = []
    candidate = (1 << bits) - 1
    while sum(modulus.bit_length() - 1 for modulus in moduli) <= needed:
        if all(math.gcd(candidate, modulus) == 1 for modulus in moduli):
            moduli.append(candidate)
        candidate -= 2
    return moduli


@kernel
def _forward(keys, moves, bits, weights, before, size):  # type: ignore[no-untyped-def]
    after = np.zeros(size)
    for state in range(keys.size):
        for a in range(weights.size):
            new = moves[state, a]
            if new >= 0:
                free = (keys[state] >> bits[a, 0]) & bits[a, 1]
                after[new] += before[state] * free * weights[a]
    return after


@kernel
def _backward(keys, moves, bits, weights, before, after):  # type: ignore[no-untyped-def]
    """Backward sums of the layer before, and the share of each active class in this column."""
    share = np.zeros(weights.size)
    sums = np.zeros(keys.size)
    for state in range(keys.size):
        for a in range(weights.size):
            new = moves[state, a]
            if new >= 0:
                free = (keys[state] >> bits[a, 0]) & bits[a, 1]
                part = free * weights[a] * after[new]
                sums[state] += part
                share[a] += before[state] * part
    return share, sums


@kernel
def _forward_residues(keys, moves, bits, before, moduli, size):  # type: ignore[no-untyped-def]
    after = np.zeros((size, moduli.size), dtype=np.int64)
    for state in range(keys.size):
        for a in range(bits.shape[0]):
            new = moves[state, a]
            if new >= 0:
                free = (keys[state] >> bits[a, 0]) & bits[a, 1]
                for m in range(moduli.size):
                    after[new, m] = (after[new, m] + before[state, m] * free) % moduli[m]
    return after
