"""Reading a belief matrix from arrays, sparse matrices and frames, with its checks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Ints
from crypsis.errors import InputError
from crypsis.scientific import sparse

_ROWS_LISTED = 12


def read_matrix(matrix: Any) -> tuple[sparse.csr_array, Sequence[Hashable] | None]:
    """The matrix as sorted compressed rows, and its column names where it is a frame."""
    names: Sequence[Hashable] | None = None
    if sparse.issparse(matrix):
        values = sparse.csr_array(matrix, dtype=np.float64)
        values.sum_duplicates()
    else:
        if not isinstance(matrix, np.ndarray | list | tuple):
            try:
                frame = nw.from_native(matrix, eager_only=True)
            except TypeError:
                pass
            else:
                names, matrix = frame.columns, frame.to_numpy()
        try:
            dense = np.asarray(matrix, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError("A belief matrix is a table of numbers; some cells are not.") from error
        if dense.ndim != 2:
            raise InputError(f"A belief matrix is square; an array of {dense.ndim} dimensions was given.")
        _check_cells(dense)
        values = sparse.csr_array(dense)
    if values.shape[0] != values.shape[1]:
        raise InputError(
            "A belief matrix is square, with as many pseudonyms as items; "
            f"{values.shape[0]} by {values.shape[1]} was given.",
            hint="Where one pseudonym stands for several items, use `group_belief`.",
        )
    if values.shape[0] == 0:
        raise InputError("A belief matrix needs at least one item; an empty one was given.")
    _check_cells(values.data)
    values.eliminate_zeros()
    values.sort_indices()
    return values, names


def _check_cells(cells: NDArray[np.float64]) -> None:
    if not np.isfinite(cells).all():
        raise InputError(
            "The cells of a belief matrix must be finite; some are NaN or infinite.",
            hint="A pair about which nothing is known gets the same likelihood as any other.",
        )
    if (cells < 0).any():
        raise InputError("The cells of a belief matrix must be at least 0; some are negative.")


def check_labels(labels: Sequence[Hashable] | None, size: int, kind: str) -> tuple[Hashable, ...] | None:
    """The labels of the rows or columns, all different."""
    if labels is None:
        return None
    checked = tuple(labels)
    if len(checked) != size or len(set(checked)) != size:
        raise InputError(
            f"There must be {size} {kind}, all different; {len(set(checked))} different ones were given."
        )
    return checked


def rows_text(rows: Ints) -> str:
    """Items by position, the first few of them."""
    shown = ", ".join(str(int(row) + 1) for row in rows[:_ROWS_LISTED])
    more = f" and {rows.size - _ROWS_LISTED} more" if rows.size > _ROWS_LISTED else ""
    return f"the items in rows {shown}{more}" if rows.size > 1 else f"the item in row {shown}"
