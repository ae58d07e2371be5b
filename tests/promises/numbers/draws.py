"""Random small tables, and a Dataset whose cells are known without asking an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

import crypsis as cr
from crypsis.counting.cells import Cells

NAMES = ("a", "b", "c", "s")
Table = dict[str, list[Any]]


def table(draw: np.random.Generator, columns: int, *, missing: float = 0.0) -> Table:
    """A few rows of a few categories; some values missing, if asked."""
    rows = int(draw.integers(1, 40))
    made: Table = {}
    for name in NAMES[:columns]:
        values: list[Any] = draw.integers(0, int(draw.integers(1, 6)), rows).tolist()
        made[name] = [None if draw.random() < missing else value for value in values]
    return made


def tuples(of: Table, names: Sequence[str]) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(of[name] for name in names), strict=True))


@cache
def _rows() -> Any:
    return cr.Dataset.from_frame(pa.table({**{name: [0] for name in NAMES}, "w": [1.0]})).rows


def release(of: Table, *, secret: Sequence[str] = ("s",), **more: Any) -> cr.Dataset:
    """A release that knows its cells already: what is checked is the measure, not the engine."""
    names = [name for name in NAMES if name in of]
    roles = {name: cr.Role.SENSITIVE if name in secret else cr.Role.QUASI_IDENTIFIER for name in names}
    cells = Cells.from_columns(**{name: of[name] for name in names})
    made = cr.Dataset(_rows(), roles, **more)
    made._counts.add(tuple(names), None, cells)
    return made
