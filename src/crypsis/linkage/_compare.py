"""The complete comparison of an original file and its masked version, in one result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from crypsis.dataset import Data, Dataset, as_columns, as_dataset, takes_options
from crypsis.errors import ColumnError
from crypsis.linkage._comparable import Categories, ComparableColumns, ExcludedColumn, comparable_columns
from crypsis.linkage._diversity import Criterion
from crypsis.linkage._link import Link, SubsetLink, links, subset_links
from crypsis.linkage._neighborhoods import neighborhoods
from crypsis.linkage._pair import Pair, RankOptions, pair, to_frame
from crypsis.linkage._permuted_privacy import PermutedPrivacy, PrivacyFrontier, frontier_of, privacy_of
from crypsis.linkage._reverse_map import NoiseDecomposition, noise_by_column
from crypsis.linkage._search import Search
from crypsis.linkage._verification import (
    CONFIDENCE,
    LinkVerdict,
    LinkVerification,
    known_controls,
    verification,
    without_assumed_matches,
)
from crypsis.linkage.suite import LinkAttack, LinkSuite, attack_links
from crypsis.results import Result

_MAX_SUBSET_WORK = 2_000_000
"""Records times subsets of columns; with more the links on subsets are left out."""


class Comparison(Result, eq=False):
    """What protector, intruder and data subject can learn from an original and a masked file.

    `verdict` is that of the verification, "not safe" also where an intruder of the suite has more
    correct links than acceptable, and at best "cannot tell" where a released column was compared
    with nothing; `reasons` state it. A part that was not computed is None, and `not_computed` states
    why. `columns` are those that have ranks, `excluded` those that have none: only the suite uses
    them.
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
    suite: LinkSuite
    subsets: tuple[SubsetLink, ...]
    noise: tuple[NoiseDecomposition, ...]
    protector: PermutedPrivacy | None
    subject: PermutedPrivacy
    frontier: PrivacyFrontier | None
    not_computed: tuple[str, ...]

    def __str__(self) -> str:
        return "\n- ".join([f"Linkage: {self.verdict}", *self.reasons])

    @property
    def intruders(self) -> tuple[tuple[str, LinkAttack], ...]:
        """The links of each intruder of the suite, with its name, the worst first."""
        return tuple((attack.method, attack) for attack in self.suite.attacks)


@takes_options(RankOptions)
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
        Whether categories without an order are excluded from the ranks or ordered by their
        frequency, as they always are where there is nothing else. The suite uses them anyway.
    **options
        See `linkage.PairOptions` and `linkage.RankOptions`. Without `columns`, the columns that can
        be compared are used, see `linkage.comparable_columns`.

    Returns
    -------
    Comparison
        The verdict with its reasons, and every part of the comparison.

    Notes
    -----
    The suite links a sample of 5,000 records if there are more (see `linkage.attack_links`), and the
    subsets of columns are not computed where they are too many; `not_computed` states it.
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
    wanted = options.get("columns")
    first, second = _in_memory(original, masked, options)
    kept = _with_ranks(first, second, options, categories)
    pair_options: Any = {name: value for name, value in options.items() if name != "ties"}
    options["columns"], options["orders"] = kept.columns, kept.orders(options.get("orders"))
    both = pair(first, second, **options)
    if controls is not None:
        both = without_assumed_matches(both, options)
    if both.own is None and pair_options.get("on") is None:
        pair_options["row_map"] = "unknown"
    suite = attack_links(first, second, **pair_options)
    missing = list(suite.not_computed)
    search = Search.of(both.points)
    held_out = None
    if controls is not None:
        held_out = known_controls(first, second, controls, both, options, wanted)
    check = verification(both, search, held_out, random_records, acceptable)
    subsets = _subsets(both, missing)
    noise: tuple[NoiseDecomposition, ...] = ()
    protector = frontier = None
    if both.own is not None:
        noise = noise_by_column(both)
        near_records = neighborhoods(both, "protector", criterion)
        protector, frontier = privacy_of(near_records, d, v), frontier_of(near_records)
    else:
        missing.append("The protector's view: the true matches are unknown.")
    subject = privacy_of(neighborhoods(both, "subject", criterion), d, v)
    verdict, reasons = _verdict(check, suite, acceptable)
    return Comparison(
        verdict=verdict,
        reasons=reasons,
        records=both.original_records,
        masked_records=both.masked_records,
        columns=both.names,
        excluded=kept.excluded,
        by_frequency=kept.by_frequency,
        verification=check,
        link=links(both, search),
        suite=suite,
        subsets=subsets,
        noise=noise,
        protector=protector,
        subject=subject,
        frontier=frontier,
        not_computed=tuple(missing),
    )


def _with_ranks(first: Any, second: Any, options: RankOptions, categories: Categories) -> ComparableColumns:
    """The columns that can be ranked; if there are only categories, by their frequency."""
    options_of: Any = {name: options.get(name) for name in ("columns", "orders", "on")}
    try:
        return comparable_columns(first, second, categories=categories, **options_of)
    except ColumnError as error:
        if error.code != "no-comparable-columns" or categories == "frequency":
            raise
        return comparable_columns(first, second, categories="frequency", **options_of)


def _in_memory(original: Data, masked: Data, options: RankOptions) -> tuple[Any, Any]:
    """Both files as frames; of Datasets only the columns needed, without direct identifiers."""
    both = [as_dataset(data) if isinstance(data, str) else data for data in (original, masked)]
    first, second = both
    if not (isinstance(first, Dataset) and isinstance(second, Dataset)):
        return to_frame(first).to_native(), to_frame(second).to_native()
    named, on = options.get("columns"), options.get("on")
    identifiers = {*first.identifiers, *second.identifiers} - {on}
    wanted = []
    for file in (first, second):
        if named is None:
            names = tuple(n for n in file.names if n not in identifiers)
        else:
            names = (*as_columns(named), *([] if on is None else [on]))
        wanted.append(list(dict.fromkeys(names)))
    return first.to_arrow(wanted[0]), second.to_arrow(wanted[1])


def _subsets(both: Pair, missing: list[str]) -> tuple[SubsetLink, ...]:
    size, width = max(both.original_records, both.masked_records), len(both.columns)
    if 1 < width <= 12 and size * 2**width <= _MAX_SUBSET_WORK:
        return subset_links(both)
    if width > 1:
        missing.append("Links on every subset of columns: there are too many subsets.")
    return ()


def _verdict(
    check: LinkVerification, suite: LinkSuite, acceptable: float | None
) -> tuple[LinkVerdict, tuple[str, ...]]:
    """The verdict of the verification, of the worst intruder and of what was not compared."""
    verdict, reasons = check.verdict, list(check.reasons)
    worst, sure = suite.worst, suite.sure_share(CONFIDENCE)
    if sure is not None:
        reasons.append(suite.statement(sure))
        if sure.low > max(acceptable or 0.0, worst.chance):
            verdict = "not safe"
    doubts = suite.doubts
    if doubts and verdict == "safe":
        verdict = "cannot tell"
    return verdict, (*reasons, *doubts)
