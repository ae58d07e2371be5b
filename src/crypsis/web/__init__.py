"""The page people use, and the same as a REST API: on this machine alone, closed by default."""

from crypsis.web.server import Listening, listen, serve
from crypsis.web.settings import Given, Settings, size_of

__all__ = ["Given", "Listening", "Settings", "listen", "serve", "size_of"]
