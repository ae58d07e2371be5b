"""Charts of utility: they render and have descriptions."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
import vl_convert

from crypsis.errors import ParameterError
from crypsis.protection import quantile_groups
from crypsis.report.charts import utility as charts
from crypsis.utility import column_changes, normalized_error
from papers.lodha2007.trade_off import trade_off_chart


def test_trade_off() -> None:
    x = np.random.default_rng(0).random(5_000)
    errors = [
        normalized_error(x, quantile_groups(x, x.size // b).transformed("mean")) for b in (2, 5, 10, 50)
    ]
    chart = trade_off_chart(errors)
    spec = chart.to_dict()
    points = spec["datasets"][spec["layer"][1]["data"]["name"]]
    assert [point["groups"] for point in points] == [2, 5, 10, 50]
    assert spec["description"]
    assert vl_convert.vegalite_to_png(json.dumps(spec))[:4] == b"\x89PNG"
    with pytest.raises(ParameterError):
        trade_off_chart([])


def test_before_and_after() -> None:
    after = pa.table({"a": ["1-2", "1-2", "3-4", "3-4"]})
    table = column_changes(pa.table({"a": [1, 2, 3, 4]}), after)
    spec = charts.before_and_after(table).to_dict()
    values = spec["layer"][0]["data"]["values"] if "data" in spec["layer"][0] else spec["data"]["values"]
    assert [row["bits"] for row in values] == [2.0, 1.0]
    assert vl_convert.vegalite_to_png(json.dumps(spec))[:4] == b"\x89PNG"
