"""`crypsis scan`: what is in this file, and what each column seems to be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options as o


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
    most: Annotated[int, typer.Option("--most", help="How many columns and pairs to show.")] = 10,
    seed: o.Seed = 0,
) -> None:
    """Look at a file: every column, what it seems to be, and what tells people apart most.

    Example: [bold]crypsis scan patients.csv --save roles.toml[/bold]
    """
    from crypsis import roles
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.profile import profile
    from crypsis.report.html import profile_page
    from crypsis.report.json import to_json
    from crypsis.report.terminal import profile_view

    may_write(save, (".toml",), force=force)
    may_write(output, (".html", ".json"), force=force)
    with shown_progress():
        found = profile(opening.release(data), most=most, seed=seed)
    source = o.title(data)
    if save is not None:
        roles.save(found.columns, save, overwrite=force)
    if output is not None:
        page = output.suffix.lower() == ".html"
        write_text(output, profile_page(found, source) if page else to_json("scan", found))
    if as_json:
        typer.echo(to_json("scan", found))
        return
    screen = console()
    screen.print(profile_view(found, source, screen.width))
    for path in filter(None, (save, output)):
        screen.print(f"\nWrote {path}", markup=False)
