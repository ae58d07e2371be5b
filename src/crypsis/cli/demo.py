"""`crypsis demo`: synthetic people, masked too little, and their assessment."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options as o
from crypsis.options import EACH_RECORD


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for the files and the report.")
    ] = Path("demo"),
    rows: Annotated[int, typer.Option("--rows", help="The number of people.")] = 50_000,
    seed: o.Seed = 1,
) -> None:
    """Write synthetic people and a masked file of them, and assess whether it is safe to release.

    Example: [bold]crypsis demo -o demo[/bold]
    """
    from crypsis.assessment import assess
    from crypsis.cli.console import console, shown_progress, write_text
    from crypsis.cli.remedies import phrasing
    from crypsis.dataset import read
    from crypsis.demo import write_demo
    from crypsis.pseudonyms import load_attack
    from crypsis.report.verdict import assessment_view

    files = write_demo(output, rows=rows, seed=seed)
    with shown_progress():
        original = read(files.original)
        assessment = assess(
            read(files.masked),
            original,
            load_attack(files.attack),
            person=EACH_RECORD,
            name=files.masked.name,
            try_remedies=None,
            seed=seed,
        )
        words = phrasing(
            assessment,
            str(files.masked),
            original=str(files.original),
            original_names=original.names,
            attack=files.attack,
        )
        page = output / "dossier.html"
        write_text(page, assessment.to_html(words))
    screen = console()
    screen.print(assessment_view(assessment, words), crop=False)
    screen.print(f"\nOpen {page} in a browser to read the dossier.", markup=False)
    compared = ("--person", EACH_RECORD, "--original", files.original, "--attack", files.attack)
    again = shlex.join(map(str, (files.masked, *compared)))
    screen.print(f"The same assessment: crypsis assess {again}", markup=False, soft_wrap=True)
