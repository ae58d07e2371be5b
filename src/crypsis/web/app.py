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
from starlette.responses import Response

from crypsis import __version__
from crypsis.errors import CrypsisError
from crypsis.web import api_files, api_safe, api_tables, assets, pages
from crypsis.web.house import House
from crypsis.web.security import Gate, Guard
from crypsis.web.settings import Settings
from crypsis.web.trouble import Trouble

_log = logging.getLogger("crypsis.web")
_TIDY_SECONDS = 5.0
_ABOUT = (
    "Is this data safe to release, against whom, and what is the least that must change? "
    "Everything the page does, for programs. Send the token of the start address as "
    "`Authorization: Bearer TOKEN`. Long work answers 202 with a job; ask `/api/v1/jobs/{job}` "
    "until its state is done. Answers hold no value of the data unless `reveal` asks for it."
)


class Answer(JSONResponse):
    """JSON that also survives half of a surrogate pair in what somebody sent."""

    def render(self, content: Any) -> bytes:
        """The bytes."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def create_app(settings: Settings, gate: Gate) -> FastAPI:
    """The application of one server; its private folder is there from now until it shuts down."""

    @contextlib.asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        tidying = asyncio.create_task(_tidy(app.state.house))
        try:
            yield
        finally:
            tidying.cancel()
            await asyncio.to_thread(app.state.house.end)

    app = FastAPI(
        title="crypsis",
        version=__version__,
        description=_ABOUT,
        docs_url=None,  # FastAPI's own page loads its parts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=living,
        default_response_class=Answer,
    )
    app.state.house = House(settings, gate)
    for router in (api_tables.router, api_safe.router, api_files.router):
        app.include_router(router)
    app.include_router(assets.router)
    app.include_router(pages.router)
    app.add_exception_handler(Trouble, _trouble)
    app.add_exception_handler(CrypsisError, _trouble)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _fault)
    app.add_middleware(Guard, gate=gate, upload_bytes=settings.upload_bytes)
    return app


async def _tidy(house: House) -> None:
    """Close what nobody has looked at for too long."""
    while True:
        await asyncio.sleep(min(_TIDY_SECONDS, house.settings.idle_seconds / 2))
        for name in house.tables.idle():
            if house.jobs.of(name) is None:
                with contextlib.suppress(Trouble):
                    await asyncio.to_thread(house.close, name)


def _say(request: Request, status: int, message: str) -> Response:
    if request.url.path.startswith("/api/"):
        return Answer({"error": message}, status)
    return pages.wrong(request, status, message)


async def _trouble(request: Request, error: Exception) -> Response:
    return _say(request, getattr(error, "status", 400), str(error))


async def _invalid(request: Request, error: Exception) -> Response:
    """What is wrong with a body, without what was in it."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    told = [f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors()[:5]]
    return _say(request, 422, "; ".join(told) or "The body cannot be read.")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    words = {404: "There is nothing here.", 405: "This cannot be done here."}
    answer = _say(request, error.status_code, words.get(error.status_code, str(error.detail)))
    answer.headers.update(error.headers or {})
    return answer


async def _fault(request: Request, error: Exception) -> Response:
    """A fault of ours: where it arose, never its text, which may quote data."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    _log.error("internal fault: %s at %s", type(error).__name__, place)
    return _say(request, 500, f"An internal fault ({type(error).__name__} at {place}).")
