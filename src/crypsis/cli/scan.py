"""`crypsis scan`: the columns of a file and their roles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from crypsis.cli import options as o
from crypsis.results import Result


class _Scan(Result):
    """The profile, and the quasi-identifiers if they were searched for."""

    profile: Result
    quasi_identifiers: Result | None

    def to_dict(self, *, reveal: bool = False) -> dict[str, Any]:
        body = self.profile.to_dict(reveal=reveal)
        if self.quasi_identifiers is not None:
            body["quasi_identifiers"] = self.quasi_identifiers.to_dict(reveal=reveal)
        return body


@o.takes_sample
def scan(
    data: o.Data,
    options: o.DataOptions,
    save: Annotated[
        Path | None, typer.Option("--save", help="Write the roles to a TOML file to edit.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the scan as .html or .json.")
    ] = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", help="Search column sets that make this share of people unique."),
    ] = None,
    max_columns: Annotated[
        int, typer.Option("--max-columns", help="The largest size of such a column set.")
    ] = 4,
    limit: Annotated[int, typer.Option("--limit", help="How many column sets to show.")] = 10,
    exact: o.Exact = False,
    seed: o.Seed = 0,
) -> None:
    """Profile a file: the role of each column, and the most identifying columns and pairs.

    With --population or --alpha also the sets of columns that single people out.

    Example: [bold]crypsis scan patients.csv --save roles.toml[/bold]
    """
    import crypsis as cr
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.columns import roles
    from crypsis.report.json import to_json
    from crypsis.report.singling_out import quasi_identifiers_view
    from crypsis.report.terminal import scan_view

    may_write(save, (".toml",), force=force)
    may_write(output, (".html", ".json"), force=force)
    with shown_progress():
        dataset = options.dataset(data)
        profile = cr.scan(dataset, limit=limit, exact=exact, seed=seed)
        column_sets = None
        if dataset.population is not None or alpha is not None:
            column_sets = cr.singling_out.find_quasi_identifiers(
                dataset,
                0.5 if alpha is None else alpha,
                columns=_columns_of(dataset),
                max_columns=max_columns,
            )
    scan_result = _Scan(profile, column_sets)
    source = o.title(data)
    if save is not None:
        roles.save(
            profile.columns, save, units=options.units, evidence=profile.record_evidence, overwrite=force
        )
    if output is not None:
        from crypsis.report.html import scan_page

        page = output.suffix.lower() == ".html"
        write_text(output, scan_page(profile, source) if page else to_json("scan", scan_result))
    if as_json:
        typer.echo(to_json("scan", scan_result))
        return
    screen = console()
    screen.print(scan_view(profile, source, screen.width))
    if column_sets is not None:
        screen.print(quasi_identifiers_view(column_sets, limit=limit))
    for path in filter(None, (save, output)):
        screen.print(f"\nWrote {path}", markup=False)


def _columns_of(data: Any) -> list[str] | None:
    """The columns that the table of the population has as well; all if there is no such table."""
    names = getattr(data.population, "names", None)
    return None if names is None else [name for name in data.knowable if name in names]
