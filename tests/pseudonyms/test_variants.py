"""Beyond the paper: sensitive values, group pseudonyms, several releases."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest

from crypsis import pseudonyms as ps
from crypsis.errors import InputError, TooLargeError


def written_out(cells, truth, values):
    """The distribution of the number of known sensitive values, from the definition."""
    size = len(truth)
    counts = np.zeros(size + 1)
    for m in permutations(range(size)):
        weight = math.prod(cells[i][m[i]] for i in range(size))
        hits = sum(values[m[i]] is not None and values[m[i]] == values[truth[i]] for i in range(size))
        counts[hits] += weight
    return counts / counts.sum()


@pytest.mark.parametrize("seed", range(5))
def test_sensitive_values_against_the_definition(seed):
    generator = np.random.default_rng(seed)
    cells = generator.random((6, 6)) * ((generator.random((6, 6)) < 0.7) | np.eye(6, dtype=bool))
    values = ["flu", "flu", "cold", None, "cold", "flu"]
    belief = ps.Belief(cells, truth=list(range(6)))
    expected = written_out(cells, list(range(6)), values)
    assert ps.sensitive_value_distribution(belief, values).probabilities == pytest.approx(expected, abs=1e-12)
    risk = ps.sensitive_value_risk(belief, values)
    assert risk.expected == pytest.approx(expected @ np.arange(7))
    assert risk.probabilities[3] == 0
    assert risk.by_chance == pytest.approx((9 + 4) / 6)
    assert risk.expected >= ps.expected_cracks(belief) - ps.crack_probabilities(belief)[3] - 1e-12


def test_two_people_one_disease():
    """Sec. VII: Jessica and Steven are a and b in some order; both a and b have AIDS."""
    belief = ps.Belief(
        [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]],
        items=["Jessica", "Steven", "Kim", "Lee"],
        pseudonyms=list("abcd"),
        truth={"Jessica": "b", "Steven": "a", "Kim": "c", "Lee": "d"},
    )
    risk = ps.sensitive_value_risk(belief, {"a": "AIDS", "b": "AIDS", "c": "none", "d": "flu"})
    assert risk.certain == 2
    assert risk.expected == pytest.approx(3)
    assert ps.expected_cracks(belief) == pytest.approx(2)


@pytest.mark.parametrize("values", [["x"], [None] * 4, {"a": 1}])
def test_invalid_sensitive_values(values):
    belief = ps.Belief(np.ones((4, 4)), pseudonyms=list("abcd"), truth=[0, 1, 2, 3])
    with pytest.raises(InputError):
        ps.sensitive_value_risk(belief, values)


def test_distribution_of_sensitive_values_out_of_reach():
    cells = np.random.default_rng(0).random((70, 70))
    belief = ps.Belief(cells, truth=list(range(70)))
    with pytest.raises(TooLargeError, match="sensitive_value_risk"):
        ps.sensitive_value_distribution(belief, [k % 3 for k in range(70)])


def test_groups_against_the_definition():
    generator = np.random.default_rng(1)
    cells, sizes, truth = generator.random((6, 3)), [3, 1, 2], [0, 0, 1, 2, 0, 2]
    weights, hits = [], []
    for groups in product(range(3), repeat=6):
        if np.bincount(groups, minlength=3).tolist() == sizes:
            weights.append(math.prod(cells[i, g] for i, g in enumerate(groups)))
            hits.append(sum(g == truth[i] for i, g in enumerate(groups)))
    shares = np.array(weights) / sum(weights)
    found = ps.group_anonymity(cells, sizes, truth=truth)
    assert found.degree == pytest.approx(-(shares * np.log(shares)).sum() / math.log(60))
    assert found.expected_cracks == pytest.approx(shares @ hits)
    assert found.probabilities.sum(axis=0) == pytest.approx(sizes)
    belief, places = ps.group_belief(cells, sizes, truth=truth), np.repeat(range(3), sizes)
    distribution = ps.sensitive_value_distribution(belief, places.tolist()).probabilities
    assert distribution == pytest.approx(np.bincount(hits, shares, minlength=7), abs=1e-12)


def test_groups_of_one_are_pseudonyms_and_one_group_hides_nothing_more():
    cells = np.random.default_rng(2).random((5, 5))
    alone = ps.group_anonymity(cells, [1] * 5, truth=list(range(5)))
    belief = ps.Belief(cells, truth=list(range(5)))
    assert alone.degree == pytest.approx(ps.degree_of_anonymity(belief))
    assert alone.expected_cracks == pytest.approx(ps.expected_cracks(belief))
    assert ps.group_anonymity(np.ones((4, 1)), [4], truth=[0] * 4).expected_cracks == pytest.approx(4)
    large = ps.group_anonymity(np.ones((200, 4)), [50] * 4, truth=np.repeat(range(4), 50))
    assert large.degree == pytest.approx(1)
    assert large.expected_cracks == pytest.approx(50)


@pytest.mark.parametrize(
    ("sizes", "truth"), [([2, 1], None), ([2, 0], None), ([2, 2, 2], None), ([2, 2], [0, 0, 0, 1])]
)
def test_invalid_groups(sizes, truth):
    with pytest.raises(InputError):
        ps.group_anonymity(np.ones((4, 2)), sizes, truth=truth)


def test_several_releases():
    generator = np.random.default_rng(3)
    beliefs = [ps.Belief(generator.random((5, 5)), truth=list(range(5))) for _ in range(3)]
    each = np.array([ps.crack_probabilities(belief) for belief in beliefs])
    found = ps.multiple_release_risk(beliefs)
    assert found.expected_each == pytest.approx(each.sum(axis=1))
    assert found.expected_once == pytest.approx((1 - (1 - each).prod(axis=0)).sum())
    assert found.expected_always == pytest.approx(each.prod(axis=0).sum())
    product_belief = ps.Belief(np.prod([b.matrix.toarray() for b in beliefs], axis=0), truth=list(range(5)))
    assert found.kept == pytest.approx(ps.expected_cracks(product_belief))
    changed = ps.multiple_release_risk([beliefs[0], beliefs[1].with_truth([1, 0, 2, 3, 4])])
    assert changed.kept is None


def test_releases_must_be_of_the_same_items():
    one = ps.Belief(np.ones((2, 2)), truth=[0, 1], items=["Ann", "Bob"])
    with pytest.raises(InputError):
        ps.multiple_release_risk([])
    with pytest.raises(InputError):
        ps.combine_beliefs([one, ps.Belief(np.ones((3, 3)))])
    with pytest.raises(InputError, match="different items"):
        ps.combine_beliefs([one, ps.Belief(np.ones((2, 2)), items=["Bob", "Ann"])])
