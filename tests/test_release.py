"""Roles, populations, missing values: what a Release accepts and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import ColumnError, ParameterError, RoleError
from crypsis.release import as_release

TABLE = pa.table({"id": [1, 2, 3, 4], "age": [30, 30, None, 41], "ill": ["x", "y", "x", "x"]})


def test_roles_by_name() -> None:
    release = cr.Release.from_frame(
        TABLE, identifiers=["id"], quasi_identifiers=["age"], sensitive=["ill"]
    )
    assert (release.identifiers, release.quasi_identifiers, release.sensitive) == (
        ("id",),
        ("age",),
        ("ill",),
    )
    assert release.with_roles({"age": cr.Role.SENSITIVE}).sensitive == ("age",)


def test_roles_that_contradict() -> None:
    with pytest.raises(RoleError, match="'age' is named as identifier and as sensitive"):
        cr.Release.from_frame(TABLE, identifiers=["age"], sensitive=["age"])
    with pytest.raises(RoleError, match=r"a list: \['age'\]"):
        cr.Release.from_frame(TABLE, quasi_identifiers="age")


@pytest.mark.parametrize("role", ["identifiers", "quasi_identifiers", "sensitive"])
def test_roles_of_unknown_columns(role: str) -> None:
    with pytest.raises(ColumnError, match="no column 'agee'.*The columns are: 'id', 'age', 'ill'"):
        cr.Release.from_frame(TABLE, **{role: ["agee"]})
    with pytest.raises(ColumnError, match="no column 'who'"):
        cr.Release.from_frame(TABLE, person="who")


@pytest.mark.parametrize("population", [0, -5, 1.5, True, "many"])
def test_populations_that_are_none(population: object) -> None:
    with pytest.raises(ParameterError, match="whole number of at least 1"):
        cr.Release.from_frame(TABLE, population=population)


def test_a_population_may_be_a_release() -> None:
    everyone = cr.Release.from_frame(TABLE)
    assert cr.Release.from_frame(TABLE, population=everyone).population is everyone


def test_missing_policies() -> None:
    sizes = {
        policy: cr.Release.from_frame(TABLE, quasi_identifiers=["age"], missing=policy)
        .cells()
        .class_sizes.tolist()
        for policy in ("value", "wildcard", "drop")
    }
    assert sizes == {"value": [2, 1, 1], "wildcard": [3, 2, 4], "drop": [2, 1, 0]}
    with pytest.raises(ParameterError, match="'value', 'wildcard', 'drop'"):
        cr.Release.from_frame(TABLE, missing="ignore")


def test_cells_need_columns() -> None:
    with pytest.raises(RoleError, match="No quasi-identifiers"):
        cr.Release.from_frame(TABLE).cells()
    with pytest.raises(ColumnError, match="At least one column"):
        cr.Release.from_frame(TABLE).cells([])
    with pytest.raises(ColumnError, match="named twice"):
        cr.Release.from_frame(TABLE).cells(["age", "age"])
    with pytest.raises(RoleError, match="No weight column"):
        cr.Release.from_frame(TABLE).cells(["age"], weighted=True)


def test_rows_are_scanned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    release = cr.Release.from_frame(TABLE)
    whole = release.cells(["age", "ill"])
    monkeypatch.setattr(type(release.rows), "cells", None)
    part = release.cells(["ill"])
    assert part.counts.tolist() == [3, 1]
    assert release.cells(["age", "ill"]) is whole


def test_entropy_of_wildcards_is_refused() -> None:
    cells = cr.Release.from_frame(TABLE, missing="wildcard").cells(["age"])
    with pytest.raises(ParameterError, match="not defined when missing values match anything"):
        cells.entropy_bits()


def test_files_are_taken_wherever_releases_are(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("age,sex\n30,f\n41,m\n")
    for given in (path, str(path)):
        release = as_release(given, quasi_identifiers=["age"])
        assert release.count == 2
        assert release.quasi_identifiers == ("age",)


def test_frames_are_taken_wherever_releases_are() -> None:
    release = as_release(TABLE, quasi_identifiers=["age"])
    assert as_release(release) is release
    with pytest.raises(ParameterError, match="with_roles"):
        as_release(release, sensitive=["ill"])
