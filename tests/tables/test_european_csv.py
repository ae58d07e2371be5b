"""CSV files as they are in Europe: encodings, semicolons, decimal commas, days before months."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

import crypsis as cr
from crypsis.errors import ParameterError, SourceError
from crypsis.tables.csv.encodings import guess_encoding
from crypsis.tables.output import write_file

TEXT = (
    "Name;Größe;Geburtsdatum;Aufnahme;PLZ\n"
    "Jürgen;1,88;25.03.1953;01.02.2024 14:30;01067\n"
    "Zoë;1,5;01.12.1960;02.02.2024 08:05;80331\n"
    "Ægir;2;31.01.1999;03.02.2024 00:00;01069\n"
)


def write(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "t.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_the_encoding_is_detected(tmp_path: Path, encoding: str) -> None:
    data = cr.read(write(tmp_path, TEXT, encoding))
    assert data.names == ("Name", "Größe", "Geburtsdatum", "Aufnahme", "PLZ")
    table = data.to_arrow().to_pydict()
    assert table["Name"] == ["Jürgen", "Zoë", "Ægir"]
    assert table["Größe"] == [1.88, 1.5, 2.0]
    assert table["Geburtsdatum"] == [
        datetime.date(1953, 3, 25),
        datetime.date(1960, 12, 1),
        datetime.date(1999, 1, 31),
    ]
    assert table["Aufnahme"][0] == datetime.datetime(2024, 2, 1, 14, 30)
    assert table["PLZ"] == ["01067", "80331", "01069"]


def test_a_late_character_decides(tmp_path: Path) -> None:
    """Beyond the first lines, by which the columns are recognized."""
    text = "a;b\n" + "1;x\n" * 200_000 + "2;ü\n"
    data = cr.read(write(tmp_path, text, "cp1252"))
    assert data.to_arrow()["b"][-1].as_py() == "ü"


def test_a_byte_without_a_character_is_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a;b\n1;\xfc\x81\n")
    assert guess_encoding([str(path)]) == "latin-1"


def test_files_of_different_encodings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("a;b\n1;ü\n".encode())
    (tmp_path / "b.csv").write_bytes("a;b\n1;ü\n".encode("cp1252"))
    with pytest.raises(SourceError, match="different encodings"):
        cr.read(tmp_path / "*.csv")


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["1,5", "2"], "number", [1.5, 2.0]),
        (["1.234,50", "2,25"], "number", [1234.5, 2.25]),
        (["12", "13"], "integer", [12, 13]),
        (["1.234", "2.345"], "text", ["1.234", "2.345"]),  # thousands, or three decimals
        (["25/03/1953", "01/02/1960"], "date", [datetime.date(1953, 3, 25), datetime.date(1960, 2, 1)]),
        (["03/25/1953", "01/02/1960"], "date", [datetime.date(1953, 3, 25), datetime.date(1960, 1, 2)]),
        (["01/02/1960", "03/04/1961"], "text", ["01/02/1960", "03/04/1961"]),  # either order
        (["5.3.1953", "15.12.1960"], "date", [datetime.date(1953, 3, 5), datetime.date(1960, 12, 15)]),
        (["05.3.1953", "15.12.1960"], "text", ["05.3.1953", "15.12.1960"]),
        (["31.02.1960", "01.01.1960"], "text", ["31.02.1960", "01.01.1960"]),  # no such day
        (["25.03.53", "01.01.60"], "text", ["25.03.53", "01.01.60"]),  # of which century
        (["25.03.1953", "1953-03-25"], "text", ["25.03.1953", "1953-03-25"]),
    ],
)
def test_notations(tmp_path: Path, values: list[str], kind: str, expected: list[object]) -> None:
    lines = "".join(f"{value};0,5\n" for value in values)
    data = cr.read(write(tmp_path, f"a;b\n{lines}"))
    assert data.rows.column("a").kind.value == kind
    assert data.to_arrow()["a"].to_pylist() == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("a;b\n12.500;x\n980;y\n", {}, ["12.500", "980"]),  # thousands, or three decimals
        ("a\tb\n1,234\tx\n12,500\ty\n", {}, ["1,234", "12,500"]),
        ("a;b\n12.500;x\n980;y\n", {"decimal": ","}, [12500, 980]),
        ("a;b\n12.500;x\n980;y\n", {"decimal": "."}, [12.5, 980]),
        ("a;b\n12.500;1.5\n980;2\n", {}, [12.5, 980]),  # another column has decimals
        ("a;b\n12.500;1,5\n980;2\n", {}, ["12.500", "980"]),
        ("a;b\n12.500;x\n980,5;y\n", {}, [12500, 980.5]),
        ("a;b\n12.500;x\n1.234.567;y\n", {}, [12500, 1234567]),
        ("a;b\n12.500;x\n1.234.56;y\n", {}, ["12.500", "1.234.56"]),
        ("a;b\n12.500;x\n1500;y\n", {}, [12.5, 1500]),  # without a point between its thousands
        ("a,b\n12.500,x\n980,y\n", {}, [12.5, 980]),  # where commas are between fields
    ],
)
def test_points_between_thousands(
    tmp_path: Path, text: str, options: dict[str, Any], expected: list[object]
) -> None:
    """Read as numbers where the file leaves no doubt; never as others, if a later line shows them."""
    assert (
        cr.read(write(tmp_path, text), **options, person="each record").to_arrow()["a"].to_pylist()
        == expected
    )
    header, first, second = text.splitlines(keepends=True)
    for lines in (f"{first * 300}{second}", f"{second * 300}{first}"):
        column = (
            cr.read(write(tmp_path, header + lines), **options, person="each record")
            .to_arrow()["a"]
            .to_pylist()
        )
        assert {one for one in column if not isinstance(one, str)} <= set(expected)


def test_numbers_that_were_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "a;b\n12.500;x\n980;y\n")
    with pytest.raises(SourceError, match="'a' may be between thousands") as caught:
        cr.read(path, types={"a": "number"})
    assert "12.500" not in str(caught.value)
    data = cr.read(path, types={"a": "number"}, decimal=",")
    assert data.to_arrow()["a"].to_pylist() == [12500, 980]


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=,", "\ufeffsep=;"])
def test_the_line_of_a_spreadsheet(tmp_path: Path, line: str) -> None:
    with pytest.raises(SourceError, match=r"'t\.csv': line 1 .*Delete that line"):
        cr.read(write(tmp_path, f"{line}\r\na;b\r\n1;2\r\n"))
    assert cr.read(write(tmp_path, "sep;b\n1;2\n")).names == ("sep", "b")


def test_a_later_line_decides(tmp_path: Path) -> None:
    same = "01/02/1960;x\n" * 300
    one = cr.read(write(tmp_path, f"a;b\n{same}25/03/1953;x\n"))
    assert one.to_arrow()["a"][0].as_py() == datetime.date(1960, 2, 1)
    other = cr.read(write(tmp_path, f"a;b\n{same}03/25/1953;x\n"))
    assert other.to_arrow()["a"][0].as_py() == datetime.date(1960, 1, 2)
    both = cr.read(write(tmp_path, f"a;b\n{same}25/03/1953;x\n03/25/1953;x\n"))
    assert both.to_arrow()["a"][0].as_py() == "01/02/1960"


def test_the_user_decides(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n01/02/1960,1\n03/04/1961,2\n")
    day = cr.read(path, date_format="DD/MM/YYYY").to_arrow()["a"][0].as_py()
    assert day == datetime.date(1960, 2, 1)
    month = cr.read(path, date_format="MM/DD/YYYY").to_arrow()["a"][0].as_py()
    assert month == datetime.date(1960, 1, 2)
    with pytest.raises(SourceError, match="several orders") as caught:
        cr.read(path, types={"a": "date"})
    assert "1960" not in str(caught.value)
    with pytest.raises(ParameterError, match="YYYY"):
        cr.read(path, date_format="DD of MM")
    quoted = write(tmp_path, 'a,b\n"1,5",x\n"2,5",y\n')
    assert cr.read(quoted).to_arrow()["a"].to_pylist() == ["1,5", "2,5"]
    assert cr.read(quoted, decimal=",").to_arrow()["a"].to_pylist() == [1.5, 2.5]
    with pytest.raises(ParameterError, match="point or a comma"):
        cr.read(quoted, decimal=";")


def test_a_point_is_no_decimal_mark_where_a_comma_is(tmp_path: Path) -> None:
    data = cr.read(write(tmp_path, "a;b\n1,5;1.5\n2,5;2.5\n"))
    assert data.to_arrow()["b"].to_pylist() == ["1.5", "2.5"]


@pytest.mark.parametrize(
    ("written", "values"),
    [
        (["8,53", "1200,5", "", "7"], [8.53, 1200.5, None, 7.0]),
        (["Müller, Hans", "x", "y, z"], ["Müller, Hans", "x", "y, z"]),
    ],
)
def test_a_column_alone_is_read_back(tmp_path: Path, written: list[str], values: list[Any]) -> None:
    """A sensitive attribute released apart is such a file."""
    rows = "".join(f"{i};{text}\n" for i, text in enumerate(written))
    data = cr.read(
        write(tmp_path, f"Nr;Wert\n{rows}"), excluded="Nr", insensitive="Wert", person="each record"
    )
    alone = data.rows.select(["Wert"])
    assert data.rows.form is not None
    write_file(alone, tmp_path / "alone.csv", data.rows.form)
    assert cr.read(tmp_path / "alone.csv").to_arrow()["Wert"].to_pylist() == values


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_release_has_the_form_of_its_original(tmp_path: Path, encoding: str) -> None:
    rows = "".join(
        f"{i};{150 + i % 2},5;{1 + i % 3:02d}.03.1953;{'männlich' if i % 2 else 'weiblich'}\n"
        for i in range(60)
    )
    source = write(tmp_path, f"Nr;Größe;Geburt;Geschlecht\n{rows}", encoding)
    data = cr.read(
        source,
        identifiers="Nr",
        quasi_identifiers=["Geburt", "Geschlecht"],
        insensitive="Größe",
        person="each record",
    )
    target = tmp_path / "safe.csv"
    cr.anonymize(data, k=5, shuffle=False).write(target)
    lines = target.read_bytes().decode(encoding).splitlines()
    assert lines[0] == "Größe;Geburt;Geschlecht"
    marked = {"utf-8-sig": b"\xef\xbb\xbf", "utf-16": b"\xff\xfe"}.get(encoding, b"Gr")
    assert target.read_bytes().startswith(marked)
    assert lines[1] == "150,5;01.03.1953;weiblich"
    back = cr.read(target).to_arrow()
    assert back["Geburt"].to_pylist() == data.to_arrow()["Geburt"].to_pylist()
    assert back["Größe"].to_pylist() == data.to_arrow()["Größe"].to_pylist()


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"<stata_dta><header>", "a Stata file"),
        (b"BZh91AY", "compressed by bzip2"),
        (b"%PDF-1.7", "a PDF document"),
        (b"\x01\x02" + b"\0" * 4000, "a binary file"),
    ],
)
def test_other_files_under_the_name_of_csv(tmp_path: Path, start: bytes, what: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(start + b"\nsecret\n")
    with pytest.raises(SourceError, match=what) as caught:
        cr.read(path)
    assert "secret" not in str(caught.value)
