"""Further files of the same release: what all of them disclose if they are joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis import singling_out
from crypsis.assessment._columns import describe_columns, undecided, with_roles
from crypsis.assessment._questions._outcome import QuestionOutcome
from crypsis.assessment._request import OtherFile, Request
from crypsis.columns.row_order import same_order
from crypsis.dataset import Data, Dataset, as_dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.inference.text_numbers import read_numbers
from crypsis.options import Role
from crypsis.policies import Measurement
from crypsis.policies.assessed import ColumnRole
from crypsis.policies.findings import Reason
from crypsis.report.wording import named
from crypsis.results import number_text
from crypsis.singling_out import JointClasses
from crypsis.tables import Kind

SMALL_CLASSES = "singling_out.records_in_small_classes"
K_ANONYMITY = "singling_out.k_anonymity"
CLASS_SIZES = (SMALL_CLASSES, K_ANONYMITY)
_MIN_KEY_VALUES = {Kind.TEXT: 50, Kind.INTEGER: 500, Kind.NUMBER: 500, Kind.TIME: 500}
"""From so many different values on, a column of this kind may join files under another name."""
_MIN_SAME_SHARE = 0.5
"""Columns of which so many values are the same may join the files."""
_MIN_LINE_SHARE = 0.95
"""Numbers of which so many are on a line may be the same in other units."""
_MAX_COMPARED_VALUES = 2_000_000
"""Columns with more values are not compared."""
_MAX_ALIGNED_ROWS = 2_000_000
"""Larger files are not compared row by row."""


def other_files(
    files: Data | Sequence[Data], first: Dataset, columns: Sequence[ColumnRole], accepted: bool, seed: int
) -> tuple[OtherFile, ...]:
    """The further files; a column without a role has that of the same name in the first file."""
    listed = list(files) if isinstance(files, list | tuple) else [] if files is None else [files]
    decided = {column.column: column.role for column in columns if not column.guessed}
    other_files: list[OtherFile] = []
    for number, file in enumerate(listed, start=2):
        data = as_dataset(file)
        decided_roles = {name: data.roles[name] for name in data.names if name in data.roles}
        data = data.with_roles({**_roles_of(decided, data.names), **decided_roles}, data.notes)
        if data.person is None and first.person in data.names:
            data = replace(data, person=first.person)
        described = describe_columns(data, seed)
        left = tuple(undecided(described, accepted=accepted))
        titles = () if data.rows.titles is None else data.rows.titles()
        name = titles[0] if titles else f"file {number}"
        if any(other_file.name == name for other_file in other_files):
            name = f"{name} (file {number})"
        other_files.append(OtherFile(name, with_roles(data, described), left))
    return tuple(other_files)


def _roles_of(decided: dict[str, str], names: Sequence[str]) -> dict[str, Role]:
    return {name: Role(decided[name]) for name in names if name in decided}


def add_joint_classes(request: Request, outcome: QuestionOutcome) -> None:
    """Add the class sizes of the records that are joined with those of each further file."""
    for file in request.together:
        try:
            pair = _both_ways(request.data, file)
        except (InputError, TooLargeError) as error:
            outcome.measured += [
                Measurement(
                    threshold.measure,
                    None,
                    f"{file.name}: {error.message}",
                    k=threshold.k,
                    requested=True,
                    hint=error.hint,
                )
                for threshold in request.policy.thresholds
                if threshold.measure in CLASS_SIZES
            ]
            continue
        outcome.results[f"joint classes with {file.name}"] = pair[0]
        if not any(joined.joined for joined in pair):
            outcome.notes.append(pair[0].text_below(5, file.name))
            continue
        sizes = [
            threshold.k or int(threshold.limit)
            for threshold in request.policy.thresholds
            if threshold.measure in CLASS_SIZES
        ]
        k = max(sizes, default=5)
        worst = max(pair, key=lambda joined: joined.share_below(k))
        outcome.notes.append(worst.text_below(k, file.name))
        for threshold in request.policy.thresholds:
            if threshold.measure == SMALL_CLASSES:
                worst = max(pair, key=lambda joined: joined.share_below(threshold.k or 5))
                outcome.measured.append(_measured(worst, file.name, SMALL_CLASSES, threshold.k or 5))
            elif threshold.measure == K_ANONYMITY:
                worst = min(pair, key=lambda joined: joined.k or joined.records)
                outcome.measured.append(_measured(worst, file.name, K_ANONYMITY, int(threshold.limit)))


def _both_ways(data: Dataset, other_file: OtherFile) -> tuple[JointClasses, JointClasses]:
    """The records of each file, joined with those of the other."""
    return (
        singling_out.joint_classes(data, other_file.data),
        singling_out.joint_classes(other_file.data, data),
    )


def _measured(joint_classes: JointClasses, name: str, measure: str, k: int) -> Measurement:
    share = joint_classes.share_below(k)
    text = f"{joint_classes.text_below(k, name)} Known: {named(_known(joint_classes))}."
    small = measure == SMALL_CLASSES
    return Measurement(
        measure,
        share if small else joint_classes.k,
        text,
        (*joint_classes.shared, *_known(joint_classes)),
        round(share * joint_classes.records),
        k if small else None,
    )


def _known(joint_classes: JointClasses) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*joint_classes.columns, *joint_classes.other_columns)))


def together_reasons(request: Request, outcome: QuestionOutcome | None) -> tuple[Reason, ...]:
    """What is open about further files, and so keeps the release from being called safe."""
    reasons: list[Reason] = []
    limited = any(threshold.measure in CLASS_SIZES for threshold in request.policy.thresholds)
    for file in request.together:
        joint_classes = None if outcome is None else outcome.results.get(f"joint classes with {file.name}")
        if not isinstance(joint_classes, JointClasses):
            text = f"Whether {file.name} can be joined with this file was not measured."
            reasons.append(Reason("joined-files", text))
            continue
        if file.undecided:
            text = (
                f"In {file.name} the role of {named(file.undecided)} is not decided; it "
                "may be known of a person, too."
            )
            reasons.append(Reason("undecided-columns", text, "Decide the roles of its columns."))
        if joint_classes.not_compared:
            text = f"{named(joint_classes.not_compared)} could not be compared with {file.name}."
            hint = "Give the columns of both files the same type."
            reasons.append(Reason("joined-files", text, hint))
        if joint_classes.joined and not limited:
            text = (
                f"{file.name} can be joined with this file on {named(joint_classes.shared)} "
                f"(joint k = {number_text(joint_classes.k, ',')}), and the policy has no threshold on "
                "classes."
            )
            reasons.append(Reason("joined-files", text))
        reasons += _under_other_names(request.data, file, joint_classes)
        reasons += _by_position(request.data, file)
    return tuple(reasons)


def _by_position(data: Dataset, other_file: OtherFile) -> list[Reason]:
    """The order of the rows, by which files are joined that have no column in common."""
    local = data.rows.local and other_file.data.rows.local
    if not local or data.count != other_file.data.count or data.count > _MAX_ALIGNED_ROWS:
        return []
    both = same_order(data.to_arrow(data.released), other_file.data.to_arrow(other_file.data.released))
    if both is None:
        return []
    text = (
        f"The rows of {other_file.name} are in the order of this file ({both[0]!r} and {both[1]!r} belong "
        "together row by row): whoever has both joins them by position."
    )
    return [Reason("joined-files", text, "Release the rows of one of them in random order.")]


def _under_other_names(data: Dataset, other_file: OtherFile, joint_classes: JointClasses) -> list[Reason]:
    """Columns with the same values and different names, by which the files may be joined.

    Amounts of a month are those of a year, in other units: the numbers of both lie on a line.
    """
    reasons = []
    mine = _like_keys(data, [name for name in data.released if name not in joint_classes.shared])
    theirs = _like_keys(
        other_file.data, [name for name in other_file.data.released if name not in joint_classes.shared]
    )
    hint = "Give both the same name, so that the join is measured, or exclude one."
    for name, my_values in mine.items():
        for second, two in theirs.items():
            same = _same_values(my_values, two)
            if same >= _MIN_SAME_SHARE * min(my_values.values.size, two.values.size):
                text = (
                    f"Column {name!r} has {same:,} values that column {second!r} of {other_file.name} "
                    "has, too: the files may be joined by them."
                )
                reasons.append(Reason("joined-files", text, hint))
            elif _on_a_line(my_values, two):
                text = (
                    f"Column {name!r} has the numbers of column {second!r} of {other_file.name} in other "
                    "units: the files may be joined by them."
                )
                reasons.append(Reason("joined-files", text, hint))
    return reasons


@dataclass(frozen=True, eq=False)
class _Values:
    """The different values of a column that has many, as numbers where they are, and their counts."""

    values: NDArray[Any]
    counts: NDArray[np.float64]

    @property
    def numeric(self) -> bool:
        return self.values.dtype.kind == "f"


def _like_keys(data: Dataset, names: Sequence[str]) -> dict[str, _Values]:
    """The different values of columns that have many, in ascending order."""
    key_values = {}
    for name in names:
        least = _MIN_KEY_VALUES.get(data.rows.column(name).kind)
        if least is None:
            continue
        try:
            table = data.rows.cells([name], at_most=_MAX_COMPARED_VALUES)
        except TooLargeError:
            continue
        if table.num_rows < least:
            continue
        column_values = table.column(0).combine_chunks().dictionary_decode()
        read = read_numbers(column_values)
        is_used = ~np.isnan(read.numbers) if read.mostly else np.asarray(column_values.is_valid())
        values = read.numbers if read.mostly else np.array(column_values.to_pylist(), object)
        distinct, value_index = np.unique(values[is_used], return_inverse=True)
        counts = np.zeros(distinct.size)
        np.add.at(counts, value_index, table["count"].to_numpy()[is_used])
        key_values[name] = _Values(distinct, counts)
    return key_values


def _same_values(first: _Values, two: _Values) -> int:
    """How many values both have."""
    return len({*first.values.tolist()} & {*two.values.tolist()}) if first.numeric == two.numeric else 0


def _on_a_line(first: _Values, two: _Values) -> bool:
    """Whether number n of one is a factor, and an addend, of number n of the other.

    As many people have each, and the line meets them within half of the gap between neighbors.
    """
    comparable = first.numeric and two.numeric and first.values.size == two.values.size
    if not comparable or not np.array_equal(first.counts, two.counts):
        return False
    away = np.abs(np.polyval(np.polyfit(first.values, two.values, 1), first.values) - two.values)
    return bool((away <= np.median(np.diff(two.values)) / 2).mean() >= _MIN_LINE_SHARE)
