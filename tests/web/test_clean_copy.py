"""The clean copy on the page: from a workbook of which nobody can tell to a file that is judged."""

from __future__ import annotations

import io
import json

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from crypsis.files import digest
from tests.web.conftest import Caller


def _workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["age", "sex"])
    for place in range(120):
        book.active.append([30 + place % 2, "fm"[place % 2]])
    book.create_sheet("people").append(["Anna Smith"])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_the_clean_copy_is_judged_and_downloaded(caller: Caller, tmp_path) -> None:  # type: ignore[no-untyped-def]
    table = caller.table("patients.xlsx", _workbook())
    address = f"/api/v1/tables/{table}"
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier"}
    caller.put(f"{address}/roles", json={"roles": roles})
    caller.done(caller.ask(table, "assess"))
    found = caller.get(f"{address}/assessment").json()
    assert (found["verdict"], found["clean_copy"]) == ("cannot tell", True)
    page = caller.get(f"/t/{table}/verdict").text
    assert f'data-rewrite="{table}"' in page
    assert "clean.parquet" not in page

    assert caller.done(caller.ask(table, "rewrite"))["page"] == f"/t/{table}/verdict"
    state = caller.get(address).json()
    assert (state["files"], state["assessed"], state["rows"]) == ({"data": "patients.parquet"}, False, 120)
    assert {name: column["role"] for column in state["columns"] for name in [column["column"]]} == roles
    assert {"clean.parquet", "clean.parquet.record.json"} <= {*state["downloads"]}
    content = caller.get(f"{address}/downloads/clean.parquet").content
    assert b"Anna" not in content
    assert pq.read_table(pa.BufferReader(content)).to_pydict() == {
        "age": [30, 31] * 60,
        "sex": ["f", "m"] * 60,
    }
    (tmp_path / "clean.parquet").write_bytes(content)
    record = json.loads(caller.get(f"{address}/downloads/clean.parquet.record.json").content)
    assert record["sha256"] == digest(tmp_path / "clean.parquet")

    caller.done(caller.ask(table, "assess"))
    found = caller.get(f"{address}/assessment").json()
    assert (found["verdict"], found["clean_copy"]) == ("safe", False)
    assert "data-rewrite" not in caller.get(f"/t/{table}/verdict").text
    again = caller.ask(table, "rewrite")
    assert (again.status_code, "already" in again.text) == (409, True)
