"""The REST API, third part: downloads, two files together, jobs."""

from __future__ import annotations

from typing import Any

from fastapi.responses import FileResponse

from crypsis.web import forms as f
from crypsis.web.api_common import In, new_router, there, told
from crypsis.web.house import DOWNLOADS, KEY, House
from crypsis.web.tables import Table
from crypsis.web.trouble import Trouble

router = new_router()


@router.get(
    "/tables/{table}/downloads/{name}", tags=["downloads"],
    responses={200: {"content": {"application/octet-stream": {}}}}, response_class=FileResponse,
)  # fmt: skip
def download(house: In, table: str, name: str) -> FileResponse:
    """A file that was made: the release, its statement, the plan, a report. Never the key."""
    found = house.tables.get(table)
    if name not in house.downloads(found):
        raise Trouble("There is no such file.", 404)
    stem = _plain(found.title)
    media, _ = DOWNLOADS[name]
    return FileResponse(found.folder / name, media_type=media, filename=f"{stem}.{name}")


@router.post(
    "/tables/{table}/key", tags=["downloads"], response_class=FileResponse,
    responses={200: {"content": {"application/json": {}}}},
)  # fmt: skip
def download_key(house: In, table: str, form: f.KeyForm) -> FileResponse:
    """The owner's key, which undoes the release: only where that is confirmed."""
    found = house.tables.get(table)
    if not (found.folder / KEY).is_file():
        raise Trouble("No release was made yet, so there is no key.", 409)
    name = f"{_plain(found.title)}.{KEY}"
    return FileResponse(found.folder / KEY, media_type="application/json", filename=name)


@router.post("/tables/{table}/compare", tags=["two files"], status_code=202)
def compare(house: In, table: str, form: f.CompareForm) -> f.JobTold:
    """Compare the file `original` with the file `masked`: can records be linked back?"""
    found = house.tables.get(table)
    files = {slot: house.file(found, slot) for slot in ("original", "masked")}
    return _second(house, found, "Comparing two files", "compare", {**files, **form.model_dump()})


@router.post("/tables/{table}/verify", tags=["two files"], status_code=202)
def verify(house: In, table: str, form: f.SubjectForm) -> f.JobTold:
    """Check the file `released` as a person in it, with her own record alone."""
    found = house.tables.get(table)
    given = {"file": house.file(found, "released"), **form.model_dump()}
    return _second(house, found, "Checking one record", "subject", given)


@router.post("/tables/{table}/attack", tags=["two files"], status_code=202)
def attack(house: In, table: str, form: f.AttackForm) -> f.JobTold:
    """Attack the pseudonyms of the file `released` with what the file `known` tells."""
    found = house.tables.get(table)
    files: dict[str, Any] = {"released": house.file(found, "released")}
    for slot in ("known", "truth"):
        if slot in found.files:
            files[slot] = house.file(found, slot)
    return _second(house, found, "Attacking the pseudonyms", "attack",
                   {**files, **form.model_dump()})  # fmt: skip


@router.get("/tables/{table}/found", tags=["two files"])
def show_found(house: In, table: str) -> dict[str, Any]:
    """What the comparison, the check or the attack brought."""
    return there(house.tables.get(table).found, "Nothing was asked yet.")


@router.get("/jobs", tags=["jobs"])
def list_jobs(house: In) -> list[f.JobTold]:
    """The jobs that are remembered."""
    return [told(job) for job in house.jobs.every()]


@router.get("/jobs/{job}", tags=["jobs"])
def show_job(house: In, job: str) -> f.JobTold:
    """How far a job is."""
    return told(house.jobs.get(job))


@router.post("/jobs/{job}/cancel", tags=["jobs"])
def cancel_job(house: In, job: str) -> f.JobTold:
    """Stop a job; an assessment then tells what is known by then."""
    found = house.jobs.get(job)
    found.stop.set()
    return told(found)


def _second(house: House, table: Table, what: str, do: str, given: dict[str, Any]) -> f.JobTold:
    def keep(result: dict[str, Any]) -> None:
        table.found = {"asked": do, **result}

    return told(house.jobs.start(table, what, do, given, keep, f"/t/{table.id}"))


def _plain(title: str) -> str:
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in
                   title.rsplit(".", 1)[0])  # fmt: skip
    return kept[:60] or "table"
