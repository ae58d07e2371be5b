"""Random cases: the first of them on every change, all of them in `make test-heavy`."""

from __future__ import annotations

from typing import Any

import pytest


def first_of(values: Any, count: int) -> list[Any]:
    """The values as parameters of a test, those after the first `count` for `make test-heavy`."""
    return [
        value if place < count else pytest.param(value, marks=pytest.mark.heavy)
        for place, value in enumerate(values)
    ]
