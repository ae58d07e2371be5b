"""`crypsis compare`: can the masked records be linked back to the originals?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options as o

if TYPE_CHECKING:
    from crypsis.linkage._orders import Order
    from crypsis.release import Release

_LINKING = "Linking"

Columns = Annotated[
    list[str] | None,
    typer.Option("--column", help="A column to compare (repeat).", rich_help_panel=_LINKING),
]
Orders = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        metavar="COLUMN=ORDER",
        help="The order of categories: 'frequency', or the values, as low,middle,high (repeat).",
        rich_help_panel=_LINKING,
    ),
]
Taxonomies = Annotated[
    list[str] | None,
    typer.Option(
        "--taxonomy",
        metavar="COLUMN=FILE",
        help="Order categories by a tree: a value, then its ancestors, with ';' (repeat).",
        rich_help_panel=_LINKING,
    ),
]
Ties = Annotated[
    str,
    typer.Option(
        "--ties", help="Ranks of equal values: 'average' or 'random'.", rich_help_panel=_LINKING
    ),
]
Criterion = Annotated[
    str,
    typer.Option(
        "--criterion",
        help="Diversity: variance, distinct, entropy or t-closeness.",
        rich_help_panel=_LINKING,
    ),
]
RandomRecords = Annotated[
    int,
    typer.Option("--random-records", help="How many strangers to draw.", rich_help_panel=_LINKING),
]


@o.opens
def compare(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", show_default=False, help="The file as it was.")
    ],
    masked: Annotated[
        str,
        typer.Argument(
            metavar="MASKED", show_default=False, help="The file as it would be released."
        ),
    ],
    opening: o.Opening,
    on: Annotated[
        str | None,
        typer.Option("--on", help="The column of record numbers; else row by row."),
    ] = None,
    key: o.KeyFile = None,
    unaligned: Annotated[
        bool, typer.Option("--unaligned", help="Nobody knows whose masked record is whose.")
    ] = False,
    controls: Annotated[
        str | None, typer.Option("--controls", help="Records of people who are not in the file.")
    ] = None,
    acceptable: Annotated[
        float | None,
        typer.Option("--acceptable", help="The share of right links that you accept: a gate."),
    ] = None,
    distance: Annotated[
        list[float] | None, typer.Option("--d", help="Ranks to move: one, or one a column.")
    ] = None,
    diversity: Annotated[
        list[float] | None, typer.Option("--v", help="Diversity wanted: one, or one a column.")
    ] = None,
    criterion: Criterion = "variance",
    columns: Columns = None,
    orders: Orders = None,
    taxonomies: Taxonomies = None,
    ties: Ties = "average",
    random_records: RandomRecords = 10_000,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it as .html or .json.")
    ] = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    seed: o.Seed = 0,
) -> None:
    """Compare a masked file with its original: links, their trust, permutation, noise.

    With --acceptable the exit status is 1 unless the file withstands.

    Example: [bold]crypsis compare survey.csv masked.csv --on id -o report.html[/bold]
    """
    from crypsis import linkage
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.errors import ParameterError
    from crypsis.report.json import to_json
    from crypsis.report.linkage import comparison_page, comparison_view

    may_write(output, (".html", ".json"), force=force)
    if key is not None and (on is not None or unaligned):
        raise ParameterError(
            "Say in one way which rows belong together: --key, --on or --unaligned."
        )
    rows = o.row_map_of(key)
    with shown_progress():
        first, second = opening.release(original), opening.release(masked)
        chosen = read_orders(orders or (), taxonomies or ())
        names, notes = comparable(first, second, columns, chosen, on)
        found = linkage.compare(
            first,
            second,
            d=distance or None,
            v=diversity or None,
            criterion=criterion,  # type: ignore[arg-type]
            random_records=random_records,
            controls=None if controls is None else opening.release(controls),
            acceptable=acceptable,
            columns=names,
            orders=chosen,
            on=on,
            row_map="unknown" if unaligned else rows,
            ties=ties,  # type: ignore[arg-type]
            seed=seed,
        )
    title = f"{o.title(original)} and {o.title(masked)}"
    if output is not None:
        page = output.suffix.lower() == ".html"
        text = comparison_page(found, title, notes) if page else to_json("compare", found)
        write_text(output, text)
    if as_json:
        typer.echo(to_json("compare", found))
    else:
        screen = console()
        screen.print(comparison_view(found, title, notes))
        if output is not None:
            screen.print(f"\nWrote {output}", markup=False)
    if acceptable is not None and found.verdict != "withstands":
        raise typer.Exit(1)


def comparable(
    first: Release,
    second: Release,
    asked: Sequence[str] | None,
    orders: dict[str, Order],
    on: str | None,
) -> tuple[list[str], list[str]]:
    """The columns to compare, and a note for each that is left out for want of an order."""
    if asked:
        return list(asked), []
    from crypsis.engine.base import Kind
    from crypsis.errors import ColumnError
    from crypsis.release import Role

    names, notes = [], []
    for name in first.names:
        if name == on or name not in second.names or first.roles.get(name) is Role.IDENTIFIER:
            continue
        kind = first.rows.column(name).kind
        if name in orders or kind.ordered or kind is Kind.BOOLEAN:
            names.append(name)
        else:
            notes.append(f"Column {name!r}: categories without an order; give one with --order.")
    if not names:
        raise ColumnError(
            "The files share no column that could be ranked. Give categories an order with --order "
            "COLUMN=frequency, --order COLUMN=low,middle,high or --taxonomy COLUMN=FILE."
        )
    return names, notes


def read_orders(orders: Sequence[str], taxonomies: Sequence[str]) -> dict[str, Order]:
    """The orders that the command line gives."""
    from crypsis.linkage import Taxonomy

    found: dict[str, Any] = {}
    for text in orders:
        name, values = _split(text, "--order", "COLUMN=frequency or COLUMN=low,middle,high")
        found[name] = "frequency" if values == "frequency" else o._split(values)
    for text in taxonomies:
        name, path = _split(text, "--taxonomy", "COLUMN=FILE")
        found[name] = Taxonomy.read(path)
    return found


def _split(text: str, option: str, form: str) -> tuple[str, str]:
    from crypsis.errors import ParameterError

    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise ParameterError(f"{option} is written {form}.")
    return name, value
