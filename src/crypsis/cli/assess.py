"""`crypsis assess`: is this file safe to release?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options as o
from crypsis.cli.completion import one_of, policy_names
from crypsis.cli.dossier import FORMS, DossierOptions
from crypsis.cli.earlier import EarlierOptions

if TYPE_CHECKING:
    from crypsis.dataset import Dataset


@o.takes_sample
@o.takes(EarlierOptions, "before")
@o.takes(DossierOptions, "about")
def assess(
    data: o.Data,
    options: o.DataOptions,
    before: EarlierOptions,
    about: DossierOptions,
    policy: Annotated[
        str,
        typer.Option(
            "--policy", help="A preset (crypsis policy list) or a .toml file.", autocompletion=policy_names
        ),
    ] = "default",
    context: Annotated[
        str | None,
        typer.Option(
            "--context",
            help="Who receives it: public, registered, contract or internal; adapts class sizes.",
            autocompletion=one_of("public", "registered", "contract", "internal"),
        ),
    ] = None,
    original: Annotated[
        str | None, typer.Option("--original", help="The original file; evaluates linkage.")
    ] = None,
    on: Annotated[
        str | None, typer.Option("--on", help="The column of record numbers; by default row by row.")
    ] = None,
    key: o.KeyFile = None,
    together: Annotated[
        list[str] | None,
        typer.Option(
            "--together",
            help="A further file of the same release, joined on the columns that both have; the "
            "joint class sizes count. Repeat.",
        ),
    ] = None,
    together_roles: Annotated[
        list[Path] | None,
        typer.Option(
            "--together-roles",
            help="The roles of the columns of a further file, as TOML, in the order of --together. "
            "Repeat. By default those of --roles; columns of the same name have the same role.",
        ),
    ] = None,
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="The records are synthetic; --original is the training data.")
    ] = False,
    holdout: Annotated[
        str | None, typer.Option("--holdout", help="Other people: the control group of a synthetic file.")
    ] = None,
    attack: Annotated[
        Path | None, typer.Option("--attack", help="An attack on the pseudonyms, as TOML.")
    ] = None,
    accept_guesses: Annotated[
        bool, typer.Option("--accept-guesses", help="Allow 'safe' with guessed roles.")
    ] = False,
    try_remedies: Annotated[
        bool | None,
        typer.Option(
            "--try/--no-try",
            help="Apply the remedies and their alternatives in memory and measure; by default only the "
            "remedies, if that takes seconds.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the dossier as .html, .pdf or .docx; a package of release, statement and "
            "dossier as .zip; the assessment as .md or .json.",
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Write JUnit XML, a test case for each threshold, too.")
    ] = None,
    sarif: Annotated[
        Path | None, typer.Option("--sarif", help="Write the findings as SARIF 2.1.0, too.")
    ] = None,
    step_summary: Annotated[
        bool,
        typer.Option(
            "--step-summary",
            help="Append a summary to the file that GITHUB_STEP_SUMMARY names, as GitHub Actions does.",
        ),
    ] = False,
    as_json: o.AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--md", help="Markdown on standard output.")] = False,
    force: o.Force = False,
    exact: o.Exact = False,
    seed: o.Seed = 0,
) -> None:
    """Assess a release: safe, not safe, or cannot tell; which thresholds fail, and the remedy.

    The exit status is 0 for 'safe', 1 for 'not safe' and 4 for 'cannot tell', so that a pipeline
    stops on any but 'safe'. Ctrl-C shows what is known by then, with status 130.

    Example: [bold]crypsis assess patients.csv --roles roles.toml -o dossier.pdf[/bold]
    """
    from crypsis.assessment import assess as run_assessment
    from crypsis.cli.console import append_text, console, may_write, shown_progress, summary_file, write_text
    from crypsis.cli.remedies import phrasing
    from crypsis.errors import ParameterError
    from crypsis.policies import load_policy
    from crypsis.report.json import exit_status
    from crypsis.report.markdown import assessment_summary
    from crypsis.report.verdict import assessment_view

    if as_json and as_markdown:
        raise ParameterError("Standard output has one format.", hint="Set {json} or {md}.")
    may_write(output, (*FORMS, ".md", ".json"), force=force)
    may_write(junit, (".xml",), force=force)
    may_write(sarif, (".sarif", ".json"), force=force)
    summary = summary_file() if step_summary else None
    about.check(output)
    if output is not None and output.suffix.lower() == ".zip" and not Path(data).is_file():
        raise ParameterError("A package has one released file: a local file, not a folder.")
    if key is not None and ((original is None and not before.given) or on is not None):
        raise ParameterError(
            "A re-identification key needs the original or earlier releases, and replaces a column "
            "of record numbers.",
            hint="Set {key} with {original} or {earlier} and without {on}.",
        )
    row_map = o.row_map_of(key)
    rules = load_policy(policy)
    if context is not None:
        rules = rules.in_context(context)
    belief = None
    if attack is not None:
        from crypsis.pseudonyms import load_attack  # loading it takes a second

        belief = load_attack(attack)
    with shown_progress():
        first = None if original is None else options.original(original)
        data_set = options.dataset(data, () if first is None else first.names)
        assessment = run_assessment(
            data_set,
            first,
            belief,
            rules,
            **before.keywords(options, data, key),
            synthetic=synthetic,
            holdout=None if holdout is None else options.without_roles().dataset(holdout),
            answers=options.answers(data),
            accept_guesses=accept_guesses,
            on=on,
            row_map=range(data_set.count) if key is not None and row_map is None else row_map,
            together=_others(together or [], together_roles or [], options),
            exact=exact,
            try_remedies=try_remedies,
            name=o.title(data),
            seed=seed,
        )
    words = phrasing(
        assessment,
        data,
        options,
        original=original,
        original_names=() if first is None else first.names,
        attack=attack,
        population=options.population,
    )
    forms = {".md": lambda: assessment.to_markdown(words), ".json": assessment.to_json}
    if output is not None and output.suffix.lower() in FORMS:
        from crypsis.assessment import make_dossier, write_package  # loading them takes a second

        file = Path(data) if Path(data).is_file() else None
        dossier = make_dossier(assessment, data_set, first, file=file, phrasing=words, **about.keywords())
        if output.suffix.lower() == ".zip":
            write_package(output, data, dossier, overwrite=force)
        else:
            dossier.write(output, overwrite=force)
    elif output is not None:
        write_text(output, forms[output.suffix.lower()]())
    reports: dict[Path | None, Callable[[], str]] = {
        junit: lambda: assessment.to_junit(words),
        sarif: lambda: assessment.to_sarif(o.title(data) if "://" in data else data, words),
    }
    for path, text in reports.items():
        if path is not None:
            write_text(path, text())
    if summary is not None:
        append_text(summary, assessment_summary(assessment, words))
    if as_json or as_markdown:
        typer.echo(forms[".json" if as_json else ".md"]())
    else:
        screen = console()
        screen.print(assessment_view(assessment, words), crop=False)
        files = [str(path) for path in (output, junit, sarif) if path is not None]
        if files:
            screen.print(f"\nWrote {', '.join(files)}", markup=False)
    if exit_status(assessment):
        raise typer.Exit(exit_status(assessment))


def _others(files: list[str], roles: list[Path], options: o.DataOptions) -> list[Dataset]:
    """Further files of the release, with their roles."""
    from dataclasses import replace

    from crypsis.columns.roles import load
    from crypsis.errors import ParameterError

    if len(roles) > len(files):
        raise ParameterError(
            "There are more files of roles than further files of the release.",
            parameter="together_roles",
            hint="Set {together} for each of them.",
        )
    plain = options.without_roles()
    opened = []
    for i, file in enumerate(files):
        data = replace(plain, roles_file=roles[i] if i < len(roles) else None).dataset(file)
        if i >= len(roles) and options.roles_file is not None:
            filed = load(options.roles_file, data.names, options.table_of(file), others=True)
            data = data.with_roles(filed.roles, filed.notes)
        opened.append(data)
    return opened
