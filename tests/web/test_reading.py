"""A file of a German hospital: what was found of it is shown, and a type can be changed."""

from __future__ import annotations

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
    assert kinds == {"Geburtsdatum": "date", "PLZ": "integer", "Gewicht": "number",
                     "Befund": "text"}  # fmt: skip
    found = state["read_as"]
    assert (found["delimiter"], found["decimal"], found["date_format"]) == (";", ",", "DD.MM.YYYY")
    assert "1252" in found["encoding"]
    page = caller.get(f"/t/{table}/columns").text
    assert "delimiter ;, decimal mark ,, dates DD.MM.YYYY" in page
    caller.put(f"/api/v1/tables/{table}/roles", json={"roles": {"PLZ": "quasi-identifier"}})
    again = caller.put(f"/api/v1/tables/{table}/reading", json={"types": {"PLZ": "text"}})
    caller.done(again)
    state = caller.get(f"/api/v1/tables/{table}").json()
    plz = next(one for one in state["columns"] if one["column"] == "PLZ")
    assert (plz["kind"], plz["role"], plz["guessed"]) == ("text", "quasi-identifier", False)
