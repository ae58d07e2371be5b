"""Membership in a population: k-map and delta-presence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis.dataset import SAMPLE, Data, Dataset, as_dataset, takes_roles
from crypsis.errors import RoleError
from crypsis.hierarchies import Hierarchy
from crypsis.options import Columns, Roles
from crypsis.results import Result
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._cover import people_alike


class DeltaPresence(Result):
    """How probable it is that a member of the population is in the data."""

    columns: tuple[str, ...]
    k_map: int
    """The smallest number of people of the population that match a record."""
    low: float
    """The smallest probability of presence in the population."""
    high: float
    """The largest probability of presence in the population: delta."""
    unmatched: int
    """Records that match nobody in the population; above zero, it is not their population."""


@takes_roles(without=SAMPLE)
def delta_presence(
    data: Data,
    columns: Columns | None = None,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    **roles: Unpack[Roles],
) -> DeltaPresence:
    """Measure delta-presence and k-map of data against the table of its population.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    hierarchies : mapping of str to Hierarchy, optional
        The hierarchies whose labels the release has; a label covers the values below it. Intervals,
        prefixes and dates are read without one.
    **roles
        See `crypsis.read`. `population` is the table of the population.

    Returns
    -------
    DeltaPresence
        The smallest and the largest probability of presence, and k-map.

    Raises
    ------
    RoleError
        If `population` is not a table.

    References
    ----------
    Nergiz, Atzori & Clifton (2007), Hiding the presence of individuals from shared databases.
    Sweeney (2002), k-anonymity: a model for protecting privacy (k-map).

    Examples
    --------
    >>> import pyarrow as pa
    >>> everyone = pa.table({"age": [30, 30, 30, 41, 41, 52]})
    >>> found = delta_presence(pa.table({"age": [30, 41]}), ["age"], population=everyone)
    >>> found.k_map, found.low, found.high
    (2, 0.0, 0.5)
    """
    dataset = as_dataset(data, **roles)
    everyone = dataset.population
    if not isinstance(everyone, Dataset):
        raise RoleError(
            "k-map and delta-presence need the table of the population, not only its size.",
            code="population-is-not-a-table",
            hint="Set {population} to a table.",
        )
    cells = dataset.cells(quasi_identifiers(dataset, columns))
    population_cells = everyone.cells(cells.columns)
    matches = people_alike(cells, everyone, hierarchies)
    here = cells.class_sizes > 0
    has_people = population_cells.class_sizes > 0
    share = np.minimum(cells.class_sizes[here] / np.maximum(matches[here], 1), 1.0)
    if int(matches[here].sum()) < int(
        population_cells.counts[has_people].sum()
    ):  # a person matches no record
        share = np.append(share, 0.0)
    return DeltaPresence(
        cells.columns,
        int(matches[here].min(initial=int(population_cells.counts.sum()))),
        float(share.min(initial=1.0)),
        float(share.max(initial=0.0)),
        int(cells.counts[here & (matches == 0)].sum()),
    )


def population_class_sizes(data: Dataset, columns: Columns) -> NDArray[np.int64]:
    """The people of the population that match each class of the release, generalized or not.

    Parameters
    ----------
    data : Dataset
        The release, with the table of its population.
    columns : str or sequence of str
        The columns.

    Returns
    -------
    numpy.ndarray
        In the order of `Dataset.cells`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> everyone = pa.table({"age": [30, 33, 38, 41]})
    >>> release = Dataset.from_frame(pa.table({"age": ["30-39", ">=40"]}), population=everyone)
    >>> sorted(population_class_sizes(release, ["age"]).tolist())
    [1, 3]
    """
    if not isinstance(data.population, Dataset):
        raise RoleError(
            "The population is not a table.",
            code="population-is-not-a-table",
            hint="Set {population} to a table.",
        )
    return people_alike(data.cells(quasi_identifiers(data, columns)), data.population)


@takes_roles(without=SAMPLE)
def k_map(data: Data, columns: Columns | None = None, **roles: Unpack[Roles]) -> int:
    """Measure k-map: the smallest number of people of the population that match a record.

    Parameters
    ----------
    data, columns, **roles
        See `delta_presence`.

    Returns
    -------
    int
        k; 0 where a record matches nobody.

    Examples
    --------
    >>> import pyarrow as pa
    >>> k_map(pa.table({"age": [30, 41]}), "age", population=pa.table({"age": [30, 30, 41, 41]}))
    2
    """
    return delta_presence(data, columns, **roles).k_map
