"""The reference, written from the code each time the documentation is built."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType

from reference_cli import command_page
from reference_files import errors_page, extras_page, files_page, schemas_page, settings_page, statuses_page

import crypsis
from crypsis.schemas import SCHEMAS, schema

# What no user calls by this name, or what needs another package: see pipelines.md.
INTERNAL = {"cli", "columns", "counting", "documents", "files", "integrations", "lazy", "scientific", "web"}
# Modules inside packages that people call by their own names.
INNER = ("crypsis.columns.roles", "crypsis.protection.masking", "crypsis.report.json")


def public_modules() -> list[str]:
    """Every module whose names are public, `crypsis` first."""
    top = [
        f"crypsis.{found.name}"
        for found in pkgutil.iter_modules(crypsis.__path__)
        if not found.name.startswith("_") and found.name not in INTERNAL
    ]
    charts = importlib.import_module("crypsis.report.charts")
    drawn = [f"crypsis.report.charts.{found.name}" for found in pkgutil.iter_modules(charts.__path__)]
    top = [name for name in top if name != "crypsis.report"]
    return ["crypsis", *sorted([*top, *INNER, *drawn])]


def public_names(module: ModuleType) -> list[str]:
    """The names in `__all__`; without it those that the module itself defines. No modules."""
    if hasattr(module, "__all__"):
        return [
            name
            for name in module.__all__
            if not name.startswith("__") and not inspect.ismodule(getattr(module, name))
        ]
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__ == module.__name__
    ]


def first_line(thing: object) -> str:
    """The first sentence of a docstring, for tables; empty where there is none of its own."""
    text = inspect.getdoc(thing) if callable(thing) or inspect.ismodule(thing) else ""
    if inspect.isclass(thing) and "__doc__" in vars(thing) and not thing.__doc__:
        text = ""
    return (text or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def module_page(name: str) -> str:
    """One page: a table of the names, then each in full."""
    module = importlib.import_module(name)
    names = public_names(module)
    things = {one: getattr(module, one) for one in names}
    functions = sorted(one for one in names if inspect.isroutine(things[one]))
    classes = sorted(one for one in names if inspect.isclass(things[one]))
    values = sorted(one for one in names if one not in functions and one not in classes)
    lines = [f"# `{name}`", "", first_line(module), ""]
    inside = sorted(one for one in INNER if one.rpartition(".")[0] == name)
    if inside:
        lines += ["## Modules", "", "| name | |", "| --- | --- |"]
        lines += [f"| [`{one}`]({one}.md) | {first_line(importlib.import_module(one))} |" for one in inside]
        lines += [""]
    for title, group in (("Functions", functions), ("Classes", classes), ("Values", values)):
        if not group:
            continue
        lines += [f"## {title}", ""]
        if title != "Values":
            lines += ["| name | |", "| --- | --- |"]
            lines += [f"| {_link(name, one)} | {first_line(things[one])} |" for one in group]
        lines += ["", "```{eval-rst}"]
        for one in group:
            lines += _directive(name, one, things[one])
        lines += ["```", ""]
    return "\n".join(lines)


def _in_crypsis(module: str, name: str) -> bool:
    """Whether a name of a package is one of `crypsis` as well, and described there."""
    return module != "crypsis" and name in crypsis.__all__


def _link(module: str, name: str) -> str:
    if _in_crypsis(module, name):
        return f"{{py:obj}}`{name} <crypsis.{name}>`"
    return f"[`{name}`](#{module}.{name})"


def _directive(module: str, name: str, thing: object) -> list[str]:
    if _in_crypsis(module, name):
        kind = "class" if inspect.isclass(thing) else "function"
        return [
            f".. py:{kind}:: {module}.{name}",
            "   :no-index:",
            "",
            f"   See :py:obj:`crypsis.{name}`.",
            "",
        ]
    if inspect.isroutine(thing):
        return [f".. autofunction:: {module}.{name}", ""]
    if inspect.isclass(thing):
        return [
            f".. autoclass:: {module}.{name}",
            "   :members:",
            *(["   :show-inheritance:"] if issubclass(thing, Exception) else []),
            "",
        ]
    return [f".. py:data:: {module}.{name}", "", f"   {value_meaning(module, name)}", ""]


def value_meaning(module: str, name: str) -> str:
    """The string that stands below the assignment of a value, in whichever module that is."""
    found = importlib.import_module(module)
    folder = getattr(found, "__path__", None)
    for path in Path(*folder).rglob("*.py") if folder else [Path(str(found.__file__))]:
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for statement, after in pairwise(body):
            targets = getattr(statement, "targets", [getattr(statement, "target", None)])
            named = any(isinstance(one, ast.Name) and one.id == name for one in targets)
            if named and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                return " ".join(str(after.value.value).split())
    return ""


def pages() -> dict[str, str]:
    """Every page of the reference by its file name."""
    made = {
        "command.md": command_page(),
        "errors.md": errors_page(),
        "files.md": files_page(),
        "schemas.md": schemas_page(),
        "extras.md": extras_page(),
        "settings.md": settings_page(),
        "statuses.md": statuses_page(),
    }
    modules = public_modules()
    for name in modules:
        made[f"{name}.md"] = module_page(name)
    listed = ["command", "statuses", "settings", "files", "schemas", "extras", "errors", *modules]
    made["index.md"] = "\n".join(
        [
            "# Reference",
            "",
            "Written from the code of this version: every name, option, setting, key, error and exit status.",
            "",
            "```{toctree}",
            ":maxdepth: 1",
            "",
            *listed,
            "```",
            "",
        ]
    )
    return made


def write_schemas(folder: Path) -> None:
    """The JSON Schemas as files, which are published beside the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in SCHEMAS:
        text = json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"
        (folder / f"{name}.schema.json").write_text(text, encoding="utf-8")


def write(folder: Path) -> None:
    """Write the pages that changed; remove those that are no more."""
    folder.mkdir(exist_ok=True)
    made = pages()
    for path in folder.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
