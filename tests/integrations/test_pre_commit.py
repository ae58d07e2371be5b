"""The hook's statuses; `check_pre_commit.py` runs it in pre-commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from crypsis.integrations.pre_commit import main
from tests.integrations.people import ROLES_FILE, csv


def test_the_worst_file_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    safe, leaking, undecided, alone = (tmp_path / f"{name}.csv" for name in "abcd")
    for path in (safe, undecided, alone):
        path.write_text(csv())
    leaking.write_text(csv(leaking=True))
    for path in (safe, leaking):
        path.with_name(f"{path.stem}.roles.toml").write_text(ROLES_FILE)
    undecided.with_name("c.roles.toml").write_text('[roles]\nage = "quasi-identifier"\n')
    assert main([str(safe)]) == 0
    assert main([str(safe), str(leaking)]) == 1
    assert main([str(leaking), str(undecided), str(safe)]) == 4
    assert main([str(alone)]) == 2
    shown = capsys.readouterr()
    assert "hiv-secret" not in shown.out + shown.err
    assert "neither d.roles.toml nor roles.toml" in shown.err


def test_a_file_that_is_called_like_an_option_is_assessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("roles.toml").write_text(ROLES_FILE)
    for name in ("-h.csv", "--policy=default.csv"):
        Path(name).write_text(csv(leaking=True))
        assert main([name]) == 1
