"""Join attack: a public table with names joined to the release on shared columns (Fig. 3)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from crypsis.errors import ColumnError, InputError, ParameterError, unknown_columns
from crypsis.pseudonyms._belief import Belief
from crypsis.pseudonyms._frequencies import Truth, check_negligible, from_logs
from crypsis.scientific import sparse

Tolerances: TypeAlias = Sequence[str] | Mapping[str, float]


def join_attack(
    known: Any,
    released: Any,
    on: Tolerances,
    *,
    item: str | None = None,
    pseudonym: str | None = None,
    truth: Truth = None,
) -> Belief:
    """An intruder who joins a table with names to the release (infeasibility attack).

    Parameters
    ----------
    known, released : frame
        A table with names and the release, of equally many rows.
    on : sequence of str or dict
        The columns that both share, or a dict from each to the tolerance of its numbers.
    item, pseudonym : str, optional
        The columns with the labels of the known and of the released rows; without them rows are
        numbered.
    truth : dict, sequence of int or "rows", optional
        The pseudonym of each item; "rows" where both tables are in the same order.

    Returns
    -------
    Belief
        1 where all shared values agree. A missing value (null or NaN) agrees with any value.

    Notes
    -----
    O(rows^2) time, O(possible pairs) memory.

    References
    ----------
    bagai2017, Sec. II-B and Fig. 3.

    Examples
    --------
    >>> import pyarrow as pa
    >>> voters = pa.table({"name": ["Ann", "Bob", "Cy"], "age": [30, 30, 41]})
    >>> release = pa.table({"id": ["x", "y", "z"], "age": [41, 30, 30]})
    >>> join_attack(voters, release, ["age"], item="name", pseudonym="id").matrix.toarray()
    array([[0., 1., 1.],
           [0., 1., 1.],
           [1., 0., 0.]])
    """
    left, right, tolerances = _tables(known, released, on)
    shared = _columns(left, right, tolerances)
    parts = []
    step = max(1, 20_000_000 // right.shape[0])
    for begin in range(0, left.shape[0], step):
        rows = slice(begin, begin + step)
        fits = np.ones((left[rows].shape[0], right.shape[0]), dtype=bool)
        for ours, theirs, tolerance in shared:
            fits &= _agree(ours[rows], theirs, tolerance) | _unknown(ours[rows], theirs)
        parts.append(sparse.csr_array(fits.astype(np.float64)))
    return _labelled(sparse.csr_array(sparse.vstack(parts)), left, right, item, pseudonym, truth)


def probabilistic_join_attack(
    known: Any,
    released: Any,
    on: Tolerances,
    *,
    agreement: float | Mapping[str, float] = 0.95,
    negligible: float = 0.0,
    item: str | None = None,
    pseudonym: str | None = None,
    truth: Truth = None,
) -> Belief:
    """An intruder who weighs how well records agree (Fellegi and Sunter 1969).

    Parameters
    ----------
    known, released, on, item, pseudonym, truth
        See `join_attack`.
    agreement : float or dict
        The probability m that a column agrees for the same person, for all columns or by column.
    negligible : float
        Pairs with a smaller probability (in the doubly stochastic matrix) are ruled out.

    Returns
    -------
    Belief
        Likelihood ratios: agreement on a value counts m over the share of known records with that
        value, disagreement (1 - m) over the chance of disagreeing, a missing value 1. Columns are
        taken as independent.

    Examples
    --------
    >>> import pyarrow as pa
    >>> voters = pa.table({"age": [30, 30, 41]})
    >>> release = pa.table({"age": [30, 41, 30]})
    >>> belief = probabilistic_join_attack(voters, release, ["age"], truth=[0, 2, 1])
    >>> bool(belief.matrix[2, 1] > belief.matrix[2, 0])
    True
    """
    check_negligible(negligible)
    left, right, tolerances = _tables(known, released, on)
    chances = _agreements(agreement, tolerances)
    logs = np.zeros((left.shape[0], right.shape[0]))
    for (ours, theirs, tolerance), m in zip(_columns(left, right, tolerances), chances, strict=True):
        agree, unknown = _agree(ours, theirs, tolerance), _unknown(ours, theirs)
        share = _shares(ours, tolerance)
        seen = ~np.isnan(ours)
        chance = float(share[seen].mean()) if seen.any() else 0.5
        chance = min(max(chance, 1e-12), 1 - 1e-12)
        with np.errstate(divide="ignore"):
            weight = np.where(agree, np.log(m) - np.log(share)[:, None], np.log1p(-m) - np.log1p(-chance))
        logs += np.where(unknown, 0.0, weight)
    matrix = sparse.csr_array(from_logs(logs, negligible))
    return _labelled(matrix, left, right, item, pseudonym, truth)


def _tables(
    known_table: Any, released: Any, on: Tolerances
) -> tuple[nw.DataFrame[Any], nw.DataFrame[Any], dict[str, float]]:
    left, right = _frame(known_table), _frame(released)
    tolerances = dict(on) if isinstance(on, Mapping) else dict.fromkeys(on, 0.0)
    if isinstance(on, str) or not tolerances:
        raise ParameterError(
            "A join needs a list of at least one column that both tables share.",
            hint="Set {on}.",
            parameter="on",
        )
    for frame in (left, right):
        if not set(tolerances) <= set(frame.columns):
            raise unknown_columns(tolerances, frame.columns)
    for column, tolerance in tolerances.items():
        if not (np.isfinite(tolerance) and tolerance >= 0):
            raise ParameterError(
                f"The tolerance of column {column!r} must be at least 0; {tolerance} was given."
            )
    if left.shape[0] != right.shape[0]:
        raise InputError(
            f"The known table has {left.shape[0]} rows and the release {right.shape[0]}; both must "
            "have one row for each of the same people.",
            hint="Restrict the larger table to the people in both.",
        )
    return left, right, tolerances


def _frame(table: Any) -> nw.DataFrame[Any]:
    if hasattr(table, "to_arrow") and not hasattr(table, "__dataframe__"):
        table = table.to_arrow()
    frame = nw.from_native(table)
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _columns(
    left: nw.DataFrame[Any], right: nw.DataFrame[Any], tolerances: Mapping[str, float]
) -> list[tuple[NDArray[np.float64], NDArray[np.float64], float]]:
    """Each shared column as two arrays of numbers, themselves or codes; NaN is missing."""
    matched_columns = []
    for column, tolerance in tolerances.items():
        numeric = left[column].dtype.is_numeric() and right[column].dtype.is_numeric()
        if not numeric and tolerance > 0:
            raise ColumnError(
                f"Column {column!r} is not numeric. A tolerance needs a numeric column.", columns=(column,)
            )
        codes: dict[Any, int] | None = None if numeric else {}
        pair = [
            np.array([_code(codes, value) for value in frame[column].to_list()], dtype=np.float64)
            for frame in (left, right)
        ]
        matched_columns.append((pair[0], pair[1], float(tolerance)))
    return matched_columns


def _code(codes: dict[Any, int] | None, value: Any) -> float:
    if value is None or value != value:  # NaN is the one value that differs from itself
        return float("nan")
    return float(value if codes is None else codes.setdefault(value, len(codes)))


def _unknown(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.isnan(ours)[:, None] | np.isnan(theirs)


def _agree(ours: NDArray[np.float64], theirs: NDArray[np.float64], tolerance: float) -> NDArray[np.bool_]:
    return np.asarray(np.abs(ours[:, None] - theirs) <= tolerance * (1 + 1e-12))


def _shares(values: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
    """For each record, the share of known records that agree with it (among those not missing)."""
    seen = np.sort(values[~np.isnan(values)])
    if seen.size == 0:
        return np.ones(values.size)
    low = np.searchsorted(seen, values - tolerance, side="left")
    high = np.searchsorted(seen, values + tolerance, side="right")
    return np.asarray(np.where(np.isnan(values), 1.0, np.maximum(high - low, 1) / seen.size))


def _agreements(agreement: float | Mapping[str, float], columns: Mapping[str, float]) -> list[float]:
    if isinstance(agreement, Mapping):
        if set(agreement) != set(columns):
            raise unknown_columns([*agreement, *columns], set(agreement) & set(columns))
        values = [float(agreement[column]) for column in columns]
    else:
        values = [float(agreement)] * len(columns)
    if not all(0 < value < 1 for value in values):
        raise ParameterError("A probability of agreement must be above 0 and below 1.")
    return values


def _labelled(
    matrix: sparse.csr_array,
    left: nw.DataFrame[Any],
    right: nw.DataFrame[Any],
    item: str | None,
    pseudonym: str | None,
    truth: Truth,
) -> Belief:
    labels: list[list[Hashable] | None] = []
    for frame, column in ((left, item), (right, pseudonym)):
        if column is not None and column not in frame.columns:
            raise unknown_columns([column], frame.columns)
        labels.append(None if column is None else frame[column].to_list())
    if isinstance(truth, str):
        if truth != "rows":
            raise ParameterError('The truth is a dict, column positions or "rows".')
        truth = list(range(left.shape[0]))
    return Belief(matrix, truth=truth, items=labels[0], pseudonyms=labels[1])
