"""The suite: every intruder links both files, and the one with the most correct links counts."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from crypsis import progress
from crypsis.dataset import Data, Dataset, as_columns, takes_options
from crypsis.errors import ColumnError
from crypsis.linkage._alignment import own_rows
from crypsis.linkage._pair import PairOptions, to_frame
from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage._search import share
from crypsis.linkage.suite._agreement import agreement, levels
from crypsis.linkage.suite._alignment_test import Contradiction, contradicted, rows_correspond, values_covered
from crypsis.linkage.suite._attack import CONFIDENT_PROBABILITY, LinkAttack, attack, linked
from crypsis.linkage.suite._candidates import Candidates, candidates
from crypsis.linkage.suite._files import Files, files_of
from crypsis.linkage.suite._learned import features_of, learned
from crypsis.linkage.suite._one_to_one import one_to_one
from crypsis.linkage.suite._paired_columns import ProposedColumn, paired_columns
from crypsis.linkage.suite._replaced import replaced
from crypsis.linkage.suite._residues import residue_links
from crypsis.linkage.suite._scaled import scaled
from crypsis.linkage.suite._subsets import subset_links
from crypsis.results import Estimate, Result, percent_text

_MAX_TARGETS = 5_000
"""Records that are attacked unless the caller states how many."""
_NOT_ALIGNED = {
    "rows": "The records were compared row by row, and the rows of the two files do not correspond "
    "in any column: if the release is in another order, its true matches are not known.",
    "record numbers": "The generalized values of the records do not cover the values of the originals "
    "with their record numbers: if the files were numbered anew, the true matches are not known.",
    "row map": "The generalized values of the records do not cover the values of the originals in the "
    "re-identification key (row map): if it is that of another release, the true matches are not known.",
}
_EXPLAINED = {
    "rows": "the order of the rows",
    "record numbers": "the record numbers",
    "row map": "the row map",
}


class LinkSuite(Result, eq=False):
    """The links of every intruder, the one with the most correct links first.

    `columns` are the released columns that were compared, `proposed` those of them that were paired
    with an original column of another name, and `alone` those that were compared with nothing.
    `not_computed` states which intruders could not be tried. `alignment` states how the true matches
    are known ("rows", "record numbers", "row map", or "" if they are not); then `rows_correspond`
    states whether any column supports rows, or whether generalized values cover the originals of a
    key or of record numbers (else it is None), and `contradiction` what speaks against them.
    """

    attacks: tuple[LinkAttack, ...]
    columns: tuple[str, ...]
    proposed: tuple[ProposedColumn, ...]
    alone: tuple[str, ...]
    records: int
    masked_records: int
    not_computed: tuple[str, ...]
    alignment: str
    rows_correspond: bool | None
    contradiction: Contradiction | None

    def __str__(self) -> str:
        return "\n".join(str(attack) for attack in self.attacks)

    @property
    def worst(self) -> LinkAttack:
        """The attack with the most correct links."""
        return self.attacks[0]

    @property
    def method(self) -> str:
        """The name of the worst attack."""
        return self.worst.method

    @property
    def correct_share(self) -> Estimate | None:
        """The share of correct links of the worst attack."""
        return self.worst.correct_share

    @property
    def chance(self) -> float:
        """The share of correct links of a random guess."""
        return self.worst.chance

    @property
    def misaligned(self) -> str:
        """Why the matches are not taken as true, in a sentence; empty if they are."""
        if self.rows_correspond is False:
            return _NOT_ALIGNED[self.alignment]
        if self.contradiction is None:
            return ""
        return (
            f"{percent_text(self.contradiction.nearer.value)} of the masked records are nearer to "
            f"an original than to any other masked record, which {_EXPLAINED[self.alignment]} "
            f"{'do' if self.alignment == 'record numbers' else 'does'} not explain: they seem to be in "
            "another order, so the true matches are not known."
        )

    def sure_share(self, confidence: float = 0.99) -> Estimate | None:
        """The share of correct links of the worst attack, right for the best of so many attacks."""
        worst = self.worst
        if worst.correct_share is None:
            return None
        corrected = 1 - (1 - confidence) / len(self.attacks)
        units = worst.records if worst.people is None else worst.people
        sure = share(worst.correct_share.value * units, units, corrected)
        return Estimate(
            sure.value,
            sure.low,
            sure.high,
            confidence,
            f"{sure.method}, the worst of {len(self.attacks)} intruders",
        )

    def statement(self, sure: Estimate) -> str:
        """What the worst intruder achieves, in a sentence."""
        worst = self.worst
        units = "records" if worst.people is None else "people"
        sample_text = "" if worst.records == self.records else f" (a sample of {worst.records:,})"
        text = (
            f"The intruder with the most correct links ({worst.method}) has them for "
            f"{percent_text(sure)} of the {units}{sample_text}; by chance it would be "
            f"{percent_text(worst.chance)}."
        )
        if worst.precision is not None:
            number = worst.confident_links or 0
            text += (
                f" Of {number:,} {'link' if number == 1 else 'links'} with a probability of at least "
                f"{CONFIDENT_PROBABILITY}, {percent_text(worst.precision.value)} "
                f"{'is' if number == 1 else 'are'} correct."
            )
        return text

    @property
    def doubts(self) -> tuple[str, ...]:
        """What keeps the files from being called safe: columns compared with nothing, other rows."""
        reasons = []
        if self.alone:
            names = ", ".join(repr(name) for name in self.alone)
            reasons.append(
                f"Compared with nothing, because the original has no such column: {names}. With "
                "them an intruder may link more records."
            )
        if self.misaligned:
            reasons.append(self.misaligned)
        return tuple(reasons)

    @property
    def notes(self) -> tuple[str, ...]:
        """The columns that were paired by their content, in sentences."""
        return tuple(
            f"Column {proposal.column!r} was compared with column {proposal.original!r} of the original, "
            "because of its content."
            for proposal in self.proposed
        )


@takes_options(PairOptions)
def attack_links(
    original: Data, masked: Data, *, max_records: int = _MAX_TARGETS, **options: Unpack[PairOptions]
) -> LinkSuite:
    """Link two files by every intruder of the suite, with columns of all kinds.

    Parameters
    ----------
    original, masked : Data
        The two files.
    max_records : int
        How many original records are linked: a sample of them, if there are more. They are linked
        to all masked records.
    **options
        See `PairOptions`. Without `columns` all released columns are compared, except direct
        identifiers: those that the original has under their name, and others with the column whose
        content fits.

    Returns
    -------
    LinkSuite
        The attacks, the one with the most correct links first.

    Notes ----- The intruders: nearest ranks (domingo2016), nearest values, values scaled by what the masking
    did (canonical correlations), values as the masking replaced them, Gower's dissimilarity, agreement
    likelihoods (Fellegi and Sunter, by EM), the columns that changed least, the digits that stayed (noise in
    thousands changes no last digits), a learned matcher, and one-to-one assignment. What is learned from true
    matches is learned from one half of the people and tried on the other, so a random guess is right once in
    as many times as there are masked records. The digits that stay are those of all. The interval of a sample
    of records states its uncertainty. A sample, more than 12,000 records and files with equal masked records
    are not assigned one to one.

    References
    ----------
    domingo2016; Fellegi and Sunter 1969; Gower 1971; Hotelling 1936.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> kept, shuffled = rng.normal(size=300), rng.normal(size=(300, 4))
    >>> x = np.column_stack([kept, shuffled])
    >>> y = np.column_stack([kept, rng.permutation(shuffled)])
    >>> found = attack_links(x, y).worst
    >>> found.correct_share.value > 0.95
    True
    """
    return suite_of(original, masked, max_records, **options)[0]


def suite_of(
    original: Data, masked: Data, max_records: int, **options: Unpack[PairOptions]
) -> tuple[LinkSuite, Files, Candidates]:
    """The suite, with the files and the pairs that it considered."""
    first, second = to_frame(original), to_frame(masked)
    on, row_map = options.get("on"), options.get("row_map")
    masked_rows = own_rows(first, second, on, row_map)
    before, after = first.to_arrow(), second.to_arrow()
    identifiers = {on, *_identifiers(original), *_identifiers(masked)}
    named = options.get("columns")
    if named is None:
        before, after = _without(before, identifiers), _without(after, identifiers)
        released: tuple[str, ...] = tuple(after.column_names)
    else:
        released = as_columns(named)
        before, after = before.select(released), after.select(released)
    pairing = paired_columns(before, after, masked_rows, released)
    if not pairing.pairs:
        raise ColumnError("The files share no column that can be compared.", code="no-comparable-columns")
    files = files_of(
        before,
        after,
        pairing.pairs,
        masked_rows,
        people=_people(original),
        orders=options.get("orders"),
        seed=options.get("seed", 0),
        most_targets=max_records,
    )
    missing: list[str] = []
    with progress.step("intruders", total=8) as step:
        attacks, pairs = _attacks(files, missing, step)
    attacks.sort(key=lambda attack: -(attack.correct_share or 0.0))
    alignment = "record numbers" if on is not None else "row map" if row_map is not None else "rows"
    suite = LinkSuite(
        tuple(attacks),
        tuple(after for _, after in pairing.pairs),
        pairing.proposed,
        pairing.alone,
        files.originals,
        files.masked,
        tuple(missing),
        "" if masked_rows is None else alignment,
        None if masked_rows is None else (rows_correspond if alignment == "rows" else values_covered)(files),
        None if masked_rows is None else contradicted(files, attacks[0]),
    )
    return suite, files, pairs


def _people(original: Data) -> Ints | None:
    """The person of each original record, where the original says that; a record without one is alone."""
    if not isinstance(original, Dataset) or original.person is None:
        return None
    coded = original.to_arrow([original.person])[original.person].combine_chunks().dictionary_encode()
    person = np.asarray(coded.indices.fill_null(-1), np.int64)
    person[person < 0] = len(coded.dictionary) + np.arange(int((person < 0).sum()))
    return person


def _attacks(files: Files, missing: list[str], step: Any) -> tuple[list[LinkAttack], Candidates]:
    """Every intruder, on the same candidate pairs."""
    by_masking, by_value = scaled(files), replaced(files)
    pairs = candidates(
        files,
        [(scale.some, scale.original, scale.masked) for scale in by_masking],
        (replacement.near(files) for replacement in by_value),
    )
    rows = files.targets[pairs.target]
    link_attacks: list[LinkAttack] = []
    if files.numbers:
        link_attacks += _by_numbers(files, pairs, rows)
    step.advance(2)
    gower = -sum((field.apart(rows, pairs.place) for field in files.fields), np.zeros(len(rows)))
    link_attacks.append(attack("Gower's dissimilarity", files, pairs, gower))
    step.advance()
    weights = agreement(files, pairs, levels(files, pairs))
    total = sum(weights, np.zeros(len(rows)))
    link_attacks.append(attack("agreement likelihoods", files, pairs, total))
    step.advance()
    if files.own is None:
        missing.append("Intruders who know what the masking did: the true matches are unknown.")
        return link_attacks, pairs
    score: Floats | None = None
    if by_masking:
        place_of = np.empty(len(files.targets), np.int64)
        for scale in by_masking:
            place_of[scale.some] = np.arange(len(scale.some))
        score = np.empty(len(rows))
        for half, scale in enumerate(by_masking):
            here = files.fold[pairs.target] == half
            score[here] = scale.score(place_of[pairs.target[here]], pairs.place[here])
        link_attacks.append(attack("values scaled by the masking", files, pairs, score))
    became: Floats | None = None
    if by_value:
        became = np.empty(len(rows))
        for half, replacement in enumerate(by_value):
            here = files.fold[pairs.target] == half
            became[here] = replacement.score(rows[here], pairs.place[here])
        link_attacks.append(attack("values as the masking replaced them", files, pairs, became))
    step.advance()
    subset = subset_links(files)
    if subset is not None:
        link_attacks.append(linked("columns that changed least", files, subset[0], columns=subset[1]))
    kept = residue_links(files)
    if kept is not None:
        link_attacks.append(linked("digits that stayed", files, kept[0], columns=kept[1]))
    step.advance()
    odds = learned(files, pairs, features_of(files, pairs, weights, [score, became]))
    if odds is not None:
        link_attacks.append(attack("learned matcher", files, pairs, odds))
    else:
        missing.append("A learned matcher: too few true matches are known.")
    step.advance()
    scores = {
        "learned matcher": odds,
        "agreement likelihoods": total,
        "values scaled by the masking": score,
        "values as the masking replaced them": became,
        "Gower's dissimilarity": gower,
    }
    assigned = [
        linked(f"one to one, {name}", files, partner)
        for name, score in scores.items()
        if score is not None and (partner := one_to_one(files, pairs, score)) is not None
    ]
    if not assigned:
        missing.append("One-to-one assignment: there are too many records, or masked records are equal.")
    step.advance()
    return [*link_attacks, *assigned], pairs


def _by_numbers(files: Files, pairs: Candidates, rows: Ints) -> list[LinkAttack]:
    """The paper's intruder (largest rank difference), and the usual one (Euclidean distance)."""
    names = tuple(number.name for number in files.numbers)
    by_rank, by_value = np.zeros(len(rows)), np.zeros(len(rows))
    for number_field in files.numbers:
        x, y = number_field.quantiles()
        by_rank = np.maximum(by_rank, np.abs(x[rows] - y[pairs.place]))
        scale = float(number_field.present.std()) if len(number_field.present) else 0.0
        by_value += (number_field.apart(rows, pairs.place) * number_field.span / (scale or 1.0)) ** 2
    return [
        attack("nearest ranks", files, pairs, -by_rank, columns=names),
        attack("nearest values", files, pairs, -by_value, columns=names),
    ]


def _identifiers(data: Data) -> tuple[str, ...]:
    return data.identifiers if isinstance(data, Dataset) else ()


def _without(table: pa.Table, names: set[str | None]) -> pa.Table:
    return table.select(
        [
            name
            for name, kind in zip(table.column_names, table.schema.types, strict=True)
            if name not in names and not pa.types.is_nested(kind)
        ]
    )
