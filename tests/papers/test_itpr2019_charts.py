"""Charts of itpr2019: what they show, and that they can be drawn without a browser."""

from __future__ import annotations

import json
from typing import Any

import pytest
import vl_convert

from crypsis.errors import ParameterError
from papers.itpr2019 import charts
from papers.itpr2019.metric_judgment import compare_metrics
from papers.itpr2019.sweeps import epsilon_sweep, risk_surface


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


def test_sweep_has_every_metric_at_every_point() -> None:
    result = epsilon_sweep(points=5)
    chart = charts.sweep(result)
    svg = drawn(chart)
    for name in result.metrics:
        assert f">{name}<" in svg
    assert len(rows_of(chart)) == 6 * len(result.at)
    panels = chart.to_dict()["vconcat"]
    assert len(panels) == 2


def test_surface() -> None:
    result = risk_surface(points=3)
    chart = charts.surface(result)
    drawn(chart)
    assert len(rows_of(chart)) == 9


def test_judgments() -> None:
    chart = charts.judgments(compare_metrics())
    svg = drawn(chart)
    assert svg.count(">(✓)</text>") == 5
    assert svg.count(">✗</text>") == 5
    assert svg.count(">✓</text>") == 2
    with pytest.raises(ParameterError, match="no judgment"):
        charts.judgments([])
