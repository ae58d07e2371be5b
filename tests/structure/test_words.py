"""Every sentence that a user can meet, and every name in the code, uses the words of the field."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.structure.code import PACKAGE, ROOT, modules, tree
from tests.structure.words import EXCEPTIONS, NOUNS, faults, name_faults

PAGES = sorted(
    path
    for pattern in ("src/**/*.html", "src/**/*.js", "src/**/*.toml", "docs/**/*.md", "*.md")
    for path in ROOT.glob(pattern)
    if not {"_build", "reference", ".venv"} & set(path.parts)
)


@pytest.mark.parametrize("name", modules())
def test_texts_in_code(name: str) -> None:
    where = str(modules()[name].relative_to(ROOT))
    found = [
        fault
        for node in ast.walk(tree(modules()[name]))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for fault in faults(node.value, f"{where}:{node.lineno}")
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages(path: Path) -> None:
    found = faults(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
    assert not found, "\n".join(found)


def test_every_exception_is_needed() -> None:
    for file, part, reason in EXCEPTIONS:
        texts = [
            path.read_text(encoding="utf-8") for path in [*PACKAGE.rglob("*.py"), *PAGES] if file in str(path)
        ]
        assert reason
        assert any(part in text for text in texts), (file, part)


@pytest.mark.parametrize("name", modules())
def test_names_in_code(name: str) -> None:
    found = set()
    for node in ast.walk(tree(modules()[name])):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found |= {f"{node.name} (line {node.lineno})" for _ in name_faults(node.name)}
        elif isinstance(node, ast.arg):
            found |= {f"{node.arg} (line {node.lineno})" for _ in name_faults(node.arg)}
    last = name.rpartition(".")[2].strip("_")
    found |= name_faults(last)
    assert not found, sorted(found)
    assert not last.endswith("ing") or last in NOUNS, f"{name} is named by a participle"


def test_one_name_is_one_thing() -> None:
    """No two classes of the package share a name."""
    places: dict[str, list[str]] = {}
    for name, path in modules().items():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name)
    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert not shared, shared
