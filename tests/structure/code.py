"""The package read as syntax trees: modules, what each imports, and its public names."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "crypsis"
PAPERS = ROOT / "papers"
QUESTIONS = ("singling_out", "inference", "linkage", "pseudonyms", "releases", "synthetic")
PUBLIC_PACKAGES = (
    *QUESTIONS,
    "columns.roles",
    "hierarchies",
    "policies",
    "protection",
    "protection.masking",
    "utility",
    "assessment",
)


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(name: str) -> frozenset[str]:
    """The modules that a module imports: on top, inside functions, for types only, by `import_module`.

    A name that is computed (`import_module(f"crypsis.report.{part}")`) counts as every module that
    fits it, except in `crypsis/__init__.py` and packages that only load their own parts.
    """
    found: set[str] = set()
    for node in ast.walk(tree(modules()[name])):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            base = node.module or ""
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.add(inner if inner in modules() else base)
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            found |= _computed(node, name)
    return frozenset(found)


def _computed(call: ast.Call, name: str) -> set[str]:
    text = ast.unparse(call.args[0]).lstrip("f").strip("'\"")
    pattern = re.compile(re.sub(r"\{[^}]*\}", r"[a-z]\\w*", text.replace(".", r"\.")))
    fitting = {module for module in modules() if pattern.fullmatch(module)} - {name}
    own = modules()[name].name == "__init__.py"
    return {one for one in fitting if not (own and one.startswith(name + "."))} or {text}


def public_names(package: str) -> list[str]:
    """The names in `__all__` of a package."""
    for node in tree(modules()[f"crypsis.{package}" if package else "crypsis"]).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(ast.literal_eval(one)) for one in node.value.elts]  # type: ignore[attr-defined]
    return []
