"""Weights, strata, clusters and the population on the command line, and in a roles file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from crypsis.cli import run


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    generator = np.random.default_rng(1)
    rows = 200
    table = pa.table(
        {
            "age": generator.integers(20, 40, rows),
            "sex": generator.choice(["f", "m"], rows),
            "region": generator.choice(["n", "s"], rows),
            "psu": generator.integers(0, 20, rows),
            "w": generator.uniform(5, 15, rows).round(1),
        }
    )
    csv.write_csv(table, tmp_path / "survey.csv")
    people = pa.table({"age": generator.integers(20, 40, 5000), "sex": generator.choice(["f", "m"], 5000)})
    csv.write_csv(people, tmp_path / "people.csv")
    return tmp_path / "survey.csv"


_SAMPLE = ["--weight", "w", "--stratum", "region", "--cluster", "psu"]


def test_a_scan_writes_the_sample_into_the_roles_file(survey: Path, capsys) -> None:
    roles = survey.parent / "roles.toml"
    assert run(["scan", str(survey), *_SAMPLE, "--save", str(roles)]) == 0
    written = roles.read_text()
    assert '\n[units]\nperson = "undecided"' in written
    assert '\nweight = "w"\nstratum = "region"\ncluster = "psu"\n' in written
    capsys.readouterr()
    run(["assess", str(survey), "--roles", str(roles), "--no-try", "--json"])
    parameters = json.loads(capsys.readouterr().out)["result"]["parameters"]
    assert [parameters[name] for name in ("weight", "stratum", "cluster")] == ["w", "region", "psu"]


def test_an_option_takes_precedence_over_the_roles_file(survey: Path, capsys) -> None:
    roles = survey.parent / "roles.toml"
    roles.write_text('[units]\nweight = "age"\n[roles]\nage = "quasi-identifier"\n')
    run(["assess", str(survey), "--roles", str(roles), "--weight", "w", "--no-try", "--json"])
    assert json.loads(capsys.readouterr().out)["result"]["parameters"]["weight"] == "w"


def test_the_population_is_a_number_or_a_file(survey: Path, capsys) -> None:
    words = ["--qi", "age", "--qi", "sex", "--json"]
    people = str(survey.parent / "people.csv")
    assert run(["scan", str(survey), *words, "--population", people, "--alpha", "0.01"]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["quasi_identifiers"]["population"] == 5000
    assert run(["scan", str(survey), *words, "--population", "5,000", "--alpha", "0.01"]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["quasi_identifiers"]["population"] == 5000


def test_a_release_against_the_table_of_the_population(survey: Path) -> None:
    out = survey.parent / "safe.csv"
    words = [
        "--qi",
        "age",
        "--qi",
        "sex",
        "--insensitive",
        "region",
        "--insensitive",
        "psu",
        "--insensitive",
        "w",
        "--key",
        str(survey.parent / "key.json"),
        "--person",
        "each record",
    ]
    people = str(survey.parent / "people.csv")
    given = ["--population", people, "--k", "50", "--journalist-risk", "0.02"]
    assert run(["anonymize", str(survey), "-o", str(out), *words, *given]) == 0
    measured = json.loads((survey.parent / "safe.csv.statement.json").read_text())["measured"]
    assert measured["journalist_risk"] <= 0.02
    assert measured["k_map"] >= 50


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--weight", "no"], "does not exist"),
        (["--population", "nothing.csv"], "nothing.csv"),
        (["--population", "0"], "at least 1"),
        (["--weight", "sex"], "not numeric"),
    ],
)
def test_what_cannot_be_used_is_named(survey: Path, words, message, capsys) -> None:
    assert run(["scan", str(survey), *words]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_table_of_something_else_is_refused(survey: Path, capsys) -> None:
    other = survey.parent / "other.csv"
    other.write_text("a,b\n1,2\n")
    assert run(["assess", str(survey), "--population", str(other)]) == 2
    assert "no column of the data" in capsys.readouterr().err
