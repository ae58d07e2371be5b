"""The intruder who knows every released column except one sensitive attribute."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.dataset import ColumnNote, Dataset
from crypsis.policies.findings import Status, Verdict
from crypsis.results import Estimate

ROWS = 600
PLACE = np.arange(ROWS)
DRAW = np.random.default_rng(3)
BASE = {
    "age": np.array(["30-39", "40-49", "50-59"])[PLACE % 3],
    "sex": np.array(["f", "m"])[PLACE // 3 % 2],
    "disease": np.array(["flu", "gout", "asthma", "none"])[PLACE // 6 % 4],
}
UNIQUE, PREDICTED = "singling_out.unique_on_released_columns", "inference.prediction_gain"


def _data(signed: tuple[str, ...] = (), sensitive: tuple[str, ...] = (), **extra: Any) -> Dataset:
    others = [name for name in extra if name not in sensitive]
    data = Dataset.from_frame(
        pa.table({**BASE, **extra}),
        quasi_identifiers=["age", "sex"],
        sensitive=["disease", *sensitive],
        insensitive=others,
        person="each record",
    )
    notes = {name: ColumnNote(sign_off="Drawn at random by the office.") for name in signed}
    return data.with_roles(data.roles, notes)


def _status(found: cr.Assessment, measure: str) -> Status:
    return next(one.status for one in found.findings if one.measure == measure)


def test_a_table_without_other_columns_is_safe() -> None:
    assert cr.assess(_data()).verdict is Verdict.SAFE


def test_an_insensitive_column_that_singles_everybody_out_is_a_finding_with_its_name() -> None:
    found = cr.assess(_data(ticket=PLACE * 7 + 1_000), try_remedies=True)
    (finding,) = [one for one in found.findings if one.measure == UNIQUE]
    assert found.verdict is Verdict.NOT_SAFE
    assert (finding.value, finding.affected, finding.columns) == (1.0, ROWS, ("ticket",))
    assert finding.remedy is not None
    assert finding.remedy.parameters["columns"] == ("ticket",)
    assert finding.remedy.value_after == 0.0
    for text in (str(found), found.to_markdown(), found.to_html(), found.to_json()):
        assert "ticket" in text


def test_quasi_identifiers_that_single_out_alone_are_generalized() -> None:
    """To exclude another column would change nothing, so that is not proposed."""
    exact = _data().to_arrow().set_column(0, "age", pa.array(20 + PLACE))
    found = cr.assess(
        exact,
        quasi_identifiers=["age", "sex"],
        sensitive=["disease"],
        try_remedies=True,
        person="each record",
    )
    (finding,) = [one for one in found.findings if one.measure == UNIQUE]
    assert finding.remedy is not None
    assert finding.remedy.action == "anonymize"
    assert finding.remedy.value_after == 0.0
    losses = [one for one in str(found).splitlines() if one.startswith("The release that was")]
    assert len(losses) == 1


def test_a_column_that_singles_out_beside_such_quasi_identifiers_is_excluded_too() -> None:
    tickets = np.random.default_rng(9).permutation(PLACE * 7 + 1_000)
    exact = _data(ticket=tickets).to_arrow().set_column(0, "age", pa.array(20 + PLACE))
    found = cr.assess(
        exact,
        quasi_identifiers=["age", "sex"],
        sensitive=["disease"],
        insensitive=["ticket"],
        try_remedies=True,
        person="each record",
    )
    (finding,) = [one for one in found.findings if one.measure == UNIQUE]
    assert finding.remedy is not None
    assert finding.remedy.action == "anonymize"
    assert finding.remedy.parameters["excluded"] == ("ticket",)
    assert finding.remedy.value_after == 0.0


def test_a_signed_off_column_is_not_known_and_its_reason_is_in_every_report() -> None:
    found = cr.assess(_data(signed=("ticket",), ticket=PLACE * 7 + 1_000))
    assert found.verdict is Verdict.SAFE
    for text in (str(found), found.to_markdown(), found.to_html(), found.to_json()):
        assert "Drawn at random by the office." in " ".join(text.split())


def test_a_quasi_identifier_cannot_be_signed_off() -> None:
    data = _data()
    data = data.with_roles(data.roles, {"age": ColumnNote(sign_off="nobody knows ages")})
    assert data.signed_off == ()


def test_more_than_24_columns_of_which_no_three_single_out() -> None:
    answers = {f"q{n}": DRAW.integers(0, 2, ROWS) for n in range(30)}
    assert _status(cr.assess(_data(**answers)), UNIQUE) is Status.EXCEEDED


def test_the_pattern_of_missing_values_is_a_fingerprint() -> None:
    there = DRAW.random((ROWS, 20)) < 0.5
    extra = {f"visit{n}": pa.array([1 if one else None for one in there[:, n]]) for n in range(20)}
    found = cr.singling_out.released_uniqueness(_data(**extra))
    assert found.fraction > 0.95
    assert found.enough == ("the pattern of missing values",)


def test_a_known_salary_discloses_the_disease() -> None:
    salary = 40_000 + 13.37 * DRAW.permutation(ROWS)
    found = cr.singling_out.released_uniqueness(_data(sensitive=("salary",), salary=salary))
    assert (found.target, found.fraction) == ("disease", 1.0)


def test_uniqueness_is_that_of_an_independent_count() -> None:
    extra = {"a": DRAW.integers(0, 9, ROWS), "b": DRAW.integers(0, 9, ROWS)}
    rows = list(zip(BASE["age"], BASE["sex"], extra["a"], extra["b"], strict=True))
    alone = sum(rows.count(one) == 1 for one in rows)
    assert cr.singling_out.released_uniqueness(_data(**extra)).unique == alone


def test_few_values_that_are_not_signed_off_do_not_prevent_a_safe_release() -> None:
    found = cr.assess(_data(plan=np.array(["a", "b"])[DRAW.integers(0, 2, ROWS)]))
    assert found.verdict is Verdict.SAFE


def test_a_code_of_the_disease_is_a_finding_and_noise_is_not() -> None:
    code = np.array([{"flu": 1, "gout": 2, "asthma": 3, "none": 4}[d] for d in BASE["disease"]])
    found = cr.assess(_data(code=code), try_remedies=True)
    (finding,) = [one for one in found.findings if one.measure == PREDICTED]
    assert (finding.status, finding.value) == (Status.EXCEEDED, 1.0)
    assert finding.remedy is not None
    assert finding.remedy.parameters["columns"] == ("code",)
    noise = np.where(DRAW.random(ROWS) < 0.3, code, DRAW.integers(1, 5, ROWS))
    assert _status(cr.assess(_data(hint=noise)), PREDICTED) is Status.MET


@pytest.mark.parametrize(("share", "met"), [(1.0, False), (0.0, True)])
def test_a_rare_value_known_almost_certainly_counts_in_full(share: float, met: bool) -> None:
    rows = 3_000
    ill = np.where(DRAW.random(rows) < 0.02, "HIV", "none")
    drug = np.where((ill == "HIV") & (DRAW.random(rows) < share), "tenofovir", "other")
    table = pa.table({"drug": drug, "ill": ill})
    (found,) = cr.inference.prediction_gain(table, sensitive="ill", insensitive="drug")
    assert (found.gain <= 0.5) is met


def test_a_smoker_s_risk_is_statistics() -> None:
    rows = 4_000
    smoker, age = DRAW.random(rows) < 0.3, DRAW.integers(20, 80, rows)
    ill = DRAW.random(rows) < np.where(smoker, 0.4, 0.1) * age / 50
    table = pa.table({"smoker": smoker, "age": age, "ill": np.where(ill, "yes", "no")})
    (found,) = cr.inference.prediction_gain(
        table, sensitive="ill", quasi_identifiers=["age"], insensitive="smoker"
    )
    assert found.gain < 0.3


def test_a_number_that_follows_from_others_and_one_that_does_not() -> None:
    rows = 2_000
    wage, bonus = DRAW.integers(20_000, 90_000, rows), DRAW.integers(0, 20_000, rows)
    table = pa.table({"wage": wage, "bonus": bonus, "income": wage + bonus})
    (found,) = cr.inference.prediction_gain(table, sensitive="income")
    assert found.numeric
    assert found.gain > 0.95
    table = table.set_column(2, "income", pa.array(DRAW.permutation(wage + bonus)))
    (found,) = cr.inference.prediction_gain(table, sensitive="income")
    assert found.gain < 0.05


def test_a_sample_has_an_interval() -> None:
    table = pa.table({"x": DRAW.integers(0, 9, 4_000), "ill": DRAW.integers(0, 2, 4_000)})
    (found,) = cr.inference.prediction_gain(table, sensitive="ill", size=1_000)
    assert found.records == 1_000
    assert isinstance(found.accuracy, Estimate)
    assert found.accuracy.high - found.accuracy.low == pytest.approx(0.0619, abs=0.001)


def test_records_of_a_person_are_held_out_together() -> None:
    person = np.repeat(np.arange(300), 10)
    ill, trait = DRAW.integers(0, 2, 300)[person], DRAW.random(300)[person]
    table = pa.table({"person": person, "trait": trait, "ill": ill})
    (found,) = cr.inference.prediction_gain(
        table, sensitive="ill", identifiers="person", person="person", insensitive="trait"
    )
    assert found.gain < 0.3


def test_a_derived_column_is_refused_by_name() -> None:
    rows = 500
    age = DRAW.integers(20, 67, rows)
    table = pa.table(
        {
            "age": age,
            "ill": DRAW.choice(list("abcd"), rows),
            "pension": 67 - age,
            "hours": DRAW.integers(10, 50, rows),
        }
    )
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    with pytest.raises(cr.CrypsisError) as caught:
        cr.anonymize(table, k=20, insensitive=["pension", "hours"], **roles, person="each record")
    assert caught.value.code == "derived-column"
    assert caught.value.parameters["columns"] == ("pension",)
    made = cr.anonymize(
        table, k=20, insensitive=["hours"], excluded=["pension"], **roles, person="each record"
    )
    assert "pension" not in made.data.names


def test_two_columns_that_only_together_give_back_the_original_are_found_by_the_attack() -> None:
    from crypsis.protection._derived import check_derived

    rows = 1_500
    group, part, shift = (DRAW.integers(0, 6, rows) for _ in range(3))
    table = {
        "group": [f"g{n}" for n in group],
        "a": part + 0.01 * DRAW.random(rows),
        "b": (group - part) % 6 + 0.01 * DRAW.random(rows),
        "c": shift,
    }
    original = Dataset.from_frame(
        pa.table(table), quasi_identifiers="group", insensitive=["a", "b", "c"], person="each record"
    )
    released = Dataset.from_frame(
        pa.table({**table, "group": ["*"] * rows}),
        quasi_identifiers="group",
        insensitive=["a", "b", "c"],
        person="each record",
    )
    with pytest.raises(cr.CrypsisError) as caught:
        check_derived(original, released, ["group"], None)
    assert caught.value.code == "derived-column"
    kept = ["group", "a", "c"]
    few = (
        Dataset.from_frame(
            pa.table({n: one.to_arrow()[n] for n in kept}),
            quasi_identifiers="group",
            insensitive=["a", "c"],
            person="each record",
        )
        for one in (original, released)
    )
    check_derived(*few, ["group"], None)


COSTS = np.round(np.random.default_rng(8).lognormal(7, 1, ROWS), 2)


def _costs(sign_off: str = "") -> Dataset:
    table = pa.table({"age": BASE["age"], "sex": BASE["sex"], "cost": COSTS})
    data = Dataset.from_frame(
        table, quasi_identifiers=["age", "sex"], sensitive=["cost"], person="each record"
    )
    return data.with_roles(data.roles, {"cost": ColumnNote(sign_off=sign_off)} if sign_off else {})


def test_an_almost_unique_sensitive_attribute_is_rounded_by_the_remedy() -> None:
    """The proposed anonymization makes each released value shared, and its release is safe."""
    assessment = cr.assess(_costs(), try_remedies=True)
    (finding,) = [one for one in assessment.findings if one.measure == UNIQUE]
    assert (finding.status, finding.columns) == (Status.EXCEEDED, ("cost",))
    assert finding.remedy is not None
    assert finding.remedy.parameters["methods"] == {"cost": "microaggregate:5"}
    assert finding.remedy.value_after == 0.0
    release = cr.anonymize(_costs(), **finding.remedy.parameters)
    after = release.frame.to_pandas()["cost"]
    assert after.value_counts().min() >= 5
    assert np.corrcoef(release.frame.to_pandas()["cost"].rank(), after)[0, 1] > 0.5
    assert cr.assess(release.data).verdict is Verdict.SAFE


def test_an_almost_unique_sensitive_attribute_that_nobody_knows_is_signed_off() -> None:
    assert cr.assess(_costs()).verdict is Verdict.NOT_SAFE
    assert cr.assess(_costs("Only the insurer has the bills.")).verdict is Verdict.SAFE


def test_texts_that_are_almost_unique_are_to_be_excluded_or_signed_off() -> None:
    texts = pa.table({"age": BASE["age"], "sex": BASE["sex"], "code": [f"x{n:03d}" for n in PLACE]})
    assessment = cr.assess(texts, quasi_identifiers=["age", "sex"], sensitive=["code"], person="each record")
    (finding,) = [one for one in assessment.findings if one.measure == UNIQUE]
    assert finding.remedy is not None
    assert finding.remedy.action == "exclude_columns"
    assert finding.remedy.parameters["columns"] == ("code",)
    assert "write with the role why nobody outside can know" in finding.remedy.description


@pytest.mark.parametrize("share", [0.2, 0.6, 0.76, 0.85, 0.92, 0.95])
def test_what_the_attribute_that_is_left_out_would_single_out_is_in_every_report(share: float) -> None:
    """Up to 90 % it is left out with its share; above it counts."""
    values = np.where(share * ROWS > PLACE, PLACE + 1_000, 5 + PLACE % 2)
    table = pa.table({"age": BASE["age"], "sex": BASE["sex"], "score": values})
    roles: Any = {"quasi_identifiers": ["age", "sex"], "sensitive": ["score"], "person": "each record"}
    released = cr.singling_out.released_uniqueness(table, **roles)
    assessment = cr.assess(table, **roles)
    (finding,) = [one for one in assessment.findings if one.measure == UNIQUE]
    if share > 0.9:
        assert released.identifying == ("score",)
        assert float(released.fraction) >= share
        assert finding.status is Status.EXCEEDED
        sentence = "Most values of 'score' occur once"
    else:
        assert (released.target, released.left_out_fraction) == ("score", share)
        assert finding.status is Status.MET
        sentence = f"whoever knows its value singles out {100 * share:g} % of the records by it"
    for text in (str(assessment), assessment.to_markdown(), assessment.to_html(), assessment.to_json()):
        assert sentence in " ".join(re.sub("<[^>]+>", "", text.replace("&#39;", "'")).split())
