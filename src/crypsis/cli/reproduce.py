"""`crypsis reproduce`: the four papers, computed again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options as o


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAPER]",
            help="bagai2017, domingo2016, itpr2019 or lodha2007; all four if none is named.",
            show_default=False,
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="Draw every figure into this folder.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="The folder of the real data; by default CRYPSIS_DATA."),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option("--rows", help="itpr2019, Fig. 6: the largest number of rows (100 million)."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show every value of long columns that agree.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it as .json or .md.")
    ] = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
) -> int:
    """Compute the tables, figures and theorems of the papers again, next to the printed values.

    Each value is equal, equal after rounding, an erratum of the paper or a critique of ours (a note
    says which), or not derivable from what it prints. If any differs without an explanation the
    exit status is 1.

    Example: [bold]crypsis reproduce lodha2007 --figures figures[/bold]
    """
    from crypsis import reproduce as papers
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.errors import ParameterError
    from crypsis.report.json import to_json
    from crypsis.reproduce.report import reproduction_markdown, reproduction_view, summary_view

    may_write(output, (".json", ".md"), force=force)
    if rows is not None and paper not in (None, "itpr2019"):
        raise ParameterError("--rows applies to Fig. 6 of itpr2019 only.")
    names = papers.PAPERS if paper is None else (paper,)
    more = {} if rows is None else {"max_rows": rows}
    with shown_progress():
        found = papers.Reproductions(tuple(papers.paper(name, data=data, **more) for name in names))
        drawn = [] if figures is None else [papers.save_figures(p, figures) for p in found.papers]
    if output is not None and output.suffix.lower() == ".md":
        pages = [reproduction_markdown(one, everything=every) for one in found.papers]
        write_text(output, "\n".join(pages))
    elif output is not None:
        write_text(output, to_json("reproduce", found) + "\n")
    if as_json:
        typer.echo(to_json("reproduce", found))
        return int(found.differs)
    screen = console()
    for one in found.papers:
        screen.print(reproduction_view(one, everything=every), crop=False)
        screen.print()
    if len(found.papers) > 1:
        screen.print(summary_view(found.papers))
    if figures is not None:
        screen.print(f"{sum(map(len, drawn))} figures are in {figures}.", markup=False)
    return int(found.differs)
