"""Leakage and closeness against the definitions, on random small tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import isclose, log2

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.counting import distributions
from crypsis.dataset import Dataset
from crypsis.inference import attribute_disclosure, leakage, riskiest_sets
from papers.itpr2019.printed_formulas import printed_itpr
from papers.itpr2019.sweeps import of_table

Rows = list[tuple[int, int]]
unhurried = settings(max_examples=25, deadline=None)

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)
wide = st.lists(st.tuples(*[st.integers(0, 2)] * 4, st.integers(0, 2)), min_size=1, max_size=30)


def table_of(pairs: Rows) -> pa.Table:
    ids = list(range(len(pairs)))
    return pa.table({"id": ids, "y": [y for y, _ in pairs], "x": [x for _, x in pairs]})


def brute_entropy(values: list[int]) -> float:
    counts = Counter(values)
    return -sum(n / len(values) * log2(n / len(values)) for n in counts.values())


@given(rows)
@unhurried
def test_every_measure_is_its_definition(pairs: Rows) -> None:
    found = leakage(table_of(pairs), "x", ["y"])
    groups: dict[int, list[int]] = defaultdict(list)
    for y, x in pairs:
        groups[y].append(x)
    n = len(pairs)
    h = brute_entropy([x for _, x in pairs])
    inner = {y: brute_entropy(xs) for y, xs in groups.items()}
    weighted = {y: len(xs) / n * inner[y] for y, xs in groups.items()}
    left = sum(weighted.values())
    prior = Counter(x for _, x in pairs)
    tops = {y: Counter(xs).most_common(1)[0][1] for y, xs in groups.items()}
    divergence = max(
        sum(c / len(xs) * log2(c / len(xs) / (prior[x] / n)) for x, c in Counter(xs).items())
        for xs in groups.values()
    )
    joint = brute_entropy([10 * y + x for y, x in pairs])
    close = pytest.approx
    assert found.entropy_bits == close(h, abs=1e-9)
    assert found.conditional_entropy_bits == close(left, abs=1e-9)
    assert found.joint_entropy_bits == close(joint, abs=1e-9)
    assert found.mutual_information == close(h - left, abs=1e-9)
    assert found.conditional_privacy == close(1 - 2 ** -(h - left), abs=1e-9)
    assert found.max_information_leakage == close(h - min(weighted.values()), abs=1e-9)
    assert found.max_information_leakage_difference == close(h - min(inner.values()), abs=1e-9)
    assert found.max_information_leakage_divergence == close(divergence, abs=1e-9)
    assert found.entropy_l_diversity == close(2 ** -min(inner.values()))
    assert found.best_guess.average == close(sum(tops.values()) / n)
    assert found.best_guess.worst == close(max(tops[y] / len(groups[y]) for y in groups))
    assert found.best_guess.prior == close(max(prior.values()) / n)
    if h:
        assert found.discrimination_rate == close(1 - left / h, abs=1e-9)
        smallest = min(weighted.values())
        assert found.itpr == close(1 - len(groups) * smallest / h, abs=1e-9)
        assert printed_itpr(found) == close(1 - len(groups) * min(inner.values()) / h, abs=1e-9)


@given(rows)
@unhurried
def test_bounds(pairs: Rows) -> None:
    found = leakage(table_of(pairs), "x", ["y"])
    assert 0 <= found.discrimination_rate <= found.itpr <= 1
    assert 0 <= found.conditional_privacy < 1
    assert found.mutual_information >= 0
    assert found.best_guess.prior <= found.best_guess.average <= found.best_guess.worst + 1e-12
    identity = leakage(table_of(pairs), "id", ["y"], unique=True)
    assert 0 <= identity.discrimination_rate <= identity.itpr <= 1


@given(rows)
@unhurried
def test_mutual_information_is_symmetric(pairs: Rows) -> None:
    table = table_of(pairs)
    one = leakage(table, "x", ["y"]).mutual_information
    other = leakage(table, "y", ["x"]).mutual_information
    assert one == pytest.approx(other, abs=1e-9)


@given(rows, st.permutations(range(5)), st.permutations(range(5)), st.randoms())
@unhurried
def test_relabelling_and_row_order_change_nothing(
    pairs: Rows, ys: list[int], xs: list[int], random: object
) -> None:
    renamed = [(ys[y], xs[x]) for y, x in pairs]
    random.shuffle(renamed)  # type: ignore[attr-defined]
    one, other = (leakage(table_of(table), "x", ["y"]) for table in (pairs, renamed))
    for name, value in one.to_dict().items():
        if type(value) is float and name not in ("itpr_shuffled", "t"):
            assert getattr(other, name) == pytest.approx(value, abs=1e-9), name
    assert other.best_guess.average == one.best_guess.average
    assert other.best_guess.worst == one.best_guess.worst


@given(rows)
@unhurried
def test_itpr_is_one_exactly_when_a_group_determines_the_target(pairs: Rows) -> None:
    found = leakage(table_of(pairs), "x", ["y"])
    groups: dict[int, set[int]] = defaultdict(set)
    for y, x in pairs:
        groups[y].add(x)
    uncertain = len({x for _, x in pairs}) > 1
    determined = any(len(values) == 1 for values in groups.values())
    assert (found.itpr == 1) == (uncertain and determined)


@given(rows, st.integers(0, 4), st.integers(0, 4))
@unhurried
def test_merging_given_values_never_raises_the_information(pairs: Rows, a: int, b: int) -> None:
    merged = [(a if y == b else y, x) for y, x in pairs]
    one, other = (leakage(table_of(table), "x", ["y"]) for table in (pairs, merged))
    assert other.mutual_information <= one.mutual_information + 1e-9
    assert other.best_guess.average <= one.best_guess.average + 1e-12
    assert other.best_guess.worst <= one.best_guess.worst + 1e-12


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6))
@unhurried
def test_unique_targets_need_only_sizes(sizes: list[int]) -> None:
    y = [i for i, size in enumerate(sizes) for _ in range(size)]
    table = pa.table({"y": y, "id": range(len(y))})
    declared = leakage(table, "id", ["y"], unique=True).to_dict()
    counted = leakage(table, "id", ["y"]).to_dict()
    for name, value in declared.items():
        if type(value) is float and name not in ("itpr_shuffled", "t"):
            assert counted[name] == pytest.approx(value, abs=1e-9), name


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=5))
@unhurried
def test_a_contingency_table_is_its_cells(table: list[list[int]]) -> None:
    if not np.sum(table):
        return
    pairs = [(y, x) for y, row in enumerate(table) for x, n in enumerate(row) for _ in range(n)]
    found = leakage(table_of(pairs), "x", ["y"])
    known = of_table(table)
    assert isclose(found.itpr, known.itpr)
    assert isclose(found.mutual_information, known.mutual_information, abs_tol=1e-12)


@given(rows, st.booleans())
@unhurried
def test_closeness_is_the_written_out_distance(pairs: Rows, ordered: bool) -> None:
    table = pa.table({"y": [y for y, _ in pairs], "x": [x for _, x in pairs]})
    found = attribute_disclosure(
        table, quasi_identifiers=["y"], sensitive=["x"], distances={"x": "ordered" if ordered else "equal"}
    )
    values = sorted({x for _, x in pairs})
    counts = [
        [sum(1 for pair in pairs if pair == (y, x)) for x in values] for y in sorted({y for y, _ in pairs})
    ]
    total = np.sum(counts, axis=0)
    distance = distributions.ordered_distance if ordered else distributions.total_variation
    assert found.t == pytest.approx(max(distance(row, total) for row in counts), abs=1e-9)
    assert found.k == min(map(sum, counts))
    assert found.distinct_l == min(sum(n > 0 for n in row) for row in counts)


@given(wide, st.sampled_from(["best_guess", "worst_guess", "mutual_information"]), st.data())
@settings(max_examples=20, deadline=None)
def test_search_with_a_threshold_finds_the_minimal_sets(
    table: list[tuple[int, ...]], measure: str, data: st.DataObject
) -> None:
    from itertools import combinations

    names = ("a", "b", "c", "d")
    columns = {name: [row[i] for row in table] for i, name in enumerate((*names, "x"))}
    dataset = Dataset.from_frame(pa.table(columns))
    values = {}
    for size in (1, 2, 3, 4):
        for chosen in combinations(names, size):
            leaked = leakage(dataset, "x", chosen)
            values[frozenset(chosen)] = {
                "best_guess": leaked.best_guess.average,
                "worst_guess": leaked.best_guess.worst,
                "mutual_information": leaked.mutual_information,
            }[measure]
    threshold = data.draw(st.sampled_from(sorted(values.values())))
    reaching = {chosen for chosen, value in values.items() if value >= threshold - 1e-12}
    minimal = {one for one in reaching if not any(other < one for other in reaching)}
    found = riskiest_sets(
        pa.table(columns),
        "x",
        names,
        max_columns=4,
        measure=measure,
        threshold=threshold,  # type: ignore[arg-type]
    )
    assert {frozenset(one.columns) for one in found.reaching} == minimal
