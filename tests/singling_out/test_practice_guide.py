"""The worked examples of the SDC Practice Guide, chapter Measuring Risk, with its printed numbers.

Benschop, Machingauta & Welch, Statistical Disclosure Control for Microdata: A Practice Guide.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from crypsis import Dataset, inference
from crypsis import singling_out as so
from crypsis.singling_out._suda import dis_scores, score_cells

KEYS = ["residence", "gender", "education", "labor"]
ROWS = [
    ("Urban", "Female", "Secondary incomplete", "Employed", 180, "yes"),
    ("Urban", "Female", "Secondary incomplete", "Employed", 180, "yes"),
    ("Urban", "Female", "Primary incomplete", "Non-LF", 215, "yes"),
    ("Urban", "Male", "Secondary complete", "Employed", 76, "yes"),
    ("Rural", "Female", "Secondary complete", "Unemployed", 186, "yes"),
    ("Urban", "Male", "Secondary complete", "Employed", 76, "no"),
    ("Urban", "Female", "Primary complete", "Non-LF", 180, "no"),
    ("Urban", "Male", "Post-secondary", "Unemployed", 215, "yes"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF", 186, "no"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF", 76, "yes"),
]
TABLE = pa.table(dict(zip([*KEYS, "weight", "health"], map(list, zip(*ROWS, strict=True)), strict=True)))


def test_frequencies_and_individual_risk():
    """Table 4.1 and the risk slot of the sdcMicro object."""
    found = so.record_risks(TABLE, KEYS, weight="weight").records
    assert found["class_size"].to_pylist() == [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    expanded = [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]
    assert found["population_class_size"].to_pylist() == expanded
    printed = [
        0.005424520,
        0.005424520,
        0.025096439,
        0.012563425,
        0.028247279,
        0.012563425,
        0.029010932,
        0.025096439,
        0.007403834,
        0.007403834,
    ]
    assert found["journalist_risk"].to_pylist() == pytest.approx(printed, abs=5e-10)


def test_global_risk():
    """The mean, the expected number of re-identifications, and the records above 5 %."""
    found = so.individual_risk(TABLE, KEYS, weight="weight", threshold=0.05)
    assert found.average == pytest.approx(0.01582, abs=5e-6)
    assert found.expected == pytest.approx(0.1582, abs=5e-5)
    assert found.share_above == 0


def test_k_anonymity():
    """4 observations violate 2-anonymity, all 10 violate 3-anonymity."""
    found = so.equivalence_classes(TABLE, KEYS)
    assert (found.records_below(2), found.records_below(3)) == (4, 10)


def test_missing_values_match_every_value():
    """Table 4.2."""
    table = pa.table(
        {
            "gender": ["Male"] * 3,
            "education": ["Secondary complete", "Secondary incomplete", None],
            "labor": ["Employed"] * 3,
        }
    )
    found = so.record_risks(table, table.column_names, missing="wildcard").records
    assert found["class_size"].to_pylist() == [2, 2, 3]


def test_l_diversity():
    """Table 4.3: the fewest values of the health status are 1."""
    found = inference.l_diversity(TABLE, quasi_identifiers=KEYS, sensitive="health")
    assert found.distinct == 1


def test_suda_and_dis_suda():
    """Table 4.5: record 5 has four minimal sample uniques and the score 6 + 2 + 2 + 2."""
    found = so.record_risks(TABLE, KEYS, max_columns=3, sampling_fraction=0.01).records
    assert found["suda_score"].to_pylist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    # As sdcMicro 5.8.1 has them for these scores. Those that are printed are of its other scores
    # (original_scores = FALSE): 1.75, 3.25 and 2.75 instead of 6, 12 and 10.
    ours = [0, 0, 0.0049867977, 0, 0.0113830065, 0, 0.0049867977, 0.0091666789, 0, 0]
    assert found["dis_suda_score"].to_pylist() == pytest.approx(ours, abs=5e-8)
    cells = Dataset.from_frame(TABLE).cells(KEYS)
    other = {0: 0.0, 6: 1.75, 12: 3.25, 10: 2.75}
    scores = np.array([other[score] for score in score_cells(cells, 3).scores.tolist()])
    printed = sorted(dis_scores(cells, scores, 0.01)[scores > 0].tolist())
    assert printed == pytest.approx([0.0051, 0.0051, 0.0088, 0.0107], abs=5e-5)
