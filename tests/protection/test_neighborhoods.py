"""Neighborhoods divided again: valid, never worse, and mostly the best of all divisions."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.protection import PrivacyRequirements
from crypsis.protection.recoding._class_requirements import ClassRequirements
from crypsis.protection.recoding._exact import MAX_CELLS, best_classes
from crypsis.protection.recoding._levels import CellLevels, Recoding
from crypsis.protection.recoding._neighborhoods import divided_again
from crypsis.protection.recoding._search import _TopDown
from tests.protection.test_local_search import classes, cost, one_class, table

K = 4


def divided(cells: CellLevels, start: Recoding, *, turn: int = 0, work: int = 10**9) -> Recoding:
    left = np.array([work])
    return divided_again(cells, cells.loss, K, start, left, turn=turn)


def split(cells: CellLevels) -> Recoding:
    """Classes to begin with: those of the search from the top down."""
    search = _TopDown(cells, ClassRequirements(PrivacyRequirements(k=K)))
    return search.recoding(search.split(search.start(), np.zeros_like(cells.tops)))


def test_few_cells_are_mostly_divided_in_the_best_way_and_never_below_it() -> None:
    compared = best = 0
    tables = [table(seed, MAX_CELLS)[0] for seed in range(40)]
    for cells in tables:
        every = int(cells.counts.sum())
        exact = best_classes(cells, ClassRequirements(PrivacyRequirements(k=K)), every)
        assert exact is not None
        found = divided(cells, one_class(cells))
        if not exact.suppressed_records:  # dividing suppresses none
            assert found.ncp >= exact.ncp - 1e-9
            compared += 1
            best += found.ncp <= exact.ncp + 1e-6
    assert compared == 20
    assert best >= 17


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_classes_have_k_records_and_lose_no_more(seed: int, turn: int) -> None:
    cells, _ = table(seed, 300)
    start = split(cells)
    found = divided(cells, start, turn=turn)
    assert found.ncp < start.ncp
    again = divided(cells, found, turn=turn + 1)
    assert again.ncp <= found.ncp
    released = classes(cells, again.levels)
    assert sum(map(len, released.values())) == cells.counts.size
    assert min(int(cells.counts[own].sum()) for own in released.values()) >= K
    lost = sum(cost(cells, own) for own in released.values())  # on the lowest levels
    most = again.ncp * cells.counts.sum() * len(cells.columns)
    assert 0.99 * most <= lost <= most * (1 + 1e-6)  # single moves, which follow, lower the rest


def test_without_work_nothing_changes_and_suppressed_records_stay_so() -> None:
    cells, _ = table(0, 300)
    start = split(cells)
    assert divided(cells, start, work=0) is start
    out = cells.class_of(start.levels) == 0
    found = divided(cells, cells.recoding(np.where(out[:, None], -1, start.levels)))
    assert found.ncp < start.ncp + out.sum()
    assert ((found.levels[:, 0] == -1) == out).all()
