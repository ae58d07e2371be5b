"""Parsers under random bytes: an answer or an error of ours, for whatever is put in."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.promises.fuzz.found import FOUND
from tests.promises.fuzz.targets import BLOWS, SEEDS, TARGETS
from tests.promises.fuzz.watch import changes_outside

READERS = ("csv", "json", "parquet", "excel", "web forms")
TOKENS = [
    b"\x00",
    b"\xff",
    b'"',
    b"'",
    b"\n",
    b"\r",
    b"[",
    b"]",
    b"{",
    b"}",
    b"=",
    b"nan",
    b"-1",
    b"1e999",
    b"null",
    b"true",
    b",,",
    b";;",
    b"\xef\xbb\xbf",
    b"9" * 30,
    b"\\u0000",
    b"#",
]


def struck(name: str, draw: random.Random) -> bytes:
    """A well-formed input of a target after some blows."""
    return BLOWS.get(name, mutated)(draw.choice(SEEDS[name]), draw)


def mutated(seed: bytes, draw: random.Random) -> bytes:
    """A well-formed input after a few blows: bytes changed, cut, doubled, tokens put in."""
    data = bytearray(seed)
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(data) + 1)
        blow = draw.randrange(4)
        if blow == 0 and place < len(data):
            data[place] = draw.randrange(256)
        elif blow == 1:
            del data[place : place + draw.randint(1, 8)]
        elif blow == 2:
            data[place:place] = draw.choice(TOKENS)
        else:
            end = min(len(data), place + draw.randint(1, 40))
            data[place:place] = data[place:end]
    return bytes(data)


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_what_was_found_before(name: str) -> None:
    for data in (*SEEDS[name], *FOUND.get(name, ())):
        TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.binary(max_size=300))
def test_any_bytes(name: str, data: bytes) -> None:
    TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
def test_blows_at_well_formed_input(name: str) -> None:
    draw = random.Random(name)
    for _ in range(20 if name in READERS else 150):
        data = struck(name, draw)
        try:
            TARGETS[name](data)
        except Exception as error:
            error.add_note(f"{name}: {data!r}")
            raise


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(draw=st.randoms(use_true_random=False))
def test_any_form(draw: random.Random) -> None:
    """Forms with fields that are missing, unknown, of another kind, out of range or endless."""
    TARGETS["web forms"](struck("web forms", draw))


def test_what_is_promised_of_forms_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The watch over forms is no ornament: a file elsewhere and a value that is told are seen."""
    with changes_outside(tmp_path / "inside") as written:
        (tmp_path / "outside").write_text("x")
        (tmp_path / "folder").mkdir()
    assert [line.split()[0] for line in written] == ["open", "os.mkdir"]
    asked = b'POST /api/v1/tables/{release}/causes\n{"question": "inference", "columns": ["ill"], '
    TARGETS["web forms"](asked + b'"reveal": true}')
    behind = asked.replace(b"inference", b"singling_out").replace(b"ill", b"zip") + b'"class_size": 5}'
    TARGETS["web forms"](behind)
    monkeypatch.setattr(
        "crypsis.web.operations._assess._values", lambda group, *_: [str(one) for one in group.values]
    )
    monkeypatch.setattr("tests.promises.fuzz.web.PLANTED", ("10108",))
    with pytest.raises(AssertionError, match="a value is told"):
        TARGETS["web forms"](behind)


@pytest.mark.heavy
@pytest.mark.parametrize("name", TARGETS)
def test_many_blows(name: str) -> None:
    draw = random.Random(f"{name}, again")
    for _ in range(400 if name in READERS else 5_000):
        data = struck(name, draw)
        try:
            TARGETS[name](data)
        except Exception as error:
            error.add_note(f"{name}: {data!r}")
            raise


@pytest.mark.heavy
@pytest.mark.parametrize("name", TARGETS)
def test_guided_by_coverage(name: str) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "tests.promises.fuzz", name, "15"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4_000:]
