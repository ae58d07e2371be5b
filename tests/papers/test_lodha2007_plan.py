"""lodha2007, section 3.1: Examples 6, 7 and 8, and the curse of dimensionality of section 3.2."""

from __future__ import annotations

import numpy as np
import pytest

import crypsis as cr
from crypsis.protection import plan
from crypsis.singling_out import max_cells, values_per_column
from papers.lodha2007 import printed
from papers.lodha2007.examples import census

US = printed.US


def steps(columns: list[str], k: int, beta: float, **options: object) -> dict[str, str]:
    release = cr.Dataset.from_frame(census(), quasi_identifiers=columns, population=US)
    made = plan(release, k=k, beta=beta, **options)  # type: ignore[arg-type]
    product = np.prod([one.values_after for one in made.columns])
    assert product <= max_cells(US, k, beta)
    return {one.name: one.step.describe() for one in made.columns}


def test_example_6_half_year_and_four_digits() -> None:
    found = steps(
        ["gender", "birth", "zipcode"], printed.K, printed.BETA, weights={"birth": 120.0, "zipcode": 10_000.0}
    )
    assert found == {"gender": "as it is", "birth": "half-year only", "zipcode": "first 4 of 5 characters"}
    assert max_cells(US, printed.K, printed.BETA) >= printed.CELLS


def test_example_7_month_and_three_digits() -> None:
    found = steps(["gender", "birth", "zipcode"], printed.K, printed.BETA)
    assert found == {"gender": "as it is", "birth": "month only", "zipcode": "first 3 of 5 characters"}


def test_example_8_hipaa() -> None:
    """75 zip codes without beta, 73.9 with it; two digits would make 100, so one is kept."""
    assert US / (printed.HIPAA_K * 2 * 100) == printed.HIPAA_ZIP_CODES
    allowed = values_per_column(
        max_cells(US, printed.HIPAA_K, printed.BETA), [2, 100, 1e5], weights=[1, 4, 1]
    )
    assert allowed == pytest.approx((2, 100, 73.6), rel=0.01)
    found = steps(["gender", "age", "zipcode"], printed.HIPAA_K, printed.BETA, weights={"age": 4.0})
    assert found == {"gender": "as it is", "age": "as it is", "zipcode": "first 1 of 5 characters"}


def test_section_3_2_twenty_five_columns_keep_two_values_each() -> None:
    shares = values_per_column(max_cells(US, printed.CURSE_K, printed.BETA), [1e6] * printed.CURSE_COLUMNS)
    assert {round(share) for share in shares} == {2}
