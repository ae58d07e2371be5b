"""Charts: their numbers are those of the results, and each has a title and a description."""

from __future__ import annotations

import numpy as np
import pytest
import vl_convert

from crypsis import pseudonyms as ps
from crypsis.errors import ParameterError, TooLargeError
from crypsis.report.charts import pseudonyms as charts
from papers.bagai2017 import attack_graphs
from papers.bagai2017 import charts as paper_charts

Q = [
    [0, 0.125, 0.375, 0.5],
    [0, 0.25, 0.4375, 0.3125],
    [0.75, 0.125, 0.0625, 0.0625],
    [0.25, 0.5, 0.125, 0.125],
]


def drawn(chart):
    """The specification, once it has been drawn without complaint."""
    spec = chart.to_dict()
    assert spec["title"]["text"]
    assert len(spec["description"]) > 40
    assert vl_convert.vegalite_to_svg(chart.to_json()).startswith("<svg")
    return spec


def values(spec, layer=None):
    """The rows of a chart, or of one of its layers."""
    part = spec if layer is None or "data" not in spec["layer"][layer] else spec["layer"][layer]
    return spec["datasets"][part["data"]["name"]]


def test_exposed_items_hide_names():
    belief = ps.Belief(Q, truth=[3, 1, 2, 0], items=["Brad", "Claudia", "Mike", "Susan"])
    found = ps.anonymity(belief)
    spec = drawn(charts.exposed_items(found))
    assert "Brad" not in str(spec)
    assert values(spec)[0]["probability"] == found.most_exposed[0].probability
    assert "Brad" in str(charts.exposed_items(found, reveal=True).to_dict())
    with pytest.raises(ParameterError):
        charts.exposed_items(ps.anonymity(Q))


def test_figures_4_9_and_10_of_bagai2017():
    points = attack_graphs.attack_graphs(4)
    assert len(points) == 41
    assert sum(point.graphs for point in points) == 4096
    assert len(values(drawn(paper_charts.graph_points(points)))) == 41
    truths = attack_graphs.heuristic_by_truth(Q)
    assert len(truths) == 24
    assert sum(point.heuristic for point in truths) == pytest.approx(24)
    drawn(paper_charts.heuristic_curves(truths))
    errors = attack_graphs.random_heuristic_errors(500)
    spec = drawn(paper_charts.heuristic_cloud(errors))
    assert sum(cell["matrices"] for cell in values(spec)) == 500
    with pytest.raises(TooLargeError):
        attack_graphs.attack_graphs(5)
    with pytest.raises(TooLargeError):
        attack_graphs.heuristic_by_truth(np.ones((9, 9)))
    with pytest.raises(ParameterError):
        attack_graphs.random_heuristic_errors(0)
