"""`crypsis anonymize`: anonymize a dataset; write the release, its statement and its key."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, get_type_hints

import typer

from crypsis.cli import options as o
from crypsis.cli.completion import OF_OPTIONS, one_of, policy_names
from crypsis.cli.dossier import DossierOptions
from crypsis.cli.package import pack
from crypsis.cli.pairs import hierarchies, numbers, recursive_pair, texts
from crypsis.cli.release_files import ReleaseFiles
from crypsis.cli.release_summary import (
    exit_with,
    show_alternatives,
    show_next,
    show_release,
    write_comparison,
)
from crypsis.cli.remedies import assessment_of
from crypsis.cli.wording import cli_option
from crypsis.errors import OutputError, ParameterError
from crypsis.options import PlanOptions, Roles, descriptions

if TYPE_CHECKING:
    from crypsis.protection import Anonymized

_PAIR = "COLUMN=..."
_REQUIREMENTS = "Requirements"
_DEFAULT_K = 20
"""The smallest equivalence class where none is set."""
_DEFAULTS = {"beta": 0.05, "suppression": 0.05, "representative": "interval", "each_column": False}
_OF_FILE = ("keep", "may_change")
"""The settings of single columns that are in the roles file alone."""
_GROUPS = ("preserve", "apart")
"""The options that name groups of columns."""
_BY_COLUMN: dict[str, Callable[[str, Sequence[str] | None], dict[str, Any]]] = {
    "weights": numbers,
    "domains": numbers,
    "hierarchies": hierarchies,
}


def _plan_options() -> type:
    """The options of `plan` as those of a command, from the model that declares them."""
    hints, fields_of_plan = get_type_hints(PlanOptions), []
    for name, text in descriptions(PlanOptions).items():
        if name in Roles.__annotations__ or name in _OF_FILE:
            continue
        kind, metavar = hints[name], None
        if name in _BY_COLUMN:
            kind, metavar, text = list[str] | None, _PAIR, f"{text} Repeat."
        elif name == "recursive_diversity":
            kind, metavar = str | None, "C,L"
        elif name in _GROUPS:
            kind, metavar, text = list[str] | None, "COLUMN,...", f"{text} Repeat."
        flag = typer.Option(
            cli_option(name, None),
            help=text,
            metavar=metavar,
            rich_help_panel=_REQUIREMENTS,
            autocompletion=OF_OPTIONS.get(name),
        )
        fields_of_plan.append((name, Annotated[kind, flag], field(default=_DEFAULTS.get(name))))
    return make_dataclass("_AskedOptions", fields_of_plan)


def _as_given(typed: Any) -> dict[str, Any]:
    """What was typed as the keywords of `crypsis.anonymize`."""
    keywords = dict(vars(typed))
    keywords["recursive_diversity"] = recursive_pair(keywords["recursive_diversity"])
    for name in _GROUPS:
        keywords[name] = [tuple(map(str.strip, pair_text.split(","))) for pair_text in keywords[name] or ()]
    for name, parse in _BY_COLUMN.items():
        keywords[name] = parse(cli_option(name, None), keywords[name])
    return keywords


@o.takes_sample
@o.takes(_plan_options(), "plan_options")
@o.takes(DossierOptions, "about")
def anonymize(
    data: o.Data,
    options: o.DataOptions,
    plan_options: Any,
    about: DossierOptions,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The release to write: .csv (also .gz, .bz2, .xz, .zst), .parquet, .jsonl, .xlsx, "
            ".arrow, .dta, .sav, .duckdb, .sqlite, .delta, an address such as s3://..., or a table: "
            "postgresql://host/database#table; without a suffix in the format of DATA; - for standard "
            "output.",
        ),
    ] = None,
    package: Annotated[
        Path | None,
        typer.Option(
            "--package",
            help="Assess the release and write it with its statement and its dossier as one .zip; "
            "the exit status is then that of the verdict.",
        ),
    ] = None,
    explore: Annotated[
        bool,
        typer.Option(
            "--explore", help="Show risk and information loss for several k and recodings; write nothing."
        ),
    ] = False,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            help=f"The smallest equivalence class; {_DEFAULT_K} by default.",
            rich_help_panel=_REQUIREMENTS,
        ),
    ] = None,
    unicity: Annotated[
        float | None,
        typer.Option(
            "--unicity",
            help="Link the records of a person by new pseudonyms, so that known records single out "
            "at most this share of people.",
            rich_help_panel=_REQUIREMENTS,
        ),
    ] = None,
    events: Annotated[
        int,
        typer.Option("--events", help="The number of those known records.", rich_help_panel=_REQUIREMENTS),
    ] = 3,
    order: Annotated[
        str | None,
        typer.Option(
            "--order",
            help="The column with the time of a record, for --unicity.",
            rich_help_panel=_REQUIREMENTS,
        ),
    ] = None,
    inferred: Annotated[
        float | None,
        typer.Option(
            "--inferred",
            help="The largest share of sensitive values that those known records may make almost certain.",
            rich_help_panel=_REQUIREMENTS,
        ),
    ] = None,
    links: Annotated[
        str | None,
        typer.Option(
            "--links",
            help="How records stay linked: by one pseudonym for each person (records are dropped "
            "where that costs less), in pieces, or for each year, quarter, month, week or '90 days' "
            "of --order. By default what keeps most links.",
            autocompletion=one_of("person", "pieces", "year", "quarter", "month", "week"),
            rich_help_panel=_REQUIREMENTS,
        ),
    ] = None,
    max_records: Annotated[
        int | None,
        typer.Option(
            "--max-records",
            help="The most records of a person that are released; others are dropped at random.",
            rich_help_panel=_REQUIREMENTS,
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help="How a column is recoded: intervals, date, prefix, frequent, keep, suppress; or "
            "masked: noise:0.5, rank-swap:5, shuffle, microaggregate:10, mdav:10, pram:0.8, "
            "suppress-rare:5, round:10, top:90, bottom:18, pseudonym, shift:30 (dates, by person). "
            "Repeat.",
            metavar=_PAIR,
        ),
    ] = None,
    top_code: Annotated[
        list[str] | None,
        typer.Option("--top-code", help="Top code a column at this number. Repeat.", metavar=_PAIR),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            help="Top code ages at 90 if this policy (name or .toml) requires it; it is that of the "
            "package, too.",
            autocompletion=policy_names,
        ),
    ] = None,
    recoding: Annotated[
        str | None,
        typer.Option(
            "--recoding",
            help="local (the least loss), subtree (values of a column do not overlap, so it can be "
            "tabulated) or full-domain (one level a column).",
            autocompletion=one_of("local", "subtree", "full-domain"),
        ),
    ] = None,
    plan: Annotated[Path | None, typer.Option("--plan", help="Apply this plan (.json or .toml).")] = None,
    save_plan: Annotated[
        Path | None, typer.Option("--save-plan", help="Write the plan (.json or .toml).")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="The file of the re-identification key; not with the release."),
    ] = None,
    same_key: Annotated[
        Path | None,
        typer.Option(
            "--same-key",
            help="Use the pseudonym keys and date shifts of this re-identification key, so that files "
            "of the same people correspond.",
        ),
    ] = None,
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Keep the order of the rows; by default they are shuffled.")
    ] = False,
    show_missing: Annotated[
        bool, typer.Option("--show-missing", help="List the values that a hierarchy lacks.")
    ] = False,
    neutralize_formulas: Annotated[
        bool,
        typer.Option(
            "--neutralize-formulas", help="Put an apostrophe before texts that a spreadsheet would run (CSV)."
        ),
    ] = False,
    as_json: o.AsJson = False,
    force: o.Force = False,
) -> None:
    """Anonymize with the least information loss; write release, statement and key.

    Every column needs a role; direct identifiers and excluded columns are not released.

    Example: [bold]crypsis anonymize patients.csv -o safe.csv --k 20 --roles roles.toml[/bold]
    """
    from crypsis import protection
    from crypsis.cli.console import may_write, shown_progress
    from crypsis.hierarchies import HierarchyGapError
    from crypsis.tables import check_output

    method_texts, limits = texts("--method", methods), numbers("--top-code", top_code)
    if explore:
        _check_explored(output, plan, save_plan, key, same_key, recoding, unicity, package)
        with shown_progress():
            exploration = protection.explore(
                options.dataset(data),
                k=_DEFAULT_K if k is None else k,
                methods=method_texts,
                top_code=limits,
                **_as_given(plan_options),
            )
        show_alternatives(exploration, as_json)
        return
    if output is None:
        raise typer.BadParameter("It is required, unless --explore is set.", param_hint="--output")
    about.check(package)
    files = ReleaseFiles(output, save_plan, key, package)
    options_given = _as_given(plan_options)
    if options_given["apart"] and not files.local:
        raise ParameterError(
            "Attributes that are released apart are files next to the release: it is a file of this machine.",
            hint="Remove {apart}, or set {output} to a file.",
        )
    if package is not None and not files.local:
        raise ParameterError("A package has one released file: a file of this machine.")
    for path, suffixes in files.written():
        may_write(path, suffixes, force=force)
    if files.table is not None and not force:
        files.table.check_free()
    with shown_progress():
        dataset = options.dataset(data)
        check_output(dataset.rows, "" if output == "-" else output)
        if policy is not None:
            _limit_ages(dataset, policy, limits, method_texts)
        try:
            # The file that is written is measured, not the rows before.
            anonymized = protection.anonymize(
                dataset,
                k=_DEFAULT_K if k is None and plan is None else k,
                methods=method_texts,
                top_code=limits,
                plan=plan,
                recoding=recoding,  # type: ignore[arg-type]
                verify=False,
                key=None if same_key is None else _of_key(same_key),
                shuffle=not keep_order,
                unicity=unicity,
                events=events,
                inferred=inferred,
                order=order,
                links=links,
                max_records=max_records,
                **options_given,
            )
        except HierarchyGapError as gap:
            if show_missing:
                typer.echo("\n".join(gap.unknown), err=True)
            raise
        lost = anonymized.utility
        with anonymized.key.saved(key, name=files.stem, overwrite=force) as key_path:
            if output == "-":
                anonymized = _to_output(anonymized, neutralize_formulas)
            else:
                anonymized = anonymized.write(
                    output, overwrite=force, statement=files.local, neutralize_formulas=neutralize_formulas
                )
    if save_plan is not None and anonymized.plan is not None:
        anonymized.plan.save(save_plan, overwrite=force)
    if files.local:
        write_comparison(files.comparison, lost)
    judged = None
    if package is not None:
        with shown_progress():
            judged = pack(package, Path(output), anonymized, dataset, policy or "default", about, force=force)
    written = [] if output == "-" else [files.shown]
    written += map(str, anonymized.apart_paths(output))
    more = [path for path in (save_plan, package) if path is not None]
    show_release(
        anonymized, lost, [*written, *files.notes(), *more], key_path, as_json, to_stderr=output == "-"
    )
    if files.local and not as_json:
        show_next(assessment_of(output, anonymized, options, options.table_of(data)))
    if judged is not None:
        exit_with(judged, as_json)


def _to_output(anonymized: Anonymized, neutralize_formulas: bool) -> Anonymized:
    """The release on standard output, in the form of the original, once it was measured."""
    from crypsis.files import PrivateFolder

    folder = PrivateFolder("crypsis-output-")
    try:
        like = anonymized.original.rows.form
        path = folder.path / ("release" if like is not None else "release.csv")
        anonymized = anonymized.write(path, statement=False, neutralize_formulas=neutralize_formulas)
        with path.open("rb") as file:
            _copy_out(file)
    finally:
        folder.remove()
    return anonymized


def _copy_out(file: BinaryIO) -> None:
    try:
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"Standard output could not be written ({error.strerror}).") from None


def _check_explored(*options_set: Any) -> None:
    """Refuse options that write or choose something: alternatives are only shown."""
    names = (
        "--output",
        "--plan",
        "--save-plan",
        "--key",
        "--same-key",
        "--recoding",
        "--unicity",
        "--package",
    )
    unused = [name for name, value in zip(names, options_set, strict=True) if value is not None]
    if unused:
        raise typer.BadParameter(
            f"Alternatives are only shown; remove {', '.join(unused)}.", param_hint="--explore"
        )


def _of_key(path: Path) -> Any:
    """The pseudonym keys that another file of the same people was made with; not its order."""
    from crypsis.protection import Key

    return Key(pseudonyms=Key.load(path).pseudonyms)


def _limit_ages(dataset: Any, policy: str, limits: dict[str, float], methods: dict[str, str]) -> None:
    """Top code ages as the policy requires, unless a column is masked or removed anyway."""
    from crypsis.assessment import age_limits
    from crypsis.policies import load_policy

    for name, limit in age_limits(dataset, load_policy(policy)).items():
        is_quasi_identifier = name in dataset.quasi_identifiers
        if is_quasi_identifier or (name not in dataset.identifiers and name not in methods):
            limits[name] = min(limit, limits.get(name, limit))
