"""Imports go one way: the arrows of the design, checked on the code as it is."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "crypsis"

GROUND = {"arrays", "errors", "results", "distributions", "progress", "files"}
COUNTING = {"grouping", "partitions", "cells"}
ROWS = {"engine", "estimates", "release", "roles", "tallies"}
QUESTIONS = {"singling_out", "inference", "linkage", "pseudonyms"}

# Who may import whom. A question uses the ground, the counts and the rows, and no other question.
MAY_IMPORT: dict[str, set[str]] = {
    "arrays": set(),
    "errors": set(),
    "progress": {"errors"},
    "files": {"errors"},
    "results": {"errors"},
    "distributions": {"errors"},
    "grouping": {"arrays"},
    "partitions": set(),
    "cells": {"arrays", "errors", "distributions", "results", "grouping", "partitions"},
    "engine": {"arrays", "errors", "progress", "files", "grouping"},
    "release": {"errors", "cells", "engine"},
    "estimates": {"errors", "results", "engine"},
    "tallies": GROUND | {"cells", "engine", "estimates", "release"},
    "roles": GROUND | {"release", "engine"},
    "profile": GROUND | COUNTING | ROWS,
    "histograms": GROUND | COUNTING | ROWS,
    "sample": {"errors", "files"},
    "sample_release": {"errors", "files", "sample"},
    **dict.fromkeys(QUESTIONS, GROUND | COUNTING | ROWS),
    "anonymize": GROUND | COUNTING | ROWS | QUESTIONS | {"utility"},
    "utility": GROUND | COUNTING | ROWS | QUESTIONS,
    "policy": {"errors", "results"},
    "report": {"errors", "results"},
    "reproduce": GROUND | COUNTING | ROWS | QUESTIONS | {"anonymize", "utility", "report"},
    "_assess": GROUND | COUNTING | ROWS | QUESTIONS | {"anonymize", "utility", "policy", "profile"},
}
ON_TOP = {"cli", "web", "__main__"}
KERNELS_MAY_USE = {"numpy", "scipy", "numba", "llvmlite", "cupy"}


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports(path: Path) -> set[str]:
    """The modules that a file imports at run time, however deep inside."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.orelse:
                visit(child)
            return
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            if module == "crypsis":
                found.update(f"crypsis.{alias.name}" for alias in node.names)
            else:
                found.add(module)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return found


def files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    used = {part_of(name) for name in imports(path) if name.startswith("crypsis.")}
    used -= {own, "__version__"}
    if own in ON_TOP:
        starts = {"__main__": ON_TOP, "serve": {"web"}}  # who starts whom
        assert used & (ON_TOP - {own}) <= starts.get(path.stem, set())
        return
    assert own in MAY_IMPORT, f"{own} has no place in the layout yet; give it one here"
    assert used <= MAY_IMPORT[own], f"{own} must not import {sorted(used - MAY_IMPORT[own])}"


def test_kernels_stand_alone() -> None:
    for path in PACKAGE.glob("pseudonyms/kernels/*.py"):
        roots = {name.split(".")[0] for name in imports(path)} - sys.stdlib_module_names
        inner = {name for name in imports(path) if name.startswith("crypsis.")}
        assert all("pseudonyms.kernels" in name for name in inner), path
        assert roots <= KERNELS_MAY_USE | {"crypsis"}, path


def test_importing_crypsis_loads_nothing_heavy() -> None:
    code = (
        "import sys, crypsis; "
        "heavy = {'numba', 'scipy', 'pyarrow', 'duckdb', 'pandas', 'polars', 'numpy', 'rich'}; "
        "sys.exit(','.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_quick_question_loads_only_what_it_needs(tmp_path: Path) -> None:
    """Arrow's own ways from NumPy and to single values import pandas; ours do not."""
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n30, flu\n30,\n41,?\n1.5,gout\n")
    code = (
        "import sys; from crypsis.cli import run; "
        f"status = run(['leak', {str(path)!r}, '--target', 'ill', '--given', 'age']); "
        "loaded = {'pandas', 'scipy', 'numba'} & set(sys.modules); "
        "sys.exit(','.join(sorted(loaded)) or status)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_public_names_are_there() -> None:
    import crypsis

    for name in crypsis.__all__:
        assert getattr(crypsis, name) is not None
    assert set(crypsis.__all__) <= set(dir(crypsis))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = crypsis.nothing
