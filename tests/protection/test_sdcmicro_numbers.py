"""Numbers of sdcMicro 5.8.1 on files that it comes with; the files are not part of the project."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from crypsis import linkage
from crypsis.protection import masking


@pytest.mark.parametrize(
    ("name", "squares", "risk"), [("Tarragona", 791.5772, 0.2050359712), ("CASCrefmicrodata", 411.0995, 0.0)]
)
def test_mdav_has_the_squares_and_the_interval_risk(
    data_folder: Path, name: str, squares: float, risk: float
) -> None:
    """microaggregation(x, method = "mdav", aggr = 5) and dRisk of the first six columns."""
    table = csv.read_csv(data_folder / "casc" / f"{name}.csv")
    names = [one for one in table.column_names if one][-13:][:6]
    table = pa.table({one: table[one].cast(pa.float64()) for one in names})
    before = np.column_stack([np.asarray(column) for column in table.columns])
    made = masking.mdav(table, names, k=5, exact=True)
    after = np.column_stack([np.asarray(column) for column in made.columns])
    scaled = (before - after) / before.std(axis=0, ddof=1)
    assert (scaled**2).sum() == pytest.approx(squares, abs=6e-5)
    assert linkage.interval_risk(before, after).share == pytest.approx(risk, abs=1e-10)
