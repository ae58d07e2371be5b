"""Synthetic files: attacks against brute force, generators with a known leak, limits of the power."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import binom, binomtest

from crypsis import assess
from crypsis.counting.proportions import difference_of, share_of
from crypsis.errors import InputError, ParameterError
from crypsis.synthetic import synthetic_risk
from tests.synthetic import generators as make

ROLES: Any = {
    "quasi_identifiers": ["age", "sex", "region"],
    "sensitive": ["disease"],
    "insensitive": ["income", "height", "visits"],
}


def table(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def groups(rows: int, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame, np.random.Generator]:
    draw = np.random.default_rng(seed)
    return make.people(rows, draw), make.people(rows, draw), draw


def judged(synthetic: pd.DataFrame, training: pd.DataFrame, holdout: pd.DataFrame | None) -> Any:
    other = None if holdout is None else table(holdout)
    return assess(
        table(synthetic), table(training), synthetic=True, holdout=other, **ROLES, person="each record"
    )


@pytest.mark.parametrize(("right", "total"), [(0, 10), (3, 10), (10, 10), (1, 700)])
def test_shares_have_the_interval_of_wilson(right: int, total: int) -> None:
    theirs = binomtest(right, total).proportion_ci(method="wilson")
    ours = share_of(right, total)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    with pytest.raises(InputError):
        share_of(total + 1, total)


def test_differences_are_those_of_newcombe() -> None:
    """Newcombe (1998), table II, method 10: 56/70 - 48/80, 9/10 - 3/10, 10/10 - 0/10, 5/56 - 0/29."""
    printed = {
        (56, 70, 48, 80): (0.0524, 0.3339),
        (9, 10, 3, 10): (0.1705, 0.8090),
        (10, 10, 0, 10): (0.6075, 1.0),
        (5, 56, 0, 29): (-0.0381, 0.1926),
    }
    for (a, m, b, n), ends in printed.items():
        found = difference_of(share_of(a, m), share_of(b, n))
        assert (found.low, found.high) == pytest.approx(ends, abs=5e-5)


@pytest.mark.parametrize(
    ("one", "two"), [(0.0, 0.0), (0.01, 0.01), (0.5, 0.5), (0.05, 0.0), (1.0, 1.0), (0.9, 0.2)]
)
def test_the_interval_covers_the_difference(one: float, two: float) -> None:
    """All outcomes of 60 and 40 attacks with their probabilities; control at 0 and 1 included."""
    first, second = binom(60, one).pmf(range(61)), binom(40, two).pmf(range(41))
    covered = 0.0
    for a in np.flatnonzero(first > 1e-9):
        for b in np.flatnonzero(second > 1e-9):
            found = difference_of(share_of(int(a), 60), share_of(int(b), 40))
            covered += first[a] * second[b] * (found.low <= one - two <= found.high)
    assert covered >= 0.93


def test_attacks_are_those_of_brute_force() -> None:
    training, holdout, draw = groups(60)
    synthetic = make.memorizing(training, 60, draw, 0.3)
    found = synthetic_risk(table(synthetic), table(training), table(holdout), **ROLES)
    rows = {tuple(row) for row in synthetic.to_numpy().tolist()}
    copied = [tuple(row) in rows for row in training.to_numpy().tolist()]
    assert found.worst("copies").success == pytest.approx(np.mean(copied))  # type: ignore[union-attr]
    both = pd.concat([synthetic, training, holdout])
    scaled = {}
    for name in make.NUMBERS:
        low, high = np.quantile(both[name], [0.05, 0.95])
        scaled[name] = high - low
    right = 0
    for _, person in training.iterrows():
        gaps = sum(
            (abs(synthetic[name] - person[name]) / scaled[name]).clip(upper=1)
            if name in scaled
            else (synthetic[name] != person[name]).astype(float)
            for name in training
            if name != "disease"
        )
        right += synthetic["disease"][gaps.idxmin()] == person["disease"]
    inferred = found.worst("inference")
    assert inferred is not None
    assert inferred.success * 60 == pytest.approx(right, abs=1)  # ties are broken at random
    assert inferred.targets == 60


@pytest.mark.parametrize("share", [0.4, 0.05])
def test_a_memorizing_generator_is_found_out(share: float) -> None:
    training, holdout, draw = groups(600)
    found = judged(make.memorizing(training, 600, draw, share), training, holdout)
    assert found.verdict.value == "not safe"
    (finding,) = [one for one in found.findings if one.measure == "synthetic.copies"]
    assert finding.value == pytest.approx(share, abs=0.01)
    assert finding.status.value == "exceeded"


def test_copies_with_noise_are_found_out() -> None:
    training, holdout, draw = groups(600)
    found = judged(make.noisy_copies(training, 600, draw), training, holdout)
    assert found.verdict.value == "not safe"
    states = {one.measure: one.status.value for one in found.findings}
    assert states["synthetic.copies"] != "exceeded"  # none is equal
    assert states["synthetic.membership"] == "exceeded"


def test_few_records_that_are_near_are_exposed() -> None:
    """Two in a hundred are remembered with noise: too few for an average, and still recognized."""
    training, holdout, draw = groups(800)
    made = make.independent(training, 800, draw)
    near = make.noisy_copies(training.iloc[:16], 16, draw, 0.01)
    made = pd.concat([near, made.iloc[16:]], ignore_index=True)
    states = {one.measure: one for one in judged(made, training, holdout).findings}
    assert states["synthetic.exposed_records"].status.value == "exceeded"
    assert states["synthetic.copies"].status.value != "exceeded"


@pytest.mark.parametrize("leak", [False, True])
def test_exposed_records_by_chance(leak: bool) -> None:
    """Without a leak all orders of scores are equally likely: by simulation, 1 in 1,000."""
    draw = np.random.default_rng(0)
    scores = draw.random((20_000, 300))
    above = (scores[:, :200] > scores[:, 200:].max(axis=1, keepdims=True)).sum(axis=1)
    limit = next(m for m in range(200) if (above >= m).mean() < 0.001)
    training, holdout, maker = groups(200)
    made = make.memorizing(training, 200, maker, 0.5 if leak else 0.0)
    found = synthetic_risk(table(made), table(training), table(holdout[:100]), **ROLES)
    assert found.unusual_by_chance is not None
    assert found.unusual_records is not None
    assert abs(found.unusual_by_chance - limit) <= 1
    assert (found.unusual_records >= found.unusual_by_chance) == leak


def test_a_generator_without_a_leak_is_safe() -> None:
    training, holdout, draw = groups(1_500, seed=3)
    found = judged(make.independent(training, 1_500, draw), training, holdout)
    assert found.verdict.value == "safe", found
    asked = {one.question for one in found.findings if one.status.value == "met"}
    assert asked == {"columns", "synthetic"}  # no verdict by classes of invented people


@pytest.mark.parametrize("rows", [40, 150])
def test_too_few_records_cannot_show_that_nothing_leaks(rows: int) -> None:
    training, holdout, draw = groups(rows)
    found = judged(make.copula(training, rows, draw), training, holdout)
    assert found.verdict.value == "cannot tell"


def test_without_a_holdout_only_a_leak_can_be_shown() -> None:
    training, _, draw = groups(600)
    assert judged(make.copula(training, 600, draw), training, None).verdict.value == "cannot tell"
    leaking = judged(make.memorizing(training, 600, draw, 0.4), training, None)
    assert leaking.verdict.value == "not safe"


def test_a_holdout_that_is_none_is_recognized() -> None:
    training, holdout, draw = groups(600)
    synthetic = make.memorizing(training, 600, draw, 0.4)
    own = judged(synthetic, training, training.sample(400, random_state=1))
    assert own.verdict.value == "cannot tell"
    assert any("cannot be a control group" in note for note in own.answer("synthetic").notes)
    others = holdout.assign(age=holdout["age"] + 20)
    found = synthetic_risk(table(synthetic), table(training), table(others), **ROLES)
    assert any("'age'" in one for one in found.problems)


def test_equal_records_by_chance_are_no_leak() -> None:
    """Everybody has an equal record in the file, in the training data or not."""
    draw = np.random.default_rng(1)
    files = [
        pd.DataFrame({"a": draw.integers(0, 3, 1_000), "b": draw.integers(0, 3, 1_000)}) for _ in range(3)
    ]
    found = synthetic_risk(*map(table, files))
    copied = found.worst("copies")
    assert copied is not None
    assert copied.success == copied.control == 1.0
    assert copied.advantage is not None
    assert copied.advantage.low <= 0 <= copied.advantage.high < 0.02


def test_missing_values_are_compared() -> None:
    training, holdout, draw = groups(300)
    for one in (training, holdout):
        one.loc[one.index[::3], ["income", "region"]] = None
    synthetic = make.independent(training, 300, draw)
    synthetic.iloc[:120] = training.iloc[:120].to_numpy()
    found = synthetic_risk(table(synthetic), table(training), table(holdout), **ROLES)
    assert found.worst("copies").success == pytest.approx(0.4, abs=0.01)  # type: ignore[union-attr]


def test_wrong_input_is_named() -> None:
    training, holdout, _ = (*groups(60)[:2], None)
    one, two = table(training), table(holdout)
    with pytest.raises(ParameterError, match="'targets'"):
        synthetic_risk(one, two, targets=3)
    with pytest.raises(ParameterError, match="at least 20"):
        synthetic_risk(one, two[:5])
    with pytest.raises(InputError, match="no column in common"):
        synthetic_risk(one, two.rename_columns([f"x{i}" for i in range(7)]))
    with pytest.raises(ParameterError, match="control group of a synthetic"):
        assess(one, two, holdout=two, **ROLES, person="each record")
    with pytest.raises(ParameterError, match="no threshold on synthetic"):
        assess(one, two, synthetic=True, policy="hipaa-safe-harbor", **ROLES, person="each record")
    with pytest.raises(ParameterError, match="of nobody"):
        assess(one, two, synthetic=True, earlier=[two], **ROLES, person="each record")
    assert assess(one, synthetic=True, **ROLES, person="each record").verdict.value == "cannot tell"


@pytest.mark.parametrize("declared", [True, False], ids=["sensitive", "no role"])
def test_every_attribute_is_inferred_however_many_there_are(declared: bool) -> None:
    rng = np.random.default_rng(2)
    names = [f"c{i}" for i in range(20)]
    files = [pd.DataFrame(rng.integers(0, 9, (60, 20)), columns=names) for _ in range(3)]
    roles: Any = {"sensitive": names[4:]} if declared else {}
    found = synthetic_risk(*map(table, files), **roles)
    inferred = [one.column for one in found.attacks if one.name == "inference"]
    assert inferred == (names[4:] if declared else names)
