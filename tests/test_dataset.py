"""Roles, populations and missing values of a Dataset; repr, pickle and errors."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.dataset import as_dataset
from crypsis.errors import ColumnError, ParameterError, RoleError
from crypsis.tables import open_frame
from crypsis.tables.shuffled import shuffled

SOURCE = Path(cr.__file__).parent

TABLE = pa.table({"id": [1, 2, 3, 4], "age": [30, 30, None, 41], "ill": ["x", "y", "x", "x"]})


def test_roles_by_name() -> None:
    data = cr.Dataset.from_frame(
        TABLE, identifiers=["id"], quasi_identifiers=["age"], sensitive=["ill"], person="each record"
    )
    assert (data.identifiers, data.quasi_identifiers, data.sensitive) == (("id",), ("age",), ("ill",))
    assert data.with_roles({"age": cr.Role.SENSITIVE}).sensitive == ("age",)


def test_roles_that_contradict() -> None:
    with pytest.raises(RoleError, match="'age' has two roles, identifier and sensitive") as caught:
        cr.Dataset.from_frame(TABLE, identifiers=["age"], sensitive=["age"], person="each record")
    assert (caught.value.code, caught.value.parameters) == ("two-roles", {"columns": ("age",)})


def test_one_column_may_be_a_string() -> None:
    assert cr.Dataset.from_frame(TABLE, quasi_identifiers="age", person="each record").quasi_identifiers == (
        "age",
    )


def test_roles_by_their_names() -> None:
    data = cr.Dataset.from_frame(TABLE).with_roles({"age": "sensitive", "ill": "insensitive"})
    assert (data.sensitive, data.insensitive, data.undecided) == (("age",), ("ill",), ("id",))
    with pytest.raises(ParameterError, match="'role' must be one of 'identifier'"):
        data.with_roles({"age": "other"})


def test_repr_has_counts_and_no_data_values() -> None:
    data = cr.Dataset.from_frame(
        TABLE, identifiers="id", quasi_identifiers=["age", "ill"], person="each record"
    )
    expected = "Dataset(4 records, 3 columns; 1 direct identifier, 2 quasi-identifiers)"
    assert repr(data) == expected
    assert repr(cr.Dataset.from_frame(TABLE)) == "Dataset(4 records, 3 columns)"
    html = data._repr_html_()
    assert "<td>age</td><td>integer</td><td>quasi-identifier</td>" in html
    assert expected in html
    assert "41" not in html


def test_a_dataset_of_a_frame_pickles() -> None:
    data = cr.Dataset.from_frame(
        TABLE, quasi_identifiers="age", population=100, missing="drop", person="each record"
    )
    data.cells()
    again = pickle.loads(pickle.dumps(data))
    assert repr(again) == repr(data)
    assert (again.population, again.missing) == (100, cr.MissingValues.DROP)
    assert again.frame.equals(TABLE)
    assert again.cells().class_sizes.tolist() == data.cells().class_sizes.tolist()


def test_a_dataset_of_a_file_pickles(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,sex\n30,f\n41,m\n")
    data = cr.read(tmp_path / "a.csv", quasi_identifiers="age", person="each record")
    again = pickle.loads(pickle.dumps(data))
    assert repr(again) == repr(data)
    assert again.to_arrow().equals(data.to_arrow())


@pytest.mark.parametrize("role", ["identifiers", "quasi_identifiers", "sensitive"])
def test_roles_of_unknown_columns(role: str) -> None:
    with pytest.raises(ColumnError, match="'agee' does not exist.*: 'id', 'age', 'ill'"):
        cr.Dataset.from_frame(TABLE, **{role: ["agee"]}, person="each record")
    with pytest.raises(ColumnError, match="'who' does not exist"):
        cr.Dataset.from_frame(TABLE, person="who")


@pytest.mark.parametrize("population", [0, -5, 1.5, True, np.int64(0)])
def test_populations_that_are_not_valid(population: object) -> None:
    with pytest.raises(ParameterError, match="whole number of at least 1"):
        cr.Dataset.from_frame(TABLE, population=population)


def test_a_population_may_be_a_number_a_frame_or_a_dataset() -> None:
    assert cr.Dataset.from_frame(TABLE, population=np.int64(9)).population == 9
    assert cr.Dataset.from_frame(TABLE, population=TABLE).population.count == 4
    everyone = cr.Dataset.from_frame(TABLE)
    assert cr.Dataset.from_frame(TABLE, population=everyone).population is everyone


def test_missing_policies() -> None:
    sizes = {
        policy: cr.Dataset.from_frame(TABLE, quasi_identifiers=["age"], missing=policy, person="each record")
        .cells()
        .class_sizes.tolist()
        for policy in ("value", "wildcard", "drop")
    }
    assert sizes == {"value": [2, 1, 1], "wildcard": [3, 2, 4], "drop": [2, 1, 0]}
    with pytest.raises(ParameterError, match="'value', 'wildcard', 'drop'"):
        cr.Dataset.from_frame(TABLE, missing="ignore")


def test_cells_need_columns() -> None:
    with pytest.raises(RoleError, match="No quasi-identifiers"):
        cr.Dataset.from_frame(TABLE).cells()
    with pytest.raises(ColumnError, match="At least one column"):
        cr.Dataset.from_frame(TABLE).cells([])
    with pytest.raises(ColumnError, match="named twice"):
        cr.Dataset.from_frame(TABLE).cells(["age", "age"])
    with pytest.raises(RoleError, match="No weight column"):
        cr.Dataset.from_frame(TABLE).cells(["age"], weighted=True)


def test_rows_are_scanned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = cr.Dataset.from_frame(TABLE)
    both = data.cells(["age", "ill"])
    monkeypatch.setattr(type(data.rows), "cells", None)
    part = data.cells(["ill"])
    assert part.counts.tolist() == [3, 1]
    assert data.cells(["age", "ill"]) is both


def test_entropy_of_wildcards_is_refused() -> None:
    cells = cr.Dataset.from_frame(TABLE, missing="wildcard").cells(["age"])
    with pytest.raises(ParameterError, match="not defined when missing values match anything"):
        cells.entropy_bits()


def test_files_are_taken_wherever_datasets_are(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("age,sex\n30,f\n41,m\n")
    for given in (path, str(path)):
        data = as_dataset(given, quasi_identifiers=["age"])
        assert data.count == 2
        assert data.quasi_identifiers == ("age",)


def test_frames_are_taken_wherever_datasets_are() -> None:
    data = as_dataset(TABLE, quasi_identifiers=["age"])
    assert as_dataset(data) is data
    with pytest.raises(ParameterError, match="with_roles"):
        as_dataset(data, sensitive=["ill"])


@pytest.mark.parametrize(
    ("function", "refused"),
    [
        (cr.inference.l_diversity, "weight"),
        (cr.inference.t_closeness, "stratum"),
        (cr.inference.value_disclosure, "cluster"),
        (cr.utility.discernibility, "weight"),
        (cr.singling_out.combination_k, "weight"),
        (cr.singling_out.individual_risk, "stratum"),
        (cr.singling_out.household_risk, "cluster"),
        (cr.singling_out.equivalence_classes, "cluster"),
        (cr.singling_out.loglinear_risk, "stratum"),
    ],
)
def test_a_design_that_a_measure_does_not_use_is_refused(
    function: Callable[..., object], refused: str
) -> None:
    """Who gives weights, strata or clusters to a measure expects an effect."""
    table = pa.table({"a": [1, 1, 2], "s": [1, 2, 1], "d": [1.0, 1.0, 1.0], "h": [1, 2, 3]})
    roles = {"quasi_identifiers": ["a"], "sensitive": ["s"]}
    with pytest.raises(RoleError, match=f"does not use '{refused}'") as caught:
        function(table, **roles, **{refused: "d"})
    assert caught.value.code == "role-not-used"
    assert refused not in inspect.signature(function).parameters
    data = cr.Dataset.from_frame(
        table, **roles, household="h", **{"weight": "d", refused: "d"}, person="each record"
    )
    function(data)  # a dataset may have them for other measures


def test_a_frame_is_not_printed_where_a_path_is_expected() -> None:
    with pytest.raises(ParameterError, match="a Table was given") as caught:
        cr.read(pa.table({"name": ["Xylander"]}))  # type: ignore[arg-type]
    assert "Xylander" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "given", "nearest"),
    [
        (lambda data, **given: cr.anonymize(data, **given, person="each record"), "kk", "k"),
        (lambda data, **given: cr.protection.explore(data, k=2, **given), "siezs", "sizes"),
        (lambda data, **given: cr.assess(data, **given, person="each record"), "sensitiv", "sensitive"),
        (lambda data, **given: cr.compare(data, data, **given), "colums", "columns"),
        (lambda data, **given: cr.linkage.attack_links(data, data, **given), "onn", "on"),
    ],
)
def test_a_misspelled_keyword_is_named_with_the_nearest(call: Any, given: str, nearest: str) -> None:
    with pytest.raises(TypeError, match=f"argument '{given}'. Did you mean '{nearest}'"):
        call(pa.table({"a": [1, 2]}), **{given: 2})


PEOPLE = pa.table({"age": [30, 30, None, None], "sex": ["f", "f", "f", "f"]})


def test_other_rows_have_other_counts_and_another_frame() -> None:
    data = cr.Dataset.from_frame(PEOPLE, quasi_identifiers=["age", "sex"])
    assert data.cells().counts.tolist() == [2, 2]
    other = pa.table({"age": [1, 2, 3], "sex": ["f", "m", "m"]})
    moved = replace(data, rows=open_frame(other))
    assert moved.cells().counts.tolist() == moved.cells(["age"]).counts.tolist() == [1, 1, 1]
    assert cr.singling_out.k_anonymity(moved) == 1
    assert moved.frame.fetchall() == [(1, "f"), (2, "m"), (3, "m")]  # not the frame of before
    assert pickle.loads(pickle.dumps(moved)).to_arrow().equals(other)
    assert data.cells().counts.tolist() == [2, 2]
    assert data.frame is PEOPLE


@pytest.mark.parametrize("missing", [cr.MissingValues.WILDCARD, "wildcard"])
def test_another_rule_of_missing_values_has_other_counts(missing: Any) -> None:
    data = cr.Dataset.from_frame(PEOPLE, quasi_identifiers="age")
    assert data.cells().class_sizes.tolist() == [2, 2]
    loose = replace(data, missing=missing)
    assert loose.cells().class_sizes.tolist() == [4, 4]
    assert loose.strict().cells().class_sizes.tolist() == [2, 2]
    assert data.strict() is data


def test_the_same_records_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = cr.Dataset.from_frame(PEOPLE, quasi_identifiers=["age", "sex"])
    counted = data.cells()
    assert data.with_roles({"age": "quasi-identifier", "sex": "quasi-identifier"}).cells() is counted
    moved = shuffled(data.rows, np.random.SeedSequence(1), in_memory=True)
    assert replace(data, rows=moved).cells() is counted
    assert replace(data, rows=moved).frame is not PEOPLE


def test_counts_are_dropped_where_datasets_are_made() -> None:
    """Whoever replaces rows has nothing to remember: no other module knows of the counts."""
    field = re.compile(r"(?<!\w)_counts=")
    modules = {path.name: path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
    assert [name for name, text in modules.items() if field.search(text)] == []
