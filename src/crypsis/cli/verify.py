"""`crypsis verify`: what one person can check with her own record and the release."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options as o
from crypsis.cli.compare import Columns, Criterion, Orders, RandomRecords, Taxonomies, Ties

if TYPE_CHECKING:
    from crypsis.release import Release


@o.opens
def verify(
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", show_default=False, help="The released file.")
    ],
    opening: o.Opening,
    record: Annotated[
        Path | None,
        typer.Option("--record", help="A file with one record; without it you are asked."),
    ] = None,
    permutation_only: Annotated[
        bool,
        typer.Option(
            "--permutation-only", help="The release holds original values, in another order."
        ),
    ] = False,
    criterion: Criterion = "variance",
    columns: Columns = None,
    orders: Orders = None,
    taxonomies: Taxonomies = None,
    ties: Ties = "average",
    random_records: RandomRecords = 10_000,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it as .json.")
    ] = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    seed: o.Seed = 0,
) -> None:
    """Check how well a release protects one person, from her own record and the release alone.

    Values are read from a file or asked for, never taken from the command line, where they would
    stay in the history of the shell.

    Example: [bold]crypsis verify released.csv --record me.csv[/bold]
    """
    from crypsis import linkage
    from crypsis.cli.compare import read_orders
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.report.json import to_json
    from crypsis.report.linkage import subject_screen

    may_write(output, (".json",), force=force)
    released = opening.release(release)
    mine = _asked(released, columns) if record is None else opening.release(str(record)).to_arrow()
    chosen = read_orders(orders or (), taxonomies or ())
    names = list(columns or (name for name in released.names if name in mine.column_names))
    notes = []
    for name in names:
        if name in released.names and not _has_order(released, name) and name not in chosen:
            chosen[name] = "frequency"
            notes.append(f"Column {name!r}: categories, ordered by how frequent they are.")
    with shown_progress():
        found = linkage.subject(
            mine,
            released,
            permutation_only=permutation_only,
            random_records=random_records,
            criterion=criterion,  # type: ignore[arg-type]
            columns=names,
            orders=chosen,
            ties=ties,  # type: ignore[arg-type]
            seed=seed,
        )
    if output is not None:
        write_text(output, to_json("verify", found))
    if as_json:
        typer.echo(to_json("verify", found))
        return
    screen = console()
    screen.print(subject_screen(found, o.title(release), notes))
    if output is not None:
        screen.print(f"\nWrote {output}", markup=False)


def _has_order(release: Release, name: str) -> bool:
    from crypsis.engine.base import Kind

    kind = release.rows.column(name).kind
    return kind.ordered or kind is Kind.BOOLEAN


def _asked(release: Release, columns: list[str] | None) -> Any:
    """Ask for the values, one column at a time, as the release has them; nothing is kept."""
    import pyarrow as pa

    from crypsis.errors import ColumnError, InputError, unknown_columns

    if not sys.stdin.isatty():
        raise InputError("Give the record in a file (--record FILE), or run this at a terminal.")
    names = columns or release.names
    if any(name not in release.names for name in names):
        raise unknown_columns(names, release.names)
    typer.echo("Your own values; press Enter to leave a column out.", err=True)
    schema = release.to_arrow(list(names)).schema
    given: dict[str, Any] = {}
    for name in names:
        text = typer.prompt(name, default="", show_default=False, err=True).strip()
        if not text:
            continue
        try:
            given[name] = pa.array([text]).cast(schema.field(name).type)
        except pa.ArrowInvalid:
            raise ColumnError(
                f"What was typed for {name!r} cannot be read as the release has it "
                f"({schema.field(name).type})."
            ) from None
    if not given:
        raise InputError("No value was given; at least one column is needed.")
    return pa.table(given)
