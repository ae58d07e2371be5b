"""The files of the demonstration: masked records, pseudonyms, a finding for every question."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import crypsis as cr
from crypsis.assessment import assess
from crypsis.cli import run
from crypsis.demo import people, write_demo
from crypsis.demo._files import baskets, masked_people
from crypsis.errors import OutputError
from crypsis.policies.findings import Status, Verdict
from tests.cases import first_of


def test_records_are_masked_in_order() -> None:
    before, after = people(2_000), masked_people(people(2_000))
    days = np.asarray(before["birth_date"].cast("int32")) - np.asarray(after["birth_date"].cast("int32"))
    assert np.abs(days).max() == 10
    assert after["sex"].equals(before["sex"])
    assert after["income"].null_count == before["income"].null_count
    old, new = (np.asarray(t["income"].fill_null(0), float) for t in (before, after))
    some = old > 1_000
    assert 0.04 < np.abs(new[some] / old[some] - 1).max() <= 0.0501
    assert set(after["zip"].drop_null().to_pylist()) <= {"001", "002", "003", "004"}


def test_a_seed_gives_the_same_files() -> None:
    assert masked_people(people(50)).equals(masked_people(people(50)))
    assert not masked_people(people(50)).equals(masked_people(people(50), seed=1))
    assert baskets() == baskets()
    assert baskets() != baskets(seed=3)


@pytest.mark.parametrize("seed", first_of([0, 1, 2], 1))
def test_every_question_exceeds_a_threshold(tmp_path: Path, seed: int) -> None:
    files = write_demo(tmp_path / "new", rows=3_000, seed=seed)
    found = assess(cr.read(files.masked), cr.read(files.original), cr.pseudonyms.load_attack(files.attack))
    assert found.verdict is Verdict.NOT_SAFE
    assert [one.status for one in found.answers] == [Status.EXCEEDED] * 4
    assert found.changes


def test_a_folder_that_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="could not be created"):
        write_demo(tmp_path / "file")


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "demo"
    assert run(["demo", "-o", str(folder), "--rows", "2000"]) == 0
    shown = capsys.readouterr().out
    assert "Not safe to release" in shown
    assert f"Open {folder / 'dossier.html'}" in shown.replace("\n", "")
    page = (folder / "dossier.html").read_text(encoding="utf-8")
    assert "Can pseudonyms be resolved?" in page
