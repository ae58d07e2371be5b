"""Every hostile input has its outcome: an answer, or status 2 and a sentence; nothing else."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import crypsis as cr
from crypsis.cli import run
from crypsis.profile import profile
from tests.promises.hostile import CASES, FRAMES, SECRET, Case
from tests.promises.hostile.frames import FrameCase

SECONDS = 120
WRITTEN = {"key.json", "out.csv", "out.statement.md", "out.statement.json", "out.before-after.md"}


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


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: case.name.encode("ascii", "replace").decode()
)
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
        assert status in (0, 1), said
        assert set(after) - set(before) <= WRITTEN
    else:
        assert status == 2, said
        assert case.refused in said
        assert after == before, "something was written"


@pytest.mark.parametrize("case", FRAMES, ids=lambda case: case.name)
def test_outcome_of_a_frame(case: FrameCase) -> None:
    given = case.make()
    if case.refused is None:
        assert profile(given).rows == cr.Release.from_frame(given).count
        return
    with pytest.raises(cr.CrypsisError) as caught, no_hang():
        profile(given)
    assert case.refused in str(caught.value)
    assert SECRET not in str(caught.value)
