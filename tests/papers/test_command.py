"""`make papers` as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import papers
from crypsis.report.json import schema
from papers import bagai2017, domingo2016, itpr2019, lodha2007
from papers.__main__ import main
from papers.bagai2017 import matrices
from papers.domingo2016 import tables
from papers.itpr2019 import tables as small
from papers.lodha2007 import examples


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few items of each paper; the papers as a whole have tests of their own."""
    monkeypatch.setattr(bagai2017, "ITEMS", (matrices.figure_5, matrices.figure_8))
    monkeypatch.setattr(domingo2016, "ITEMS", (tables.table_1,))
    monkeypatch.setattr(itpr2019, "ITEMS", (small.table_5,))
    monkeypatch.setattr(lodha2007, "ITEMS", (examples.example_8, examples.example_11))


def test_one_paper(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lodha2007"]) == 0
    shown = capsys.readouterr().out
    assert "Example 8" in shown
    assert "erratum [2]" in shown
    assert "73.8742" in shown
    assert "bagai2017" not in shown
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_all_four_with_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    for name in papers.PAPERS:
        assert shown.count(f"\n{name}  ") >= 1
    assert "differs" in shown


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["itpr2019", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema("papers", papers.Reproductions))
    result = found["result"]
    (paper,) = result["papers"]
    (item,) = paper["items"]
    assert (paper["paper"], item["name"]) == ("itpr2019", "Table 5")
    fourth = item["values"][3]
    assert (fourth["paper"], fourth["agreement"]) == ("0.83", "equal after rounding")
    assert {cell["agreement"] for cell in item["values"]} == {
        "equal",
        "equal after rounding",
        "erratum",
        "critique",
    }


def test_every_value_of_a_long_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["domingo2016"]) == 0
    assert "record 7" not in capsys.readouterr().out
    assert main(["domingo2016", "--all"]) == 0
    assert capsys.readouterr().out.count("record 7") == 9


def test_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bagai2017", "--figures", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bagai2017_figure_5.png",
        "bagai2017_figure_5.svg",
        "bagai2017_figure_8.png",
        "bagai2017_figure_8.svg",
    ]
    assert "4 figures are in" in capsys.readouterr().out


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, content = tmp_path / "page.md", tmp_path / "page.json"
    assert main(["lodha2007", "-o", str(page)]) == 0
    assert "### Example 11: The rank difference" in page.read_text()
    assert main(["lodha2007", "-o", str(content)]) == 0
    assert json.loads(content.read_text())["verb"] == "papers"
    assert main(["lodha2007", "-o", str(page)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_a_difference_is_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(examples, "rank_difference", lambda *_: 4.0)
    assert main(["lodha2007"]) == 1
    assert "differs" in capsys.readouterr().out
    assert main(["lodha2007", "--json"]) == 1


def test_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nobody2020"]) == 2
    assert "The papers are" in capsys.readouterr().err
    assert main(["lodha2007", "--rows", "1000000"]) == 2
    assert "Fig. 6 of itpr2019" in capsys.readouterr().err
    assert main(["lodha2007", "--data", "/nowhere/at/all"]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "Example: python -m papers lodha2007" in capsys.readouterr().out
