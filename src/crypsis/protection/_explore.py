"""Risk against information loss: releases by several sizes of classes and recodings, each measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from crypsis import progress
from crypsis.dataset import Data, as_dataset, takes_options
from crypsis.errors import ParameterError, RequirementsNotMetError
from crypsis.options import PlanOptions, Roles
from crypsis.protection._anonymize import anonymize
from crypsis.protection._anonymized import Anonymized
from crypsis.protection._recode_classes import RecodingKind
from crypsis.protection._requirements import checked_requirements
from crypsis.protection.masking._masks import Mask
from crypsis.results import Result, percent_text

RECODINGS: tuple[RecodingKind, ...] = ("local", "subtree", "full-domain")
_EXPLORED_CLASS_SIZES = (2, 3, 5, 10, 20, 50, 100)
"""The smallest class sizes (k) that are compared where none are set."""


class Alternative(Result):
    """One release that was made and measured, or why it cannot be made."""

    k: int
    """The smallest class that was required."""
    recoding: str
    loss: float | None
    """Information loss (NCP), 0 to 1."""
    highest_risk: float | None
    """The re-identification risk of the record at the highest risk (prosecutor)."""
    average_risk: float | None
    """The average re-identification risk (marketer)."""
    suppressed_records: int | None
    released: Mapping[str, str]
    """What is left of each quasi-identifier, in plain words."""
    failure: str = ""
    """Why it cannot be made."""


class Exploration(Result):
    """Alternatives, from the least k to the largest; see `explore`."""

    alternatives: tuple[Alternative, ...]

    @property
    def pareto(self) -> tuple[Alternative, ...]:
        """Those that none of the others is below in both average risk and information loss."""
        feasible = [alternative for alternative in self.alternatives if not alternative.failure]
        return tuple(
            alternative
            for alternative in feasible
            if not any(_better(rival, alternative) for rival in feasible if rival != alternative)
        )

    def __str__(self) -> str:
        rows = [_HEAD, *map(_cells, self.alternatives)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
        lines = []
        for row in rows:
            first, *cells = (
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("  ".join([first, *cells]).rstrip())
        return "\n".join(lines)


_HEAD = ("recoding", "k", "highest risk", "average risk", "loss (NCP)", "suppressed")


def _cells(alternative: Alternative) -> tuple[str, ...]:
    if alternative.failure:
        return alternative.recoding, f"{alternative.k:,}", "-", "-", "-", "not possible"
    numbers = (alternative.highest_risk or 0.0, alternative.average_risk or 0.0, alternative.loss or 0.0)
    return (
        alternative.recoding,
        f"{alternative.k:,}",
        *map(percent_text, numbers),
        f"{alternative.suppressed_records:,}",
    )


def _better(alternative: Alternative, rival: Alternative) -> bool:
    """Whether one has no more risk and no more loss than another, and less of one of them."""
    mine = alternative.average_risk or 0.0, alternative.loss or 0.0
    theirs = rival.average_risk or 0.0, rival.loss or 0.0
    return mine != theirs and mine[0] <= theirs[0] and mine[1] <= theirs[1]


@takes_options(PlanOptions)
def explore(
    data: Data,
    *,
    k: int,
    sizes: Sequence[int] | None = None,
    recodings: Sequence[RecodingKind] = RECODINGS,
    methods: Mapping[Any, str | Mask] | None = None,
    top_code: Mapping[str, float] | None = None,
    **options: Unpack[PlanOptions],
) -> Exploration:
    """Anonymize in several ways: the curve of risk against information loss.

    Every alternative is a release that `crypsis.anonymize` makes and measures in memory; nothing is
    written. The first recoding is tried with each of the sizes, the others with `k`.

    Parameters
    ----------
    data : Dataset, frame or path
        The data; it is not changed.
    k : int
        The smallest equivalence class with which all recodings are tried.
    sizes : sequence of int, optional
        Other sizes of classes for the first recoding; by default 2, 3, 5, 10, 20, 50
        and 100, as far as there are records.
    recodings : sequence of {"local", "subtree", "full-domain"}
        The recodings; see `crypsis.protection.Plan.apply`.
    methods, top_code : mapping, optional
        As in `crypsis.anonymize`.
    **options
        The options of `crypsis.protection.plan` and the roles; see `crypsis.read`.

    Returns
    -------
    Exploration
        Its `pareto` has the alternatives that no other is better than.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 31, 32, 33, 41, 42, 43, 44], "sex": list("fmfmffmm")})
    >>> roles = {"quasi_identifiers": ["age", "sex"], "person": "each record"}
    >>> print(explore(people, k=2, sizes=[4], **roles))
    recoding     k  highest risk  average risk  loss (NCP)  suppressed
    local        2          50 %          50 %      35.7 %           0
    subtree      2          50 %          50 %      35.7 %           0
    full-domain  2          50 %          50 %      39.3 %           0
    local        4          25 %          25 %        50 %           0
    """
    if not recodings:
        raise ParameterError("Parameter 'recodings' is empty.", parameter="recodings")
    roles: Roles = {name: options.pop(name) for name in Roles.__annotations__ if name in options}  # type: ignore[assignment,misc]
    dataset = as_dataset(data, **roles)
    for size in (k, *(sizes or ())):
        checked_requirements(k=size)
    more = [size for size in _EXPLORED_CLASS_SIZES if size <= dataset.count] if sizes is None else sizes
    pairs = sorted({(size, 0) for size in (k, *more)} | {(k, r) for r in range(len(recodings))})
    alternatives = []
    with progress.step("alternatives", total=len(pairs)) as step:
        for size, r in pairs:
            plan_options = {**options, "methods": methods, "top_code": top_code}
            alternatives.append(_alternative(dataset, size, recodings[r], plan_options))
            step.advance()
    return Exploration(tuple(alternatives))


def _alternative(data: Any, k: int, recoding: RecodingKind, options: Any) -> Alternative:
    try:
        anonymized: Anonymized = anonymize(data, k=k, recoding=recoding, shuffle=False, **options)
    except RequirementsNotMetError as error:
        return Alternative(k, recoding, None, None, None, None, {}, error.message)
    measured, loss = anonymized.measured, anonymized.loss
    highest = average = None
    if measured is not None and measured.k and measured.classes:
        highest = 1 / measured.k
        average = measured.marketer
    return Alternative(
        k, recoding, loss.ncp, highest, average, loss.suppressed_records, anonymized.released_values
    )
