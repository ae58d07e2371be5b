"""The REST API, first part: what is open, its files, its roles."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from fastapi import Request, Response

from crypsis.web import forms as f
from crypsis.web.api_common import BYTES, FileName, In, new_router, no_job, take, told
from crypsis.web.tables import File, Table
from crypsis.web.trouble import Trouble
from crypsis.web.uploads import title_of

router = new_router()


@router.get("/tables", tags=["tables"])
def list_tables(house: In) -> list[f.TableTold]:
    """What is open."""
    return [f.TableTold(**house.told(table)) for table in house.tables.every()]


@router.post("/tables", tags=["tables"], status_code=201)
def create_table(house: In, form: f.NewTable) -> f.TableTold:
    """Begin a piece of work whose files come one by one."""
    return f.TableTold(**house.told(house.tables.create(form.kind, form.title)))


@router.post("/tables/upload", tags=["tables"], status_code=202, openapi_extra=BYTES)
async def upload_table(house: In, request: Request, name: FileName) -> f.JobTold:
    """Upload a table that is to be released, and look at its columns."""
    title = title_of(name)
    table = house.tables.create("release", title)
    try:
        await take(house, request, table, "data", title)
        return told(house.look(table))
    except BaseException:
        house.close(table.id)
        raise


@router.post("/tables/given", tags=["tables"], status_code=202)
def open_given(house: In, form: f.GivenFile) -> f.JobTold:
    """Open a source that the server was started with; it is read where it is."""
    table = house.tables.create("release", "")
    try:
        house.add_given(table, "data", form.place)
    except Trouble:
        house.close(table.id)
        raise
    return told(house.look(table))


@router.post("/tables/sample", tags=["tables"], status_code=202)
async def open_sample(house: In) -> f.JobTold:
    """Open a sample of invented people."""
    table = house.tables.create("release", "people.csv")
    await asyncio.to_thread(_write_sample, table)
    return told(house.look(table))


def _write_sample(table: Table) -> None:
    import pyarrow.csv

    from crypsis.sample import people

    path = table.folder / "data-people.csv"
    pyarrow.csv.write_csv(people(10_000), path)
    table.files["data"] = File(str(path), "people.csv", True, {"format": "csv"})


@router.get("/tables/{table}", tags=["tables"])
def show_table(house: In, table: str) -> f.TableTold:
    """A table: its columns with their roles, and how far it has come."""
    return f.TableTold(**house.told(house.tables.get(table)))


@router.delete("/tables/{table}", tags=["tables"], status_code=204)
def close_table(house: In, table: str) -> Response:
    """Close a table and remove every file of it that the server made or was sent."""
    house.close(table)
    return Response(status_code=204)


@router.post(
    "/tables/{table}/files/{slot}/upload", tags=["tables"], openapi_extra=BYTES, status_code=201
)
async def upload_file(
    house: In, request: Request, table: str, slot: f.Slot, name: FileName
) -> f.TableTold:
    """Upload one more file of a table: the original, the masked one, what an attacker knows."""
    found = house.tables.get(table)
    await take(house, request, found, slot, title_of(name))
    found.found = None
    return f.TableTold(**house.told(found))


@router.post("/tables/{table}/files/{slot}/given", tags=["tables"], status_code=201)
def give_file(house: In, table: str, slot: f.Slot, form: f.GivenFile) -> f.TableTold:
    """Take one more file from what the server was started with."""
    found = house.tables.get(table)
    house.add_given(found, slot, form.place)
    found.found = None
    return f.TableTold(**house.told(found))


@router.put("/tables/{table}/reading", tags=["tables"], status_code=202)
def read_again(house: In, table: str, form: f.Reading) -> f.JobTold:
    """Open the file again, read in another way."""
    found = house.tables.get(table)
    file = house.file(found, "data")
    kept = {"format": file["reading"]["format"]} if "format" in file["reading"] else {}
    given = form.model_dump(exclude_none=True, exclude_defaults=True)
    found.files["data"] = replace(found.files["data"], reading={**kept, **given})
    return told(house.look(found))


@router.put("/tables/{table}/roles", tags=["roles"])
def decide_roles(house: In, table: str, form: f.Roles) -> f.TableTold:
    """Decide what columns are. What was found with other roles is forgotten."""
    found = house.tables.get(table)
    no_job(house, found)
    there = found.decided
    if not there:
        raise Trouble("The columns are not known yet; wait until they were looked at.", 409)
    unknown = [name for name in form.roles if name not in there]
    if unknown:
        raise Trouble(f"There is no column {unknown[0][:80]!r}.")
    before = dict(found.decided)
    found.roles.update(form.roles)
    if form.accept:
        found.roles = dict(found.decided)
    if found.decided != before:
        found.forget()
    return f.TableTold(**house.told(found))
