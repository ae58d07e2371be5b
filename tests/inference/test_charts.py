"""Charts of leakage: what they say, and that they can be drawn without a browser."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
import vl_convert

from crypsis.errors import ParameterError
from crypsis.inference import leakage
from crypsis.report.charts import inference as charts

PEOPLE = pa.table(
    {
        "age": ["thirty"] * 4 + ["forty"] * 3,
        "sex": list("fmfmfff"),
        "disease": ["flu", "flu", "gout", "HIV", "flu", "flu", "flu"],
    }
)


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """All data in a chart, wherever it is."""

    def walk(node: Any) -> list[dict[str, Any]]:
        if isinstance(node, dict):
            data = node.get("data")
            own = data.get("values", []) if isinstance(data, dict) else []
            kept = [row for rows in node.get("datasets", {}).values() for row in rows]
            return [*own, *kept, *(row for value in node.values() for row in walk(value))]
        if isinstance(node, list):
            return [row for value in node for row in walk(value)]
        return []

    return walk(chart.to_dict())


def drawn(chart: Any) -> str:
    specification = chart.to_dict()
    assert specification["title"]["text"]
    assert len(specification["description"]) > 40
    svg: str = vl_convert.vegalite_to_svg(json.dumps(specification))
    assert svg.startswith("<svg")
    return svg


def test_risk_by_class() -> None:
    found = leakage(PEOPLE, "disease", ["age"])
    chart = charts.risk_by_class(found)
    svg = drawn(chart)
    assert "class 1" in svg
    assert "flu" not in svg
    assert "forty" not in svg
    assert {row["best_guess"] for row in rows_of(chart) if "class" in row} == {1.0, 0.5}
    revealed = drawn(charts.risk_by_class(found, reveal=True))
    assert "forty: flu" in revealed
    assert len([r for r in rows_of(charts.risk_by_class(found, limit=1)) if "class" in r]) == 1
    with pytest.raises(ParameterError, match="at least 1"):
        charts.risk_by_class(found, limit=0)


def test_contributions() -> None:
    found = leakage(PEOPLE, "disease", ["age", "sex"])
    chart = charts.contributions(found)
    drawn(chart)
    bits = {(row["column"], row["kind"]): row["bits"] for row in rows_of(chart)}
    for one in found.contributions:
        assert bits[one.column, "alone"] == one.alone_bits
        assert bits[one.column, "in addition to the others"] == one.added_bits
