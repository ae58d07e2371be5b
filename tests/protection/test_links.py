"""Linked records: new pseudonyms as long as the attack on histories allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crypsis as cr
from crypsis.errors import ParameterError, RequirementsNotMetError, RoleError
from crypsis.protection import Key, Plan
from crypsis.singling_out import unicity
from tests.singling_out.test_histories import brute

ROLES: dict[str, Any] = {
    "quasi_identifiers": ["month", "ward"],
    "sensitive": ["ill"],
    "identifiers": ["code"],
    "person": "code",
}


def visits(people: int = 60, times: int = 5) -> pd.DataFrame:
    draw = np.random.default_rng(6)
    rows = people * times
    return pd.DataFrame(
        {
            "code": np.repeat([f"P{n:04d}" for n in range(people)], times),
            "month": draw.integers(1, 13, rows),
            "ward": draw.choice(["a", "b"], rows),
            "ill": np.array(["flu", "gout"])[draw.permutation(rows) % 2],
        }
    )


@pytest.fixture(scope="module")
def made() -> cr.Anonymized:
    return cr.anonymize(visits(), k=5, unicity=0.05, events=2, **ROLES)


def test_the_release_meets_the_limit_by_brute_force(made: cr.Anonymized) -> None:
    released = made.data.to_arrow().to_pandas()[["code", "month", "ward"]].astype(str)
    shares = brute(released, 2, "set")
    assert np.mean(list(shares.values())) <= 0.05
    assert made.measured is not None
    assert made.measured.unicity is not None
    assert made.measured.unicity <= 0.05
    before = unicity(visits(), ["month", "ward"], person="code", events=2).at(2)
    assert before > 0.15


def test_pseudonyms_are_of_one_person_and_say_nothing(made: cr.Anonymized) -> None:
    released = made.data.to_arrow().to_pandas()
    released["who"] = visits()["code"].to_numpy()[np.array(made.key.row_map)]
    assert released.groupby("code")["who"].nunique().max() == 1
    assert not set(released["code"]) & set(released["who"])
    assert released.groupby(["month", "ward"], dropna=False)["who"].nunique().min() >= 5
    links = (len(released) - released["code"].nunique()) / (len(released) - 60)
    assert made.loss.links_kept == pytest.approx(links)
    assert made.loss.records_per_pseudonym == pytest.approx(300 / released["code"].nunique())
    assert made.loss.records_per_person == pytest.approx(5)


def test_it_is_in_the_statement_and_in_the_file(made: cr.Anonymized, tmp_path: Path) -> None:
    written = made.write(tmp_path / "release.csv")
    text = (tmp_path / "release.csv.statement.md").read_text()
    assert "new pseudonyms" in text
    assert "unicity: people singled out by the known records | at most 0.05 |" in text
    assert "links between the records of a person that are left" in text
    assert written.measured == made.measured
    back = pd.read_csv(tmp_path / "release.csv", dtype=str, keep_default_na=False)
    assert np.mean(list(brute(back[["code", "month", "ward"]], 2, "set").values())) <= 0.05
    assert "P0001" not in (tmp_path / "release.csv").read_text() + text
    assert made.plan is not None
    made.plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json").requirements.unicity == 0.05


def test_the_same_seed_gives_the_same_pseudonyms(made: cr.Anonymized) -> None:
    again = cr.anonymize(visits(), k=5, unicity=0.05, events=2, key=Key(made.key.seed), **ROLES)
    assert again.frame.equals(made.frame)
    other = cr.anonymize(visits(), k=5, unicity=0.05, events=2, **ROLES)
    assert not set(other.frame["code"]) & set(made.frame["code"])


def test_pieces_are_consecutive_in_time() -> None:
    """Of eight records in the order of days, those of a pseudonym are neighbors."""
    data = visits(40, 8).assign(day=lambda one: np.random.default_rng(3).permutation(len(one)))
    roles = {**ROLES, "excluded": ["day"]}
    found = cr.anonymize(data, k=2, unicity=0.02, events=3, order="day", **roles)
    released = found.data.to_arrow().to_pandas()
    at = np.array(found.key.row_map)
    rank = data.groupby("code")["day"].rank().to_numpy()[at]
    spread = pd.Series(rank).groupby(released["code"]).agg(lambda one: one.max() - one.min() + 1)
    assert (spread == released.groupby("code").size()).all()


def test_what_cannot_be_met_is_refused() -> None:
    """A column that nobody generalizes and that is different in every record."""
    data = visits(12, 2).assign(reading=np.arange(24))
    with pytest.raises(RequirementsNotMetError, match="single out 100"):
        cr.anonymize(data, k=2, unicity=0.05, insensitive=["reading"], **ROLES)


def test_mistakes_are_named() -> None:
    roles = {**ROLES, "person": "each record"}
    data = visits().rename(columns={"code": "name"}).assign(name="Anna Bauer")
    with pytest.raises(RoleError, match="whose they are is not known"):
        cr.anonymize(data, k=5, unicity=0.05, **{**roles, "identifiers": ["name"]})
    with pytest.raises(RoleError, match="would be released beside new pseudonyms"):
        cr.anonymize(visits(), k=5, unicity=0.05, insensitive=["code"], **{**ROLES, "identifiers": []})


def days(people: int = 60, times: int = 6) -> pd.DataFrame:
    """Visits over three years, each with its date."""
    draw = np.random.default_rng(9)
    start = pd.Timestamp("2021-01-01")
    table = visits(people, times).drop(columns="month")
    table["day"] = start + pd.to_timedelta(draw.integers(0, 1_095, len(table)), unit="D")
    return table


DATED: dict[str, Any] = {
    "quasi_identifiers": ["ward"],
    "sensitive": ["ill"],
    "identifiers": ["code"],
    "person": "code",
    "excluded": ["day"],
}


@pytest.mark.parametrize(
    ("links", "period"), [("year", "Y"), ("quarter", "Q"), ("month", "M"), ("week", "W")]
)
def test_a_pseudonym_for_each_window_of_time(links: str, period: str) -> None:
    data = days()
    found = cr.anonymize(data, k=2, unicity=1.0, order="day", links=links, seed=1, **DATED)
    at = np.array(found.key.row_map)
    window = data["day"].dt.to_period(period).astype(str).to_numpy()[at]
    who = data["code"].to_numpy()[at]
    expected = pd.Series(who) + window
    code = pd.Series(found.data.to_arrow()["code"].to_pylist())
    assert code.groupby(expected).nunique().max() == 1
    assert expected.groupby(code).nunique().max() == 1
    links_left = (len(code) - code.nunique()) / (len(code) - 60)
    assert found.loss.links_kept == pytest.approx(links_left)
    assert found.plan is not None
    assert found.plan.requirements.links == links
    assert f"| a new pseudonym for each person and {links} |" in found.statement.to_markdown()


def test_windows_of_days_begin_together() -> None:
    found = cr.anonymize(days(), k=2, unicity=1.0, order="day", links="100 days", seed=1, **DATED)
    day = days()["day"].to_numpy()[np.array(found.key.row_map)].astype("datetime64[D]")
    number = pd.Series(day.astype(np.int64) // 100)
    code = pd.Series(found.data.to_arrow()["code"].to_pylist())
    assert number.groupby(code).nunique().max() == 1


def test_windows_are_chosen_where_they_keep_more_links() -> None:
    """Two visits a month, in ten months: pieces of few records cut months, windows do not."""
    people = 40
    month = np.tile(np.repeat(np.arange(10), 2), people)
    draw = np.random.default_rng(2)
    data = pd.DataFrame(
        {
            "code": np.repeat([f"P{n:03d}" for n in range(people)], 20),
            "ward": draw.choice(list("abcdef"), people * 20),
            "day": pd.Timestamp("2021-01-01") + pd.to_timedelta(31 * month, unit="D"),
        }
    )
    roles = {**DATED, "sensitive": []}
    options: dict[str, Any] = {"k": 2, "unicity": 0.1, "events": 2, "order": "day", "seed": 1}
    best = cr.anonymize(data, **options, **roles)
    pieces = cr.anonymize(data, links="pieces", **options, **roles)
    assert best.loss.links_kept is not None
    assert best.loss.links_kept >= (pieces.loss.links_kept or 0.0)
    released = best.data.to_arrow().to_pandas()[["code", "ward"]].astype(str)
    assert np.mean(list(brute(released, 2, "set").values())) <= 0.1


def uneven() -> pd.DataFrame:
    """Few people have many visits."""
    draw = np.random.default_rng(4)
    times = np.where(np.arange(80) < 8, 20, 3)
    rows = int(times.sum())
    return pd.DataFrame(
        {
            "code": np.repeat([f"P{n:04d}" for n in range(80)], times),
            "month": draw.integers(1, 7, rows),
            "ward": draw.choice(["a", "b"], rows),
            "ill": np.array(["flu", "gout"])[draw.permutation(rows) % 2],
        }
    )


def test_at_most_so_many_records_of_a_person(tmp_path: Path) -> None:
    found = cr.anonymize(uneven(), k=3, max_records=4, seed=3, **ROLES)
    who = uneven()["code"].to_numpy()[np.array(found.key.row_map)]
    counts = pd.Series(who).value_counts()
    assert counts.max() == 4
    assert found.loss.dropped_records == 8 * 16
    assert found.loss.records == len(uneven())
    rows = uneven().to_numpy()[np.array(found.key.row_map)]
    assert (rows[:, 3] == found.data.to_arrow()["ill"].to_pylist()).all()  # the right rows
    assert f"records dropped of people with many: {8 * 16}" in found.statement.to_markdown()
    assert found.loss.ncp is not None
    assert found.loss.ncp == pytest.approx(128 / len(uneven()))  # a dropped record counts in full
    again = cr.anonymize(uneven(), k=3, max_records=4, seed=3, **ROLES)
    assert again.key.row_map == found.key.row_map
    other = cr.anonymize(uneven(), k=3, max_records=4, **ROLES)
    assert sorted(other.key.row_map or ()) != sorted(found.key.row_map or ())
    found.plan.save(tmp_path / "plan.json")  # type: ignore[union-attr]
    repeated = cr.anonymize(uneven(), plan=tmp_path / "plan.json", seed=3, **ROLES)
    assert repeated.key.row_map == found.key.row_map


def test_one_pseudonym_a_person_drops_records_where_that_is_cheaper() -> None:
    options: dict[str, Any] = {"k": 3, "unicity": 0.05, "events": 3, "seed": 1}
    found = cr.anonymize(uneven(), links="person", **options, **ROLES)
    released = found.data.to_arrow().to_pandas()
    who = uneven()["code"].to_numpy()[np.array(found.key.row_map)]
    assert pd.Series(who).groupby(released["code"]).nunique().max() == 1
    assert released["code"].nunique() == len(set(who))  # one for each person
    shares = brute(released[["code", "month", "ward"]].astype(str), 3, "set")
    assert np.mean(list(shares.values())) <= 0.05
    assert found.loss.records_per_person == pytest.approx(len(uneven()) / 80)
    whole = cr.anonymize(uneven(), links="person", max_records=20, **options, **ROLES)
    price = [(one.loss.ncp or 0) + 1 - (one.loss.links_kept or 0) for one in (found, whole)]
    assert price[0] <= price[1] + 1e-9


def test_sensitive_values_that_records_disclose_can_be_required() -> None:
    from crypsis.inference import history_disclosure

    data = visits(60, 5).assign(ill=lambda one: np.where(one["month"] <= 4, "rare", "flu"))
    options: dict[str, Any] = {"k": 5, "unicity": 0.05, "events": 2, "seed": 1}
    free = cr.anonymize(data, **options, **ROLES)
    bound = cr.anonymize(data, inferred=0.02, **options, **ROLES)
    assert bound.measured is not None
    assert bound.measured.inferred is not None
    assert bound.measured.inferred <= 0.02
    again = history_disclosure(bound.data, "ill", events=(2,), exact=True)
    assert float(again.at(2)) <= 0.02
    assert free.measured is not None
    assert free.measured.inferred is not None  # measured, and not required
    assert "sensitive values that the known records make almost certain | at most 0.02 |" in (
        bound.statement.to_markdown()
    )


def test_amounts_are_binned_with_the_other_columns() -> None:
    draw = np.random.default_rng(5)
    data = visits().assign(amount=draw.lognormal(4, 1, 300).round(2))
    roles = {**ROLES, "quasi_identifiers": ["ward", "amount"], "excluded": ["month"]}
    found = cr.anonymize(data, k=5, unicity=0.05, events=2, seed=1, **roles)
    released = found.data.to_arrow().to_pandas()
    assert released["amount"].nunique() < 30
    shares = brute(released[["code", "ward", "amount"]].astype(str), 2, "set")
    assert np.mean(list(shares.values())) <= 0.05


def test_a_plan_with_links_is_applied_again(made: cr.Anonymized, tmp_path: Path) -> None:
    assert made.plan is not None
    made.plan.save(tmp_path / "plan.toml")
    again = cr.anonymize(visits(), plan=tmp_path / "plan.toml", key=Key(made.key.seed), **ROLES)
    assert again.measured is not None
    assert again.measured.unicity is not None
    assert again.measured.unicity <= 0.05
    assert again.plan is not None
    assert again.plan.requirements == made.plan.requirements


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"unicity": 0.05, "links": "decade"}, "'links' is 'decade'"),
        ({"unicity": 0.05, "links": "month"}, "No column has the time"),
        ({"unicity": 0.05, "links": "month", "order": "ward"}, "'ward' is not a date"),
        ({"links": "month"}, "records are not linked"),
        ({"inferred": 0.1}, "records are not linked"),
        ({"max_records": 0}, "at least 1"),
    ],
)
def test_options_that_cannot_be_used_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        cr.anonymize(visits(), k=5, **options, **ROLES)


def test_requirements_on_people_without_known_columns_are_refused() -> None:
    roles = {**ROLES, "quasi_identifiers": [], "excluded": ["month", "ward"]}
    with pytest.raises(ParameterError, match="No column is a quasi-identifier"):
        cr.anonymize(visits(), k=1, unicity=0.05, **roles)
