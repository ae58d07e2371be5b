"""Can the intruder trust his links? (domingo2016, Sec. 5.2, with a null that keeps dependence.)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from crypsis.errors import InputError, ParameterError
from crypsis.linkage._alignment import RowMap
from crypsis.linkage._columns import Orders, Pair, pair
from crypsis.linkage._intruder import candidate_counts, right_among, share
from crypsis.linkage._nearest import Field, Floats, Found, Ints, distinct
from crypsis.linkage._nulls import NullComparison, compare, random_records, without_own
from crypsis.linkage._ranks import Places, Ties, places, places_among
from crypsis.results import Estimate, Result

Verdict: TypeAlias = Literal["withstands", "fails", "cannot tell"]

MARGIN = 0.05
# Surer than usual: a verdict should not fail one unrelated file in forty.
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Verification(Result):
    """Whether a masked file withstands a known-plaintext attack, and the evidence.

    `verdict` rests on `right` (the share of right links, with its interval) held against `chance`,
    and on `dependent`, the comparison with a null that keeps the dependence between columns;
    `reasons` say it in words. `paper_verdict` is the paper's own test: the comparison with
    `independent` draws alone, which is wrong both ways when columns depend on each other.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    paper_verdict: Verdict
    columns: tuple[str, ...]
    records: int
    masked_records: int
    right: Estimate | None
    chance: float
    independent: NullComparison
    dependent: NullComparison | None


def verify(
    original: Any,
    masked: Any,
    *,
    random_records: int = 10_000,
    controls: Any = None,
    acceptable: float | None = None,
    false_discovery_rate: float = 0.05,
    columns: Sequence[str] | None = None,
    orders: Orders | None = None,
    on: str | None = None,
    row_map: RowMap = None,
    ties: Ties = "average",
    seed: int = 0,
) -> Verification:
    """Compare the match distances of the originals with those of records that are not in the file.

    domingo2016, Sec. 5.2: if originals find matches no nearer than random records do, the intruder
    cannot tell right links from wrong ones. Two nulls are used. The paper's draws values column by
    column (all n^m combinations where they are at most 100,000, else `random_records` of them). The
    other keeps the dependence between columns: each original without its own masked record, or
    `controls`, records of people who are known not to be in the file. The verdict is "fails" when
    links are right more often than `acceptable` (if not given: than blind guessing), when some
    links are too near for strangers at the `false_discovery_rate`, or when originals match nearer
    than strangers by more than 0.05 (largest gap between the two distributions); each with its
    interval. Without a row map and without controls it is "cannot tell".

    Ranks, ties, row maps and missing values as in `link`. Cost: a k-d tree search for originals and
    random records; no table of pairs.

    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(300, 3))
    >>> verify(x, x + 0.01 * rng.normal(size=x.shape)).verdict
    'fails'
    >>> verify(x, rng.normal(size=x.shape)).verdict
    'withstands'
    """
    _check(random_records, acceptable, false_discovery_rate)
    both = pair(
        original, masked, columns=columns, orders=orders, on=on, row_map=row_map, ranks_only=True
    )
    if both.masked_records < 2 or both.original_records < 2:
        raise InputError("A verification needs at least two original and two masked records.")
    points = places(both, ties=ties, seed=seed)
    known = None
    if controls is not None:
        beside = pair(original, controls, columns=both.names, orders=orders, row_map="unknown")
        known = places_among(beside, both.masked_records, ties=ties, seed=seed)
    return verify_places(
        both,
        points,
        controls=known,
        random_records=random_records,
        acceptable=acceptable,
        false_discovery_rate=false_discovery_rate,
        seed=seed,
    )


def _check(random_records: int, acceptable: float | None, rate: float) -> None:
    if random_records < 100:
        raise ParameterError(f"random_records is at least 100; {random_records} was given.")
    if acceptable is not None and not 0 <= acceptable <= 1:
        raise ParameterError(f"acceptable is a share from 0 to 1; {acceptable} was given.")
    if not 0 < rate < 1:
        raise ParameterError(f"false_discovery_rate lies between 0 and 1; {rate} was given.")


def verify_places(
    both: Pair,
    points: Places,
    *,
    controls: Floats | None,
    random_records: int,
    acceptable: float | None,
    false_discovery_rate: float,
    seed: int,
) -> Verification:
    """The part of `verify` that comes after the ranks."""
    field = Field(points.masked)
    queries, query_of = distinct(points.original)
    found = field.nearest(queries, "links")
    distances = found.distance[query_of] / points.unit
    independent = _independent(
        both, points, field, distances, random_records, false_discovery_rate, seed
    )
    null, strangers = "held-out controls", None
    if controls is not None:
        strangers = field.distances(controls, null)
    elif both.own is not None:
        null = "own record left out"
        strangers = without_own(points.original, both.own, field, found, query_of)
    dependent = None
    if strangers is not None:
        dependent = compare(
            distances,
            strangers / points.unit,
            null=null,
            exhaustive=False,
            false_discovery_rate=false_discovery_rate,
            closed_form_columns=None,
            masked_records=both.masked_records,
        )
    right = _right(both, field, found, query_of)
    verdict, reasons = _verdict(right, 1.0 / both.masked_records, acceptable, dependent)
    return Verification(
        verdict=verdict,
        reasons=reasons,
        paper_verdict="fails" if _tells_apart(independent) else "withstands",
        columns=both.names,
        records=both.original_records,
        masked_records=both.masked_records,
        right=right,
        chance=1.0 / both.masked_records,
        independent=independent,
        dependent=dependent,
    )


def _independent(
    both: Pair,
    points: Places,
    field: Field,
    distances: Floats,
    wanted: int,
    rate: float,
    seed: int,
) -> NullComparison:
    drawn, exhaustive = random_records(points.original, wanted, np.random.default_rng((seed, 4)))
    return compare(
        distances,
        field.distances(drawn, "random records") / points.unit,
        null="independent draws",
        exhaustive=exhaustive,
        false_discovery_rate=rate,
        closed_form_columns=len(both.columns),
        masked_records=both.masked_records,
    )


def _right(both: Pair, field: Field, found: Found, query_of: Ints) -> Estimate | None:
    if both.own is None:
        return None
    candidates = candidate_counts(field, found)
    hit = right_among(both.own, field, found, query_of)
    guesses = float((hit / candidates[query_of]).sum())
    return share(guesses, both.original_records, CONFIDENCE)


def _tells_apart(comparison: NullComparison) -> bool:
    return comparison.discoveries > 0 or comparison.advantage.low > MARGIN


def _verdict(
    right: Estimate | None,
    chance: float,
    acceptable: float | None,
    dependent: NullComparison | None,
) -> tuple[Verdict, tuple[str, ...]]:
    reasons = []
    failed = False
    if right is not None:
        limit = chance if acceptable is None else max(acceptable, chance)
        failed = right.low > limit
        times = f"{right.value / chance:,.3g} times as often as a blind guess"
        bound = "" if acceptable is None else f", {acceptable:.2%} being acceptable"
        reasons.append(
            f"The nearest masked record is the right one for {right.value:.3%} of the records "
            f"({right.low:.3%} to {right.high:.3%} at {right.confidence:.0%}), {times}{bound}."
        )
    if dependent is None:
        reasons.append(
            "Nobody knows which masked record belongs to whom and there are no controls, so links "
            "cannot be held against strangers with the same dependence between columns."
        )
        return ("fails" if failed else "cannot tell"), tuple(reasons)
    failed |= _tells_apart(dependent)
    if dependent.discoveries:
        reasons.append(
            f"{dependent.discoveries:,} links are too near for records that are not in the file "
            f"({dependent.null})."
        )
    else:
        reasons.append(f"No single link is too near for chance ({dependent.null}).")
    reasons.append(
        f"Originals match nearer than strangers by a margin of {dependent.advantage.value:.3f} "
        f"({dependent.advantage.low:.3f} to {dependent.advantage.high:.3f} at 95 %; up to {MARGIN} "
        "counts as alike)."
    )
    return ("fails" if failed else "withstands"), tuple(reasons)
