from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from crypsis import linkage
from crypsis.errors import InputError, ParameterError
from tests.linkage.brute import average_ranks, pairwise


@pytest.fixture
def people() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(400, 3))


def swapped(x: np.ndarray, reach: int, seed: int = 0) -> np.ndarray:
    """Values exchanged between records whose ranks differ by at most about `reach`."""
    rng = np.random.default_rng(seed)
    columns = []
    for column in x.T:
        ordered = np.argsort(column)
        order = np.argsort(np.arange(len(column)) + rng.uniform(0, reach, len(column)))
        moved = np.empty(len(column))
        moved[ordered] = column[ordered[order]]
        columns.append(moved)
    return np.column_stack(columns)


def test_chance_is_measured_on_the_release_alone(people: np.ndarray) -> None:
    y = swapped(people, 300)
    seen = linkage.verify_record(y, people[7], permutation_only=True)
    ranks = average_ranks(y)
    table = pairwise(ranks, ranks)
    np.fill_diagonal(table, np.inf)
    expected = (table.min(axis=1) <= seen.record_distance).mean()
    assert seen.chance is not None
    assert seen.chance.value == pytest.approx(expected)
    assert seen.chance_independent is not None
    assert seen.chance_independent.low <= seen.chance_independent.value


def test_a_release_that_hardly_moved_is_not_plausible_as_chance(people: np.ndarray) -> None:
    near = [linkage.verify_record(swapped(people, 3), p, permutation_only=True) for p in people[:20]]
    far = [linkage.verify_record(swapped(people, 400), p, permutation_only=True) for p in people[:20]]
    assert sum(not view.plausible for view in near) >= 18
    assert sum(bool(view.plausible) for view in far) >= 15
    assert "probably your record" in next(v for v in near if not v.plausible).reasons[-1]


def test_with_noise_there_are_distances_but_no_chance(people: np.ndarray) -> None:
    y = people + 0.3
    seen = linkage.verify_record(y, people[0])
    assert (seen.plausible, seen.chance, seen.chance_independent) == (None, None, None)
    assert len(seen.columns) == 3
    assert seen.record_distance == max(column.distance for column in seen.columns)
    assert all(column.column_diversity == pytest.approx(np.var(y[:, 0]), rel=0.5) for column in seen.columns)
    with pytest.raises(InputError, match="not a permutation"):
        linkage.verify_record(y, people[0], permutation_only=True)


def test_the_record_may_come_in_many_forms(people: np.ndarray) -> None:
    names = ["a", "b", "c"]
    y = people + 0.1
    frame = pl.DataFrame(y, schema=names)
    values = dict(zip(names, people[3].tolist(), strict=True))
    expected = linkage.verify_record(y, people[3]).distances
    for record in (values, pl.DataFrame([values]), pd.DataFrame([values])):
        assert linkage.verify_record(frame, record).distances == expected
    with pytest.raises(InputError, match="One record is expected; 2"):
        linkage.verify_record(y, people[:2])


def test_categories_are_ordered_by_the_release() -> None:
    release = {"job": ["cook"] * 5 + ["clerk"] * 3 + ["nurse"], "age": list(range(9))}
    seen = linkage.verify_record(
        release, {"job": "clerk", "age": 6}, orders={"job": "frequency"}, criterion="entropy"
    )
    assert seen.candidates >= 1
    unheard = linkage.verify_record(
        release, {"job": "pilot", "age": 6}, orders={"job": "frequency"}, criterion="distinct"
    )
    assert [column.column for column in unheard.columns] == ["job", "age"]


def test_a_row_of_the_release_as_mapping(people: np.ndarray) -> None:
    y = people + 0.1
    protector = linkage.permuted_privacy(people, y).distances[5]
    mine = linkage.verify_record(y, people[5], mapping=5)
    assert mine.distances == tuple(protector)
    with pytest.raises(ParameterError):
        linkage.verify_record(y, people[5], mapping=400)
    with pytest.raises(ParameterError, match="at least 100"):
        linkage.verify_record(y, people[5], random_records=1)


def test_values_are_not_shown(people: np.ndarray) -> None:
    shown = linkage.verify_record(people + 0.1, people[0]).to_dict()
    assert "row" not in shown
