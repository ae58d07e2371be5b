"""The notebooks of the manual run from top to bottom, and what they display has a display."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells(notebook: Path) -> list[dict[str, Any]]:
    content: dict[str, Any] = json.loads(notebook.read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does; the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.mark.heavy
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    shown = [run("".join(cell["source"]), names) for cell in cells(notebook)]
    displayed = [value for value in shown if value is not None]
    assert len(displayed) >= 5
    for value in displayed:
        drawn = getattr(value, "to_dict", None) and not hasattr(value, "_repr_html_")  # a chart
        assert drawn or value._repr_html_().lstrip().startswith("<")
    assert names["found"].verdict == "not safe"
    assert names["again"].verdict == "safe"
    written = "release.parquet" in notebook.read_text(encoding="utf-8")
    assert (tmp_path / "release.parquet.statement.md").is_file() == written


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_holds_no_output(notebook: Path) -> None:
    """What it shows is computed by whoever runs it, so that it cannot be out of date."""
    assert NOTEBOOKS
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells(notebook))
