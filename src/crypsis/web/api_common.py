"""What the parts of the REST API share: who is asked, what may go wrong, what a job is told as."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from crypsis.web import forms as f
from crypsis.web.house import House, house_of
from crypsis.web.jobs import Job
from crypsis.web.tables import Table
from crypsis.web.trouble import Trouble
from crypsis.web.uploads import check_expanded, stored

In = Annotated[House, Depends(house_of)]
FileName = Annotated[
    str,
    Query(
        min_length=1, max_length=1000,
        description="What the file is called; its end tells its format.",
    ),
]  # fmt: skip
BYTES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The bytes of the file as they are.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_WRONG: dict[int | str, dict[str, Any]] = {
    status: {"model": f.Wrong} for status in (400, 403, 404, 409, 413, 415, 421, 422, 429)
}


def new_router() -> APIRouter:
    """A part of the API, with what may go wrong everywhere."""
    return APIRouter(prefix="/api/v1", responses=_WRONG)


async def take(house: House, request: Request, table: Table, slot: str, title: str) -> None:
    """Take a file that is uploaded."""
    no_job(house, table)
    path = await stored(request.stream(), slot, title, table.folder, house.settings)
    await asyncio.to_thread(check_expanded, Path(path), house.settings)
    house.add_upload(table, slot, str(path), title)


def subject(house: House, table: Table) -> dict[str, Any]:
    """The table with all roles, as plans want it."""
    return {
        "file": house.file(table, "data"),
        "roles": table.decided,
        "hierarchies": dict(table.hierarchies),
    }


def no_job(house: House, table: Table) -> None:
    """Raise where the table is being worked on."""
    if house.jobs.of(table.id) is not None:
        raise Trouble("This table is being worked on; wait, or cancel that first.", 409)


def there(found: dict[str, Any] | None, message: str) -> dict[str, Any]:
    """What was found, or that it is not there yet."""
    if found is None:
        raise Trouble(message, 409)
    return found


def told(job: Job) -> f.JobTold:
    """A job as the API tells it."""
    return f.JobTold(**job.to_dict())
