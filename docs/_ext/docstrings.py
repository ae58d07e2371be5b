"""Docstrings are plain text with `code` between backticks; Sphinx reads reStructuredText."""

from __future__ import annotations

import dataclasses
import re
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


def setup(app: Sphinx) -> dict[str, bool]:
    """Every docstring goes through `translate`."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
