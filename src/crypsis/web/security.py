"""Closed by default: who may ask, from where, and what a page may do.

Every request passes here before anything else sees it. Its Host must be this server (or a page on
another name that resolves to this machine could read it: DNS rebinding), its Origin, where a
browser sends one, must be this server too, and it must bring the cookie that the start address
gives, or the token itself as `Authorization: Bearer`. A change made with the cookie must bring the
CSRF token besides, which only our own pages know. Browsers send cookies to every port of a host, so
the cookie is bound to a path that only our own pages know (`Gate.root`): a server of another user
at another port never receives it, and it is of no use at any other path.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

Scope = dict[str, Any]

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_MAX_BODY_BYTES = 2_000_000
"""The body of a request, unless it is an upload; a larger one is refused."""
MAX_HEADER_BYTES = 16_384
"""The headers of a request; larger ones are refused."""
STALLED_SECONDS = 30.0
"""How long no byte of a body may come: on one machine, a sender that waits longer has gone."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'none'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
_CLOSED = (
    "This page is closed. Open it with the address that `crypsis serve` printed; it contains the "
    "token that lets you in."
)


class Gate:
    """The secrets of one server: the token of the start address, the cookie, the CSRF token."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self.csrf = secrets.token_urlsafe(32)
        self.cookie = f"crypsis-{port}"  # browsers keep cookies by name of host, not by port
        self.root = f"/s/{secrets.token_urlsafe(32)}"
        """The path of all pages; nobody else can guess it."""
        self.hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))

    def knows_token(self, token: str) -> bool:
        """Whether this is the token, compared in constant time."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def admits(self, headers: Headers, path: str) -> str | None:
        """How a request shows that it may ask: "bearer", "cookie", or not at all."""
        kind, _, credentials = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.knows_token(credentials.strip()):
            return "bearer"
        if not self.inside(path):
            return None
        session_cookie = self._session.encode()
        for header in headers.getlist("cookie"):
            for part in header.split(";"):
                name, _, value = part.strip().partition("=")
                if name == self.cookie and hmac.compare_digest(value.encode(), session_cookie):
                    return "cookie"
        return None

    def inside(self, path: str) -> bool:
        """Whether a path is one of our pages, compared in constant time."""
        start, end = path[: len(self.root)], path[len(self.root) : len(self.root) + 1]
        return end == "/" and hmac.compare_digest(start.encode(), self.root.encode())

    def opening(self) -> Response:
        """The page that the start address gives: it sets the cookie and goes on without token.

        A page rather than a redirect: after a redirect from another place the strict cookie would
        not be sent.
        """
        page = HTMLResponse(
            '<!doctype html><html lang="en"><meta charset="utf-8">'
            f'<meta http-equiv="refresh" content="0; url={self.root}/">'
            '<link rel="icon" href="data:,"><title>crypsis</title>'
            f'<main><h1>Opening</h1><p><a href="{self.root}/">Continue</a></p></main></html>'
        )
        page.set_cookie(self.cookie, self._session, httponly=True, samesite="strict", path=f"{self.root}/")
        return page


class Guard:
    """The middleware; plain ASGI, so that no body is read before it has decided."""

    def __init__(self, app: Any, gate: Gate, upload_bytes: int) -> None:
        self.app, self.gate, self.upload_bytes = app, gate, upload_bytes

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets
        if self.gate.inside(scope["path"]):
            scope["root_path"] = self.gate.root
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        limit = self.upload_bytes if _is_upload(scope) else _MAX_BODY_BYTES
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            answer = _answer(scope, 413, f"The body is larger than the {limit:,} bytes allowed.")
            await answer(scope, receive, _with_headers(send))
            return
        await self.app(scope, _counted(receive, limit), _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        gate, method = self.gate, scope["method"]
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADER_BYTES:
            return _answer(scope, 431, f"The headers are larger than {MAX_HEADER_BYTES:,} bytes.")
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in gate.hosts:
            return _answer(scope, 421, "This server answers on this machine only.")
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{hosts[0].lower()}":
            return _answer(scope, 403, "Requests from other pages are not answered.")
        if method not in _SAFE_METHODS and headers.get("sec-fetch-site", "same-origin") not in (
            "same-origin",
            "none",
        ):
            return _answer(scope, 403, "Requests from other pages are not answered.")
        if scope["path"] == "/" and method == "GET":
            tokens = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])
            if tokens:
                is_known = gate.knows_token(tokens[0])
                return gate.opening() if is_known else _answer(scope, 403, _CLOSED)
        admitted = gate.admits(headers, scope["path"])
        if admitted is None:
            return _answer(scope, 403, _CLOSED)
        sent = headers.get("x-csrf-token", "")
        needed = method not in _SAFE_METHODS and admitted == "cookie"
        if needed and not hmac.compare_digest(sent.encode(), gate.csrf.encode()):
            return _answer(scope, 403, "The page is out of date; load it again.")
        return None


def _route(scope: Scope) -> str:
    """The path without the part that only our own pages know."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def route_of(request: Request) -> str:
    """The path of a request without the part that only our own pages know."""
    return _route(dict(request.scope))


def _is_upload(scope: Scope) -> bool:
    path = _route(scope)
    return scope["method"] == "POST" and path.startswith("/api/v1/") and path.endswith("/upload")


def _answer(scope: Scope, status: int, message: str) -> Response:
    if _route(scope).startswith("/api/"):
        return JSONResponse({"error": message}, status)
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">'
        "<title>crypsis</title>"
        f"<main><h1>Closed</h1><p>{message}</p></main></html>"
    )
    return HTMLResponse(page, status)


def _counted(receive: Any, limit: int) -> Any:
    """The body as it comes, until it is longer than allowed, or stops coming."""
    seen, whole = 0, False

    async def receiving() -> Any:
        nonlocal seen, whole
        if whole:  # what is waited for now is the end of the connection
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), STALLED_SECONDS)
        except TimeoutError:
            raise HTTPException(408, "The rest of the body did not come.") from None
        if message["type"] == "http.request":
            whole = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > limit:
                raise HTTPException(413, f"The body is larger than the {limit:,} bytes allowed.")
        return message

    return receiving


def _with_headers(send: Any) -> Any:
    async def sending(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
        await send(message)

    return sending
