"""A survey on the page: weights, strata and clusters, and a journalist risk that is required."""

from __future__ import annotations

import io
import json
from html import unescape

import numpy as np
import pyarrow as pa
import pyarrow.csv

from tests.web.conftest import Caller


def _survey() -> bytes:
    generator = np.random.default_rng(1)
    table = pa.table(
        {
            "age": generator.integers(20, 40, 200),
            "sex": generator.choice(["f", "m"], 200),
            "region": generator.choice(["n", "s"], 200),
            "psu": generator.integers(0, 20, 200),
            "w": generator.uniform(5, 15, 200).round(1),
        }
    )
    buffer = io.BytesIO()
    pa.csv.write_csv(table, buffer)
    return buffer.getvalue()


def test_the_design_of_a_survey_reaches_the_assessment_and_the_release(caller: Caller) -> None:
    table = caller.table("survey.csv", _survey())
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier"}
    roles |= dict.fromkeys(("region", "psu", "w"), "insensitive")
    caller.put(f"/api/v1/tables/{table}/roles", json={"roles": roles})
    body = {"weight": "w", "stratum": "region", "cluster": "psu"}
    caller.done(caller.post(f"/api/v1/tables/{table}/assess", json=body))
    report = caller.get(f"/api/v1/tables/{table}/downloads/report.json").text
    found = json.loads(report)["result"]
    assert [found["parameters"][name] for name in body] == ["w", "region", "psu"]
    # What was chosen is chosen still, also once another role has discarded the verdict.
    again = {"roles": {"psu": "excluded"}, "discard": True}
    for _ in range(2):
        page = caller.get(f"/t/{table}/verdict").text
        assert [page.count(f"<option selected>{name}</option>") for name in body.values()] == [1] * 3
        caller.put(f"/api/v1/tables/{table}/roles", json=again)
    assert json.dumps(body, sort_keys=True) in unescape(caller.get(f"/t/{table}/columns").text)
    assert caller.get(f"/api/v1/tables/{table}/choices").json()["fields"]["weight"] == "w"
    options = {"k": 2, "weight": "w", "journalist_risk": 0.05}
    caller.done(caller.post(f"/api/v1/tables/{table}/anonymize", json={"options": options}))
    statement = caller.get(f"/api/v1/tables/{table}/downloads/release.csv.statement.json").text
    measured = json.loads(statement)["measured"]
    assert measured["journalist_risk"] <= 0.05
