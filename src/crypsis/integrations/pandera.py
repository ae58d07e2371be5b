"""A pandera check: the frame is safe to release."""

from __future__ import annotations

from typing import Any, Unpack

from pandera import Check

from crypsis.integrations._release import ReleaseOptions, assess_release, explanation, is_safe


class NotSafeError(ValueError):
    """The frame is not safe to release, or that cannot be said; the message has the reasons."""


def safe_to_release(**options: Unpack[ReleaseOptions]) -> Check:
    """A check of a whole frame, for pandas and Polars schemas.

    Parameters
    ----------
    **options
        The options of `crypsis.assess`, or `roles_file`.

    Returns
    -------
    Check
        It fails unless the verdict is "safe"; the error has the reasons and no data value.

    Examples
    --------
    >>> import pandera.pandas as pa  # doctest: +SKIP
    >>> pa.DataFrameSchema(checks=safe_to_release(roles_file="roles.toml"))  # doctest: +SKIP
    """

    def check(data: Any) -> bool:
        lazy = getattr(data, "lazyframe", None)  # how pandera hands over a Polars frame
        assessment = assess_release(data if lazy is None else lazy.collect(), **options)
        if not is_safe(assessment):
            raise NotSafeError(explanation(assessment))
        return True

    return Check(check, name="safe_to_release", error="is not safe to release")
