"""From settings to a running server: on loopback, with its token, gone without a trace."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from crypsis.errors import ParameterError
from crypsis.web.app import create_app
from crypsis.web.connections import BoundedProtocol
from crypsis.web.security import MAX_HEADER_BYTES, Gate
from crypsis.web.settings import Settings

_HOST = "127.0.0.1"


@dataclass(frozen=True)
class ListeningServer:
    """A server that takes callers at its port and has not begun to answer them."""

    port: int
    token: str = field(repr=False)
    app: Any = field(repr=False)
    server: uvicorn.Server
    socket: socket.socket

    @property
    def address(self) -> str:
        """The address to open; whoever has it may use the server."""
        return f"http://{_HOST}:{self.port}/?token={self.token}"

    def run(self) -> None:
        """Answer until it is stopped."""
        self.server.run(sockets=[self.socket])

    def stop(self) -> None:
        """Stop it."""
        self.server.should_exit = True


def listen(settings: Settings, port: int = 0) -> ListeningServer:
    """Bind to a port of loopback (a free one for 0) and make everything ready."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((_HOST, port))
        bound.listen()  # who comes before the first answer waits for it instead of being refused
    except (OSError, OverflowError):
        bound.close()
        raise ParameterError(f"Port {port} cannot be used; take another, or none.") from None
    taken = bound.getsockname()[1]
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it logs every refused connection
    gate = Gate(taken)
    app = create_app(settings, gate)
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        backlog=128,
        access_log=False,  # addresses contain names
        log_level=logging.CRITICAL,  # and errors may quote data
        server_header=False,
        timeout_graceful_shutdown=3,
        timeout_keep_alive=30,
        lifespan="on",
        ws="none",
        proxy_headers=False,
    )
    return ListeningServer(taken, gate.token, app, uvicorn.Server(config), bound)


def serve(
    settings: Settings, *, port: int = 0, say: Callable[[str], None] = print, show: bool = True
) -> None:
    """Run a server until it is stopped; `show` opens the page in the browser."""
    listening = listen(settings, port)
    say(listening.address)
    if show:
        threading.Thread(target=_show, args=(listening,), daemon=True).start()
    if hasattr(signal, "SIGHUP"):  # the terminal was closed: leave nothing behind then, either
        signal.signal(signal.SIGHUP, lambda *_: listening.stop())
    try:
        listening.run()
    finally:
        listening.app.state.workspace.end()


def _show(listening: ListeningServer) -> None:
    """Open the page through a file of ours: an address on a command line is seen by everyone."""
    path = listening.app.state.workspace.private.path / "open.html"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(
            '<!doctype html><meta charset="utf-8">'
            f'<meta http-equiv="refresh" content="0; url={listening.address}">'
        )
    webbrowser.open(path.as_uri())
