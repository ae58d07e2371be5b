"""Benchmarking indicators: estimates that must survive, each with what it may change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from crypsis.dataset import Data, Dataset, as_dataset, takes_roles
from crypsis.errors import ColumnError, InputError, ParameterError, unknown_columns
from crypsis.options import Roles
from crypsis.results import Estimate, Result, number_text, raw
from crypsis.utility._indicator_file import Indicator, read_indicators
from crypsis.utility._indicator_values import Group, estimates
from crypsis.utility._survey_estimates import interval_overlap


class IndicatorResult(Result):
    """One estimate before and after, and whether it passes."""

    name: str
    columns: tuple[str, ...]
    part: int
    """The number of the group, cell or coefficient, from 1."""
    original: Estimate | None
    masked: Estimate | None
    overlap: float | None
    """The overlap of the confidence intervals; below 0 where they are apart."""
    change: float | None
    """The change relative to the original."""
    passed: bool
    why: str
    """Why it fails; empty where it passes."""
    group: Group = raw(default=())
    """The values that the estimate is of."""


class IndicatorCheck(Result):
    """All estimates, and whether all pass."""

    passed: bool
    checked: int
    failed: int
    results: tuple[IndicatorResult, ...]

    def __str__(self) -> str:
        state = "pass" if self.passed else "fail"
        lines = [f"The indicators {state}: {self.failed:,} of {self.checked:,} estimates fail."]
        for result in self.results:
            before, after = ("-" if x is None else number_text(x) for x in (result.original, result.masked))
            mark = "passes" if result.passed else f"fails: {result.why}"
            lines.append(f"  {result.name} ({result.part})  {before} -> {after}  {mark}")
        return "\n".join(lines)


@takes_roles()
def check_indicators(
    original: Data,
    masked: Data,
    indicators: str | Path | Sequence[Indicator | dict[str, Any]],
    *,
    confidence: float = 0.95,
    **roles: Unpack[Roles],
) -> IndicatorCheck:
    """Check that the estimates which must survive are the same in the masked file.

    Parameters
    ----------
    original, masked : Dataset, frame or path
        The file and what was made of it; rows need not correspond.
    indicators : path or sequence of Indicator
        A TOML file with `[[indicators]]`, or the indicators.
    confidence : float
        The confidence of the intervals.
    **roles
        See `crypsis.read`, for the original. `weight`, `stratum` and `cluster` are used in both
        files.

    Returns
    -------
    IndicatorCheck
        For each estimate both values with their intervals, the overlap, the change, and whether it
        passes. What cannot be estimated in the masked file fails.

    Notes
    -----
    Intervals have the linearized variance of the design: weights, strata and clusters (drawn with
    replacement). Records with a missing value in a column of an indicator are not used in it.

    References
    ----------
    Karr, Kohnen, Oganian, Reiter & Sanil (2006), A framework for evaluating the utility of data
    altered to protect confidentiality. Binder (1983), On the variances of asymptotically normal
    estimators from complex surveys. Woodruff (1952), Confidence intervals for medians and other
    position measures.

    Examples
    --------
    >>> import pyarrow as pa
    >>> before, after = pa.table({"income": [10.0, 20, 30]}), pa.table({"income": [15.0, 15, 30]})
    >>> mean = {"name": "income", "estimate": "mean", "columns": ["income"], "largest_change": 0.01}
    >>> check_indicators(before, after, [mean]).passed
    True
    """
    if not 0 < confidence < 1:
        raise ParameterError(
            f"Parameter 'confidence' must be between 0 and 1; {confidence} was given.", parameter="confidence"
        )
    first = as_dataset(original, **roles)
    parts = {name: getattr(first, name) for name in ("weight", "stratum", "cluster")}
    second = as_dataset(masked)
    indicator_results: list[IndicatorResult] = []
    for indicator in read_indicators(indicators):
        needed = [*indicator.columns, *([indicator.by] if indicator.by else [])]
        unknown = [name for name in needed if name not in first.names]
        if unknown:
            raise unknown_columns(unknown, first.names)
        indicator_results += _check(indicator, first, second, parts, confidence)
    failed = sum(not result.passed for result in indicator_results)
    return IndicatorCheck(failed == 0, len(indicator_results), failed, tuple(indicator_results))


def _check(
    indicator: Indicator, first: Dataset, second: Dataset, parts: dict[str, str | None], confidence: float
) -> list[IndicatorResult]:
    """The estimates of one indicator in both files, compared."""
    before = estimates(indicator, first, parts, confidence)
    why = "It cannot be estimated in the masked file."
    try:
        after = estimates(indicator, second, parts, confidence, groups=tuple(before))
    except (ColumnError, InputError) as error:
        after, why = {}, error.message
    return [
        _compared(indicator, position, group, value, after.get(group), why)
        for position, (group, value) in enumerate(before.items(), 1)
    ]


def _compared(
    indicator: Indicator,
    position: int,
    group: Group,
    before: Estimate | None,
    after: Estimate | None,
    missing: str,
) -> IndicatorResult:
    if before is None or after is None:
        why = "It cannot be estimated in the original." if before is None else missing
        return IndicatorResult(
            indicator.name, indicator.columns, position, before, after, None, None, False, why, group
        )
    overlap = interval_overlap(before, after)
    gap = abs(after.value - before.value)
    change = 0.0 if gap == 0 else gap / abs(before.value) if before.value else float("inf")
    reasons = []
    if indicator.least_overlap is not None and overlap < indicator.least_overlap:
        reasons.append(f"the overlap is {overlap:.3g}, at least {indicator.least_overlap:g} is required")
    if indicator.largest_change is not None and change > indicator.largest_change:
        reasons.append(f"the change is {change:.3g}, at most {indicator.largest_change:g} is allowed")
    return IndicatorResult(
        indicator.name,
        indicator.columns,
        position,
        before,
        after,
        overlap,
        change,
        not reasons,
        "; ".join(reasons),
        group,
    )
