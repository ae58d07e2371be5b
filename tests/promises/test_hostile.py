"""Every hostile input has its outcome: an answer, or status 2 and a sentence; nothing else."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import crypsis as cr
from crypsis.cli import run
from tests.promises.hostile import CASES, FRAMES, SECRET, Case
from tests.promises.hostile.frames import FrameCase

SECONDS = 120
WRITTEN = {"key.json", "out.csv", "out.csv.statement.md", "out.csv.statement.json", "out.csv.before-after.md"}


@contextmanager
def no_hang() -> Iterator[None]:
    """A command that does not come back is a failure, not a test run without end."""

    def late(*_: object) -> None:
        raise TimeoutError(f"no answer after {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def files(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_there_are_at_least_two_hundred() -> None:
    for cases in (CASES, FRAMES):
        assert len({case.name for case in cases}) == len(cases)
    assert len(CASES) + len(FRAMES) >= 480


def shared_out() -> list[Any]:
    """Every other case is left to `make test-heavy`: the two together try them all."""
    return [
        pytest.param(
            case,
            id=case.name.encode("ascii", "replace").decode(),
            marks=[pytest.mark.heavy] if place % 2 else [],
        )
        for place, case in enumerate(CASES)
    ]


@pytest.mark.parametrize("case", shared_out())
def test_outcome(
    case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRYPSIS_DEBUG", "0")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    folder = tmp_path / "here"
    folder.mkdir()
    arguments = list(case.make(folder))
    before = files(folder)
    with no_hang():
        status = run(arguments)
    said = capfd.readouterr().err
    after = files(folder)
    assert "Traceback" not in said
    assert "internal fault" not in said
    assert SECRET not in said
    assert {name: after.get(name, b"gone") for name in before} == before, "an input was touched"
    if case.refused is None:
        assert status in (0, 1, 4), said
        assert set(after) - set(before) <= WRITTEN
    else:
        assert status == 2, said
        assert case.refused in said
        assert after == before, "something was written"


@pytest.mark.parametrize("name", ["a NUL byte inside a value", "Parquet cut at 70%", "a FIFO"])
def test_outcome_at_the_real_command_line(name: str, tmp_path: Path) -> None:
    (case,) = [case for case in CASES if case.name == name]
    command = [sys.executable, "-m", "crypsis", *case.make(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == (0 if case.refused is None else 2), done.stderr
    assert "Traceback" not in done.stderr
    assert case.refused is None or case.refused in done.stderr


def answered_tables() -> list[Any]:
    """The tables that can be read, for verbs that ask more of them than `scan`."""
    skipped = ("roles", "option", "Parquet with a million", "a spreadsheet that unpacks")
    return [
        pytest.param(case, id=case.name.encode("ascii", "replace").decode())
        for case in CASES
        if case.refused is None and not case.name.startswith(skipped)
    ]


@pytest.mark.heavy
@pytest.mark.parametrize("case", answered_tables())
def test_other_verbs_on_what_can_be_read(
    case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What `scan` reads, `assess` and `anonymize` judge or refuse; they never break."""
    verb, data, *more = case.make(tmp_path)
    if verb != "scan":
        return
    out = ["-o", str(tmp_path / "made.csv"), "--key", str(tmp_path / "made.json")]
    with no_hang():
        assert run(["assess", "--person", "each record", data, *more, "--no-try", "--json"]) in (0, 1, 2, 4)
        known = json.loads(capfd.readouterr().out or "{}").get("columns", [])
        names = [one["column"] for one in known] if more else cr.read(data).names
        asked, *others = names or ["a"]
        roles = ["--qi", asked, *(word for name in others for word in ("--insensitive", name))]
        status = run(["anonymize", "--person", "each record", data, *more, *out, "--k", "2", *roles])
    assert status in (0, 2), capfd.readouterr().err
    assert SECRET not in capfd.readouterr().err
    assert status == 0 or not (tmp_path / "made.csv").exists()


@pytest.mark.parametrize("case", FRAMES, ids=lambda case: case.name)
def test_outcome_of_a_frame(case: FrameCase) -> None:
    given = case.make()
    if case.refused is None:
        assert cr.scan(given).rows == cr.Dataset.from_frame(given).count
        return
    with pytest.raises(cr.CrypsisError) as caught, no_hang():
        cr.scan(given)
    assert case.refused in str(caught.value)
    assert SECRET not in str(caught.value)
