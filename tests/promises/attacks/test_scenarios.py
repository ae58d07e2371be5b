"""No release that an attack undoes is called safe, and the manual's table of attacks is current."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.promises.attacks import page
from tests.promises.attacks.scenario import Scenario, kept_back

HERE = Path(__file__).parent
CLOSED = [one for one in page.SCENARIOS if one.name not in page.KNOWN_OPEN]
OPEN = [one for one in page.SCENARIOS if one.name in page.KNOWN_OPEN]


def _name(one: Scenario) -> str:
    return one.name.replace(" ", "-")


@pytest.mark.parametrize("one", CLOSED, ids=_name)
def test_the_release_is_kept_back(one: Scenario, tmp_path: Path) -> None:
    """The attack succeeds, crypsis keeps the release back, and the manual says both."""
    trial = one.trial(tmp_path)
    assert kept_back(trial, one.least) is None
    written = page.rows()[one.name]
    assert written == page.row(one, trial), "python -m tests.promises.attacks --write"


def test_what_is_known_to_be_open(tmp_path: Path) -> None:
    """As soon as an attack is kept back it is no longer an exception."""
    kept = [one.name for one in OPEN if kept_back(one.trial(tmp_path), one.least) is None]
    assert not kept, f"remove {kept} from KNOWN_OPEN"


def test_there_are_at_least_eighty() -> None:
    assert len(CLOSED) >= 80
    assert len({one.name for one in page.SCENARIOS}) == len(page.SCENARIOS)
    assert set(page.KNOWN_OPEN) <= {one.name for one in page.SCENARIOS}


def test_the_page_lists_exactly_the_scenarios() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert list(page.rows()) == [one.name for one in CLOSED]
    for one in OPEN:
        assert f"| {one.release} | {page.KNOWN_OPEN[one.name]} |" in text


def test_attacks_share_nothing_with_crypsis() -> None:
    """Only `judge` imports it, and `judge` carries out no attack."""
    for path in HERE.glob("*.py"):
        tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        names = [
            name
            for node in tree
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in (
                [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            )
        ]
        if path.name not in ("judge.py",):
            assert not [name for name in names if name.split(".")[0] == "crypsis"], path.name
