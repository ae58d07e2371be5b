"""k of every combination of columns against counting."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from crypsis import singling_out as so
from crypsis.errors import ParameterError, TooLargeError


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_every_combination_by_counting(size):
    data = np.random.default_rng(size).integers(0, 5, (200, 4))
    names = list("abcd")
    found = so.combination_k(pa.table(dict(zip(names, data.T, strict=True))), names, size=size, k=8)
    expected = {}
    for places in combinations(range(4), min(size, 4)):
        classes = Counter(map(tuple, data[:, places].tolist()))
        below = sum(n for n in classes.values() if n < 8)
        expected[tuple(names[i] for i in places)] = (min(classes.values()), len(classes), below)
    assert {one.columns: (one.k, one.classes, one.records_below) for one in found} == expected
    below = [one.records_below for one in found]
    assert below == sorted(below, reverse=True)


def test_all_columns_together_are_the_equivalence_classes():
    table = pa.table({"a": [1, 1, 2, None], "b": [1, 1, 1, 2]})
    for missing in ("value", "wildcard", "drop"):
        (one,) = so.combination_k(table, ["a", "b"], size=2, k=2, missing=missing)
        classes = so.equivalence_classes(table, ["a", "b"], missing=missing)
        assert (one.k, one.records_below) == (classes.k, classes.records_below(2))


def test_persons_are_counted_where_they_are_known():
    draw = np.random.default_rng(5)
    data = draw.integers(0, 4, (300, 3))
    who = [None if v == 0 else int(v) for v in draw.integers(0, 60, 300)]
    table = pa.table({**dict(zip("abc", data.T, strict=True)), "who": pa.array(who)})
    for one in so.combination_k(table, list("abc"), size=2, k=12, person="who"):
        persons: dict = {}
        records: Counter = Counter()
        for row, person in zip(data[:, ["abc".index(c) for c in one.columns]], who, strict=True):
            persons.setdefault(tuple(row), set()).update({person} - {None})
            records[tuple(row)] += 1
        assert one.k == min(map(len, persons.values()))
        below = sum(n for label, n in records.items() if len(persons[label]) < 12)
        assert one.records_below == below
    alone = pa.table({"a": [1, 1, 2], "who": [1, 2, None]})
    (one,) = so.combination_k(alone, ["a"], size=1, k=2, person="who")
    assert (one.k, one.records_below) == (0, 1)  # nobody is known to be in the class of 2


def test_too_much_is_refused():
    wide = pa.table({f"c{i}": [1, 2] for i in range(60)})
    with pytest.raises(TooLargeError, match="combinations"):
        so.combination_k(wide, wide.column_names, size=6)
    with pytest.raises(ParameterError, match="size"):
        so.combination_k(wide, wide.column_names, size=0)
