"""The REST API, second part: the verdict, and the way to a safe release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crypsis.web import forms as f
from crypsis.web.api_base import In, Version, existing, job_state, new_router, no_job, subject
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
    opened = workspace.tables.get(table)
    arguments = {"file": workspace.file(opened, "data"), "roles": opened.roles, **form.model_dump()}
    for slot in ("original", "key", "together", "earlier", "earlier_key", "holdout"):
        if slot in opened.files:
            arguments[slot] = workspace.file(opened, slot)
    if "released" in opened.files:
        slots = [slot for slot in ("released", "known", "truth") if slot in opened.files]
        arguments["attack"] = {slot: workspace.file(opened, slot) for slot in slots}

    if "population" in opened.files:
        arguments["population_table"] = workspace.file(opened, "population")
    arguments["answers"] = _answered(form.answers)

    def keep(result: dict[str, Any]) -> None:
        opened.assessed, opened.requirements = result, result["requirements"]
        opened.asked = form.model_dump(exclude={"accept_guesses"}, exclude_defaults=True)

    page = f"/t/{opened.id}/verdict"
    return job_state(
        workspace.jobs.start(opened, "Asking the four questions", "assess", arguments, keep, page)
    )


@router.get("/tables/{table}/assessment", tags=["assess"])
def show_assessment(workspace: In, table: str) -> dict[str, Any]:
    """What the assessment found; the whole of it is the download report.json."""
    return existing(workspace.tables.get(table).assessed, "The table was not assessed yet.")


@router.post("/tables/{table}/causes", tags=["assess"])
async def causes(workspace: In, table: str, form: f.CausesForm) -> dict[str, Any]:
    """Which columns and which groups are behind a finding."""
    opened = workspace.tables.get(table)
    arguments = {"file": workspace.file(opened, "data"), "roles": opened.decided, **form.model_dump()}
    return await opened.quick("causes", arguments)


@router.post("/tables/{table}/preview", tags=["protect"], status_code=202)
def preview(workspace: In, table: str, form: f.PreviewForm) -> f.JobState:
    """Count the cells once, so that everything after can be asked at once.

    It is background work, as trying and exploring are: whatever is asked of the table next cancels it.
    Like these it is of the list of choices, unless a program sends a plan of its own.
    """
    opened = workspace.tables.get(table)
    no_job(workspace, opened)
    plan = release_form(opened, form)

    def keep(result: dict[str, Any]) -> None:
        opened.preview = {**result, "counted_for": counted_for(plan)}

    if opened.preview is not None:  # its process may have other cells from now on
        opened.preview = {**opened.preview, "counted_for": None}
    arguments = {**subject(workspace, opened), "options": _options(workspace, opened, plan.options)}
    return _background(workspace, opened, "Counting combinations", "preview", arguments, keep)


@router.post("/tables/{table}/try", tags=["protect"], status_code=202)
def try_release(workspace: In, table: str, form: f.AnonymizeForm) -> f.JobState:
    """Make the release in memory: what recipients would get; of a sample of a large table.

    It is background work: whatever is asked of the table next cancels it.
    """
    opened = workspace.tables.get(table)
    no_job(workspace, opened)

    def keep(result: dict[str, Any]) -> None:
        opened.tried = result

    arguments = _recoding(workspace, opened, release_form(opened, form))
    return _background(workspace, opened, "Trying the release", "try_release", arguments, keep)


@router.post("/tables/{table}/explore", tags=["protect"], status_code=202)
def explore(workspace: In, table: str, form: f.PreviewForm) -> f.JobState:
    """Make releases with several sizes of classes and recodings: risk against information loss."""
    opened = workspace.tables.get(table)
    no_job(workspace, opened)

    def keep(result: dict[str, Any]) -> None:
        opened.explored = result

    options = _options(workspace, opened, release_form(opened, form).options)
    arguments = {**subject(workspace, opened), "options": options}
    return _background(workspace, opened, "Comparing alternatives", "explore", arguments, keep)


@router.get("/tables/{table}/tried", tags=["protect"])
def show_tried(workspace: In, table: str) -> dict[str, Any]:
    """What recipients would get, without examples of values."""
    tried = existing(workspace.tables.get(table).tried, "Nothing was tried yet.")
    released = [{n: v for n, v in column.items() if n != "examples"} for column in tried["released"]]
    return {**tried, "released": released}


@router.post("/tables/{table}/values", tags=["protect"])
async def show_values(workspace: In, table: str, form: f.ValuesForm) -> dict[str, Any]:
    """The values of a column, to be put in groups."""
    opened = workspace.tables.get(table)
    arguments = {"file": workspace.file(opened, "data"), "roles": opened.decided, "column": form.column}
    return await opened.quick("values", arguments)


@router.post("/tables/{table}/what-if", tags=["protect"])
async def what_if(workspace: In, table: str, form: f.WhatIfForm) -> dict[str, Any]:
    """What a choice of levels, or of k and a population, comes to: from the cells alone."""
    opened = workspace.tables.get(table)
    return await opened.quick("what_if", levels_form(opened, form).model_dump())


@router.post("/tables/{table}/curve", tags=["protect"])
async def curve(workspace: In, table: str, form: f.CurveForm) -> dict[str, Any]:
    """The trade-off of risk against what is lost."""
    opened = workspace.tables.get(table)
    if form.model_fields_set:
        existing(opened.preview, "Start with the preview.")
        return await opened.quick("curve", form.model_dump())
    k = levels_form(opened, f.WhatIfForm()).k
    return await opened.quick("curve", f.CurveForm(k=k).model_dump())


@router.post("/tables/{table}/plan", tags=["protect"])
async def plan(workspace: In, table: str, form: f.PlanForm) -> dict[str, Any]:
    """The plan that these options come to, column by column."""
    opened = workspace.tables.get(table)
    no_job(workspace, opened)
    return await opened.quick("plan", plan_question(workspace, opened, form))


@router.post("/tables/{table}/hierarchy", tags=["protect"])
async def hierarchy(workspace: In, table: str, form: f.HierarchyForm) -> dict[str, Any]:
    """Build a hierarchy for a column, take the uploaded one, or take it away again."""
    opened = workspace.tables.get(table)
    no_job(workspace, opened)
    if form.build == "none":
        opened.hierarchies.pop(form.column, None)
        opened.preview = None
        return {"column": form.column, "counts": []}
    whole = subject(workspace, opened)
    whole.pop("hierarchies")
    names = list(opened.decided)
    if form.column not in names:
        raise RequestError("There is no such column.")
    to = f"hierarchy-{names.index(form.column)}.csv"
    path = workspace.file(opened, "hierarchy")["path"] if form.build == "file" else None
    arguments = {**whole, **form.model_dump(), "path": path, "to": to}
    result = await opened.quick("hierarchy", arguments)
    opened.hierarchies[form.column] = result.pop("path")
    opened.preview = None  # its cells had other levels
    return result


@router.post("/tables/{table}/anonymize", tags=["protect"], status_code=202)
def anonymize(workspace: In, table: str, form: f.AnonymizeForm, version: Version = None) -> f.JobState:
    """Make the release, measure it, and write everything that goes with it.

    The release is what the list of choices says, unless a program sends a plan of its own. With the
    version of the list that was shown as `If-Match` it is refused where the list is another by now.
    """
    opened = workspace.tables.get(table)
    if opened.guesses:
        left = f"{opened.guesses} roles are guesses" if opened.guesses > 1 else "1 role is a guess"
        raise RequestError(f"{left} or undecided; decide them first, on the page of columns.", 409)
    with opened.draft.lock:
        opened.check_version(version)
        release_choice = release_form(opened, form)
        arguments = {
            **_recoding(workspace, opened, release_choice),
            "roles": dict(opened.roles),
            "form": release_choice.form,
            "policy": release_choice.policy,
            "population": release_choice.options.population,
            "seed": release_choice.seed,
            "neutralize_formulas": release_choice.neutralize_formulas,
            "answers": _answered(opened.asked.get("answers", {})),
        }
    if release_choice.options.each_column:
        arguments["population"] = None

    def keep(result: dict[str, Any]) -> None:
        opened.made = {**result, "asked": release_choice.model_dump(mode="json")}

    page = f"/t/{opened.id}/release"
    return job_state(workspace.jobs.start(opened, "Making the release", "anonymize", arguments, keep, page))


@router.post("/tables/{table}/package", tags=["protect"], status_code=202)
def package(workspace: In, table: str, form: f.DossierForm) -> f.JobState:
    """Write the dossier of the release, and the package of release, statement and dossier."""
    opened = workspace.tables.get(table)
    made_release = existing(opened.made, "No release was made yet.")

    def keep(result: dict[str, Any]) -> None:
        made_release["dossier"] = result

    arguments, page = form.model_dump(), f"/t/{opened.id}/release"
    return job_state(workspace.jobs.start(opened, "Writing the dossier", "package", arguments, keep, page))


@router.get("/tables/{table}/release", tags=["protect"])
def show_made(workspace: In, table: str) -> dict[str, Any]:
    """What was released: its requirements, measures and information loss."""
    made_release = existing(workspace.tables.get(table).made, "No release was made yet.")
    return {
        name: value for name, value in made_release.items() if name not in ("histograms", "stamp", "asked")
    }


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
    existing(table.preview, "Start with the preview.")
    if form.model_fields_set:
        return form
    if not table.previewed:
        raise RequestError("The choices have changed; start with the preview.", 409)
    plan = table.plan
    named = plan.options.model_dump(include={"k", "population", "beta", "weights"})
    return f.WhatIfForm(**named, levels=plan.levels)


def plan_question(workspace: Workspace, table: OpenTable, form: f.PlanForm) -> dict[str, Any]:
    """What the plan, column by column, is made of."""
    release_choice = release_form(table, form)
    options = _options(workspace, table, release_choice.options)
    return {**subject(workspace, table), "options": options, "levels": release_choice.levels}


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
    arguments: dict[str, Any],
    keep: Callable[[dict[str, Any]], None],
) -> f.JobState:
    page = f"/t/{table.id}/protect"
    job = workspace.jobs.start(table, what, do, arguments, keep, page, background=True)
    return job_state(job)


def _options(workspace: Workspace, table: OpenTable, options: f.PlanOptionsForm) -> dict[str, Any]:
    """The options that are set, with the table of the population where there is one."""
    option_values = options.model_dump(exclude_none=True)
    if "population" in table.files:
        option_values["population_table"] = workspace.file(table, "population")
    return option_values
