"""The command line as a page, out of the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from crypsis.cli.app import application


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with what is typed for it, groups before their members."""

    def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield name, command
        for inner, one in getattr(command, "commands", {}).items():
            yield from walk(f"{name} {inner}", one)

    yield from walk("crypsis", get_command(application()))


def _shared() -> set[str]:
    from crypsis.cli.options import shared_options

    return {option.name for option in shared_options()}


def command_page() -> str:
    """All commands with all arguments and options; those that verbs share stand once."""
    lines = ["# The command line", ""]
    lines += ["`crypsis --help` and `crypsis VERB --help` show the same in the terminal.", ""]
    shared = _shared()
    common: dict[str, Any] = {}
    for name, command in commands():
        lines += [f"## `{name}`", ""]
        lines += [_help(command.help or ""), ""]
        own = [one for one in command.params if one.name not in shared]
        others = [one for one in command.params if one.name in shared]
        common.update({one.name: one for one in others})
        if own:
            lines += [*_table(own), ""]
        if others:
            lines += ["And the options of [roles and reading](#roles-and-reading).", ""]
    lines += ["## Roles and reading", ""]
    lines += ["Verbs that open a table share these.", "", *_table(list(common.values())), ""]
    return "\n".join(lines)


def _help(text: str) -> str:
    text = re.sub(r"\[bold\](.*?)\[/bold\]", r"`\1`", text, flags=re.DOTALL)
    return re.sub(r"`([^`]*)`", lambda code: "`" + " ".join(code[1].split()) + "`", text)


def _table(parameters: list[Any]) -> list[str]:
    lines = ["| option | meaning | default |", "| --- | --- | --- |"]
    for one in parameters:
        lines.append(f"| {spelled(one)} | {_cell(one.help or '')} | {_default(one)} |")
    return lines


def spelled(parameter: Any) -> str:
    """How an option or an argument is typed."""
    if not parameter.opts[0].startswith("-"):
        return f"`{parameter.metavar or parameter.name.upper()}`"
    names = [*parameter.opts, *parameter.secondary_opts]
    ordered = sorted(names, key=lambda name: not name.startswith("--"))
    value = f" {parameter.metavar}" if parameter.metavar else ""
    return ", ".join(f"`{name}{value}`" for name in ordered)


def _default(parameter: Any) -> str:
    if parameter.required:
        return "needed"
    value = parameter.default
    if value is None or value is False or value == () or callable(value):
        return ""
    return f"`{value}`" if value is not True else "on"


def _cell(text: str) -> str:
    return _help(" ".join(text.split())).replace("|", "\\|")
