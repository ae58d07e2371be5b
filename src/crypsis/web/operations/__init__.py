"""What a table's process can be asked. Each operation takes plain values and gives plain values."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {
    "begin": "_session",
    "prepare": "_prepare",
    "scan": "_scan",
    "rewrite": "_scan",
    "assess": "_assess",
    "causes": "_assess",
    "preview": "_plan",
    "what_if": "_plan",
    "curve": "_plan",
    "plan": "_plan",
    "hierarchy": "_plan",
    "anonymize": "_anonymize",
    "package": "_package",
    "compare": "_compare",
    "verify": "_compare",
    "attack": "_attack",
    "rows": "_grid",
    "try_release": "_try",
    "explore": "_try",
    "values": "_plan",
}


def operation(name: str) -> Any:
    """The operation of that name; what it needs is loaded when it is first asked for."""
    return getattr(import_module(f"crypsis.web.operations.{_MODULES[name]}"), name)
