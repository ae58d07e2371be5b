"""The ledger: what it keeps, what it finds, and that no seed or data value is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from crypsis import assess
from crypsis.cli import run
from crypsis.errors import InputError, SourceError
from crypsis.protection import Key
from crypsis.releases import Ledger, check_ledger

ROWS = "age,ill\n" + "".join(
    f"{'20-39' if n % 2 else '40-59'},{'flu' if n % 3 else 'gout'}\n" for n in range(600)
)


@pytest.fixture
def release(tmp_path: Path) -> Path:
    path = tmp_path / "first.csv"
    path.write_text(ROWS)
    return path


def test_a_release_is_kept_without_its_values(release: Path) -> None:
    ledger = release.with_name("ledger.toml")
    Ledger().added(release, release.parent, recipient="a university", seed=123456).save(ledger)
    entry = Ledger.load(ledger).releases[0]
    assert (entry.records, entry.columns, entry.file) == (600, ("age", "ill"), "first.csv")
    text = ledger.read_text()
    assert not any(value in text for value in ("20-39", "gout", "123456"))


def test_reused_seeds_and_keys_are_found(release: Path) -> None:
    ledger = Ledger().added(release, release.parent, recipient="x", seed=7, pseudonym_keys=["ab"])
    assert ledger.reusing(7, ()) == ledger.reusing(None, ["ab"]) == ("first.csv",)
    assert ledger.reusing(8, ["cd"]) == ledger.reusing(None, ()) == ()
    with pytest.raises(InputError, match="already"):
        ledger.added(release, release.parent, recipient="y")


def test_missing_and_changed_files_are_named(release: Path) -> None:
    ledger = release.with_name("ledger.toml")
    Ledger().added(release, release.parent, recipient="x").save(ledger)
    assert check_ledger(ledger).files == (str(release),)
    assert check_ledger(ledger, release).files == ()  # the release itself is no earlier one
    release.write_text(ROWS.replace("flu", "asthma"))
    assert check_ledger(ledger).changed == ("first.csv",)
    release.unlink()
    assert check_ledger(ledger).missing == ("first.csv",)


def test_a_broken_ledger_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "ledger.toml"
    path.write_text('format = "crypsis ledger 1"\nsalt = "x"\n')
    with pytest.raises(SourceError, match="not a valid ledger"):
        Ledger.load(path)


def test_the_commands(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = release.parent
    ledger, key, second = folder / "ledger.toml", folder / "a.key.json", folder / "second.csv"
    Key(seed=99).save(key)
    words = ["ledger", "add", str(ledger), str(release), "--to", "Z", "--key", str(key)]
    assert run(words) == 0
    second.write_text(ROWS + "20-39,flu\n")
    capsys.readouterr()
    assert run(["ledger", "list", str(ledger)]) == 0
    assert "unchanged" in capsys.readouterr().out
    asked = [
        "assess",
        "--person",
        "each record",
        str(second),
        "--qi",
        "age",
        "--sensitive",
        "ill",
        "--ledger",
        str(ledger),
    ]
    assert run(asked) == 1
    assert "earlier releases" in capsys.readouterr().out
    assert run([*asked, "--key", str(key), "--json"]) == 1
    assert "was used before" in capsys.readouterr().out
    assert run(["assess", "--person", "each record", str(second), "--earlier-key", str(key)]) == 2
    assert run(["ledger", "add", str(folder / "x.csv"), str(release), "--to", "Z"]) == 2


def test_a_reused_seed_is_never_safe(release: Path) -> None:
    folder = release.parent
    again = folder / "again.csv"
    again.write_text("age,ill\n" + "".join(sorted(ROWS.splitlines(keepends=True)[1:])))
    ledger = folder / "ledger.toml"
    Ledger().added(release, folder, recipient="x", seed=7).save(ledger)
    options = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    assert assess(again, ledger=ledger, **options, person="each record").verdict.value == "safe"  # type: ignore[arg-type]
    reused = check_ledger(ledger, seed=7)
    found = assess(again, earlier=[release], ledger=reused, **options, person="each record")  # type: ignore[arg-type]
    assert found.verdict.value == "cannot tell"
    assert "reused-seed" in [one.code for one in found.reasons]
