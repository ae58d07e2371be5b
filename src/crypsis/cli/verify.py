"""`crypsis verify`: what a data subject can verify with their own record and the release."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options as o
from crypsis.cli.compare import LinkageOptions

if TYPE_CHECKING:
    from crypsis.dataset import Dataset


@o.takes_data
@o.takes(LinkageOptions, "linkage_options")
def verify(
    release: Annotated[str, typer.Argument(show_default=False, help="The released file.")],
    options: o.DataOptions,
    linkage_options: LinkageOptions,
    record: Annotated[
        Path | None, typer.Option("--record", help="A file with one record; by default you are asked for it.")
    ] = None,
    permutation_only: Annotated[
        bool, typer.Option("--permutation-only", help="The release consists of original values, permuted.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the result as .json.")] = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    seed: o.Seed = 0,
) -> None:
    """Verify how well a release protects one record, from that record and the release alone.

    Values are read from a file or asked for, not taken from the command line, where they would
    remain in the history of the shell.

    Example: [bold]crypsis verify released.csv --record me.csv[/bold]
    """
    from crypsis import linkage
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.report.json import to_json
    from crypsis.report.linkage import record_view

    may_write(output, (".json",), force=force)
    released = options.dataset(release)
    stated_record = (
        _prompted(released, linkage_options.columns)
        if record is None
        else options.another().dataset(str(record))
    )
    with shown_progress():
        verification = linkage.verify_record(
            released,
            stated_record,
            permutation_only=permutation_only,
            seed=seed,
            **linkage_options.keywords(),
        )
    if output is not None:
        write_text(output, to_json("verify", verification))
    if as_json:
        typer.echo(to_json("verify", verification))
        return
    screen = console()
    screen.print(record_view(verification, o.title(release)))
    if output is not None:
        screen.print(f"\nWrote {output}", markup=False)


def _prompted(release: Dataset, columns: list[str] | None) -> Any:
    """Ask for the values, one column at a time; nothing is stored."""
    from crypsis.errors import InputError

    if not sys.stdin.isatty():
        raise InputError(
            "There is no record, and no terminal to ask for it.",
            code="one-record",
            hint="Set {record} to a file with one record.",
        )
    names = columns or release.names
    for name in names:
        release.rows.column(name)
    typer.echo("Your own values; press Enter to skip a column.", err=True)
    return {name: typer.prompt(name, default="", show_default=False, err=True) for name in names}
