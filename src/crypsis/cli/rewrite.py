"""`crypsis rewrite`: a table written anew, with its rows and nothing besides them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from crypsis.cli import options as o


@o.takes_reading
def rewrite(
    data: o.Data,
    options: dict[str, Any],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The clean copy to write: .parquet, .csv (also .gz, .bz2, .xz, .zst), .jsonl, .xlsx, "
            ".arrow, .dta, .sav, .duckdb or .sqlite.",
        ),
    ],
    as_json: o.AsJson = False,
    force: o.Force = False,
) -> None:
    """Write a table anew: its rows in their order, and nothing besides them.

    Workbooks, databases and files of statistical packages can hold what no table shows. The clean
    copy does not; its record, next to it, has its digest. No value is changed: nothing is anonymized.

    Example: [bold]crypsis rewrite patients.xlsx -o clean.parquet[/bold]
    """
    import crypsis as cr
    from crypsis.cli.console import console, may_write, shown_progress
    from crypsis.report.json import to_json
    from crypsis.report.wording import plural
    from crypsis.tables import RECORD

    record = output.with_name(output.name + RECORD)
    for path in (output, record):
        may_write(path, (path.suffix.lower(),), force=force)
    with shown_progress():
        copy = cr.rewrite(o.from_input(data), output, overwrite=force, **options)
    if as_json:
        typer.echo(to_json("rewrite", copy))
        return
    screen = console()
    screen.print(f"{plural(copy.rows, 'row')} of {o.title(data)} in their order.", markup=False)
    for note in copy.notes:
        screen.print(f"- {note}", markup=False)
    for description in copy.left_out:
        screen.print(f"Not in the copy: {description}", markup=False)
    screen.print(f"\nWrote {output} and its record {record.name}", markup=False)
