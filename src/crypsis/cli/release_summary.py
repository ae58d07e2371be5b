"""What `crypsis anonymize` shows of a release, of alternatives and of the verdict on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from crypsis.assessment import Assessment
    from crypsis.protection import Anonymized, Exploration


def show_release(
    anonymized: Anonymized,
    lost: Any,
    written: Sequence[Path | str],
    key: Path,
    as_json: bool,
    *,
    to_stderr: bool = False,
) -> None:
    """What was done; on standard error if the release is on standard output."""
    from crypsis.cli.console import console
    from crypsis.report.json import to_json

    if as_json:
        typer.echo(to_json("anonymize", anonymized), err=to_stderr)
        return
    from rich.table import Table

    screen = console(to_stderr=to_stderr)
    compared = Table(
        "column",
        "distinct values",
        "missing",
        "entropy (bits)",
        title="Before and after",
        title_justify="left",
    )
    for column in lost.columns:
        compared.add_row(
            column.column,
            f"{column.values_before:,} to {column.values_after:,}",
            f"{column.missing_before:,} to {column.missing_after:,}",
            f"{_bits(column.entropy_before_bits)} to {_bits(column.entropy_after_bits)}",
        )
    screen.print(compared)
    for words in anonymized.released_values.values():
        screen.print(f"{words}.", markup=False)
    screen.print(str(anonymized), markup=False)
    for path in written:
        screen.print(f"Wrote {path}", markup=False)
    screen.print(f"Wrote {key} (re-identification key: keep it apart from the release)", markup=False)


def show_next(command: str) -> None:
    """The command that assesses the release, where it is not the same with another file."""
    from crypsis.cli.console import console

    if command:
        console().print(f"To assess it:\n  {command}", markup=False, soft_wrap=True)


def write_comparison(path: Path, lost: Any) -> None:
    """The values of each column before and after, as Markdown."""
    from crypsis.cli.console import write_text

    lines = ["# Before and after", "", f"{lost.rows_after:,} of {lost.rows_before:,} records.", ""]
    lines += ["| column | values before | after | missing before | after | bits before | after |"]
    lines += ["| --- | --- | --- | --- | --- | --- | --- |"]
    for column in lost.columns:
        bits = f"{_bits(column.entropy_before_bits)} | {_bits(column.entropy_after_bits)}"
        name = column.column.replace("|", "\\|")
        lines.append(
            f"| {name} | {column.values_before} | {column.values_after} | {column.missing_before} "
            f"| {column.missing_after} | {bits} |"
        )
    lines += [f"| {name} | removed | | | | | |" for name in lost.removed]
    weighted = [column for column in lost.columns if column.weighted_distance is not None]
    if weighted:
        lines += ["", "Change of the distribution in the population, by the weights (total variation):"]
        lines += [""] + [f"- {column.column}: {100 * column.weighted_distance:.2f} %" for column in weighted]
    write_text(path, "\n".join(lines) + "\n")


def _bits(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def show_alternatives(exploration: Exploration, as_json: bool) -> None:
    """The alternatives that were made and measured."""
    from crypsis.cli.console import console
    from crypsis.report.json import to_json

    if as_json:
        typer.echo(to_json("explore", exploration))
        return
    screen = console()
    screen.print(str(exploration), markup=False)
    for alternative in exploration.alternatives:
        if alternative.failure:
            screen.print(
                f"{alternative.recoding}, k = {alternative.k:,}: {alternative.failure}", markup=False
            )
    screen.print(
        "Each line is a release that was made and measured; nothing was written. To write one, set "
        "--k, --recoding and --output instead of --explore.",
        markup=False,
    )


def exit_with(assessment: Assessment, as_json: bool) -> None:
    """The verdict on the release, and the exit status that it has."""
    from crypsis.cli.console import console
    from crypsis.report.json import exit_status

    if not as_json:
        console().print(assessment.explanation, markup=False)
    if exit_status(assessment):
        raise typer.Exit(exit_status(assessment))
