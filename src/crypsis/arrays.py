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


def truths(column: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    """The truth values of a column; a missing one is false.

    >>> truths(pa.array([True, None, False])).tolist()
    [True, False, False]
    """
    if column.null_count:
        column = column.fill_null(False)
    return numbers(column.cast(pa.uint8())).astype(np.bool_)


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
    whole = np.ascontiguousarray(chosen, np.int64)
    return pa.Array.from_buffers(pa.int64(), whole.size, [None, pa.py_buffer(whole)])
