"""How little any local recoding can lose: a bound from below for the rows of `least_loss` that ask for k.

python -m benchmarks.studies.least_loss_bound [ROUNDS]

Each record gets a price. Whatever the prices, a partition of the records into classes of k or more
costs at least the sum of all prices plus, for every class that could be formed, what its members
cost there beyond their prices, if that is negative: the best members are those whose price is above
the loss of the class, and the dearest others until there are k. That is the Lagrangian bound of the
constraint that each record is in one class; prices rise for records that no such class takes and
fall for those that several take (subgradient steps of Held, Wolfe and Crowder 1974). A suppressed
record loses all columns and needs no class. Writes benchmarks/results/least_loss_bound_study.json.

A bound does not depend on the search: with 0 ROUNDS those that are recorded stay, and what the search
reached is taken anew from the results of `least_loss`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks import measure
from benchmarks.studies.least_loss import ROWS, leaves, loss_of
from benchmarks.studies.least_loss_tables import Source, adult, rows_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_ROUNDS, _PATIENCE, _SHRINK = 400, 10, 1.5


@dataclass(frozen=True, eq=False)
class Classes:
    """All classes of k or more on all vectors of levels.

    `member[v, j]` is the class of record j on vector v (-1 where fewer than k share its labels); those
    of vector v are numbered from `starts[v]`, and `loss` has the loss of each, summed over columns.
    `rows` is how often each distinct record occurs.
    """

    member: NDArray[np.int32]
    starts: Ints
    loss: Floats
    rows: Ints
    columns: int


def classes_of(codes: list[list[Ints]], losses: list[list[Floats]], rows: Ints, k: int) -> Classes:
    """Those of records with `codes[c][level]` and `losses[c][level]` in column c."""
    member, starts, loss = [], [0], []
    for vector in product(*(range(len(own)) for own in codes)):
        key = np.zeros(rows.size, np.int64)
        for own, level in zip(codes, vector, strict=True):
            key = key * (int(own[level].max()) + 1) + own[level]
        _, first, key = np.unique(key, return_index=True, return_inverse=True)
        large = np.bincount(key, rows) >= k
        if not large.any():
            continue
        lost = sum(own[level] for own, level in zip(losses, vector, strict=True))
        member.append(np.where(large, np.cumsum(large) - 1, -1)[key].astype(np.int32))
        loss.append(np.asarray(lost)[first[large]])
        starts.append(starts[-1] + int(large.sum()))
    every = np.concatenate(loss) if loss else np.zeros(0)
    table = np.array(member, np.int32).reshape(len(member), rows.size)
    return Classes(table, np.array(starts), every, rows, len(codes))


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _taken(
    price: Floats, order: Ints, k: int, member: Any, starts: Ints, loss: Floats, rows: Ints, slope: Floats
) -> float:
    """The sum over classes of what their best members cost beyond the prices, where negative.

    The part of each record that those classes take is taken from `slope`.
    """
    total = 0.0
    for v in range(member.shape[0]):
        size = starts[v + 1] - starts[v]
        cost, count = np.zeros(size), np.zeros(size, np.int64)
        for turn in range(2):  # the costs, then who is taken
            count[:] = 0
            for j in order:
                g = member[v, j]
                if g < 0 or (turn == 1 and cost[g] >= 0.0):
                    continue
                lost = loss[starts[v] + g]
                some = rows[j] if price[j] > lost else min(rows[j], max(0, k - count[g]))
                count[g] += some
                if turn == 0:
                    cost[g] += (lost - price[j]) * some
                else:
                    slope[j] -= some / rows[j]
            if turn == 0:
                negative = np.minimum(cost, 0.0).sum()
                total += negative
                if negative == 0.0:
                    break
    return total


def bounds(classes: Classes, k: int, reached: float, rounds: int) -> Iterator[float]:
    """Bounds of NCP from below, each the best so far; `reached` is a loss that is possible."""
    rows, columns = classes.rows, classes.columns
    price = np.full(rows.size, float(columns))
    for v, start in enumerate(classes.starts[:-1]):
        there = classes.member[v] >= 0
        own = classes.loss[start + classes.member[v][there]]
        price[there] = np.minimum(price[there], own)
    cells = float(rows.sum() * columns)
    best, best_price, step, idle = 0.0, price, 1.0, 0
    for _ in range(rounds):
        price = np.minimum(price, columns)  # above it a record would rather be suppressed
        slope = np.ones(rows.size)
        order = np.argsort(-price, kind="stable")
        value = float((price * rows).sum()) + _taken(
            price, order, k, classes.member, classes.starts, classes.loss, rows, slope
        )
        if value > best:
            best, best_price, idle = value, price, 0
        else:
            idle += 1
        yield best / cells
        if idle == _PATIENCE:
            step, idle, price = step / _SHRINK, 0, best_price
            continue
        length = float((rows * slope * slope).sum())
        if length == 0.0:  # every record is taken once: this is the least
            return
        price = price + step * max(reached * cells - value, 0.0) / length * slope


def _coded(source: Source, columns: list[str]) -> tuple[list[list[Ints]], list[list[Floats]], Ints]:
    """The distinct records: their labels and losses on every level, and how often each occurs."""
    names, *body = rows_of(source.path)
    places = [names.index(name) for name in columns]
    distinct: dict[tuple[str, ...], int] = {}
    for row in body:
        key = tuple(row[place] for place in places)
        distinct[key] = distinct.get(key, 0) + 1
    codes, losses = [], []
    for place, name in enumerate(columns):
        tree = {row[0]: row for row in rows_of(source.tree(name))}
        labels, total = leaves(source.tree(name))
        height = len(next(iter(tree.values())))
        each = [[tree[record[place]][level] for record in distinct] for level in range(height)]
        codes.append([np.unique(one, return_inverse=True)[1] for one in each])
        losses.append([np.array([loss_of(v, labels, total) for v in one]) for one in each])
    return codes, losses, np.array(list(distinct.values()))


def main(rounds: int) -> int:
    found: list[dict[str, Any]] = []
    recorded = _recorded("least_loss_study", "releases")
    known = {one["row"]: one for one in _recorded("least_loss_bound_study", "bounds")}
    for name, asked in ROWS.items():
        if set(asked) != {"columns", "k"} or (rounds == 0 and name not in known):
            continue
        ours = next(
            one["ncp"] for one in recorded if (one["row"], one["contender"]) == (name, "crypsis, local")
        )
        if rounds == 0:
            found.append({**known[name], "reached": ours})
            continue
        codes, losses, rows = _coded(adult(), asked["columns"])
        classes = classes_of(codes, losses, rows, asked["k"])
        last = 0.0
        for turn, last in enumerate(bounds(classes, asked["k"], ours, rounds)):
            if turn % 20 == 0:
                print(f"{name}: at least {last:.5f} (reached {ours:.5f})", flush=True)
        found.append({"row": name, "at_least": last, "reached": ours, "rounds": rounds})
        measure.write("least_loss_bound_study", {"bounds": found})
    if rounds == 0:
        measure.write("least_loss_bound_study", {"bounds": found})
    return 0


def _recorded(study: str, part: str) -> list[dict[str, Any]]:
    """What a study wrote; nothing if it was not run."""
    path = measure.RESULTS / f"{study}.json"
    if not path.exists():
        return []
    kept: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))[part]
    return kept


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else _ROUNDS))
