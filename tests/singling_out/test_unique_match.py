"""The probability that a unique match is correct: by enumeration of all samples, and by drawing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from crypsis import singling_out as so
from crypsis.errors import ParameterError, RoleError
from crypsis.report.dossier import numbers


def _others(keys, chances, clusters):
    """The expectation of the others who match sample uniques, over all samples, and ours of it."""
    expected = estimated = 0.0
    people = {cluster: [i for i, c in enumerate(clusters) if c == cluster] for cluster in clusters}
    names = list(people)
    for drawn in product((False, True), repeat=len(names)):
        chance = np.prod([chances[n] if d else 1 - chances[n] for n, d in zip(names, drawn, strict=True)])
        sample = [i for n, d in zip(names, drawn, strict=True) if d for i in people[n]]
        if not sample:
            continue
        mine = [keys[i] for i in sample]
        once = [key for key in mine if mine.count(key) == 1]
        expected += chance * sum(keys.count(key) - 1 for key in once)
        table = pa.table(
            {"key": mine, "w": [1 / chances[clusters[i]] for i in sample], "c": [clusters[i] for i in sample]}
        )
        estimated += chance * _ours(table)
    return expected, estimated


def _ours(table: pa.Table) -> float:
    from crypsis.dataset import Dataset
    from crypsis.singling_out._unique_match import _Sample

    data = Dataset.from_frame(table, weight="w", cluster="c")
    return float(_Sample(data, ("key",)).matches()[1].sum())


@pytest.mark.parametrize("seed", range(2))
def test_the_others_are_estimated_without_bias_over_all_samples(seed: int) -> None:
    generator = np.random.default_rng(seed)
    clusters = [0, 1, 1, 2, 3, 3, 3]
    keys = generator.integers(0, 2, len(clusters)).tolist()
    chances = dict(enumerate(generator.uniform(0.2, 0.9, 4).tolist()))
    expected, estimated = _others(keys, chances, clusters)
    assert estimated == pytest.approx(expected, rel=1e-9)


def test_simple_random_samples_have_the_known_formula() -> None:
    keys = [1, 2, 3, 4, 4, 5, 5, 5]
    found = so.unique_match_risk(pa.table({"key": keys}), ["key"], population=80)
    share = 0.1  # Skinner and Elliot (2002): q u / (q u + 2 (1 - q) p)
    assert found.probability == pytest.approx(share * 3 / (share * 3 + 2 * 0.9 * 1))
    assert found.expected == pytest.approx(3 * float(found.probability))
    assert found.design == "simple random sample"


def test_clusters_matter_where_their_members_are_alike() -> None:
    generator = np.random.default_rng(3)
    homes = np.repeat(np.arange(4000), 2)
    key = generator.integers(0, 900, 8000)
    key = np.where(generator.random(8000) < 0.6, key[(np.arange(8000) // 2) * 2], key)
    drawn = np.isin(homes, generator.choice(4000, 400, replace=False))
    table = pa.table({"key": key[drawn], "home": homes[drawn], "w": np.full(drawn.sum(), 10.0)})
    value, counts = np.unique(key[drawn], return_counts=True)
    people = np.array([(key == one).sum() for one in value[counts == 1]])
    truth = people.size / people.sum()
    found = so.unique_match_risk(table, ["key"], weight="w", cluster="home")
    assert found.probability.low <= truth <= found.probability.high
    ignored = so.unique_match_risk(table, ["key"], weight="w")
    assert ignored.probability.high < truth  # too low: an intruder is underestimated


def test_no_unique_record_has_no_probability() -> None:
    found = so.unique_match_risk(pa.table({"key": [1, 1]}), ["key"], population=20)
    assert (found.probability, found.expected) == (None, 0.0)


def test_no_class_of_two_leaves_a_wide_interval() -> None:
    found = so.unique_match_risk(pa.table({"key": [1, 2, 3]}), ["key"], population=30)
    assert found.probability == 1
    assert found.probability.low < 0.1


def test_what_it_needs_is_named() -> None:
    table = pa.table({"key": [1, 2], "w": [1.0, -1.0]})
    with pytest.raises(RoleError, match="weights or the size"):
        so.unique_match_risk(table, ["key"])
    with pytest.raises(ParameterError, match="positive"):
        so.unique_match_risk(table, ["key"], weight="w")
    with pytest.raises(ParameterError, match="confidence"):
        so.unique_match_risk(table, ["key"], population=9, confidence=2)


def test_the_people_who_match_are_the_sum_of_the_classes_in_the_population() -> None:
    """By brute force over samples: the sum of F is met, the sum of 1/F is more than `expected`."""
    generator = np.random.default_rng(8)
    key = np.minimum(generator.pareto(0.7, 6000) * 40, 4000).astype(int)
    classes = np.bincount(key)
    ratios, right = [], []
    for _ in range(30):
        mine = key[generator.choice(6000, 600, replace=False)]
        value, counts = np.unique(mine, return_counts=True)
        others = classes[value[counts == 1]]
        found = so.unique_match_risk(pa.table({"key": mine}), ["key"], population=6000)
        assert found.people == pytest.approx(found.sample_uniques / float(found.probability))
        ratios.append((found.people - found.sample_uniques) / (others.sum() - others.size))
        right.append(found.expected / (1 / others).sum())
    assert np.mean(ratios) == pytest.approx(1, abs=0.1)
    assert np.mean(right) < 0.7  # which is why the dossier does not call it the correct matches


def test_the_dossier_has_the_people_who_match() -> None:
    rows = numbers._KEY_NUMBERS["singling_out"]
    titles = [title for name, _, title in rows if name == "unique_match"]
    assert titles == [
        "probability that a unique match is correct",
        "people of the population who match a sample unique, by the design",
    ]
