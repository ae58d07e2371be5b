"""`crypsis scan --population N --alpha A` shows the quasi-identifiers found."""

from __future__ import annotations

import json

import pytest

from crypsis.cli import run


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    lines = [f"{30 + i % 10},0213{i % 4},{'fm'[i % 2]},secret{i}" for i in range(40)]
    path.write_text("\n".join(["age,zip,sex,diary", *lines]) + "\n")
    return path


def test_quasi_identifiers_on_screen(people, capsys):
    assert run(["scan", str(people), "--sensitive", "diary", "--alpha", "0.2"]) == 0
    shown = capsys.readouterr().out
    assert "Quasi-identifiers at alpha 0.2 by F1" in shown
    assert "No set of up to 3 columns reaches alpha." in shown
    assert run(["scan", str(people), "--alpha", "0.2", "--population", "1000"]) == 0
    shown = capsys.readouterr().out
    assert "by F2" in shown
    assert "diary" in shown
    assert "secret1" not in shown


def test_quasi_identifiers_as_json(people, capsys):
    assert run(["scan", str(people), "--alpha", "0.9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["result"]["quasi_identifiers"]
    assert [one["columns"] for one in found["found"]] == [["diary"]]
    assert (found["measure"], found["complete"]) == ("F1", True)
    assert run(["scan", str(people), "--json"]) == 0
    assert "quasi_identifiers" not in json.loads(capsys.readouterr().out)["result"]


@pytest.mark.parametrize("options", [["--alpha", "1.5"], ["--population", "0"], ["--population", "39"]])
def test_bad_numbers_are_usage_errors(people, options, capsys):
    assert run(["scan", str(people), *options]) == 2
    assert capsys.readouterr().err
