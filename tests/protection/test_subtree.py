"""Full-subtree recoding: one label for each value, and no more loss than full-domain recoding."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import ParameterError
from crypsis.hierarchies import Hierarchy
from tests.cases import first_of

TREE = Hierarchy(
    tuple((leaf, leaf[:2], leaf[:1], "*") for leaf in ("aax", "aay", "abx", "bax", "bbx", "bby"))
)
LEAVES = [row[0] for row in TREE.rows]


@cache
def _cuts() -> list[tuple[str, ...]]:
    """Every set of labels that covers each leaf once."""
    every = {label for row in TREE.rows for label in row}
    found = []
    for chosen in product((False, True), repeat=len(every)):
        cut = [label for label, there in zip(sorted(every), chosen, strict=True) if there]
        if all(sum(label in row for label in cut) == 1 for row in TREE.rows):
            found.append(tuple(cut))
    return found


def _table(seed: int, rows: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    odds = rng.dirichlet(np.ones(len(LEAVES)) / 2)
    return pa.table({name: rng.choice(LEAVES, rows, p=odds).tolist() for name in ("x", "y")})


def _loss(cut: tuple[str, ...], leaf: str) -> float:
    row = next(row for row in TREE.rows if row[0] == leaf)
    label = next(label for label in row if label in cut)
    below = sum(label in other for other in TREE.rows)
    return 0.0 if below == 1 else below / len(TREE.rows)


def _least(table: pa.Table, k: int, budget: int) -> float:
    """The least loss of all pairs of cuts, by brute force."""
    pairs = list(zip(table["x"].to_pylist(), table["y"].to_pylist(), strict=True))
    best = 2.0
    for first, second in product(_cuts(), repeat=2):
        labels = [
            (next(n for n in first if _below(n, x)), next(n for n in second if _below(n, y)))
            for x, y in pairs
        ]
        sizes = {label: labels.count(label) for label in set(labels)}
        out = sum(sizes[label] < k for label in labels)
        if out <= budget:
            lost = [
                2.0 if sizes[label] < k else _loss(first, x) + _loss(second, y)
                for label, (x, y) in zip(labels, pairs, strict=True)
            ]
            best = min(best, sum(lost) / 2 / len(pairs))
    return best


def _below(label: str, leaf: str) -> bool:
    return any(row[0] == leaf and label in row for row in TREE.rows)


def _made(table: pa.Table, recoding: str, suppression: float) -> cr.Anonymized:
    return cr.anonymize(
        table,
        k=3,
        suppression=suppression,
        recoding=recoding,
        shuffle=False,  # type: ignore[arg-type]
        hierarchies={"x": TREE, "y": TREE},
        quasi_identifiers=["x", "y"],
        person="each record",
    )


@pytest.mark.parametrize("seed", first_of(range(12), 6))
def test_one_label_for_each_value_and_nearly_the_least_loss(seed: int) -> None:
    table, suppression = _table(seed, 40), 0.1 * (seed % 2)
    found = {kind: _made(table, kind, suppression) for kind in ("local", "subtree", "full-domain")}
    made = found["subtree"]
    assert made.measured is not None
    assert (made.measured.k or 0) >= 3
    rows = made.key.row_map or range(40)
    for name in ("x", "y"):
        before = [table[name][row].as_py() for row in rows]
        labels = {}
        for value, label in zip(before, made.frame[name].to_pylist(), strict=True):
            assert labels.setdefault(value, label) == label
    losses = {kind: float(one.loss.ncp or 0) for kind, one in found.items()}
    assert losses["subtree"] <= losses["full-domain"] + 1e-9
    least = _least(table, 3, int(suppression * 40))
    assert least - 1e-9 <= losses["subtree"] <= 1.1 * least + 1e-9


def test_every_requirement_of_a_class_is_met() -> None:
    rng = np.random.default_rng(5)
    table = _table(5, 200).append_column("ill", [rng.choice(["flu", "gout", "hiv"], 200).tolist()])
    made = cr.anonymize(
        table,
        k=4,
        diversity=2,
        recoding="subtree",
        hierarchies={"x": TREE, "y": TREE},
        quasi_identifiers=["x", "y"],
        sensitive=["ill"],
        person="each record",
    )
    classes: dict[tuple[str, str], set[str]] = {}
    for row in made.frame.to_pylist():
        classes.setdefault((row["x"], row["y"]), set()).add(row["ill"])
    assert min(map(len, classes.values())) >= 2
    assert "full-subtree recoding" in {one.method for one in made.methods}


def test_other_names_are_refused() -> None:
    with pytest.raises(ParameterError, match="'local', 'subtree' or 'full-domain'"):
        _made(_table(0, 20), "global", 0.0)
