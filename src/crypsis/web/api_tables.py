"""The REST API, first part: what is open, its files, its roles."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import Request, Response

from crypsis.web import forms as f
from crypsis.web.api_base import BYTES, FileName, In, job_state, new_router, no_job, received, take
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
    return f.TableState(**workspace.state(workspace.create(form.kind, form.title)))


@router.post("/tables/upload", tags=["tables"], status_code=202, openapi_extra=BYTES)
async def upload_table(workspace: In, request: Request, name: FileName) -> f.JobState:
    """Upload a table that is to be released, and look at its columns."""
    title = title_of(name)
    workspace.make_room()
    with workspace.arriving() as folder:  # a table is opened once its file is there
        path = await received(workspace, request, folder, "data", title)
        table = workspace.create("release", title)
        try:
            workspace.add_upload(table, "data", str(path.rename(table.folder / path.name)), title)
            return job_state(workspace.scan(table))
        except BaseException:
            workspace.close(table.id)
            raise


@router.post("/tables/given", tags=["tables"], status_code=202)
def open_given(workspace: In, form: f.GivenFile) -> f.JobState:
    """Open a source that the server was started with; it is read where it is."""
    table = workspace.create("release", "")
    try:
        workspace.add_given(table, "data", form.place)
    except RequestError:
        workspace.close(table.id)
        raise
    return job_state(workspace.scan(table))


@router.post("/tables/sample", tags=["tables"], status_code=202)
async def open_sample(workspace: In) -> f.JobState:
    """Open a sample of invented people."""
    table = workspace.create("release", "people.csv")
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


@router.post("/tables/{table}/rows", tags=["tables"])
async def show_rows(workspace: In, table: str, form: f.RowsForm) -> dict[str, Any]:
    """A window of the records with their values, and of the release beside them."""
    opened = workspace.tables.get(table)
    window_options = form.model_dump(exclude={"reveal"})
    release_file = None if opened.made is None else f"release.{opened.made['form']}"
    arguments = {"file": workspace.file(opened, "data"), "roles": opened.decided, "made": release_file}
    return await opened.quick("rows", {**arguments, **window_options})


@router.post("/tables/{table}/rewrite", tags=["tables"], status_code=202)
def rewrite_table(workspace: In, table: str) -> f.JobState:
    """Write the table anew, and take this clean copy as its file: the rows and nothing besides them.

    Both are downloads: clean.parquet, and its record with the digest.
    """
    found = workspace.tables.get(table)
    no_job(workspace, found)
    return job_state(workspace.rewrite(found))


@router.delete("/tables/{table}", tags=["tables"], status_code=204)
def close_table(workspace: In, table: str) -> Response:
    """Close a table and remove every file of it that the server made or was sent."""
    workspace.close(table)
    return Response(status_code=204)


@router.post("/tables/{table}/files/{slot}/upload", tags=["tables"], openapi_extra=BYTES, status_code=201)
async def upload_file(
    workspace: In, request: Request, table: str, slot: f.Slot, name: FileName
) -> f.TableState:
    """Upload one more file of a table: the original, the masked one, what an attacker knows."""
    opened = workspace.tables.get(table)
    await take(workspace, request, opened, slot, title_of(name))
    opened.found = None
    return f.TableState(**workspace.state(opened))


@router.post("/tables/{table}/files/{slot}/given", tags=["tables"], status_code=201)
def give_file(workspace: In, table: str, slot: f.Slot, form: f.GivenFile) -> f.TableState:
    """Take one more file from what the server was started with."""
    opened = workspace.tables.get(table)
    workspace.add_given(opened, slot, form.place)
    opened.found = None
    return f.TableState(**workspace.state(opened))
