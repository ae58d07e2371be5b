"""How many values each column has and how they repeat: counted, or on very many rows estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crypsis import progress
from crypsis.cells import Cells
from crypsis.engine import Tally
from crypsis.engine.large import LOOK_ROWS, SampledSizes, sampled_sizes, sketches
from crypsis.errors import InputError, TooLarge
from crypsis.estimates import group_total, singleton_total
from crypsis.release import Release
from crypsis.results import Estimate, Number

EXACT_ROWS = 20_000_000
"""Up to so many rows every column is counted."""
EXACT_VALUES = 5_000_000
"""Of more rows, columns with about so many values are still counted."""
_SEEN = 200_000


@dataclass(frozen=True)
class EstimatedTally(Tally):
    """A tally whose `distinct`, `singletons` and sizes are estimates; the rest is counted."""

    about: Estimate
    """The number of values, missing left out."""
    alone: Estimate
    """The number of rows whose value no other row has."""
    estimated: ClassVar[bool] = True


def tallies(
    release: Release, names: Sequence[str], *, exact: bool = False, seed: int = 0
) -> dict[str, Tally]:
    """A tally for each column.

    Of up to 20 million rows, or with `exact`, every column is grouped by the engine: one pass each.
    Of more rows the columns that the cells of quasi-identifiers and sensitive columns hold are told
    from those, which the questions need anyway. A column that hardly repeats in the first million
    rows gets an estimate from a hash sample of its values, marked as such (`EstimatedTally`). The
    others are sketched together in one pass (HyperLogLog); where that shows some million values or
    fewer they are counted, else estimated.
    """
    if exact or release.count <= EXACT_ROWS:
        return {name: release.rows.tally([name]) for name in progress.track(names, _WHAT)}
    found = _from_cells(release, names)
    for name in names:
        if name not in found and (tally := _like_a_key(release, name, seed)) is not None:
            found[name] = tally
    rest = [name for name in names if name not in found]
    if rest:
        looks = sketches(release.rows, [[name] for name in rest])
        for name, look in zip(progress.track(rest, _WHAT), looks, strict=True):
            found[name] = tally_of(release, (name,), look.distinct, look.missing, seed=seed)
    return {name: found[name] for name in names}


def _like_a_key(release: Release, name: str, seed: int) -> Tally | None:
    """An estimate for a column whose first rows hardly repeat; None for any other."""
    look = release.rows.tally_first(name, LOOK_ROWS)
    expected = release.count * look.distinct / max(1, look.rows)
    if look.singletons < look.rows / 2 or expected <= EXACT_VALUES:
        return None
    share = min(1.0, _SEEN / expected)
    sample = sampled_sizes(release.rows, [name], share, drop_missing=True, seed=seed)
    if sample.seen < _SEEN / 20:  # the first rows are not like the others
        return None
    return _estimated(sample, release.count, sample.missing or 0)


def tally_of(
    release: Release, names: Sequence[str], expected: float, missing: int, *, seed: int = 0
) -> Tally:
    """Columns together: counted where about so many combinations are expected, else estimated."""
    if expected <= EXACT_VALUES:
        return release.rows.tally(names)
    share = min(1.0, _SEEN / expected)
    sample = sampled_sizes(release.rows, names, share, drop_missing=True, seed=seed)
    return _estimated(sample, release.count, missing)


def values_of(tally: Tally) -> Number:
    """The number of values of a column, missing left out."""
    return (
        tally.about if isinstance(tally, EstimatedTally) else tally.distinct - (tally.missing > 0)
    )


def unique_of(tally: Tally) -> Number:
    """The number of rows whose value no other row has."""
    return tally.alone if isinstance(tally, EstimatedTally) else tally.singletons


_WHAT = "looking at columns"


def _estimated(sample: SampledSizes, rows: int, missing: int) -> EstimatedTally:
    filled = rows - missing
    about, alone = (_at_most(find(sample), filled) for find in (group_total, singleton_total))
    if sample.seen and int(sample.sizes[-1]) == 1:  # none of those seen repeats: likely none does
        about, alone = (
            Estimate(filled, one.low, filled, one.confidence, one.method) for one in (about, alone)
        )
    sizes = sample.sizes if sample.seen else np.zeros(1, np.int64)
    return EstimatedTally(
        rows, round(about.value) + (missing > 0), round(alone.value), 0,
        int(sizes[0]), int(sizes[-1]), missing, about, alone,
    )  # fmt: skip


def _at_most(number: Number, most: int) -> Estimate:
    if not isinstance(number, Estimate):
        return Estimate(number, number, number, method="counted in full")
    value, low, high = (min(float(most), x) for x in (number.value, number.low, number.high))
    return Estimate(value, low, high, number.confidence, number.method)


def _from_cells(release: Release, names: Sequence[str]) -> dict[str, Tally]:
    """Tallies of the columns whose cells are needed anyway."""
    needed = (*release.quasi_identifiers, *release.sensitive)
    if not needed:
        return {}
    try:
        cells = release.cells(needed)
    except (InputError, TooLarge):
        return {}
    return {name: _tally(cells.marginal((name,))) for name in names if name in needed}


def _tally(cells: Cells) -> Tally:
    counts = cells.counts
    missing = counts[cells._blank[0]].sum()
    return Tally(
        int(counts.sum()), counts.size, int((counts == 1).sum()), int((counts == 2).sum()),
        int(counts.min(initial=int(counts.sum()))), int(counts.max(initial=0)), int(missing),
    )  # fmt: skip
