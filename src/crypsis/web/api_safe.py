"""The REST API, second part: the verdict, and the way to a safe release."""

from __future__ import annotations

from typing import Any

from crypsis.web import forms as f
from crypsis.web.api_common import In, new_router, no_job, subject, there, told
from crypsis.web.trouble import Trouble

router = new_router()


@router.post("/tables/{table}/assess", tags=["assess"], status_code=202)
def assess(house: In, table: str, form: f.AssessForm) -> f.JobTold:
    """Ask all four questions and hold the answers against a policy.

    Linkage is asked where the table has a file `original`, pseudonyms where it has `released`
    (baskets of pseudonyms), with `known` and `truth`.
    """
    found = house.tables.get(table)
    given = {"file": house.file(found, "data"), "roles": found.roles, **form.model_dump()}
    if "original" in found.files:
        given["original"] = house.file(found, "original")
    if "released" in found.files:
        slots = [slot for slot in ("released", "known", "truth") if slot in found.files]
        given["attack"] = {slot: house.file(found, slot) for slot in slots}

    def keep(result: dict[str, Any]) -> None:
        found.assessed = result

    page = f"/t/{found.id}/verdict"
    return told(house.jobs.start(found, "Asking the four questions", "assess", given, keep, page))


@router.get("/tables/{table}/assessment", tags=["assess"])
def show_assessment(house: In, table: str) -> dict[str, Any]:
    """What the assessment found; the whole of it is the download report.json."""
    return there(house.tables.get(table).assessed, "The table was not assessed yet.")


@router.post("/tables/{table}/causes", tags=["assess"])
async def causes(house: In, table: str, form: f.CausesForm) -> dict[str, Any]:
    """Which columns and which groups are behind a finding."""
    found = house.tables.get(table)
    given = {"file": house.file(found, "data"), "roles": found.decided, **form.model_dump()}
    return await found.quick("causes", given)


@router.post("/tables/{table}/sketch", tags=["make it safe"], status_code=202)
def sketch(house: In, table: str, form: f.SketchForm) -> f.JobTold:
    """Count the cells once, so that everything after can be asked at once."""
    found = house.tables.get(table)
    given = {**subject(house, found), "options": _options(form.options)}

    def keep(result: dict[str, Any]) -> None:
        found.sketched = result

    page = f"/t/{found.id}/safe"
    return told(house.jobs.start(found, "Counting combinations", "sketch", given, keep, page))


@router.post("/tables/{table}/what-if", tags=["make it safe"])
async def what_if(house: In, table: str, form: f.WhatIfForm) -> dict[str, Any]:
    """What a choice of levels, or of k and a population, comes to: from the cells alone."""
    found = house.tables.get(table)
    there(found.sketched, "Begin with a sketch.")
    return await found.quick("what_if", form.model_dump())


@router.post("/tables/{table}/curve", tags=["make it safe"])
async def curve(house: In, table: str, form: f.CurveForm) -> dict[str, Any]:
    """The trade-off of risk against what is lost."""
    found = house.tables.get(table)
    there(found.sketched, "Begin with a sketch.")
    return await found.quick("curve", form.model_dump())


@router.post("/tables/{table}/plan", tags=["make it safe"])
async def plan(house: In, table: str, form: f.PlanForm) -> dict[str, Any]:
    """The plan that these options come to, column by column."""
    found = house.tables.get(table)
    no_job(house, found)
    given = {**subject(house, found), "options": _options(form.options), "levels": form.levels}
    return await found.quick("plan", given)


@router.post("/tables/{table}/hierarchy", tags=["make it safe"])
async def hierarchy(house: In, table: str, form: f.HierarchyForm) -> dict[str, Any]:
    """Build a hierarchy for a column, take the uploaded one, or take it away again."""
    found = house.tables.get(table)
    no_job(house, found)
    if form.build == "none":
        found.hierarchies.pop(form.column, None)
        return {"column": form.column, "counts": []}
    whole = subject(house, found)
    whole.pop("hierarchies")
    names = list(found.decided)
    if form.column not in names:
        raise Trouble("There is no such column.")
    to = f"hierarchy-{names.index(form.column)}.csv"
    path = house.file(found, "hierarchy")["path"] if form.build == "file" else None
    given = {**whole, **form.model_dump(), "path": path, "to": to}
    result = await found.quick("hierarchy", given)
    found.hierarchies[form.column] = result.pop("path")
    return result


@router.post("/tables/{table}/make", tags=["make it safe"], status_code=202)
def make(house: In, table: str, form: f.MakeForm) -> f.JobTold:
    """Make the release, measure it, and write everything that goes with it."""
    found = house.tables.get(table)
    masks = {name: one.model_dump() for name, one in form.masks.items()}
    given = {
        **subject(house, found), "options": _options(form.options), "levels": form.levels,
        "masks": masks, "same_levels": form.same_levels, "form": form.form,
        "policy": form.policy, "population": form.options.population, "seed": form.seed,
    }  # fmt: skip
    if form.options.each_column:
        given["population"] = None

    def keep(result: dict[str, Any]) -> None:
        found.made = result
        other = "parquet" if form.form == "csv" else "csv"
        (found.folder / f"release.{other}").unlink(missing_ok=True)

    page = f"/t/{found.id}/release"
    return told(house.jobs.start(found, "Making the release", "make", given, keep, page))


@router.get("/tables/{table}/made", tags=["make it safe"])
def show_made(house: In, table: str) -> dict[str, Any]:
    """What was made: what it promises, what it measures, what it lost, and its assessment."""
    return there(house.tables.get(table).made, "No release was made yet.")


def _options(options: f.PlanOptions) -> dict[str, Any]:
    return options.model_dump(exclude_none=True)
