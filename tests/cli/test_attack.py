"""`crypsis attack` as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crypsis.cli import run

MATRIX = (
    "item,a,b,c,d\n"
    "Brad,0,0.125,0.375,0.5\n"
    "Claudia,0,0.25,0.4375,0.3125\n"
    "Mike,0.75,0.125,0.0625,0.0625\n"
    "Susan,0.25,0.5,0.125,0.125\n"
)
TRUTH = "item,pseudonym\nBrad,d\nClaudia,b\nMike,c\nSusan,a\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "matrix.csv").write_text(MATRIX)
    (tmp_path / "truth.csv").write_text(TRUTH)
    (tmp_path / "known.csv").write_text("name,age\nAnn,30\nBob,30\nCy,41\n")
    (tmp_path / "released.csv").write_text("id,age\nx,41\ny,30\nz,30\n")
    (tmp_path / "pairs.csv").write_text("name,id\nAnn,y\nBob,z\nCy,x\n")
    (tmp_path / "baskets.csv").write_text("milk,bread\nmilk\nmilk,eggs,bread\nmilk,bread\n")
    (tmp_path / "ranges.csv").write_text("item,low,high\nmilk,0.7,1\nbread,0.5,1\neggs,0,0.5\n")
    (tmp_path / "shares.csv").write_text("item,share\nmilk,0.95\nbread,0.7\neggs,0.3\n")
    return tmp_path


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert run(["attack", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verb"] == "attack"
    return dict(found["result"]["anonymity"])


def test_matrix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "matrix", str(folder / "matrix.csv"), "--truth", str(folder / "truth.csv"))
    assert found["expected_cracks"] == pytest.approx(1183 / 1398)
    assert found["degree"] == pytest.approx(0.49587, abs=5e-6)
    assert found["heuristic"] == pytest.approx(17 / 16)


def test_an_attack_file_asks_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attack = folder / "attack.toml"
    attack.write_text('kind = "matrix"\nmatrix = "matrix.csv"\ntruth = "truth.csv"\n')
    found = asked(capsys, "file", str(attack))
    assert found["expected_cracks"] == pytest.approx(1183 / 1398)
    assert run(["attack", "file", str(folder / "none.toml")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_thresholds_set_the_status(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["attack", "matrix", str(folder / "matrix.csv"), "--truth", str(folder / "truth.csv")]
    assert run([*command, "--max-cracks", "1"]) == 0
    assert "Verdict: safe" in capsys.readouterr().out
    assert run([*command, "--max-cracks", "0.5"]) == 1
    assert "not safe" in capsys.readouterr().out
    assert run([*command, "--max-cracks", "1", "--min-degree", "0.9"]) == 1
    # The interval of the estimate contains the threshold: cannot tell, so the status is not 0.
    close = ["--max-cracks", "0.8462", "--method", "sampling", "--precision", "0.05"]
    assert run([*command, *close]) == 4
    assert "cannot tell" in capsys.readouterr().out


def test_names_are_shown_only_with_reveal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["attack", "matrix", str(folder / "matrix.csv"), "--truth", str(folder / "truth.csv")]
    assert run(command) == 0
    shown = capsys.readouterr().out
    assert "Claudia" not in shown
    assert "row 1" in shown
    assert run([*command, "--reveal"]) == 0
    assert "Claudia" in capsys.readouterr().out


def test_join(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["join", str(folder / "known.csv"), str(folder / "released.csv"), "--on", "age"]
    labels = ["--item", "name", "--pseudonym", "id", "--truth", str(folder / "pairs.csv")]
    found = asked(capsys, *files, *labels)
    assert found["expected_cracks"] == pytest.approx(2)
    likely = asked(capsys, *files, *labels, "--agreement", "0.9")
    assert likely["possible_pairs"] == 9
    loose = asked(capsys, *files[:3], "--on", "age=20", *labels)
    assert loose["expected_cracks"] == pytest.approx(1)


def test_frequencies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    baskets = str(folder / "baskets.csv")
    by_range = asked(
        capsys, "frequencies", baskets, "--ranges", str(folder / "ranges.csv"), "--truth", "names"
    )
    assert by_range["expected_cracks"] == pytest.approx(2)
    by_error = asked(capsys, "frequencies", baskets, "--error", "0.1", "--truth", "names")
    assert by_error["expected_cracks"] == pytest.approx(3)
    likely = ["--expected", str(folder / "shares.csv"), "--experience", "10"]
    found = asked(capsys, "frequencies", baskets, *likely, "--truth", "names")
    assert 1 < float(str(found["expected_cracks"])) < 3


def test_output_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "found.json"
    command = ["attack", "matrix", str(folder / "matrix.csv"), "-o", str(out)]
    assert run(command) == 0
    assert json.loads(out.read_text())["result"]["attack"] == "matrix"
    assert run(command) == 2
    assert run([*command, "--force"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frequencies", "baskets.csv"], "--ranges, --expected or --error"),
        (["frequencies", "absent.csv", "--error", "0.1"], "cannot be read"),
        (["frequencies", "baskets.csv", "--error", "2"], "error: Input should be less than 1"),
        (["matrix", "matrix.csv", "--max-cracks", "1"], "none was given"),
        (["matrix", "known.csv"], "square"),
        (["join", "known.csv", "released.csv", "--on", "agee"], "did you mean 'age'"),
        (["join", "known.csv", "released.csv", "--on", "age=x"], "COLUMN=TOLERANCE"),
        (["matrix", "matrix.csv", "--method", "guess"], "not a valid method"),
    ],
)
def test_what_is_refused(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    assert run(["attack", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
