"""Docstrings are plain text with `code` between backticks; Sphinx reads reStructuredText.

Signatures show default values as the source has them.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

_CODE = re.compile(r"(?<![`:])`([^`\n]+)`(?!`)")
_SPECIAL = re.compile(r"(?<!\\)([|*_])")


def _plain(text: str) -> str:
    """One line of prose: code stays code, and no other character means anything."""
    parts = _CODE.split(text)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = f"``{part}``"
        elif "``" not in part and ":" not in part[:1]:
            parts[number] = _SPECIAL.sub(r"\\\1", part)
    return "".join(parts)


def translate(lines: list[str]) -> list[str]:
    """The lines of a docstring, with examples left as they are.

    A paragraph that begins with more blanks than the rest (a tree, a formula) is shown as it is.
    """
    told: list[str] = []
    literal = example = False
    for line in lines:
        if not line.strip():
            literal = example = False
            told.append(line)
            continue
        if line.lstrip().startswith(">>>"):
            example = True
        starts = not told or not told[-1].strip()
        if starts and not example and line.startswith("    "):
            told += ["::", ""]
            literal = True
        told.append(line if literal or example else _plain(line))
    return told


def plain_fields(kind: type) -> str:
    """The fields of a dataclass that explain themselves, in one line: name and type."""
    explained = set(ModuleAnalyzer.for_module(kind.__module__).find_attr_docs())
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    told = [
        f"``{field.name}`` ({_plain(str(field.type))})"
        for field in fields
        if not field.name.startswith("_") and (kind.__qualname__, field.name) not in explained
    ]
    return f"Fields: {', '.join(told)}." if told else ""


def _process(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = translate(lines)
    fields = plain_fields(thing) if what == "class" else ""
    if fields:
        lines += ["", fields, ""]


class _Source:
    """A default value that is shown as it is written."""

    def __init__(self, written: str) -> None:
        self.written = written

    def __repr__(self) -> str:
        return self.written


def written_defaults(function: Any) -> dict[str, str]:
    """The default values of a function by parameter, as its source has them.

    `autodoc_preserve_defaults` counts parameters instead, and fails on a decorator that adds some.
    """
    try:
        source = textwrap.dedent(inspect.getsource(function))
        found = ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError):
        return {}
    if not isinstance(found, ast.FunctionDef):
        return {}
    given = found.args
    positional = [*given.posonlyargs, *given.args]
    after = positional[len(positional) - len(given.defaults) :]
    pairs = [*zip(after, given.defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return {
        parameter.arg: ast.get_source_segment(source, value) or ast.unparse(value)
        for parameter, value in pairs
        if value is not None
    }


def _signature(app: Sphinx, thing: Any, bound: bool) -> None:
    function = getattr(thing, "__func__", thing)
    written = written_defaults(function) if inspect.isfunction(function) else {}
    if written:
        shown = inspect.signature(function)
        function.__signature__ = shown.replace(  # type: ignore[attr-defined]
            parameters=[
                one.replace(default=_Source(" ".join(written[name].split()))) if name in written else one
                for name, one in shown.parameters.items()
            ]
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Every docstring goes through `translate`, every signature through `written_defaults`."""
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-before-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
