"""The REST API: how a file is read, and what its columns are."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fastapi.responses import FileResponse

from crypsis.dataset import ColumnNote, is_reason
from crypsis.options import EACH_RECORD
from crypsis.web import forms as f
from crypsis.web.api_base import In, job_state, may_discard, new_router, no_job
from crypsis.web.errors import RequestError
from crypsis.web.open_tables import OpenTable
from crypsis.web.workspace import Workspace

router = new_router()
Notes = dict[str, dict[str, Any]]


@router.put("/tables/{table}/reading", tags=["tables"], status_code=202)
def read_again(workspace: In, table: str, form: f.ReadForm) -> f.JobState:
    """Open the file again, read in another way; what is not given stays as it is.

    Roles of columns that are still there stay. An empty value is detected again.
    """
    opened = workspace.tables.get(table)
    no_job(workspace, opened)
    may_discard(opened, getattr(form, "discard", False))
    form_values = form.model_dump(exclude_unset=True, exclude={"discard"})
    before = workspace.file(opened, "data")["reading"]
    types = {**before.get("types", {}), **(form_values.pop("types", None) or {})}
    reading = {**before, **form_values, "types": {name: kind for name, kind in types.items() if kind}}
    reading = {name: value for name, value in reading.items() if value}
    opened.files["data"] = replace(opened.files["data"], reading=reading)
    return job_state(workspace.scan(opened))


@router.put("/tables/{table}/roles", tags=["roles"])
async def decide_roles(workspace: In, table: str, form: f.RolesForm) -> f.TableState:
    """Decide what columns are. What was found with other roles is discarded, if that is allowed."""
    opened = workspace.tables.get(table)
    no_job(workspace, opened)
    decided = opened.decided
    if not decided:
        raise RequestError("The columns are not known yet; wait until they are profiled.", 409)
    roles: dict[str, str] = dict(form.roles)
    units: dict[str, str] = {str(unit): name for unit, name in form.units.items()}
    notes = {name: note.model_dump(exclude_unset=True) for name, note in form.notes.items()}
    if form.file:
        filed = await asyncio.to_thread(_from_file, workspace, opened, list(decided))
        roles, notes, units = {**filed[0], **roles}, {**filed[1], **notes}, {**filed[2], **units}
        opened.absent = filed[3]
        if "person" in opened.absent:
            units.setdefault("person", "")
    columns = {unit: name for unit, name in units.items() if unit != "person_reason"}
    if columns.get("person") == EACH_RECORD:
        del columns["person"]
    if units.get("person_reason") and not is_reason(units["person_reason"]):
        raise RequestError("The reason why each record is of one person must say why, in words.")
    named = (*roles, *notes, *filter(None, columns.values()))
    unknown = [name for name in named if name not in decided]
    if unknown:
        raise RequestError(f"Column {unknown[0][:80]!r} does not exist.")
    before = (dict(decided), dict(opened.notes), dict(opened.units))
    after = _decided(opened, roles, notes, units)
    if after != before:
        may_discard(opened, form.discard)
        workspace.forget(opened)
        opened.roles.update(roles)
        opened.notes, opened.units = after[1], after[2]
    else:
        opened.roles.update(roles)
    if form.accept:
        opened.accept()
        if opened.decided != before[0]:
            workspace.forget(opened)
    return f.TableState(**workspace.state(opened))


def _decided(
    table: OpenTable, roles: dict[str, str], notes: Notes, units: dict[str, str]
) -> tuple[dict[str, str], Notes, dict[str, str]]:
    """Roles, notes and units as they would be; what is empty is removed."""
    written = {name: dict(note) for name, note in table.notes.items()}
    for name, note in notes.items():
        both = {**written.get(name, {}), **note}
        stripped = {part: text.strip() if isinstance(text, str) else text for part, text in both.items()}
        written[name] = {part: text for part, text in stripped.items() if text}
    kept = {name: note for name, note in written.items() if note}
    if notes:
        for note in kept.values():
            ColumnNote(**note)  # what is no reason is refused where it is written
    named = {unit: name for unit, name in {**table.units, **units}.items() if name}
    return {**table.decided, **roles}, kept, named


def _from_file(
    workspace: Workspace, table: OpenTable, names: list[str]
) -> tuple[dict[str, str], Notes, dict[str, str], dict[str, str]]:
    """Roles, notes and units of the uploaded roles file, and the units that the table lacks."""
    from crypsis.columns import roles

    filed = roles.load(workspace.file(table, "roles")["path"], names)
    parts = tuple(f.NoteForm.model_fields)  # what an anonymization needs besides is chosen on the page
    notes = {
        name: {part: _plain(getattr(note, part)) for part in parts if getattr(note, part)}
        for name, note in filed.notes.items()
    }
    decided = {name: role.value for name, role in filed.roles.items()}
    kept = {name: note for name, note in notes.items() if note}
    return decided, kept, dict(filed.units), dict(filed.absent)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class _Decided:
    """A column as a roles file has it."""

    column: str
    role: Any
    reason: str
    confidence: float


@router.get("/tables/{table}/roles.toml", tags=["roles"], response_class=FileResponse)
async def download_roles(workspace: In, table: str) -> FileResponse:
    """The roles, notes and units as a file for `--roles`; of values it has those that were noted."""
    opened = workspace.tables.get(table)
    path = opened.folder / "roles.saved.toml"
    await asyncio.to_thread(_write_roles, opened, path)
    return FileResponse(path, media_type="text/plain", filename="roles.toml")


def _write_roles(table: OpenTable, path: Path) -> None:
    from crypsis.columns import roles
    from crypsis.options import Role

    columns = [
        _Decided(
            column["column"],
            Role(table.decided[column["column"]]),
            column["reason"],
            1.0 if column["column"] in table.roles else column["confidence"],
        )
        for column in (table.profile or {}).get("columns", ())
    ]
    notes = {name: ColumnNote(**note) for name, note in table.notes.items()}
    evidence = (table.profile or {}).get("record_evidence", ())
    roles.save(columns, path, notes=notes, units=table.units, evidence=evidence, overwrite=True)
