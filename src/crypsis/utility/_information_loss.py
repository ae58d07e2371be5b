"""Information loss of generalization: NCP, discernibility, average class size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from crypsis.dataset import SAMPLE, Data, Dataset, as_columns, as_dataset, takes_roles
from crypsis.errors import ColumnError, ParameterError
from crypsis.hierarchies import Hierarchy, HierarchyGapError
from crypsis.hierarchies.labels import as_text
from crypsis.options import Columns, Roles
from crypsis.utility._column_changes import shared_columns


def information_loss(
    original: Data,
    masked: Data,
    columns: Columns | None = None,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> float:
    """The normalized certainty penalty (NCP), averaged over records and columns (GCP).

    Parameters
    ----------
    original, masked : Dataset, frame or path
        The file and what was made of it.
    columns : str or sequence of str, optional
        The columns; by default those in both files.
    hierarchies : mapping of str to Hierarchy, optional
        The hierarchies of the columns that were generalized.

    Returns
    -------
    float
        From 0 (nothing changed) to 1 (everything suppressed).

    Raises
    ------
    ColumnError
        If a column without a hierarchy has values that the original does not have.

    Notes
    -----
    A label costs the share of the hierarchy's values below it, a value by itself nothing, a missing
    value and a column of a suppressed record 1.

    References
    ----------
    Xu et al. (2006), Utility-based anonymization using local recoding; Ghinita et al. (2007), Fast
    data anonymization with low information loss.

    Examples
    --------
    >>> import pyarrow as pa
    >>> before, after = pa.table({"a": ["x", "y", "z"]}), pa.table({"a": ["xy", "xy"]})
    >>> tree = Hierarchy([("x", "xy"), ("y", "xy"), ("z", "z")])
    >>> round(information_loss(before, after, hierarchies={"a": tree}), 4)
    0.7778
    """
    first, second = as_dataset(original), as_dataset(masked)
    names = shared_columns(first, second) if columns is None else as_columns(columns)
    if not names:
        raise ColumnError("The two files have no column in common.")
    suppressed = first.count - second.count
    if suppressed < 0:
        raise ParameterError("The masked file has more records than the original.")
    trees = hierarchies or {}
    loss = sum(_column_loss(first, second, name, trees.get(name)) for name in names)
    return float((loss + suppressed * len(names)) / (first.count * len(names)))


def _column_loss(first: Dataset, second: Dataset, name: str, tree: Hierarchy | None) -> float:
    """The sum of the losses of the values of a column."""
    cells = second.cells([name])
    labels = cells.values[0].to_pylist()
    if tree is None:
        original_values = set(first.cells([name]).values[0].drop_null().to_pylist())
        if not set(labels) - {None} <= original_values:
            raise ColumnError(
                f"Column {name!r} has values that the original does not have. The information loss "
                "of a generalized column needs its hierarchy.",
                code="hierarchy-needed",
                columns=(name,),
                hint="Set {hierarchies}.",
            )
        size, leaves = len(original_values), dict.fromkeys(labels, 1)
    else:
        size = len(tree.rows)
        leaves = {
            label: len(values)
            for level in range(tree.height + 1)
            for label, values in tree.groups(level).items()
        }
        labels = [None if label is None else as_text(label) for label in labels]
        unknown = tuple(label for label in labels if label is not None and label not in leaves)
        if unknown:
            raise HierarchyGapError(name, unknown)
    below = [size if label is None else leaves[label] for label in labels]
    shares = [count / size if count > 1 else 0.0 for count in below]
    pairs = zip(cells.codes[0].tolist(), cells.counts.tolist(), strict=True)
    return float(sum(count * shares[code] for code, count in pairs))


@takes_roles(without=SAMPLE)
def discernibility(data: Data, *, suppressed: int = 0, **roles: Unpack[Roles]) -> int:
    """The discernibility metric: the sum of squared class sizes.

    Parameters
    ----------
    data : Dataset, frame or path
        The release.
    suppressed : int
        The number of records that were suppressed; each costs the number of all records.
    **roles
        See `crypsis.read`.

    Returns
    -------
    int
        The cost; lower is better.

    References
    ----------
    Bayardo, Agrawal (2005), Data privacy through optimal k-anonymization.

    Examples
    --------
    >>> import pyarrow as pa
    >>> discernibility(pa.table({"a": [1, 1, 2, 2]}), quasi_identifiers=["a"])
    8
    """
    if suppressed < 0:
        raise ParameterError(
            f"Parameter 'suppressed' must be at least 0; {suppressed} was given.", parameter="suppressed"
        )
    sizes = as_dataset(data, **roles).cells().counts
    return int((sizes**2).sum()) + suppressed * (int(sizes.sum()) + suppressed)


@takes_roles(without=SAMPLE)
def average_class_size(data: Data, *, k: int = 1, **roles: Unpack[Roles]) -> float:
    """The average class size divided by k: 1 is the best that k-anonymity allows.

    Parameters
    ----------
    data : Dataset, frame or path
        The release.
    k : int
        The k that it was anonymized with.
    **roles
        See `crypsis.read`.

    Returns
    -------
    float
        Records per class, divided by k.

    References
    ----------
    LeFevre, DeWitt, Ramakrishnan (2006), Mondrian multidimensional k-anonymity.

    Examples
    --------
    >>> import pyarrow as pa
    >>> average_class_size(pa.table({"a": [1, 1, 2, 2]}), k=2, quasi_identifiers=["a"])
    1.0
    """
    if k < 1:
        raise ParameterError(f"Parameter 'k' must be at least 1; {k} was given.", parameter="k")
    sizes = as_dataset(data, **roles).cells().counts
    return int(sizes.sum()) / max(1, sizes.size) / k
