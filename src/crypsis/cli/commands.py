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
        parameters: list[Any] = super().get_params(ctx)
        for parameter in parameters:
            _name_value(parameter)
        return parameters


class Command(TyperCommand):
    """A command of which no option with one value is given twice."""

    def __init__(self, *positional: Any, **keywords: Any) -> None:
        text = inspect.cleandoc(keywords.get("help") or "")
        keywords["help"] = _LINE_END.sub(" ", text)  # lines are as long as the terminal is wide
        super().__init__(*positional, **keywords)

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, and the option for help."""
        parameters: list[Any] = super().get_params(ctx)
        for parameter in parameters:
            _name_value(parameter)
        return parameters

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a second value rather than forget the first."""
        try:
            _, _, parsed = self.make_parser(ctx).parse_args(args=list(args))
        except typer.TyperException as error:
            self._name_option(error)
            raise
        for parameter, times in Counter(parsed).items():
            single = isinstance(parameter, TyperOption) and not parameter.multiple
            if single and times > 1 and not getattr(parameter, "is_flag", False):
                raise typer.BadParameter(
                    f"It was given {times} times and takes one value.", param_hint=parameter.opts[0]
                )
        remaining: list[str] = super().parse_args(ctx, args)
        return remaining

    def _name_option(self, error: Any) -> None:
        """Of an option that does not exist, name the one that is called so in Python."""
        name_typed = getattr(error, "option_name", "").lstrip("-").replace("-", "_")
        option_names = {name for parameter in self.params for name in parameter.opts}
        meant = {cli_option(name_typed, None), cli_option(f"{name_typed}s", None)} & option_names
        if name_typed and meant:
            error.possibilities = sorted(meant)


def _name_value(parameter: Any) -> None:
    """What to type for a value; a flag has none."""
    if not isinstance(parameter, TyperOption):
        parameter.display_type_rich = lambda ctx: None  # its name says it
    elif parameter.is_flag:
        parameter.metavar = ""
    elif parameter.metavar is None:
        kind = parameter.type_descriptor.annotation
        names = (
            label for value_kind, label in _VALUES.items() if value_kind is kind or value_kind in _parts(kind)
        )
        parameter.metavar = next(names, "TEXT")


def _parts(kind: Any) -> tuple[Any, ...]:
    """The types in a union or a list."""
    parts = getattr(kind, "__args__", ())
    return (*parts, *(part for inner in parts for part in _parts(inner)))


class Application(typer.Typer):
    """Commands of this kind."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**{"cls": CommandGroup, **keywords})

    def command(  # type: ignore[override]
        self, name: str, **keywords: Any
    ) -> Callable[[_Function], _Function]:
        """Register a command."""
        return super().command(name, **{"cls": Command, **keywords})
