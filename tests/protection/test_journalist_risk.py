"""The journalist risk as a requirement: by weights, and in the table of the population."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

import crypsis as cr
from crypsis import singling_out as so
from crypsis.cli import run
from crypsis.errors import ParameterError, RoleError
from crypsis.protection import PrivacyRequirements
from crypsis.protection.recoding._population_risk import fewest_matches
from tests.cases import first_of

ROLES = {"quasi_identifiers": ["age", "sex"], "insensitive": ["w"]}


def _survey(rows: int = 300) -> pa.Table:
    generator = np.random.default_rng(1)
    return pa.table(
        {
            "age": generator.integers(20, 70, rows),
            "sex": generator.choice(["f", "m"], rows),
            "w": generator.uniform(1, 12, rows).round(2),
        }
    )


@pytest.mark.parametrize("recoding", ["local", "full-domain"])
def test_a_risk_by_weights_is_met_and_measured(recoding: str) -> None:
    made = cr.anonymize(
        _survey(),
        k=3,
        journalist_risk=0.04,
        weight="w",
        recoding=recoding,
        seed=1,
        suppression=0.2,
        **ROLES,
        person="each record",
    )
    risk = so.reidentification_risk(made.frame, ["age", "sex"], weight="w").journalist.maximum
    assert made.measured.journalist_risk == pytest.approx(risk)
    assert risk <= 0.04
    assert made.measured.k >= 3
    without = cr.anonymize(
        _survey(), k=3, recoding=recoding, seed=1, suppression=0.2, **ROLES, person="each record"
    )
    before = so.reidentification_risk(without.frame, ["age", "sex"], weight="w").journalist
    assert before.maximum > 0.04  # k alone does not meet it
    assert without.measured.journalist_risk is None


def test_weights_that_are_not_released_are_counted_too(tmp_path: Path) -> None:
    survey = _survey()
    made = cr.anonymize(
        survey,
        k=2,
        journalist_risk=0.05,
        weight="w",
        quasi_identifiers=["age", "sex"],
        excluded=["w"],
        seed=1,
        person="each record",
    )
    assert "w" not in made.data.names
    row_map = list(made.key.row_map)
    released = made.frame.append_column("w", survey["w"].take(row_map))
    risk = so.reidentification_risk(released, ["age", "sex"], weight="w").journalist.maximum
    assert made.measured.journalist_risk == pytest.approx(risk)
    written = made.write(tmp_path / "safe.csv")
    assert written.measured.journalist_risk == made.measured.journalist_risk
    statement = json.loads((tmp_path / "safe.csv.statement.json").read_text())
    assert statement["requirements"]["weighted"] is True
    assert statement["measured"]["journalist_risk"] <= 0.05
    assert "by the survey weights" in (tmp_path / "safe.csv.statement.md").read_text()


def test_a_table_of_the_population_is_counted() -> None:
    generator = np.random.default_rng(2)
    everyone = pa.table({"age": generator.integers(20, 60, 4000), "sex": generator.choice(["f", "m"], 4000)})
    sample = everyone.take(generator.choice(4000, 200, replace=False))
    made = cr.anonymize(
        sample,
        k=100,
        release_k=1,
        beta=0.5,
        journalist_risk=0.01,
        population=everyone,
        quasi_identifiers=["age", "sex"],
        seed=1,
        person="each record",
    )
    assert made.measured.journalist_risk <= 0.01
    assert so.k_map(made.data, ["age", "sex"]) >= 100
    assert made.requirements.weighted is False


@pytest.mark.parametrize("recoding", ["local", "subtree", "full-domain"])
@pytest.mark.parametrize("several", first_of([True, False], 1))
def test_persons_are_counted_where_they_have_several_records(recoding: str, several: bool) -> None:
    """Each person counts once in a class, with the mean of their weights there, by brute force."""
    generator = np.random.default_rng(3)
    who = generator.integers(0, 150, 400)
    weight = generator.uniform(1, 12, 150).round(2)[who]
    if several:  # a weight for each record
        weight = weight + generator.uniform(0, 3, 400).round(2)
    survey = pa.table(
        {
            "who": who,
            "age": generator.integers(20, 45, 400),
            "sex": generator.choice(["f", "m"], 400),
            "w": weight,
        }
    )
    made = cr.anonymize(
        survey,
        k=3,
        journalist_risk=0.04,
        weight="w",
        person="who",
        identifiers=["who"],
        recoding=recoding,
        suppression=0.2,
        seed=1,
        quasi_identifiers=["age", "sex"],
        excluded=["w"],
    )
    row_map = list(made.key.row_map)
    classes: dict[tuple, dict[int, list[float]]] = {}
    for label, row in zip(made.frame.select(["age", "sex"]).to_pylist(), row_map, strict=True):
        own = classes.setdefault(tuple(label.values()), {})
        own.setdefault(int(who[row]), []).append(float(weight[row]))
    highest = 0.0
    for persons in classes.values():
        means = [float(np.mean(one)) for one in persons.values()]
        assert len(means) >= 3
        rows = pa.table({"v": [1] * len(means), "w": means})
        highest = max(highest, so.individual_risk(rows, ["v"], weight="w").maximum)
    assert made.measured.journalist_risk == pytest.approx(highest)
    assert highest <= 0.04


def test_persons_are_counted_in_the_table_of_the_population() -> None:
    generator = np.random.default_rng(4)
    everyone = pa.table({"age": generator.integers(20, 60, 4000), "sex": generator.choice(["f", "m"], 4000)})
    sample = everyone.take(generator.choice(4000, 300, replace=False))
    sample = sample.append_column("who", pa.array(generator.integers(0, 200, 300)))
    made = cr.anonymize(
        sample,
        k=2,
        journalist_risk=0.01,
        population=everyone,
        person="who",
        identifiers=["who"],
        quasi_identifiers=["age", "sex"],
        seed=1,
    )
    assert made.measured.k >= 2
    assert made.measured.journalist_risk <= 0.01
    assert so.k_map(made.data, ["age", "sex"]) >= 100


@pytest.mark.parametrize(("k", "limit"), [(1, 0.2), (2, 0.1), (3, 0.05), (7, 0.01), (4, 0.3)])
def test_the_fewest_matches_are_the_least_that_suffice(k: int, limit: float) -> None:
    asked = PrivacyRequirements(k=k, journalist_risk=limit, weighted=True)
    least = fewest_matches(asked)

    def risk(records: int, weight: float) -> float:
        rows = pa.table({"v": [1] * records, "w": [weight / records] * records})
        return so.individual_risk(rows, ["v"], weight="w").maximum

    if 1 / k <= limit:
        assert least == 0
        return
    assert risk(k, least) == pytest.approx(limit)
    for records in range(k, k + 5):  # what suffices for k records suffices for more
        assert risk(records, least) <= limit * (1 + 1e-9)


def test_what_it_needs_is_named() -> None:
    survey = _survey(40)
    with pytest.raises(RoleError, match="weights of the sample"):
        cr.anonymize(survey, k=2, journalist_risk=0.1, **ROLES, person="each record")
    with pytest.raises(ParameterError, match="(?i)each_column"):
        cr.anonymize(
            survey, k=2, journalist_risk=0.1, weight="w", each_column=True, **ROLES, person="each record"
        )
    bad = survey.set_column(2, "w", pa.array([0.0] * 40))
    with pytest.raises(ParameterError, match="positive"):
        cr.anonymize(bad, k=2, journalist_risk=0.1, weight="w", **ROLES, person="each record")


def test_a_plan_keeps_the_requirement(tmp_path: Path) -> None:
    survey = _survey()
    made = cr.anonymize(survey, k=2, journalist_risk=0.05, weight="w", seed=1, **ROLES, person="each record")
    again = cr.anonymize(
        survey, plan=made.plan.save(tmp_path / "plan.toml"), weight="w", seed=1, **ROLES, person="each record"
    )
    assert again.measured.journalist_risk == made.measured.journalist_risk
    with pytest.raises(RoleError, match="weights"):
        cr.anonymize(survey, plan=tmp_path / "plan.toml", **ROLES, person="each record")


def test_the_command_line(tmp_path: Path) -> None:
    csv.write_csv(_survey(), tmp_path / "survey.csv")
    out = tmp_path / "safe.csv"
    words = [
        "anonymize",
        "--person",
        "each record",
        str(tmp_path / "survey.csv"),
        "-o",
        str(out),
        "--qi",
        "age",
        "--qi",
        "sex",
        "--insensitive",
        "w",
        "--k",
        "2",
        "--journalist-risk",
        "0.05",
        "--key",
        str(tmp_path / "key.json"),
    ]
    assert run([*words, "--weight", "w"]) == 0
    assert "survey weights" in (tmp_path / "safe.csv.statement.md").read_text()
    assert run([*words, "--force"]) == 2
