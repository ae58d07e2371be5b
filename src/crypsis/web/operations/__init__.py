"""What a table's process can be asked. Each operation takes plain values and gives plain values."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {
    "begin": "_desk",
    "look": "_looking",
    "assess": "_assessing",
    "causes": "_assessing",
    "sketch": "_planning",
    "what_if": "_planning",
    "curve": "_planning",
    "plan": "_planning",
    "hierarchy": "_planning",
    "make": "_making",
    "compare": "_comparing",
    "subject": "_comparing",
    "attack": "_attacking",
}


def operation(name: str) -> Any:
    """The operation of that name; what it needs is loaded when it is first asked for."""
    return getattr(import_module(f"crypsis.web.operations.{_MODULES[name]}"), name)
