"""Between Arrow and NumPy without pandas, which Arrow's own ways import where it is installed.

Importing pandas takes longer than most questions asked of a small file.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbers(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """The numbers of a column without missing values, by DLPack.

    >>> numbers(pa.chunked_array([[1, 2], [3]])).tolist()
    [1, 2, 3]
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return np.from_dlpack(column)


def sums_of(group: NDArray[np.int64], numbers: NDArray[Any], groups: int) -> NDArray[np.float64]:
    """The sum of the numbers of each group.

    >>> sums_of(np.array([0, 2, 2]), np.array([1.0, 2.0, 0.5]), 3).tolist()
    [1.0, 0.0, 2.5]
    """
    return np.bincount(group, numbers, groups).astype(np.float64)


def truths(column: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    """The truth values of a column; a missing one is false.

    >>> truths(pa.array([True, None, False])).tolist()
    [True, False, False]
    """
    whole = column.cast(pa.uint8())
    if column.null_count:
        whole = whole.fill_null(scalar(np.uint8(0)))
    return numbers(whole).astype(np.bool_)


def texts(values: Sequence[str]) -> pa.Array:
    """Texts as an Arrow array.

    >>> texts(["männlich", "f"]).to_pylist()
    ['männlich', 'f']
    """
    coded = [value.encode() for value in values]
    ends = np.fromiter(accumulate(map(len, coded), initial=0), np.int32, len(coded) + 1)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(coded))]
    return pa.Array.from_buffers(pa.string(), len(coded), buffers)


def places(chosen: NDArray[np.integer[Any]]) -> pa.Array:
    """Places in an array, to take from it.

    >>> places(np.array([2, 0], np.int32)).to_pylist()
    [2, 0]
    """
    return column(chosen.astype(np.int64, copy=False))


def column(values: NDArray[Any]) -> pa.Array:
    """Whole or real numbers as an Arrow array.

    >>> column(np.array([2.5, 0.0])).to_pylist()
    [2.5, 0.0]
    """
    whole = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(whole.dtype)
    return pa.Array.from_buffers(kind, whole.size, [None, pa.py_buffer(whole)])


def scalar(number: np.generic) -> pa.Scalar:
    """A number of NumPy as one of Arrow.

    >>> scalar(np.int32(7)).type, scalar(np.int32(7)).as_py()
    (DataType(int32), 7)
    """
    return column(np.array([number]))[0]


def missing(kind: pa.DataType) -> pa.Scalar:
    """A missing value of that type."""
    return pa.nulls(1, kind)[0]


def codes(column: pa.DictionaryArray) -> NDArray[np.int32]:
    """The codes of a dictionary-coded column; what is missing comes after the last value.

    >>> codes(pa.array(["b", None, "a", "b"]).dictionary_encode()).tolist()
    [0, 2, 1, 0]
    """
    indices = column.indices
    if indices.null_count:
        last = scalar(np.int32(len(column.dictionary)))
        indices = indices.cast(pa.int32()).fill_null(last)
    return np.asarray(np.from_dlpack(indices), np.int32)
