"""The pages: rendered here, changed only through the API that programs use as well."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from fastapi import APIRouter, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from crypsis import __version__
from crypsis.web import forms as f
from crypsis.web.api_common import In, there
from crypsis.web.house import DOWNLOADS, KEY, House, house_of
from crypsis.web.settings import told_size
from crypsis.web.tables import Table
from crypsis.web.trouble import Trouble

router = APIRouter(include_in_schema=False)
POLICIES = {
    "default": "General",
    "hipaa-safe-harbor": "HIPAA, Safe Harbor",
    "hipaa-expert": "HIPAA, expert determination",
    "ema-0070": "EMA policy 0070",
    "cms-small-cells": "CMS, small cells",
    "wp216": "Article 29 Working Party, WP216",
    "strict-research": "Research, strict",
}
ROLES = {
    "identifier": "names a person by itself",
    "quasi-identifier": "others may know it",
    "sensitive": "must not become known",
    "other": "none of these",
}
_STEPS = (("columns", "Columns"), ("verdict", "Verdict"), ("safe", "Make it safe"),
          ("release", "Release"))  # fmt: skip
_TOOLS = {"comparison": "compare", "subject": "verify", "attack": "pseudonyms"}


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from crypsis.report.assessment import shown

    environment = Environment(
        loader=PackageLoader("crypsis.web"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(
        count=lambda value: f"{value:,}",
        percent=_percent,
        name=shown,
        size=told_size,
        bits=lambda value: "–" if value is None else f"{value:.2f}",
    )
    environment.globals.update(
        version=__version__, roles=ROLES, policies=POLICIES, steps=_STEPS, downloads=DOWNLOADS
    )
    return environment


def _percent(share: float) -> str:
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * share:.3g} %"


def render(request: Request, template: str, code: int = 200, **content: Any) -> Response:
    """A page, with what every page needs."""
    house = house_of(request)
    text = _environment().get_template(template).render(
        csrf=house.gate.csrf, settings=house.settings, path=request.url.path, **content
    )  # fmt: skip
    return HTMLResponse(text.encode("utf-8", "replace"), code)


def wrong(request: Request, status: int, message: str) -> Response:
    """The page that says what went wrong."""
    return render(request, "wrong.html", status, status=status, message=message)


@router.get("/")
def home(request: Request, house: In) -> Response:
    """Open a file; or go on with one that is open."""
    tables = [(table, _state(house, table)) for table in house.tables.every()]
    return render(request, "home.html", given=house.settings.given, tables=tables)


def _state(house: House, table: Table) -> str:
    job = house.jobs.of(table.id)
    if job is not None:
        return job.what
    if table.made is not None:
        return "release made"
    if table.assessed is not None:
        return str(table.assessed["head"]).lower()
    if table.found is not None:
        return "answered"
    return "columns known" if table.looked is not None else "opened"


@router.get("/t/{table}")
def open_table(request: Request, house: In, table: str) -> Response:
    """Where a table is now."""
    found = house.tables.get(table)
    if found.kind != "release":
        return _tool(request, house, found)
    if found.looked is None:
        return _waiting(request, house, found)
    step = "columns"
    for name, there_is in (("verdict", found.assessed), ("release", found.made)):
        step = name if there_is is not None else step
    return RedirectResponse(f"/t/{found.id}/{step}", 303)


def _waiting(request: Request, house: House, table: Table) -> Response:
    """The work going on, or why there is nothing to show."""
    jobs = [job for job in house.jobs.every() if job.table == table.id]
    return render(request, "waiting.html", table=table, job=jobs[-1] if jobs else None)


@router.get("/t/{table}/columns")
def columns(request: Request, house: In, table: str) -> Response:
    """The columns with their roles."""
    found = house.tables.get(table)
    if found.looked is None:
        return _waiting(request, house, found)
    return _step(request, house, found, "columns", columns=_columns(found))


def _columns(table: Table) -> list[dict[str, Any]]:
    decided = table.decided
    listed = (table.looked or {}).get("columns", [])
    return [
        {**one, "role": decided[one["column"]], "guess": one["role"],
         "guessed": one["column"] not in table.roles, "place": place}
        for place, one in enumerate(listed)
    ]  # fmt: skip


@router.get("/t/{table}/verdict")
def verdict(request: Request, house: In, table: str) -> Response:
    """The verdict and the four questions."""
    found = house.tables.get(table)
    if found.looked is None:
        return _waiting(request, house, found)
    return _step(request, house, found, "verdict", columns=_columns(found))


@router.get("/t/{table}/safe")
def safe(request: Request, house: In, table: str) -> Response:
    """Sliders, the live plan, the trade-off."""
    found = house.tables.get(table)
    if found.looked is None:
        return _waiting(request, house, found)
    return _step(request, house, found, "safe", columns=_columns(found))


@router.get("/t/{table}/release")
def release(request: Request, house: In, table: str) -> Response:
    """Before and after, and the downloads."""
    found = house.tables.get(table)
    if found.made is None:
        return RedirectResponse(f"/t/{found.id}/safe", 303)
    return _step(
        request, house, found, "release", pairs=_pairs(found), files=house.downloads(found),
        has_key=(found.folder / KEY).is_file(),
    )  # fmt: skip


def _pairs(table: Table) -> list[dict[str, Any]]:
    """Each finding after, with the same before where the same policy was asked."""
    after, before = (table.made or {})["after"], table.assessed
    if before is None or before["policy"]["name"] != after["policy"]["name"]:
        before = {"findings": []}

    def key(one: dict[str, Any]) -> tuple[Any, ...]:
        secret = one["columns"][:1] if one["question"] == "inference" else []
        return (one["measure"], one["crowd"], *secret)

    known = {key(one): one for one in before["findings"]}
    return [
        {"after": one, "before": known.get(key(one))}
        for one in after["findings"]
        if one["status"] != "not asked"
    ]


def _step(request: Request, house: House, table: Table, step: str, **content: Any) -> Response:
    return render(
        request, f"{step}.html", table=table, step=step, job=house.jobs.of(table.id), **content
    )


@router.post("/t/{table}/causes")
async def causes(request: Request, house: In, table: str, form: f.CausesForm) -> Response:
    """What is behind a finding, as a part of the page."""
    found = house.tables.get(table)
    given = {"file": house.file(found, "data"), "roles": found.decided, **form.model_dump()}
    behind = await found.quick("causes", given)
    return render(request, "part_causes.html", behind=behind, asked=form)


@router.post("/t/{table}/what-if")
async def what_if(request: Request, house: In, table: str, form: f.WhatIfForm) -> Response:
    """What a choice comes to, as a part of the page."""
    found = house.tables.get(table)
    there(found.sketched, "Begin with a sketch.")
    told = await found.quick("what_if", form.model_dump())
    return render(request, "part_what_if.html", told=told, asked=form)


@router.post("/t/{table}/plan")
async def plan(request: Request, house: In, table: str, form: f.PlanForm) -> Response:
    """The plan, as a part of the page."""
    found = house.tables.get(table)
    if house.jobs.of(found.id) is not None:
        raise Trouble("This table is being worked on; wait, or cancel that first.", 409)
    given = {
        "file": house.file(found, "data"), "roles": found.decided,
        "hierarchies": dict(found.hierarchies), "levels": form.levels,
        "options": form.options.model_dump(exclude_none=True),
    }  # fmt: skip
    told = await found.quick("plan", given)
    return render(request, "part_plan.html", plan=told, options=form.options)


@router.get("/compare")
def compare(request: Request, house: In) -> Response:
    """Begin a comparison."""
    return render(request, "compare.html", table=None, given=house.settings.given, job=None)


@router.get("/verify")
def verify(request: Request, house: In) -> Response:
    """Begin a check of one record."""
    return render(request, "verify.html", table=None, given=house.settings.given, job=None,
                  schema=None)  # fmt: skip


@router.get("/pseudonyms")
def pseudonyms(request: Request, house: In) -> Response:
    """Begin an attack on pseudonyms."""
    return render(request, "pseudonyms.html", table=None, given=house.settings.given, job=None)


def _tool(request: Request, house: House, table: Table) -> Response:
    jobs = [job for job in house.jobs.every() if job.table == table.id]
    content: dict[str, Any] = {"schema": None} if table.kind == "subject" else {}
    return render(
        request, f"{_TOOLS[table.kind]}.html", table=table, given=house.settings.given,
        job=jobs[-1] if jobs else None, **content,
    )  # fmt: skip


@router.get("/t/{table}/record")
async def record(request: Request, house: In, table: str) -> Response:
    """The fields for one's own record, as a part of the page."""
    found = house.tables.get(table)
    schema = await found.quick("subject", {"file": house.file(found, "released")})
    return render(request, "part_record.html", schema=schema)


@router.get("/api")
def documentation(request: Request) -> Response:
    """The API's own documentation, from its own description of itself."""
    described: dict[str, Any] = request.app.openapi()
    return render(request, "api.html", described=described)
