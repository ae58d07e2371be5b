"""The page of guarantees is true to the tests: none is named that is gone, and none left out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.promises.attacks.page import KNOWN_OPEN, SCENARIOS
from tests.promises.fuzz.targets import TARGETS
from tests.promises.hostile import CASES, FRAMES
from tests.promises.numbers import CHECKS

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "guarantees.md"


def there(pattern: str = "test_*.py") -> set[str]:
    return {
        f"{path.name}::{node.name}"
        for path in HERE.glob(pattern)
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def named() -> set[str]:
    return set(re.findall(r"`(test_\w+\.py::test_\w+)`", PAGE.read_text()))


def test_every_promise_names_tests_that_exist() -> None:
    assert named() - there() - there("attacks/test_*.py") == set()
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    promises = [line for line in lines if not line.startswith(("| guarantee", "| ---"))]
    assert len(promises) >= 20
    for line in promises:
        assert re.search(r"`test_\w+\.py::test_\w+`", line), line


def test_every_test_is_named() -> None:
    assert there() - named() == set()


def test_figures_are_those_of_the_code() -> None:
    text = " ".join(PAGE.read_text().split())
    refused = [case for case in (*CASES, *FRAMES) if case.refused is not None]
    assert f"{len(CHECKS)} measures" in text
    assert f"{len(CASES) + len(FRAMES)} inputs, {len(refused)} of them refused" in text
    assert f"{len(TARGETS)} of them, under random bytes" in text
    for name in CHECKS:
        assert name in text
    assert f"{len(SCENARIOS) - len(KNOWN_OPEN)} attacks, none called safe" in text
    assert f"{len(KNOWN_OPEN)} more are known to be open" in text
