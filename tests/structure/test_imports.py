"""Imports go one way, lazy ones and those for types, too; nobody uses private names of another module."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.structure.code import PACKAGE, PAPERS, QUESTIONS, imports, modules, tree

GROUND = {
    "array_types",
    "errors",
    "options",
    "results",
    "progress",
    "files",
    "extras",
    "threads",
    "machine_code",
    "lazy",
    "scientific",
    "documents",
}
BELOW_QUESTIONS = GROUND | {"counting", "tables", "hierarchies", "dataset", "columns", "histories"}
BELOW_PROTECTION = BELOW_QUESTIONS | set(QUESTIONS) | {"utility"}

# Who may import whom; a package may always import itself.
MAY_IMPORT: dict[str, set[str]] = {
    "array_types": set(),
    "errors": set(),
    "options": {"errors"},
    "progress": {"errors"},
    "files": {"errors"},
    "extras": {"errors"},
    "threads": {"errors"},
    "machine_code": set(),
    "lazy": set(),
    "scientific": {"lazy"},
    "documents": {"results"},
    "results": {"errors"},
    "counting": GROUND,
    "hierarchies": GROUND | {"counting"},
    "tables": GROUND | {"counting"},
    "dataset": GROUND | {"counting", "tables"},
    "columns": GROUND | {"counting", "tables", "hierarchies", "dataset"},
    "histories": GROUND | {"counting", "tables", "hierarchies", "dataset"},
    **dict.fromkeys(QUESTIONS, BELOW_QUESTIONS),
    "utility": BELOW_QUESTIONS | set(QUESTIONS),
    "protection": BELOW_PROTECTION,
    "policies": GROUND,
    "report": BELOW_PROTECTION | {"protection", "policies"},
    "assessment": BELOW_PROTECTION | {"protection", "policies", "report"},
    "demo": GROUND,
    "schemas": BELOW_PROTECTION | {"protection", "policies", "report", "assessment"},
    "integrations": BELOW_PROTECTION | {"protection", "policies", "report", "assessment"},
}
ON_TOP = {"cli", "web", "__main__"}
KERNELS_MAY_USE = {"numpy", "scipy", "numba", "llvmlite", "cupy"}


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("name", [name for name in modules() if name != "crypsis"])
def test_imports_go_one_way(name: str) -> None:
    own = part_of(name)
    used = {part_of(one) for one in imports(name) if one.startswith("crypsis.")} - {own, ""}
    if own in ON_TOP:
        starts = {"crypsis.__main__": ON_TOP, "crypsis.cli.serve": {"web"}}  # who starts whom
        assert used & (ON_TOP - {own}) <= starts.get(name, set())
        return
    assert own in MAY_IMPORT, f"{own} has no place in the layout yet; give it one here"
    assert used <= MAY_IMPORT[own], f"{own} must not import {sorted(used - MAY_IMPORT[own])}"


def test_there_is_no_circle() -> None:
    """Lazy imports and those for types count: whoever reads one module has to read the other."""
    graph = {
        name: {one for one in imports(name) if one in modules() and one != "crypsis"}
        for name in modules()
        if name != "crypsis"
    }
    state: dict[str, int] = {}
    way: list[str] = []

    def visit(name: str) -> None:
        state[name] = 1
        way.append(name)
        for other in sorted(graph[name]):
            assert state.get(other) != 1, " -> ".join([*way[way.index(other) :], other])
            if other not in state:
                visit(other)
        way.pop()
        state[name] = 2

    for name in graph:
        if name not in state:
            visit(name)


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("**/kernels/*.py")), ids=lambda p: p.stem)
def test_kernels_import_nothing_of_ours(path: Path) -> None:
    (name,) = (name for name, other in modules().items() if other == path)
    roots = {one.split(".")[0] for one in imports(name)} - sys.stdlib_module_names
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    inner = {one for one in imports(name) if one.startswith("crypsis.")}
    inner = {one for one in inner if one.split(".")[1] not in ("array_types", "machine_code")}
    assert all(one.startswith(package) for one in inner), inner
    assert roots <= KERNELS_MAY_USE | {"crypsis"}


OUTSIDE_TABLES = [name for name in modules() if not name.startswith("crypsis.tables")]


@pytest.mark.parametrize("name", OUTSIDE_TABLES)
def test_the_engine_is_sealed(name: str) -> None:
    """No test for a backend's name, no SQL and no session outside `tables/`."""
    text = modules()[name].read_text(encoding="utf-8")
    assert not re.search(r"backend\.name|sparkSession|\.backend\b", text)
    assert "import duckdb" not in text
    assert "pyspark" not in text or name in ("crypsis.cli.options", "crypsis.extras"), (
        "pyspark outside tables/"
    )
    for node in ast.walk(tree(modules()[name])):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not re.match(r"\s*(select|create|insert|copy|attach) [\w*\"(]", node.value), node.lineno


@pytest.mark.parametrize("name", modules())
def test_private_names_stay_private(name: str) -> None:
    """An object's underscore names are used by its own class, a module's by its own package."""
    package = name.rpartition(".")[0]
    for node in ast.walk(tree(modules()[name])):
        if isinstance(node, ast.Attribute) and re.match(r"_[a-z]", node.attr):
            owner = ast.unparse(node.value)
            ours = owner in ("self", "cls", "super()") or node.attr in _OWN.get(name, ())
            defined = re.search(rf"\b(def )?{node.attr}\b", _elsewhere(tree(modules()[name])))
            assert ours or defined or node.attr in _LIBRARIES, f"line {node.lineno}: {owner}.{node.attr}"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("crypsis."):
            private = [part for part in str(node.module).split(".") if part.startswith("_")]
            near = str(node.module).startswith((package.rsplit("._", 1)[0], name))
            assert not private or near or part_of(name) == part_of(str(node.module)), node.lineno
            assert not any(
                alias.name.startswith("_") and f"{node.module}.{alias.name}" not in modules()
                for alias in node.names
            ), node.lineno


_OWN: dict[str, tuple[str, ...]] = {}
_LIBRARIES = {
    "_repr_html_",
    "_replace",
    "_asdict",
    "_fields",
    "_exit",
    "_jvm",
    "_jsc",
    "_active_spark_context",
    "_is_text_encoding",
    "_gateway",
    "_cache",
    "_tr",
}


def _elsewhere(module: ast.Module) -> str:
    """What a module itself defines with an underscore: functions, methods, fields, attributes."""
    names = [
        node.name
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    for node in ast.walk(module):
        if isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            names += [ast.unparse(target).rpartition(".")[2] for target in targets]
    return " ".join(names)


@pytest.mark.parametrize("path", sorted(PAPERS.rglob("*.py")), ids=lambda p: p.stem)
def test_the_papers_use_public_modules(path: Path) -> None:
    for node in ast.walk(tree(path)):
        names = [alias.name for alias in getattr(node, "names", ()) if isinstance(alias, ast.alias)]
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        parts = [part for name in (module, *names) for part in name.split(".")]
        private = [part for part in parts if re.match("_[a-z]", part)]
        assert not private, f"line {getattr(node, 'lineno', 0)}: {private}"


@pytest.mark.parametrize("name", modules())
def test_the_package_does_not_import_the_papers(name: str) -> None:
    assert not {module for module in imports(name) if module.split(".")[0] == "papers"}


def test_importing_crypsis_loads_nothing_heavy() -> None:
    code = (
        "import sys, crypsis; "
        "heavy = {'numba', 'scipy', 'pyarrow', 'duckdb', 'pandas', 'polars', 'numpy', 'rich'}; "
        "sys.exit(','.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        (["leak", "--target", "ill", "--given", "age"], "pandas scipy numba"),
        (
            ["assess", "--no-try", "--qi", "age", "--sensitive", "ill", "--accept-guesses"],
            "pandas sklearn scipy.optimize scipy.spatial scipy.stats crypsis.protection "
            "crypsis.linkage crypsis.pseudonyms crypsis.releases crypsis.synthetic altair jinja2",
        ),
    ],
    ids=["leak", "assess"],
)
def test_a_question_loads_only_what_it_needs(tmp_path: Path, command: list[str], unneeded: str) -> None:
    """Arrow's own ways from NumPy and to single values import pandas; ours do not."""
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n30, flu\n30,\n41,?\n1.5,gout\n")
    code = (
        "import sys; from crypsis.cli import run; "
        f"run({[command[0], str(path), *command[1:]]!r}); "
        f"sys.exit(','.join(sorted(set({unneeded.split()!r}) & set(sys.modules))) or 0)"
    )
    asked = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert asked.returncode == 0, asked.stderr


def test_public_names_are_there() -> None:
    import crypsis

    for name in crypsis.__all__:
        assert getattr(crypsis, name) is not None
    assert set(crypsis.__all__) <= set(dir(crypsis))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = crypsis.nothing
