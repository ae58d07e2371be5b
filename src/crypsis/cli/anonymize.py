"""`crypsis anonymize`: make a release safe, with what was done and what was lost beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options as o

if TYPE_CHECKING:
    from crypsis.anonymize import Anonymized, Plan

_PAIR = {"metavar": "COLUMN=..."}


@o.opens
def anonymize(
    data: o.Data,
    opening: o.Opening,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The release to write: .csv or .parquet.")
    ],
    k: Annotated[int, typer.Option("--k", help="The crowd each row must be in.")] = 20,
    population: Annotated[
        int | None, typer.Option("--population", help="People the rows were drawn from.")
    ] = None,
    beta: Annotated[
        float, typer.Option("--beta", help="The chance, per cell, that k is missed in it.")
    ] = 0.05,
    release_k: Annotated[
        int | None, typer.Option("--release-k", help="k of the release itself, besides.")
    ] = None,
    diversity: Annotated[
        int | None, typer.Option("--diversity", help="Sensitive values in every group.")
    ] = None,
    entropy_diversity: Annotated[
        float | None, typer.Option("--entropy-diversity", help="l of entropy l-diversity.")
    ] = None,
    recursive_diversity: Annotated[
        str | None,
        typer.Option("--recursive-diversity", help="c,l of recursive diversity.", metavar="C,L"),
    ] = None,
    closeness: Annotated[
        float | None, typer.Option("--closeness", help="t-closeness of every group.")
    ] = None,
    best_guess: Annotated[
        float | None, typer.Option("--best-guess", help="The likeliest value's largest share.")
    ] = None,
    each_column: Annotated[
        bool, typer.Option("--each-column", help="Ask k of every column alone.")
    ] = False,
    weights: Annotated[
        list[str] | None,
        typer.Option("--weight", help="How much a column matters (repeat).", **_PAIR),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help="How a column is told: intervals, date, prefix, common, keep, suppress; or "
            "masked: noise:0.5, rank-swap:5, shuffle, microaggregate:10, pram:0.8, round:10, "
            "top:90, bottom:18, pseudonym (repeat).",
            **_PAIR,
        ),
    ] = None,
    hierarchies: Annotated[
        list[str] | None,
        typer.Option("--hierarchy", help="A column's hierarchy, CSV or TOML (repeat).", **_PAIR),
    ] = None,
    top_code: Annotated[
        list[str] | None,
        typer.Option("--top-code", help="Put values from here together (repeat).", **_PAIR),
    ] = None,
    suppression: Annotated[
        float, typer.Option("--suppression", help="Share of rows suppression may touch.")
    ] = 0.05,
    representative: Annotated[
        str, typer.Option("--representative", help="Of intervals: interval, median or mean.")
    ] = "interval",
    rank_error: Annotated[
        float | None, typer.Option("--rank-error", help="Take quantiles from a sample.")
    ] = None,
    same_levels: Annotated[
        bool, typer.Option("--same-levels", help="Tell all rows on the same levels.")
    ] = False,
    plan_file: Annotated[
        Path | None, typer.Option("--plan", help="Carry out this plan (.json or .toml).")
    ] = None,
    save_plan: Annotated[
        Path | None, typer.Option("--save-plan", help="Write the plan (.json or .toml).")
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option("--key", help="The owner's key file; keep it apart.")
    ] = None,
    show_missing: Annotated[
        bool, typer.Option("--show-missing", help="Name values a hierarchy lacks.")
    ] = False,
    neutralize_formulas: Annotated[
        bool,
        typer.Option(
            "--neutralize-formulas",
            help="Put an apostrophe before texts that a spreadsheet would run (CSV).",
        ),
    ] = False,
    as_json: o.AsJson = False,
    force: o.Force = False,
) -> None:
    """Change the least that keeps the promise; write the release, what was done and what was lost.

    Example: [bold]crypsis anonymize patients.csv -o safe.csv --k 20 --qi age --qi zip[/bold]
    """
    from crypsis.anonymize import HierarchyGap, Plan, masked_first, plan, together
    from crypsis.cli.console import may_write, shown_progress

    notes = _notes(output)
    may_write(output, (".csv", ".parquet"), force=force)
    for path, suffixes in ((save_plan, (".json", ".toml")), (key_file, (".json",))):
        may_write(path, suffixes, force=force)
    for note in notes:
        may_write(note, (note.suffix,), force=force)
    told, masks = _split_methods(methods or ())
    with shown_progress():
        release = opening.release(data)
        masked = masked_first(release, masks)
        subject = release if masked is None else masked.release
        try:
            if plan_file is not None:
                made_plan = Plan.load(plan_file)
            else:
                made_plan = plan(
                    subject, k=k, beta=beta, population=population, release_k=release_k,
                    diversity=diversity, entropy_diversity=entropy_diversity,
                    recursive_diversity=_pair(recursive_diversity), closeness=closeness,
                    best_guess=best_guess,
                    each_column=each_column, weights=_numbers("--weight", weights), methods=told,
                    hierarchies=_hierarchies(hierarchies), suppression=suppression,
                    top_code=_numbers("--top-code", top_code), representative=representative,
                    rank_error=rank_error,
                )  # fmt: skip
            # The file that is written is measured; the rows only where columns may be merged.
            each = made_plan.promise.each_column is not None
            made = made_plan.apply(subject, local=not same_levels, verify=each)
        except HierarchyGap as gap:
            if show_missing:
                typer.echo("\n".join(gap.missing), err=True)
            raise
        made = together(release, masked, made)
        lost = made.utility
        with made.key.saved(key_file, name=output.stem, overwrite=force) as key_path:
            made = made.written(output, overwrite=force, neutralize_formulas=neutralize_formulas)
    if save_plan is not None:
        made_plan.save(save_plan, overwrite=force)
    written = [output, *notes[:2], notes[2], *([save_plan] if save_plan else [])]
    _write_lost(notes[2], lost)
    _show(made, made_plan, lost, written, key_path, as_json)


def _notes(output: Path) -> tuple[Path, Path, Path]:
    from crypsis.anonymize import statement_paths

    return (*statement_paths(output), output.with_name(output.stem + ".before-after.md"))


def _show(
    made: Anonymized, plan: Plan, lost: Any, written: Sequence[Path], key: Path, as_json: bool
) -> None:
    from crypsis.cli.console import console
    from crypsis.report.json import to_json

    if as_json:
        typer.echo(to_json("anonymize", made))
        return
    from rich.table import Table

    screen = console()
    table = Table(
        "column", "before", "after", "what is done", title="The plan", title_justify="left"
    )
    for row in plan.rows():
        table.add_row(*row)
    screen.print(table)
    told = Table(
        "column", "values", "missing", "bits", title="Before and after", title_justify="left"
    )
    for one in lost.columns:
        told.add_row(
            one.column,
            f"{one.values_before:,} to {one.values_after:,}",
            f"{one.missing_before:,} to {one.missing_after:,}",
            f"{_bits(one.entropy_before_bits)} to {_bits(one.entropy_after_bits)}",
        )
    screen.print(told)
    screen.print(str(made.measured), markup=False)
    screen.print(str(made.loss), markup=False)
    for path in written:
        screen.print(f"Wrote {path}", markup=False)
    screen.print(f"Your key, which undoes the release, is {key}; keep it apart.", markup=False)


def _write_lost(path: Path, lost: Any) -> None:
    from crypsis.cli.console import write_text

    lines = ["# Before and after", "", f"{lost.rows_after:,} of {lost.rows_before:,} rows.", ""]
    lines += ["| column | values before | after | missing before | after | bits before | after |"]
    lines += ["| --- | --- | --- | --- | --- | --- | --- |"]
    for one in lost.columns:
        bits = f"{_bits(one.entropy_before_bits)} | {_bits(one.entropy_after_bits)}"
        name = one.column.replace("|", "\\|")
        lines.append(
            f"| {name} | {one.values_before} | {one.values_after} | {one.missing_before} "
            f"| {one.missing_after} | {bits} |"
        )
    lines += [f"| {name} | removed | | | | | |" for name in lost.removed]
    write_text(path, "\n".join(lines) + "\n")


def _bits(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _pairs(flag: str, given: Sequence[str] | None) -> dict[str, str]:
    from crypsis.errors import ParameterError

    pairs = {}
    for pair in given or ():
        name, equals, value = pair.rpartition("=")
        if not equals or not name:
            raise ParameterError(f"{flag} is written COLUMN=..., not {pair!r}.")
        pairs[name] = value
    return pairs


def _numbers(flag: str, given: Sequence[str] | None) -> dict[str, float]:
    from crypsis.errors import ParameterError

    pairs = _pairs(flag, given)
    try:
        return {name: float(value) for name, value in pairs.items()}
    except ValueError:
        raise ParameterError(f"{flag} needs a number after the equals sign.") from None


def _pair(given: str | None) -> tuple[float, int] | None:
    """C and l, written c,l."""
    from crypsis.errors import ParameterError

    if given is None:
        return None
    try:
        factor, least = given.split(",")
        return float(factor), int(least)
    except ValueError:
        raise ParameterError(
            "--recursive-diversity is a number and a whole number, for example 3,2."
        ) from None


def _hierarchies(given: Sequence[str] | None) -> dict[str, Any]:
    from crypsis.anonymize import Hierarchy

    return {name: Hierarchy.read(path) for name, path in _pairs("--hierarchy", given).items()}


def _split_methods(given: Sequence[str]) -> tuple[dict[str, str], dict[str | tuple[str, ...], Any]]:
    """What tells a column less exactly, and what masks it."""
    from crypsis.anonymize import MASKS, named_mask
    from crypsis.errors import ParameterError

    told: dict[str, str] = {}
    masks: dict[str | tuple[str, ...], Any] = {}
    for name, text in _pairs("--method", given).items():
        word, _, number = text.partition(":")
        if word not in MASKS:
            told[name] = text
            continue
        try:
            masks[name] = named_mask(word, number)
        except ParameterError:
            raise ParameterError(
                f"--method {word} needs a number in its range after a colon, for example noise:0.5."
            ) from None
    return told, masks
