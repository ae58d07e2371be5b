"""Estimates of surveys against textbook formulas and drawn samples; indicators that pass and fail."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from crypsis import utility
from crypsis.errors import ColumnError, ParameterError, SourceError
from crypsis.results import Estimate
from crypsis.utility._survey_estimates import (
    Design,
    interval_overlap,
    weighted_mean,
    weighted_quantile,
    weighted_regression,
    weighted_total,
)

Z = 1.959963984540054


def plain(rows, weight=1.0):
    return Design(np.full(rows, weight), np.zeros(rows, np.int64), np.arange(rows))


def test_a_simple_random_sample_has_the_variance_of_the_textbook():
    y = np.random.default_rng(1).normal(5, 2, 50)
    found = weighted_mean(y, plain(50, 7.0), 0.95)
    assert found == pytest.approx(y.mean())
    assert found.high - found == pytest.approx(Z * y.std(ddof=1) / math.sqrt(50))
    total = weighted_total(y, plain(50, 7.0), 0.95)
    assert total == pytest.approx(7 * y.sum())
    assert total.high - total == pytest.approx(Z * 7 * 50 * y.std(ddof=1) / math.sqrt(50))


def test_strata_and_clusters_by_hand():
    y = np.array([1.0, 2.0, 4.0, 8.0, 3.0, 5.0])
    weight = np.array([2.0, 2.0, 2.0, 2.0, 3.0, 3.0])
    stratum, cluster = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2, 3])
    total = weighted_total(y, Design(weight, stratum, cluster), 0.95)
    first = 2 * ((6 - 15) ** 2 + (24 - 15) ** 2)  # clusters of 6 and 24: n / (n-1) = 2
    second = 2 * ((9 - 12) ** 2 + (15 - 12) ** 2)
    assert total == 54
    assert total.high - total == pytest.approx(Z * math.sqrt(first + second))


def test_regression_is_least_squares_with_its_sandwich():
    random = np.random.default_rng(2)
    x = np.column_stack([np.ones(200), random.normal(size=200)])
    y = x @ [1.0, 2.0] + random.normal(size=200) * (1 + np.abs(x[:, 1]))
    found = weighted_regression(y, x, plain(200), 0.95)
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    inverse = np.linalg.inv(x.T @ x)
    scores = (y - x @ beta)[:, None] * x
    spread = np.sqrt(np.diag(inverse @ (scores.T @ scores) @ inverse) * 200 / 199)
    assert list(found) == pytest.approx(beta.tolist())
    assert [one.high - one for one in found] == pytest.approx((Z * spread).tolist())
    assert weighted_regression(y, np.column_stack([x, x[:, 1]]), plain(200), 0.95) is None


def test_quantiles_count_weights():
    y = np.array([1.0, 2.0, 3.0, 4.0])
    design = Design(np.array([1.0, 1.0, 1.0, 5.0]), np.zeros(4, np.int64), np.arange(4))
    assert weighted_quantile(y, 0.5, design, 0.95) == 4
    assert weighted_quantile(y, 0.25, design, 0.95) == 2
    assert weighted_quantile(y, 0.5, plain(4), 0.95) == 2


@pytest.mark.parametrize("estimate", ["mean", "quantile", "total"])
def test_intervals_cover_in_a_stratified_cluster_sample(estimate):
    """Clusters drawn within two strata with different fractions, 300 times."""
    random = np.random.default_rng(9)
    clusters = [200, 300]
    people = [random.normal(h, 1, (n, 1)) + random.normal(0, 1, (n, 8)) for h, n in enumerate(clusters)]
    every = np.concatenate([part.ravel() for part in people])
    truth = {"mean": every.mean(), "total": every.sum(), "quantile": np.median(every)}[estimate]
    covered = 0
    for _ in range(300):
        y, weight, stratum, cluster = [], [], [], []
        for h, drawn in enumerate((40, 20)):
            for place in random.choice(clusters[h], drawn, replace=False):
                y.append(people[h][place])
                weight.append(np.full(8, clusters[h] / drawn))
                stratum.append(np.full(8, h))
                cluster.append(np.full(8, h * 1000 + place))
        design = Design(*(np.concatenate(part) for part in (weight, stratum, cluster)))
        values = np.concatenate(y)
        found = (
            weighted_quantile(values, 0.5, design, 0.95)
            if estimate == "quantile"
            else weighted_mean(values, design, 0.95)
            if estimate == "mean"
            else weighted_total(values, design, 0.95)
        )
        covered += found.low <= truth <= found.high
    assert 0.91 <= covered / 300 <= 0.99


def test_overlap_of_intervals():
    one = Estimate(5, 4, 6)
    assert interval_overlap(one, one) == 1
    assert interval_overlap(one, Estimate(6, 5, 7)) == 0.5
    assert interval_overlap(one, Estimate(5, 3, 7)) == pytest.approx((1 + 0.5) / 2)
    assert interval_overlap(one, Estimate(9, 8, 10)) < 0
    assert interval_overlap(Estimate(5, 5, 5), Estimate(5, 5, 5)) == 1
    assert interval_overlap(Estimate(5, 5, 5), Estimate(6, 6, 6)) == 0


@pytest.fixture(scope="module")
def survey():
    random = np.random.default_rng(4)
    rows = 600
    region = random.choice(["n", "s"], rows)
    age = random.integers(18, 80, rows)
    return pa.table(
        {
            "income": 20 + age * 0.5 + 10 * (region == "s") + random.normal(0, 8, rows),
            "age": age,
            "job": random.choice(["cook", "clerk", "judge"], rows, p=[0.6, 0.35, 0.05]),
            "region": region,
            "w": np.where(region == "n", 10.0, 25.0),
        }
    )


FILE = """
[[indicators]]
name = "mean income"
estimate = "mean"
columns = ["income"]
by = "region"
least_overlap = 0.9

[[indicators]]
name = "median income"
estimate = "quantile"
quantile = 0.5
columns = ["income"]
largest_change = 0.02

[[indicators]]
name = "jobs by region"
estimate = "share"
columns = ["region", "job"]
least_overlap = 0.8

[[indicators]]
name = "income by age"
estimate = "regression"
columns = ["income", "age"]
least_overlap = 0.5
"""


def test_a_file_that_did_not_change_passes(survey, tmp_path: Path):
    file = tmp_path / "indicators.toml"
    file.write_text(FILE)
    found = utility.check_indicators(survey, survey, file, weight="w", stratum="region")
    assert found.passed
    assert found.checked == 2 + 1 + 6 + 2
    assert all(one.overlap == 1 and one.change == 0 for one in found.results)
    assert found.results[0].group == ("n",)
    assert "judge" not in str(found)
    assert "pass: 0 of 11" in str(found)


def test_what_a_mask_destroys_fails(survey, tmp_path: Path):
    file = tmp_path / "indicators.toml"
    file.write_text(FILE)
    random = np.random.default_rng(0)
    order = random.permutation(survey.num_rows)
    moved = survey.set_column(0, "income", survey["income"].take(pa.array(order)))
    found = utility.check_indicators(survey, moved, file, weight="w", stratum="region")
    failed = {one.name for one in found.results if not one.passed}
    assert failed == {"mean income", "income by age"} | (failed & {"median income"})
    slope = next(one for one in found.results if one.group == ("age",))
    assert "the overlap is" in slope.why
    kept = survey.filter(pa.array([job != "judge" for job in survey["job"].to_pylist()]))
    found = utility.check_indicators(survey, kept, file, weight="w", stratum="region")
    gone = [one for one in found.results if "judge" in one.group]
    assert len(gone) == 2
    assert not any(one.passed for one in gone)
    assert all(float(one.masked) == 0 for one in gone)


def test_what_cannot_be_estimated_fails_with_its_reason(survey):
    mean = {"name": "age", "estimate": "mean", "columns": ["age"], "largest_change": 0.5}
    labels = survey.set_column(1, "age", pa.array(["18-80"] * 600))
    (one,) = utility.check_indicators(survey, labels, [mean]).results
    assert (one.passed, one.masked) == (False, None)
    assert "not numeric" in one.why
    (one,) = utility.check_indicators(survey, survey.drop_columns(["age"]), [mean]).results
    assert not one.passed
    (one,) = utility.check_indicators(survey, survey.drop_columns(["w"]), [mean], weight="w").results
    assert not one.passed
    blank = survey.set_column(1, "age", pa.array([math.nan] * 600))
    (one,) = utility.check_indicators(survey, blank, [mean]).results
    assert one.why == "It cannot be estimated in the masked file."


def test_mistakes_are_named(survey, tmp_path: Path):
    good = {"name": "x", "estimate": "mean", "columns": ["age"], "largest_change": 0.5}
    wrong = [
        ({**good, "columns": ["age", "income"]}, ParameterError, "needs 1 to 1 columns"),
        ({**good, "largest_change": None}, ParameterError, "least_overlap"),
        ({**good, "estimate": "quantile"}, ParameterError, "quantile"),
        ({**good, "columns": ["agee"]}, ColumnError, "agee"),
        ({**good, "columns": ["job"]}, ColumnError, "not numeric"),
    ]
    for one, error, text in wrong:
        with pytest.raises(error, match=text):
            utility.check_indicators(survey, survey, [one])
    file = tmp_path / "indicators.toml"
    file.write_text('[[indicators]]\nname = "x"\nestimate = "mode"\ncolumns = ["age"]\n')
    with pytest.raises(SourceError, match="estimate"):
        utility.check_indicators(survey, survey, file)
    with pytest.raises(ParameterError, match="confidence"):
        utility.check_indicators(survey, survey, [good], confidence=2)
