"""Connections to the server: a limited number, each with limited time and room for its headers.

Uvicorn waits for ever for the headers of a request; whoever opens connections and sends nothing
would use up the file descriptors of the server.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""A connection whose headers take longer is closed."""
MAX_CONNECTIONS = 200
"""A connection more is closed at once."""


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for headers and a limit of connections."""

    def connection_made(self, transport: Any) -> None:
        """Accept a connection, unless there are too many, and wait a limited time for headers."""
        self._waiting: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
            return
        self._waiting = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Take bytes; the time limit ends with the last header of the first request."""
        super().data_received(data)
        if self.cycle is not None:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
