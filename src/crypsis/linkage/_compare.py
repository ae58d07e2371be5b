"""The complete comparison of an original file and its masked version, in one result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from crypsis.dataset import Data, Dataset, as_columns, as_dataset
from crypsis.errors import TooLargeError
from crypsis.linkage._assignment import Assignment, one_to_one
from crypsis.linkage._comparable import Categories, ExcludedColumn, comparable_columns
from crypsis.linkage._diversity import Criterion
from crypsis.linkage._link import Link, SubsetLink, link_by_values, links, subset_links
from crypsis.linkage._neighborhoods import neighborhoods
from crypsis.linkage._pair import Pair, RankOptions, pair, to_frame
from crypsis.linkage._permuted_privacy import (
    PermutedPrivacy,
    PrivacyFrontier,
    frontier_of,
    privacy_of,
)
from crypsis.linkage._reverse_map import NoiseDecomposition, noise_by_column
from crypsis.linkage._search import Search, share
from crypsis.linkage._verification import (
    CONFIDENCE,
    LinkVerdict,
    LinkVerification,
    known_controls,
    verification,
    without_assumed_matches,
)
from crypsis.results import Result

_MAX_ASSIGNED = 5_000
_MAX_SUBSET_WORK = 2_000_000


class Comparison(Result, eq=False):
    """What protector, intruder and data subject can learn from an original and a masked file.

    `verdict` is that of the verification, "not safe" also where a stronger intruder has more
    correct links than acceptable, and at best "cannot tell" where columns were excluded; `reasons`
    state it. A part that was not computed is None, and `not_computed` states why. `excluded` are
    the columns that could not be compared.
    """

    verdict: LinkVerdict
    reasons: tuple[str, ...]
    records: int
    masked_records: int
    columns: tuple[str, ...]
    excluded: tuple[ExcludedColumn, ...]
    by_frequency: tuple[str, ...]
    verification: LinkVerification
    link: Link
    link_by_values: Link | None
    assignment: Assignment | None
    subsets: tuple[SubsetLink, ...]
    noise: tuple[NoiseDecomposition, ...]
    protector: PermutedPrivacy | None
    subject: PermutedPrivacy
    frontier: PrivacyFrontier | None
    not_computed: tuple[str, ...]

    def __str__(self) -> str:
        return "\n- ".join([f"Linkage: {self.verdict}", *self.reasons])

    @property
    def intruders(self) -> tuple[tuple[str, Link | Assignment], ...]:
        """The links of each kind of intruder, with its name."""
        named = (
            ("nearest ranks", self.link),
            ("nearest values", self.link_by_values),
            ("one to one", self.assignment),
        )
        return tuple((name, found) for name, found in named if found is not None)


NOT_ALIGNED = (
    "The records were compared row by row, and the rows of the two files do not correspond in any "
    "column: if the release is in another order, its true matches are not known."
)
"""Why the links of two files cannot be measured if their rows do not correspond."""


def compare(
    original: Data,
    masked: Data,
    *,
    d: float | Sequence[float] | None = None,
    v: float | Sequence[float] | None = None,
    criterion: Criterion = "variance",
    random_records: int = 10_000,
    controls: Data | None = None,
    acceptable: float | None = None,
    categories: Categories = "exclude",
    **options: Unpack[RankOptions],
) -> Comparison:
    """Compare a masked file with its original: links, their verification, permutation and noise.

    Parameters
    ----------
    original, masked : Data
        The two files.
    d, v, criterion
        Distance, diversity and its criterion, see `linkage.permuted_privacy`.
    random_records, controls, acceptable
        See `linkage.verify_links`.
    categories : {"exclude", "frequency"}
        Whether categories without an order are excluded or ordered by their frequency.
    **options
        See `linkage.PairOptions` and `linkage.RankOptions`. Without `columns`, the columns that can
        be compared are used, see `linkage.comparable_columns`.

    Returns
    -------
    Comparison
        The verdict with its reasons, and every part of the comparison.

    Notes
    -----
    The one-to-one assignment is not computed beyond 5,000 records (`linkage.assign` takes 20,000),
    nor are the subsets of columns where they are too many; `not_computed` states it.
    Reference: domingo2016.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(100, 2))
    >>> compare(x, x + 0.01 * rng.normal(size=x.shape)).verdict
    'not safe'
    """
    # Values are needed, not ranks alone: rows are fetched once.
    first, second = _in_memory(original, masked, options)
    kept = comparable_columns(
        first, second, columns=options.get("columns"), orders=options.get("orders"),
        on=options.get("on"), categories=categories,
    )  # fmt: skip
    options["columns"], options["orders"] = kept.columns, kept.orders(options.get("orders"))
    both = pair(first, second, **options)
    if controls is not None:
        both = without_assumed_matches(both, options)
    missing: list[str] = []
    search = Search.of(both.points)
    known = None if controls is None else known_controls(first, controls, both, options)
    check = verification(both, search, known, random_records, acceptable)
    by_values, assignment = _by_values(both, missing), _assignment(both, missing)
    subsets = _subsets(both, missing)
    noise: tuple[NoiseDecomposition, ...] = ()
    protector = frontier = None
    if both.own is not None:
        noise = noise_by_column(both)
        near = neighborhoods(both, "protector", criterion)
        protector, frontier = privacy_of(near, d, v), frontier_of(near)
    else:
        missing.append("The protector's view: the true matches are unknown.")
    subject = privacy_of(neighborhoods(both, "subject", criterion), d, v)
    verdict, reasons = _verdict(check, by_values, assignment, acceptable, kept.excluded)
    assumed = options.get("on") is None and options.get("row_map") is None
    if verdict == "safe" and assumed and controls is None and not both.rows_correspond:
        verdict, reasons = "cannot tell", (*reasons, NOT_ALIGNED)
    return Comparison(
        verdict=verdict, reasons=reasons, records=both.original_records,
        masked_records=both.masked_records, columns=both.names, excluded=kept.excluded,
        by_frequency=kept.by_frequency, verification=check, link=links(both, search),
        link_by_values=by_values,
        assignment=assignment, subsets=subsets, noise=noise, protector=protector, subject=subject,
        frontier=frontier, not_computed=tuple(missing),
    )  # fmt: skip


def _in_memory(original: Data, masked: Data, options: RankOptions) -> tuple[Any, Any]:
    """Both files as frames; of Datasets only the columns needed, without direct identifiers."""
    both = [as_dataset(data) if isinstance(data, str) else data for data in (original, masked)]
    first, second = both
    if not (isinstance(first, Dataset) and isinstance(second, Dataset)):
        return to_frame(first).to_native(), to_frame(second).to_native()
    named, on = options.get("columns"), options.get("on")
    if named is None:
        apart = {*first.identifiers, *second.identifiers} - {on}
        names = tuple(n for n in first.names if n in second.names and n not in apart)
    else:
        names = as_columns(named)
    wanted = list(dict.fromkeys([*names, *([] if on is None else [on])]))
    return first.to_arrow(wanted), second.to_arrow(wanted)


def _by_values(both: Pair, missing: list[str]) -> Link | None:
    if all(column.is_measured for column in both.columns):
        return link_by_values(both)
    missing.append("Links by values: some columns are categories.")
    return None


def _assignment(both: Pair, missing: list[str]) -> Assignment | None:
    if max(both.original_records, both.masked_records) > _MAX_ASSIGNED:
        missing.append(f"One-to-one assignment: there are more than {_MAX_ASSIGNED:,} records.")
        return None
    try:
        return one_to_one(both)
    except TooLargeError as error:
        missing.append(f"One-to-one assignment: {error.message}")
        return None


def _subsets(both: Pair, missing: list[str]) -> tuple[SubsetLink, ...]:
    size, width = max(both.original_records, both.masked_records), len(both.columns)
    if 1 < width <= 12 and size * 2**width <= _MAX_SUBSET_WORK:
        return subset_links(both)
    if width > 1:
        missing.append("Links on every subset of columns: there are too many subsets.")
    return ()


def _verdict(
    check: LinkVerification,
    by_values: Link | None,
    assignment: Assignment | None,
    acceptable: float | None,
    excluded: tuple[ExcludedColumn, ...],
) -> tuple[LinkVerdict, tuple[str, ...]]:
    """The verdict of the verification, the stronger intruders and the excluded columns."""
    verdict, reasons = check.verdict, list(check.reasons)
    for name, found in (("values", by_values), ("one-to-one assignment", assignment)):
        if found is None or found.correct_share is None:
            continue
        sure = share(found.correct_share.value * found.records, found.records, CONFIDENCE)
        if sure.low > max(acceptable or 0.0, found.chance):
            verdict = "not safe"
            reasons.append(
                f"An intruder who links by {name} has correct links for {sure.text('.3%')} of the "
                "records."
            )
    if excluded:
        noun = "1 column was" if len(excluded) == 1 else f"{len(excluded)} columns were"
        reasons.append(f"{noun} not compared; with more columns an intruder may link more records.")
        verdict = "cannot tell" if verdict == "safe" else verdict
    return verdict, tuple(reasons)
