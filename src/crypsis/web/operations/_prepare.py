"""What the next questions need, loaded while nobody waits."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.options import EACH_RECORD
from crypsis.web.operations._session import TableSession

_LOADED = (
    "crypsis.web.operations._assess",
    "crypsis.web.operations._plan",
    "crypsis.web.operations._try",
    "sklearn.ensemble",
    "sklearn.linear_model",
)


def prepare(session: TableSession) -> dict[str, Any]:
    """Load the modules, the kernels and the compiler of charts; the rows are not touched."""
    for name in _LOADED:
        import_module(name)
    from crypsis import inference, protection, singling_out
    from crypsis.report.charts.singling_out import class_sizes
    from crypsis.report.figures import figure

    rows = np.arange(120)
    table = pa.table({"x": rows % 12, "y": rows % 2, "z": rows % 5})
    protection.anonymize(
        table, quasi_identifiers=["x", "y"], sensitive="z", person=EACH_RECORD, k=5, excess=0.5
    )
    learned = pa.table({"few": rows % 5, "many": rows * 7 % 15, "number": rows**2, "known": rows % 12})
    inference.prediction_gain(learned, sensitive=["few", "many", "number"])
    figure(class_sizes(singling_out.equivalence_classes(table, ["x", "y"])))
    return {}
