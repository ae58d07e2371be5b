"""The page people use, and the same as a REST API: on this machine alone, closed by default."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crypsis.web.server import ListeningServer, listen, serve
    from crypsis.web.settings import GivenSource, Settings, size_of

_NAMES = {
    "GivenSource": "settings",
    "ListeningServer": "server",
    "Settings": "settings",
    "listen": "server",
    "serve": "server",
    "size_of": "settings",
}
__all__ = ["GivenSource", "ListeningServer", "Settings", "listen", "serve", "size_of"]


def __getattr__(name: str) -> Any:
    """Loaded when first used: the process of a table needs nothing of the server."""
    if name not in _NAMES:
        raise AttributeError(f"module 'crypsis.web' has no attribute {name!r}")
    return getattr(import_module(f"crypsis.web.{_NAMES[name]}"), name)
