"""What the parts of the REST API share: dependencies, errors, the state of a job."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request

from crypsis.web import forms as f
from crypsis.web.errors import RequestError
from crypsis.web.jobs import Job
from crypsis.web.open_tables import OpenTable
from crypsis.web.uploads import check_expanded, stored
from crypsis.web.workspace import Workspace, workspace_of

In = Annotated[Workspace, Depends(workspace_of)]
FileName = Annotated[
    str,
    Query(
        min_length=1, max_length=1000, description="What the file is called; its extension sets its format."
    ),
]
Version = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=100,
        description="The version of the choices that was shown; 412 where it is another by now.",
    ),
]
BYTES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The bytes of the file as they are.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_WRONG: dict[int | str, dict[str, Any]] = {
    status: {"model": f.ErrorBody} for status in (400, 403, 404, 409, 412, 413, 415, 421, 422, 429)
}


def new_router() -> APIRouter:
    """A part of the API, with what may go wrong everywhere."""
    return APIRouter(prefix="/api/v1", responses=_WRONG)


async def take(workspace: Workspace, request: Request, table: OpenTable, slot: str, title: str) -> None:
    """Take a file that is uploaded."""
    no_job(workspace, table)
    path = await received(workspace, request, table.folder, slot, title)
    workspace.add_upload(table, slot, str(path), title)


async def received(workspace: Workspace, request: Request, folder: Path, slot: str, title: str) -> Path:
    """The file of a request in a folder, once all of it is there and it is not too large."""
    path = await stored(request.stream(), slot, title, folder, workspace.settings)
    await asyncio.to_thread(check_expanded, path, workspace.settings)
    return path


def subject(workspace: Workspace, table: OpenTable) -> dict[str, Any]:
    """The table with all roles, as plans want it."""
    return {
        "file": workspace.file(table, "data"),
        "roles": table.decided,
        "hierarchies": dict(table.hierarchies),
    }


def no_job(workspace: Workspace, table: OpenTable) -> None:
    """Raise where the table is being worked on."""
    if workspace.jobs.of(table.id) is not None:
        raise RequestError("A job is running on this table; wait for it or cancel it first.", 409)


def may_discard(table: OpenTable, allowed: bool) -> None:
    """Raise where results would be lost and nobody allowed that."""
    if table.results and not allowed:
        raise RequestError(f"This discards {table.results}, which would have to be made again.", 409)


def existing(result: dict[str, Any] | None, message: str) -> dict[str, Any]:
    """What was found, or that it is not there yet."""
    if result is None:
        raise RequestError(message, 409)
    return result


def job_state(job: Job) -> f.JobState:
    """A job as the API returns it."""
    return f.JobState(**job.to_dict())
