"""Sampling designs that a measure cannot use."""

from __future__ import annotations

from crypsis.dataset import Dataset
from crypsis.errors import RoleError


def refuse_design(dataset: Dataset) -> None:
    """Raise unless the records may be a simple random sample: equal weights, no strata or clusters.

    >>> import pyarrow as pa
    >>> refuse_design(Dataset.from_frame(pa.table({"w": [2.0, 2.0]}), weight="w"))
    """
    parts = {"strata": dataset.stratum, "clusters": dataset.cluster}
    given = [name for name, column in parts.items() if column is not None]
    weight = dataset.weight
    if weight is not None and dataset.rows.tally([weight]).distinct > 1:
        given.append("unequal weights")
    if given:
        raise RoleError(
            f"The models of population uniqueness assume a simple random sample; this one has "
            f"{', '.join(given)}. A log-linear model can use the weights.",
            code="not-a-simple-random-sample",
            hint="Use loglinear_risk() with {weight}.",
        )
