"""The fixture in a test run of its own, found through the entry point."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integrations.people import ROLES_FILE, csv

pytest_plugins = ["pytester"]
TEST = """
def test_release(assert_safe):
    found = assert_safe("people.csv", roles_file="roles.toml")
    assert found.verdict.value == "safe"
"""


@pytest.mark.parametrize(
    ("leaking", "roles", "outcome", "said"),
    [
        (False, ROLES_FILE, {"passed": 1}, "1 passed"),
        (True, ROLES_FILE, {"failed": 1}, "*Not safe to release*"),
        (False, '[roles]\nage = "quasi-identifier"\n', {"failed": 1}, "*Cannot tell*"),
    ],
)
def test_the_fixture(
    pytester: pytest.Pytester, leaking: bool, roles: str, outcome: dict[str, int], said: str
) -> None:
    Path("people.csv").write_text(csv(leaking=leaking))
    Path("roles.toml").write_text(roles)
    pytester.makepyfile(TEST)
    done = pytester.runpytest_subprocess()
    done.assert_outcomes(**outcome)
    done.stdout.fnmatch_lines([f"*{said}*"])
    done.stdout.no_fnmatch_line("*hiv-secret*")
