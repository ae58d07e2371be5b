"""`crypsis attack`: what an intruder with background knowledge learns of pseudonyms and histories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from crypsis.cli import options as o
from crypsis.cli.commands import Application
from crypsis.cli.completion import one_of

app = Application(
    help="What an intruder with background knowledge finds: pseudonyms, histories.", no_args_is_help=True
)

_DECISION = "Decision"
_COMPUTATION = "Computation"
_METHODS = ("auto", "exact", "frontier", "glynn", "gpu", "sampling")
Truth = Annotated[
    str | None,
    typer.Option(
        "--truth",
        help="A file with item and pseudonym in its first two columns, or "
        "'names' (equal names), or 'rows' (same order).",
        show_default=False,
    ),
]
Negligible = Annotated[float, typer.Option("--negligible", help="Rule out pairs less probable than this.")]


@dataclass(frozen=True)
class Reporting:
    """The options of every attack: thresholds, method and output."""

    min_degree: Annotated[
        float | None,
        typer.Option(
            "--min-degree",
            help="The smallest acceptable degree of anonymity (0 to 1).",
            rich_help_panel=_DECISION,
        ),
    ] = None
    max_cracks: Annotated[
        float | None,
        typer.Option(
            "--max-cracks",
            help="The largest acceptable number of expected cracks.",
            rich_help_panel=_DECISION,
        ),
    ] = None
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="auto, exact, frontier, glynn, gpu or sampling.",
            autocompletion=one_of(*_METHODS),
            rich_help_panel=_COMPUTATION,
        ),
    ] = "auto"
    precision: Annotated[
        float, typer.Option("--precision", help="Of sampled numbers, relative.", rich_help_panel=_COMPUTATION)
    ] = 0.005
    limit: Annotated[int, typer.Option("--limit", help="How many exposed items to list.")] = 10
    reveal: Annotated[bool, typer.Option("--reveal", help="Name the exposed items.")] = False
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it as .json.")] = None
    as_json: o.AsJson = False
    force: o.Force = False
    seed: o.Seed = 0

    def report(
        self, title: str, attack: Path | Mapping[str, Any], options: o.DataOptions | None = None
    ) -> None:
        """Measure, decide, show; status 1 for not safe and 4 for cannot tell."""
        from crypsis import pseudonyms as ps
        from crypsis.cli.console import console, may_write, shown_progress, write_text
        from crypsis.report.json import to_json
        from crypsis.report.pseudonyms import attack_view

        may_write(self.output, (".json",), force=self.force)
        belief = ps.load_attack(attack, read=None if options is None else options.dataset)
        with shown_progress():
            anonymity = ps.anonymity(
                belief, limit=self.limit, method=self.method, seed=self.seed, precision=self.precision
            )
        decision = None
        if self.min_degree is not None or self.max_cracks is not None:
            decision = ps.decide(anonymity, min_degree=self.min_degree, max_cracks=self.max_cracks)
        kind = str(attack["kind"]) if isinstance(attack, Mapping) else "file"
        outcome = ps.AttackOutcome(kind, anonymity, decision)
        if self.output is not None:
            write_text(self.output, to_json("attack", outcome, reveal=self.reveal))
        if self.as_json:
            typer.echo(to_json("attack", outcome, reveal=self.reveal))
        else:
            screen = console()
            screen.print(attack_view(outcome, title, reveal=self.reveal))
            if self.output is not None:
                screen.print(f"\nWrote {self.output}", markup=False)
        if decision is not None and decision.verdict != "safe":
            raise typer.Exit(4 if decision.verdict == "cannot tell" else 1)


@app.command("frequencies")
@o.takes(Reporting, "reporting")
def frequencies(
    transactions: Annotated[Path, typer.Argument(metavar="TRANSACTIONS", help="One transaction a line.")],
    reporting: Reporting,
    ranges: Annotated[
        Path | None, typer.Option("--ranges", help="A table: item, lowest, highest share.")
    ] = None,
    expected: Annotated[
        Path | None, typer.Option("--expected", help="A table: item, expected share.")
    ] = None,
    error: Annotated[
        float | None, typer.Option("--error", help="The intruder knows every share to this relative error.")
    ] = None,
    experience: Annotated[
        float | None, typer.Option("--experience", help="How many transactions the shares were learned from.")
    ] = None,
    negligible: Negligible = 0.0,
    separator: Annotated[str, typer.Option("--separator", help="Between pseudonyms.")] = ",",
    truth: Truth = None,
) -> None:
    """Frequency attack: expected frequencies of items against frequencies of pseudonyms.

    Example: [bold]crypsis attack frequencies baskets.csv --error 0.05 --truth names[/bold]
    """
    attack = {
        "kind": "frequencies",
        "transactions": str(transactions),
        "error": error,
        "ranges": None if ranges is None else str(ranges),
        "expected": None if expected is None else str(expected),
        "experience": experience,
        "negligible": negligible,
        "separator": separator,
        "truth": truth,
    }
    reporting.report(transactions.name, attack)


@app.command("join")
@o.takes(Reporting, "reporting")
@o.takes_data
def join(
    known: Annotated[str, typer.Argument(metavar="KNOWN", help="A table with names.")],
    released: Annotated[str, typer.Argument(metavar="RELEASED", help="The pseudonymized table.")],
    options: o.DataOptions,
    reporting: Reporting,
    on: Annotated[list[str], typer.Option("--on", metavar="COLUMN[=TOLERANCE]", help="Shared (repeat).")],
    item: Annotated[str | None, typer.Option("--item", help="The column with the names.")] = None,
    pseudonym: Annotated[
        str | None, typer.Option("--pseudonym", help="The column with the pseudonyms.")
    ] = None,
    agreement: Annotated[
        float | None, typer.Option("--agreement", help="Probabilistic: how often shared columns agree.")
    ] = None,
    negligible: Negligible = 0.0,
    truth: Truth = None,
) -> None:
    """Join attack: a public table with names shares columns with the release.

    Example: [bold]crypsis attack join voters.csv release.csv --on age --on zip --truth rows[/bold]
    """
    attack = {
        "kind": "join",
        "known": known,
        "released": released,
        "on": dict(map(_tolerance, on)),
        "item": item,
        "pseudonym": pseudonym,
        "agreement": agreement,
        "negligible": negligible,
        "truth": truth,
    }
    reporting.report(f"{o.title(known)} and {o.title(released)}", attack, options)


@app.command("matrix")
@o.takes(Reporting, "reporting")
@o.takes_data
def matrix(
    likelihoods: Annotated[str, typer.Argument(metavar="MATRIX", help="Items down, pseudonyms across.")],
    options: o.DataOptions,
    reporting: Reporting,
    truth: Truth = None,
) -> None:
    """Any attack: a belief matrix as a table, with the items in its first column.

    Example: [bold]crypsis attack matrix beliefs.csv --truth truth.csv --max-cracks 2[/bold]
    """
    attack = {"kind": "matrix", "matrix": likelihoods, "truth": truth}
    reporting.report(o.title(likelihoods), attack, options)


@app.command("histories")
@o.takes_data
def histories(
    data: o.Data,
    options: o.DataOptions,
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--known",
            help="A column of an event that the intruder knows. Repeat. By "
            "default all that are released and not sensitive.",
            metavar="COLUMN",
        ),
    ] = None,
    events: Annotated[int, typer.Option("--events", help="The most known records.")] = 6,
    knowledge: Annotated[
        str,
        typer.Option(
            "--knowledge",
            help="What is known besides: set (nothing), order, number (of "
            "records) or ends (the first and the last).",
        ),
    ] = "set",
    order: Annotated[
        str | None, typer.Option("--order", help="The column with the time of a record.")
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            "--tolerance",
            help="How exactly a column is known: '1 day', '2 weeks', '10 %', 5, 'prefix 3'. Repeat.",
            metavar="COLUMN=...",
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            help="A column of which a value is inferred from the known records. Repeat.",
            metavar="COLUMN",
        ),
    ] = None,
    smallest: Annotated[
        bool,
        typer.Option(
            "--smallest", help="Count how many records single each person out at the least, if well chosen."
        ),
    ] = False,
    at: Annotated[
        int,
        typer.Option("--at", help="The number of known records that is limited.", rich_help_panel=_DECISION),
    ] = 3,
    max_unicity: Annotated[
        float | None,
        typer.Option(
            "--max-unicity",
            help="The largest acceptable share of people singled out.",
            rich_help_panel=_DECISION,
        ),
    ] = None,
    max_inferred: Annotated[
        float | None,
        typer.Option(
            "--max-inferred",
            help="The largest acceptable share of sensitive values inferred almost certainly.",
            rich_help_panel=_DECISION,
        ),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Count all choices of records.", rich_help_panel=_COMPUTATION)
    ] = False,
    draws: Annotated[
        int,
        typer.Option(
            "--draws",
            help="How many choices are drawn, if not all are counted.",
            rich_help_panel=_COMPUTATION,
        ),
    ] = 10_000,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it as .json.")] = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    seed: o.Seed = 0,
) -> None:
    """History attack: some known records of a person against all that a column links.

    Example: [bold]crypsis attack histories visits.csv --person code --known month --known ward[/bold]
    """
    from crypsis import inference, singling_out
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.cli.pairs import texts
    from crypsis.errors import ParameterError
    from crypsis.report.histories import histories_view
    from crypsis.report.json import to_json

    may_write(output, (".json",), force=force)
    if max_inferred is not None and not target:
        raise ParameterError(
            "Nothing is inferred without a target.",
            parameter="max_inferred",
            hint="Set {target} to the column with the sensitive values.",
        )
    with shown_progress():
        dataset = options.dataset(data)
        tolerances = texts("--tolerance", tolerance)
        curve = singling_out.unicity(
            dataset,
            known or None,
            events=max(events, at),
            knowledge=knowledge,
            order=order,
            tolerance=tolerances,
            exact=exact or None,
            draws=draws,
            seed=seed,
        )
        whole = singling_out.history_classes(
            dataset, known or None, ordered=curve.knowledge == "order", order=order
        )
        pairs = [
            inference.history_disclosure(
                dataset,
                target_name,
                known or None,
                events=max(events, at),
                knowledge=knowledge,
                order=order,
                tolerance=tolerances,
                exact=exact or None,
                seed=seed,
            )
            for target_name in target or ()
        ]
        fewest = None
        if smallest:
            fewest = singling_out.smallest_events(
                dataset,
                known or None,
                events=max(events, at),
                knowledge=knowledge,
                order=order,
                tolerance=tolerances,
            )
    more: dict[str, list[Any]] = {"inferred": pairs} if target else {}
    more |= {"smallest_events": [fewest]} if fewest is not None else {}
    shown = to_json("histories", curve, more=more)
    if output is not None:
        write_text(output, shown)
    if as_json:
        typer.echo(shown)
    else:
        screen = console()
        screen.print(histories_view(curve, whole, o.title(data), pairs, fewest))
        if output is not None:
            screen.print(f"\nWrote {output}", markup=False)
    limits = [] if max_unicity is None else [(curve.at(at), max_unicity)]
    limits += [] if max_inferred is None else [(pair.at(at), max_inferred) for pair in pairs]
    if any(getattr(share, "low", share) > most for share, most in limits):
        raise typer.Exit(1)
    if any(getattr(share, "high", share) > most for share, most in limits):
        raise typer.Exit(4)


@app.command("file")
@o.takes(Reporting, "reporting")
def file(
    attack: Annotated[Path, typer.Argument(metavar="ATTACK", help="An attack file, as TOML.")],
    reporting: Reporting,
) -> None:
    """An attack file, the same that `crypsis assess --attack` takes.

    Example: [bold]crypsis attack file attack.toml --limit 5 --reveal[/bold]
    """
    reporting.report(attack.name, attack)


def _tolerance(text: str) -> tuple[str, float]:
    from crypsis.errors import ParameterError

    name, equals, value = text.rpartition("=")
    if not equals:
        return text, 0.0
    try:
        return name, float(value)
    except ValueError:
        raise ParameterError("--on is written COLUMN or COLUMN=TOLERANCE.") from None
