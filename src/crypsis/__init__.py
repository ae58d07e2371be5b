"""Is this data safe to release, against whom, and what is the least that must change?

The public names; everything is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crypsis._assess import assess
    from crypsis.cells import Cells
    from crypsis.errors import CrypsisError
    from crypsis.release import NullPolicy, Release, Role, read
    from crypsis.results import Assessment, Estimate, Result

__version__ = "0.1.0"

_NAMES = {
    "Assessment": "results",
    "Cells": "cells",
    "CrypsisError": "errors",
    "Estimate": "results",
    "NullPolicy": "release",
    "Release": "release",
    "Result": "results",
    "Role": "release",
    "assess": "_assess",
    "read": "release",
}
_PACKAGES = (
    "anonymize",
    "inference",
    "linkage",
    "policy",
    "pseudonyms",
    "reproduce",
    "singling_out",
    "utility",
)

__all__ = [
    "Assessment",
    "Cells",
    "CrypsisError",
    "Estimate",
    "NullPolicy",
    "Release",
    "Result",
    "Role",
    "__version__",
    "assess",
    "read",
]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        value = getattr(import_module(f"crypsis.{_NAMES[name]}"), name)
    elif name in _PACKAGES:
        value = import_module(f"crypsis.{name}")
    else:
        raise AttributeError(f"module 'crypsis' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])
