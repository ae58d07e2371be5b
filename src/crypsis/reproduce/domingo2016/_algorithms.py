"""Algorithms 1 to 3 of domingo2016, written down line by line and held against the library."""

from __future__ import annotations

import numpy as np

from crypsis import linkage
from crypsis.reproduce._judge import holds, same
from crypsis.reproduce._papers import Setting
from crypsis.reproduce._results import Item
from crypsis.reproduce.domingo2016 import _printed as printed

_TRIES = 100


def _algorithm_1(x: list[float], y: list[float]) -> list[float]:
    ordered_x, ordered_y = sorted(x), sorted(y)
    return [ordered_x[ordered_y.index(value)] for value in y]


def _algorithm_2(record: printed.Floats, masked: printed.Floats, row: int) -> tuple[int, ...]:
    found = []
    for j, value in enumerate(record):
        ordered = sorted(masked[:, j].tolist())
        nearest = min(ordered, key=lambda y, x=value: abs(y - x))  # type: ignore[misc]
        found.append(abs(ordered.index(masked[row, j]) - ordered.index(nearest)))
    return tuple(found)


def _algorithm_3(record: printed.Floats, masked: printed.Floats) -> set[int]:
    apart = [max(_algorithm_2(record, masked, row)) for row in range(len(masked))]
    d = 0
    while not any(one <= d for one in apart):
        d += 1
    return {row for row, one in enumerate(apart) if one <= d}


def _some_files(seed: int) -> list[tuple[printed.Floats, printed.Floats]]:
    rng = np.random.default_rng(seed)
    files = []
    for _ in range(_TRIES):
        shape = int(rng.integers(3, 25)), int(rng.integers(1, 4))
        x = rng.normal(size=shape)
        files.append((x, x + rng.normal(scale=rng.uniform(0.1, 2), size=shape)))
    return files


def algorithm_1(_: Setting) -> Item:
    """Reverse mapping."""
    agree = permuted = 0
    for x, y in _some_files(1):
        z = linkage.reverse_map(x, y)
        wanted = [_algorithm_1(a, b) for a, b in zip(x.T.tolist(), y.T.tolist(), strict=True)]
        agree += bool((np.array(wanted) == z.T).all())
        permuted += bool((np.sort(z, axis=0) == np.sort(x, axis=0)).all())
    z = linkage.reverse_map(printed.X, printed.Y)
    cells = (
        same("record 1: 103.69, masked 108.18, becomes", "108.21", f"{z[0, 0]:.2f}"),
        holds("line by line", "the same values", agree == _TRIES, f"{agree} of {_TRIES} files"),
        holds(
            "each column of Z",
            "permutes that of X",
            permuted == _TRIES,
            f"{permuted} of {_TRIES} files",
        ),
    )
    return Item("Algorithm 1", "Reverse mapping", cells)


def algorithm_2(_: Setting) -> Item:
    """Permutation distances of a record."""
    agree = 0
    for x, y in _some_files(2):
        rows = range(0, len(y), 5)
        agree += all(
            linkage.permutation_distances(x[0], y, mapping=row).distances
            == _algorithm_2(x[0], y, row)
            for row in rows
        )
    third = linkage.permutation_distances(printed.X[2], printed.Y, mapping=2).distances
    cells = (
        same("d of record 3, its own masked record", [5, 1, 9], third),
        holds("line by line", "the same distances", agree == _TRIES, f"{agree} of {_TRIES} files"),
    )
    return Item("Algorithm 2", "The permutation distances of a record", cells)


def algorithm_3(_: Setting) -> Item:
    """The record that the subject takes for hers."""
    agree = 0
    for x, y in _some_files(3):
        seen, wanted = linkage.permutation_distances(x[0], y), _algorithm_3(x[0], y)
        agree += seen.row in wanted and seen.candidates == len(wanted)
    third = linkage.permutation_distances(printed.X[2], printed.Y)
    cells = (
        same("f(x3)", 10, third.row + 1),
        holds("line by line", "the same record", agree == _TRIES, f"{agree} of {_TRIES} files"),
    )
    return Item("Algorithm 3", "The record that a subject takes for hers", cells)
