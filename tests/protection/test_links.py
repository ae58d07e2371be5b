"""Linked records: new pseudonyms as long as the attack on histories allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crypsis as cr
from crypsis.errors import RequirementsNotMetError, RoleError
from crypsis.protection import Key, Plan
from crypsis.singling_out import unicity
from tests.singling_out.test_histories import brute

ROLES: dict[str, Any] = {
    "quasi_identifiers": ["month", "ward"], "sensitive": ["ill"], "identifiers": ["code"],
    "person": "code",
}  # fmt: skip


def visits(people: int = 60, times: int = 5) -> pd.DataFrame:
    draw = np.random.default_rng(6)
    rows = people * times
    return pd.DataFrame({
        "code": np.repeat([f"P{n:04d}" for n in range(people)], times),
        "month": draw.integers(1, 13, rows), "ward": draw.choice(["a", "b"], rows),
        "ill": np.array(["flu", "gout"])[draw.permutation(rows) % 2],
    })  # fmt: skip


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


def test_it_is_in_the_statement_and_in_the_file(made: cr.Anonymized, tmp_path: Path) -> None:
    written = made.write(tmp_path / "release.csv")
    text = (tmp_path / "release.statement.md").read_text()
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
    roles = {name: value for name, value in ROLES.items() if name != "person"}
    data = visits().rename(columns={"code": "name"}).assign(name="Anna Bauer")
    with pytest.raises(RoleError, match="whose they are is not known"):
        cr.anonymize(data, k=5, unicity=0.05, **{**roles, "identifiers": ["name"]})
    with pytest.raises(RoleError, match="would be released beside new pseudonyms"):
        cr.anonymize(visits(), k=5, unicity=0.05, insensitive=["code"],
                     **{**ROLES, "identifiers": []})  # fmt: skip
