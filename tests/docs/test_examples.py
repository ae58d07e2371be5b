"""Examples that are not run, because their files or frames are the reader's, name only what exists.

Their Python is checked by its types, their commands by the parser of the command line.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import crypsis as cr
from tests.conftest import ROOT
from tests.docs import pages
from tests.docs.test_names import COMMANDS

PAGES = sorted(
    page
    for page in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "dbt" / "README.md",
        *(ROOT / "docs").rglob("*.md"),
    )
    if not {"_build", "reference", "tutorials"} & set(page.relative_to(ROOT).parts)
)
NAMED = [str(page.relative_to(ROOT)) for page in PAGES]
WRONG = ("attr-defined", "call-arg", "call-overload", "import-not-found", "syntax", "union-attr")
INLINE = re.compile(r"`([^`\n]+)`")
PROGRAM = re.compile(r"^(?:.*(?:run:|\||&&|\$))?\s*(crypsis(?: .*)?)$")


def commands(text: str) -> Iterator[str]:
    """The commands in lines of a shell, of a workflow, or of an indented block."""
    for line in text.replace("\\\n", " ").splitlines():
        found = PROGRAM.match(line)
        if found:
            yield re.split(r" [|>] | && |; ", found[1])[0]


def examples(page: Path) -> Iterator[str]:
    for block in pages.blocks(page):
        if block.language in ("sh", "console", "yaml"):
            yield from commands(block.text)
    text = page.read_text(encoding="utf-8")
    yield from commands("\n".join(re.findall(r"^ {4,}crypsis .*[^.\n]$", text, re.MULTILINE)))
    yield from (code for code in INLINE.findall(text) if code.startswith("crypsis "))


def wrong(command: str) -> str | None:
    """What the parser of the command line has against a command."""
    words = shlex.split(command, comments=True)[1:]
    verb = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else " ".join(words[:1])
    if verb not in COMMANDS:
        return None if words[:1] in (["--version"], ["--help"]) else f"no command {verb!r}"
    parser = COMMANDS[verb].make_parser(COMMANDS[verb].context_class(COMMANDS[verb]))
    try:
        parser.parse_args(args=[one for one in words[len(verb.split()) :] if one != "..."])
    except Exception as error:  # noqa: BLE001 - the parser's own, which has a sentence
        said = str(error)
        return None if said.endswith("requires an argument.") else said  # it is only named
    return None


@pytest.mark.parametrize("page", PAGES, ids=NAMED)
def test_commands(page: Path) -> None:
    assert {one: said for one in examples(page) if (said := wrong(one))} == {}


@pytest.mark.parametrize("page", PAGES, ids=NAMED)
def test_options(page: Path) -> None:
    """Those that a sentence names are options of some command."""
    known = {
        name
        for command in COMMANDS.values()
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    named = {
        code.split()[0].split("=")[0]
        for code in INLINE.findall(page.read_text(encoding="utf-8"))
        if code.startswith("--")
    }
    assert named - known - {"--help", "--version"} == set()


@pytest.mark.parametrize("page", PAGES, ids=NAMED)
def test_files(page: Path) -> None:
    for block in pages.blocks(page):
        if block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "yaml":
            yaml.safe_load(block.text)


def unknown_names(text: str) -> list[str]:
    """The names of crypsis that do not exist; modules that load their names late have no types."""
    found = []
    for node in ast.walk(ast.parse("import crypsis as cr\n" + text)):
        match node:
            case ast.Attribute(ast.Attribute(ast.Name("cr"), module), name):
                inner = getattr(cr, module, None)
                if isinstance(inner, ModuleType) and not hasattr(inner, name):
                    found.append(f"cr.{module}.{name}")
            case ast.Attribute(ast.Name("cr"), name) if not hasattr(cr, name):
                found.append(f"cr.{name}")
            case ast.ImportFrom(str(module), names) if module.partition(".")[0] == "crypsis":
                here = any(one in module for one in ("dagster", "great_expectations", "pandera"))
                inner = None if here else importlib.import_module(module)
                missing = [one.name for one in names if inner and not hasattr(inner, one.name)]
                found += [f"{module}.{name}" for name in missing]
    return found


def checked(folder: Path, scripts: dict[str, str]) -> list[str]:
    """What the types say against Python texts, but not that a name is the reader's."""
    files = [folder / f"{name}.py" for name in scripts]
    for path, text in zip(files, scripts.values(), strict=True):
        path.write_text("import crypsis as cr\n" + text, encoding="utf-8")
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--follow-imports=silent",
            "--no-error-summary",
            "--config-file",
            str(ROOT / "pyproject.toml"),
            *map(str, files),
        ],
        cwd=ROOT / "src",
        env=os.environ | {"MYPYPATH": str(ROOT)},  # `papers` is beside `src`
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    return [
        line for line in ended.stdout.splitlines() if line.endswith(tuple(f"[{code}]" for code in WRONG))
    ] + [
        f"{path.name}: {name}"
        for path, text in zip(files, scripts.values(), strict=True)
        for name in unknown_names(text)
    ]


def test_python(tmp_path: Path) -> None:
    scripts = {}
    for page, name in zip(PAGES, NAMED, strict=True):
        text = "".join(one.text for one in pages.blocks(page) if one.language == "python")
        if text:
            scripts[re.sub(r"\W", "_", name)] = text
    assert len(scripts) > 5
    assert checked(tmp_path, scripts) == []


def test_what_does_not_exist_is_found(tmp_path: Path) -> None:
    assert wrong("crypsis asess patients.csv") is not None
    assert wrong("crypsis assess patients.csv --quasi-identifiers age") is not None
    assert wrong("crypsis attack join a.csv b.csv --onto age") is not None
    assert wrong("crypsis assess patients.csv --qi age # a comment") is None
    found = checked(
        tmp_path,
        {
            "verb": "cr.asess('a.csv')\n",
            "measure": "cr.inference.leak('a.csv')\n",
            "import": "from crypsis.protection import plane\n",
            "option": "cr.anonymize('a.csv', size=5)\n",
            "role": "cr.read('a.csv', quasi=['age'])\n",
            "result": "cr.assess('a.csv').judgement\n",
        },
    )
    named = {Path(line.split(":")[0]).stem for line in found}
    assert named == {"verb", "measure", "import", "option", "role", "result"}
