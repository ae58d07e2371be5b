"""`crypsis compare` and `crypsis verify` as they are typed."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from crypsis.cli import run

VALUE = "<b>sergeant"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """An original and a masked file, joined on `no`, three records suppressed."""
    rng = np.random.default_rng(0)
    n = 200
    age, income = rng.integers(18, 90, n), rng.lognormal(10, 0.5, n).round(2)
    job = rng.choice(["cook", "clerk", VALUE], n)
    masked_income = (income * np.exp(0.05 * rng.normal(size=n))).round(2)
    original, masked = tmp_path / "original.csv", tmp_path / "masked.csv"
    head = "no,age,income,job\n"
    original.write_text(head + "".join(f"{i},{age[i]},{income[i]},{job[i]}\n" for i in range(n)))
    masked.write_text(
        head + "".join(f"{i},{age[i] + i % 2},{masked_income[i]},{job[i]}\n" for i in rng.permutation(n)[3:])
    )
    return original, masked


def test_compare_on_screen(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *map(str, files), "--on", "no"]) == 0
    shown = capsys.readouterr().out
    assert "200 original and 197 masked records, 2 columns" in shown
    assert "intruder: not safe" in shown
    assert "Column 'job' has no ranks; the other intruders use it." in shown.replace("\n", " ")
    assert "learned matcher" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert VALUE not in shown


def test_compare_as_json(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--on", "no", "--order", "job=frequency", "--json"]
    assert run(["compare", *map(str, files), *options]) == 0
    text = capsys.readouterr().out
    found = json.loads(text)
    assert found["verb"] == "compare"
    result = found["result"]
    assert result["columns"] == ["age", "income", "job"]
    assert result["verdict"] == "not safe"
    assert result["link"]["true_matches"] > 100
    assert VALUE not in text
    assert "matches" not in result["link"]
    assert run(["compare", *map(str, files), *options]) == 0
    assert capsys.readouterr().out == text


def test_compare_as_a_page_that_fetches_nothing(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    assert run(["compare", *map(str, files), "--on", "no", "-o", str(page)]) == 0
    text = page.read_text()
    assert text.count("data:image/svg+xml") == 7
    (first, *_) = re.findall(r"svg\+xml;base64,([^\"]+)", text)
    assert b"aria-label" not in base64.b64decode(first)  # nobody reads it in a picture
    assert text.count("alt=") >= 7
    for sign in ("<script", "http://", "https://", VALUE):
        assert sign not in text
    assert run(["compare", *map(str, files), "--on", "no", "-o", str(page)]) == 2
    assert "--force" in capsys.readouterr().err


def test_names_from_the_data_are_escaped(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("<script>a,b\n" + "".join(f"{i},{i * i}\n" for i in range(30)))
    page = tmp_path / "x.html"
    assert run(["compare", str(file), str(file), "-o", str(page)]) == 0
    assert "<script>a" not in page.read_text()
    assert "&lt;script&gt;a" in page.read_text()


def test_acceptable_makes_it_a_gate(files: tuple[Path, Path]) -> None:
    assert run(["compare", *map(str, files), "--on", "no", "--acceptable", "0.01"]) == 1
    original = str(files[0])
    assert run(["compare", original, original, "--unaligned", "--acceptable", "0.5"]) == 4


def test_an_intruder_who_knows_the_masks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from crypsis.protection import mask

    rng = np.random.default_rng(1)
    x, y = tmp_path / "x.csv", tmp_path / "y.csv"
    people = pa.table({"a": rng.normal(size=150), "b": rng.normal(size=150)})
    csv.write_csv(people, x)
    csv.write_csv(mask(people, {"a": "noise:0.1", "b": "noise:0.1"}, seed=1).frame, y)
    words = ["compare", str(x), str(y), "--method", "a=noise:0.1", "--method", "b=noise:0.1"]
    assert run(words) == 0
    shown = capsys.readouterr().out
    assert "Expected to be correct" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert run([*words, "--acceptable", "0.01"]) == 1
    assert run([*words, "--acceptable", "1"]) == 0
    capsys.readouterr()
    made = tmp_path / "found.json"
    assert run([*words, "--json", "-o", str(made)]) == 0
    found = json.loads(capsys.readouterr().out)["result"]
    assert found["records"] == 150
    assert sum(one["links"] for one in found["calibration"]) == 150
    assert "partners" not in found
    assert run([*words, "-o", str(tmp_path / "found.html")]) == 2
    assert run([*words[:3], "--method", "a=nothing:1"]) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--on", "nr"], "Column 'nr' does not exist"),
        (["--column", "job"], "without an order"),
        (["--order", "job"], "is written COLUMN="),
        (["--hierarchy", "job=none.csv"], "could not be read"),
        (["--on", "no", "--ties", "never"], "'ties' must be"),
        (["--on", "no", "--criterion", "spread"], "'criterion' must be"),
    ],
)
def test_clear_refusals(
    files: tuple[Path, Path], options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *map(str, files), *options]) == 2
    shown = capsys.readouterr().err
    assert words in shown.replace("\n", " ")
    assert VALUE not in shown


def test_verify_one_record(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    me = tmp_path / "me.csv"
    me.write_text(f"age,income,job\n41,22000.5,{VALUE}\n")
    assert run(["verify", str(files[1]), "--record", str(me)]) == 0
    shown = capsys.readouterr().out
    assert "197 records" in shown
    assert "ordered by frequency" in shown.replace("\n", " ")
    for value in ("22000", VALUE):
        assert value not in shown
    assert run(["verify", str(files[1]), "--record", str(me), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["result"]
    assert [column["column"] for column in found["columns"]] == ["age", "income", "job"]
    assert found["plausible"] is None


def test_verify_a_permutation(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    me = tmp_path / "me.csv"
    lines = files[0].read_text().splitlines()
    me.write_text("\n".join([lines[0], lines[5]]) + "\n")
    options = ["--permutation-only", "--column", "age", "--column", "income", "--json"]
    assert run(["verify", str(files[0]), "--record", str(me), *options]) == 0
    found = json.loads(capsys.readouterr().out)["result"]
    assert found["record_distance"] == 0
    assert found["plausible"] is False
    assert run(["verify", str(files[1]), "--record", str(me), *options]) == 2
    assert "not a permutation" in capsys.readouterr().err.replace("\n", " ")


def test_verify_asks_when_there_is_no_file(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert run(["verify", str(files[1])]) == 2
    assert "--record" in capsys.readouterr().err
    answers = iter(["", "41", "22000.5", ""])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(answers))
    assert run(["verify", str(files[1]), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["result"]
    assert [column["column"] for column in found["columns"]] == ["age", "income"]
    answers = iter(["", "old", "", ""])
    assert run(["verify", str(files[1])]) == 2
    shown = capsys.readouterr().err
    assert "'age'" in shown
    assert "old" not in shown.replace("older", "")


def test_the_key_gives_the_original_of_each_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Suppressed and shuffled records are found in the re-identification key."""
    import pyarrow as pa
    import pyarrow.csv

    from crypsis.protection import Key, mask, plan
    from crypsis.protection.masking import Noise

    rng = np.random.default_rng(1)
    n = 300
    table = pa.table({"x": rng.normal(size=n), "y": rng.lognormal(size=n), "z": rng.random(n)})
    original, masked, key = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "key.json"
    pa.csv.write_csv(table, original)
    made = mask(table, {"x": Noise(scale=0.05)}, seed=3, shuffle=True)
    made.write(masked)
    made.key.save(key)
    command = ["compare", str(original), str(masked), "--json"]
    assert run(command) == 0
    blind = json.loads(capsys.readouterr().out)["result"]["link"]["true_matches"]
    assert run([*command, "--key", str(key)]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["link"]["true_matches"] > 0.9 * n
    assert blind < 0.1 * n
    roles = ["--qi", "x", "--qi", "y", "--sensitive", "z"]
    assess = ["assess", "--person", "each record", str(masked), "--original", str(original), *roles, "--json"]
    assert run([*assess, "--key", str(key)]) == 1
    found = json.loads(capsys.readouterr().out)
    (links,) = (
        one for one in found["result"]["findings"] if one["measure"] == "linkage.correct_links_above_chance"
    )
    assert links["affected"] > 0.9 * n

    odd = pa.table({"q": [*([1] * 20), 7], "x": rng.normal(size=21), "y": rng.random(21)})
    pa.csv.write_csv(odd.take(pa.array([20, *range(20)])), original)
    release = cr_release(original)
    made_by_plan = plan(release, k=5, methods={"q": "keep"}).apply(release, recoding="full-domain")
    made_by_plan.write(masked, overwrite=True)
    made_by_plan.key.save(key, overwrite=True)
    rows = Key.load(key).row_map
    assert rows is not None
    assert sorted(rows) == list(range(1, 21))
    assert rows != tuple(sorted(rows))
    columns = ["--column", "x", "--column", "y"]
    assert run([*command, *columns, "--key", str(key)]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["link"]["true_matches"] == 20

    for wrong in (["--on", "x"], ["--unaligned"]):
        assert run([*command, "--key", str(key), *wrong]) == 2
        assert "--key" in capsys.readouterr().err
    Key(row_map=()).save(key, overwrite=True)
    assert run([*command, "--key", str(key)]) == 2
    assert "record numbers" in capsys.readouterr().err


def cr_release(path: Path) -> Any:
    import crypsis as cr

    return cr.read(path, quasi_identifiers=["q"], insensitive=["x", "y"])


def test_indicators_are_a_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    before.write_text("x,w\n" + "".join(f"{i},{1 + i % 3}\n" for i in range(40)))
    after.write_text("x,w\n" + "".join(f"{i + 30},{1 + i % 3}\n" for i in range(40)))
    file = tmp_path / "indicators.toml"
    file.write_text(
        '[[indicators]]\nname = "mean"\nestimate = "mean"\ncolumns = ["x"]\nleast_overlap = 0.5\n'
    )
    given = ["--indicators", str(file), "--weight", "w"]
    assert run(["compare", str(before), str(before), *given]) == 0
    assert "The indicators pass: 0 of 1 estimates fail." in capsys.readouterr().out
    assert run(["compare", str(before), str(after), *given, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["verb"] == "indicators"
    assert found["result"]["failed"] == 1
    assert run(["compare", str(before), str(after), "--weight", "w"]) == 2
    assert "--indicators" in capsys.readouterr().err
