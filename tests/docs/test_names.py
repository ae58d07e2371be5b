"""Python names that tables of the manual mention exist."""

from __future__ import annotations

import importlib
import re
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from crypsis.cli.app import application
from tests.conftest import ROOT

DOCS = ROOT / "docs"
PAGES = [
    DOCS / "how_do_i.md",
    DOCS / "process.md",
    DOCS / "faq.md",
    DOCS / "pipelines.md",
    *sorted((DOCS / "coming_from").glob("*.md")),
]
PARTS = (
    "singling_out",
    "inference",
    "linkage",
    "pseudonyms",
    "protection",
    "masking",
    "utility",
    "policies",
    "hierarchies",
)
CODE = re.compile(r"`([^`\n]+)`")
NAME = re.compile(rf"\b(?:cr\.)?((?:protection\.)?(?:{'|'.join(PARTS)})(?:\.\w+)+)")
VERB = re.compile(r"\bcr\.(\w+)\(")


def commands() -> dict[str, Any]:
    found = {}

    def walk(name: str, command: Any) -> None:
        found[name] = command
        for inner, one in getattr(command, "commands", {}).items():
            walk(f"{name} {inner}".strip(), one)

    walk("", get_command(application()))
    return found


COMMANDS = commands()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_names(page: Path) -> None:
    for code in CODE.findall(page.read_text(encoding="utf-8")):
        for name in NAME.findall(code):
            parts = name.split(".")
            if parts[0] == "masking":
                parts = ["protection", *parts]
            known = importlib.import_module("crypsis")
            if parts[0] in ("singling_out", "inference") and _is_measure(name):
                continue
            assert reduce(lambda thing, part: getattr(thing, part), parts, known) is not None
        for verb in VERB.findall(code):
            assert hasattr(importlib.import_module("crypsis"), verb), verb


def _is_measure(name: str) -> bool:
    from crypsis.policies import MEASURES

    return name in MEASURES
