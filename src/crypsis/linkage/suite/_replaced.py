"""Values as the masking replaced them: what each original value became, learned from true matches.

Codes that are exchanged for other codes, a number that is permuted among its values, a randomized
answer: whatever became of a value that several records have, an intruder who knows the masking, or
compares the frequencies in both files, knows it. What became of a value that nobody else has is not
learned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage.suite._fields import RANDOM_COORDINATES
from crypsis.linkage.suite._files import Files
from crypsis.linkage.suite.kernels.near_codes import nearest_by_codes
from crypsis.threads import map_threads

_MIN_KNOWN_MATCHES = 20
"""With fewer known matches of a half nothing is learned."""
_NEAREST_PLACES = 12
"""Places of each target that are nearest to what its values became."""
_TARGETS_AT_ONCE = 128
"""Targets whose near records a thread looks for at a time."""
_MAX_DISTINCT_SHARE = 0.9
"""What values of columns that have more distinct ones became is hardly learned."""


@dataclass(frozen=True, eq=False)
class _Replacement:
    """One column: the codes of both files, and the pairs of codes that were learned."""

    original: Ints
    masked: Ints
    pair: Ints
    weight: Floats
    """The logarithm of how much likelier the masked code is for the original one, for each pair."""
    other: Floats
    """The same for masked codes that the original one never became."""
    expected: tuple[Floats, Floats]
    """The mean coordinates of what each original code became, and those of the masked codes."""

    def score(self, rows: Ints, places: Ints) -> Floats:
        original_code, two = self.original[rows], self.masked[places]
        key = original_code * (int(self.masked.max()) + 1) + two
        at = np.minimum(np.searchsorted(self.pair, key), len(self.pair) - 1)
        return np.where(self.pair[at] == key, self.weight[at], self.other[original_code])


@dataclass(frozen=True, eq=False)
class Replacements:
    """For some targets: what the other half shows of each column."""

    some: Ints
    columns: tuple[_Replacement, ...]

    def score(self, rows: Ints, places: Ints) -> Floats:
        """The logarithm of the likelihood ratio of pairs of an original row and a place."""
        return np.asarray(sum(column.score(rows, places) for column in self.columns))

    def near(self, files: Files) -> tuple[Ints, Ints]:
        """Pairs of targets and the places that are nearest to what their values became."""
        rows = files.targets[self.some]
        columns = sorted(self.columns, key=lambda column: -len(column.expected[1]))  # the far are left soon
        expected, points = (np.concatenate([column.expected[i] for column in columns]) for i in (0, 1))
        before = np.cumsum([0, *(len(column.expected[0]) for column in columns)])
        first = np.cumsum([0, *(len(column.expected[1]) for column in columns)])
        codes_wanted = np.column_stack([column.original[rows] for column in columns]) + before[:-1]
        codes = (np.column_stack([column.masked for column in columns]) + first[:-1]).astype(np.int32)
        nearest_places = np.empty((len(rows), min(_NEAREST_PLACES, len(codes))), np.int64)
        map_threads(
            lambda at: nearest_by_codes(
                expected,
                codes_wanted[at : at + _TARGETS_AT_ONCE],
                points,
                first,
                codes,
                nearest_places[at : at + _TARGETS_AT_ONCE],
            ),
            range(0, len(rows), _TARGETS_AT_ONCE),
        )
        return np.repeat(self.some, nearest_places.shape[1]), nearest_places.ravel()


def replaced(files: Files) -> list[Replacements]:
    """For each half of the targets what the other half shows; nothing if few are known."""
    coded_fields = [pair for field in files.fields if (pair := field.coded()) is not None]
    coded = [(x, y) for x, y in coded_fields if len(np.unique(x)) <= _MAX_DISTINCT_SHARE * len(x)]
    replacements = []
    for half in (0, 1):
        learn = files.known[files.fold[files.known] != half]
        if len(learn) < _MIN_KNOWN_MATCHES or files.own is None or not coded:
            return []
        rows, masked_rows = files.targets[learn], files.own[learn]
        targets_of_half = np.flatnonzero(files.fold == half)
        columns = tuple(
            _learned(x, y, rows, masked_rows, (files.seed, 28, i)) for i, (x, y) in enumerate(coded)
        )
        replacements.append(Replacements(targets_of_half, columns))
    return replacements


def _learned(x: Ints, y: Ints, rows: Ints, masked_rows: Ints, seed: tuple[int, ...]) -> _Replacement:
    """What the codes of some rows became, each counted with one record at random beside it."""
    many = int(y.max()) + 1
    pair, counts = np.unique(x[rows] * many + y[masked_rows], return_counts=True)
    times = np.bincount(x[rows], minlength=int(x.max()) + 1)
    share = np.bincount(y[masked_rows], minlength=many) / len(masked_rows)
    original_code, two = np.divmod(pair, many)
    weight = np.log((counts + share[two]) / (times[original_code] + 1) / share[two])
    points = np.random.default_rng(seed).normal(size=(many, RANDOM_COORDINATES))
    mean = np.zeros((len(times), RANDOM_COORDINATES))
    np.add.at(mean, original_code, counts[:, None] * points[two])
    mean /= np.maximum(times, 1)[:, None]
    return _Replacement(x, y, pair, weight, -np.log(times + 1.0), (mean, points))
