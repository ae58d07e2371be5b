"""Charts: the numbers they show are those of the results, and each has its words."""

from __future__ import annotations

import numpy as np
import pytest
import vl_convert

from crypsis import pseudonyms as ps
from crypsis.errors import ParameterError, TooLarge
from crypsis.report.charts import pseudonyms as charts

Q = [[0, 0.125, 0.375, 0.5], [0, 0.25, 0.4375, 0.3125], [0.75, 0.125, 0.0625, 0.0625],
     [0.25, 0.5, 0.125, 0.125]]  # fmt: skip


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


def test_belief_map_frames_every_block():
    cells = np.kron(np.eye(3), np.ones((2, 2)))[::-1]
    edges = ps.edge_probabilities(cells)
    spec = drawn(charts.belief_map(edges))
    heat, frames = values(spec, 0), values(spec, 1)
    assert len(heat) == 12
    assert {cell["probability"] for cell in heat} == {0.5}
    assert [(f["from"], f["end"]) for f in frames] == [(0, 2), (2, 4), (4, 6)]
    assert all(f["from"] <= c["item"] < f["end"] for f in frames for c in heat
               if f["from"] <= c["pseudonym"] < f["end"])  # fmt: skip
    large = ps.edge_probabilities(np.kron(np.eye(300), np.ones((2, 2))))
    assert len(values(drawn(charts.belief_map(large)), 0)) <= 40_000


def test_exposed_items_hide_names():
    belief = ps.Belief(Q, truth=[3, 1, 2, 0], items=["Brad", "Claudia", "Mike", "Susan"])
    found = ps.measure(belief)
    spec = drawn(charts.exposed_items(found))
    assert "Brad" not in str(spec)
    assert values(spec)[0]["probability"] == found.most_exposed[0].probability
    assert "Brad" in str(charts.exposed_items(found, reveal=True).to_dict())
    with pytest.raises(ParameterError):
        charts.exposed_items(ps.measure(Q))


def test_crack_chart_exact_and_sampled():
    belief = ps.Belief(Q, truth=[3, 1, 2, 0])
    spec = drawn(charts.crack_chart(ps.crack_distribution(belief)))
    bars = values(spec, 0)
    assert sum(bar["probability"] for bar in bars) == pytest.approx(1)
    assert len(spec["layer"]) == 2
    sampled = ps.crack_distribution(belief, method="sampling")
    assert len(drawn(charts.crack_chart(sampled))["layer"]) == 3


def test_figures_4_9_and_10():
    points = ps.attack_graphs(4)
    assert len(points) == 41
    assert sum(point.graphs for point in points) == 4096
    assert len(values(drawn(charts.graph_points(points)))) == 41
    truths = ps.heuristic_by_truth(Q)
    assert len(truths) == 24
    assert sum(point.heuristic for point in truths) == pytest.approx(24)
    drawn(charts.heuristic_curves(truths))
    errors = ps.random_heuristic_errors(500)
    spec = drawn(charts.heuristic_cloud(errors))
    assert sum(cell["matrices"] for cell in values(spec)) == 500
    with pytest.raises(TooLarge):
        ps.attack_graphs(5)
    with pytest.raises(TooLarge):
        ps.heuristic_by_truth(np.ones((9, 9)))
    with pytest.raises(ParameterError):
        ps.random_heuristic_errors(0)
