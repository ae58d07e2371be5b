"""Equivalence classes against counting by hand, other programs' answers, and a small population."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis as cr
from crypsis import singling_out as so
from crypsis.errors import ColumnError, ParameterError, RoleError

ROWS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["x", "y", None])), min_size=1, max_size=40)


def table(rows, *names):
    columns = list(zip(*rows, strict=True))
    kinds = [pa.int64() if isinstance(rows[0][i], int) else pa.string() for i in range(len(names))]
    return pa.table({n: pa.array(c, k) for n, c, k in zip(names, columns, kinds, strict=True)})


@settings(deadline=None, max_examples=40)
@given(rows=ROWS, threshold=st.sampled_from([0.05, 0.2, 0.5, 1.0]))
def test_equivalence_classes_by_hand(rows, threshold):
    data = pa.table({"a": [a for a, _ in rows], "b": pa.array([b for _, b in rows], pa.string())})
    found = so.equivalence_classes(data, ["a", "b"], threshold=threshold)
    sizes = Counter(rows)
    risks = [1 / sizes[row] for row in rows]
    assert found.k == min(sizes.values())
    assert found.classes == len(sizes)
    assert dict(zip(found.class_sizes, found.class_counts, strict=True)) == Counter(sizes.values())
    assert found.risk.prosecutor.maximum == max(risks)
    assert found.risk.prosecutor.average == pytest.approx(len(sizes) / len(rows))
    assert found.risk.prosecutor.share_above == pytest.approx(
        sum(risk > threshold for risk in risks) / len(rows)
    )
    assert found.risk.marketer.average == pytest.approx(len(sizes) / len(rows))
    assert found.risk.journalist is None
    assert found.smallest.size == found.k
    listed = so.records_at_risk(data, ["a", "b"], threshold=threshold)
    expected = [i for i, risk in enumerate(risks) if risk > threshold]
    assert sorted(listed.records["row"].to_pylist()) == expected
    assert [rows[i] for i in listed.records["row"].to_pylist()] == list(
        zip(listed.records["a"].to_pylist(), listed.records["b"].to_pylist(), strict=True)
    )


def test_classes_that_overlap_count_each_record_once():
    """A missing value matches any: a record is in many classes, and is still one record."""
    whole = [(n, "f") for n in range(40)] + [(50, "m")] * 60
    partly = [(None, "f")] * 3
    found = so.equivalence_classes(table(whole + partly, "age", "sex"), ["age", "sex"], missing="wildcard")
    alike = [
        sum(
            all(None in pair or len({*pair}) == 1 for pair in zip(one, other, strict=True))
            for other in whole + partly
        )
        for one in whole + partly
    ]
    assert found.units == len(alike) == 103
    for k in (2, 4, 5, 44, 61):
        assert found.records_below(k) == sum(size < k for size in alike)
        assert found.share_below(k) == pytest.approx(sum(size < k for size in alike) / 103)
    assert found.records_below(5) == 40


# k by pyCANON 1.3.6 on the same file (the benchmark asks it again for many more sets).
PYCANON = {
    ("sex",): 10771,
    ("race", "sex"): 109,
    ("age",): 1,
    ("education", "sex"): 16,
    ("workclass",): 7,
    ("marital-status", "relationship"): 1,
    ("income", "race"): 25,
}


@pytest.mark.parametrize("columns", PYCANON)
def test_k_is_that_of_pycanon_where_nothing_is_missing(adult, columns):
    assert so.k_anonymity(adult, columns) == PYCANON[columns]


def test_k_where_a_value_is_missing():
    # pyCANON 1.3.6 gives k = 2 for town alone and 1 for town and sex: it drops the record without
    # a town. An intruder who knows that the town is missing identifies that record; where the
    # record is dropped, the result reports it.
    rows = {"town": ["a", "a", "b", "b", None], "sex": ["f", "f", "m", "m", "m"]}
    assert so.equivalence_classes(pa.table(rows), ["town"]).k == 1
    dropped = so.equivalence_classes(pa.table(rows), ["town"], missing="drop")
    assert (dropped.k, dropped.dropped, dropped.units) == (2, 1, 4)
    wild = so.equivalence_classes(pa.table(rows), ["town"], missing="wildcard")
    assert wild.k == 3  # two from the same town, and the one who may be from there
    assert (wild.records_below(4), wild.records_below(6)) == (4, 5)  # each record once
    assert so.equivalence_classes(pa.table(rows), ["town", "sex"]).k == 1


def test_persons_are_counted_once_in_a_class():
    rows = {"who": [1, 1, 1, 2, 3, 3], "age": [30, 30, 41, 30, 52, 52]}
    by_row = so.equivalence_classes(pa.table(rows), ["age"])
    assert (by_row.unit, by_row.units, by_row.k) == ("records", 6, 1)
    by_person = so.equivalence_classes(pa.table(rows), ["age"], person="who")
    assert (by_person.unit, by_person.units, by_person.k) == ("people", 3, 1)
    assert by_person.classes == 3
    assert (by_person.records_below(2), by_person.records_below(3)) == (2, 3)  # 1 and 3; 2 too
    assert by_person.text_below(2).startswith("2 of 3 people (66.7 %) are in")
    # 30: persons 1 and 2; 41: person 1; 52: person 3. Person 1 is unique in the record with 41.
    assert by_person.risk.prosecutor.average == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert by_person.risk.prosecutor.share_above == pytest.approx(1.0)
    assert so.equivalence_classes(
        pa.table(rows), ["age"], person="who", threshold=0.6
    ).risk.prosecutor.share_above == (pytest.approx(2 / 3))


def test_journalist_and_marketer_against_a_population_table():
    everyone = cr.Dataset.from_frame(pa.table({"age": [30] * 4 + [41] * 2 + [52], "x": range(7)}))
    sample = pa.table({"age": [30, 30, 41]})
    release = cr.Dataset.from_frame(sample, quasi_identifiers=["age"], population=everyone)
    found = so.equivalence_classes(release, threshold=0.4)
    assert found.risk.journalist.maximum == 1 / 2
    assert found.risk.journalist.average == pytest.approx((2 / 4 + 1 / 2) / 3)
    assert found.risk.journalist.share_above == pytest.approx(1 / 3)
    assert found.risk.marketer.average == found.risk.journalist.average
    assert found.risk.prosecutor.maximum == 1.0
    met = so.delta_presence(release)
    assert (met.k_map, met.low, met.high, met.unmatched) == (2, 0.0, 0.5, 0)


def test_delta_presence_counts_people_missing_from_the_population():
    everyone = pa.table({"age": pa.array([30, 41, 41], pa.int64())})
    met = so.delta_presence(pa.table({"age": [30.0, 99.0, None]}), ["age"], population=everyone)
    # Nobody is 99. Where nobody's age is missing in the population, a missing age may be any.
    assert (met.k_map, met.unmatched, met.high) == (0, 1, 1.0)
    jobs = pa.table({"job": ["cook", "nurse", "nurse"]})
    met = so.delta_presence(pa.table({"job": ["nurse", "judge"]}), ["job"], population=jobs)
    assert (met.k_map, met.unmatched) == (0, 1)
    blank = so.delta_presence(pa.table({"age": [30, None]}), ["age"], population=everyone, missing="wildcard")
    assert (blank.k_map, blank.unmatched) == (1, 0)
    dropped = so.delta_presence(pa.table({"age": [41, None]}), ["age"], population=everyone, missing="drop")
    assert (dropped.k_map, dropped.unmatched) == (2, 0)


@settings(deadline=None, max_examples=30)
@given(rows=ROWS, chosen=st.sets(st.integers(0, 39), min_size=1))
def test_delta_presence_by_hand(rows, chosen):
    picked = [rows[i] for i in sorted(chosen) if i < len(rows)]
    if not picked:
        return

    def frame(part):
        return pa.table({"a": [a for a, _ in part], "b": pa.array([b for _, b in part], pa.string())})

    met = so.delta_presence(frame(picked), ["a", "b"], population=frame(rows))
    sample, people = Counter(picked), Counter(rows)
    assert met.k_map == min(people[row] for row in sample)
    assert met.low == pytest.approx(min(sample[row] / people[row] for row in people))
    assert met.high == pytest.approx(max(sample[row] / people[row] for row in people))
    assert met.unmatched == 0


def test_weights_replace_the_population():
    rows = pa.table({"age": [30, 30, 41], "w": [10.0, 30.0, 5.0]})
    found = so.equivalence_classes(rows, ["age"], weight="w")
    one, two = math.log(5) / 4, 1 / 19 - math.log(20) / 19**2  # E[1/F | f] for f = 1 and 2
    assert found.risk.journalist.maximum == pytest.approx(one)
    assert found.risk.journalist.average == pytest.approx((2 * two + one) / 3)
    with pytest.raises(ParameterError, match="Weights"):
        so.equivalence_classes(rows.set_column(1, "w", pa.array([0.0, 0.0, 1.0])), ["age"], weight="w")


def test_household_risk_by_hand():
    rows = pa.table({"home": [1, 1, 2, 2, 3, None], "age": [30, 41, 30, 30, 41, 41]})
    found = so.household_risk(rows, ["age"], household="home", threshold=0.5)
    one = 1 - (1 - 1 / 3) * (1 - 1 / 3)
    two = 1 - (1 - 1 / 3) ** 2
    three = 1 / 3
    assert found.households == 3
    assert found.maximum == pytest.approx(max(one, two, three))
    assert found.expected == pytest.approx(one + two + three)
    assert found.average == pytest.approx((one + two + three) / 3)
    assert found.share_above == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda t: so.equivalence_classes(t), RoleError),
        (lambda t: so.equivalence_classes(t, ["agee"]), ColumnError),
        (lambda t: so.equivalence_classes(t, ["age"], threshold=0), ParameterError),
        (lambda t: so.equivalence_classes(t, ["age"], threshold=1.1), ParameterError),
        (lambda t: so.equivalence_classes(t, ["age"], person="age"), RoleError),
        (lambda t: so.equivalence_classes(t, ["none"], missing="drop"), ParameterError),
        (lambda t: so.equivalence_classes(t, ["none"], missing="wildcard", person="home"), ParameterError),
        (lambda t: so.delta_presence(t, ["age"], population=None), RoleError),
        (lambda t: so.delta_presence(t, ["age"], population=pa.table({"age": ["x"]})), ColumnError),
        (lambda t: so.delta_presence(t, ["age"], population=pa.table({"x": [1]})), ColumnError),
        (lambda t: so.household_risk(t, ["age"], household="age"), RoleError),
        (lambda t: so.household_risk(t, ["age"], household="none"), ParameterError),
        (lambda t: so.records_at_risk(t, ["age"], threshold=-1), ParameterError),
    ],
)
def test_bad_questions_are_clear_errors(ask, error):
    people = pa.table({"age": [1, 2, 2], "home": [1, 1, 2], "none": pa.nulls(3, pa.string())})
    with pytest.raises(error):
        ask(people)


def test_values_of_the_data_are_not_printed():
    rows = pa.table({"town": ["Sleepy Hollow", "Elsewhere", "Elsewhere"]})
    for found in (so.equivalence_classes(rows, ["town"]), so.records_at_risk(rows, ["town"])):
        assert "Hollow" not in str(found) + found._repr_html_() + str(found.to_dict())
    assert so.equivalence_classes(rows, ["town"]).smallest.values == ("Sleepy Hollow",)


def test_merging_values_never_lowers_k():
    random = np.random.default_rng(0)
    fine = random.integers(0, 40, 500)
    before = so.equivalence_classes(pa.table({"v": fine}), ["v"]).k
    after = so.equivalence_classes(pa.table({"v": fine // 3}), ["v"]).k
    assert after >= before


def test_minus_zero_and_nan_are_told_apart_by_whoever_sees_them():
    rows = pa.table({"v": [0.0, 0.0, -0.0, float("nan"), None, 1.5], "x": range(6)})
    found = so.records_at_risk(rows, ["v"], threshold=0.5)
    assert so.equivalence_classes(rows, ["v"]).class_sizes == (1, 2)
    assert found.records["row"].to_pylist() == [2, 3, 4, 5]
    assert found.records["class_size"].to_pylist() == [1] * 4
