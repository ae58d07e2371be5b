"""The REST API: what was chosen on the page, undone, saved and opened again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from crypsis.web import forms as f
from crypsis.web.api_base import In, Version, job_state, may_discard, new_router, no_job
from crypsis.web.draft import MAX_STEPS, check_names, plan_form
from crypsis.web.errors import RequestError
from crypsis.web.open_tables import OpenTable

router = new_router()
Steps = Annotated[int, Query(ge=1, le=MAX_STEPS)]


@router.get("/tables/{table}/choices", tags=["project"])
def show_choices(workspace: In, table: str) -> dict[str, Any]:
    """The list of choices with its version, what each field has, and the steps that led to it."""
    return _chosen(workspace.tables.get(table))


@router.patch("/tables/{table}/choices", tags=["project"])
def choose(workspace: In, table: str, form: f.ChoicesForm, version: Version = None) -> dict[str, Any]:
    """Change the list in one step; with the version that was shown as `If-Match`, only that one."""
    opened = workspace.tables.get(table)
    with opened.draft.lock:
        opened.check_version(version)
        opened.choose(form.changes)
        return _chosen(opened)


@router.post("/tables/{table}/undo", tags=["project"])
def undo(workspace: In, table: str, steps: Steps = 1, version: Version = None) -> dict[str, Any]:
    """Take the last choice back, or several."""
    opened = workspace.tables.get(table)
    with opened.draft.lock:
        opened.check_version(version)
        opened.draft.undo(steps)
        return _chosen(opened)


@router.post("/tables/{table}/redo", tags=["project"])
def redo(workspace: In, table: str, steps: Steps = 1, version: Version = None) -> dict[str, Any]:
    """Choose again what was taken back last, or several steps of it."""
    opened = workspace.tables.get(table)
    with opened.draft.lock:
        opened.check_version(version)
        opened.draft.redo(steps)
        return _chosen(opened)


def _chosen(table: OpenTable) -> dict[str, Any]:
    chosen, defaults = table.draft.chosen, table.defaults
    return {
        "version": table.version,
        "choices": chosen,
        "fields": {**defaults, **chosen},
        "previewed": table.previewed,
        **table.draft.history(defaults),
    }


@router.get("/tables/{table}/project", tags=["project"], response_class=JSONResponse)
def save_project(workspace: In, table: str, hierarchies: bool = False) -> JSONResponse:
    """How the table is read, what its columns are and what was chosen: a file without rows.

    Hierarchies have values of the data, so they are in it only on request.
    """
    opened = workspace.tables.get(table)
    reading = opened.files["data"].reading if "data" in opened.files else {}
    trees = {name: Path(path).read_text("utf-8") for name, path in opened.hierarchies.items()}
    body = {
        "format": "crypsis project 1",
        "title": opened.title,
        "reading": {name: value for name, value in reading.items() if name != "format"},
        "roles": dict(opened.roles),
        "notes": dict(opened.notes),
        "units": dict(opened.units),
        "choices": opened.draft.chosen,
        "hierarchies": trees if hierarchies else {},
    }
    name = {"Content-Disposition": 'attachment; filename="project.crypsis.json"'}
    return JSONResponse(body, headers=name)


@router.put("/tables/{table}/project", tags=["project"], status_code=202)
def open_project(workspace: In, table: str, form: f.OpenProjectForm) -> f.JobState:
    """Take up the uploaded file `project`: the table is read and decided as it says."""
    opened = workspace.tables.get(table)
    no_job(workspace, opened)
    path = workspace.file(opened, "project")["path"]
    try:
        saved = f.ProjectForm.model_validate(json.loads(Path(path).read_text("utf-8")))
        reading = f.ReadForm.model_validate(saved.reading)
    except (ValueError, ValidationError, RecursionError):
        raise RequestError("The file is not a project of crypsis.") from None
    columns = {name.partition(":")[2]: "" for name in saved.choices}
    check_names(saved.choices, columns)  # those of columns that this table lacks stay in the list
    plan_form({**opened.defaults, **saved.choices})
    may_discard(opened, form.discard)
    kept = {n: v for n, v in opened.files["data"].reading.items() if n == "format"}
    form_reading = reading.model_dump(exclude_unset=True, exclude={"discard"})
    form_reading = {name: value for name, value in form_reading.items() if value}
    opened.files["data"] = replace(opened.files["data"], reading={**kept, **form_reading})
    opened.roles = dict(saved.roles)
    opened.notes = {name: note.model_dump(exclude_unset=True) for name, note in saved.notes.items()}
    opened.units = {str(unit): name for unit, name in saved.units.items()}
    for position, (name, text) in enumerate(saved.hierarchies.items()):
        target = opened.folder / f"hierarchy-project-{position}.csv"
        target.write_text(text, encoding="utf-8")
        opened.hierarchies[name] = str(target)
    job = workspace.scan(opened)
    opened.draft.open(saved.choices, opened.defaults)
    return job_state(job)
