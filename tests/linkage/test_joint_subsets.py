"""Leaks through some of the columns, beside others that say nothing: never "safe"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from crypsis import linkage
from crypsis.linkage import _joint_test as module
from crypsis.linkage._joint_columns import MAX_SUBSETS, subsets

ROWS = 600


def people(rng: np.random.Generator, number: int, columns: int = 3) -> np.ndarray:
    shared = rng.normal(size=(number, 1))
    return 0.8 * shared + 0.6 * rng.normal(size=(number, columns))


def released(
    rng: np.random.Generator, x: np.ndarray, kept: dict[int, Callable], shuffled: bool
) -> np.ndarray:
    """Some columns as they were or transformed, the others shuffled or of other people; rows mixed."""
    other = np.apply_along_axis(rng.permutation, 0, x) if shuffled else people(rng, *x.shape)
    for column, change in kept.items():
        other[:, column] = change(x[:, column])
    return other[rng.permutation(len(x))]


LEAKS: dict[str, tuple[int, dict[int, Callable]]] = {
    "the first": (3, {0: lambda v: v}),
    "the last": (3, {2: lambda v: v}),
    "two of four": (4, {1: lambda v: v, 3: lambda v: v}),
    "one of five": (5, {3: lambda v: v}),
    "exponential": (3, {1: np.exp}),
    "decreasing": (3, {2: lambda v: -(v**3) - v}),
    "other units": (2, {0: lambda v: 2.54 * v}),
    "nearly the same units": (3, {0: lambda v: 1.01 * v + 0.01}),
    "rounded": (3, {1: lambda v: v.round(4)}),
}


@pytest.mark.parametrize("shuffled", [True, False], ids=["shuffled", "drawn anew"])
@pytest.mark.parametrize("leak", LEAKS)
def test_columns_that_stay_link_everybody(leak: str, shuffled: bool) -> None:
    columns, kept = LEAKS[leak]
    rng = np.random.default_rng(len(leak))
    x, controls = people(rng, ROWS, columns), people(rng, ROWS, columns)
    masked = released(rng, x, kept, shuffled)
    found = linkage.verify_links(x, masked, controls=controls, row_map="unknown")
    assert found.verdict == "not safe"
    assert found.joint is not None
    assert found.joint.p_value == 0.001
    if not shuffled:
        assert set(found.joint.columns) & {str(column + 1) for column in kept}


@pytest.mark.parametrize("change", ["ranks", "normal scores", "noise in other units"])
def test_a_column_on_a_scale_of_its_own_is_never_safe(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sorts it links the records; nothing is left by which originals could be recognized."""
    monkeypatch.setattr(module, "_SIMULATED_FILES", 1)
    changes: dict[str, Callable] = {
        "ranks": lambda v: v.argsort().argsort(),
        "normal scores": lambda v: module.normal_scores(v[:, None])[:, 0],
        "noise in other units": lambda v: np.exp(v + 1e-3 * rng.normal(size=len(v))),
    }
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, controls = people(rng, 2_000), people(rng, 2_000)
        masked = released(rng, x, {1: changes[change]}, shuffled=False)
        found = linkage.verify_links(x, masked, controls=controls, row_map="unknown")
        assert found.verdict != "safe"
        if found.verdict == "cannot tell":
            assert "on the scale of the original" in found.reasons[-1]


def test_noise_in_a_single_column_is_seen() -> None:
    """A tenth of the links by one column is correct; the others are those of other people."""
    rng = np.random.default_rng(0)
    x, controls = people(rng, 2_000), people(rng, 2_000)
    masked = people(rng, 2_000)
    masked[:, 1] = x[:, 1] + 0.005 * rng.normal(size=2_000)
    near = np.abs(x[:300, 1][:, None] - masked[:, 1][None]).argmin(axis=1)
    assert (near == np.arange(300)).mean() > 0.05
    mixed = masked[rng.permutation(2_000)]
    found = linkage.verify_links(x, mixed, controls=controls, row_map="unknown")
    assert found.verdict == "not safe"


def codes(rng: np.random.Generator, number: int, values: int) -> list[str]:
    return [f"c{code}" for code in rng.integers(0, values, number)]


@pytest.mark.parametrize("values", [(100_000,), (30, 30, 30)], ids=["one", "three together"])
def test_categories_that_few_people_share_count(values: tuple[int, ...]) -> None:
    """Codes as they were, which have no ranks, beside two numbers of other people."""
    rng = np.random.default_rng(2)

    def table() -> dict[str, list]:
        found = people(rng, ROWS, 2).T.tolist()
        named = {f"code{place}": codes(rng, ROWS, size) for place, size in enumerate(values)}
        return {"a": found[0], "b": found[1], **named}

    original, controls, masked = table(), table(), table()
    for name in original:
        if name.startswith("code"):
            masked[name] = original[name]
    order = rng.permutation(ROWS)
    masked = {name: [column[i] for i in order] for name, column in masked.items()}
    first, second, others = (pa.table(one) for one in (original, masked, controls))
    found = linkage.compare(first, second, controls=others, row_map="unknown")
    assert found.verdict == "not safe"
    joint = found.verification.joint
    assert joint is not None
    assert {f"code{place}" for place in range(len(values))} >= set(joint.columns)


def test_numbers_with_missing_values_are_tested() -> None:
    rng = np.random.default_rng(3)

    def table() -> pd.DataFrame:
        return pd.DataFrame(people(rng, ROWS), columns=list("abc"))

    original, masked, controls = table(), table(), table()
    masked["b"] = original["b"]
    for one in (original, masked, controls):
        one.loc[:20, "b"] = np.nan
    masked = masked.sample(frac=1, random_state=1)
    found = linkage.compare(original, masked, controls=controls, row_map="unknown")
    assert found.columns == ("a", "c")
    assert found.verdict == "not safe"


def test_a_column_that_was_not_compared_leaves_the_verdict_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SIMULATED_FILES", 1)
    rng = np.random.default_rng(4)
    x, masked, controls = (pd.DataFrame(people(rng, 2_000, 2), columns=["a", "b"]) for _ in range(3))
    options = {"controls": controls, "row_map": "unknown"}
    assert linkage.compare(x, masked, **options).verdict == "safe"
    assert linkage.verify_links(x, masked, **options).verdict == "safe"
    found = linkage.verify_links(x, masked, columns=["a"], **options)
    assert found.verdict == "cannot tell"
    assert "'b'" in found.reasons[-1]
    more = masked.assign(c=rng.normal(size=2_000))
    assert linkage.compare(x, more, **options).verdict == "cannot tell"


def test_the_subsets_that_are_tested() -> None:
    assert subsets(3) == (((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)), True)
    some, complete = subsets(12)
    assert not complete
    assert len(some) <= MAX_SUBSETS
    assert {(j,) for j in range(12)} < set(some)
    assert tuple(range(12)) in some


def test_of_many_columns_not_all_subsets_are_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SIMULATED_FILES", 1)
    rng = np.random.default_rng(5)
    x, masked, controls = (people(rng, 300, 9) for _ in range(3))
    found = linkage.verify_links(x, masked, controls=controls, row_map="unknown", acceptable=0.9)
    assert found.verdict == "cannot tell"
    assert "Other subsets" in " ".join(found.reasons)
    masked[:, 6] = x[:, 6]
    mixed = masked[rng.permutation(300)]
    assert linkage.verify_links(x, mixed, controls=controls, row_map="unknown").verdict == ("not safe")


def test_honest_files_are_hardly_ever_called_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the level 0.01 one of 60 unrelated files at most, whether values repeat or not."""
    monkeypatch.setattr(module, "_power", lambda *_: (1.0, ()))
    p = []
    for seed in range(60):
        rng = np.random.default_rng((9, seed))
        x, masked, controls = (people(rng, 150) for _ in range(3))
        if seed % 2:
            x, masked, controls = (np.round(8 * one) for one in (x, masked, controls))
        p.append(module.joint_test(x, controls, masked, 0.06, seed).p_value)
    assert (np.array(p) <= module.MAX_P_VALUE).sum() <= 2  # three or more: probability 0.02
    assert 0.35 < np.mean(p) < 0.65


def test_the_power_is_that_against_the_worst_single_column() -> None:
    """A column of two values links nobody; noise in the other single one is the worst."""
    rng = np.random.default_rng(6)
    x, masked, controls = (people(rng, 1_000, 2) for _ in range(3))
    for one in (x, masked, controls):
        one[:, 0] = one[:, 0] > 0
    found = module.joint_test(x, controls, masked, 0.05, 0)
    assert found.power is not None
    assert found.weakest in (("2",), ("1", "2"))
    less = module.joint_test(x[:200], controls[:200], masked[:200], 0.05, 0)
    assert less.power is not None
    assert less.power < found.power
