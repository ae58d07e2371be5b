"""Charts say what the numbers say, and can be drawn without a browser."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import vl_convert

from crypsis import singling_out as so
from crypsis.errors import ParameterError
from crypsis.report.charts import singling_out as charts


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    return pa.table(
        {"age": random.integers(18, 80, 500), "zip": random.integers(0, 40, 500), "sex": [0, 1] * 250}
    )


def drawn(chart):
    spec = chart.to_dict()
    assert spec["description"]
    assert vl_convert.vegalite_to_svg(spec).startswith("<svg")
    return spec


def values(spec):
    found = []
    for layer in spec.get("layer", [spec]):
        data = layer.get("data", spec.get("data"))
        found += data["values"] if "values" in data else spec["datasets"][data["name"]]
    return found


def test_the_test_of_figure_1_has_every_set_where_it_belongs(people):
    sets = so.column_sets(people, ["age", "zip", "sex"], population=10_000)
    rows = [row for row in values(drawn(charts.quasi_identifier_test(sets))) if "columns" in row]
    for one in sets:
        points = [row for row in rows if row["columns"] == ", ".join(one.columns)]
        assert points
        assert points[0]["bound"] == pytest.approx(so.uniqueness_bound(one.domain_product, 10_000))
    with pytest.raises(ParameterError):
        charts.quasi_identifier_test(so.column_sets(people, ["age"]))


def test_class_sizes_add_up_to_all_records(people):
    found = so.equivalence_classes(people, ["age", "zip"])
    rows = values(drawn(charts.class_sizes(found)))
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    alone = so.uniqueness(people, ["age", "zip"])
    assert rows[0]["share"] == pytest.approx(alone.fraction)


def test_risk_by_column_set_and_contributions(people):
    found = so.find_quasi_identifiers(people, 0.3)
    rows = values(drawn(charts.risk_by_column_set(found)))
    assert rows[0]["value"] == found.found[0].value
    ranked = values(drawn(charts.contributions(found)))
    assert [row["column"] for row in ranked] == [share.column for share in found.ranking]
    with pytest.raises(ParameterError):
        charts.risk_by_column_set(found, limit=0)
