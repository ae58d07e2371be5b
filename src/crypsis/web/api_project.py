"""The REST API: what was chosen on the page, undone, saved and opened again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import ValidationError

from crypsis.web import forms as f
from crypsis.web.api_base import In, job_state, may_discard, new_router, no_job
from crypsis.web.errors import RequestError

router = new_router()
_HISTORY = 100


@router.get("/tables/{table}/choices", tags=["project"])
def show_choices(workspace: In, table: str) -> dict[str, Any]:
    """What is chosen now, and how many steps can be undone."""
    found = workspace.tables.get(table)
    return {"choices": found.choices[-1], "steps": len(found.choices) - 1}


@router.put("/tables/{table}/choices", tags=["project"])
def choose(workspace: In, table: str, form: f.ChoicesForm) -> dict[str, Any]:
    """Remember what is chosen on the page; the step before can be taken back."""
    found = workspace.tables.get(table)
    last = found.choices[-1]
    if all(form.choices.get(name) == value for name, value in last.items()):
        found.choices[-1] = dict(form.choices)  # further fields with what they begin with
    else:
        found.choices = [*found.choices[-_HISTORY:], dict(form.choices)]
    return {"choices": found.choices[-1], "steps": len(found.choices) - 1}


@router.post("/tables/{table}/undo", tags=["project"])
def undo(workspace: In, table: str) -> dict[str, Any]:
    """Take the last choice back."""
    found = workspace.tables.get(table)
    if len(found.choices) > 1:
        found.choices.pop()
    return {"choices": found.choices[-1], "steps": len(found.choices) - 1}


@router.get("/tables/{table}/project", tags=["project"], response_class=JSONResponse)
def save_project(workspace: In, table: str, hierarchies: bool = False) -> JSONResponse:
    """How the table is read, what its columns are and what was chosen: a file without rows.

    Hierarchies have values of the data, so they are in it only on request.
    """
    found = workspace.tables.get(table)
    reading = found.files["data"].reading if "data" in found.files else {}
    trees = {name: Path(path).read_text("utf-8") for name, path in found.hierarchies.items()}
    body = {
        "format": "crypsis project 1",
        "title": found.title,
        "reading": {name: value for name, value in reading.items() if name != "format"},
        "roles": dict(found.roles),
        "notes": dict(found.notes),
        "units": dict(found.units),
        "choices": found.choices[-1],
        "hierarchies": trees if hierarchies else {},
    }
    name = {"Content-Disposition": 'attachment; filename="project.crypsis.json"'}
    return JSONResponse(body, headers=name)


@router.put("/tables/{table}/project", tags=["project"], status_code=202)
def open_project(workspace: In, table: str, form: f.OpenProjectForm) -> f.JobState:
    """Take up the uploaded file `project`: the table is read and decided as it says."""
    found = workspace.tables.get(table)
    no_job(workspace, found)
    path = workspace.file(found, "project")["path"]
    try:
        saved = f.ProjectForm.model_validate(json.loads(Path(path).read_text("utf-8")))
        reading = f.ReadForm.model_validate(saved.reading)
    except (ValueError, ValidationError, RecursionError):
        raise RequestError("The file is not a project of crypsis.") from None
    may_discard(found, form.discard)
    kept = {n: v for n, v in found.files["data"].reading.items() if n == "format"}
    own = reading.model_dump(exclude_unset=True, exclude={"discard"})
    own = {name: value for name, value in own.items() if value}
    found.files["data"] = replace(found.files["data"], reading={**kept, **own})
    found.roles = dict(saved.roles)
    found.notes = {name: note.model_dump(exclude_unset=True) for name, note in saved.notes.items()}
    found.units = {str(unit): name for unit, name in saved.units.items()}
    found.choices = [dict(saved.choices)]
    for place, (name, text) in enumerate(saved.hierarchies.items()):
        target = found.folder / f"hierarchy-project-{place}.csv"
        target.write_text(text, encoding="utf-8")
        found.hierarchies[name] = str(target)
    return job_state(workspace.scan(found))
