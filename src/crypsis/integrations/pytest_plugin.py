"""A pytest plugin: the fixture `assert_safe`.

>>> def test_release(assert_safe):  # doctest: +SKIP
...     assert_safe("release.csv", roles_file="roles.toml")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

import pytest

if TYPE_CHECKING:
    from crypsis.assessment import Assessment
    from crypsis.integrations._release import ReleaseOptions


@pytest.fixture(scope="session")  # type: ignore[untyped-decorator]
def assert_safe() -> Callable[..., Assessment]:
    """A function that assesses a release and fails the test unless the verdict is "safe".

    It takes a path or a frame and the options of `crypsis.assess`, or `roles_file`, and returns the
    assessment.
    """

    def check(data: Any, **options: Unpack[ReleaseOptions]) -> Assessment:
        __tracebackhide__ = True
        from crypsis.integrations._release import assess_release, explanation, is_safe

        assessment = assess_release(data, **options)
        if not is_safe(assessment):
            pytest.fail(explanation(assessment), pytrace=False)
        return assessment

    return check
