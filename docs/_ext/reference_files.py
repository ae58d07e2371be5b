"""Files, settings, errors and exit statuses as pages, out of the code."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import tomllib
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel

import crypsis
from crypsis import cli
from crypsis.errors import CrypsisError
from crypsis.options import Role
from crypsis.policies import MEASURES, Policy, Threshold
from crypsis.protection import ColumnPlan, Plan, PrivacyRequirements
from crypsis.pseudonyms._attack_file import FrequencyAttack, JoinAttack, MatrixAttack
from crypsis.results import field_descriptions
from crypsis.schemas import SCHEMAS, WRITTEN_BY

ROOT = Path(__file__).resolve().parents[2]

# Environment variables, with who reads them; a test finds every one that the code reads.
SETTINGS = {
    "CRYPSIS_GPU": "`off` keeps permanents on the processor where a CUDA device is found.",
    "CRYPSIS_DEBUG": "`1` shows the full trace of an internal fault. It may contain data values.",
    "GITHUB_STEP_SUMMARY": "The file that `crypsis assess --step-summary` appends to; set by GitHub Actions.",
    "XDG_DATA_HOME": "Where re-identification keys are kept (in `crypsis/keys`); else `~/.local/share`.",
    "CRYPSIS_DATA": "For the tests: the folder with the real data sets.",
    "CRYPSIS_CASES": "For the tests: random cases that each measure is tried on; 100 unless set.",
    "CRYPSIS_NO_SKIPS": "For the tests: `1` makes a skipped test a failed one, as in CI.",
}
STATUSES = {
    "DONE": "done; and safe, where a verdict was asked for",
    "NOT_SAFE": "not safe: a threshold is exceeded",
    "BAD_INPUT": "a wrong option, a file that cannot be read, a part that is not installed",
    "FAULT": "a fault of crypsis itself; please report it",
    "CANNOT_TELL": "cannot tell: something that matters was not decided or could not be evaluated",
    "INTERRUPTED": "interrupted; what was known by then was shown",
}
_FILES: tuple[tuple[str, str, type[BaseModel]], ...] = (
    ("A policy", "`--policy FILE`; `crypsis policy show default` prints one.", Policy),
    ("A threshold", "Each `[[thresholds]]` of a policy.", Threshold),
    ("A plan", "`crypsis anonymize --save-plan FILE` and `--plan FILE`.", Plan),
    ("The requirements of a plan", "`[requirements]` of a plan.", PrivacyRequirements),
    ("A column of a plan", "Each `[[columns]]` of a plan.", ColumnPlan),
    ("A frequency attack", '`--attack FILE` with `kind = "frequencies"`.', FrequencyAttack),
    ("A join attack", '`--attack FILE` with `kind = "join"`.', JoinAttack),
    ("A belief matrix", '`--attack FILE` with `kind = "matrix"`.', MatrixAttack),
)


_WORDS: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    date: "date",
}


def file_keys() -> dict[str, dict[str, str]]:
    """The keys of every kind of file with their meaning."""
    return {title: {key: _meaning(model, key) for key in model.model_fields} for title, _, model in _FILES}


def _meaning(model: type[BaseModel], key: str) -> str:
    """The string below a key, or the description that its type has."""
    return field_descriptions(model).get(key) or model.model_fields[key].description or ""


def files_page() -> str:
    """Roles, policies, plans and attacks: every key."""
    lines = ["# Files", "", "All are TOML. An unknown key is an error.", ""]
    lines += ["## Roles", "", "`--roles FILE`; `crypsis scan DATA --save FILE` writes one. One table, "]
    lines += ["`[roles]`, with a line for every column: its name and one of", ""]
    lines += [f"- `{role.value}`" for role in Role]
    for title, where, model in _FILES:
        lines += ["", f"## {title}", "", where, "", "| key | type | default | meaning |"]
        lines += ["| --- | --- | --- | --- |"]
        for key, field in model.model_fields.items():
            kind = _kind(field.annotation)
            default = "needed" if field.is_required() else _shown(field.default)
            meaning = " ".join(_meaning(model, key).split()).replace("|", "\\|")
            lines.append(f"| `{key}` | {kind} | {default} | {meaning} |")
    lines += ["", "## Measures", "", "What a threshold may limit.", ""]
    lines += ["| measure | unit | limit | meaning |", "| --- | --- | --- | --- |"]
    lines += [f"| `{m.name}` | {m.unit} | `{m.limit}` | {m.meaning} |" for m in MEASURES.values()]
    return "\n".join([*lines, ""])


def extras_page() -> str:
    """What can be installed in addition."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = ["# Extras", "", "`pip install '.[web,excel]'` installs crypsis with two of them.", ""]
    lines += ["| extra | installs |", "| --- | --- |"]
    for name, packages in project["optional-dependencies"].items():
        lines.append(f"| `{name}` | {', '.join(f'`{one}`' for one in packages)} |")
    lines += ["", "Always installed:", ""]
    return "\n".join([*lines, *(f"- `{one}`" for one in project["dependencies"]), ""])


def schemas_page() -> str:
    """The JSON Schemas, and where they are."""
    lines = ["# JSON Schemas", "", "Made from the definitions that crypsis itself uses. `crypsis schema"]
    lines += ["roles` prints one; the files are published beside this manual.", ""]
    lines += ["| of | file |", "| --- | --- |"]
    for name in SCHEMAS:
        written = name in ("roles", "policy", "plan")
        said = f"a {name} file" if written else f"`crypsis {WRITTEN_BY.get(name, name)} --json`"
        link = f'<a href="../schemas/{name}.schema.json">{name}.schema.json</a>'
        lines.append(f"| {said} | {link} |")
    return "\n".join([*lines, ""])


def _kind(annotation: Any) -> str:
    """A type in plain words."""
    inner = [one for one in get_args(annotation) if one not in (type(None), ...)]
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kind(inner[0])
    if origin is tuple:
        return f"list of {_kind(inner[0])}"
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in inner)
    if inner:
        return " or ".join(dict.fromkeys(_kind(one) for one in inner))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " or ".join(f"`{one.value}`" for one in annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "table"
    return _WORDS.get(annotation, getattr(annotation, "__name__", str(annotation)))


def _shown(value: Any) -> str:
    if value is None or value in ((), ""):
        return ""
    return f"`{getattr(value, 'value', value)}`"


def variables_read(*folders: str) -> set[str]:
    """The environment variables that the code reads."""
    found: set[str] = set()
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if "environ" in text or "getenv" in text:
                for node in ast.walk(ast.parse(text)):
                    found |= _variables(node)
    return found


def _variables(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Call) and node.args:
        called, first = ast.unparse(node.func), node.args[0]
        if called in ("os.environ.get", "os.getenv", "environ.get", "getenv"):
            return {str(first.value)} if isinstance(first, ast.Constant) else set()
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("os.environ", "environ"):
        return {str(node.slice.value)} if isinstance(node.slice, ast.Constant) else set()
    return set()


def settings_page() -> str:
    """The environment variables."""
    lines = ["# Settings", "", "Options say everything about a run; these say something of the "]
    lines += ["machine.", "", "| variable | meaning |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| `{name}` | {text} |" for name, text in SETTINGS.items()), ""])


def statuses_page() -> str:
    """The exit statuses."""
    lines = ["# Exit statuses", "", "| status | meaning |", "| --- | --- |"]
    lines += [f"| {getattr(cli, name)} | {text} |" for name, text in STATUSES.items()]
    lines += ["", "A gate stops on everything but 0, so it never fails open.", ""]
    return "\n".join(lines)


def errors() -> list[type[CrypsisError]]:
    """Every error of crypsis, each after what it is a kind of."""
    for found in pkgutil.walk_packages(crypsis.__path__, "crypsis."):
        if not any(word in found.name for word in ("gpu", "__main__", "integrations.")):
            importlib.import_module(found.name)

    def walk(kind: type[CrypsisError]) -> list[type[CrypsisError]]:
        inner = [one for child in kind.__subclasses__() for one in walk(child)]
        return [kind, *inner]

    return [one for one in walk(CrypsisError) if one.__module__.startswith("crypsis")]


def errors_page() -> str:
    """The tree of errors."""
    lines = ["# Errors", "", "A message says what was given, what was expected and what to do next, "]
    lines += ["and never quotes a data value. `except CrypsisError` catches all of them.", ""]
    lines += ["| error | is a | raised when |", "| --- | --- | --- |"]
    for one in errors():
        parents = ", ".join(f"`{base.__name__}`" for base in one.__bases__)
        text = " ".join((one.__doc__ or "").split("\n\n")[0].split())
        lines.append(f"| `{one.__name__}` | {parents} | {text} |")
    return "\n".join([*lines, ""])
