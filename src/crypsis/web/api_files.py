"""The REST API, third part: downloads, two files together, jobs."""

from __future__ import annotations

from typing import Any

from fastapi.responses import FileResponse

from crypsis.web import forms as f
from crypsis.web.api_base import In, existing, job_state, new_router
from crypsis.web.errors import RequestError
from crypsis.web.open_tables import OpenTable
from crypsis.web.workspace import DOWNLOADS, KEY, Workspace

router = new_router()


@router.get(
    "/tables/{table}/downloads/{name}",
    tags=["downloads"],
    responses={200: {"content": {"application/octet-stream": {}}}},
    response_class=FileResponse,
)
def download(workspace: In, table: str, name: str) -> FileResponse:
    """A file that was made: the release, its statement, the plan, a report. Never the key."""
    opened = workspace.tables.get(table)
    if name not in workspace.downloads(opened):
        raise RequestError("The file does not exist.", 404)
    stem = _plain(opened.title)
    media, _ = DOWNLOADS[name]
    return FileResponse(opened.folder / name, media_type=media, filename=f"{stem}.{name}")


@router.post(
    "/tables/{table}/key",
    tags=["downloads"],
    response_class=FileResponse,
    responses={200: {"content": {"application/json": {}}}},
)
def download_key(workspace: In, table: str, form: f.KeyForm) -> FileResponse:
    """The re-identification key; only with an explicit confirmation."""
    opened = workspace.tables.get(table)
    if opened.made is None or not (opened.folder / KEY).is_file():
        raise RequestError("No release was made yet, so no key exists.", 409)
    name = f"{_plain(opened.title)}.{KEY}"
    return FileResponse(opened.folder / KEY, media_type="application/json", filename=name)


@router.post("/tables/{table}/compare", tags=["two files"], status_code=202)
def compare(workspace: In, table: str, form: f.CompareForm) -> f.JobState:
    """Compare the file `original` with the file `masked`: can records be linked back?"""
    opened = workspace.tables.get(table)
    slots = ("original", "masked", *(("key",) if "key" in opened.files else ()))
    files = {slot: workspace.file(opened, slot) for slot in slots}
    return _second(workspace, opened, "Comparing two files", "compare", {**files, **form.model_dump()})


@router.post("/tables/{table}/verify", tags=["two files"], status_code=202)
def verify(workspace: In, table: str, form: f.SubjectForm) -> f.JobState:
    """Verify the file `released` as a data subject, with their own record."""
    opened = workspace.tables.get(table)
    arguments = {"file": workspace.file(opened, "released"), **form.model_dump()}
    return _second(workspace, opened, "Verifying one record", "verify", arguments)


@router.post("/tables/{table}/attack", tags=["two files"], status_code=202)
def attack(workspace: In, table: str, form: f.AttackForm) -> f.JobState:
    """Attack the pseudonyms of the file `released` with the intruder's file `known`."""
    opened = workspace.tables.get(table)
    files: dict[str, Any] = {"released": workspace.file(opened, "released")}
    for slot in ("known", "truth"):
        if slot in opened.files:
            files[slot] = workspace.file(opened, slot)
    return _second(workspace, opened, "Attacking the pseudonyms", "attack", {**files, **form.model_dump()})


@router.get("/tables/{table}/found", tags=["two files"])
def show_found(workspace: In, table: str) -> dict[str, Any]:
    """The result of the comparison, the verification or the attack."""
    return existing(workspace.tables.get(table).found, "Nothing was asked yet.")


@router.get("/jobs", tags=["jobs"])
def list_jobs(workspace: In) -> list[f.JobState]:
    """The jobs that are remembered."""
    return [job_state(job) for job in workspace.jobs.every()]


@router.get("/jobs/{job}", tags=["jobs"])
def show_job(workspace: In, job: str) -> f.JobState:
    """The state of a job."""
    return job_state(workspace.jobs.get(job))


@router.post("/jobs/{job}/cancel", tags=["jobs"])
def cancel_job(workspace: In, job: str) -> f.JobState:
    """Cancel a job; an assessment then returns what is known so far."""
    return job_state(workspace.jobs.cancel(job))


def _second(
    workspace: Workspace, table: OpenTable, what: str, do: str, arguments: dict[str, Any]
) -> f.JobState:
    def keep(result: dict[str, Any]) -> None:
        table.found = {"asked": do, **result}

    return job_state(workspace.jobs.start(table, what, do, arguments, keep, f"/t/{table.id}"))


def _plain(title: str) -> str:
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in title.rsplit(".", 1)[0])
    return kept[:60] or "table"
