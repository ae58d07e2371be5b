"""The REST API, second part: the verdict, and the way to a safe release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crypsis.web import forms as f
from crypsis.web.api_base import In, Version, job_state, new_router, no_job, subject, there
from crypsis.web.draft import counted_for
from crypsis.web.errors import RequestError
from crypsis.web.open_tables import OpenTable
from crypsis.web.workspace import Workspace

router = new_router()


@router.post("/tables/{table}/assess", tags=["assess"], status_code=202)
def assess(workspace: In, table: str, form: f.AssessForm) -> f.JobState:
    """Ask all four questions and compare the answers with the thresholds of a policy.

    Linkage is asked where the table has a file `original`, with the `key` whose record is whose;
    pseudonyms where it has `released`
    (baskets of pseudonyms), with `known` and `truth`; what several releases disclose where it has
    `earlier`, a further file of the same release is `together`.
    """
    found = workspace.tables.get(table)
    given = {"file": workspace.file(found, "data"), "roles": found.roles, **form.model_dump()}
    for slot in ("original", "key", "together", "earlier", "earlier_key", "holdout"):
        if slot in found.files:
            given[slot] = workspace.file(found, slot)
    if "released" in found.files:
        slots = [slot for slot in ("released", "known", "truth") if slot in found.files]
        given["attack"] = {slot: workspace.file(found, slot) for slot in slots}

    if "population" in found.files:
        given["population_table"] = workspace.file(found, "population")
    given["answers"] = _answered(form.answers)

    def keep(result: dict[str, Any]) -> None:
        found.assessed, found.requirements = result, result["requirements"]
        found.asked = form.model_dump(exclude={"accept_guesses"}, exclude_defaults=True)

    page = f"/t/{found.id}/verdict"
    return job_state(workspace.jobs.start(found, "Asking the four questions", "assess", given, keep, page))


@router.get("/tables/{table}/assessment", tags=["assess"])
def show_assessment(workspace: In, table: str) -> dict[str, Any]:
    """What the assessment found; the whole of it is the download report.json."""
    return there(workspace.tables.get(table).assessed, "The table was not assessed yet.")


@router.post("/tables/{table}/causes", tags=["assess"])
async def causes(workspace: In, table: str, form: f.CausesForm) -> dict[str, Any]:
    """Which columns and which groups are behind a finding."""
    found = workspace.tables.get(table)
    given = {"file": workspace.file(found, "data"), "roles": found.decided, **form.model_dump()}
    return await found.quick("causes", given)


@router.post("/tables/{table}/preview", tags=["protect"], status_code=202)
def preview(workspace: In, table: str, form: f.PreviewForm) -> f.JobState:
    """Count the cells once, so that everything after can be asked at once.

    It is background work, as trying and exploring are: whatever is asked of the table next cancels it.
    Like these it is of the list of choices, unless a program sends a plan of its own.
    """
    found = workspace.tables.get(table)
    no_job(workspace, found)
    plan = release_form(found, form)

    def keep(result: dict[str, Any]) -> None:
        found.preview = {**result, "counted_for": counted_for(plan)}

    if found.preview is not None:  # its process may have other cells from now on
        found.preview = {**found.preview, "counted_for": None}
    given = {**subject(workspace, found), "options": _options(workspace, found, plan.options)}
    return _background(workspace, found, "Counting combinations", "preview", given, keep)


@router.post("/tables/{table}/try", tags=["protect"], status_code=202)
def try_release(workspace: In, table: str, form: f.AnonymizeForm) -> f.JobState:
    """Make the release in memory: what recipients would get; of a sample of a large table.

    It is background work: whatever is asked of the table next cancels it.
    """
    found = workspace.tables.get(table)
    no_job(workspace, found)

    def keep(result: dict[str, Any]) -> None:
        found.tried = result

    given = _recoding(workspace, found, release_form(found, form))
    return _background(workspace, found, "Trying the release", "try_release", given, keep)


@router.post("/tables/{table}/explore", tags=["protect"], status_code=202)
def explore(workspace: In, table: str, form: f.PreviewForm) -> f.JobState:
    """Make releases with several sizes of classes and recodings: risk against information loss."""
    found = workspace.tables.get(table)
    no_job(workspace, found)

    def keep(result: dict[str, Any]) -> None:
        found.explored = result

    options = _options(workspace, found, release_form(found, form).options)
    given = {**subject(workspace, found), "options": options}
    return _background(workspace, found, "Comparing alternatives", "explore", given, keep)


@router.get("/tables/{table}/tried", tags=["protect"])
def show_tried(workspace: In, table: str) -> dict[str, Any]:
    """What recipients would get, without examples of values."""
    tried = there(workspace.tables.get(table).tried, "Nothing was tried yet.")
    released = [{n: v for n, v in one.items() if n != "examples"} for one in tried["released"]]
    return {**tried, "released": released}


@router.post("/tables/{table}/values", tags=["protect"])
async def show_values(workspace: In, table: str, form: f.ValuesForm) -> dict[str, Any]:
    """The values of a column, to be put in groups."""
    found = workspace.tables.get(table)
    given = {"file": workspace.file(found, "data"), "roles": found.decided, "column": form.column}
    return await found.quick("values", given)


@router.post("/tables/{table}/what-if", tags=["protect"])
async def what_if(workspace: In, table: str, form: f.WhatIfForm) -> dict[str, Any]:
    """What a choice of levels, or of k and a population, comes to: from the cells alone."""
    found = workspace.tables.get(table)
    return await found.quick("what_if", levels_form(found, form).model_dump())


@router.post("/tables/{table}/curve", tags=["protect"])
async def curve(workspace: In, table: str, form: f.CurveForm) -> dict[str, Any]:
    """The trade-off of risk against what is lost."""
    found = workspace.tables.get(table)
    if form.model_fields_set:
        there(found.preview, "Start with the preview.")
        return await found.quick("curve", form.model_dump())
    k = levels_form(found, f.WhatIfForm()).k
    return await found.quick("curve", f.CurveForm(k=k).model_dump())


@router.post("/tables/{table}/plan", tags=["protect"])
async def plan(workspace: In, table: str, form: f.PlanForm) -> dict[str, Any]:
    """The plan that these options come to, column by column."""
    found = workspace.tables.get(table)
    no_job(workspace, found)
    return await found.quick("plan", plan_question(workspace, found, form))


@router.post("/tables/{table}/hierarchy", tags=["protect"])
async def hierarchy(workspace: In, table: str, form: f.HierarchyForm) -> dict[str, Any]:
    """Build a hierarchy for a column, take the uploaded one, or take it away again."""
    found = workspace.tables.get(table)
    no_job(workspace, found)
    if form.build == "none":
        found.hierarchies.pop(form.column, None)
        found.preview = None
        return {"column": form.column, "counts": []}
    whole = subject(workspace, found)
    whole.pop("hierarchies")
    names = list(found.decided)
    if form.column not in names:
        raise RequestError("There is no such column.")
    to = f"hierarchy-{names.index(form.column)}.csv"
    path = workspace.file(found, "hierarchy")["path"] if form.build == "file" else None
    given = {**whole, **form.model_dump(), "path": path, "to": to}
    result = await found.quick("hierarchy", given)
    found.hierarchies[form.column] = result.pop("path")
    found.preview = None  # its cells had other levels
    return result


@router.post("/tables/{table}/anonymize", tags=["protect"], status_code=202)
def anonymize(workspace: In, table: str, form: f.AnonymizeForm, version: Version = None) -> f.JobState:
    """Make the release, measure it, and write everything that goes with it.

    The release is what the list of choices says, unless a program sends a plan of its own. With the
    version of the list that was shown as `If-Match` it is refused where the list is another by now.
    """
    found = workspace.tables.get(table)
    if found.guesses:
        left = f"{found.guesses} roles are guesses" if found.guesses > 1 else "1 role is a guess"
        raise RequestError(f"{left} or undecided; decide them first, on the page of columns.", 409)
    with found.draft.lock:
        found.check_version(version)
        asked = release_form(found, form)
        given = {
            **_recoding(workspace, found, asked),
            "roles": dict(found.roles),
            "form": asked.form,
            "policy": asked.policy,
            "population": asked.options.population,
            "seed": asked.seed,
            "neutralize_formulas": asked.neutralize_formulas,
            "answers": _answered(found.asked.get("answers", {})),
        }
    if asked.options.each_column:
        given["population"] = None

    def keep(result: dict[str, Any]) -> None:
        found.made = {**result, "asked": asked.model_dump(mode="json")}

    page = f"/t/{found.id}/release"
    return job_state(workspace.jobs.start(found, "Making the release", "anonymize", given, keep, page))


@router.post("/tables/{table}/package", tags=["protect"], status_code=202)
def package(workspace: In, table: str, form: f.DossierForm) -> f.JobState:
    """Write the dossier of the release, and the package of release, statement and dossier."""
    found = workspace.tables.get(table)
    made = there(found.made, "No release was made yet.")

    def keep(result: dict[str, Any]) -> None:
        made["dossier"] = result

    given, page = form.model_dump(), f"/t/{found.id}/release"
    return job_state(workspace.jobs.start(found, "Writing the dossier", "package", given, keep, page))


@router.get("/tables/{table}/release", tags=["protect"])
def show_made(workspace: In, table: str) -> dict[str, Any]:
    """What was released: its requirements, measures and information loss."""
    made = there(workspace.tables.get(table).made, "No release was made yet.")
    return {name: value for name, value in made.items() if name not in ("histograms", "stamp", "asked")}


def _answered(answers: dict[str, str]) -> dict[str, str]:
    """The items of a checklist that are answered."""
    return {item: answer for item, answer in answers.items() if answer.strip()}


def release_form(table: OpenTable, form: f.Form) -> f.AnonymizeForm:
    """The plan of a program that sends one; the list of choices where nothing is sent."""
    if not form.model_fields_set:
        return table.plan
    return f.AnonymizeForm(**{name: getattr(form, name) for name in form.model_fields_set})


def levels_form(table: OpenTable, form: f.WhatIfForm) -> f.WhatIfForm:
    """The levels and weights that a program sends; those of the list where nothing is sent."""
    there(table.preview, "Start with the preview.")
    if form.model_fields_set:
        return form
    if not table.previewed:
        raise RequestError("The choices have changed; start with the preview.", 409)
    plan = table.plan
    named = plan.options.model_dump(include={"k", "population", "beta", "weights"})
    return f.WhatIfForm(**named, levels=plan.levels)


def plan_question(workspace: Workspace, table: OpenTable, form: f.PlanForm) -> dict[str, Any]:
    """What the plan, column by column, is made of."""
    asked = release_form(table, form)
    options = _options(workspace, table, asked.options)
    return {**subject(workspace, table), "options": options, "levels": asked.levels}


def _recoding(workspace: Workspace, table: OpenTable, anonymize_form: f.AnonymizeForm) -> dict[str, Any]:
    """What a release is made of, tried or not."""
    masks = {column: mask.model_dump() for column, mask in anonymize_form.masks.items()}
    return {
        **subject(workspace, table),
        "options": _options(workspace, table, anonymize_form.options),
        "levels": anonymize_form.levels,
        "masks": masks,
        "recoding": anonymize_form.recoding,
    }


def _background(
    workspace: Workspace,
    table: OpenTable,
    what: str,
    do: str,
    given: dict[str, Any],
    keep: Callable[[dict[str, Any]], None],
) -> f.JobState:
    page = f"/t/{table.id}/protect"
    job = workspace.jobs.start(table, what, do, given, keep, page, background=True)
    return job_state(job)


def _options(workspace: Workspace, table: OpenTable, options: f.PlanOptionsForm) -> dict[str, Any]:
    """The options that are set, with the table of the population where there is one."""
    asked = options.model_dump(exclude_none=True)
    if "population" in table.files:
        asked["population_table"] = workspace.file(table, "population")
    return asked
