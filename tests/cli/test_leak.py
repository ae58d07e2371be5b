"""`crypsis leak` as a person runs it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from crypsis.cli import run

PEOPLE = "id,age,zip,disease\n" + "".join(
    f"{i},{age},{place},{disease}\n"
    for i, (age, place, disease) in enumerate(
        [
            (34, "02138", "flu"),
            (34, "02139", "gout"),
            (34, "02138", "flu"),
            (51, "02138", "hiv-secret"),
            (51, "02138", "hiv-secret"),
            (62, "02139", "flu"),
        ]
    )
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def test_on_screen(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["leak", str(people), "--target", "disease", "--given", "age", "--given", "zip"]) == 0
    shown = capsys.readouterr().out
    assert "disease from age, zip: 6 records in 4 equivalence classes" in shown
    assert "adds the most" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    for value in ("hiv-secret", "02138", "gout"):
        assert value not in shown


def test_values_only_when_asked_for(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["leak", str(people), "--target", "disease", "--given", "age", "--reveal"]) == 0
    assert "hiv-secret" in capsys.readouterr().out


def test_both_risks_as_json(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["leak", str(people), "--target", "id", "--target", "disease", "--unique", "id"]
    assert run([*arguments, "--given", "age", "--json"]) == 0
    text = capsys.readouterr().out
    identity, disease = json.loads(text)["result"]["targets"]
    assert identity["uniqueness"] == "declared"
    assert identity["itpr"] == 1.0
    assert identity["best_guess"]["average"] == 0.5
    assert disease["best_guess"]["prior"] == 0.5
    assert disease["best_guess"]["average"] == pytest.approx(5 / 6)
    assert disease["worst_class"]["group"]["size"] == 2
    assert "hiv-secret" not in text
    assert run([*arguments, "--given", "age", "--json"]) == 0
    assert capsys.readouterr().out == text


def test_into_files(people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, classes = tmp_path / "leak.json", tmp_path / "classes.csv"
    arguments = ["leak", str(people), "--target", "disease", "--qi", "age"]
    assert run([*arguments, "-o", str(output), "--classes", str(classes)]) == 0
    assert json.loads(output.read_text())["verb"] == "leak"
    with classes.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["age"] for row in rows] == ["51", "62", "34"]
    assert rows[0]["guess"] == "hiv-secret"
    capsys.readouterr()
    assert run([*arguments, "-o", str(output)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert run([*arguments, "-o", str(output), "--classes", str(classes), "--force"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "disease"], "No given column"),
        (["--target", "illness", "--given", "age"], "Column 'illness' does not exist"),
        (["--target", "disease", "--given", "agee"], "did you mean 'age'?"),
        (["--target", "age", "--given", "age"], "among the given columns"),
        (["--given", "age"], "--target"),
        (["--target", "disease", "--given", "age", "--unique", "id"], "is not a target"),
        (["--target", "disease", "--given", "age", "--unique", "disease", "--prove"], "declared unique, but"),
        (["--target", "disease", "--target", "zip", "--given", "age", "--classes", "g.csv"], "--target"),
        (["--target", "disease", "--given", "age", "-o", "leak.xlsx"], "end in .json"),
    ],
)
def test_refused(
    people: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["leak", str(people), *arguments]) == 2
    message_shown = capsys.readouterr().err
    assert message in " ".join(message_shown.split())
    assert "hiv-secret" not in message_shown


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["leak", "--help"]) == 0
    assert "crypsis leak patients.csv" in capsys.readouterr().out
