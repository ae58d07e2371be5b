"""Links by the digits, or the time of day, that masking by multiples of a step leaves as they are."""

from __future__ import annotations

import numpy as np

from crypsis.counting.grouping import numbered
from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage.suite._fields import NumberField
from crypsis.linkage.suite._files import Files

_MAX_DECIMALS = 6
"""Numbers with more decimals have no residues."""
_LARGEST_WHOLE = 2.0**53
"""Beyond this not every whole number is a double."""
_MIN_CHANGES = 20
"""With fewer changed values no step is sought."""
_CHANGES_PER_DIVISOR = 6
"""Changes, drawn at random, of which each greatest common divisor is taken."""
_DIVISORS = 64
"""The most frequent of so many divisors is the step."""
_MIN_MULTIPLES_SHARE = 0.8
"""If fewer changes are multiples of the step, there is none."""


def residue_links(files: Files) -> tuple[Ints, tuple[str, ...]] | None:
    """A place with the residues of each target, one at random; None if no residues stayed.

    Noise in thousands changes no last three digits, and a shift by days no time of day.
    """
    names: list[str] = []
    x, y = np.zeros(files.originals, np.int64), np.zeros(len(files.sizes), np.int64)
    for number in files.numbers:
        residues = _residues(number, files)
        if residues is not None:
            names.append(number.name)
            both = numbered(np.concatenate([x, y]))
            both = numbered(both * (int(residues.max()) + 1) + residues)
            x, y = both[: x.size], both[x.size :]
    if not names:
        return None
    places = np.random.default_rng((files.seed, 29)).permutation(y.size)
    of_code = np.full(int(max(x.max(), y.max())) + 1, -1, np.int64)
    of_code[y[places]] = places
    return of_code[x[files.targets]], tuple(names)


def _residues(number_field: NumberField, files: Files) -> Ints | None:
    """The residues of all originals and then of all places, as codes; None if none stayed."""
    assert files.own is not None  # noqa: S101 - asked by the caller
    numbers = np.concatenate([number_field.values, number_field.low])
    present = np.concatenate([~number_field.lost, ~number_field.lost_masked]) & np.isfinite(numbers)
    scale = _scale(numbers[present])
    if scale is None or number_field.wide.any():
        return None
    whole = np.rint(np.where(present, numbers, 0.0) * scale).astype(np.int64)
    rows, places = files.targets[files.known], files.own[files.known] + len(number_field.values)
    both = present[rows] & present[places]
    step = _step(np.abs(whole[rows] - whole[places])[both], files.seed)
    residues = whole % step
    if np.unique(residues[present]).size < 2:
        return None
    return numbered(np.where(present, residues, -1))


def _scale(numbers: Floats) -> float | None:
    """The power of ten that makes all numbers whole; None if there is none."""
    for decimals in range(_MAX_DECIMALS + 1):
        scaled = numbers * 10.0**decimals
        if np.abs(scaled).max(initial=0.0) > _LARGEST_WHOLE:
            return None
        if (np.abs(scaled - np.rint(scaled)) < 1e-6 * np.maximum(1.0, np.abs(scaled) * 1e-6)).all():
            return 10.0**decimals
    return None


def _step(changes: Ints, seed: int) -> int:
    """The number of which nearly all changes are multiples: 1 if there is no other."""
    changes = changes[changes > 0]
    if changes.size < _MIN_CHANGES:
        return 1
    drawn = np.random.default_rng((seed, 31)).choice(changes, (_DIVISORS, _CHANGES_PER_DIVISOR))
    steps, counts = np.unique(np.gcd.reduce(drawn, axis=1), return_counts=True)
    step = int(steps[np.argmax(counts)])
    return step if (changes % step == 0).mean() >= _MIN_MULTIPLES_SHARE else 1
