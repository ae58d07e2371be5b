"""The command line application: all verbs, or the one that was typed."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from crypsis.cli.commands import Application
from crypsis.cli.version import version_text

_COMMANDS = {  # where the function of each is; a group has an application of its own
    "demo": "demo:demo",
    "scan": "scan:scan",
    "assess": "assess:assess",
    "anonymize": "anonymize:anonymize",
    "rewrite": "rewrite:rewrite",
    "leak": "leak:leak",
    "compare": "compare:compare",
    "verify": "verify:verify",
    "dbt": "dbt:dbt",
    "schema": "schema:schema",
    "serve": "serve:serve",
    "compile": "compilation:compile_kernels",
    "attack": "attack:app",
    "ledger": "ledger:app",
    "package": "package:app",
    "policy": "policy:app",
}


def application(verb: str | None = None) -> Application:
    """The commands; if `verb` is one of them that one alone, so that no other is loaded."""
    app = Application(
        name="crypsis",
        help="Is this data safe to release, against whom, and what is the least that must change?",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name, target in _COMMANDS.items():
        if verb in _COMMANDS and name != verb:
            continue
        module, _, attribute = target.partition(":")
        command = getattr(import_module(f"crypsis.cli.{module}"), attribute)
        if isinstance(command, Application):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(version_text())
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of crypsis itself."""
