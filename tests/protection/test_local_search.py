"""The local search: never worse, always within the requirements, and no single move is left."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from typing import Any

import numpy as np
import pytest

from crypsis.protection import PrivacyRequirements
from crypsis.protection.recoding import _search
from crypsis.protection.recoding._class_requirements import ClassRequirements, SensitiveColumn
from crypsis.protection.recoding._full_domain import full_domain_recoding
from crypsis.protection.recoding._lattice import blocks, visits
from crypsis.protection.recoding._levels import CellLevels, ColumnLevels, Recoding
from crypsis.protection.recoding._local_search import improved
from crypsis.protection.recoding._search import _swept, _TopDown, local_recoding
from crypsis.protection.recoding.kernels.blocks import BLOCK
from crypsis.protection.recoding.kernels.sweep import sweep
from tests.cases import first_of

BITS = 3  # a column has eight values, the levels are pairs, fours, and missing


def column(name: str, missing: bool) -> ColumnLevels:
    """A binary hierarchy over eight values, and perhaps a missing value behind them."""
    values = [*range(2**BITS), *([None] if missing else [])]
    labels, codes, loss = [], [], []
    for level in range(BITS):
        own: list[Any] = [None if v is None else (level, v >> level) for v in values]
        every = list(dict.fromkeys(own))
        labels.append(tuple(every))
        codes.append([every.index(label) for label in own])
        loss.append([0.0 if v is None or level == 0 else 2**level / 2**BITS for v in values])
    labels.append((None,))
    codes.append([0] * len(values))
    loss.append([0.0 if v is None else 1.0 for v in values])
    return ColumnLevels(name, tuple(labels), np.array(codes, np.int32), np.array(loss))


def table(seed: int, cells: int = 60) -> tuple[CellLevels, SensitiveColumn]:
    """Cells of three columns and a sensitive attribute of three values."""
    draw = np.random.default_rng(seed)
    columns = tuple(column(name, missing) for name, missing in zip("abc", (True, False, True), strict=True))
    drawn = [draw.integers(0, len(one.codes[0]), cells) for one in columns]
    places = np.unique(np.column_stack(drawn), axis=0)
    counts = draw.integers(1, 4, len(places)).astype(np.int64)
    of_row = np.repeat(np.arange(len(places)), counts)
    value = (draw.random(of_row.size) ** 2 * 3).astype(np.int64)
    tally = Counter(zip(of_row.tolist(), value.tolist(), strict=True))
    cell, code = (np.array([key[i] for key in tally]) for i in range(2))
    secret = SensitiveColumn(cell, code, np.array(list(tally.values())), 3, False)
    return CellLevels(columns, tuple(places.T.astype(np.int32)), counts), secret


def classes(cells: CellLevels, levels: Any) -> dict[Any, list[int]]:
    """The cells of each class, by the labels that a recipient sees."""
    found = defaultdict(list)
    for cell in range(cells.counts.size):
        if levels[cell, 0] >= 0:
            key = tuple(
                one.labels[levels[cell, c]][one.codes[levels[cell, c], cells.places[c][cell]]]
                for c, one in enumerate(cells.columns)
            )
            found[key].append(cell)
    return dict(found)


def cost(cells: CellLevels, members: list[int]) -> float:
    """The loss of a class on the lowest levels on which its cells have the same labels."""
    total = 0.0
    for c, one in enumerate(cells.columns):
        place = [int(cells.places[c][cell]) for cell in members]
        level = next(n for n in range(one.top + 1) if len({int(one.codes[n, p]) for p in place}) == 1)
        total += sum(one.loss[level, p] * cells.counts[m] for p, m in zip(place, members, strict=True))
    return total


def meets(cells: CellLevels, secret: SensitiveColumn, members: list[int], asked: Any) -> bool:
    rows = sum(int(cells.counts[cell]) for cell in members)
    there: Counter[int] = Counter()
    for cell, code, count in zip(secret.cell, secret.code, secret.count, strict=True):
        if cell in members:
            there[int(code)] += int(count)
    if rows < (asked.k or 1) or len(there) < (asked.diversity or 1):
        return False
    apart = sum(abs(there[v] / rows - secret.shares[v]) for v in range(3)) / 2
    return asked.closeness is None or apart <= asked.closeness + 1e-9


REQUIREMENTS = {
    "k": PrivacyRequirements(k=4),
    "l": PrivacyRequirements(k=3, diversity=2),
    "t": PrivacyRequirements(k=3, closeness=0.3),
}


@pytest.mark.parametrize("name", REQUIREMENTS)
@pytest.mark.parametrize("seed", first_of(range(8), 3))
def test_every_class_meets_the_requirements_and_the_loss_is_that_of_the_labels(name: str, seed: int) -> None:
    cells, secret = table(seed)
    asked = ClassRequirements(REQUIREMENTS[name], (secret,))
    found = local_recoding(cells, asked, 0)
    assert found.rows_touched == 0
    released = classes(cells, found.levels)
    assert all(meets(cells, secret, members, REQUIREMENTS[name]) for members in released.values())
    total = sum(cost(cells, members) for members in released.values())
    assert found.ncp >= total / cells.counts.sum() / 3 - 1e-6  # no label is finer than its class
    optimum = full_domain_recoding(cells, asked, int(cells.counts.sum()) // 20)
    within = local_recoding(cells, asked, int(cells.counts.sum()) // 20)
    assert within.ncp <= min(found.ncp, optimum.ncp) + 1e-9


def test_visits_are_left_out_only_where_there_would_be_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first visits are those of the least loss, and look at the most cells."""
    cells, _ = table(3, 400)
    search = _TopDown(cells, ClassRequirements(PrivacyRequirements(k=4)))
    every = _swept(search, True, np.inf)
    monkeypatch.setattr(_search, "_MAX_WORK", cells.counts.size * len(visits(cells)[0]) // 4)
    assert np.array_equal(_swept(search, True, np.inf)[0], every[0])
    monkeypatch.setattr(_search, "_MAX_WORK", cells.counts.size)
    few = _swept(search, True, np.inf)
    assert search.on_levels(few[-1]).ncp > search.on_levels(every[-1]).ncp


@pytest.mark.parametrize("name", REQUIREMENTS)
@pytest.mark.parametrize("seed", range(8))
def test_no_cell_can_be_moved_to_save_anything(name: str, seed: int) -> None:
    """Every single move is tried by brute force, and none lowers the loss."""
    cells, secret = table(seed)
    asked = ClassRequirements(REQUIREMENTS[name], (secret,))
    start = one_class(cells)
    found = improved(cells, asked, split_in_two(cells, asked, start))
    assert found.ncp <= start.ncp
    least = -1e-6 * cells.counts.sum() * 3 - 1e-3 * start.ncp
    assert best_move(cells, secret, found, REQUIREMENTS[name]) >= least


@pytest.mark.parametrize("name", ["k", "l"])
def test_nor_among_many_classes_which_are_looked_at_by_the_block(name: str) -> None:
    cells, secret = table(1, 300)
    asked = ClassRequirements(REQUIREMENTS[name], (secret,))
    search = _TopDown(cells, asked)
    start = search.recoding(search.split(search.start(), np.zeros_like(cells.tops)))
    found = improved(cells, asked, start, to_the_end=True)
    assert found.ncp < start.ncp
    assert len(classes(cells, found.levels)) > 2 * BLOCK
    assert best_move(cells, secret, found, REQUIREMENTS[name]) >= -1e-4


def best_move(cells: CellLevels, secret: SensitiveColumn, found: Recoding, asked: Any) -> float:
    """The least change of the loss if one cell leaves its class for another, by brute force."""
    released = list(classes(cells, found.levels).values())
    paid, best = [cost(cells, own) for own in released], 0.0
    for place, own in enumerate(released):
        for cell in own:
            rest = [other for other in own if other != cell]
            if rest and not meets(cells, secret, rest, asked):
                continue
            left = (cost(cells, rest) if rest else 0.0) - paid[place]
            for other, there in enumerate(released):
                change = left + cost(cells, [*there, cell]) - paid[other]
                if other != place and change < best and meets(cells, secret, [*there, cell], asked):
                    best = change
    return best


def one_class(cells: CellLevels) -> Recoding:
    return cells.recoding(np.tile(cells.tops, (cells.counts.size, 1)).astype(np.int16))


def split_in_two(cells: CellLevels, asked: ClassRequirements, whole: Recoding) -> Recoding:
    """Classes to begin with: a column on its halves if that meets the requirements."""
    for c in range(len(cells.columns)):
        levels = whole.levels.copy()
        levels[:, c] -= 1
        found = classes(cells, levels)
        secret = asked.sensitive[0]
        if all(meets(cells, secret, own, asked.requirements) for own in found.values()):
            return cells.recoding(levels)
    return whole


def test_cells_of_one_value_join_diverse_classes() -> None:
    """Four records of one sensitive value need not be generalized with everybody else."""
    one = column("a", False)
    cells = CellLevels((one,), (np.arange(8, dtype=np.int32),), np.full(8, 4, np.int64))
    cell = np.repeat(np.arange(8), 2)[:-1]
    code = np.array([0, 1] * 8)[:-1]  # the last cell has one value only
    secret = SensitiveColumn(cell, code, np.array([2] * 14 + [4]), 2, False)
    asked = ClassRequirements(PrivacyRequirements(k=4, diversity=2), (secret,))
    found = local_recoding(cells, asked, 0)
    assert found.levels[:6, 0].tolist() == [0] * 6
    assert found.levels[6:, 0].tolist() == [1, 1]


@pytest.mark.parametrize("budget", [0, 8])
@pytest.mark.parametrize("name", REQUIREMENTS)
@pytest.mark.parametrize("seed", range(3))
def test_full_domain_recoding_is_the_best_of_all_levels(name: str, seed: int, budget: int) -> None:
    cells, secret = table(seed, 30)
    rows, least = int(cells.counts.sum()), 3.0
    for vector in product(*(range(top + 1) for top in cells.tops)):
        levels = np.tile(np.array(vector), (cells.counts.size, 1))
        lost, gone = 0.0, 0
        for members in classes(cells, levels).values():
            inside = int(cells.counts[members].sum())
            if meets(cells, secret, members, REQUIREMENTS[name]):
                lost += sum(
                    float(one.loss[level, cells.places[c][m]] * cells.counts[m])
                    for c, (one, level) in enumerate(zip(cells.columns, vector, strict=True))
                    for m in members
                )
            else:
                gone += inside
        if gone <= budget and gone < rows:
            least = min(least, (lost / 3 + gone) / rows)
    found = full_domain_recoding(cells, ClassRequirements(REQUIREMENTS[name], (secret,)), budget)
    assert found.suppressed_records <= budget
    assert found.ncp == pytest.approx(least)


def test_cells_with_different_labels_are_in_no_class_together() -> None:
    """Of 8^5 different cells a visit on the lowest levels forms no class of two."""
    columns = tuple(column(name, missing=False) for name in "abcde")
    places = np.array(list(product(range(2**BITS), repeat=5)), np.int32)
    cells = CellLevels(columns, tuple(places.T), np.ones(len(places), np.int64))
    lines, labels, loss = blocks(cells, np.zeros((1, 5), np.int16))
    found = np.empty(len(places), np.int64)
    left = sweep(
        lines,
        np.array([-1.0]),
        np.array([np.inf]),
        2,
        (labels, loss, cells.counts),
        None,
        10**9,
        np.inf,
        found,
    )
    assert left == len(places)
