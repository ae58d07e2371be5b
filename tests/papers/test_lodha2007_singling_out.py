"""lodha2007, sections 2, 3 and 5.1: the worked examples, Fig. 1 and all of Fig. 3."""

from __future__ import annotations

import math

import pytest

import crypsis as cr
from crypsis import singling_out as so
from papers.lodha2007 import printed

POPULATION, COLUMNS = printed.US, printed.COLUMNS
DOMAINS = dict(zip(COLUMNS, printed.DOMAINS, strict=True))
# Row: the columns marked x, then S, F1, D, F2 and k-Anon as printed.
FIGURE_3 = {row: (places, *map(float, rest)) for row, (places, *rest) in printed.FIGURE_3.items()}


@pytest.fixture(scope="module")
def figure_3(adult: cr.Dataset) -> dict[int, so.ColumnSet]:
    """The twelve rows as computed: S and F1 from the file, the rest from the printed domains."""
    every = so.column_sets(adult, COLUMNS, alpha=printed.ALPHA, population=POPULATION, domains=DOMAINS)
    assert len(every) == 1023
    by_columns = {one.columns: one for one in every}
    return {row: by_columns[tuple(COLUMNS[place - 1] for place in line[0])] for row, line in FIGURE_3.items()}


@pytest.mark.parametrize("row", FIGURE_3)
def test_figure_3(figure_3: dict[int, so.ColumnSet], row: int) -> None:
    _, singletons, f1, distinct, f2, k = FIGURE_3[row]
    ours = figure_3[row]
    assert (ours.singletons, ours.rows) == (singletons, printed.ADULT_ROWS)
    assert ours.unique_fraction == pytest.approx(singletons / printed.ADULT_ROWS)
    # The printed figures are rounded to one or two digits (and row 10 prints n/D = 372 as 380).
    assert ours.unique_fraction == pytest.approx(f1, rel=0.06)
    assert ours.domain_product == pytest.approx(math.prod(DOMAINS[c] for c in ours.columns))
    assert ours.domain_product == pytest.approx(distinct, rel=0.05)
    assert ours.bound == pytest.approx(f2, rel=0.04)
    assert ours.mean_class_size == pytest.approx(k, rel=0.07)


def test_section_5_1_publish_or_suppress(figure_3: dict[int, so.ColumnSet]) -> None:
    by_release = [row for row, one in figure_3.items() if one.unique_fraction >= one.alpha]
    by_population = [row for row, one in figure_3.items() if (one.population_bound or 0) >= one.alpha]
    by_paper = [row for row, one in figure_3.items() if one.bound is not None and one.bound >= printed.ALPHA]
    assert by_release == list(printed.QUASI_IDENTIFIERS["F1"])
    assert by_population == by_paper == list(printed.QUASI_IDENTIFIERS["F2"])
    assert [row for row, one in figure_3.items() if not one.publish] == [12]
    assert {one.measure for one in figure_3.values()} == {"F2"}


def test_section_5_1_row_12_is_tighter_with_correlations(figure_3: dict[int, so.ColumnSet]) -> None:
    row = figure_3[12]
    # "many combinations are rare and do not occur": the share of unique people cannot exceed that
    # of unique rows in a random sample, which is 0.76.
    assert row.population_bound is not None
    assert 0.76 < row.population_bound < 0.78


def test_figure_1_quasi_identifier_test() -> None:
    n = 1e6
    assert so.uniqueness_bound(n, n) == pytest.approx(1 / math.e)
    slope = (so.uniqueness_bound(1.001 * n, n) - so.uniqueness_bound(0.999 * n, n)) / 0.002
    assert slope == pytest.approx(1 / math.e, rel=1e-3)
    assert so.uniqueness_bound(0.5 * n, n) == pytest.approx(0.5 / math.e)
    assert so.uniqueness_bound(3 * n, n) < 0.75 < so.uniqueness_bound(3.6 * n, n)


def test_theorem_3_and_below_one_over_e() -> None:
    for alpha in (0.01, 0.2, 1 / math.e, 0.5, 0.75, 0.99):
        cells = so.min_cells(3e8, alpha)
        assert so.uniqueness_bound(cells, 3e8) == pytest.approx(alpha, rel=1e-12)
    assert so.min_cells(3e8, 0.5) == pytest.approx(3e8 / math.log(2))


def test_example_6_cells_of_100_people() -> None:
    exact = so.max_cells(POPULATION, printed.K, printed.BETA)
    x = -math.log(0.1) / 99
    assert exact == pytest.approx(3e8 / 99 * (1 + x - math.sqrt(x * x + 2 * x)), rel=1e-12)
    assert POPULATION / 125 == printed.CELLS < exact
    assert printed.CELLS == 2 * 120 * 1e4  # gender, half-year of birth, four digits of the code


def test_example_7_values_per_column() -> None:
    equal = so.values_per_column(printed.CELLS, [math.inf] * 3)
    assert equal == pytest.approx([printed.CELLS ** (1 / 3)] * 3)
    gender, birth, zip_code = so.values_per_column(printed.CELLS, [2, 2e4, 1e5])
    assert gender == 2
    assert birth == zip_code == pytest.approx(math.sqrt(printed.CELLS / 2))


def test_example_8_zip_codes_under_hipaa() -> None:
    mean = POPULATION / printed.HIPAA_K
    assert mean / (2 * 100) == printed.HIPAA_ZIP_CODES
    chernoff = so.max_cells(POPULATION, printed.HIPAA_K, printed.BETA)
    assert chernoff < so.max_cells(POPULATION, printed.HIPAA_K, printed.BETA, exact=True) < mean


def test_section_3_2_curse_of_dimensionality() -> None:
    for cells in (POPULATION / printed.CURSE_K, so.max_cells(POPULATION, printed.CURSE_K, printed.BETA)):
        values = so.values_per_column(cells, [math.inf] * printed.CURSE_COLUMNS)
        assert {round(d) for d in values} == {2}
    slack = 1 - so.max_cells(POPULATION, printed.CURSE_K, printed.BETA) * printed.CURSE_K / POPULATION
    assert slack == pytest.approx(0.45, abs=0.005)
