from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis import linkage
from crypsis.errors import ColumnError, ParameterError


def test_every_part_equals_the_function_of_its_own() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    y = x + 0.3 * rng.normal(size=x.shape)
    found = linkage.compare(x, y, d=2, v=0.001)
    assert found.link.true_matches == linkage.link(x, y).true_matches
    by_method = dict(found.intruders)
    assert by_method["nearest ranks"].true_matches == linkage.link(x, y).true_matches
    values = linkage.link(x, y, distance="value")
    assert by_method["nearest values"].true_matches == values.true_matches
    assert found.suite.worst.true_matches == linkage.attack_links(x, y).worst.true_matches
    assert found.subsets == linkage.link_subsets(x, y)
    assert found.protector is not None
    assert found.protector.share == linkage.permuted_privacy(x, y, d=2, v=0.001).share
    assert found.frontier == linkage.privacy_frontier(x, y)
    assert found.verification.verdict == linkage.verify_links(x, y).verdict
    assert found.not_computed == ()


def test_a_stronger_intruder_decides() -> None:
    """Outliers are far in values, not in ranks: values link more records against noise."""
    rng = np.random.default_rng(1)
    x = rng.standard_t(1.5, size=(600, 2))
    y = x + 0.3 * rng.normal(size=x.shape)
    found = linkage.compare(x, y)
    by_ranks = found.verification.correct_share
    by_values = dict(found.intruders)["nearest values"].correct_share
    assert by_ranks is not None
    assert by_values is not None
    assert by_values.low > by_ranks.high
    gated = linkage.compare(x, y, acceptable=by_ranks.value)
    assert gated.verification.verdict == "safe"
    assert gated.verdict == "not safe"
    assert f"({gated.suite.method})" in gated.reasons[-1]


def test_what_is_not_computed_is_stated() -> None:
    rng = np.random.default_rng(2)
    x = {"a": rng.normal(size=50), "s": rng.choice(["u", "v"], 50)}
    y = {"a": x["a"][:40], "s": x["s"][:40]}
    found = linkage.compare(x, y, orders={"s": ["u", "v"]})
    assert found.suite.correct_share is None
    assert found.protector is None
    assert found.frontier is None
    assert found.noise == ()
    assert found.verdict == "cannot tell"
    assert len(found.not_computed) == 2
    same = linkage.compare(np.zeros((500, 1)), np.zeros((500, 1)))
    assert "One-to-one" in " ".join(same.not_computed)


def test_unrelated_files_are_safe() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 300, 3))
    assert linkage.compare(x, y, row_map=range(300)).verdict == "safe"
    found = linkage.compare(x, y)  # another order of rows has no more correct links than chance
    assert found.verdict == "cannot tell"
    assert "do not correspond" in found.reasons[-1]
    with pytest.raises(ValueError, match="share no column"):
        linkage.compare({"a": [1.0, 2.0]}, {"b": [1.0, 2.0]})


def test_columns_that_cannot_be_compared_are_listed_with_the_reason() -> None:
    original = pa.table(
        {
            "id": [1, 2],
            "a": [1.0, 2.0],
            "m": [1, None],
            "s": ["u", "v"],
            "t": ["x", "y"],
            "flag": [True, False],
            "only": [1, 2],
        }
    )
    masked = pa.table(
        {"id": [1, 2], "a": [2, 1], "m": [1, 2], "s": ["u", "v"], "t": [1, 2], "flag": [True, True]}
    )
    datasets = [cr.Dataset.from_frame(one, identifiers="id") for one in (original, masked)]
    frames = [one.drop_columns("id") for one in (original, masked)]
    for both in (datasets, frames):
        found = linkage.comparable_columns(*both)
        assert found.columns == ("a", "flag")
        assert [(one.column, one.code) for one in found.excluded] == [
            ("m", "missing-values"),
            ("s", "no-order"),
            ("t", "different-types"),
        ]
        ordered = linkage.comparable_columns(*both, categories="frequency", allow_missing=True)
        assert ordered.columns == ("a", "m", "s", "flag")
        assert ordered.by_frequency == ("s",)
        assert linkage.comparable_columns(*both, orders={"s": ["u", "v"]}).columns == ("a", "s", "flag")
        assert linkage.comparable_columns(*both, columns="s").columns == ("s",)
    with pytest.raises(ColumnError, match="no column that can be ranked"):
        linkage.comparable_columns({"s": ["u"]}, {"s": ["u"]})
    with pytest.raises(ParameterError, match="'categories' must be"):
        linkage.comparable_columns(*frames, categories="rank")  # type: ignore[arg-type]


def test_a_column_compared_with_nothing_is_at_best_cannot_tell() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 300, 3))
    files = [{"a": v[:, 0], "b": v[:, 1], "s": ["u", "v"] * 150} for v in (x, y)]
    found = cr.compare(*files)
    assert found.verdict == "safe"  # the suite compares categories too
    assert [one.column for one in found.excluded] == ["s"]
    assert "s" in found.suite.columns
    found = cr.compare(files[0], {**files[1], "extra": rng.normal(size=300)})
    assert found.verification.verdict == "safe"
    assert found.verdict == "cannot tell"
    assert found.suite.alone == ("extra",)
    assert "'extra'" in str(found)
    known = {"columns": ["a", "b"], "row_map": range(300)}
    assert cr.compare(*files, **known).verdict == "safe"


def test_files_of_categories_alone_are_compared() -> None:
    rng = np.random.default_rng(4)
    x = {name: rng.choice(list("abcdefgh"), 400) for name in "pqrs"}
    found = linkage.compare(x, x)
    assert found.verdict == "not safe"
    assert found.by_frequency == tuple("pqrs")
