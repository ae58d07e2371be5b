"""Commands whose help names what a value is, and that take each option once."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from crypsis.cli.wording import cli_option

_Function = TypeVar("_Function", bound=Callable[..., Any])
_LINE_END = re.compile(r"(?<!\n)\n(?!\n)")
_VALUES = {str: "TEXT", int: "N", float: "NUMBER", Path: "FILE"}


class CommandGroup(TyperGroup):
    """Commands of one subject."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, and the option for help."""
        found: list[Any] = super().get_params(ctx)
        for parameter in found:
            _name_value(parameter)
        return found


class Command(TyperCommand):
    """A command of which no option with one value is given twice."""

    def __init__(self, *given: Any, **keywords: Any) -> None:
        text = inspect.cleandoc(keywords.get("help") or "")
        keywords["help"] = _LINE_END.sub(" ", text)  # lines are as long as the terminal is wide
        super().__init__(*given, **keywords)

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, and the option for help."""
        found: list[Any] = super().get_params(ctx)
        for parameter in found:
            _name_value(parameter)
        return found

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a second value rather than forget the first."""
        try:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        except typer.TyperException as error:
            self._name_option(error)
            raise
        for parameter, times in Counter(given).items():
            single = isinstance(parameter, TyperOption) and not parameter.multiple
            if single and times > 1 and not getattr(parameter, "is_flag", False):
                raise typer.BadParameter(
                    f"It was given {times} times and takes one value.", param_hint=parameter.opts[0]
                )
        found: list[str] = super().parse_args(ctx, args)
        return found

    def _name_option(self, error: Any) -> None:
        """Of an option that does not exist, name the one that is called so in Python."""
        asked = getattr(error, "option_name", "").lstrip("-").replace("-", "_")
        known = {name for one in self.params for name in one.opts}
        meant = {cli_option(asked, None), cli_option(f"{asked}s", None)} & known
        if asked and meant:
            error.possibilities = sorted(meant)


def _name_value(parameter: Any) -> None:
    """What to type for a value; a flag has none."""
    if not isinstance(parameter, TyperOption):
        parameter.display_type_rich = lambda ctx: None  # its name says it
    elif parameter.is_flag:
        parameter.metavar = ""
    elif parameter.metavar is None:
        kind = parameter.type_descriptor.annotation
        names = (label for one, label in _VALUES.items() if one is kind or one in _parts(kind))
        parameter.metavar = next(names, "TEXT")


def _parts(kind: Any) -> tuple[Any, ...]:
    """The types in a union or a list."""
    found = getattr(kind, "__args__", ())
    return (*found, *(part for one in found for part in _parts(one)))


class Application(typer.Typer):
    """Commands of this kind."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**{"cls": CommandGroup, **keywords})

    def command(  # type: ignore[override]
        self, name: str, **keywords: Any
    ) -> Callable[[_Function], _Function]:
        """Register a command."""
        return super().command(name, **{"cls": Command, **keywords})
