"""Sampling designs that a measure cannot use."""

from __future__ import annotations

from crypsis.dataset import Dataset
from crypsis.errors import RoleError


def refuse_design(dataset: Dataset) -> None:
    """Raise unless the records may be a simple random sample, of all people or in each stratum.

    >>> import pyarrow as pa
    >>> refuse_design(Dataset.from_frame(pa.table({"w": [2.0, 2.0]}), weight="w"))
    """
    design = [] if dataset.cluster is None else ["clusters"]
    weight, stratum = dataset.weight, dataset.stratum
    if stratum is not None and weight is None:
        design.append("strata without weights")
    elif weight is not None:
        by = [weight] if stratum is None else [stratum, weight]
        different = 1 if stratum is None else dataset.rows.tally([stratum]).distinct
        if dataset.rows.tally(by).distinct > different:
            design.append("unequal weights" + ("" if stratum is None else " within the strata"))
    if design:
        raise RoleError(
            "The models of population uniqueness assume a simple random sample, of all people or in "
            f"each stratum; this one has {', '.join(design)}.",
            code="not-a-simple-random-sample",
            hint="Use unique_match_risk() or loglinear_risk() with {weight}.",
        )
