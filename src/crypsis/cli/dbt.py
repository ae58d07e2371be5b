"""`crypsis dbt`: are the models of a dbt project safe to release?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options as o
from crypsis.cli.completion import policy_names

_DECIDE = "Set the role of each in its properties, such as meta: {crypsis: quasi-identifier}."


def dbt(
    models: Annotated[
        list[str] | None, typer.Argument(metavar="[MODEL]...", help="Only these of the tagged models.")
    ] = None,
    project_dir: Annotated[Path, typer.Option("--project-dir", help="The folder of the project.")] = Path(),
    profiles_dir: Annotated[
        Path | None, typer.Option("--profiles-dir", help="The folder of profiles.yml.")
    ] = None,
    target: Annotated[str | None, typer.Option("--target", help="The target of the profile.")] = None,
    database: Annotated[
        str | None,
        typer.Option("--database", help="A DuckDB file or postgresql://..., instead of a profile."),
    ] = None,
    policy: Annotated[
        str,
        typer.Option(
            "--policy", help="The policy of models that have none in their meta.", autocompletion=policy_names
        ),
    ] = "default",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A folder for the reports: MODEL.html and MODEL.xml (JUnit)."),
    ] = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
) -> None:
    """Assess the models that are tagged 'crypsis', in the warehouse, with the roles in their meta.

    Run it after 'dbt build': the models and the roles come from target/manifest.json. The exit status
    is 0 if all of them are safe, 1 if one is not safe, 4 if that cannot be said of one.

    Example: [bold]crypsis dbt --project-dir shop -o reports[/bold]
    """
    import json

    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.errors import OutputError, ParameterError
    from crypsis.integrations import dbt as project
    from crypsis.report.json import exit_status
    from crypsis.report.verdict import assessment_view
    from crypsis.report.wording import Phrasing

    tagged_models = project.find_models(project_dir / "target" / "manifest.json")
    unknown = [name for name in models or () if name not in [model.name for model in tagged_models]]
    if unknown:
        named = ", ".join(repr(model.name) for model in tagged_models)
        raise ParameterError(f"{unknown[0]!r} is not a tagged model. These are: {named}.")
    chosen = [model for model in tagged_models if not models or model.name in models]
    if output is not None:
        if not output.is_dir():
            raise OutputError(f"Folder {str(output)!r} does not exist.", hint="Create it first.")
        for model in chosen:
            for suffix in (".html", ".xml"):
                may_write(output / f"{model.name}{suffix}", (suffix,), force=force)
    words = Phrasing(hints={"undecided-columns": _DECIDE})
    database_file = database or project.find_database(project_dir, profiles_dir, target)
    with shown_progress():
        assessed = [project.assess_model(model, database_file, policy) for model in chosen]
    if output is not None:
        for assessment in assessed:
            write_text(output / f"{assessment.name}.html", assessment.to_html(words))
            write_text(output / f"{assessment.name}.xml", assessment.to_junit(words))
    if as_json:
        typer.echo(json.dumps([json.loads(assessment.to_json()) for assessment in assessed], indent=2))
    else:
        screen = console()
        for assessment in assessed:
            screen.print(assessment_view(assessment, words), crop=False)
    statuses = [exit_status(assessment) for assessment in assessed]
    worst = next((status for status in (130, 1, 4) if status in statuses), 0)
    if worst:
        raise typer.Exit(worst)
