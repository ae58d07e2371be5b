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
    """Make a sample of invented people and look at it as if it were about to be released.

    Example: [bold]crypsis demo -o demo[/bold]
    """
    from crypsis.cli.console import console, shown_progress, write_text
    from crypsis.profile import profile
    from crypsis.release import read
    from crypsis.report.html import profile_page
    from crypsis.report.terminal import profile_view
    from crypsis.sample import write_sample

    sample = write_sample(output, rows=rows, seed=seed)
    with shown_progress():
        found = profile(read(sample), seed=seed)
    page = output / "scan.html"
    write_text(page, profile_page(found, sample.name))
    screen = console()
    screen.print(profile_view(found, sample.name, screen.width))
    screen.print(f"\nThe sample is {sample}. Open {page} to read this in a browser.", markup=False)
    screen.print(f"Next: crypsis scan {sample} --save roles.toml", markup=False)
