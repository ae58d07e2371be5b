"""The records as they are shown: windows, class sizes, and the release beside them."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import Any

from tests.web.conftest import Caller

QI = ("age", "zip", "sex")
ROWS = [
    {"name": f"n{i}", "age": 20 + 7 * i % 31, "zip": f"{10100 + 3 * i % 7:05d}", "sex": "fm"[i % 2]}
    for i in range(90)
]
ROLES = {"name": "identifier", **dict.fromkeys(QI, "quasi-identifier")}


def _table(caller: Caller) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(ROWS[0]))
    writer.writeheader()
    writer.writerows(ROWS)
    table = caller.table("p.csv", text.getvalue().encode())
    assert caller.put(f"/api/v1/tables/{table}/roles", json={"roles": ROLES}).status_code == 200
    return table


def _rows(caller: Caller, table: str, **asked: Any) -> Any:
    answer = caller.ask(table, "rows", reveal=True, **asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_windows_and_the_riskiest_records(caller: Caller) -> None:
    table = _table(caller)
    assert caller.ask(table, "rows").status_code == 422  # values only if they are asked for
    shown = _rows(caller, table, offset=80, limit=20)
    assert (shown["total"], len(shown["rows"])) == (90, 10)
    assert shown["rows"][3]["before"] == [str(value) for value in ROWS[83].values()]
    sizes = Counter(tuple(row[name] for name in QI) for row in ROWS)
    mine = [sizes[tuple(row[name] for name in QI)] for row in ROWS]
    assert [one["size"] for one in _rows(caller, table)["rows"]] == mine
    risky = _rows(caller, table, order="risk", show="small", k=2)
    assert risky["total"] == sum(size < 2 for size in mine)
    sorted_ = _rows(caller, table, order="risk")["rows"]
    assert [one["size"] for one in sorted_] == sorted(mine)


def test_original_and_release_side_by_side(caller: Caller) -> None:
    table = _table(caller)
    caller.done(caller.post(f"/api/v1/tables/{table}/anonymize", json={"options": {"k": 3}}))
    text = caller.get(f"/api/v1/tables/{table}/downloads/release.csv").text
    released = list(csv.DictReader(io.StringIO(text)))
    key = caller.post(f"/api/v1/tables/{table}/key", json={"confirm": True}).json()
    origin = key["row_map"]
    shown = _rows(caller, table, limit=100)
    there = [one["name"] for one in shown["columns"] if one["released"]]
    assert there == list(QI)
    after = {origin[i]: row for i, row in enumerate(released)}
    sizes = Counter(tuple(row[name] for name in QI) for row in released)
    for one in shown["rows"]:
        own, now = ROWS[one["row"] - 1], after.get(one["row"] - 1)
        if now is None:
            assert (one["after"], one["size_after"]) == (None, 0)
            continue
        assert one["after"] == [now[name] or None for name in QI]
        assert one["size_after"] == sizes[tuple(now[name] for name in QI)]
        differ = [j for j, name in enumerate(QI) if str(own[name]) != now[name]]
        assert one["changed"] == differ
    changed = _rows(caller, table, show="changed")["total"]
    assert changed == sum(bool(one["changed"]) for one in shown["rows"]) > 0
    made = caller.get(f"/api/v1/tables/{table}/release").json()
    assert "histograms" not in made
    assert [one["column"] for one in made["released"]][:3] == list(QI)


def _german(caller: Caller) -> str:
    """40 people as a German file writes them, two of each day and sex."""
    lines = [f"{1 + i % 10:02d}.05.2010;{'mw'[i // 10 % 2]};{3000 + i},42;{i % 3}" for i in range(40)]
    text = "\n".join(["Aufnahme;Geschlecht;Kosten;Befund", *lines])
    table = caller.table("klinik.csv", text.encode())
    roles = {
        "Aufnahme": "quasi-identifier",
        "Geschlecht": "quasi-identifier",
        "Kosten": "insensitive",
        "Befund": "sensitive",
    }
    assert caller.put(f"/api/v1/tables/{table}/roles", json={"roles": roles}).status_code == 200
    return table


def test_values_are_shown_as_the_file_writes_them(caller: Caller) -> None:
    table = _german(caller)
    assert _rows(caller, table)["rows"][0]["before"] == ["01.05.2010", "m", "3000,42", "0"]
    page = caller.get(f"/t/{table}/columns").text
    for end in ("01.05.2010", "10.05.2010", "3000,42", "3039,42"):
        assert f"<bdi>{end}</bdi>" in page
    asked = {"question": "singling_out", "columns": ["Aufnahme", "Geschlecht"], "reveal": True}
    behind = caller.ask(table, "causes", **asked).json()
    assert behind["groups"][0]["values"][0].endswith(".05.2010")
    one = caller.ask(table, "values", column="Aufnahme", reveal=True).json()["values"][0]
    assert one["value"] == "2010-05-" + one["text"][:2]
    made = {"options": {"k": 2, "keep": {"Aufnahme": 0}}}
    caller.done(caller.post(f"/api/v1/tables/{table}/try", json=made))
    tried = caller.get(f"/t/{table}/tried").text
    assert "Unchanged: <bdi>Kosten</bdi>, <bdi>Befund</bdi>" in tried
    assert ".05.2010</bdi>" in tried
    # Beside the release nothing counts as changed that is only written in another way.
    caller.done(caller.post(f"/api/v1/tables/{table}/anonymize", json=made))
    for row in _rows(caller, table)["rows"]:
        if row["after"] is not None:
            assert [row["after"][i] == row["before"][i] for i in (0, 2, 3)] == [True] * 3
            assert row["changed"] == []
    assert "Unchanged: <bdi>Kosten</bdi>, <bdi>Befund</bdi>" in caller.get(f"/t/{table}/release").text
