"""`crypsis attack`: how much an attacker with background knowledge learns about pseudonyms."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from crypsis.cli import options as o

if TYPE_CHECKING:
    from crypsis.pseudonyms import Belief

app = typer.Typer(
    help="Do the pseudonyms hold against an attacker who knows something?", no_args_is_help=True
)

_DECISION = "Decision"
_COMPUTING = "Computing"
LeastDegree = Annotated[
    float | None,
    typer.Option(
        "--least-degree", help="Release only from this degree of anonymity on (0 to 1).",
        rich_help_panel=_DECISION,
    ),
]  # fmt: skip
MostCracks = Annotated[
    float | None,
    typer.Option(
        "--most-cracks", help="Release only up to this many expected cracks.",
        rich_help_panel=_DECISION,
    ),
]  # fmt: skip
Method = Annotated[
    str,
    typer.Option(
        "--method",
        help="auto, exact, frontier, glynn, gpu or sampling.",
        rich_help_panel=_COMPUTING,
    ),
]
Precision = Annotated[
    float,
    typer.Option("--precision", help="Of sampled numbers, relative.", rich_help_panel=_COMPUTING),
]
Most = Annotated[int, typer.Option("--most", help="How many exposed items to list.")]
Reveal = Annotated[bool, typer.Option("--reveal", help="Name the exposed items.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write it as .json.")]
Truth = Annotated[
    str | None,
    typer.Option("--truth", help="A file with item and pseudonym in its first two columns, or "
                 "'names' (equal names), or 'rows' (same order).", show_default=False),
]  # fmt: skip


class _Wanted(NamedTuple):
    """What all attacks are asked for alike."""

    least_degree: float | None
    most_cracks: float | None
    method: str
    precision: float
    most: int
    reveal: bool
    output: Path | None
    as_json: bool
    force: bool
    seed: int


@app.command("frequencies")
def frequencies(
    transactions: Annotated[
        Path, typer.Argument(metavar="TRANSACTIONS", help="One transaction a line.")
    ],
    ranges: Annotated[
        Path | None, typer.Option("--ranges", help="A table: item, lowest, highest share.")
    ] = None,
    expected: Annotated[
        Path | None, typer.Option("--expected", help="A table: item, expected share.")
    ] = None,
    error: Annotated[
        float | None,
        typer.Option("--error", help="The attacker knows every share to this relative error."),
    ] = None,
    experience: Annotated[
        float | None, typer.Option("--experience", help="Transactions he learned them from.")
    ] = None,
    negligible: Annotated[
        float, typer.Option("--negligible", help="Rule out pairs less probable than this.")
    ] = 0.0,
    separator: Annotated[str, typer.Option("--separator", help="Between pseudonyms.")] = ",",
    truth: Truth = None,
    least_degree: LeastDegree = None,
    most_cracks: MostCracks = None,
    method: Method = "auto",
    precision: Precision = 0.005,
    most: Most = 10,
    reveal: Reveal = False,
    output: Output = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    seed: o.Seed = 0,
) -> None:
    """Attack by frequency: how often each item is expected against how often pseudonyms occur.

    Example: [bold]crypsis attack frequencies baskets.csv --error 0.05 --truth names[/bold]
    """
    from crypsis import pseudonyms as ps
    from crypsis.errors import ParameterError

    given = [option for option in (ranges, expected, error) if option is not None]
    if len(given) != 1:
        raise ParameterError("Give what the attacker expects: --ranges, --expected or --error.")
    observed = ps.frequencies(_baskets(transactions, separator))
    known = _truth(truth, as_text=True)
    if expected is not None:
        shares: dict[Hashable, float] = {
            str(row[0]): _number(row[1]) for row in _table(expected, 2)
        }
        belief = ps.probabilistic_frequency_attack(
            observed, shares, experience=experience, negligible=negligible, truth=known
        )
    else:
        if experience is not None or negligible:
            raise ParameterError("--experience and --negligible go with --expected.")
        bounds = _around(observed, error) if ranges is None else _ranges(ranges)
        belief = ps.frequency_attack(observed, bounds, truth=known)
    wanted = _Wanted(
        least_degree, most_cracks, method, precision, most, reveal, output, as_json, force, seed
    )
    _report("frequencies", belief, transactions.name, wanted)


@app.command("join")
@o.opens
def join(
    known: Annotated[str, typer.Argument(metavar="KNOWN", help="A table with names.")],
    released: Annotated[str, typer.Argument(metavar="RELEASED", help="The pseudonymized table.")],
    opening: o.Opening,
    on: Annotated[
        list[str], typer.Option("--on", metavar="COLUMN[=TOLERANCE]", help="Shared (repeat).")
    ],
    item: Annotated[str | None, typer.Option("--item", help="The column with the names.")] = None,
    pseudonym: Annotated[
        str | None, typer.Option("--pseudonym", help="The column with the pseudonyms.")
    ] = None,
    agreement: Annotated[
        float | None,
        typer.Option("--agreement", help="Probabilistic: how often shared columns agree."),
    ] = None,
    negligible: Annotated[
        float, typer.Option("--negligible", help="Rule out pairs less probable than this.")
    ] = 0.0,
    truth: Truth = None,
    least_degree: LeastDegree = None,
    most_cracks: MostCracks = None,
    method: Method = "auto",
    precision: Precision = 0.005,
    most: Most = 10,
    reveal: Reveal = False,
    output: Output = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    seed: o.Seed = 0,
) -> None:
    """Attack by join: a public table and the release share columns that tell people apart.

    Example: [bold]crypsis attack join voters.csv release.csv --on age --on zip --truth rows[/bold]
    """
    from crypsis import pseudonyms as ps
    from crypsis.errors import ParameterError

    tolerances = dict(_tolerance(text) for text in on)
    people, records = opening.release(known).to_arrow(), opening.release(released).to_arrow()
    labels: dict[str, Any] = {"item": item, "pseudonym": pseudonym, "truth": _truth(truth)}
    if agreement is None:
        if negligible:
            raise ParameterError("--negligible goes with --agreement.")
        belief = ps.join_attack(people, records, tolerances, **labels)
    else:
        belief = ps.probabilistic_join_attack(
            people,
            records,
            tolerances,
            agreement=agreement,
            negligible=negligible,
            **labels,
        )
    wanted = _Wanted(
        least_degree, most_cracks, method, precision, most, reveal, output, as_json, force, seed
    )
    _report("join", belief, f"{o.title(known)} and {o.title(released)}", wanted)


@app.command("matrix")
@o.opens
def matrix(
    likelihoods: Annotated[
        str, typer.Argument(metavar="MATRIX", help="Items down, pseudonyms across.")
    ],
    opening: o.Opening,
    truth: Truth = None,
    least_degree: LeastDegree = None,
    most_cracks: MostCracks = None,
    method: Method = "auto",
    precision: Precision = 0.005,
    most: Most = 10,
    reveal: Reveal = False,
    output: Output = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    seed: o.Seed = 0,
) -> None:
    """Any attack: a table of likelihoods, with the items in its first column.

    Example: [bold]crypsis attack matrix beliefs.csv --truth truth.csv --most-cracks 2[/bold]
    """
    from crypsis import pseudonyms as ps
    from crypsis.errors import ParameterError

    table = opening.release(likelihoods).to_arrow()
    names = table.column_names
    items = [str(value) for value in table.column(0).to_pylist()]
    rows = [table.column(name).to_pylist() for name in names[1:]]
    columns = [[float("nan") if value is None else value for value in row] for row in rows]
    given = _truth(truth, as_text=True)
    if given == "rows":
        given = dict(zip(items, names[1:], strict=False))
    elif given == "names":
        given = {item: item for item in items}
    elif isinstance(given, str):
        raise ParameterError("The truth is a file, 'names' or 'rows'.")
    cells = [list(row) for row in zip(*columns, strict=True)]
    belief = ps.Belief(cells, truth=given, items=items, pseudonyms=names[1:])
    wanted = _Wanted(
        least_degree, most_cracks, method, precision, most, reveal, output, as_json, force, seed
    )
    _report("matrix", belief, o.title(likelihoods), wanted)


@app.command("file")
def file(
    attack: Annotated[Path, typer.Argument(metavar="ATTACK", help="An attack file, as TOML.")],
    least_degree: LeastDegree = None,
    most_cracks: MostCracks = None,
    method: Method = "auto",
    precision: Precision = 0.005,
    most: Most = 10,
    reveal: Reveal = False,
    output: Output = None,
    as_json: o.AsJson = False,
    force: o.Force = False,
    seed: o.Seed = 0,
) -> None:
    """An attack that is written down, the same that `crypsis assess --attack` takes.

    Example: [bold]crypsis attack file attack.toml --most 5 --reveal[/bold]
    """
    from crypsis._assess import load_attack

    wanted = _Wanted(
        least_degree, most_cracks, method, precision, most, reveal, output, as_json, force, seed
    )
    _report("file", load_attack(attack), attack.name, wanted)


def _report(attack: str, belief: Belief, title: str, wanted: _Wanted) -> None:
    """Measure, decide, show; status 1 unless a threshold that was asked for is met."""
    from crypsis import pseudonyms as ps
    from crypsis.cli.console import console, may_write, shown_progress, write_text
    from crypsis.report.json import to_json
    from crypsis.report.pseudonyms import attack_view

    output, reveal = wanted.output, wanted.reveal
    may_write(output, (".json",), force=wanted.force)
    with shown_progress():
        found = ps.measure(
            belief,
            exposed=wanted.most,
            method=wanted.method,
            seed=wanted.seed,
            precision=wanted.precision,
        )
    decision = None
    if wanted.least_degree is not None or wanted.most_cracks is not None:
        decision = ps.decide(
            found, least_degree=wanted.least_degree, most_cracks=wanted.most_cracks
        )
    outcome = ps.AttackOutcome(attack, found, decision)
    if output is not None:
        write_text(output, to_json("attack", outcome, reveal=reveal))
    if wanted.as_json:
        typer.echo(to_json("attack", outcome, reveal=reveal))
    else:
        screen = console()
        screen.print(attack_view(outcome, title, reveal=reveal))
        if output is not None:
            screen.print(f"\nWrote {output}", markup=False)
    if decision is not None and decision.verdict is not ps.Verdict.RELEASE:
        raise typer.Exit(1)


def _baskets(path: Path, separator: str) -> list[list[str]]:
    from crypsis.errors import SourceError

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path.name!r} cannot be read as UTF-8 text.") from error
    parts = ([name.strip() for name in line.split(separator)] for line in lines)
    return [[name for name in part if name] for part in parts]


def _table(path: Path, width: int) -> list[tuple[Any, ...]]:
    """The first columns of a small table."""
    from crypsis.errors import InputError
    from crypsis.release import read

    table = read(str(path)).to_arrow()
    if table.num_columns < width:
        raise InputError(f"{path.name!r} needs at least {width} columns.")
    return list(zip(*(table.column(k).to_pylist() for k in range(width)), strict=True))


def _ranges(path: Path) -> dict[Hashable, tuple[float, float]]:
    return {str(item): (_number(low), _number(high)) for item, low, high in _table(path, 3)}


def _around(observed: Any, error: float | None) -> dict[Hashable, tuple[float, float]]:
    from crypsis.errors import ParameterError

    if error is None or not 0 <= error < 1:
        raise ParameterError("The relative error must be at least 0 and below 1.")
    return {
        name: (share * (1 - error), share * (1 + error))
        for name, share in zip(observed.pseudonyms, observed.shares.tolist(), strict=True)
    }


def _truth(given: str | None, *, as_text: bool = False) -> Mapping[Hashable, Hashable] | str | None:
    if given is None or given in ("names", "rows"):
        return given
    pairs = _table(Path(given), 2)
    return {str(a): str(b) for a, b in pairs} if as_text else dict(pairs)


def _number(value: Any) -> float:
    from crypsis.errors import InputError

    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError("A share in the table is missing or not a number.") from error


def _tolerance(text: str) -> tuple[str, float]:
    from crypsis.errors import ParameterError

    name, equals, value = text.rpartition("=")
    if not equals:
        return text, 0.0
    try:
        return name, float(value)
    except ValueError as error:
        raise ParameterError("--on is written COLUMN or COLUMN=TOLERANCE.") from error
