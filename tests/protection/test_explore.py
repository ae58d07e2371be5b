"""The curve of risk against loss: each alternative is the release that `anonymize` makes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import ParameterError
from crypsis.protection import Alternative, Exploration, explore


@pytest.fixture(scope="module")
def people() -> cr.Dataset:
    rng = np.random.default_rng(3)
    table = pa.table({"age": rng.integers(20, 70, 300), "zip": rng.integers(10, 40, 300)})
    return cr.Dataset.from_frame(table, quasi_identifiers=["age", "zip"], person="each record")


def test_every_alternative_is_the_release_that_anonymize_makes(people: cr.Dataset) -> None:
    found = explore(people, k=4, sizes=[2, 10])
    tried = [(one.k, one.recoding) for one in found.alternatives]
    assert tried == [(2, "local"), (4, "local"), (4, "subtree"), (4, "full-domain"), (10, "local")]
    for one in found.alternatives:
        made = cr.anonymize(people, k=one.k, recoding=one.recoding)  # type: ignore[arg-type]
        assert made.measured is not None
        assert one.loss == made.loss.ncp
        assert one.highest_risk == 1 / made.measured.k <= 1 / one.k
        assert one.average_risk == made.measured.classes / made.measured.rows
        assert one.suppressed_records == made.loss.suppressed_records
        assert set(one.released) == {"age", "zip"}
    losses = [one.loss or 0 for one in found.alternatives]
    assert losses[1] <= losses[2] + 1e-9 <= losses[3] + 2e-9


def test_what_cannot_be_made_says_why(people: cr.Dataset) -> None:
    ages, zips = ([1, 1, 2, 2, 3, 4], [7, 7, 7, 7, 8, 8])
    table = pa.table({"age": ages, "zip": zips})
    found = explore(
        table,
        k=2,
        sizes=[3, 6],
        recodings=["full-domain"],
        suppression=0.0,
        person="each record",
        quasi_identifiers=["age", "zip"],
        methods={"age": "keep", "zip": "keep"},
    )
    failed = [one.k for one in found.alternatives if one.failure]
    assert all(one.k not in failed for one in found.pareto)
    assert str(found).count("not possible") == len(failed)
    roles = {"quasi_identifiers": ["zip"], "excluded": ["age"], "person": "each record"}
    assert {one.k for one in explore(table, k=2, **roles).alternatives} == {2, 3, 5}  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        explore(people, k=2, recodings=[])


def test_pareto_leaves_out_what_another_is_better_than() -> None:
    def point(risk: float, loss: float) -> Alternative:
        return Alternative(2, "local", loss, risk, risk, 0, {})

    points = tuple(point(*pair) for pair in [(0.5, 0.1), (0.4, 0.1), (0.2, 0.3), (0.3, 0.3)])
    assert Exploration(points).pareto == (points[1], points[2])


def test_sizes_that_are_no_numbers(people: cr.Dataset) -> None:
    for asked in ({"k": [2, 5]}, {"k": 2, "sizes": [0]}):
        with pytest.raises(ParameterError, match="Parameter 'k' is"):
            cr.protection.explore(people, **asked)
