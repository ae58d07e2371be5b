from __future__ import annotations

import numpy as np
import pytest

from crypsis import linkage


def test_every_part_equals_the_function_of_its_own() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    y = x + 0.3 * rng.normal(size=x.shape)
    found = linkage.compare(x, y, d=2, v=0.001)
    assert found.link.correct == linkage.link(x, y).correct
    assert found.assignment is not None
    assert found.assignment.correct == linkage.assign(x, y).correct
    assert found.link_by_values is not None
    assert found.link_by_values.correct == linkage.link_values(x, y).correct
    assert found.subsets == linkage.link_subsets(x, y)
    assert found.protector is not None
    assert found.protector.share == linkage.permuted_privacy(x, y, d=2, v=0.001).share
    assert found.frontier == linkage.privacy_frontier(x, y)
    assert found.verification.verdict == linkage.verify(x, y).verdict
    assert found.left_out == ()


def test_a_stronger_intruder_decides() -> None:
    """Outliers stand out in values, not in ranks: values link more against noise."""
    rng = np.random.default_rng(1)
    x = rng.standard_t(1.5, size=(600, 2))
    y = x + 0.3 * rng.normal(size=x.shape)
    found = linkage.compare(x, y)
    assert found.link_by_values is not None
    assert found.link_by_values.right is not None
    by_ranks, by_values = found.verification.right, found.link_by_values.right
    assert by_ranks is not None
    assert by_values.low > by_ranks.high
    gated = linkage.compare(x, y, acceptable=by_ranks.value)
    assert gated.verification.verdict == "withstands"
    assert gated.verdict == "fails"
    assert "by values" in gated.reasons[-1]


def test_what_cannot_be_had_is_said() -> None:
    rng = np.random.default_rng(2)
    x = {"a": rng.normal(size=50), "s": rng.choice(["u", "v"], 50)}
    y = {"a": x["a"][:40], "s": x["s"][:40]}
    found = linkage.compare(x, y, orders={"s": ["u", "v"]})
    assert found.link_by_values is None
    assert found.protector is None
    assert found.frontier is None
    assert found.steps == ()
    assert found.verdict == "cannot tell"
    assert len(found.left_out) == 2
    same = linkage.compare(np.zeros((5000, 1)), np.zeros((5000, 1)))
    assert same.assignment is None
    assert "pairs of records" in same.left_out[0]


def test_unrelated_files_withstand() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 300, 3))
    assert linkage.compare(x, y).verdict == "withstands"
    with pytest.raises(ValueError, match="share no column"):
        linkage.compare({"a": [1.0, 2.0]}, {"b": [1.0, 2.0]})
