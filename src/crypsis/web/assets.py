"""The script, the style and Vega: all from this machine, none of it copied from elsewhere."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from importlib.resources import files

from fastapi import APIRouter
from starlette.responses import Response

from crypsis.web.errors import RequestError

router = APIRouter(include_in_schema=False)
_TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


@lru_cache(maxsize=1)
def vega() -> bytes:
    """Vega with its embedding, as vl-convert bundles it, as a module that hands out `embed`."""
    import vl_convert

    text: str = vl_convert.javascript_bundle("window.crypsisEmbed = vegaEmbed;")
    return text.encode()


@lru_cache(maxsize=1)
def _static() -> dict[str, bytes]:
    """Our own files by their names; nothing else is served."""
    return {file.name: file.read_bytes() for file in (files("crypsis.web") / "static").iterdir()}


@router.get("/assets/vega.js")
async def vega_script() -> Response:
    """The code that draws charts."""
    return Response(await asyncio.to_thread(vega), media_type="text/javascript")


@router.get("/assets/{name}")
def asset(name: str) -> Response:
    """A file of ours."""
    if name not in _static():
        raise RequestError("This address does not exist.", 404)
    return Response(_static()[name], media_type=_TYPES[name.rsplit(".", 1)[-1]])
