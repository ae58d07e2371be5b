"""`crypsis assess`: may this file leave the house?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options as o

if TYPE_CHECKING:
    from crypsis.release import Release
    from crypsis.results import Assessment

_PEOPLE = "People"


@o.opens
def assess(
    data: o.Data,
    opening: o.Opening,
    policy: Annotated[
        str, typer.Option("--policy", help="A preset (crypsis policy list) or a .toml file.")
    ] = "default",
    original: Annotated[
        str | None, typer.Option("--original", help="What it was made from: asks for linkage.")
    ] = None,
    on: Annotated[
        str | None,
        typer.Option("--on", help="The column of record numbers; else row by row."),
    ] = None,
    key: o.KeyFile = None,
    attack: Annotated[
        Path | None,
        typer.Option("--attack", help="An attack on pseudonyms, as TOML: asks whether they hold."),
    ] = None,
    accept_guesses: Annotated[
        bool, typer.Option("--accept-guesses", help="Allow 'safe' with guessed roles.")
    ] = False,
    try_remedies: Annotated[
        bool | None,
        typer.Option(
            "--try/--no-try",
            help="Carry the remedy out in memory and say what it brings; by default for reports.",
        ),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(
            "--population", help="How many people, or their table.", rich_help_panel=_PEOPLE
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option("--person", help="The column that says whose row.", rich_help_panel=_PEOPLE),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option("--weight", help="How many people a row is.", rich_help_panel=_PEOPLE),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it as .html, .md or .json.")
    ] = None,
    as_json: o.AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--md", help="Markdown on standard output.")] = False,
    force: o.Force = False,
    exact: o.Exact = False,
    seed: o.Seed = 0,
) -> None:
    """One verdict: safe, not safe, or cannot tell; for whom, and what to do.

    The exit status is 0 only for 'safe'; it is 1 for 'not safe' and 'cannot tell', so that a
    pipeline stops. Ctrl-C shows what is known so far, with status 130.

    Example: [bold]crypsis assess patients.csv --roles roles.toml -o report.html[/bold]
    """
    from dataclasses import replace

    from crypsis._assess import assess as ask
    from crypsis._assess import load_attack
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.errors import ParameterError
    from crypsis.policy import load_policy
    from crypsis.report.verdict import assessment_view

    if as_json and as_markdown:
        raise ParameterError("Standard output takes one form: --json or --md.")
    may_write(output, (".html", ".md", ".json"), force=force)
    if key is not None and (original is None or on is not None):
        raise ParameterError("--key goes with --original, and takes the place of --on.")
    rows = o.row_map_of(key)
    rules = load_policy(policy)
    belief = None if attack is None else load_attack(attack)
    with shown_progress():
        release = replace(
            opening.release(data),
            person=person,
            weight=weight,
            population=_population(population, opening),
        )
        found = ask(
            release,
            None if original is None else _without_roles(opening).release(original),
            belief,
            rules,
            accept_guesses=accept_guesses,
            on=on,
            row_map=rows,
            exact=exact,
            try_remedies=False if try_remedies is None and output is None else try_remedies,
            name=o.title(data),
            source=_words(data, opening),
            original_source=_words(original or "ORIGINAL", opening),
            attack_source=str(attack or "ATTACK.toml"),
            seed=seed,
        )
    if output is not None:
        write_text(output, _in_form(found, output.suffix.lower()))
    if as_json or as_markdown:
        typer.echo(found.to_json() if as_json else found.to_markdown())
    else:
        screen = console()
        screen.print(assessment_view(found), crop=False)
        if output is not None:
            screen.print(f"\nWrote {output}", markup=False)
    if not found.complete:
        raise typer.Exit(130)
    if found.verdict.value != "safe":
        raise typer.Exit(1)


def _words(data: str, opening: o.Opening) -> tuple[str, ...]:
    """The words of a command line that open this file; never the password of a database."""
    return (o.title(data) if "://" in data else data, *_reading(opening))


def _without_roles(opening: o.Opening) -> o.Opening:
    """How to open another file of the same kind, whose columns may be others."""
    from dataclasses import replace

    return replace(opening, identifiers=None, quasi_identifiers=None, sensitive=None, roles=None)


def _reading(opening: o.Opening) -> list[str]:
    """The reading options that were given, as words of a command line."""
    from dataclasses import fields
    from typing import get_type_hints

    hints = get_type_hints(o.Opening, include_extras=True)
    words: list[str] = []
    for one in fields(o.Opening):
        option = hints[one.name].__metadata__[0]
        value = getattr(opening, one.name)
        if option.rich_help_panel != "Reading" or value == one.default or value is None:
            continue
        # In Annotated, Typer keeps the first name of an option where the default would be.
        flag = next(name for name in (option.default, *option.param_decls) if name)
        values = value if isinstance(value, list) else [value]
        words += [flag] if value is True else [w for v in values for w in (flag, str(v))]
    return words


def _population(given: str | None, opening: o.Opening) -> int | Release | None:
    """The number of people, or the table of them."""
    if given is None:
        return None
    digits = given.replace("_", "").replace(",", "")
    return int(digits) if digits.isdecimal() else _without_roles(opening).release(given)


def _in_form(found: Assessment, suffix: str) -> str:
    if suffix == ".html":
        return found.to_html()
    return found.to_markdown() if suffix == ".md" else found.to_json()
