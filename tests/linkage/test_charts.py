"""Charts draw the numbers of the results, with titles and a description for everyone."""

from __future__ import annotations

import numpy as np
import pytest
import vl_convert

from crypsis import linkage
from crypsis.report.charts import linkage as charts


@pytest.fixture(scope="module")
def found() -> linkage.Comparison:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 3))
    return linkage.compare(x, x + 0.2 * rng.normal(size=x.shape))


def values(chart: object) -> list[dict]:
    content = chart.to_dict()  # type: ignore[attr-defined]
    return next(iter(content["datasets"].values()))


def test_every_chart_has_title_description_and_a_picture(found: linkage.Comparison) -> None:
    assert found.frontier is not None
    assert found.verification.dependent is not None
    drawn = [
        charts.match_distances(found.verification.independent),
        charts.match_distances(found.verification.dependent),
        charts.noise(found.noise),
        charts.column_distances(found.link),
        charts.links(found.intruders),
        charts.subsets(found.subsets),
        charts.frontier(found.frontier),
    ]
    for chart in drawn:
        content = chart.to_dict()
        assert content["title"]["text"]
        assert len(content["description"]) > 40
        assert vl_convert.vegalite_to_svg(chart.to_json()).startswith("<svg")


def test_match_distances_draws_the_bins(found: linkage.Comparison) -> None:
    null = found.verification.independent
    drawn = values(charts.match_distances(null))
    for name, field in (("originals", "originals"), ("null distribution", "random")):
        shares = [row["share"] for row in drawn if row["series"] == name]
        assert shares == [getattr(row, field) for row in null.bins]


def test_links_draws_all_records(found: linkage.Comparison) -> None:
    drawn = values(charts.links(found.intruders))
    for name, link in found.intruders:
        mine = {row["link"]: row["records"] for row in drawn if row["intruder"] == name}
        assert sum(mine.values()) == 150
        assert mine["true match"] == link.true_matches


def test_noise_is_in_standard_deviations(found: linkage.Comparison) -> None:
    drawn = values(charts.noise(found.noise))
    first = found.noise[0]
    assert first.noise is not None
    assert first.standard_deviation is not None
    assert drawn[0]["size"] == first.noise / first.standard_deviation
