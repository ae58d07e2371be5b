"""`crypsis scan`: what is in this file, and what each column seems to be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from crypsis.cli import options as o
from crypsis.results import Result


@dataclass(frozen=True)
class _Scan(Result):
    """What a scan tells: the profile, and the quasi-identifiers where they were asked for."""

    profile: Result
    quasi_identifiers: Result | None

    def to_dict(self, *, reveal: bool = False) -> dict[str, Any]:
        told = self.profile.to_dict(reveal=reveal)
        if self.quasi_identifiers is not None:
            told["quasi_identifiers"] = self.quasi_identifiers.to_dict(reveal=reveal)
        return told


@o.opens
def scan(
    data: o.Data,
    opening: o.Opening,
    save: Annotated[
        Path | None, typer.Option("--save", help="Write the roles to a TOML file to edit.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the scan as .html or .json.")
    ] = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    population: Annotated[
        int | None,
        typer.Option("--population", help="People the rows were drawn from: find who is unique."),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", help="Find column sets that make this share of people unique."),
    ] = None,
    largest: Annotated[int, typer.Option("--largest", help="The most columns in such a set.")] = 4,
    most: Annotated[int, typer.Option("--most", help="How many columns and pairs to show.")] = 10,
    exact: o.Exact = False,
    seed: o.Seed = 0,
) -> None:
    """Look at a file: every column, what it seems to be, and what tells people apart most.

    With --population or --alpha it also finds the sets of columns that single people out.

    Example: [bold]crypsis scan patients.csv --save roles.toml[/bold]
    """
    from crypsis import roles
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.profile import profile
    from crypsis.report.json import to_json
    from crypsis.report.singling_out import quasi_identifiers_view
    from crypsis.report.terminal import profile_view
    from crypsis.singling_out import find_quasi_identifiers

    may_write(save, (".toml",), force=force)
    may_write(output, (".html", ".json"), force=force)
    with shown_progress():
        release = opening.release(data)
        found = profile(release, most=most, exact=exact, seed=seed)
        searched = None
        if population is not None or alpha is not None:
            searched = find_quasi_identifiers(
                release, 0.5 if alpha is None else alpha, population=population, largest=largest
            )
    told = _Scan(found, searched)
    source = o.title(data)
    if save is not None:
        roles.save(found.columns, save, overwrite=force)
    if output is not None:
        from crypsis.report.html import profile_page

        page = output.suffix.lower() == ".html"
        write_text(output, profile_page(found, source) if page else to_json("scan", told))
    if as_json:
        typer.echo(to_json("scan", told))
        return
    screen = console()
    screen.print(profile_view(found, source, screen.width))
    if searched is not None:
        screen.print(quasi_identifiers_view(searched, most=most))
    for path in filter(None, (save, output)):
        screen.print(f"\nWrote {path}", markup=False)
