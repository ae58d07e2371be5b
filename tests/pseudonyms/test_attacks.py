"""Attacks: from transactions and tables to beliefs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from crypsis import pseudonyms as ps
from crypsis.errors import ColumnError, InputError, ParameterError

BASKETS = [["a", "b"], ["b"], ["b", "c"], ["c", "b", "b"]]


def test_frequencies_count_transactions_not_mentions():
    found = ps.frequencies(BASKETS)
    assert found.pseudonyms == ("a", "c", "b")
    assert found.shares.tolist() == [0.25, 0.5, 1.0]
    for bad in ([], [[]], ["ab", "c"]):
        with pytest.raises(InputError):
            ps.frequencies(bad)


def test_ranges_are_closed_and_survive_rounding():
    # 0.1 * 3 is a little more than 0.3 in floats; an observed 3 of 10 must still fit.
    baskets = [["a", "b"]] * 3 + [["b"]] * 7
    belief = ps.frequency_attack(baskets, {"x": (0.1 * 3, 0.5), "y": (0.9, 1.0)})
    assert belief.matrix.toarray().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("bad", [(0.5, 0.1), (0.1,), "ab", (0.1, np.nan), 3])
def test_invalid_ranges(bad):
    with pytest.raises(ParameterError):
        ps.frequency_attack(BASKETS, {"x": (0, 1), "y": (0, 1), "z": bad})


def test_frequency_attack_needs_an_item_for_each_pseudonym():
    with pytest.raises(InputError, match="2 items, and 3"):
        ps.frequency_attack(BASKETS, {"x": (0, 1), "y": (0, 1)})
    with pytest.raises(ParameterError, match="names"):
        ps.frequency_attack(BASKETS, dict.fromkeys("xyz", (0, 1)), truth="rows")


def test_binomial_likelihood_cell_by_cell():
    expected = {"x": 0.2, "y": 0.5, "z": 0.9}
    belief = ps.probabilistic_frequency_attack(BASKETS, expected)
    raw = np.array([[p**k * (1 - p) ** (4 - k) for k in (1, 2, 4)] for p in expected.values()])
    assert ps.edge_probabilities(belief).probabilities == pytest.approx(
        ps.edge_probabilities(raw).probabilities, abs=1e-12
    )
    weak = ps.probabilistic_frequency_attack(BASKETS, expected, experience=2)
    strong = ps.probabilistic_frequency_attack(BASKETS, expected, experience=1e9)
    assert ps.degree_of_anonymity(weak) > ps.degree_of_anonymity(belief)
    assert ps.degree_of_anonymity(strong) == pytest.approx(ps.degree_of_anonymity(belief), rel=1e-5)


def test_likelihoods_far_below_the_smallest_float():
    baskets = [["a"]] * 9_000 + [["b"]] * 500 + [["c"]] * 500
    belief = ps.probabilistic_frequency_attack(
        baskets, {"x": 0.9, "y": 0.05, "z": 0.05}, truth={"x": "a", "y": "b", "z": "c"}
    )
    assert ps.expected_cracks(belief) == pytest.approx(2)


def test_impossible_frequencies_stay_impossible():
    belief = ps.probabilistic_frequency_attack([["a"], ["a", "b"]], {"x": 1.0, "y": 0.5})
    assert belief.matrix.toarray()[0, belief.pseudonyms.index("b")] == 0
    for bad in ({"x": 1.5, "y": 0.5}, {"x": np.nan, "y": 0.5}):
        with pytest.raises(ParameterError):
            ps.probabilistic_frequency_attack([["a"], ["a", "b"]], bad)
    with pytest.raises(ParameterError):
        ps.probabilistic_frequency_attack([["a"], ["b"]], {"x": 0.5, "y": 0.5}, experience=0)


KNOWN = {"name": ["Ann", "Bob", "Cy", "Di"], "age": [30, 30, 41, None], "zip": ["1", "2", "2", "2"]}
RELEASED = {"id": ["p", "q", "r", "s"], "age": [41, 30, 55, 30], "zip": ["2", "1", "2", None]}


@pytest.mark.parametrize("frame", [pa.table, pd.DataFrame, pl.DataFrame, lambda d: pl.DataFrame(d).lazy()])
def test_join_attack_on_any_frame(frame):
    belief = ps.join_attack(
        frame(KNOWN),
        frame(RELEASED),
        ["age", "zip"],
        item="name",
        pseudonym="id",
        truth={"Ann": "q", "Bob": "s", "Cy": "p", "Di": "r"},
    )
    # A missing value agrees with anything: Di's age, and the zip of s.
    assert belief.matrix.toarray().tolist() == [[0, 1, 0, 1], [0, 0, 0, 1], [1, 0, 0, 0], [1, 0, 1, 1]]
    assert ps.expected_cracks(belief) == pytest.approx(4)
    assert ps.anonymity(belief).blocks[0].size == 1


def test_join_attack_with_tolerance_and_rows():
    known = pa.table({"age": [30, 40, 50]})
    belief = ps.join_attack(known, pa.table({"age": [31, 39, 52]}), {"age": 2}, truth="rows")
    assert belief.matrix.toarray().tolist() == np.eye(3).tolist()
    with pytest.raises(ps.NoPerfectMatchingError):
        ps.join_attack(known, pa.table({"age": [31, 39, 52]}), ["age"])
    with pytest.raises(ColumnError, match="not numeric"):
        ps.join_attack(pa.table(KNOWN), pa.table(RELEASED), {"zip": 1})


def test_join_attack_refuses_what_does_not_fit():
    known, released = pa.table(KNOWN), pa.table(RELEASED)
    with pytest.raises(ColumnError, match="Column 'agee' does not exist"):
        ps.join_attack(known, released, ["agee"])
    with pytest.raises(InputError, match="4 rows and the release 3"):
        ps.join_attack(known, released.slice(0, 3), ["age"])
    for on in ([], "age"):
        with pytest.raises(ParameterError):
            ps.join_attack(known, released, on)
    with pytest.raises(ColumnError, match="Column 'who' does not exist"):
        ps.join_attack(known, released, ["zip"], item="who")
    with pytest.raises(ParameterError):
        ps.join_attack(known, released, {"age": -1})


def test_fellegi_sunter_weights():
    known = pa.table({"sex": ["f", "f", "f", "m"], "town": ["A", "B", "C", None]})
    released = pa.table({"sex": ["m", "f", "f", "f"], "town": ["A", "A", "B", "C"]})
    belief = ps.probabilistic_join_attack(
        known, released, ["sex", "town"], agreement={"sex": 0.9, "town": 0.8}
    )
    sex = np.array([[0.1 / (1 - 0.625)] + [0.9 / 0.75] * 3] * 3 + [[0.9 / 0.25] + [0.1 / 0.375] * 3])
    third = 1 / 3
    agree, differ = 0.8 / third, 0.2 / (1 - third)
    town = np.array(
        [
            [agree, agree, differ, differ],
            [differ, differ, agree, differ],
            [differ, differ, differ, agree],
            [1, 1, 1, 1],
        ]
    )
    assert ps.edge_probabilities(belief).probabilities == pytest.approx(
        ps.edge_probabilities(sex * town).probabilities, abs=1e-12
    )
    for bad in (0, 1, 1.5, {"sex": 0.9}):
        with pytest.raises(InputError):
            ps.probabilistic_join_attack(known, released, ["sex", "town"], agreement=bad)


def test_negligible_pairs_keep_a_matching():
    generator = np.random.default_rng(0)
    ages = generator.normal(40, 20, 60)
    known, released = pa.table({"age": ages}), pa.table({"age": ages + generator.normal(0, 1, 60)})
    options = {"agreement": 1 - 1e-9, "truth": "rows"}
    whole = ps.probabilistic_join_attack(known, released, {"age": 5}, **options)
    pruned = ps.probabilistic_join_attack(known, released, {"age": 5}, negligible=1e-6, **options)
    assert whole.matrix.nnz == 3600
    assert pruned.matrix.nnz < 1800
    found = float(ps.expected_cracks(pruned))
    assert found == pytest.approx(float(ps.expected_cracks(whole, precision=0.02)), rel=0.05)
    assert 1 < found < 60
    with pytest.raises(ParameterError, match="negligible"):
        ps.probabilistic_join_attack(known, released, {"age": 5}, negligible=1)


@pytest.mark.parametrize("transactions", [50, 4_000, 1_000_000])
def test_likelihoods_of_any_size_give_the_cracks_of_the_definition(transactions):
    """Likelihoods of a million baskets underflow; the cracks over all 720 matchings do not."""
    from itertools import permutations

    random = np.random.default_rng(3)
    shares = np.array([0.02, 0.03, 0.031, 0.2, 0.6, 0.61])
    counts = random.binomial(transactions, shares)
    names = tuple("abcdef")
    observed = ps.Frequencies(names, counts, transactions)
    belief = ps.probabilistic_frequency_attack(
        observed, dict(zip(names, shares.tolist(), strict=True)), truth="names"
    )
    logs = counts * np.log(shares[:, None]) + (transactions - counts) * np.log1p(-shares[:, None])
    ways = list(permutations(range(6)))
    weights = np.array([logs[range(6), way].sum() for way in ways])
    weights = np.exp(weights - weights.max())
    cracks = np.array([sum(i == j for i, j in enumerate(way)) for way in ways])
    expected = float((weights * cracks).sum() / weights.sum())
    assert ps.expected_cracks(belief) == pytest.approx(expected, rel=1e-9)
    assert expected > 3
