"""What is still in too small a crowd: the cheapest of local generalization, suppressing cells, and
suppressing rows.

Level vectors (one level a column) are visited from the least to the most lossy. At each, the cells
that are not settled yet are grouped by what they would become, and every group that meets the
demands is settled there. So a cell is released on the first, cheapest vector on which it finds a
crowd among those still without one. What is left in the end joins the settled group that makes it
cheapest, or is left out. All demands survive the union of groups that meet them.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.anonymize._demands import Demands, groups_of
from crypsis.anonymize._ladder import Ladder, node_losses
from crypsis.anonymize.kernels import crowds
from crypsis.errors import PromiseBroken

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

_MOST_VECTORS = 4_000
_MOST_JOINS = 40


@dataclass(frozen=True, eq=False)
class Table:
    """Cells as places in ladders: `places[c][j]` is the value of cell j in column c."""

    ladders: tuple[Ladder, ...]
    places: tuple[Codes, ...]
    counts: Ints

    @cached_property
    def _codes(self) -> Codes:
        """What every cell becomes on every level of every column, one line each."""
        pairs = zip(self.ladders, self.places, strict=True)
        return np.concatenate([one.codes[:, place] for one, place in pairs])

    @cached_property
    def _lines(self) -> Ints:
        return np.cumsum([0, *(one.top + 1 for one in self.ladders)])[:-1]

    def groups(self, vector: Sequence[int], cells: Ints) -> tuple[Ints, Ints]:
        """Cells that are told alike on these levels: the group of each, the rows of each group."""
        names = zip(self.ladders, vector, strict=True)
        domains = [len(one.labels[level]) for one, level in names]
        lines = self._lines + np.array(vector)
        counts = self.counts[cells]
        if math.prod(domains) >= 2**62:  # too many for one number: number them column by column
            return groups_of([self._codes[line][cells] for line in lines], domains, counts)
        keys = crowds.keys_at(self._codes, lines, np.array(domains), cells)
        found: tuple[Ints, Ints] = crowds.group_totals(keys, counts)
        return found

    def rows_lost(self) -> NDArray[np.float64]:
        """For every line of the codes what the rows of each cell lose together."""
        pairs = zip(self.ladders, self.places, strict=True)
        return np.concatenate([one.loss[:, place] for one, place in pairs]) * self.counts

    def losses(self) -> list[NDArray[np.float64]]:
        """The average loss of each level of each column."""
        weights = [
            np.bincount(place, self.counts, one.codes.shape[1]).astype(np.int64)
            for one, place in zip(self.ladders, self.places, strict=True)
        ]
        return node_losses(self.ladders, weights)


@dataclass(frozen=True, eq=False)
class Repair:
    """Where each cell goes: a level a column, or -1 in all of them where it is left out."""

    levels: NDArray[np.int8]
    loss: float
    """NCP: the average share of variety lost over rows and columns; rows left out count in full."""
    rows_suppressed: int
    cells_suppressed: int
    rows_with_suppressed_cells: int
    rows_generalized: int
    emptied: tuple[str, ...] = ()
    """Columns that are missing in every row."""

    @property
    def rows_touched(self) -> int:
        """Rows that count against the suppression budget."""
        return self.rows_suppressed + self.rows_with_suppressed_cells


def repair(table: Table, demands: Demands, budget_rows: int, *, local: bool = True) -> Repair:
    """Find a crowd for every cell while suppression touches at most `budget_rows` rows.

    First by loss alone. If that suppresses too much, names are preferred to missing values; if that
    is still too much, columns are emptied altogether, the one most often emptied first (which tells
    nothing of any row, and counts in the loss, not in the budget).
    """
    least = np.zeros(len(table.ladders), np.int8)
    for stars_last in (False, True):
        found = _settle(table, demands, least, stars_last=stars_last, local=local)
        if found.rows_touched <= budget_rows:
            return found
    tops = np.array([one.top for one in table.ladders])
    while (least < tops).any():
        emptied = ((found.levels == tops) & (least < tops)) * table.counts[:, None]
        scores = emptied.sum(axis=0) - (least == tops)
        if scores.max() <= 0:  # rows are left out, not cells: give up the least useful column
            scores = np.where(least < tops, 1.0, -1.0) * (1 + np.arange(tops.size)[::-1])
        worst = int(np.argmax(scores))
        least[worst] = tops[worst]
        found = _settle(table, demands, least, stars_last=True, local=local)
        if found.rows_touched <= budget_rows:
            return found
    raise PromiseBroken(
        f"Even with every quasi-identifier empty, {found.rows_touched:,} rows would have to be "
        f"suppressed, and the budget allows {budget_rows:,}. Ask for less (k, l, t, best guess) or "
        "allow more suppression."
    )


def _settle(
    table: Table, demands: Demands, least: NDArray[np.int8], *, stars_last: bool, local: bool
) -> Repair:
    cells, columns = table.counts.size, len(table.ladders)
    levels = np.full((cells, columns), -1, np.int8)
    group = np.full(cells, -1, np.int64)
    left = np.arange(cells)
    groups, waiting = 0, int(table.counts.sum())
    with progress.step("finding crowds") as step:
        for vector in _vectors(table, least, stars_last) if local else [tuple(least)]:
            if waiting < demands.k:
                break
            inside, totals = table.groups(vector, left)
            good = demands.met(inside, totals, left)
            if good.any():
                settled = good[inside]
                levels[left[settled]] = vector
                number = np.cumsum(good) - 1 + groups
                group[left[settled]] = number[inside[settled]]
                groups += int(good.sum())
                left = left[~settled]
                waiting = int(table.counts[left].sum())
            step.advance()
    if left.size and groups and local:
        _join(table, demands, levels, group, left)
    return _summary(table, levels, least)


def _vectors(table: Table, least: NDArray[np.int8], stars_last: bool) -> Iterator[tuple[int, ...]]:
    """Level vectors by rising loss; after many, one column after another goes to its top."""
    losses = table.losses()
    tops = [one.top for one in table.ladders]
    start = tuple(int(level) for level in least)

    def price(vector: tuple[int, ...]) -> float:
        total = sum(float(losses[c][level]) for c, level in enumerate(vector))
        stars = sum(lv == top and lo < top for lv, top, lo in zip(vector, tops, start, strict=True))
        return total + (len(tops) + 1.0) * stars if stars_last else total

    heap = [(price(start), start, 0)]
    for _ in range(_MOST_VECTORS):
        if not heap:
            return
        _, vector, last = heapq.heappop(heap)
        yield vector
        for c in range(last, len(tops)):
            if vector[c] < tops[c]:
                above = (*vector[:c], vector[c] + 1, *vector[c + 1 :])
                heapq.heappush(heap, (price(above), above, c))
    chain = list(start)
    while chain != tops:
        rising = [c for c in range(len(tops)) if chain[c] < tops[c]]
        steepest = min(rising, key=lambda c: float(losses[c][chain[c] + 1] - losses[c][chain[c]]))
        chain[steepest] += 1
        yield tuple(chain)


def _join(
    table: Table, demands: Demands, levels: NDArray[np.int8], group: Ints, left: Ints
) -> None:
    """Let every cell that is left join the settled group that makes it cheapest, in place."""
    order = np.argsort(group, kind="stable")
    order = order[group[order] >= 0]
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    member = order[starts]  # a cell that stands for each group
    sizes = np.add.reduceat(table.counts[order], starts).astype(np.float64)
    own = levels[member].astype(np.int64)
    columns = range(len(table.ladders))
    spent = np.zeros(member.size)
    for c in columns:
        spent += _loss_at(table, c, own[:, c], member)
    for cell in left[np.argsort(-table.counts[left], kind="stable")].tolist():
        meeting = np.empty_like(own)
        joint = np.zeros(member.size)
        for c in columns:
            meeting[:, c] = _meeting_level(table, c, cell, member, own[:, c])
            joint += _loss_at(table, c, meeting[:, c], member)
        price = sizes * (joint - spent) + table.counts[cell] * joint
        for g in np.argsort(price, kind="stable")[:_MOST_JOINS].tolist():
            inside = np.append(np.flatnonzero(group == group[member[g]]), cell)
            total = np.array([table.counts[inside].sum()])
            if demands.met(np.zeros(inside.size, np.int64), total, inside)[0]:
                levels[inside] = meeting[g]
                group[cell] = group[member[g]]
                own[g], spent[g], sizes[g] = meeting[g], joint[g], float(total[0])
                break


def _loss_at(table: Table, column: int, level: Ints, cells: Ints) -> NDArray[np.float64]:
    return np.asarray(table.ladders[column].loss[level, table.places[column][cells]])


def _meeting_level(table: Table, column: int, cell: int, member: Ints, own: Ints) -> Ints:
    """The lowest level, not below a group's own, on which a cell and the group are told alike."""
    codes, place = table.ladders[column].codes, table.places[column]
    alike = codes[:, place[member]] == codes[:, place[cell]][:, None]
    alike &= np.arange(codes.shape[0])[:, None] >= own
    return np.asarray(np.argmax(alike, axis=0), np.int64)


def _summary(table: Table, levels: NDArray[np.int8], least: NDArray[np.int8]) -> Repair:
    tops = np.array([one.top for one in table.ladders])
    out = levels[:, 0] < 0
    starred = (levels == tops) & (least < tops)
    for c, one in enumerate(table.ladders):  # what was missing before is not suppressed now
        starred[:, c] &= one.loss[one.top][table.places[c]] > 0
    lost = np.zeros(table.counts.size)
    for c in range(tops.size):
        lost += np.where(out, 1.0, _loss_at(table, c, np.maximum(levels[:, c], 0), slice(None)))  # type: ignore[arg-type]
    counts = table.counts
    rows = max(1, int(counts.sum()))
    return Repair(
        levels,
        float((lost * counts).sum() / (rows * tops.size)),
        int(counts[out].sum()),
        int((starred.sum(axis=1) * counts).sum()),
        int(counts[starred.any(axis=1)].sum()),
        int(counts[((levels > least).any(axis=1)) & ~out].sum()),
        tuple(one.name for one, low in zip(table.ladders, least, strict=True) if low == one.top),
    )


def full_domain(table: Table, demands: Demands, budget_rows: int) -> Repair:
    """The levels, the same for every row, that lose least when rows without a crowd are left out.

    The optimum that Incognito, OLA and ARX look for: every vector is tried, by rising loss, until
    no later one can be better.
    """
    losses, every = table.losses(), np.arange(table.counts.size)
    lost, rows = table.rows_lost(), int(table.counts.sum())
    best: tuple[tuple[int, ...], float] | None = None
    for vector in _vectors(table, np.zeros(len(table.ladders), np.int8), False):
        floor = sum(float(losses[c][level]) for c, level in enumerate(vector)) / len(vector)
        if best is not None and floor >= best[1]:
            break
        inside, totals = table.groups(vector, every)
        good = demands.met(inside, totals, every)
        left_out = rows - int(totals[good].sum())
        if left_out > budget_rows:
            continue
        kept = good[inside]
        lines = lost[table._lines + np.array(vector)]
        loss = (float(lines[:, kept].sum()) / len(vector) + left_out) / rows
        if best is None or loss < best[1]:
            best = vector, loss
    if best is None:
        raise PromiseBroken(
            "No levels keep the promise within the suppression budget; ask for less or allow more."
        )
    return _settle(table, demands, np.array(best[0], np.int8), stars_last=False, local=False)


def labels_of(table: Table, found: Repair, cells: Ints) -> list[tuple[list[object], Ints]]:
    """For each column all its labels, and the place among them of what each cell is told as."""
    named = []
    for c, one in enumerate(table.ladders):
        levels = np.maximum(found.levels[cells, c], 0).astype(np.int64)
        starts = np.cumsum([0, *map(len, one.labels)])
        codes = one.codes[levels, table.places[c][cells]]
        named.append(([label for level in one.labels for label in level], starts[levels] + codes))
    return named


def table_of(ladders: Sequence[Ladder], places: Sequence[Codes], counts: Ints) -> Table:
    """Ladders and cells together."""
    return Table(tuple(ladders), tuple(places), np.asarray(counts, np.int64))
