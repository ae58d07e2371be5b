"""`crypsis policy`: the thresholds that a release must meet."""

from __future__ import annotations

from typing import Annotated

import typer

from crypsis.cli import options as o
from crypsis.cli.commands import Application
from crypsis.cli.completion import policy_names

_Policy = Annotated[
    str, typer.Argument(metavar="POLICY", help="A preset or a .toml file.", autocompletion=policy_names)
]
app = Application(help="Policies: thresholds with their sources.", no_args_is_help=True)


@app.command("list")
def list_policies(as_json: o.AsJson = False) -> None:
    """List the presets.

    Example: [bold]crypsis policy list[/bold]
    """
    import json

    from rich.table import Table
    from rich.text import Text

    from crypsis.cli.console import console
    from crypsis.policies import PRESETS, load_policy

    policies = [load_policy(name) for name in PRESETS]
    if as_json:
        typer.echo(json.dumps([policy.model_dump(mode="json") for policy in policies], indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for head in ("policy", "date", "jurisdiction", "requirements"):
        table.add_column(head, overflow="fold", no_wrap=head == "date")
    for preset in policies:
        table.add_row(preset.name, str(preset.date), preset.jurisdiction, Text(preset.summary))
    console().print(table)


@app.command("show")
def show(policy: _Policy, as_json: o.AsJson = False) -> None:
    """Print a policy; of a preset its file, to start your own from.

    Example: [bold]crypsis policy show default > ours.toml[/bold]
    """
    from crypsis.cli.console import console
    from crypsis.policies import PRESETS, load_policy, preset_text

    loaded = load_policy(policy)
    if as_json:
        typer.echo(loaded.model_dump_json(indent=2))
    elif policy in PRESETS:
        typer.echo(preset_text(policy), nl=False)
    else:
        screen = console()
        screen.print(f"{loaded.title} ({loaded.jurisdiction}, {loaded.date})", markup=False)
        for threshold in loaded.thresholds:
            size = "" if threshold.k is None else f" (k = {threshold.k})"
            limit = f"{threshold.comparison} {threshold.limit:g} {threshold.unit}"
            screen.print(f"- {threshold.measure}{size}: {limit}. {threshold.why}", markup=False)
        for question, why in loaded.not_asked.items():
            screen.print(f"- Not part of this policy: {question}. {why}", markup=False)
        for item in loaded.checklist:
            screen.print(f"- Checklist: {item.item}. {item.why}", markup=False)


@app.command("check")
def check(policy: _Policy) -> None:
    """Check a policy file: every measure, unit and range; status 2 if it is not valid.

    Example: [bold]crypsis policy check ours.toml[/bold]
    """
    from crypsis.policies import load_policy
    from crypsis.report.wording import plural

    loaded = load_policy(policy)
    thresholds = plural(len(loaded.thresholds), "threshold")
    typer.echo(f"{loaded.name}: {thresholds}, all valid.")
    for question in loaded.not_asked:
        if question not in loaded.questions:
            typer.echo(f"Question {question!r} is not asked, and [questions] has no reason.")
