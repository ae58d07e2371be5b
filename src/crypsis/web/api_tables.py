"""The REST API, first part: what is open, its files, its roles."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from fastapi import Request, Response

from crypsis.web import forms as f
from crypsis.web.api_base import BYTES, FileName, In, job_state, new_router, no_job, take
from crypsis.web.errors import RequestError
from crypsis.web.open_tables import OpenTable, TableFile
from crypsis.web.uploads import title_of

router = new_router()


@router.get("/tables", tags=["tables"])
def list_tables(workspace: In) -> list[f.TableState]:
    """What is open."""
    return [f.TableState(**workspace.state(table)) for table in workspace.tables.every()]


@router.post("/tables", tags=["tables"], status_code=201)
def create_table(workspace: In, form: f.NewTable) -> f.TableState:
    """Begin a piece of work whose files come one by one."""
    return f.TableState(**workspace.state(workspace.tables.create(form.kind, form.title)))


@router.post("/tables/upload", tags=["tables"], status_code=202, openapi_extra=BYTES)
async def upload_table(workspace: In, request: Request, name: FileName) -> f.JobState:
    """Upload a table that is to be released, and look at its columns."""
    title = title_of(name)
    table = workspace.tables.create("release", title)
    try:
        await take(workspace, request, table, "data", title)
        return job_state(workspace.scan(table))
    except BaseException:
        workspace.close(table.id)
        raise


@router.post("/tables/given", tags=["tables"], status_code=202)
def open_given(workspace: In, form: f.GivenFile) -> f.JobState:
    """Open a source that the server was started with; it is read where it is."""
    table = workspace.tables.create("release", "")
    try:
        workspace.add_given(table, "data", form.place)
    except RequestError:
        workspace.close(table.id)
        raise
    return job_state(workspace.scan(table))


@router.post("/tables/sample", tags=["tables"], status_code=202)
async def open_sample(workspace: In) -> f.JobState:
    """Open a sample of invented people."""
    table = workspace.tables.create("release", "people.csv")
    await asyncio.to_thread(_write_sample, table)
    return job_state(workspace.scan(table))


def _write_sample(table: OpenTable) -> None:
    import pyarrow.csv

    from crypsis.demo import people

    path = table.folder / "data-people.csv"
    pyarrow.csv.write_csv(people(10_000), path)
    table.files["data"] = TableFile(str(path), "people.csv", True, {"format": "csv"})


@router.get("/tables/{table}", tags=["tables"])
def show_table(workspace: In, table: str) -> f.TableState:
    """A table: its columns with their roles, and how far it has come."""
    return f.TableState(**workspace.state(workspace.tables.get(table)))


@router.delete("/tables/{table}", tags=["tables"], status_code=204)
def close_table(workspace: In, table: str) -> Response:
    """Close a table and remove every file of it that the server made or was sent."""
    workspace.close(table)
    return Response(status_code=204)


@router.post(
    "/tables/{table}/files/{slot}/upload", tags=["tables"], openapi_extra=BYTES, status_code=201
)
async def upload_file(
    workspace: In, request: Request, table: str, slot: f.Slot, name: FileName
) -> f.TableState:
    """Upload one more file of a table: the original, the masked one, what an attacker knows."""
    found = workspace.tables.get(table)
    await take(workspace, request, found, slot, title_of(name))
    found.found = None
    return f.TableState(**workspace.state(found))


@router.post("/tables/{table}/files/{slot}/given", tags=["tables"], status_code=201)
def give_file(workspace: In, table: str, slot: f.Slot, form: f.GivenFile) -> f.TableState:
    """Take one more file from what the server was started with."""
    found = workspace.tables.get(table)
    workspace.add_given(found, slot, form.place)
    found.found = None
    return f.TableState(**workspace.state(found))


@router.put("/tables/{table}/reading", tags=["tables"], status_code=202)
def read_again(workspace: In, table: str, form: f.ReadForm) -> f.JobState:
    """Open the file again, read in another way."""
    found = workspace.tables.get(table)
    file = workspace.file(found, "data")
    kept = {"format": file["reading"]["format"]} if "format" in file["reading"] else {}
    given = form.model_dump(exclude_none=True, exclude_defaults=True)
    found.files["data"] = replace(found.files["data"], reading={**kept, **given})
    return job_state(workspace.scan(found))


@router.put("/tables/{table}/roles", tags=["roles"])
def decide_roles(workspace: In, table: str, form: f.RolesForm) -> f.TableState:
    """Decide what columns are. What was found with other roles is forgotten."""
    found = workspace.tables.get(table)
    no_job(workspace, found)
    there = found.decided
    if not there:
        raise RequestError("The columns are not known yet; wait until they are profiled.", 409)
    unknown = [name for name in (*form.roles, *form.reasons) if name not in there]
    if unknown:
        raise RequestError(f"Column {unknown[0][:80]!r} does not exist.")
    before = (dict(found.decided), dict(found.reasons))
    found.roles.update(form.roles)
    found.reasons.update(form.reasons)
    found.reasons = {name: text for name, text in found.reasons.items() if text.strip()}
    if form.accept:
        found.accept()
    if (found.decided, found.reasons) != before:
        found.forget()
    return f.TableState(**workspace.state(found))
