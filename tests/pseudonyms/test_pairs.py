"""Near-certain cracks, attacks worse than chance, and pair frequencies."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linear_sum_assignment

import crypsis as cr
from crypsis import pseudonyms as ps
from crypsis.errors import InputError
from crypsis.pseudonyms import _pairs as pairs_module


def test_near_certain_cracks_are_counted_and_limited() -> None:
    """18 certain cracks of 200 are a share below 10 %."""
    cells = np.ones((200, 200))
    cells[:18, :] = cells[:, :18] = 0
    cells[np.arange(18), np.arange(18)] = 1
    belief = ps.Belief(cells, truth=range(200))
    found = ps.anonymity(belief)
    assert found.near_certain_cracks == 18
    assert found.expected_cracks == pytest.approx(19)
    assessed = cr.assess(
        pa.table({"x": [1] * 10}), belief=belief, quasi_identifiers=["x"], person="each record"
    )
    states = {one.measure: one.status.value for one in assessed.findings}
    assert states["pseudonyms.expected_crack_fraction"] == "met"
    assert states["pseudonyms.near_certain_cracks"] == "exceeded"


def test_an_attack_far_worse_than_chance_decides_nothing() -> None:
    cells = np.full((12, 12), 1e-3)
    cells[np.arange(12), (np.arange(12) + 1) % 12] = 1.0  # the truth is off by one row
    belief = ps.Belief(cells, truth=range(12))
    found = ps.anonymity(belief)
    assert found.worse_than_chance
    assert ps.decide(found, max_cracks=1.2).verdict == "cannot tell"
    assessed = cr.assess(
        pa.table({"x": [1] * 10}), belief=belief, quasi_identifiers=["x"], person="each record"
    )
    states = {one.measure: one.status.value for one in assessed.findings}
    assert states["pseudonyms.expected_crack_fraction"] == "not evaluated"
    assert assessed.verdict.value == "cannot tell"
    right = ps.Belief(np.ones((12, 12)), truth=range(12))
    assert not ps.anonymity(right).worse_than_chance
    assert ps.decide(ps.anonymity(right), max_cracks=1.2).verdict == "safe"


def baskets(seed: int = 0) -> list[list[str]]:
    """b and c are equally frequent; b is bought with a, c without."""
    rng = np.random.default_rng(seed)
    found = [["a", "b"] if rng.random() < 0.5 else ["a"] for _ in range(400)]
    found += [["c"] if rng.random() < 0.5 else ["d", "e"] for _ in range(400)]
    return found


def test_pairs_identify_items_of_like_frequency() -> None:
    seen = ps.frequencies(baskets())
    share = dict(zip(seen.pseudonyms, seen.shares.tolist(), strict=True))
    ranges = {name: (0.8 * value, 1.2 * value) for name, value in share.items()}
    belief = ps.frequency_attack(baskets(), ranges, truth="names")
    found = ps.pair_identification(belief)
    assert found.by_frequency == 1  # a alone
    assert found.with_pairs == 3  # and b, which occurs with a, and c, which occurs with nothing
    with pytest.raises(InputError, match="transactions"):
        ps.pair_identification(ps.Belief([[1, 1], [1, 1]], truth=[0, 1]))


def test_independent_items_of_like_frequency_stay_alike() -> None:
    rng = np.random.default_rng(1)
    rows = rng.random((2_000, 6)) < [0.6, 0.2, 0.2, 0.2, 0.2, 0.2]
    seen = [[str(i) for i in np.flatnonzero(row)] for row in rows]
    ranges = {str(i): (0.5, 0.7) if i == 0 else (0.1, 0.3) for i in range(6)}
    found = ps.pair_identification(ps.frequency_attack(seen, ranges, truth="names"))
    assert (found.by_frequency, found.with_pairs) == (1, 1)


def test_pair_counts_are_those_of_the_transactions() -> None:
    seen = ps.frequencies(baskets())
    for (i, one), (j, two) in combinations(enumerate(seen.pseudonyms), 2):
        assert seen.pairs is not None
        assert seen.pairs[i, j] == sum(one in row and two in row for row in baskets())


def test_pairs_identify_items_of_equal_frequency() -> None:
    """No item is identified by its frequency, but each has its own numbers of pairs."""
    bought = {"ab": 100, "cd": 10, "a": 150, "b": 150, "ac": 300, "c": 240, "d": 540}
    transactions = [list(items) for items, times in bought.items() for _ in range(times)]
    seen = ps.frequencies(transactions)
    ranges = dict.fromkeys(seen.pseudonyms, (0.0, 1.0))
    found = ps.pair_identification(ps.frequency_attack(transactions, ranges, truth="names"))
    assert (found.by_frequency, found.with_pairs) == (0, 4)
    alike = [["a", "b"], ["b", "c"], ["c", "a"]] * 50
    ranges = dict.fromkeys("abc", (0.0, 1.0))
    found = ps.pair_identification(ps.frequency_attack(alike, ranges, truth="names"))
    assert found.with_pairs == 0


def purchases(rng: np.random.Generator, strength: float, shape: str, items: int = 40) -> np.ndarray:
    """Transactions of items that are all in 30 % of them, whose tastes are shared by `shape`."""
    noise, number = rng.normal(size=(3_000, items)), np.arange(items)
    if shape == "factors":
        loads = rng.normal(size=(4, items))
    elif shape == "groups":  # each item in several groups of its own
        loads = (rng.random((12, items)) < 0.3).astype(float)
    else:  # each item with some before it, more or less
        loads = np.where(rng.random((items, items)) < 0.1, rng.uniform(0.5, 2, (items, items)), 0.0)
        loads[number, number] = 1.0
    shared = rng.normal(size=(3_000, len(loads))) @ loads
    z = noise + strength * shared
    return np.asarray(z > np.quantile(z, 0.7, axis=0))


def sorted_correlations(first: np.ndarray, second: np.ndarray) -> float:
    """Items by their sorted correlations in another sample: one assignment, no refinement."""
    rows = [np.sort(np.corrcoef(one.T), axis=1) for one in (first, second)]
    gaps = ((rows[0][:, None] - rows[1][None]) ** 2).sum(axis=2)
    return float((linear_sum_assignment(gaps)[1] == np.arange(len(gaps))).sum())


def identified(table: np.ndarray) -> tuple[ps.PairIdentification, ps.Belief]:
    baskets = [[f"p{i}" for i in np.flatnonzero(row)] for row in table]
    ranges = {f"p{i}": (0.0, 1.0) for i in range(table.shape[1])}
    belief = ps.frequency_attack(baskets, ranges, truth="names")
    return ps.pair_identification(belief), belief


@pytest.mark.parametrize(("shape", "strength"), [("factors", 1.0), ("groups", 1.0), ("some", 2.0)])
def test_one_assignment_of_all_items_resolves_what_no_single_pair_does(shape: str, strength: float) -> None:
    both = purchases(np.random.default_rng(5), strength, shape)
    resolved = sorted_correlations(both[::2], both[1::2])
    assert resolved > 10
    found, belief = identified(both)
    anonymity = ps.anonymity(belief)
    assert anonymity.expected_cracks == pytest.approx(1.0)
    assert anonymity.pairs == found
    decision = ps.decide(anonymity, max_cracks=2)
    assert decision.verdict == "not safe"
    assert any("resolved by pair frequencies" in reason for reason in decision.reasons)
    assert found.by_frequency == 0
    assert found.expected > max(20, 0.7 * resolved)
    assert found.with_pairs > 5
    assessed = cr.assess(pa.table({"x": [1] * 10}), belief=belief, quasi_identifiers=["x"])
    states = {one.measure: one.status.value for one in assessed.findings}
    assert states["pseudonyms.expected_crack_fraction"] == "exceeded"
    assert states["pseudonyms.near_certain_cracks"] == "exceeded"
    assert assessed.verdict.value == "not safe"


def test_what_a_sample_happens_to_show_resolves_nothing() -> None:
    """Independent items of equal frequency: one of 40 is right by chance, as with any assignment."""
    for seed in range(4):
        found, belief = identified(purchases(np.random.default_rng(seed), 0.0, "factors"))
        assert ps.decide(ps.anonymity(belief), max_cracks=4).verdict == "safe"
        assert found.with_pairs == 0
        assert found.expected < 4  # of 10 samples with 1 each; 0.3 is a standard deviation


def test_too_many_items_leave_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "MAX_JOINT_ITEMS", 10)
    found, belief = identified(purchases(np.random.default_rng(1), 0.0, "factors"))
    assert not found.assigned_jointly
    assert ps.decide(ps.anonymity(belief), max_cracks=2).verdict == "cannot tell"
    assessed = cr.assess(pa.table({"x": [1] * 10}), belief=belief, quasi_identifiers=["x"])
    states = {one.measure: one.status.value for one in assessed.findings}
    assert states["pseudonyms.near_certain_cracks"] != "met"
