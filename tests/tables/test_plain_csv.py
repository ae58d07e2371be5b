"""The short way to read a CSV file gives what the long way gives, errors included."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.errors import CrypsisError, SourceError
from crypsis.files._sources import is_read
from crypsis.options import ReadOptions
from crypsis.tables.arrow import TableRows
from crypsis.tables.csv import arrow_reader as plain_csv
from crypsis.tables.csv.dialect import Dialect, detect_dialect

FIELDS = [
    "",
    " ",
    "1",
    " 1",
    "1 ",
    "01",
    "-0",
    "0",
    "-7",
    "+5",
    "1.5",
    "-.5",
    "5.",
    "1e5",
    "1E-3",
    "1e-400",
    "1e999",
    "nan",
    "NaN",
    "inf",
    "Infinity",
    "0x1F",
    "1_000",
    "\u0663",
    "0.1",
    "1,5",
    "999999999999999999",
    "-99999999999999999",
    "1234567890123456789",
    "123456.789012345678",
    "2020-01-31",
    " 2020-02-29",
    "2021-02-29",
    "2020-13-01",
    "0000-01-01",
    "9999-12-31",
    "10000-01-01",
    "2020-01-01 10:00",
    "2020-01-01T10:00:00.5",
    "abc",
    " abc ",
    "a\u00a0",
    "\u3000x\u2003",
    "\u200bx",
    "\tx\t",
    "NA",
    " NA ",
    "?",
    "null",
    "TRUE",
    "\u00e9\U0001f600",
    '"q"',
    '"a""b"',
    '""',
    '" NA "',
    '" 3 "',
    'a"b',
    '"a"b',
    '"a,b;c"',
    '"a\nb"',
    "x\x01y",
    "a;b",
    "' '",
    "\\N",
    "#x",
]


def _outcome(path: Path, reading: ReadOptions) -> pa.Table | str:
    options = {"names": reading.names, "missing_markers": reading.missing_markers}
    try:
        return cr.read(path, **options).rows.to_arrow()
    except CrypsisError as error:
        return str(error)


def _both(path: Path, monkeypatch: pytest.MonkeyPatch, reading: ReadOptions) -> bool:
    """Whether the short way was taken; in any case the outcome must be that of the long way."""
    found = _outcome(path, reading)
    try:
        taken = plain_csv.read_plain(detect_dialect([str(path)], reading)) is not None
    except CrypsisError:
        taken = False
    with monkeypatch.context() as patched:
        patched.setattr("crypsis.tables.csv.arrow_reader.read_plain", lambda layout: None)
        expected = _outcome(path, reading)
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
    else:
        assert found.schema == expected.schema
        assert found.equals(expected)
    return taken


def _file(rng: random.Random) -> bytes:
    """A file whose columns mix a few kinds of fields, some only in late lines."""
    width, rows = rng.randint(1, 4), rng.choice([1, 3, 30, 400])
    delimiter, end = rng.choice([",", ",", ";", "\t"]), rng.choice(["\n", "\n", "\n", "\r\n", "\r"])
    pools = [rng.sample(FIELDS, rng.randint(1, 4)) for _ in range(width)]
    late = rng.choice([None, None, *FIELDS])
    lines = [delimiter.join(f"n{i}" for i in range(width))]
    for row in range(rows):
        fields = [rng.choice(pool) for pool in pools]
        if late is not None and row == rows - 2:
            fields[rng.randrange(width)] = late
        lines.append(delimiter.join(fields))
    if rng.random() < 0.1:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(["", " ", delimiter, "x"]))
    if rng.random() < 0.03:
        lines[0] += "\r\n" + lines[0]
    text = end.join(lines) + rng.choice([end, end, ""])
    return (b"\xef\xbb\xbf" if rng.random() < 0.05 else b"") + text.encode()


@pytest.mark.heavy
def test_random_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(20)
    path = tmp_path / "table.csv"
    taken = 0
    for _ in range(400):
        path.write_bytes(_file(rng))
        markers = rng.choice([None, None, ["NA"], ["", "abc"]])
        taken += _both(path, monkeypatch, ReadOptions(missing_markers=markers))
    assert 100 < taken < 390  # both ways are tried


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_alone_and_late(field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.csv"
    for usual in ("3", "x", field):
        lines = [f"{usual},y"] * 300 + [f"{field},y", f"{usual},y"]
        path.write_text("a,b\n" + "\n".join(lines), encoding="utf-8", newline="")
        _both(path, monkeypatch, ReadOptions())


def test_plain_files_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With blanks, quotes, other line ends, missing values, without a header."""
    path = tmp_path / "table.csv"
    for body in (
        b"1, x\n2, y\n3, ?\n",
        b'1,"x, y"\r\n2,"say ""no"""\r\n',
        b"1,\n,x",
        b"1,x\n\n2,y\n\n",
        b"1.5,2020-01-01\n2,\n",
        b"01,x\n" + b"7,y\n" * 300,
    ):
        path.write_bytes(body)
        assert _both(path, monkeypatch, ReadOptions(names=["a", "b"]))
    assert isinstance(cr.read(path, names=["a", "b"]).rows, TableRows)


def test_others_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    for body in (b"1,x\r\n2,y\n", b'1,a"b\n', b'1,"a\nb"\n', b"1,\0\n", b"1\n"):
        path.write_bytes(body)
        layout = detect_dialect([str(path)], ReadOptions(names=["a", "b"][: body.count(b",", 0, 5) + 1]))
        assert plain_csv.read_plain(layout) is None, body


def test_the_file_is_remembered_as_the_source(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,x\n")
    release = cr.read(path)
    assert is_read(path)
    assert release.count == 1


def test_a_file_that_goes_away_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,x\n")
    plain = plain_csv.read_plain

    def gone(layout: Dialect) -> pa.Table | None:
        path.unlink()
        return plain(layout)

    monkeypatch.setattr(plain_csv, "read_plain", gone)
    with pytest.raises(SourceError, match=r"table\.csv"):
        cr.read(path)
