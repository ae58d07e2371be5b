"""What the owner says of columns: levels that must stay, weights, uses, attributes that may change."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.columns import roles
from crypsis.errors import ColumnError, ParameterError, RequirementsNotMetError, RoleError, SourceError
from crypsis.hierarchies import Hierarchy
from crypsis.protection import Plan

KNOWN = ["age", "zip", "sex"]
RECODINGS = ["local", "full-domain"]
JOBS = Hierarchy([(f"j{i}", f"g{i // 4}", f"h{i // 8}") for i in range(12)])


def people(seed: int = 0, rows: int = 300, *, healthy: bool = False) -> pa.Table:
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 60, rows)
    jobs = np.arange(12, 0, -1)
    table = pa.table(
        {
            "age": age,
            "zip": [f"{code:05d}" for code in draw.integers(10000, 10050, rows)],
            "sex": draw.choice(["f", "m"], rows),
            "job": draw.choice(JOBS.values, rows, p=jobs / jobs.sum()),
        }
    )
    if not healthy:
        return table
    state = np.where(age + draw.normal(0, 6, rows) < 40, "yes", "no")
    return table.set_column(3, "healthy", pa.array(state))


def released(table: pa.Table, **asked: Any) -> Any:
    own = {"quasi_identifiers": KNOWN, "sensitive": table.column_names[3:]}
    return cr.anonymize(table, seed=1, **{**own, **asked}, person="each record")


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_column_stays_at_its_level_or_finer(level: int, recoding: str) -> None:
    table = people()
    made = released(table, k=3, keep={"age": level}, recoding=recoding)
    steps = made.plan.columns[0].coarser[:level]
    allowed = {str(a) for a in table["age"].to_pylist()}
    allowed |= {str(step.label(a)) for step in steps for a in table["age"].to_pylist()}
    assert {str(a) for a in made.frame["age"].to_pylist()} <= allowed
    assert made.measured.k >= 3
    assert made.loss.withheld_share <= 0.05
    free = released(table, k=3, recoding=recoding)
    assert made.loss.ncp >= free.loss.ncp - 1e-9


@pytest.mark.parametrize("recoding", RECODINGS)
def test_what_cannot_be_kept_is_refused_with_what_comes_nearest(recoding: str) -> None:
    with pytest.raises(RequirementsNotMetError, match=r"nearest recoding found suppresses") as error:
        released(people(), k=5, keep={"age": 1, "zip": 1}, recoding=recoding)
    assert error.value.code == "not-kept"
    needed = int(error.value.message.split("suppresses ")[1].split(" of")[0].replace(",", ""))
    made = released(people(), k=5, keep={"age": 1, "zip": 1}, recoding=recoding, suppression=needed / 300)
    assert made.loss.suppressed_records <= needed


def test_missing_values_of_a_column_that_is_kept_do_no_harm() -> None:
    table = people()
    ages = [None if i % 10 == 0 else a for i, a in enumerate(table["age"].to_pylist())]
    table = table.set_column(0, "age", pa.array(ages, pa.int64()))
    made = released(table, k=2, keep={"age": 0})
    sizes = Counter(tuple(row[name] for name in KNOWN) for row in made.frame.to_pylist())
    assert min(sizes.values()) == made.measured.k >= 2


def test_levels_of_dates_are_named() -> None:
    draw = np.random.default_rng(2)
    days = np.datetime64("2000-01-01") + draw.integers(0, 1500, 200)
    table = pa.table({"day": pa.array(days), "sex": draw.choice(["f", "m"], 200)})
    asked = {"quasi_identifiers": ["day", "sex"], "k": 3}
    made = cr.anonymize(table, keep={"day": "quarter"}, **asked, person="each record")
    assert all(len(str(label)) > 4 for label in made.frame["day"].to_pylist())
    with pytest.raises(ParameterError, match="month, quarter, half-year, year, decade"):
        cr.anonymize(table, keep={"day": "week"}, **asked, person="each record")
    with pytest.raises(ColumnError):
        cr.anonymize(table, keep={"week": 1}, **asked, person="each record")


def test_births_of_few_people_are_released_by_periods_of_years() -> None:
    draw = np.random.default_rng(4)
    days = np.datetime64("1925-01-01") + draw.integers(0, 95 * 365, 300)
    table = pa.table({"born": pa.array(days), "sex": draw.choice(["f", "m"], 300)})
    asked = {"quasi_identifiers": ["born", "sex"], "recoding": "full-domain"}
    made = cr.anonymize(table, k=25, **asked, person="each record").frame["born"]
    assert made.null_count == 0
    assert set(made.to_pylist()) <= {"1920-1959", "1960-1999", "2000-2039"}
    finer = cr.anonymize(table, k=15, keep={"born": "20 years"}, **asked, person="each record").frame["born"]
    assert {int(label[5:]) - int(label[:4]) for label in finer.to_pylist()} == {19}


def test_a_column_of_weight_zero_may_be_dropped_and_another_keeps_its_detail() -> None:
    table = people()
    equal = released(table, k=5)
    made = released(table, k=5, weights={"zip": 0})

    def distinct(one: Any) -> int:
        return len(set(map(str, one.frame["age"].to_pylist())))

    assert distinct(made) > distinct(equal)
    assert made.loss.ncp >= equal.loss.ncp  # it is counted in full, whatever its weight
    loose = released(table, k=1, weights={"zip": 0})
    assert loose.loss.ncp == 0  # nothing is generalized without need


def test_settings_come_from_the_roles_file(tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    path.write_text(
        '[roles]\nage = { role = "quasi-identifier", keep = 1 }\n'
        'zip = { role = "quasi-identifier", weight = 0 }\nsex = "quasi-identifier"\n'
        'job = { role = "sensitive", may_change = true }\n'
    )
    data = cr.Dataset.from_frame(people())
    decided = roles.load(path, data.names)
    made = cr.protection.plan(data.with_roles(decided.roles, decided.notes), k=3)
    assert [(one.keep, one.weight) for one in made.columns] == [(1, 1.0), (None, 0.0), (None, 1.0)]
    assert [(one.name, one.may_change) for one in made.sensitive] == [("job", True)]
    assert Plan.load(made.save(tmp_path / "plan.toml")) == made
    guesses = roles.guess(data)
    again = roles.load(roles.save(guesses, tmp_path / "again.toml", notes=decided.notes), data.names)
    assert again.notes == decided.notes
    path.write_text('[roles]\nage = { role = "quasi-identifier", keep = true }\n')
    with pytest.raises(RoleError, match="keep of column 'age' must be a level"):
        roles.load(path, data.names)


def test_the_hierarchy_of_a_quasi_identifier_comes_from_the_roles_file(tmp_path: Path) -> None:
    JOBS.write(tmp_path / "jobs.csv")
    path = tmp_path / "roles.toml"
    path.write_text('[roles]\njob = { role = "quasi-identifier", hierarchy = "jobs.csv" }\n')
    data = cr.Dataset.from_frame(people().select(["job"]))
    decided = roles.load(path, data.names)
    noted = data.with_roles(decided.roles, decided.notes)
    given = data.with_roles(decided.roles)
    assert cr.protection.plan(noted, k=3) == cr.protection.plan(given, k=3, hierarchies={"job": JOBS})
    assert cr.protection.plan(noted, k=3, methods={"job": "frequent"}) == cr.protection.plan(
        given, k=3, methods={"job": "frequent"}
    )
    (tmp_path / "jobs.csv").unlink()
    with pytest.raises(SourceError, match=r"jobs.csv' could not be read"):
        cr.protection.plan(noted, k=3)


def information(pairs: list[tuple[Any, Any]]) -> float:
    """Mutual information in bits."""
    both, left, right = Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    n = len(pairs)
    return sum(c / n * np.log2(c * n / (left[a] * right[b])) for (a, b), c in both.items())


def test_a_target_keeps_more_of_its_information() -> None:
    table = people(rows=2000, healthy=True)
    plain = released(table, k=20, recoding="full-domain", suppression=0.0)
    aimed = released(table, k=20, recoding="full-domain", suppression=0.0, preserve=["healthy"])
    assert list(aimed.loss.preserved) == ["healthy"]

    def left(made: Any) -> float:
        before = sum(
            information(list(zip(table[name].to_pylist(), table["healthy"].to_pylist(), strict=True)))
            for name in KNOWN
        )
        rows = made.frame
        after = sum(
            information(list(zip(rows[name].to_pylist(), rows["healthy"].to_pylist(), strict=True)))
            for name in KNOWN
        )
        return after / before

    assert left(aimed) > left(plain)
    assert aimed.loss.preserved["healthy"] == pytest.approx(left(aimed), abs=0.06)
    text = aimed.statement.to_markdown()
    assert f"information for healthy that is left: {100 * aimed.loss.preserved['healthy']:.1f} %" in text


def test_pairs_and_distributions_are_preserved() -> None:
    table = people(healthy=True)
    ages = released(table, k=5, preserve=["age"])
    both = released(table, k=5, preserve=[("age", "healthy")])
    plain = released(table, k=5)

    def distinct(made: Any) -> float:
        return len(set(map(str, made.frame["age"].to_pylist())))

    assert min(distinct(ages), distinct(both)) >= distinct(plain)
    assert set(both.loss.preserved) == {"age and healthy"}
    assert ages.loss.preserved["age"] > 0.5
    with pytest.raises(ParameterError, match="one column or two"):
        released(table, k=5, preserve=[("age", "sex", "healthy")])
    with pytest.raises(ColumnError):
        released(table, k=5, preserve=["wealth"])


def test_a_sensitive_attribute_changes_where_that_costs_less(tmp_path: Path) -> None:
    table, asked = people(), {"k": 3, "beta_likeness": 1.0, "hierarchies": {"job": JOBS}}
    fixed = released(table, **asked)
    made = released(table, may_change=["job"], **asked)
    price = made.loss.ncp * 3 + made.loss.changed_sensitive["job"]
    assert price < fixed.loss.ncp * 3
    groups = {label for level in (1, 2) for label in JOBS.groups(level)}
    assert set(made.frame["job"].to_pylist()) <= groups
    every, classes = Counter(made.frame["job"].to_pylist()), defaultdict(list)
    for row in made.frame.to_pylist():
        classes[tuple(row[name] for name in KNOWN)].append(row["job"])
    for jobs in classes.values():
        for job, count in Counter(jobs).items():
            assert count / len(jobs) / (every[job] / every.total()) - 1 <= 1 + 1e-9
    assert "Sensitive attribute job changed" in str(made)
    assert any(one.column == "job" for one in made.methods)
    plan = Plan.load(made.plan.save(tmp_path / "plan.toml"))
    again = plan.apply(table, quasi_identifiers=KNOWN, sensitive=["job"])
    assert again.loss.ncp == made.loss.ncp
    assert set(again.frame["job"].to_pylist()) == set(made.frame["job"].to_pylist())


def test_an_attribute_is_dropped_only_where_it_may_be() -> None:
    table = people(rows=40)
    with pytest.raises(RequirementsNotMetError):
        released(table, k=2, diversity=13)
    made = released(table, k=2, diversity=13, may_change=["job"])
    assert "job" not in made.data.names
    assert made.loss.changed_sensitive == {"job": 1.0}
    assert made.requirements.diversity is None
    with pytest.raises(RequirementsNotMetError):  # what is to be preserved is not dropped
        released(table, k=2, diversity=13, may_change=["job"], preserve=[("age", "job")])
    with pytest.raises(ColumnError):
        released(table, k=2, may_change=["age"])


@pytest.mark.parametrize("missing", ["wildcard", "drop"])
def test_a_reading_of_missing_values_without_effect_is_refused(missing: str) -> None:
    with pytest.raises(ParameterError, match="no effect on a recoding"):
        released(people(), k=2, missing=missing)
