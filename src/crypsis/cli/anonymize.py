"""`crypsis anonymize`: make a release safe, with what was done and what was lost beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options as o
from crypsis.cli.pairs import hierarchies as read_hierarchies
from crypsis.cli.pairs import numbers, pair, split_methods

if TYPE_CHECKING:
    from crypsis.anonymize import Anonymized, Plan

_PAIR = {"metavar": "COLUMN=..."}
_PLANNED = (
    "k", "population", "beta", "release_k", "diversity", "entropy_diversity", "recursive_diversity",
    "closeness", "best_guess", "each_column", "weights", "hierarchies", "top_code", "policy",
    "suppression", "representative", "rank_error",
)  # fmt: skip
_FLAGS = {"weights": "weight", "hierarchies": "hierarchy"}


@o.opens
def anonymize(
    context: typer.Context,
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
            "masked: noise:0.5, rank-swap:5, shuffle, microaggregate:10, mdav:10, pram:0.8, "
            "suppress-rare:5, round:10, top:90, bottom:18, pseudonym (repeat).",
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
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy", help="Ages above 89 together where this policy (name or .toml) says so."
        ),
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
    told, masks = split_methods(methods or ())
    if plan_file is not None:
        _check_alone(context, told)
    limits = numbers("--top-code", top_code)
    with shown_progress():
        release = opening.release(data)
        if policy is not None:
            _keep_policy(release, policy, limits, masks)
        masked = masked_first(release, masks)
        subject = release if masked is None else masked.release
        try:
            if plan_file is not None:
                made_plan = Plan.load(plan_file)
            else:
                made_plan = plan(
                    subject, k=k, beta=beta, population=population, release_k=release_k,
                    diversity=diversity, entropy_diversity=entropy_diversity,
                    recursive_diversity=pair(recursive_diversity), closeness=closeness,
                    best_guess=best_guess,
                    each_column=each_column, weights=numbers("--weight", weights), methods=told,
                    hierarchies=read_hierarchies(hierarchies), suppression=suppression,
                    top_code=limits, representative=representative,
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


def _check_alone(context: typer.Context, told: Any) -> None:
    """Refuse options beside `--plan` that would have no effect: the plan says all of that."""
    from crypsis.errors import ParameterError

    sources = {name: context.get_parameter_source(name) for name in _PLANNED}
    typed = [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]
    if told:
        typed.append("method")
    if typed:
        flags = ", ".join(f"--{_FLAGS.get(name, name).replace('_', '-')}" for name in typed)
        raise ParameterError(
            f"The plan of --plan says all of that: {flags} would have no effect. Edit the plan, or "
            "leave it out."
        )


def _keep_policy(release: Any, policy: str, limits: dict[str, float], masks: Any) -> None:
    """Put ages together as a policy says: in the plan, or by a mask where others do not know."""
    from crypsis._assess import age_limits
    from crypsis.anonymize import TopCode
    from crypsis.policy import load_policy

    for name, limit in age_limits(release, load_policy(policy)).items():
        if name in release.quasi_identifiers:
            limits[name] = min(limit, limits.get(name, limit))
        elif name not in release.identifiers and name not in masks:
            masks[name] = TopCode(limit=limit)


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
