"""The pages: rendered here, changed only through the API that programs use as well."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from fastapi import APIRouter, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from crypsis import __version__
from crypsis.options import EACH_RECORD, TYPES
from crypsis.results import percent_text
from crypsis.web import forms as f
from crypsis.web.api_base import In, existing, no_job
from crypsis.web.api_protection import levels_form, plan_question
from crypsis.web.open_tables import OpenTable
from crypsis.web.options import advanced
from crypsis.web.security import route_of
from crypsis.web.settings import size_text
from crypsis.web.uploads import ACCEPTED, FORMATS_IN_WORDS
from crypsis.web.workspace import DOWNLOADS, HANDED_OVER, KEY, Workspace, workspace_of

router = APIRouter(include_in_schema=False)
POLICIES = {
    "default": "Default",
    "hipaa-safe-harbor": "HIPAA, Safe Harbor",
    "hipaa-expert": "HIPAA, expert determination",
    "ema-0070": "EMA policy 0070",
    "cms-small-cells": "CMS, small cells",
    "wp216": "Article 29 Working Party, WP216",
    "ehds-secondary-use": "European Health Data Space, secondary use",
    "nist-800-188": "NIST SP 800-188",
    "strict-research": "Research, strict",
    "public-use-file": "Public use file",
    "scientific-use-file": "Scientific use file",
}
ROLES = {
    "identifier": "names a person by itself",
    "quasi-identifier": "others may know it",
    "sensitive": "must not become known",
    "insensitive": "neither identifies nor harms",
    "excluded": "is not released",
    "undecided": "not decided yet; nothing is called safe",
}
_STEPS = (
    ("data", "Data"),
    ("columns", "Columns"),
    ("verdict", "Verdict"),
    ("protect", "Make it safe"),
    ("release", "Release"),
)
_READING = {
    "delimiter": ("Delimiter", "found by itself"),
    "encoding": ("Encoding", "found by itself"),
    "names": ("Column names, if the file has no header", "age, zip, sex"),
    "missing_markers": ("Missing-value markers", "-9, unknown"),
    "sheet": ("Sheet of a spreadsheet", "the first"),
    "table": ("Table of a database", "the only one"),
}
_TOOLS = {"comparison": "compare", "subject": "verify", "attack": "pseudonyms"}


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from crypsis.report.wording import plural, visible

    environment = Environment(
        loader=PackageLoader("crypsis.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        plural=plural,
        count=lambda value: f"{value:,}",
        percent=percent_text,
        name=visible,
        size=size_text,
        bits=lambda value: "–" if value is None else f"{value:.2f}",
    )
    environment.globals.update(
        version=__version__,
        roles=ROLES,
        policies=POLICIES,
        formats=FORMATS_IN_WORDS,
        accepted=ACCEPTED,
        steps=_STEPS,
        downloads=DOWNLOADS,
        reading_fields=_reading_fields(),
        types=TYPES,
        each_record=EACH_RECORD,
    )
    return environment


def _reading_fields() -> list[tuple[str, str, str]]:
    """The reading options with their labels; each has a field of text but the types."""
    names = [name for name in f.reading_options() if name != "types"]
    plain = ("", "found by itself")
    return [
        (n, _READING.get(n, plain)[0] or n.replace("_", " ").capitalize(), _READING.get(n, plain)[1])
        for n in names
    ]


def render(request: Request, template: str, code: int = 200, **content: Any) -> Response:
    """A page, with what every page needs."""
    workspace = workspace_of(request)
    text = (
        _environment()
        .get_template(template)
        .render(
            csrf=workspace.gate.csrf,
            settings=workspace.settings,
            root=request.scope.get("root_path", ""),
            path=route_of(request),
            **content,
        )
    )
    return HTMLResponse(text.encode("utf-8", "replace"), code)


def error_page(request: Request, status: int, message: str) -> Response:
    """The page that says what went wrong."""
    return render(request, "error.html", status, status=status, message=message)


def _redirect(request: Request, path: str) -> Response:
    return RedirectResponse(request.scope.get("root_path", "") + path, 303)


@router.get("/")
def home(request: Request, workspace: In) -> Response:
    """Open a file; or go on with one that is open."""
    tables = [(table, _state(workspace, table)) for table in workspace.tables.every()]
    return render(request, "home.html", given=workspace.settings.given, tables=tables)


def _state(workspace: Workspace, table: OpenTable) -> str:
    job = workspace.jobs.of(table.id)
    if job is not None:
        return job.what
    if table.made is not None:
        return "release made"
    if table.assessed is not None:
        return str(table.assessed["head"]).lower()
    if table.found is not None:
        return "answered"
    if table.kind == "release" and table.profile is None and workspace.tried(table):
        return "could not be opened"
    return "columns known" if table.profile is not None else "opened"


@router.get("/t/{table}")
def open_table(request: Request, workspace: In, table: str) -> Response:
    """Where a table is now."""
    opened = workspace.tables.get(table)
    if opened.kind != "release":
        return _tool(request, workspace, opened)
    if opened.profile is None:
        return _waiting(request, workspace, opened)
    step = "columns"
    for name, there_is in (("verdict", opened.assessed), ("release", opened.made)):
        step = name if there_is is not None else step
    return _redirect(request, f"/t/{opened.id}/{step}")


def _waiting(request: Request, workspace: Workspace, table: OpenTable) -> Response:
    """The work going on, or why there is nothing to show."""
    jobs = [job for job in workspace.jobs.every() if job.table == table.id]
    return render(request, "waiting.html", table=table, job=jobs[-1] if jobs else None)


@router.get("/t/{table}/data")
def data(request: Request, workspace: In, table: str) -> Response:
    """The records, and beside them those of the release."""
    opened = workspace.tables.get(table)
    if opened.profile is None:
        return _waiting(request, workspace, opened)
    return _step(request, workspace, opened, "data", columns=_columns(opened))


@router.get("/t/{table}/columns")
def columns(request: Request, workspace: In, table: str) -> Response:
    """The columns with their roles."""
    opened = workspace.tables.get(table)
    if opened.profile is None:
        return _waiting(request, workspace, opened)
    return _step(request, workspace, opened, "columns", columns=_columns(opened))


def _columns(table: OpenTable) -> list[dict[str, Any]]:
    decided = table.decided
    listed = (table.profile or {}).get("columns", [])
    return [
        {
            **column,
            "role": decided[column["column"]],
            "guess": column["role"],
            "guessed": column["column"] not in table.roles,
            "place": position,
            "note": table.notes.get(column["column"], {}),
        }
        for position, column in enumerate(listed)
    ]


@router.get("/t/{table}/verdict")
def verdict(request: Request, workspace: In, table: str) -> Response:
    """The verdict and the four questions."""
    opened = workspace.tables.get(table)
    if opened.profile is None:
        return _waiting(request, workspace, opened)
    return _step(request, workspace, opened, "verdict", columns=_columns(opened))


@router.get("/t/{table}/protect")
def protect(request: Request, workspace: In, table: str) -> Response:
    """Sliders, the live plan, the trade-off."""
    opened = workspace.tables.get(table)
    if opened.profile is None:
        return _waiting(request, workspace, opened)
    return _step(
        request,
        workspace,
        opened,
        "protect",
        columns=_columns(opened),
        advanced=advanced(),
        counted={column["column"]: column for column in (opened.preview or {}).get("columns", ())},
    )


@router.get("/t/{table}/release")
def release(request: Request, workspace: In, table: str) -> Response:
    """Before and after, and the downloads."""
    opened = workspace.tables.get(table)
    if opened.made is None:
        return _redirect(request, f"/t/{opened.id}/protect")
    return _step(
        request,
        workspace,
        opened,
        "release",
        pairs=_pairs(opened),
        files=workspace.downloads(opened),
        has_key=(opened.folder / KEY).is_file(),
        handed_over=HANDED_OVER,
        as_chosen=opened.made["asked"] == opened.plan.model_dump(mode="json"),
    )


def _pairs(table: OpenTable) -> list[dict[str, Any]]:
    """Each finding after, with the same before where the same policy was asked."""
    after, before = (table.made or {})["after"], table.assessed
    if before is None or before["policy"]["name"] != after["policy"]["name"]:
        before = {"findings": []}

    def key(finding: dict[str, Any]) -> tuple[Any, ...]:
        target = finding["columns"][:1] if finding["question"] == "inference" else []
        return (finding["measure"], finding["class_size"], *target)

    before_by_key = {key(finding): finding for finding in before["findings"]}
    return [
        {"after": finding, "before": before_by_key.get(key(finding))}
        for finding in after["findings"]
        if finding["status"] != "not asked"
    ]


def _step(request: Request, workspace: Workspace, table: OpenTable, step: str, **content: Any) -> Response:
    return render(request, f"{step}.html", table=table, step=step, job=workspace.jobs.of(table.id), **content)


@router.post("/t/{table}/causes")
async def causes(request: Request, workspace: In, table: str, form: f.CausesForm) -> Response:
    """What is behind a finding, as a part of the page."""
    opened = workspace.tables.get(table)
    arguments = {"file": workspace.file(opened, "data"), "roles": opened.decided, **form.model_dump()}
    behind = await opened.quick("causes", arguments)
    return render(request, "part_causes.html", behind=behind, asked=form)


@router.post("/t/{table}/what-if")
async def what_if(request: Request, workspace: In, table: str, form: f.WhatIfForm) -> Response:
    """What a choice comes to, as a part of the page."""
    opened = workspace.tables.get(table)
    levels = levels_form(opened, form)
    choice = await opened.quick("what_if", levels.model_dump())
    return render(request, "part_what_if.html", choice=choice, asked=levels)


@router.get("/t/{table}/tried")
def tried(request: Request, workspace: In, table: str) -> Response:
    """What recipients would get, as a part of the page."""
    opened = workspace.tables.get(table)
    return render(request, "part_tried.html", tried=existing(opened.tried, "Nothing was tried yet."))


@router.get("/t/{table}/explored")
def explored(request: Request, workspace: In, table: str) -> Response:
    """The alternatives, as a part of the page."""
    opened = workspace.tables.get(table)
    body = existing(opened.explored, "No alternatives were compared yet.")
    return render(request, "part_explored.html", explored=body, points=_points(body))


def _points(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Where the alternatives are in the picture of risk against loss, 0 to 1 each."""
    tried = [
        alternative
        for alternative in body["alternatives"]
        if not alternative["failure"] and alternative["loss"] is not None
    ]
    highest = max((alternative["average_risk"] or 0.0 for alternative in tried), default=1.0) or 1.0
    most = max((alternative["loss"] for alternative in tried), default=1.0) or 1.0
    return [
        {**alternative, "x": alternative["loss"] / most, "y": (alternative["average_risk"] or 0.0) / highest}
        for alternative in tried
    ]


@router.post("/t/{table}/plan")
async def plan(request: Request, workspace: In, table: str, form: f.PlanForm) -> Response:
    """The plan, as a part of the page."""
    opened = workspace.tables.get(table)
    no_job(workspace, opened)
    choice = await opened.quick("plan", plan_question(workspace, opened, form))
    return render(request, "part_plan.html", plan=choice)


@router.get("/compare")
def compare(request: Request, workspace: In) -> Response:
    """Begin a comparison."""
    return render(request, "compare.html", table=None, given=workspace.settings.given, job=None)


@router.get("/verify")
def verify(request: Request, workspace: In) -> Response:
    """Begin a check of one record."""
    return render(request, "verify.html", table=None, given=workspace.settings.given, job=None, schema=None)


@router.get("/pseudonyms")
def pseudonyms(request: Request, workspace: In) -> Response:
    """Begin an attack on pseudonyms."""
    return render(request, "pseudonyms.html", table=None, given=workspace.settings.given, job=None)


def _tool(request: Request, workspace: Workspace, table: OpenTable) -> Response:
    jobs = [job for job in workspace.jobs.every() if job.table == table.id]
    content: dict[str, Any] = {"schema": None} if table.kind == "subject" else {}
    return render(
        request,
        f"{_TOOLS[table.kind]}.html",
        table=table,
        given=workspace.settings.given,
        job=jobs[-1] if jobs else None,
        **content,
    )


@router.get("/t/{table}/record")
async def record(request: Request, workspace: In, table: str) -> Response:
    """The fields for one's own record, as a part of the page."""
    opened = workspace.tables.get(table)
    schema = await opened.quick("verify", {"file": workspace.file(opened, "released")})
    return render(request, "part_record.html", schema=schema)


@router.get("/api")
def documentation(request: Request) -> Response:
    """The API's own documentation, from its own description of itself."""
    described: dict[str, Any] = request.app.openapi()
    return render(request, "api.html", described=described)
