"""The public interface: documented parameter by parameter, typed, with an example that runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from typing import Any

import pytest

from crypsis.results import Result
from tests.structure.code import PUBLIC_PACKAGES, public_names


def _public() -> list[tuple[str, Any]]:
    found = {}
    for package in ("", *PUBLIC_PACKAGES):
        module = importlib.import_module(f"crypsis.{package}".rstrip("."))
        for name in public_names(package):
            value = getattr(module, name)
            if inspect.isfunction(value) or inspect.isclass(value):
                found[f"{value.__module__}.{value.__qualname__}"] = value
    return sorted(found.items())


PUBLIC = _public()
FUNCTIONS = [(name, value) for name, value in PUBLIC if inspect.isfunction(value)]
CLASSES = [(name, value) for name, value in PUBLIC if inspect.isclass(value)]
RESULTS = [(name, value) for name, value in CLASSES if issubclass(value, Result)]


def _sections(text: str) -> dict[str, str]:
    """The sections of a NumPy docstring."""
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n-{3,}$", inspect.cleandoc(text), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize(("name", "function"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_functions_are_documented(name: str, function: Any) -> None:
    sections = _sections(function.__doc__ or "")
    own = inspect.unwrap(function)
    parameters = inspect.signature(own, follow_wrapped=False).parameters
    listed = sections.get("Parameters", "")
    names = {
        one.strip().lstrip("*")
        for line in re.findall(r"^([*\w, ]+?)\s*(?::.*)?$", listed, flags=re.M)
        for one in line.split(",")
    }
    missing = [one for one in parameters if one not in names]
    assert not missing, f"{name}: no line for {missing}"
    assert "Returns" in sections or "Yields" in sections, name
    assert ">>>" in (function.__doc__ or ""), f"{name} has no example"
    assert doctest.DocTestParser().get_examples(function.__doc__ or "")


@pytest.mark.parametrize(("name", "function"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_signatures_are_typed(name: str, function: Any) -> None:
    for parameter in inspect.signature(inspect.unwrap(function)).parameters.values():
        assert parameter.annotation is not parameter.empty, (name, parameter.name)
        if parameter.kind is parameter.VAR_KEYWORD:
            assert "Unpack[" in str(parameter.annotation), f"{name}: **{parameter.name}"


@pytest.mark.parametrize(("name", "kind"), CLASSES, ids=[name for name, _ in CLASSES])
def test_classes_are_documented(name: str, kind: Any) -> None:
    assert kind.__doc__, name
    assert not kind.__doc__.startswith(f"{kind.__name__}("), f"{name}: a generated docstring"


@pytest.mark.parametrize(("name", "kind"), RESULTS, ids=[name for name, _ in RESULTS])
def test_results_share_one_protocol(name: str, kind: Any) -> None:
    assert kind.__repr__ is Result.__repr__ or "__repr__" in vars(kind), name
    for method in ("to_dict", "to_frame", "_repr_html_"):
        assert callable(getattr(kind, method))
