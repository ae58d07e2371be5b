"""Matchings drawn at random by a Markov chain.

The chain moves from one perfect matching to another through a hole. An item lets go of its
pseudonym j; the free item k then takes a pseudonym l with probability proportional to its row,
which frees the item that had l, and so on until a free item takes j. Between perfect matchings this
is reversible with respect to the product of the cells: a state "k free, j open, rest M" has weight
(row sum of k) * w(M), every step between such states and both ends of the walk are in detailed
balance. A walk read backwards begins with the same j and is as long as forwards. So j may be chosen
by any fixed distribution, and walks beyond a length that depends on j alone may be refused. All
matchings of an irreducible block can be reached, whatever its zeros.

On a doubly stochastic matrix a walk from any j takes as many steps as there are rows, on average.
Where some items have few possible pseudonyms and most have thousands, walks from a random j rarely
come to the few, which have most of the cracks; and a walk from there usually comes back soon, or
else is lost among the many. So besides `walks` from a random j there are `visits`: short walks from
a j chosen in proportion to the square of sum_i p_ij^2 (one over the number of its items).

A `table` is as in `sampler`: the chain draws a kind of column and then one of its columns. Every
chain has a random stream of its own, so results depend on the seed alone and not on the number of
threads.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from crypsis.machine_code import kernel

LONGEST = 20
"""Walks of more steps than so many times the number of rows are refused."""


@kernel
def uniform(stream):  # type: ignore[no-untyped-def]
    """The next number in [0, 1) of a stream (Steele, Lea and Flood 2014, SplitMix64)."""
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = stream[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = bits ^ (bits >> np.uint64(31))
    return (bits >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def draw_place(cumulative, begin, end, at):  # type: ignore[no-untyped-def]
    """The first place in [begin, end) whose cumulative share exceeds `at` of the total."""
    goal = at * cumulative[end - 1]
    low, high = begin, end - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > goal:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _walk(of_row, of_column, table, cumulative, hole, longest, path, stream):  # type: ignore[no-untyped-def]
    """One walk of the hole: its steps, negative (and nothing changed) where it grew too long."""
    starts, indices, _, row_kind, _, first, members = table
    begin = item = of_column[hole]
    for step in range(longest):
        kind = row_kind[item]
        chosen = indices[draw_place(cumulative, starts[kind], starts[kind + 1], uniform(stream))]
        among = first[chosen + 1] - first[chosen]
        position = first[chosen]
        if among > 1:
            position += min(int(uniform(stream) * among), among - 1)
        column = members[position]
        if column == hole:
            of_row[item] = hole
            of_column[hole] = item
            return step + 1
        pushed = of_column[column]
        of_row[item] = column
        of_column[column] = item
        path[0, step] = pushed
        path[1, step] = column
        item = pushed
    for step in range(longest - 1, -1, -1):
        of_row[path[0, step]] = path[1, step]
        of_column[path[1, step]] = path[0, step]
    of_row[begin] = hole
    of_column[hole] = begin
    return -longest


@kernel(parallel=True)
def run_chains(matchings, streams, table, cumulative, holes, draws, walks, visits):  # type: ignore[no-untyped-def]
    """Carry every chain on; `matchings` and `streams` (one row a chain) are updated in place.

    `holes` are the cumulative shares of the kinds of columns in what visits start from, and the
    steps after which a visit is refused. Returns the matchings after each `walks` walks and `visits`
    visits, the number of walks that were refused, and the steps of all visits.
    """
    chains, size = matchings.shape
    first, members = table[5], table[6]
    shares, limits = holes
    longest = LONGEST * size
    drawn = np.empty((chains, draws, size), dtype=np.int32)
    refused = np.zeros(chains, dtype=np.int64)
    steps = np.zeros(chains, dtype=np.int64)
    for chain in prange(chains):
        stream, of_row = streams[chain], matchings[chain]
        of_column = np.empty(size, dtype=np.int64)
        path = np.empty((2, max(longest, limits.max())), dtype=np.int32)
        for row in range(size):
            of_column[of_row[row]] = row
        for draw in range(draws):
            for _ in range(visits):
                kind = draw_place(shares, 0, shares.size, uniform(stream))
                among = first[kind + 1] - first[kind]
                hole = members[first[kind] + min(int(uniform(stream) * among), among - 1)]
                steps[chain] += abs(
                    _walk(of_row, of_column, table, cumulative, hole, limits[kind], path, stream)
                )
            for _ in range(walks):
                hole = min(int(uniform(stream) * size), size - 1)
                if _walk(of_row, of_column, table, cumulative, hole, longest, path, stream) < 0:
                    refused[chain] += 1
            drawn[chain, draw] = of_row
    return drawn, refused, steps
