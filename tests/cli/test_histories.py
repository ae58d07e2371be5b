"""`crypsis attack histories`, and the person at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crypsis.cli import run


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    draw = np.random.default_rng(0)
    pd.DataFrame(
        {
            "code": np.repeat([f"P{n:03d}" for n in range(100)], 4),
            "month": draw.integers(1, 13, 400),
            "ward": draw.choice(["a", "b"], 400),
        }
    ).to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


def test_the_curve_and_its_limit(visits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["attack", "histories", str(visits), "--person", "code", "--known", "month", "--events", "3"]
    assert run([*words, "--max-unicity", "0.05"]) == 1
    shown = capsys.readouterr().out
    assert "400 records of 100 people, linked by code" in shown
    assert "Anyone who knows 3 records of a person singles them out in" in shown
    assert run([*words, "--tolerance", "month=12", "--max-unicity", "0.05", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["curve"] == [0.0, 0.0, 0.0]
    assert result["tolerance"] == [["month", "12"]]


def test_sensitive_values_inferred_from_known_records(
    visits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.read_csv(visits)
    table["ill"] = np.where(table["month"] == 3, "rare", "flu")
    table.to_csv(visits, index=False)
    words = ["attack", "histories", str(visits), "--person", "code", "--known", "month"]
    words += ["--events", "3", "--target", "ill"]
    assert run([*words, "--max-inferred", "0.05"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "Inference of 'ill' from records of 100 people in month" in shown
    assert "Anyone who knows 3 records of a person infers 'ill' almost certainly" in shown
    assert run([*words, "--max-inferred", "1", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["result"]["inferred"]
    assert found["target"] == "ill"
    assert 0 < found["baseline"] < found["confidence"][2] <= 1
    assert run([*words[:-2], "--max-inferred", "0.1"]) == 2
    assert "--target" in capsys.readouterr().err


def test_the_fewest_records_of_each_person(visits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from crypsis.singling_out import smallest_events

    words = ["attack", "histories", str(visits), "--person", "code", "--known", "month"]
    words += ["--events", "4", "--smallest"]
    assert run(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "The fewest records that single each of 100 people out, if well chosen" in shown
    assert run([*words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["result"]["smallest_events"]
    expected = smallest_events(pd.read_csv(visits), "month", person="code", events=4)
    assert found["counts"] == list(expected.counts)
    assert "P0" not in json.dumps(found)


def test_mistakes_have_status_two(visits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more, said in (
        (["--known", "month"], "--person"),
        (["--person", "cod"], "did you mean 'code'"),
        (["--person", "code", "--tolerance", "month=a day"], "tolerance of column 'month'"),
        (["--person", "code", "--knowledge", "everything"], "'set', 'order', 'number', 'ends'"),
    ):
        assert run(["attack", "histories", str(visits), *more]) == 2
        assert said in capsys.readouterr().err


def test_scan_proposes_the_person(visits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scan", str(visits)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "if it identifies people, there are 100 people in 400 records, and" in shown
    assert "--person code" in shown
    assert run(["scan", str(visits), "--person", "code"]) == 0
    assert "400 records of 100 people" in capsys.readouterr().out
