"""The command line application: all verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from crypsis.cli import (
    anonymize,
    assess,
    attack,
    compare,
    compilation,
    dbt,
    demo,
    leak,
    ledger,
    package,
    policy,
    reproduce,
    scan,
    schema,
    serve,
    verify,
)
from crypsis.cli.commands import Application
from crypsis.cli.version import version_text

app = Application(
    name="crypsis",
    help="Is this data safe to release, against whom, and what is the least that must change?",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(version_text())
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options of crypsis itself."""


app.command("demo")(demo.demo)
app.command("scan")(scan.scan)
app.command("assess")(assess.assess)
app.command("anonymize")(anonymize.anonymize)
app.command("leak")(leak.leak)
app.command("compare")(compare.compare)
app.command("verify")(verify.verify)
app.command("reproduce")(reproduce.reproduce)
app.command("dbt")(dbt.dbt)
app.command("schema")(schema.schema)
app.command("serve")(serve.serve)
app.command("compile")(compilation.compile_kernels)
app.add_typer(attack.app, name="attack")
app.add_typer(ledger.app, name="ledger")
app.add_typer(package.app, name="package")
app.add_typer(policy.app, name="policy")
