"""`crypsis leak`: how well an attribute can be inferred from what an intruder knows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options as o


@o.takes_data
def leak(
    data: o.Data,
    options: o.DataOptions,
    target: Annotated[
        list[str], typer.Option("--target", help="Column to infer (repeat).", show_default=False)
    ],
    given: Annotated[
        list[str] | None,
        typer.Option("--given", help="Known column (repeat); default: the quasi-identifiers."),
    ] = None,
    unique: Annotated[
        list[str] | None,
        typer.Option("--unique", help="A target whose values are all different (not counted)."),
    ] = None,
    prove: Annotated[bool, typer.Option("--prove", help="Count whether targets are unique.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the measures as .json.")
    ] = None,
    classes: Annotated[
        Path | None,
        typer.Option("--classes", help="Write all equivalence classes, with values, as .csv or .parquet."),
    ] = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    reveal: Annotated[bool, typer.Option("--reveal", help="Show values of the data.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Number of classes to show.")] = 5,
    exact: Annotated[
        bool, typer.Option("--exact", help="Count all classes, however many; default: a sample of them.")
    ] = False,
    seed: o.Seed = 0,
) -> None:
    """How well a target can be inferred from given columns, and in which classes.

    With a direct identifier as target this is the risk of re-identification, with a sensitive
    attribute that of inference.

    Example: [bold]crypsis leak patients.csv --target disease --given age --given zip[/bold]
    """
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.dataset import Dataset
    from crypsis.errors import ParameterError
    from crypsis.inference import leakages
    from crypsis.report.inference import leakage_view
    from crypsis.report.json import to_json

    may_write(output, (".json",), force=force)
    may_write(classes, (".csv", ".parquet"), force=force)
    if classes is not None and len(target) > 1:
        raise ParameterError(
            "Equivalence classes are written for one target.", code="one-target", hint="Set {target} once."
        )
    with shown_progress():
        leakage_results = leakages(
            options.dataset(data),
            target,
            given or None,
            unique=unique or (),
            prove=prove,
            exact=exact,
            seed=seed,
        )
        if classes is not None:
            Dataset.from_frame(leakage_results.targets[0].table()).write(classes, overwrite=force)
    if output is not None:
        write_text(output, to_json("leak", leakage_results, reveal=reveal))
    if as_json:
        typer.echo(to_json("leak", leakage_results, reveal=reveal))
        return
    screen = console()
    for leakage in leakage_results.targets:
        screen.print(leakage_view(leakage, limit=limit, reveal=reveal))
    for path in filter(None, (output, classes)):
        screen.print(f"\nWrote {path}", markup=False)
