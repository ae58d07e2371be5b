"""Everything there is to say about an original file and its masked version, in one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crypsis import progress
from crypsis.errors import TooLarge
from crypsis.linkage._alignment import RowMap
from crypsis.linkage._assignment import Assignment, assign
from crypsis.linkage._columns import Orders, pair, to_frame
from crypsis.linkage._diversity import Criterion
from crypsis.linkage._frontier import Frontier, privacy_frontier
from crypsis.linkage._intruder import Link, link, link_values, share
from crypsis.linkage._permuted_privacy import PermutedPrivacy, permuted_privacy
from crypsis.linkage._ranks import Ties
from crypsis.linkage._reverse_mapping import TwoSteps, two_steps
from crypsis.linkage._subsets import SubsetLink, link_subsets
from crypsis.linkage._verification import CONFIDENCE, Verdict, Verification, verify
from crypsis.results import Result

_ASSIGN_UP_TO = 5_000
_SUBSET_WORK = 2_000_000


@dataclass(frozen=True)
class Comparison(Result):
    """What protector, intruder and subject can learn from an original and a masked file.

    `verdict` is that of the verification, and "fails" as well where one of the stronger intruders
    is right more often than acceptable; `reasons` say it in words. A part that could not be had is
    None, and `left_out` says why.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    records: int
    masked_records: int
    columns: tuple[str, ...]
    verification: Verification
    link: Link
    link_by_values: Link | None
    assignment: Assignment | None
    subsets: tuple[SubsetLink, ...]
    steps: tuple[TwoSteps, ...]
    protector: PermutedPrivacy | None
    subject: PermutedPrivacy | None
    frontier: Frontier | None
    left_out: tuple[str, ...]


def compare(
    original: Any,
    masked: Any,
    *,
    d: float | Sequence[float] | None = None,
    v: float | Sequence[float] | None = None,
    criterion: Criterion = "variance",
    random_records: int = 10_000,
    controls: Any = None,
    acceptable: float | None = None,
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    row_map: RowMap = None,
    ties: Ties = "average",
    seed: int = 0,
) -> Comparison:
    """Reverse mapping, permuted privacy, linkage and verification of two files (domingo2016).

    The keywords are those of `permuted_privacy`, `link` and `verify`. The one-to-one assignment is
    left out beyond 5,000 records (call `assign` for up to 20,000), the subsets of columns where
    there would be too many; `left_out` says so.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(100, 2))
    >>> compare(x, x + 0.01 * rng.normal(size=x.shape)).verdict
    'fails'
    """
    # Values are needed, not ranks alone: rows that live elsewhere are fetched once.
    original, masked = (to_frame(data).to_native() for data in (original, masked))
    both = pair(original, masked, columns=columns, orders=orders, on=on, row_map=row_map)
    shared: dict[str, Any] = {"columns": both.names, "orders": orders, "on": on, "row_map": row_map}
    ranked = {**shared, "ties": ties, "seed": seed}
    size = max(both.original_records, both.masked_records)
    left_out: list[str] = []
    with progress.step("comparing two files", total=7) as step:
        verification = verify(
            original,
            masked,
            random_records=random_records,
            controls=controls,
            acceptable=acceptable,
            **ranked,
        )
        step.advance()
        links = link(original, masked, **ranked)
        step.advance()
        by_values = None
        if all(column.is_measured for column in both.columns):
            by_values = link_values(original, masked, columns=both.names, on=on, row_map=row_map)
        else:
            left_out.append("Linkage by values: some columns hold categories.")
        step.advance()
        one_to_one = None
        try:
            if size <= _ASSIGN_UP_TO:
                one_to_one = assign(original, masked, **ranked)
            else:
                left_out.append(f"One-to-one assignment: more than {_ASSIGN_UP_TO:,} records.")
        except TooLarge as error:
            left_out.append(f"One-to-one assignment: {error}")
        step.advance()
        subsets: tuple[SubsetLink, ...] = ()
        if 1 < len(both.columns) <= 12 and size * 2 ** len(both.columns) <= _SUBSET_WORK:
            subsets = link_subsets(original, masked, **ranked)
        elif len(both.columns) > 1:
            left_out.append("Linkage on every subset of columns: too many; name fewer columns.")
        step.advance()
        mine = None
        steps: tuple[TwoSteps, ...] = ()
        edge = None
        if both.own is not None:
            steps = two_steps(original, masked, seed=seed, **shared)
            mine = permuted_privacy(original, masked, d=d, v=v, criterion=criterion, **ranked)
            edge = privacy_frontier(original, masked, criterion=criterion, **ranked)
        else:
            left_out.append("The protector's view: nobody said which masked record is whose.")
        step.advance()
        hers = permuted_privacy(
            original, masked, d=d, v=v, mapping="subject", criterion=criterion, **ranked
        )
        step.advance()
    verdict, reasons = _verdict(verification, by_values, one_to_one, acceptable)
    return Comparison(
        verdict=verdict,
        reasons=reasons,
        records=both.original_records,
        masked_records=both.masked_records,
        columns=both.names,
        verification=verification,
        link=links,
        link_by_values=by_values,
        assignment=one_to_one,
        subsets=subsets,
        steps=steps,
        protector=mine,
        subject=hers,
        frontier=edge,
        left_out=tuple(left_out),
    )


def _verdict(
    verification: Verification,
    by_values: Link | None,
    one_to_one: Assignment | None,
    acceptable: float | None,
) -> tuple[Verdict, tuple[str, ...]]:
    """The verification's verdict, held against the other intruders: a gate must not fail open."""
    verdict, reasons = verification.verdict, list(verification.reasons)
    for name, found in (("values", by_values), ("one-to-one assignment", one_to_one)):
        if found is None or found.right is None:
            continue
        limit = max(acceptable or 0.0, found.chance)
        sure = share(found.right.value * found.records, found.records, CONFIDENCE)
        if sure.low > limit:
            verdict = "fails"
            reasons.append(
                f"An intruder who links by {name} is right for {sure.value:.3%} of the records "
                f"({sure.low:.3%} to {sure.high:.3%} at {sure.confidence:.0%})."
            )
    return verdict, tuple(reasons)
