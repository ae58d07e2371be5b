from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from crypsis import linkage
from crypsis.counting.distributions import entropy_bits, ordered_distance
from crypsis.errors import InputError, ParameterError
from crypsis.hierarchies import Hierarchy
from crypsis.linkage._diversity import SortedColumn, diversity, rank_interval

CRITERIA = ("variance", "distinct", "entropy", "t-closeness")


def plain(values: np.ndarray, part: np.ndarray, criterion: str) -> float:
    if criterion == "variance":
        return float(np.var(part))
    if criterion == "distinct":
        return float(len(set(part.tolist())))
    if criterion == "entropy":
        return entropy_bits(list(Counter(part.tolist()).values()))
    levels = np.unique(values)
    counts = [[(v == level).sum() for level in levels] for v in (part, values)]
    return ordered_distance(*counts)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("digits", [0, 1, 6])
def test_diversity_of_every_interval_equals_the_plain_one(criterion: str, digits: int) -> None:
    values = np.random.default_rng(digits).normal(5, 2, size=40).round(digits)
    column = SortedColumn.of(values)
    low, high = (
        np.array(v) for v in zip(*[(i, j) for i in range(40) for j in range(i + 1, 41)], strict=True)
    )
    found = diversity(column, low, high, criterion)  # type: ignore[arg-type]
    expected = [plain(values, column.values[i:j], criterion) for i, j in zip(low, high, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_variance_of_near_equal_values_far_from_the_rest() -> None:
    values = np.concatenate([np.linspace(0, 1, 5), 1e6 + 1e-3 * np.arange(5)])
    column = SortedColumn.of(values)
    found = diversity(column, np.array([5]), np.array([10]), "variance")
    assert found[0] == pytest.approx(np.var(values[5:] - 1e6), rel=1e-6)


def test_variance_with_a_hierarchy_is_the_mean_marginality() -> None:
    tree = Hierarchy.from_ancestors({"a": ("p", "*"), "b": ("p", "*"), "c": ("q", "*")})
    names = ("a", "b", "c")
    codes = np.array([0, 0, 1, 1, 1, 2])
    column = SortedColumn.of(codes)
    low, high = np.array([0, 1, 0]), np.array([3, 5, 6])
    found = diversity(column, low, high, "variance", hierarchy=(tree, names))
    for i in range(3):
        part = [names[c] for c in codes[low[i] : high[i]]]
        expected = tree.semantic_distances(part).sum() / len(part)
        assert found[i] == pytest.approx(expected)


def test_intervals_end_at_the_ends_of_the_column() -> None:
    low, high = rank_interval(np.array([1.0, 3.0, 5.0, 2.5]), np.array([2.0, 0.0, 9.0, 0.2]), 5)
    assert list(zip(low.tolist(), high.tolist(), strict=True))[:3] == [(0, 3), (2, 3), (0, 5)]
    assert high[3] - low[3] == 1


@pytest.fixture
def files() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3))
    return x, x + 0.4 * rng.normal(size=x.shape)


@pytest.mark.parametrize("mapping", ["protector", "subject"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_record_equals_algorithm_2_one_by_one(
    files: tuple[np.ndarray, np.ndarray], mapping: str, criterion: str
) -> None:
    x, y = files
    found = linkage.permuted_privacy(x, y, d=3, v=0.1, mapping=mapping, criterion=criterion)  # type: ignore[arg-type]
    ranks = np.argsort(np.argsort(y, axis=0), axis=0) + 1
    for i in range(len(x)):
        star = [np.argmin(np.abs(y[:, j] - x[i, j])) for j in range(3)]
        centre = np.array([ranks[star[j], j] for j in range(3)])
        apart = np.abs(ranks - centre)
        row = i if mapping == "protector" else int(np.argmin(apart.max(axis=1)))
        np.testing.assert_array_equal(found.distances[i], apart[row])
        good = bool((apart[row] >= 3).all())
        for j in range(3):
            part = np.sort(y[:, j])[max(centre[j] - 4, 0) : centre[j] + 3]
            here = plain(y[:, j], part, criterion)
            assert found.diversities[i, j] == pytest.approx(here)
            good &= here <= 0.1 if criterion == "t-closeness" else here >= 0.1
        assert found.meets[i] == good
    assert found.share == found.meets.mean()
    assert found.satisfied == bool(found.meets.all())


def test_the_largest_d_and_v_of_the_file_are_met_and_no_larger_ones(
    files: tuple[np.ndarray, np.ndarray],
) -> None:
    for criterion in CRITERIA:
        best = linkage.permuted_privacy(*files, criterion=criterion)  # type: ignore[arg-type]
        assert best.satisfied
        assert best.share == 1.0
        more = [d + 1 for d in best.d]
        assert not linkage.permuted_privacy(*files, d=more, criterion=criterion).satisfied  # type: ignore[arg-type]


def test_which_records_fail_and_why(files: tuple[np.ndarray, np.ndarray]) -> None:
    found = linkage.permuted_privacy(*files, d=[5, 0, 0], v=[0, 0.5, 0])
    assert found.columns[0].too_near == (found.distances[:, 0] < 5).sum()
    assert found.columns[1].too_uniform == (found.diversities[:, 1] < 0.5).sum()
    assert (found.columns[2].too_near, found.columns[2].too_uniform) == (0, 0)
    for row in range(120):
        assert bool(found.failures(row)) != bool(found.meets[row])
        words = " ".join(found.failures(row))
        assert ("'1' moved" in words) == (found.distances[row, 0] < 5)
        assert ("'2' has a variance" in words) == (found.diversities[row, 1] < 0.5)


def test_any_mapping_may_be_given(files: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = files
    mine = linkage.permuted_privacy(x, y)
    given = linkage.permuted_privacy(x, y, mapping=np.arange(120))
    np.testing.assert_array_equal(mine.distances, given.distances)
    assert given.mapping == "given"
    with pytest.raises(ParameterError, match="row of a masked record"):
        linkage.permuted_privacy(x, y, mapping=np.arange(1, 121))
    with pytest.raises(ParameterError, match="'protector', 'subject'"):
        linkage.permuted_privacy(x, y, mapping="nobody")


def test_suppressed_records_do_not_count(files: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = files
    found = linkage.permuted_privacy(x, y[10:], row_map=np.arange(10, 120))
    assert found.suppressed == 10
    assert np.isnan(found.distances[:10]).all()
    with pytest.raises(InputError, match="row map"):
        linkage.permuted_privacy(x, y[10:])
    with pytest.raises(InputError, match="No original has a masked record"):
        linkage.permuted_privacy(x, y, row_map=np.full(120, -1))


@pytest.mark.parametrize(
    "options", [{"d": -1}, {"d": [1, 2]}, {"v": [-1, 0, 0]}, {"criterion": "range"}, {"ties": "no"}]
)
def test_options_out_of_range(files: tuple[np.ndarray, np.ndarray], options: dict) -> None:
    with pytest.raises(ParameterError):
        linkage.permuted_privacy(*files, **options)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_frontier_agrees_with_permuted_privacy(files: tuple[np.ndarray, np.ndarray], criterion: str) -> None:
    found = linkage.privacy_frontier(*files, distances=[0, 2, 6], criterion=criterion)  # type: ignore[arg-type]
    y = files[1]
    for point in found.points:
        if criterion == "t-closeness":
            v = np.full(3, point.diversity)
        else:
            v = point.diversity * np.array([plain(y[:, j], y[:, j], criterion) for j in range(3)])
        met = linkage.permuted_privacy(*files, d=point.distance, v=v.tolist(), criterion=criterion)  # type: ignore[arg-type]
        assert point.share == met.share
    best = found.at(0.5)
    assert all(point.share >= 0.5 for point in best)
    for a in best:
        assert not any(b is not a and b.distance >= a.distance and b.diversity == a.diversity for b in best)


def test_frontier_has_a_grid_of_its_own(files: tuple[np.ndarray, np.ndarray]) -> None:
    found = linkage.privacy_frontier(*files)
    assert sorted({point.distance for point in found.points}) == [0, 1, 2, 5, 10]
    assert found.points[0].share == 1.0
    with pytest.raises(ParameterError):
        linkage.privacy_frontier(*files, distances=[-1])


def test_of_two_equally_near_values_the_lower_is_taken() -> None:
    seen = linkage.verify_record({"a": [1.0, 3.0, 5.0]}, {"a": 2.0})
    assert seen.nearest_ranks == (1.0,)
