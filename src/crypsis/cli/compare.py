"""`crypsis compare`: can masked records be linked to their originals?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from crypsis.cli import options as o
from crypsis.cli.completion import one_of


def _linkage(flag: str, text: str, **more: Any) -> Any:
    return typer.Option(flag, help=text, rich_help_panel="Linkage", **more)


def _utility(flag: str, text: str) -> Any:
    return typer.Option(flag, help=text, rich_help_panel="Utility")


_ORDER = "The order of categories: 'frequency', or the values as low,middle,high. Repeat."
_TREE = "Order categories by a hierarchy, as CSV. Repeat."
_CRITERIA = ("variance", "distinct", "entropy", "t-closeness")
_CRITERION = "Diversity: variance, distinct, entropy or t-closeness."
_TIES = "Ranks of equal values: average or random."


@dataclass(frozen=True)
class LinkageOptions:
    """The options that `compare` and `verify` share, by the keywords of `crypsis.linkage`."""

    criterion: Annotated[str, _linkage("--criterion", _CRITERION, autocompletion=one_of(*_CRITERIA))] = (
        "variance"
    )
    columns: Annotated[list[str] | None, _linkage("--column", "A column to compare. Repeat.")] = None
    orders: Annotated[list[str] | None, _linkage("--order", _ORDER, metavar="COLUMN=ORDER")] = None
    hierarchies: Annotated[list[str] | None, _linkage("--hierarchy", _TREE, metavar="COLUMN=FILE")] = None
    ties: Annotated[str, _linkage("--ties", _TIES, autocompletion=one_of("average", "random"))] = "average"
    random_records: Annotated[int, _linkage("--random-records", "How many random records to draw.")] = 10_000

    def keywords(self) -> dict[str, Any]:
        """The options as keywords."""
        from crypsis.linkage import read_orders

        keywords = {**vars(self), "columns": self.columns or None}
        keywords["orders"] = read_orders(self.orders or (), keywords.pop("hierarchies") or ())
        return keywords


@o.takes_data
@o.takes(LinkageOptions, "linkage_options")
def compare(
    original: Annotated[str, typer.Argument(show_default=False, help="The original file.")],
    masked: Annotated[str, typer.Argument(show_default=False, help="The masked file.")],
    options: o.DataOptions,
    linkage_options: LinkageOptions,
    on: Annotated[
        str | None, _linkage("--on", "The column of record numbers; by default row by row.")
    ] = None,
    key: o.KeyFile = None,
    unaligned: Annotated[bool, _linkage("--unaligned", "The true matches are unknown.")] = False,
    controls: Annotated[
        str | None, _linkage("--controls", "Records of people who are not in the file.")
    ] = None,
    acceptable: Annotated[
        float | None, _linkage("--acceptable", "The acceptable share of correct links: a gate.")
    ] = None,
    d: Annotated[list[float] | None, _linkage("--d", "Distance in ranks: one, or one per column.")] = None,
    v: Annotated[list[float] | None, _linkage("--v", "Diversity: one, or one per column.")] = None,
    categories: Annotated[
        str,
        _linkage(
            "--categories",
            "Categories without an order: exclude or frequency.",
            autocompletion=one_of("exclude", "frequency"),
        ),
    ] = "exclude",
    methods: Annotated[
        list[str] | None,
        _linkage(
            "--method",
            "A published mask, such as noise:0.5: how likely is each link, for an "
            "intruder who knows the masks? Repeat.",
            metavar="COLUMN=MASK",
        ),
    ] = None,
    indicators: Annotated[
        Path | None, _utility("--indicators", "Estimates that must survive, as TOML: a gate.")
    ] = None,
    weight: Annotated[
        str | None, _utility("--weight", "The column of survey weights of the indicators.")
    ] = None,
    stratum: Annotated[str | None, _utility("--stratum", "The column of the strata of the sample.")] = None,
    cluster: Annotated[
        str | None, _utility("--cluster", "The column of the clusters (primary sampling units).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the result as .html or .json.")
    ] = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    seed: o.Seed = 0,
) -> None:
    """Compare a masked file with its original: links, their verification, permutation, noise.

    With --acceptable the exit status is 1 if the verdict is not safe, 4 if it is cannot tell; with
    --indicators it is 1 if an estimate that must survive does not. Only these are then compared.
    With --method the links of an intruder who knows the masks are computed, with the probability of
    each, and nothing else.

    Example: [bold]crypsis compare survey.csv masked.csv --on id -o report.html[/bold]
    """
    from crypsis import linkage
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.errors import ParameterError
    from crypsis.report.json import to_json
    from crypsis.report.linkage import comparison_page, comparison_view

    may_write(output, (".html", ".json"), force=force)
    if key is not None and (on is not None or unaligned):
        raise ParameterError(
            "The files can be aligned in one way only.",
            code="two-alignments",
            hint="Set one of {key}, {on} and {unaligned}.",
        )
    if indicators is not None:
        _check_indicators(
            options,
            original,
            masked,
            indicators,
            as_json=as_json,
            output=output,
            weight=weight,
            stratum=stratum,
            cluster=cluster,
        )
        return
    if methods:
        _show_posterior(
            options,
            original,
            masked,
            methods,
            as_json=as_json,
            output=output,
            on=on,
            seed=seed,
            row_map="unknown" if unaligned else o.row_map_of(key),
            acceptable=acceptable,
        )
        return
    if weight or stratum or cluster:
        raise ParameterError(
            "Weights, strata and clusters have no meaning in a comparison of records.",
            code="option-without-effect",
            hint="Set {indicators} with them.",
        )
    with shown_progress():
        comparison = linkage.compare(
            options.dataset(original),
            options.another().dataset(masked),
            d=d or None,
            v=v or None,
            controls=None if controls is None else options.another().dataset(controls),
            acceptable=acceptable,
            categories=categories,  # type: ignore[arg-type]
            on=on,
            row_map="unknown" if unaligned else o.row_map_of(key),
            seed=seed,
            **linkage_options.keywords(),
        )
    title = f"{o.title(original)} and {o.title(masked)}"
    if output is not None:
        page = output.suffix.lower() == ".html"
        write_text(output, comparison_page(comparison, title) if page else to_json("compare", comparison))
    if as_json:
        typer.echo(to_json("compare", comparison))
    else:
        screen = console()
        screen.print(comparison_view(comparison, title))
        if output is not None:
            screen.print(f"\nWrote {output}", markup=False)
    if acceptable is not None and comparison.verdict != "safe":
        raise typer.Exit(4 if comparison.verdict == "cannot tell" else 1)


def _show_posterior(
    options: o.DataOptions,
    original: str,
    masked: str,
    methods: list[str],
    *,
    as_json: bool,
    output: Path | None,
    acceptable: float | None,
    **alignment: Any,
) -> None:
    """Print how likely each link is; status 1 if more are expected to be correct than acceptable."""
    from crypsis.cli.console import console, shown_progress, write_text
    from crypsis.cli.pairs import texts
    from crypsis.errors import ParameterError
    from crypsis.protection import link_posterior
    from crypsis.report.json import to_json
    from crypsis.report.posterior import posterior_view
    from crypsis.results import Estimate

    if output is not None and output.suffix.lower() != ".json":
        raise ParameterError(
            "The links of an intruder who knows the masks are written as .json only.", code="unknown-format"
        )
    with shown_progress():
        posterior = link_posterior(
            options.dataset(original),
            options.another().dataset(masked),
            texts("--method", methods),
            **alignment,
        )
    if output is not None:
        write_text(output, to_json("posterior", posterior))
    if as_json:
        typer.echo(to_json("posterior", posterior))
    else:
        console().print(posterior_view(posterior, f"{o.title(original)} and {o.title(masked)}"))
    if acceptable is not None:
        share = posterior.expected_share
        low, high = (share.low, share.high) if isinstance(share, Estimate) else (share, share)
        if high > acceptable:
            raise typer.Exit(1 if low > acceptable else 4)


def _check_indicators(
    options: o.DataOptions,
    original: str,
    masked: str,
    indicators: Path,
    *,
    as_json: bool,
    output: Path | None,
    **parts: str | None,
) -> None:
    """Print which estimates survive; status 1 if one does not."""
    from crypsis import utility
    from crypsis.cli.console import console, write_text
    from crypsis.report.indicators import indicators_view
    from crypsis.report.json import to_json

    design: Any = {name: column for name, column in parts.items() if column is not None}
    indicator_check = utility.check_indicators(
        options.dataset(original), options.without_roles().dataset(masked), indicators, **design
    )
    if output is not None:
        write_text(output, to_json("indicators", indicator_check))
    if as_json:
        typer.echo(to_json("indicators", indicator_check))
    else:
        console().print(indicators_view(indicator_check))
    if not indicator_check.passed:
        raise typer.Exit(1)
