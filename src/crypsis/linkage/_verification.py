"""Can the intruder trust their links? (domingo2016, Sec. 5.2, with a null that keeps dependence)"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, Unpack

import numpy as np

from crypsis.dataset import Data, as_columns, takes_options
from crypsis.errors import InputError, ParameterError
from crypsis.linkage._joint_files import JointFiles, joint_files
from crypsis.linkage._joint_test import ENOUGH_POWER, JointTest, joint_test
from crypsis.linkage._null_distribution import NullComparison, compare_with_null
from crypsis.linkage._null_distribution import random_records as draw_records
from crypsis.linkage._pair import Pair, RankOptions, pair
from crypsis.linkage._ranks import Floats
from crypsis.linkage._search import Search
from crypsis.options import Columns
from crypsis.results import Estimate, Result, percent_text

LinkVerdict: TypeAlias = Literal["safe", "not safe", "cannot tell"]

EQUAL_MARGIN = 0.05
"""Shares of correct links that differ by up to this count as equal."""
CONFIDENCE = 0.99
"""Higher than usual: a verdict should not be wrong for one unrelated file in forty."""


class LinkVerification(Result):
    """Whether a masked file is safe against a known-plaintext attack, and the evidence.

    `verdict` rests on `correct_share` (with its interval) compared with `chance`, and on `dependent`, the
    comparison with a null distribution that keeps the dependence between columns; where the true matches are
    unknown, on `joint`, the test of all originals together against the controls, and its power. `reasons`
    state it. `paper_verdict` is the test of the paper: the comparison with random records alone
    (`independent`), which errs in both directions when columns depend on each other.
    """

    verdict: LinkVerdict
    reasons: tuple[str, ...]
    paper_verdict: LinkVerdict
    columns: tuple[str, ...]
    records: int
    masked_records: int
    correct_share: Estimate | None
    chance: float
    independent: NullComparison
    dependent: NullComparison | None
    joint: JointTest | None = None

    def __str__(self) -> str:
        return "\n- ".join([f"Linkage: {self.verdict}", *self.reasons])


@takes_options(RankOptions)
def verify_links(
    original: Data,
    masked: Data,
    *,
    random_records: int = 10_000,
    controls: Data | None = None,
    acceptable: float | None = None,
    false_discovery_rate: float = 0.05,
    **options: Unpack[RankOptions],
) -> LinkVerification:
    """Compare the match distances of the originals with those of records not in the file.

    If originals have matches no nearer than other records, the intruder cannot distinguish true
    matches from false ones.

    Parameters
    ----------
    original, masked, **options
        See `link`.
    random_records : int
        How many random records to draw, column by column; all n^m combinations are used where they
        are at most 100,000.
    controls : Data, optional
        Records of people known not to be in the file, drawn from the same population as the
        originals. By default the null distribution that keeps dependence is that of each original
        with its own masked record excluded. With controls, files whose rows correspond in no column
        have unknown matches, unless `on` or `row_map` gives them.
    acceptable : float, optional
        The share of correct links that is acceptable; by default that of a random guess.
    false_discovery_rate : float
        The rate at which single links count as too near for chance.

    Returns
    -------
    LinkVerification
        "not safe" if the share of correct links exceeds the acceptable one, if some links are too
        near for chance, or if originals match nearer by more than 0.05 (largest difference of the
        two distributions), each with its interval; "cannot tell" without alignment and controls.
        With controls and without true matches also "not safe" if all originals together fit the
        masked file better than the controls, in any subset of the columns ("cannot tell" where a
        share is acceptable: the test does not measure it), and "cannot tell" if that test would see
        a leak of 0.05 more correct links than acceptable, through the worst single column, with a
        probability below 0.8, or where a released column or a subset of the columns was not tested.

    References
    ----------
    domingo2016, Sec. 5.2; Benjamini and Hochberg 1995; Sinkhorn and Knopp 1967.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(300, 3))
    >>> verify_links(x, x + 0.01 * rng.normal(size=x.shape)).verdict
    'not safe'
    >>> verify_links(x, rng.normal(size=x.shape)).verdict
    'safe'
    """
    both = pair(original, masked, ranks_only=True, **options)
    held_out = None
    if controls is not None:
        both = without_assumed_matches(both, options)
        wanted = options.get("columns")
        held_out = known_controls(original, masked, controls, both, options, wanted)
    return verification(
        both, Search.of(both.points), held_out, random_records, acceptable, false_discovery_rate
    )


def without_assumed_matches(both: Pair, options: RankOptions) -> Pair:
    """The pair with unknown matches, if they were assumed row by row and no column supports it."""
    assumed = options.get("on") is None and options.get("row_map") is None
    if assumed and both.own is not None and not both.rows_correspond:
        return replace(both, own=None)
    return both


@dataclass(frozen=True, eq=False)
class Controls:
    """People who are not in the file: among the ranks of the originals, and all that is compared."""

    points: Floats
    files: JointFiles | None
    """None where the true matches are known."""


def known_controls(
    original: Data, masked: Data, controls: Data, both: Pair, options: RankOptions, wanted: Columns | None
) -> Controls:
    """The controls, on the scale of the points of the pair, and the columns of all three files.

    A value between two ranks takes one of them at random; a value that occurs takes its rank.
    Without `wanted` all columns that can be compared are.
    """
    control_pair = pair(
        original, controls, columns=both.names, orders=options.get("orders"), row_map="unknown"
    )
    rng = np.random.default_rng((both.seed, 5))
    n = control_pair.original_records
    columns_of_ranks = []
    for column in control_pair.columns:
        ordered = np.sort(column.original)
        below = np.searchsorted(ordered, column.masked, side="left")
        upto = np.searchsorted(ordered, column.masked, side="right")
        first = np.where(upto > below, below + 1, np.maximum(below, 1))
        last = np.where(upto > below, upto, np.minimum(below + 1, n))
        ranks = rng.integers(first, last + 1).astype(np.float64)
        if both.ties == "average":  # the ranks that originals have: a mean of two is nobody's
            value = ordered[ranks.astype(np.int64) - 1]
            ends = np.searchsorted(ordered, value) + np.searchsorted(ordered, value, "right")
            ranks = (ends + 1) / 2
        columns_of_ranks.append(ranks)
    ranked = np.column_stack(columns_of_ranks)
    points = ranked if n == both.masked_records else (2 * ranked - 1) * both.masked_records
    if both.own is not None:
        return Controls(points, None)
    names = None if wanted is None else as_columns(wanted)
    on = options.get("on")
    return Controls(points, joint_files(original, masked, controls, (control_pair, both), names, on))


def verification(
    both: Pair,
    search: Search,
    controls: Controls | None = None,
    random_records: int = 10_000,
    acceptable: float | None = None,
    false_discovery_rate: float = 0.05,
) -> LinkVerification:
    """Verify the links that a search found."""
    check_random_records(random_records)
    rates = {"acceptable": acceptable, "false_discovery_rate": false_discovery_rate or -1}
    for name, rate in rates.items():
        if rate is not None and not 0 <= rate <= 1:
            raise ParameterError(f"Parameter {name!r} must be between 0 and 1.", parameter=name)
    if both.masked_records < 2 or both.original_records < 2:
        raise InputError("A verification needs at least two original and two masked records.")
    unit, masked_rows = search.points.unit, both.own
    rng = np.random.default_rng((both.seed, 4))
    drawn, exhaustive = draw_records(search.points.original, random_records, rng)
    independent = compare_with_null(
        search.distances,
        search.index.distances(drawn, "random records") / unit,
        null="random records",
        exhaustive=exhaustive,
        false_discovery_rate=false_discovery_rate,
        closed_form_columns=len(both.columns),
        masked_records=both.masked_records,
    )
    null, null_values = "held-out controls", None
    if controls is not None:
        null_values = search.index.distances(controls.points, null)
    elif masked_rows is not None:
        null, null_values = "own record excluded", search.distances_without_own(masked_rows)
    dependent = None
    if null_values is not None:
        dependent = compare_with_null(
            search.distances,
            null_values / unit,
            null=null,
            exhaustive=False,
            false_discovery_rate=false_discovery_rate,
            closed_form_columns=None,
            masked_records=both.masked_records,
        )
    chance, joint = 1.0 / both.masked_records, None
    untested: tuple[str, ...] = ()
    if controls is not None and controls.files is not None:
        files = controls.files
        leak = max(acceptable or 0.0, chance) + EQUAL_MARGIN
        joint = joint_test(
            files.originals,
            files.controls,
            files.masked,
            leak,
            both.seed,
            nominal=files.nominal,
            names=files.names,
        )
        untested = files.untested
    correct = None if masked_rows is None else search.correct_share(masked_rows, CONFIDENCE)
    verdict, reasons = _verdict(correct, chance, acceptable, dependent, joint, untested)
    return LinkVerification(
        verdict=verdict,
        reasons=reasons,
        paper_verdict="not safe" if _differ(independent) else "safe",
        columns=both.names,
        records=both.original_records,
        masked_records=both.masked_records,
        correct_share=correct,
        chance=chance,
        independent=independent,
        dependent=dependent,
        joint=joint,
    )


def check_random_records(number: int) -> None:
    """Refuse too few random records."""
    if number < 100:
        raise ParameterError(
            f"Parameter 'random_records' must be at least 100; {number} was given.",
            parameter="random_records",
        )


def _differ(comparison: NullComparison) -> bool:
    return comparison.discoveries > 0 or comparison.advantage.low > EQUAL_MARGIN


def _verdict(
    correct: Estimate | None,
    chance: float,
    acceptable: float | None,
    dependent: NullComparison | None,
    joint: JointTest | None,
    untested: tuple[str, ...],
) -> tuple[LinkVerdict, tuple[str, ...]]:
    reasons = []
    failed = False
    if correct is not None:
        failed = correct.low > max(acceptable or 0.0, chance)
        bound = "" if acceptable is None else f"; {percent_text(acceptable)} is acceptable"
        reasons.append(
            f"The nearest masked record is the true match of {percent_text(correct)} of the records; "
            f"by chance it would be {percent_text(chance)}{bound}."
        )
    if dependent is None:
        reasons.append(
            "The true matches are unknown and there are no controls, so the links cannot be "
            "compared with records that have the same dependence between columns."
        )
        return ("not safe" if failed else "cannot tell"), tuple(reasons)
    failed |= _differ(dependent)
    number = dependent.discoveries
    if number:
        many = "1 link is" if number == 1 else f"{number:,} links are"
        reasons.append(f"{many} too near for records that are not in the file ({dependent.null}).")
    else:
        reasons.append(f"No single link is too near for chance ({dependent.null}).")
    reasons.append(
        "Originals match nearer than records that are not in the file by "
        f"{dependent.advantage.text('.3f')}; up to {EQUAL_MARGIN} counts as equal."
    )
    undecided = False
    if joint is not None:
        reasons.append(_joint_reason(joint, acceptable))
        failed |= joint.seen and not acceptable
        undecided = not joint.sufficient or bool(untested)
    if untested:
        reasons.append(
            f"Not compared with originals and controls: {_listed(untested)}. With a column that was "
            "not tested an intruder may link records."
        )
    verdict: LinkVerdict = "not safe" if failed else "cannot tell" if undecided else "safe"
    return verdict, tuple(reasons)


def _joint_reason(joint: JointTest, acceptable: float | None) -> str:
    """What all originals together show, or could have shown."""
    number = "1 subset" if joint.subsets == 1 else f"{joint.subsets:,} subsets"
    test = (
        f"All originals together, against {joint.controls:,} controls, in {number} of the columns "
        f"(p = {joint.p_value:.2g}):"
    )
    if joint.seen:
        more = " Whether more than acceptable, it does not measure." if acceptable else ""
        return (
            f"{test} they fit the masked file better than people who are not in it, most by "
            f"{_listed(joint.columns)}.{more}"
        )
    assert joint.power is not None  # noqa: S101 - computed where nothing is seen
    where = f" through {_listed(joint.weakest)} alone" if joint.weakest else ""
    few = ""
    if joint.power < ENOUGH_POWER:
        few = (
            f"; {ENOUGH_POWER} is needed, with more records or controls, or with columns whose values "
            "are on the scale of the original"
        )
    untested = "" if joint.complete else " Other subsets of these many columns were not tested."
    return (
        f"{test} no difference is seen. If {percent_text(joint.leak)} of the links were correct"
        f"{where}, it would be seen with a probability of {joint.power:.2f}{few}.{untested}"
    )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(repr(name) for name in names)
