"""Two files of one release, joined on what they share, against brute force over all pairs."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import ColumnError
from crypsis.singling_out import joint_classes


def _equal(one: object, other: object) -> bool:
    return not pd.isna(one) and not pd.isna(other) and one == other


def brute(
    one: pd.DataFrame,
    two: pd.DataFrame,
    shared: list[str],
    mine: list[str],
    theirs: list[str],
    person: str | None,
) -> tuple[dict[int, Fraction], int, int]:
    """The share of records by the size of their joint class; joined, and one to one."""
    left, right = one.to_dict("records"), two.to_dict("records")
    alike = {
        i: [j for j, s in enumerate(right) if all(_equal(r[n], s[n]) for n in shared)]
        for i, r in enumerate(left)
    }

    def cell(i: int, j: int) -> tuple[str, ...]:
        return (*(str(left[i][n]) for n in mine), "|", *(str(right[j][n]) for n in theirs))

    members = defaultdict(set)
    for i, counterparts in alike.items():
        for j in counterparts:
            members[cell(i, j)].add(i if person is None else left[i][person])
    shares: dict[int, Fraction] = defaultdict(Fraction)
    for i, counterparts in alike.items():
        for j in counterparts:
            shares[len(members[cell(i, j)])] += Fraction(1, len(counterparts) * len(left))
    back = defaultdict(list)
    for i, counterparts in alike.items():
        for j in counterparts:
            back[j].append(i)
    single = sum(len(c) == 1 and len(back[c[0]]) == 1 for c in alike.values())
    return dict(shares), sum(bool(c) for c in alike.values()), single


@pytest.mark.parametrize("person", [None, "who"])
def test_brute_force_over_all_pairs_of_records(person: str | None) -> None:
    for seed in range(40):
        draw = np.random.default_rng(seed)
        rows, others = int(draw.integers(1, 25)), int(draw.integers(1, 25))
        span = int(draw.integers(2, 12))
        one = pd.DataFrame(
            {
                "time": draw.choice([*range(span), None], rows),
                "age": draw.integers(0, 3, rows),
                "who": draw.integers(0, 10, rows),
            }
        )
        two = pd.DataFrame(
            {
                "time": draw.choice([*range(span), None], others),
                "town": draw.choice(list("ab"), others),
                "ward": draw.integers(0, 2, others),
            }
        )
        one["time"], two["time"] = one["time"].astype("Int64"), two["time"].astype("Int64")
        found = joint_classes(
            one, two, on="time", columns="age", other_columns=["town", "ward"], person=person
        )
        shares, joined, single = brute(one, two, ["time"], ["age"], ["town", "ward"], person)
        assert dict(zip(found.class_sizes, found.class_shares, strict=True)) == pytest.approx(
            {size: float(share) for size, share in shares.items()}
        ), seed
        assert (found.joined, found.one_to_one) == (joined, single)
        assert found.k == min(shares, default=0)


def admissions(rows: int = 600) -> tuple[pa.Table, pa.Table]:
    """Classes of many records in each file, and a time that joins them record by record."""
    draw = np.random.default_rng(1)
    time = draw.permutation(10_000)[:rows]
    one = pa.table({"time": time, "age": draw.integers(3, 7, rows), "sex": draw.choice(["f", "m"], rows)})
    shuffled = draw.permutation(rows)
    two = pa.table(
        {
            "time": time[shuffled],
            "town": draw.choice(list("abcdefgh"), rows),
            "job": draw.choice(list("uvwxyz"), rows),
        }
    )
    return one, two


def test_large_classes_in_each_file_and_small_ones_joined() -> None:
    one, two = admissions()
    assert cr.singling_out.k_anonymity(one, ["age", "sex"]) > 50
    assert cr.singling_out.k_anonymity(two, ["town", "job"]) >= 5
    found = joint_classes(one, two, columns=["age", "sex"], other_columns=["town", "job"])
    assert (found.shared, found.joined, found.one_to_one, found.k) == (("time",), 600, 600, 1)
    joined = one.join(two, "time")
    expected = cr.singling_out.equivalence_classes(joined, ["age", "sex", "town", "job"])
    assert found.share_below(5) == pytest.approx(float(expected.share_below(5)))
    assert "Joined with b.csv on 'time'" in found.text_below(5, "b.csv")


def test_shared_quasi_identifiers_leave_the_classes_of_the_file() -> None:
    one, two = admissions()
    two = two.append_column("age", one["age"]).drop_columns(["time"])
    alone = cr.singling_out.equivalence_classes(one, ["age", "sex"])
    found = joint_classes(one, two, columns=["age", "sex"], other_columns=["age", "town", "job"])
    assert found.shared == ("age",)
    assert found.share_below(5) == 0
    assert found.k == alone.k


def test_files_without_a_shared_column_and_kinds_that_differ() -> None:
    one, two = admissions()
    apart = joint_classes(one, two.drop_columns(["time"]), columns="age", other_columns="town")
    assert (apart.joined, apart.k, apart.share_below(5)) == (0, 0, 0.0)
    assert apart.text_below(5) == "No record can be joined with the other file."
    text = two.set_column(0, "time", two["time"].cast(pa.string()))
    other = joint_classes(one, text, columns="age", other_columns="town")
    assert other.not_compared == ("time",)
    with pytest.raises(ColumnError, match="same kind"):
        joint_classes(one, text, on="time", columns="age", other_columns="town")
    floats = two.set_column(0, "time", two["time"].cast(pa.float64()))
    assert joint_classes(one, floats, columns="age", other_columns="town").joined == 600
