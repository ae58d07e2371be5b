"""The risk of every record, by each measure that the data allows."""

from __future__ import annotations

from typing import Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.array_types import Floats
from crypsis.counting.cells import Cells
from crypsis.dataset import DESIGN, Data, Dataset, as_seen, takes_roles
from crypsis.errors import ParameterError
from crypsis.options import Columns, MissingValues, Roles
from crypsis.results import Result, raw
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._cover import people_alike
from crypsis.singling_out._household_risk import household_risks
from crypsis.singling_out._records import row_cells
from crypsis.singling_out._risk import expanded_sizes, population_risk, units_alike
from crypsis.singling_out._suda import dis_scores, sampling_fraction_of, score_cells
from crypsis.tables.values import places_among


class RecordRisks(Result, eq=False):
    """The risk of every record, in the order of the data."""

    columns: tuple[str, ...]
    count: int
    measures: tuple[str, ...]
    """The columns of `records`."""
    records: pa.Table = raw()
    """A row for each record: `class_size` and `prosecutor_risk`; with a population or weights
    `population_class_size` and `journalist_risk` (of weights: the individual risk); with households
    `household_risk`; `suda_score`, and with a sampling fraction `dis_suda_score`."""


@takes_roles(without=DESIGN)
def record_risks(
    data: Data,
    columns: Columns | None = None,
    *,
    max_columns: int = 3,
    sampling_fraction: float | None = None,
    **roles: Unpack[Roles],
) -> RecordRisks:
    """Measure the risk of every record by each measure that the data allows.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    max_columns : int
        The size of the largest minimal sample uniques (SUDA).
    sampling_fraction : float, optional
        The sampling fraction of DIS-SUDA; by default from the population or the weights.
    **roles
        See `crypsis.read`. `weight`, `population` and `household` add their measures.

    Returns
    -------
    RecordRisks
        `records` is a table with a row for each record, in the order of the data. A record that is
        dropped for a missing value has missing risks; one without a household has no household
        risk. Missing values as wildcards have no SUDA scores.

    Raises
    ------
    ParameterError
        If the data is on a cluster, where rows have no order.

    Notes
    -----
    The measures are those of `reidentification_risk`, `individual_risk`, `household_risk` and
    `suda`, which have the definitions and the references.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41], "w": [50.0, 50.0, 100.0]})
    >>> found = record_risks(people, ["age"], weight="w")
    >>> [round(risk, 4) for risk in found.records["journalist_risk"].to_pylist()]
    [0.0188, 0.0188, 0.0465]
    """
    dataset = as_seen(data, columns, **roles)
    if not dataset.rows.local:
        raise ParameterError(
            "Rows on a cluster have no order, so there is no list of their risks.",
            code="rows-without-order",
            hint="Use records_at_risk().",
        )
    cells = dataset.cells(quasi_identifiers(dataset, columns))
    _, sizes, person = units_alike(dataset, cells)
    counted = sizes > 0
    risks_of_cells: dict[str, NDArray[np.generic]] = {
        "class_size": sizes,
        "prosecutor_risk": 1 / np.maximum(sizes, 1),
    }
    risk = population_risk(dataset, cells, sizes, person)
    if risk is not None:
        risks_of_cells["population_class_size"] = (
            people_alike(cells, dataset.population)
            if isinstance(dataset.population, Dataset)
            else expanded_sizes(dataset, cells, person)
        )
        risks_of_cells["journalist_risk"] = risk
    risks_of_cells |= _suda_scores(dataset, cells, max_columns, sampling_fraction)
    needed = [*cells.columns, *([dataset.household] if dataset.household else [])]
    table = dataset.to_arrow(needed)
    cell = row_cells(table, cells)
    risks = {name: pa.array(of_cells[cell], mask=~counted[cell]) for name, of_cells in risks_of_cells.items()}
    if dataset.household is not None:
        risks["household_risk"] = _of_households(dataset, cells, table)
    return RecordRisks(cells.columns, table.num_rows, tuple(risks), pa.table(risks))


def _suda_scores(
    dataset: Dataset, cells: Cells, max_columns: int, stated_fraction: float | None
) -> dict[str, Floats]:
    if cells.missing is MissingValues.WILDCARD and cells.missing_mask.any():
        return {}
    scores = score_cells(cells, max_columns).scores
    fraction = sampling_fraction_of(dataset, cells, stated_fraction)
    dis = {} if fraction is None else {"dis_suda_score": dis_scores(cells, scores, fraction)}
    return {"suda_score": scores, **dis}


def _of_households(dataset: Dataset, cells: Cells, table: pa.Table) -> pa.Array:
    """The risk of each record's household; missing where the household is, or has no members."""
    total, members = household_risks(dataset, cells)
    homes = dataset.cells([str(dataset.household)])
    position = places_among(table[dataset.household], homes.values[0])
    return pa.array(total[position], mask=members[position] == 0)
