"""The types of arrays, by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int32]
"""Values of a column by their position among its distinct values."""
AnyCodes = NDArray[np.integer[Any]]
Levels = NDArray[np.int16]
"""Levels of hierarchies."""
Bytes = NDArray[np.uint8]
