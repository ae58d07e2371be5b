"""Labels of two releases overlap exactly if a value is in both."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypsis.hierarchies.cover import covered
from crypsis.hierarchies.overlap import overlapping

_ENDS = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted)
_LABELS = st.lists(st.tuples(_ENDS, st.integers(0, 4)), min_size=1, max_size=6)


def _label(ends: list[int], form: int) -> str:
    low, high = ends
    return [f"{low}-{high}", f"<={high}", f">{low}", f">={low}", str(low)][form]


@given(_LABELS, _LABELS)
def test_intervals_overlap_if_a_number_is_in_both(one: Any, two: Any) -> None:
    labels, others = ([_label(*part) for part in side] for side in (one, two))
    every = [n / 2 for n in range(-2, 130)]
    first, second = covered(labels, every), covered(others, every)
    expected = (first[:, None] & second[None]).any(axis=2)
    assert np.array_equal(overlapping(labels, others).possible, expected)


@pytest.mark.parametrize(
    ("label", "other", "overlap"),
    [
        ("1987-03", "1987", True),
        ("1987-Q1", "1987-04", False),
        ("1980s", "1987-H2", True),
        ("1990s", "1987-H2", False),
        (datetime.date(1987, 3, 9), "1987-Q1", True),
        ("1980-1999", "1987-03", True),
        ("1980-1999", "1990s", True),
        ("1980-1999", "2000s", False),
        ("1980-1999", "1920-1999", True),
        ("1980-1999", datetime.date(1999, 12, 31), True),
        ("1960-1999", datetime.date(2000, 1, 1), False),
        ("1980-1999", 1987, True),
        ("1980-1999", 1979, False),
        ("021**", "0213*", True),
        ("021**", "022**", False),
        ("021**", 2138, True),
        ("021**", "02138", True),
        ("021**", "0213", False),
        ("other", "gout", True),
        ("flu", "flu", True),
        ("flu", "gout", False),
        (None, "gout", True),
        ("*", 5, True),
        ("", "gout", True),
        (5, 5.0, True),
    ],
)
def test_kinds_of_labels(label: object, other: object, overlap: bool) -> None:
    assert overlapping([label], [other]).possible.tolist() == [[overlap]]
    assert overlapping([other], [label]).possible.tolist() == [[overlap]]
