"""Algorithms 1 to 3 of domingo2016, written out line by line and compared with the library."""

from __future__ import annotations

import numpy as np

from crypsis import linkage
from papers.comparison import claim, same
from papers.domingo2016 import printed
from papers.results import RunSettings, Values, paper_item

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


@paper_item("Algorithm 1", "Reverse mapping")
def algorithm_1(_: RunSettings) -> Values:
    agree = permuted = 0
    for x, y in _some_files(1):
        z = linkage.reverse_map(x, y)
        wanted = [_algorithm_1(a, b) for a, b in zip(x.T.tolist(), y.T.tolist(), strict=True)]
        agree += bool((np.array(wanted) == z.T).all())
        permuted += bool((np.sort(z, axis=0) == np.sort(x, axis=0)).all())
    z = linkage.reverse_map(printed.X, printed.Y)
    return (
        same("record 1: 103.69, masked 108.18, becomes", "108.21", f"{z[0, 0]:.2f}"),
        claim("line by line", "the same values", agree == _TRIES, f"{agree} of {_TRIES} files"),
        claim("each column of Z", "permutes that of X", permuted == _TRIES, f"{permuted} of {_TRIES} files"),
    )


@paper_item("Algorithm 2", "The permutation distances of a record")
def algorithm_2(_: RunSettings) -> Values:
    agree = 0
    for x, y in _some_files(2):
        rows = range(0, len(y), 5)
        agree += all(
            linkage.verify_record(y, x[0], mapping=row).distances == _algorithm_2(x[0], y, row)
            for row in rows
        )
    third = linkage.verify_record(printed.Y, printed.X[2], mapping=2).distances
    return (
        same("d of record 3, its own masked record", printed.PROTECTOR_DISTANCES, third),
        claim("line by line", "the same distances", agree == _TRIES, f"{agree} of {_TRIES} files"),
    )


@paper_item("Algorithm 3", "The record that a data subject takes for their own")
def algorithm_3(_: RunSettings) -> Values:
    agree = 0
    for x, y in _some_files(3):
        seen, wanted = linkage.verify_record(y, x[0]), _algorithm_3(x[0], y)
        agree += seen.row in wanted and seen.candidates == len(wanted)
    third = linkage.verify_record(printed.Y, printed.X[2])
    return (
        same("f(x3)", printed.NEAREST_RECORD, third.row + 1),
        claim("line by line", "the same record", agree == _TRIES, f"{agree} of {_TRIES} files"),
    )
