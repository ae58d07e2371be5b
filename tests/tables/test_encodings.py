"""The encoding of a text file: UTF-8 with broken bytes is refused, old encodings are read and shown."""

from __future__ import annotations

import bz2
import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

import crypsis as cr
from crypsis.errors import SourceError
from crypsis.report.terminal import scan_view
from crypsis.tables.csv.encodings import guess_encoding


def lines(towns: Sequence[str], rows: int = 500) -> list[bytes]:
    """The lines of a table in UTF-8, the header first."""
    names = itertools.islice(itertools.cycle(towns), rows)
    return [b"id,town", *(f"{place},{town}".encode() for place, town in enumerate(names))]


def write(folder: Path, content: bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


BROKEN = {
    "one kind of character": (["München"], b"M\xfcnchen"),
    "two kinds, one of them broken": (["München", "Köln"], b"K\xf6ln"),
    "one character in all rows": (["Berlin"] * 499 + ["Zürich"], b"K\xf6ln"),
    "another broken sequence": (["Łódź"], b"\xc5"),
    "a cut character of three bytes": (["東京"], b"\xe6\x9d"),
    "Hebrew": (["ירושלים"], b"\xe9"),
    "Cyrillic": (["Москва"], b"\xcc"),
    "a byte that windows-1252 does not have": (["München"], b"M\x81nchen"),
    "a sign of money": (["10 €"], b"10 \x80"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("broken_lines", [1, 3])
def test_utf_8_with_broken_bytes_is_refused_with_the_line(
    tmp_path: Path, case: str, broken_lines: int
) -> None:
    towns, broken = BROKEN[case]
    table = lines(towns)
    for line in range(250, 250 + broken_lines):
        table[line] = b"249," + broken
    path = write(tmp_path, b"\n".join(table) + b"\n")
    with pytest.raises(SourceError, match=r"line 251 is not in the encoding utf-8"):
        cr.read(path)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_files_that_were_joined_from_two_encodings_are_refused(tmp_path: Path, share: float) -> None:
    """Whichever there is more of, one of the two would be damaged."""
    table = lines(["München"])
    new = round(share * 500)
    old = [line.decode().encode("cp1252") for line in table[new + 1 :]]
    path = write(tmp_path, b"\n".join([*table[: new + 1], *old]) + b"\n")
    with pytest.raises(SourceError, match=f"line {new + 2} is not in the encoding utf-8"):
        cr.read(path)
    assert "MÃ¼nchen" in cr.read(path, encoding="cp1252").to_arrow()["town"].to_pylist()


@pytest.mark.parametrize("suffix", ["csv", "csv.bz2"])
def test_a_broken_byte_far_down_is_refused_with_the_line(tmp_path: Path, suffix: str) -> None:
    table = lines(["München"], 300_000)
    table[290_000] = b"1,M\xfcnchen"
    content = b"\n".join(table) + b"\n"
    content = bz2.compress(content) if suffix.endswith("bz2") else content
    path = write(tmp_path, content, f"t.{suffix}")
    with pytest.raises(SourceError, match="line 290,001 is not in the encoding utf-8"):
        cr.read(path).cells(["town"])


def test_a_text_with_signs_for_unknown_characters_is_utf_8(tmp_path: Path) -> None:
    """U+FFFD was written by whoever lost a character before; the file is valid."""
    path = write(tmp_path, b"\n".join(lines(["M\ufffdnchen"])) + b"\n")
    assert cr.read(path).to_arrow()["town"][0].as_py() == "M\ufffdnchen"


LEGACY = {
    "German": (["München", "Köln", "Gießen"], "windows-1252"),
    "one character in all rows": (["Berlin"] * 499 + ["Zürich"], "windows-1252"),
    "prices": (["10 €", "20 €"], "windows-1252"),
    "a letter before a quote": (["„Spaß“", "Köln"], "windows-1252"),
    "French capitals in quotes": (["«CAFÉ»", "École", "Noël"], "windows-1252"),
    "Spanish capitals in quotes": (["“PERÚ”", "Málaga"], "windows-1252"),
    "Portuguese": (["São Paulo", "SÃO JOÃO", "Açores"], "windows-1252"),
    "Nordic": (["Århus", "Ærø", "Malmö", "TromsØ"], "windows-1252"),
}


@pytest.mark.parametrize("case", LEGACY)
def test_old_encodings_are_read_and_shown(tmp_path: Path, case: str) -> None:
    towns, encoding = LEGACY[case]
    content = "\r\n".join(line.decode() for line in lines(towns)).encode(encoding)
    path = write(tmp_path, content + b"\r\n")
    data = cr.read(path, insensitive=["id"], quasi_identifiers=["town"])
    assert set(data.to_arrow()["town"].to_pylist()) == set(towns)
    profile = cr.scan(data)
    assert profile.encoding == data.rows.form.encoding == "cp1252"  # type: ignore[union-attr]
    assert "read as cp1252" in str(profile)
    assert "read as cp1252" in str(scan_view(profile, "t", 80).renderables[1])  # type: ignore[attr-defined]
    notes = cr.assess(data).answers[0].notes
    assert any("read as cp1252" in note for note in notes)


def test_nothing_is_said_of_utf_8(tmp_path: Path) -> None:
    path = write(tmp_path, b"\n".join(lines(["München", "Łódź", "東京"])) + b"\n")
    profile = cr.scan(cr.read(path))
    assert profile.encoding is None
    assert "read as" not in str(profile)
    assert guess_encoding([str(path)]) == "utf-8"
