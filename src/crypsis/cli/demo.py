"""`crypsis demo`: a sample release, and the main job done on it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options as o


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for sample and report.")
    ] = Path("demo"),
    rows: Annotated[int, typer.Option("--rows", help="How many people.")] = 50_000,
    seed: o.Seed = 1,
) -> None:
    """Make a sample of invented people, mask it a little, and ask whether it may be released.

    Example: [bold]crypsis demo -o demo[/bold]
    """
    from crypsis._assess import assess, load_attack
    from crypsis.cli.console import console, shown_progress, write_text
    from crypsis.release import read
    from crypsis.report.verdict import assessment_view
    from crypsis.sample_release import write_release

    files = write_release(output, rows=rows, seed=seed)
    with shown_progress():
        found = assess(
            read(files.released),
            read(files.original),
            load_attack(files.attack),
            name=files.released.name,
            source=(str(files.released),),
            original_source=(str(files.original),),
            attack_source=str(files.attack),
            seed=seed,
        )
        page = output / "report.html"
        write_text(page, found.to_html())
    screen = console()
    screen.print(assessment_view(found), crop=False)
    screen.print(f"\nOpen {page} to read this in a browser.", markup=False)
    again = f"--original {files.original} --attack {files.attack}"
    screen.print(f"The same by hand: crypsis assess {files.released} {again}", markup=False,
                 soft_wrap=True)  # fmt: skip
