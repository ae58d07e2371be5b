"""`crypsis leak`: how well a secret, or who a row is, can be guessed from what others know."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from crypsis.inference import (
        GroupRisk,
        Leakage,
        Leakages,
        SampledLeakage,
        SampledLeakages,
        SeenGroup,
    )
    from crypsis.results import Number


@o.opens
def leak(
    data: o.Data,
    opening: o.Opening,
    target: Annotated[
        list[str],
        typer.Option("--target", help="What is to be guessed (repeat).", show_default=False),
    ],
    given: Annotated[
        list[str] | None,
        typer.Option("--given", help="What is known (repeat); else the columns named by --qi."),
    ] = None,
    unique: Annotated[
        list[str] | None,
        typer.Option("--unique", help="A target that no two rows share: it is not counted."),
    ] = None,
    prove: Annotated[
        bool, typer.Option("--prove", help="Count whether targets are unique.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the measures as .json.")
    ] = None,
    groups: Annotated[
        Path | None,
        typer.Option("--groups", help="Write all groups, with their values, as .csv or .parquet."),
    ] = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    reveal: Annotated[bool, typer.Option("--reveal", help="Show values of the data.")] = False,
    most: Annotated[int, typer.Option("--most", min=1, help="How many groups to show.")] = 5,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Count groups that are too many to fetch; else a sample."),
    ] = False,
    seed: o.Seed = 0,
) -> None:
    """How well a target can be guessed from the given columns, and in which groups.

    With an identifier as target this is the risk of re-identification, with a sensitive column that
    of inference.

    Example: [bold]crypsis leak patients.csv --target disease --given age --given zip[/bold]
    """
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.errors import ParameterError, TooLarge
    from crypsis.inference import Leakage, leakages, sampled_leakages
    from crypsis.report.json import to_json

    may_write(output, (".json",), force=force)
    may_write(groups, (".csv", ".parquet"), force=force)
    if groups is not None and len(target) > 1:
        raise ParameterError("The groups are those of one target; give --target once.")
    how: dict[str, Any] = {"unique": unique or (), "prove": prove, "seed": seed}
    found: Leakages | SampledLeakages
    with shown_progress():
        release = opening.release(data)
        try:
            found = leakages(release, target, given or None, **how)
        except TooLarge:
            if groups is not None:
                raise
            found = sampled_leakages(release, target, given or None, exact=exact, **how)
    if output is not None:
        write_text(output, to_json("leak", found, reveal=reveal))
    if groups is not None and isinstance(found.targets[0], Leakage):
        from crypsis.release import Release

        Release.from_frame(found.targets[0].table()).write(groups, overwrite=force)
    if as_json:
        typer.echo(to_json("leak", found, reveal=reveal))
        return
    screen = console()
    for one in found.targets:
        if isinstance(one, Leakage):
            parts = leakage_view(one, most=most, reveal=reveal)
        else:
            parts = sampled_view(one, most=most, reveal=reveal)
        for part in parts:
            screen.print(part)
    for path in filter(None, (output, groups)):
        screen.print(f"\nWrote {path}", markup=False)


def leakage_view(found: Leakage, *, most: int, reveal: bool) -> list[RenderableType]:
    """Best guess first, then ITPR beside what it would be by chance, then the groups."""
    from rich.text import Text

    from crypsis.report.terminal import shown

    names = Text(", ").join(shown(name) for name in found.given)
    head = Text.assemble((shown(found.target).plain, "bold"), " from ", names)
    head.append(f": {found.rows:,} rows in {found.groups:,} groups")
    parts: list[RenderableType] = [head, "", _measures(found)]
    parts += ["", _group_table("riskiest groups", found.first(most), reveal)]
    if len(found.given) > 1:
        first = found.contributions[0]
        note = Text.assemble("Of the given columns ", shown(first.column), " adds the most: ")
        parts += ["", note.append(f"{first.added_bits:.3g} bits.")]
    if found.assumes:
        parts += ["", Text(f"This assumes {found.assumes}", "yellow")]
    return [*parts, ""]


def sampled_view(found: SampledLeakage, *, most: int, reveal: bool) -> list[RenderableType]:
    """The same of groups too many to fetch: estimates with their intervals, and how they came."""
    from rich.text import Text

    from crypsis.report.terminal import shown

    names = Text(", ").join(shown(name) for name in found.given)
    head = Text.assemble((shown(found.target).plain, "bold"), " from ", names)
    head.append(f": {found.rows:,} rows in {found.groups:,} groups")
    parts: list[RenderableType] = [head, "", _estimates(found)]
    if found.share < 1:
        first = found.riskiest_seen[:most]
        parts += ["", _group_table("riskiest groups seen", first, reveal)]
        note = (
            f"Estimated from {found.seen:,} groups that were seen in full, with intervals at "
            f"{100 * found.confidence:.3g} %. There may be riskier groups than those seen. "
            "--exact counts all."
        )
        parts += ["", Text(note, "yellow")]
    if found.assumes:
        parts += ["", Text(f"This assumes {found.assumes}", "yellow")]
    return [*parts, ""]


def _estimates(found: SampledLeakage) -> Table:
    bits = f"of {found.entropy_bits:.4g} bits"
    return _told(
        (
            ("best guess", found.worst_guess, "in the worst group"),
            ("", found.average_guess, "on average"),
            ("", found.prior_guess, "without the given columns"),
            ("told outright", found.told_outright, "rows in groups with one value only"),
            ("ITPR", found.itpr, "of the riskiest group"),
            ("discrimination rate", found.discrimination_rate, "uncertainty taken away"),
            ("mutual information", found.mutual_information, bits),
        )
    )


def _measures(found: Leakage) -> Table:
    guess = found.best_guess
    chance = float(found.itpr_shuffled)
    rows = (
        ("best guess", guess.worst, "in the worst group"),
        ("", guess.average, "on average"),
        ("", guess.prior, "without the given columns"),
        ("ITPR", found.itpr, f"{chance:.4g} if the target were shuffled"),
        ("discrimination rate", found.discrimination_rate, "share of the uncertainty taken away"),
        ("mutual information", found.mutual_information, f"of {found.entropy_bits:.4g} bits"),
    )
    return _told(rows)


def _told(rows: Sequence[tuple[str, Number, str]]) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value, meaning in rows:
        table.add_row(name, f"{value:.4g}", meaning)
    return table


def _group_table(title: str, groups: Sequence[GroupRisk | SeenGroup], reveal: bool) -> Table:
    from rich.table import Table

    from crypsis.report.terminal import shown

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column(title, overflow="fold")
    for name in ("rows", "best guess", "values"):
        table.add_column(name, justify="right", no_wrap=True)
    if reveal:
        table.add_column("guess", overflow="fold")
    for place, one in enumerate(groups, 1):
        known = ", ".join(map(str, one.group.values)) if reveal else f"{place}."
        numbers = (f"{one.group.size:,}", f"{one.best_guess:.4g}", f"{one.distinct:,}")
        guess = [shown(str(one.guess))] if reveal else []
        table.add_row(shown(known, 60), *numbers, *guess)
    return table
