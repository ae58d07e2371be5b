"""A file of a German hospital: what was found of it is shown, and a type can be changed."""

from __future__ import annotations

from pathlib import Path

import xlsxwriter

from tests.web.conftest import Caller

ROWS = "".join(
    f"{i % 28 + 1:02d}.03.19{50 + i % 40};{10100 + i % 9};{i % 7},{i % 10};Zähne {i % 3}\n"
    for i in range(120)
)
GERMAN = f"Geburtsdatum;PLZ;Gewicht;Befund\n{ROWS}".encode("windows-1252")


def test_a_german_file_and_another_type(caller: Caller) -> None:
    table = caller.table("patienten.csv", GERMAN)
    state = caller.get(f"/api/v1/tables/{table}").json()
    kinds = {one["column"]: one["kind"] for one in state["columns"]}
    assert kinds == {"Geburtsdatum": "date", "PLZ": "integer", "Gewicht": "number", "Befund": "text"}
    found = state["read_as"]
    assert (found["delimiter"], found["decimal"], found["date_format"]) == (";", ",", "DD.MM.YYYY")
    assert "1252" in found["encoding"]
    page = caller.get(f"/t/{table}/columns").text
    assert "delimiter “;”, decimal mark “,”, dates DD.MM.YYYY" in page
    caller.put(f"/api/v1/tables/{table}/roles", json={"roles": {"PLZ": "quasi-identifier"}})
    again = caller.put(f"/api/v1/tables/{table}/reading", json={"types": {"PLZ": "text"}})
    caller.done(again)
    state = caller.get(f"/api/v1/tables/{table}").json()
    plz = next(one for one in state["columns"] if one["column"] == "PLZ")
    assert (plz["kind"], plz["role"], plz["guessed"]) == ("text", "quasi-identifier", False)


def test_a_workbook_says_which_sheet_was_read(caller: Caller, tmp_path: Path) -> None:
    path = tmp_path / "patients.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        for name, rows in (
            ("Read me", [["about"], ["by the laboratory"]]),
            ("Admissions", [["age", "sex"], [30, "f"], [41, "m"]]),
        ):
            sheet = book.add_worksheet(name)
            for place, row in enumerate(rows):
                sheet.write_row(place, 0, row)
    table = caller.table("patients.xlsx", path.read_bytes())
    page = caller.get(f"/t/{table}/columns").text
    assert "1 row, 1 column" in page
    assert "<bdi>Read me</bdi> was read, one of 2" in page
    caller.done(caller.put(f"/api/v1/tables/{table}/reading", json={"sheet": "Admissions"}))
    page = caller.get(f"/t/{table}/columns").text
    assert "2 rows, 2 columns" in page
    assert "<bdi>Admissions</bdi> was read, one of 2" in page


def test_a_file_that_cannot_be_read_says_what_to_do_on_the_page(caller: Caller) -> None:
    asked = {"params": {"name": "damaged.xlsx"}, "content": b"no workbook at all"}
    job = caller.ended(caller.post("/api/v1/tables/upload", **asked))
    assert "set the file format" in job["error"]
    assert "format=" not in job["error"]
