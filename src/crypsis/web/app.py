"""The application: routes, the gate before them, and errors that never quote data."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import traceback
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from crypsis import __version__
from crypsis.errors import CrypsisError
from crypsis.web import api_files, api_project, api_protection, api_roles, api_tables, assets, pages
from crypsis.web.errors import RequestError
from crypsis.web.security import Gate, Guard, route_of
from crypsis.web.settings import Settings
from crypsis.web.wording import page_option
from crypsis.web.workspace import Workspace

_log = logging.getLogger("crypsis.web")
_TIDY_SECONDS = 5.0
"""The time between two searches for tables to close, at most."""
_ABOUT = (
    "Is this data safe to release, against whom, and what is the least that must change? "
    "Everything the page does, for programs. Send the token of the start address as "
    "`Authorization: Bearer TOKEN`. Long work answers 202 with a job; ask `/api/v1/jobs/{job}` "
    "until its state is done. Answers contain no value of the data unless `reveal` asks for it."
)


class SafeJSONResponse(JSONResponse):
    """JSON that also survives half of a surrogate pair in a request."""

    def render(self, content: Any) -> bytes:
        """The bytes."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def create_app(settings: Settings, gate: Gate) -> FastAPI:
    """The application of one server; its private folder is there from now until it shuts down."""

    @contextlib.asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        tidying = asyncio.create_task(_tidy(app.state.workspace))
        try:
            yield
        finally:
            tidying.cancel()
            await asyncio.to_thread(app.state.workspace.end)

    app = FastAPI(
        title="crypsis",
        version=__version__,
        description=_ABOUT,
        docs_url=None,  # FastAPI's own page loads its parts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=living,
        default_response_class=SafeJSONResponse,
    )
    app.state.workspace = Workspace(settings, gate)
    for router in (
        api_tables.router,
        api_roles.router,
        api_protection.router,
        api_project.router,
        api_files.router,
    ):
        app.include_router(router)
    app.include_router(assets.router)
    app.include_router(pages.router)
    app.add_exception_handler(RequestError, _known)
    app.add_exception_handler(CrypsisError, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _fault)
    app.add_middleware(Guard, gate=gate, upload_bytes=settings.upload_bytes)
    return app


async def _tidy(workspace: Workspace) -> None:
    """Close tables that were not used for too long."""
    while True:
        await asyncio.sleep(min(_TIDY_SECONDS, workspace.settings.idle_seconds / 2))
        for name in workspace.tables.idle():
            if workspace.jobs.of(name) is None:
                with contextlib.suppress(RequestError):
                    await asyncio.to_thread(workspace.close, name)


def _response(request: Request, status: int, message: str) -> Response:
    if route_of(request).startswith("/api/"):
        return SafeJSONResponse({"error": message}, status)
    return pages.error_page(request, status, message)


async def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, CrypsisError)  # noqa: S101
    return _response(request, getattr(error, "status", 400), error.text(page_option))


async def _invalid(request: Request, error: Exception) -> Response:
    """What is wrong with a body, without its content."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    faults = [f"{'.'.join(map(str, error['loc'][1:]))}: {error['msg']}" for error in error.errors()[:5]]
    return _response(request, 422, "; ".join(faults) or "The body cannot be read.")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    words = {404: "This address does not exist.", 405: "This method is not allowed here."}
    answer = _response(request, error.status_code, words.get(error.status_code, str(error.detail)))
    answer.headers.update(error.headers or {})
    return answer


async def _gone(request: Request, error: Exception) -> Response:
    """Whoever asked has gone before the whole body was here: no fault, and nobody to answer."""
    return Response(status_code=408)


async def _fault(request: Request, error: Exception) -> Response:
    """A fault of ours: where it arose, never its text, which may quote data."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    location = f"{Path(last.filename).name}:{last.lineno}"
    _log.error("internal fault: %s at %s", type(error).__name__, location)
    return _response(request, 500, f"An internal fault ({type(error).__name__} at {location}).")
