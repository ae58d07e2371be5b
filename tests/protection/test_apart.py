"""Sensitive attributes released apart: no column, key or order connects the files."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.assessment import check_package, make_dossier, write_package
from crypsis.cli import run
from crypsis.dataset import ColumnNote
from crypsis.errors import CrypsisError, OutputError, ParameterError, RoleError
from crypsis.policies.findings import Status, Verdict
from crypsis.protection import Plan, Statement

ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["income", "ill"]}
PEOPLE = 600


@pytest.fixture(scope="module")
def people() -> pa.Table:
    random = np.random.default_rng(0)
    return pa.table(
        {
            "age": random.integers(20, 60, PEOPLE),
            "sex": random.choice(["f", "m"], PEOPLE),
            "income": random.permutation(PEOPLE) * 10 + 20_000,
            "ill": random.choice(["flu", "gout", "none"], PEOPLE),
        }
    )


@pytest.mark.parametrize("shuffle", [True, False])
def test_all_values_are_there_and_no_order_is_that_of_another_file(people, shuffle):
    made = cr.anonymize(
        people, k=5, apart=["income", "ill"], shuffle=shuffle, seed=3, **ROLES, person="each record"
    )
    assert made.data.names == ("age", "sex")
    assert [one.names for one in made.apart] == [("income",), ("ill",)]
    rows = np.arange(PEOPLE) if made.key.row_map is None else np.array(made.key.row_map)
    places = {value: place for place, value in enumerate(people["income"].to_pylist())}
    values = made.apart[0].to_arrow()["income"].to_pylist()
    assert Counter(values) == Counter(people["income"].to_pylist())
    own = np.array([places[value] for value in values])
    assert (own == rows).sum() < 10  # 1 is expected of unrelated orders
    assert (own == np.arange(PEOPLE)).sum() < 10
    assert abs(np.corrcoef(own, rows)[0, 1]) < 0.2
    ill = made.apart[1].to_arrow()["ill"].to_pylist()
    assert Counter(ill) == Counter(people["ill"].to_pylist())
    together = sum(a == b for a, b in zip(ill, people["ill"].take(pa.array(own)).to_pylist(), strict=True))
    assert together < 0.5 * PEOPLE  # a third is expected


def test_columns_that_are_released_apart_together_stay_together(people):
    made = cr.anonymize(people, k=5, apart=[("income", "ill")], seed=1, **ROLES, person="each record")
    (file,) = made.apart
    pairs = zip(*(file.to_arrow()[name].to_pylist() for name in ("income", "ill")), strict=True)
    known = zip(*(people[name].to_pylist() for name in ("income", "ill")), strict=True)
    assert Counter(pairs) == Counter(known)


def test_nothing_is_required_of_them_and_the_rest_meets_the_requirements(people):
    beside = cr.anonymize(people, k=5, excess=0.2, apart="income", seed=1, **ROLES, person="each record")
    alone = cr.anonymize(
        people.drop(["income"]),
        k=5,
        excess=0.2,
        seed=1,
        quasi_identifiers=["age", "sex"],
        sensitive=["ill"],
        person="each record",
    )
    assert beside.frame.equals(alone.frame)
    assert beside.loss.ncp == alone.loss.ncp
    assert beside.loss.apart == ("income",)
    assert "Released apart: income" in str(beside)
    assert (beside.loss.pairs_separated, beside.loss.pairs) == (3, 6)
    assert "3 of 6 pairs of columns" in str(beside.loss)
    assert cr.assess(beside.data, together=list(beside.apart)).verdict is Verdict.SAFE


def test_a_plan_has_it_and_gives_the_same_release(people, tmp_path):
    made = cr.anonymize(people, k=5, apart=["income"], seed=7, **ROLES, person="each record")
    for name in ("plan.toml", "plan.json"):
        again = Plan.load(made.plan.save(tmp_path / name)).apply(people, seed=7, **ROLES)
        assert again.frame.equals(made.frame)
        assert again.apart[0].to_arrow().equals(made.apart[0].to_arrow())
    assert "released apart" in str(made.plan)
    assert "income" not in made.plan.removed


def test_the_statement_names_the_files(people, tmp_path):
    made = cr.anonymize(people, k=5, apart=["income"], seed=7, **ROLES, person="each record")
    made.write(tmp_path / "safe.csv")
    file = tmp_path / "safe.apart-1.csv"
    assert made.apart_paths(tmp_path / "safe.csv") == (file,)
    assert file.read_text().splitlines()[0] == "income"
    (named,) = Statement.load(tmp_path / "safe.csv.statement.json").apart
    assert (named.columns, named.records, named.file) == (("income",), PEOPLE, file.name)
    assert named.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    text = (tmp_path / "safe.csv.statement.md").read_text()
    assert "no column and no order connects their records with those of the release" in text
    assert "By rank an intruder who knows how 'income' depends on" in text
    assert named.rejoined[0].gain < 0.1
    assert "| income | released apart |" in text
    with pytest.raises(OutputError):
        made.write(tmp_path / "safe.csv")
    file.unlink()
    (tmp_path / "other.apart-1.csv").write_text("of somebody else")
    with pytest.raises(OutputError):
        made.write(tmp_path / "other.csv")
    assert not (tmp_path / "other.csv").exists()


def test_without_quasi_identifiers_each_attribute_is_released_apart(people):
    some = people.select(["income", "ill"])
    made = cr.anonymize(some, k=1, apart=["income"], sensitive=["income", "ill"], person="each record")
    assert made.data.names == ("ill",)
    assert made.apart[0].count == PEOPLE
    assert [one.method for one in made.statement.methods] == ["released apart"]


@pytest.mark.parametrize(
    "apart", [["nobody"], ["age"], ["income", "income"], [("income", "ill"), "ill"], [()]]
)
def test_only_sensitive_attributes_once_each(people, apart):
    with pytest.raises(CrypsisError):
        cr.anonymize(people, k=5, apart=apart, **ROLES, person="each record")


@pytest.mark.parametrize("roles", [ROLES, {**ROLES, "quasi_identifiers": []}], ids=["k", "alone"])
def test_a_column_that_gives_an_attribute_back_is_refused(people, roles):
    """A code of the disease among the insensitive columns would connect the files again."""
    codes = {one: f"C{place}" for place, one in enumerate(sorted(set(people["ill"].to_pylist())))}
    coded = people.append_column("code", pa.array([codes[one] for one in people["ill"].to_pylist()]))
    left = [name for name in coded.column_names if name not in ("income", "ill", "code")]
    rest = [name for name in left if name not in roles["quasi_identifiers"]]
    k = 3 if roles["quasi_identifiers"] else 1
    apart = {"apart": ["income", "ill"], **roles, "excluded": rest}
    with pytest.raises(RoleError, match="'code' gives back 'ill', which was released apart"):
        cr.anonymize(coded, k=k, insensitive=["code"], **apart, person="each record")
    signed = cr.Dataset.from_frame(coded, insensitive=["code"], excluded=rest, **roles, person="each record")
    signed = signed.with_roles(signed.roles, {"code": ColumnNote(override="a code nobody has")})
    assert cr.anonymize(signed, k=k, apart=["income", "ill"]).apart


def test_what_presence_discloses_counts_in_a_file_apart(people):
    all_ill = people.set_column(3, "ill", pa.array(["hiv"] * (PEOPLE - 20) + ["none"] * 20))
    made = cr.anonymize(all_ill, k=5, apart=["ill", "income"], **ROLES, person="each record")
    found = cr.assess(made.data, together=list(made.apart))
    exceeded = [one.measure for one in found.findings if one.status is Status.EXCEEDED]
    assert exceeded == ["inference.presence_disclosure"]


@pytest.fixture
def file(people, tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    Path("roles.toml").write_text(
        '[roles]\nage = "quasi-identifier"\nsex = "quasi-identifier"\nincome = "sensitive"\n'
        'ill = "sensitive"\n'
    )
    cr.dataset.Dataset.from_frame(people).write("people.csv")
    return Path("people.csv")


def test_on_the_command_line(file, capsys):
    words = ["--roles", "roles.toml", "--k", "5", "--excess", "0.2", "--apart", "income"]
    assert (
        run(
            [
                "anonymize",
                "--person",
                "each record",
                str(file),
                *words,
                "-o",
                "safe.csv",
                "--save-plan",
                "plan.toml",
            ]
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert "Released apart: income" in shown
    assert "Wrote safe.apart-1.csv" in shown
    assert "income" not in Path("safe.csv").read_text().splitlines()[0]
    again = ["assess", "--person", "each record", "safe.csv", "--roles", "roles.toml", "--exclude", "income"]
    assert run([*again, "--together", "safe.apart-1.csv"]) == 0
    assert (
        run(["assess", "--person", "each record", "safe.csv", "--roles", "roles.toml", "--exclude", "incom"])
        == 2
    )
    assert "incom" in capsys.readouterr().err
    planned = [
        "anonymize",
        "--person",
        "each record",
        str(file),
        "--roles",
        "roles.toml",
        "--plan",
        "plan.toml",
    ]
    assert run([*planned, "-o", "again.csv"]) == 0
    assert sorted(Path("again.csv").read_text().splitlines()) == sorted(
        Path("safe.csv").read_text().splitlines()
    )
    assert Path("again.apart-1.csv").exists()


def test_a_package_has_the_files_with_their_digests(file, tmp_path):
    words = ["--roles", "roles.toml", "--k", "5", "--excess", "0.2", "--apart", "income"]
    words += ["-o", "safe.csv", "--package", "safe.zip"]
    assert (
        run(["anonymize", "--person", "each record", str(file), *words]) == 1
    )  # links, of which nothing was required
    found = check_package("safe.zip")
    assert found.valid
    (one,) = [one for one in found.manifest.files if one.part == "apart"]
    assert one.name == "safe.apart-1.csv"
    assert one.sha256 == hashlib.sha256(Path("safe.apart-1.csv").read_bytes()).hexdigest()
    made = cr.anonymize(cr.read(file, **ROLES, person="each record"), k=5, apart="income").write("other.csv")
    dossier = make_dossier(cr.assess(made.data), file="other.csv")
    Path("other.apart-1.csv").write_text("income\n1\n")
    with pytest.raises(ParameterError, match="not that of the statement"):
        write_package("other.zip", "other.csv", dossier)
    assert not Path("other.zip").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["-o", "-", "--apart", "income"],
        ["-o", "x.csv", "--apart", "ag"],
        ["-o", "x.csv", "--apart", "income", "--package", "x.csv"],
    ],
)
def test_refused_on_the_command_line(file, words, capsys):
    assert (
        run(["anonymize", "--person", "each record", str(file), "--roles", "roles.toml", "--k", "5", *words])
        == 2
    )
    assert not Path("x.csv").exists()
    assert capsys.readouterr().err


def test_the_first_remedy_keeps_every_column(file, capsys):
    assert (
        run(["assess", "--person", "each record", str(file), "--roles", "roles.toml", "--no-try", "--json"])
        == 1
    )
    found = json.loads(capsys.readouterr().out)["result"]
    remedies = [one["remedy"] for one in found["findings"] if one.get("remedy")]
    first = next(one for one in remedies if one["action"] == "anonymize")
    assert first["parameters"]["apart"] == ["income"]
    assert "excluded" not in first["parameters"]


@pytest.mark.parametrize(
    ("apart", "said"),
    [
        (["age"], "'age' has the role 'quasi-identifier': only sensitive attributes"),
        (["note"], "'note' has the role 'excluded'"),
        (["illl"], r"'illl' does not exist \(did you mean 'ill'\?\)"),
        (["ill", ["income", "ill"]], "'ill' is named more than once"),
        ([[]], "has no column"),
    ],
)
def test_a_column_that_cannot_be_apart(people, apart, said):
    """The reason is its role, not that it does not exist."""
    table = people.append_column("note", people["ill"])
    with pytest.raises(CrypsisError, match=said):
        cr.anonymize(table, k=5, apart=apart, excluded=["note"], **ROLES, person="each record")
