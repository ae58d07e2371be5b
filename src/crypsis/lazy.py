"""Modules and names that are loaded when they are first used, so that a command waits for few."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


class LazyModule:
    """A module that is loaded with its first attribute."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


def lazy_names(package: str, names: Mapping[str, str], modules: Sequence[str] = ()) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names are in modules that are loaded when asked for.

    Parameters
    ----------
    package : str
        The package.
    names : mapping of str to str
        The module of each name, from the package on if it begins with a dot; after a colon the name
        that it has there, if another.
    modules : sequence of str
        Modules that are names themselves.

    Returns
    -------
    callable
        It keeps what it found in the package.
    """

    def find(name: str) -> Any:
        if name in names:
            module, _, attribute = names[name].partition(":")
            value = getattr(import_module(module, package), attribute or name)
        elif name in modules:
            value = import_module(f".{name}", package)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(import_module(package), name, value)
        return value

    return find
