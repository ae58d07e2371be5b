"""The posterior of links: exact against enumeration, calibrated, no intruder finds more."""

from __future__ import annotations

import datetime
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from crypsis import linkage
from crypsis.errors import CrypsisError, TooLargeError
from crypsis.protection import anonymize, link_posterior, mask
from crypsis.protection.masking import transitions
from crypsis.pseudonyms import Belief, edge_probabilities, likely_pairs


def by_enumeration(likelihood: np.ndarray) -> np.ndarray:
    """The probability of each pair, over all permutations."""
    n = len(likelihood)
    total, found = 0.0, np.zeros((n, n))
    for p in permutations(range(n)):
        weight = np.prod(likelihood[np.arange(n), p])
        total += weight
        found[np.arange(n), p] += weight
    return found / total


def test_probabilities_are_those_of_all_permutations() -> None:
    rng = np.random.default_rng(0)
    people = pa.table({"a": rng.normal(size=7), "b": rng.normal(size=7)})
    masks = {"a": "noise:0.6", "b": "noise:0.9"}
    released = mask(people, masks, seed=1).frame
    models = transitions(people, masks)
    likelihood = np.zeros((7, 7))
    for model, name in zip(models, "ab", strict=True):
        x, y = (np.array(one[name].to_pylist()) for one in (people, released))
        likelihood += model.likelihood({name: x[:, None]}, {name: y[None]})
    exact = by_enumeration(np.exp(likelihood))
    found = link_posterior(people, released, masks)
    assert found.exact_records == 7
    assert found.partners.tolist() == exact.argmax(axis=1).tolist()
    # Pairs below 0.0001 are left out.
    assert found.probabilities == pytest.approx(exact.max(axis=1), abs=2e-3)
    assert float(found.expected_share) == pytest.approx(exact.max(axis=1).mean(), abs=2e-3)


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (6, 1)])
def test_records_without_a_partner(shape: tuple[int, int]) -> None:
    """Some records were suppressed, or the intruder does not know all: over all ways to link."""
    originals, masked = shape
    rng = np.random.default_rng(3)
    people = pa.table({"a": rng.normal(size=max(shape)), "b": rng.normal(size=max(shape))})
    masks = {"a": "noise:0.6", "b": "noise:0.9"}
    models = transitions(people, masks)
    released = mask(people, masks, seed=1, shuffle=False).frame.slice(0, masked)
    known = people.slice(0, originals)
    likelihood = np.zeros(shape)
    for model, name in zip(models, "ab", strict=True):
        x, y = (np.array(one[name].to_pylist()) for one in (known, released))
        likelihood += model.likelihood({name: x[:, None]}, {name: y[None]})
    cells = np.exp(likelihood)
    exact, total = np.zeros(shape), 0.0
    fewer, more = min(shape), max(shape)
    for chosen in permutations(range(more), fewer):
        own = np.arange(fewer)
        pairs = (np.array(chosen), own) if masked < originals else (own, np.array(chosen))
        weight = np.prod(cells[pairs])
        total += weight
        exact[pairs] += weight
    exact /= total
    found = link_posterior(known, released, models, row_map=None)
    linked = found.partners >= 0
    assert linked.any()
    own = exact[np.flatnonzero(linked), found.partners[linked]]
    assert found.probabilities[linked] == pytest.approx(own, abs=2e-3)
    assert (found.probabilities[~linked] == 0).all()
    assert found.attack.masked_records == masked


def test_suppressed_records_are_no_correct_links() -> None:
    rng = np.random.default_rng(4)
    people = pa.table({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    masks = {"a": "noise:0.1", "b": "noise:0.1"}
    models = transitions(people, masks)
    every = mask(people, masks, seed=1, shuffle=False).frame
    rows = np.sort(rng.choice(300, 280, replace=False))
    found = link_posterior(people, every.take(rows), models, row_map=rows)
    correct = found.attack.correct_share.value
    assert 0.2 < correct <= 280 / 300
    assert float(found.expected_share) == pytest.approx(correct, abs=0.08)


def test_sampled_probabilities_are_near_the_exact_ones() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(20, 2))
    near = np.exp(-2 * ((x[:, None] - x[None] - 0.2 * rng.normal(size=(20, 1, 2))) ** 2).sum(2))
    exact = edge_probabilities(near, method="exact").probabilities
    found = likely_pairs(near)
    assert found.exact_items == 0
    own = exact[np.arange(20), found.pseudonyms]
    assert found.probabilities == pytest.approx(own, abs=0.05)
    assert (np.abs(found.probabilities - own) <= 2 * found.half_widths + 0.01).mean() > 0.9
    assert (found.probabilities >= exact.max(axis=1) - 0.15).all()


def test_blocks_of_every_size() -> None:
    cells = np.zeros((6, 6))
    cells[0, 3] = 2.0
    cells[1:3, :2] = [[3.0, 1.0], [1.0, 1.0]]
    cells[3:, [2, 4, 5]] = [[4.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 4.0]]
    exact = edge_probabilities(cells).probabilities
    found = likely_pairs(Belief(cells))
    assert found.largest_block == 3
    assert found.exact_items == 6
    assert found.probabilities == pytest.approx(exact.max(axis=1))
    assert found.expected == pytest.approx(exact.max(axis=1).sum())


@pytest.mark.parametrize(
    "masks",
    [
        {f"x{j}": "noise:0.4" for j in range(4)},
        {("x0", "x1"): "noise:0.3", "x2": "rank-swap:20", "x3": "rank-swap:20"},
        {"x0": "microaggregate:25", "x1": "noise:0.5", "x2": "noise:0.5", "x3": "round:1"},
        {"x0": "noise:0.5", "x1": "noise:0.5", "x2": "noise:0.5", "job": "pram:0.7", "x3": "noise:1"},
    ],
    ids=["noise", "rank swapping", "microaggregation", "PRAM"],
)
def test_calibrated_and_no_intruder_finds_more(masks: dict) -> None:
    rng = np.random.default_rng(2)
    n = 500
    table = {f"x{j}": rng.normal(size=n) for j in range(4)}
    if "job" in masks:
        table["job"] = rng.choice([f"job {i}" for i in range(15)], n)
    people = pa.table(table)
    released = mask(people, masks, seed=3).frame
    found = link_posterior(people, released, masks)
    correct = found.attack.correct_share
    assert correct is not None
    # The number of correct links is a sum of independent trials, nearly.
    spread = np.sqrt((found.probabilities * (1 - found.probabilities)).sum()) / n
    assert abs(correct.value - float(found.expected_share)) < 3.5 * spread + 0.01
    suite = linkage.attack_links(people, released)
    assert suite.correct_share is not None
    assert correct.value >= suite.correct_share.value - 0.03


def test_columns_without_a_mask_are_unchanged_or_generalized() -> None:
    rng = np.random.default_rng(4)
    n = 300
    people = pa.table(
        {
            "age": rng.integers(18, 90, n),
            "zip": [f"{z}" for z in rng.integers(10000, 10040, n)],
            "income": rng.normal(size=n),
        }
    )
    ages = [f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in people["age"].to_pylist()]
    noisy = mask(people, {"income": "noise:0.5"}, seed=5).frame
    released = noisy.set_column(0, "age", pa.array(ages))
    found = link_posterior(people, released, {"income": "noise:0.5"})
    assert found.columns == ("age", "zip", "income")
    assert found.attack.correct_share is not None
    assert found.attack.correct_share.value > 0.6
    without = link_posterior(people.select(["income"]), released.select(["income"]), {"income": "noise:0.5"})
    assert without.attack.correct_share is not None
    assert without.attack.correct_share.value < 0.1
    lost = released.set_column(0, "age", pa.array([None] * n, pa.string()))  # suppressed: fits all
    assert float(link_posterior(people, lost, {"income": "noise:0.5"}).expected_share) < float(
        found.expected_share
    )


def test_dates_and_a_plan_and_true_matches_by_number() -> None:
    rng = np.random.default_rng(6)
    n = 200
    born = [datetime.date(1950, 1, 1) + datetime.timedelta(days=int(d)) for d in rng.integers(0, 15000, n)]
    people = pa.table({"no": np.arange(n), "born": born})
    moved = mask(people, {"born": "shift:30"}, seed=7, person="no").frame
    order = rng.permutation(n)
    shuffled = moved.take(pa.array(order))
    found = link_posterior(people, shuffled, {"born": "shift:30"}, on="no")
    assert found.columns == ("born",)
    assert found.attack.correct_share is not None
    assert abs(found.attack.correct_share.value - float(found.expected_share)) < 0.12
    unknown = link_posterior(people, shuffled, {"born": "shift:30"}, on=None, row_map="unknown")
    assert unknown.attack.correct_share is None
    assert unknown.calibration == ()
    made = anonymize(
        pa.table({"age": rng.integers(18, 60, n)}),
        quasi_identifiers=["age"],
        k=5,
        seed=1,
        person="each record",
    )
    plan = made.plan
    assert plan is not None
    if made.data.count == n:
        found = link_posterior(made.original, made.data, plan.transitions(), row_map=made.key.row_map)
        assert float(found.expected_share) <= 1 / 5 + 0.05


def test_many_records_are_linked_to_near_ones() -> None:
    """Beyond a thousand records only near pairs are considered; the probabilities stay calibrated."""
    rng = np.random.default_rng(8)
    people = pa.table({f"x{j}": rng.normal(size=1500) for j in range(3)})
    for noise in ("noise:0.05", "noise:0.3"):
        masks = {f"x{j}": noise for j in range(3)}
        found = link_posterior(people, mask(people, masks, seed=9).frame, masks, nearest=32)
        correct = found.attack.correct_share
        assert correct is not None
        assert abs(correct.value - float(found.expected_share)) < 0.04
        assert found.pairs < 1500 * 48


def test_errors() -> None:
    table = pa.table({"a": [1.0, 2.0, 3.0]})
    many = pa.table({"a": np.arange(9_000.0)})
    with pytest.raises(TooLargeError, match="9,000 and 3 records"):
        link_posterior(many, table, {"a": "noise:1"})
    with pytest.raises(CrypsisError, match="'b'"):
        link_posterior(table, table, {"b": "noise:1"})
    with pytest.raises(CrypsisError, match="'a'"):
        link_posterior(table, pa.table({"z": [1.0, 2.0, 3.0]}), {"a": "noise:1"})
