"""Does a synthetic file disclose the people whose records its generator was trained on?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints
from crypsis.counting.proportions import difference_of, share_of
from crypsis.dataset import DESIGN, Data, Dataset, as_dataset, takes_roles
from crypsis.errors import ParameterError
from crypsis.options import Roles
from crypsis.results import Result, raw
from crypsis.scientific import stats
from crypsis.synthetic._attacks import (
    Outcome,
    SyntheticAttack,
    copies,
    inference,
    linkability,
    membership,
    singling_out,
)
from crypsis.synthetic._columns import FileColumn, compared_columns, records
from crypsis.synthetic._neighbors import Neighbors, nearest

_CONFIDENCE = 0.95
"""Of all attacks together: each has its part of what may be missed."""
_MIN_TARGETS = 20
"""Fewer targets, or records of the training data and the holdout, are refused."""
_MAX_PREDICATES = 1_000
"""Predicates of synthetic records that are tried."""
_MAX_PREDICATE_ROWS = 50_000
"""Synthetic records of which predicates are made; of more a sample is drawn."""
_MAX_DISTANCES = 50_000_000
"""Distances that are computed in all; for large files fewer targets are attacked."""
_MAX_COLUMN_SETS = 15
"""Each distance is computed over up to so many sets of columns; over more, fewer are computed."""
_DISTANCE_OFFSET = 1e-3
"""Added to distances, as a part of the spread of a column, so that equal records have a ratio."""
_MAX_REPEATED_SHARE = 0.01
"""By more repeated records than this share the holdout has people of the training data."""
_MIN_P_VALUE = 1e-4
"""Below this, divided among the columns, the holdout is of another population."""
_RARE_P_VALUE = 0.001
"""The probability below which so many training records above all others are no chance."""


class SyntheticRisk(Result, eq=False):
    """The attacks on the training records of a synthetic file.

    All intervals together have the confidence of 95 % (Bonferroni), so the worst of the attacks can
    be compared with a limit.
    """

    records: int
    training_records: int
    holdout_records: int | None
    columns: tuple[str, ...]
    """The columns that all files have."""
    attacks: tuple[SyntheticAttack, ...]
    unusual_records: int | None
    """The training records that a synthetic record is nearer to than to any record of the control
    group: the worst cases ..."""
    unusual_by_chance: int | None
    """... and the number that chance reaches once in a thousand files without any leak."""
    problems: tuple[str, ...]
    """Why the holdout cannot be a control group; empty if it can."""
    rows: NDArray[np.int64] = raw()
    """The training records that were attacked ..."""
    p_values: NDArray[np.float64] | None = raw()
    """... and how unusual each of them is: the share of the control group that is as near."""

    def worst(self, name: str) -> SyntheticAttack | None:
        """The attack of that name with the largest advantage, or success without a holdout."""
        mine = [attack for attack in self.attacks if attack.name == name]
        return max(mine, key=lambda attack: float(attack.advantage or attack.success), default=None)


@takes_roles(without=DESIGN)
def synthetic_risk(
    synthetic: Data,
    original: Data,
    holdout: Data = None,
    *,
    targets: int = 5_000,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> SyntheticRisk:
    """Attack the training data of a synthetic file, beside people who were not in it.

    Parameters
    ----------
    synthetic : Dataset, frame or path
        The synthetic file.
    original : Dataset, frame or path
        The records that its generator was trained on.
    holdout : Dataset, frame or path, optional
        Records of other people of the same population, which the generator never saw. Without them
        the attacks have no control group: that a file leaks can be seen, not that it does not.
    targets : int
        How many records of each group are attacked, at most, and fewer if the files are so large
        that it would take minutes; copies are counted among all.
    seed : int
        The seed of the analysis.
    **roles
        See `crypsis.read`. Sensitive attributes are inferred; without any, up to twelve columns.

    Returns
    -------
    SyntheticRisk

    Raises
    ------
    InputError
        If the files have no column in common, or a group has fewer than 20 records.

    Notes
    -----
    Copies: equal records. Near copies: the distance to the closest synthetic record. Membership: its
    ratio to the distance to the closest record of other people (DOMIAS with nearest neighbors).
    Singling out, linkability and inference are the attacks of Anonymeter. Each record is attacked
    once, so successes never exceed attacks, and the difference to the control group has Newcombe's
    interval, which is right where one of them is 0 or 1. Distances are means over the columns
    (Gower 1971); missing values are a category of their own.

    The cost grows with the targets times the synthetic records.

    References
    ----------
    van Breugel, Sun, Qian and van der Schaar (2023), Membership Inference Attacks against Synthetic
    Data through Overfitting Detection. Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A Unified
    Framework for Quantifying Privacy Risk in Synthetic Data. Newcombe (1998), Interval Estimation
    for the Difference Between Independent Proportions. Yao, Krčo, Ganev and de Montjoye (2025), The
    DCR Delusion: Measuring the Privacy Risk of Synthetic Data.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> draw = np.random.default_rng(0)
    >>> train, other = (pa.table({"a": draw.normal(size=400), "b": draw.normal(size=400)}) for _ in "12")
    >>> found = synthetic_risk(train, train, other)  # a synthetic file that is a copy
    >>> found.worst("copies").advantage.value
    1.0
    """
    if targets < _MIN_TARGETS:
        raise ParameterError(
            f"Parameter 'targets' must be at least {_MIN_TARGETS}; {targets} was given.", parameter="targets"
        )
    dataset, training = as_dataset(synthetic, **roles), as_dataset(original)
    files = [dataset, training, *([] if holdout is None else [as_dataset(holdout)])]
    small = [file for file in files[1:] if file.count < _MIN_TARGETS]
    if small:
        raise ParameterError(
            f"The training data and the holdout need at least {_MIN_TARGETS} records; "
            f"{small[0].count} were given.",
            parameter="original" if small[0] is training else "holdout",
        )
    columns = compared_columns(files)
    draw = np.random.default_rng(seed)
    largest = max(file.count for file in (dataset, *files[2:]))
    attributes = _inferred_attributes(dataset, columns)
    sets = max(1.0, (len(attributes) + 3) / _MAX_COLUMN_SETS)
    most = min(targets, max(_MIN_TARGETS, int(_MAX_DISTANCES / largest / sets)))
    chosen = [np.sort(draw.permutation(file.count)[:most]) for file in files[1:]]
    keys = records(columns)
    attack_outcomes = [copies(keys)]
    outcomes, values = _nearest_attacks(attributes, columns, chosen, seed)
    predicate_rows = [draw.permutation(file.count) for file in files[1:]]
    single = singling_out(
        _fewer(columns, draw),
        predicate_rows[0],
        predicate_rows[1] if holdout is not None else None,
        seed,
        _MAX_PREDICATES,
    )
    attack_outcomes += [*outcomes, *([] if single is None else [single])]
    confidence = 1 - (1 - _CONFIDENCE) / len(attack_outcomes)
    return SyntheticRisk(
        dataset.count,
        training.count,
        None if holdout is None else files[2].count,
        tuple(column.name for column in columns),
        tuple(outcome.result(confidence) for outcome in attack_outcomes),
        None if values is None else int((values <= 1 / (1 + chosen[1].size)).sum()),
        None if values is None else _by_chance(chosen[0].size, chosen[1].size),
        () if holdout is None else _problems(columns, keys),
        chosen[0],
        values,
    )


def _by_chance(training: int, control: int) -> int:
    """The smallest number of training records above all of the control group with p < 0.001.

    Without a leak all orders of the scores are equally likely.

    >>> _by_chance(1_000, 1_000), _by_chance(1_000, 100)
    (10, 71)
    """
    likely, count = 1.0, 0
    while likely >= _RARE_P_VALUE and count < training:
        likely *= (training - count) / (training + control - count)
        count += 1
    return count


def _fewer(columns: Sequence[FileColumn], draw: np.random.Generator) -> list[FileColumn]:
    """The columns with at most 50,000 synthetic records, which predicates are made of."""
    size = columns[0].parts[0].size
    rows = draw.permutation(size)[:_MAX_PREDICATE_ROWS] if size > _MAX_PREDICATE_ROWS else None
    if rows is None:
        return list(columns)
    return [
        FileColumn(column.name, column.numeric, (column.parts[0][rows], *column.parts[1:]))
        for column in columns
    ]


def _inferred_attributes(dataset: Dataset, columns: Sequence[FileColumn]) -> list[int]:
    """The columns that the intruder infers from the others: the sensitive attributes, or all."""
    if len(columns) < 2:
        return []
    sensitive = [i for i, column in enumerate(columns) if column.name in dataset.sensitive]
    return sensitive or [*range(len(columns))]


def _nearest_attacks(
    attributes: Sequence[int], columns: Sequence[FileColumn], chosen: Sequence[Ints], seed: int
) -> tuple[list[Outcome], Floats | None]:
    """The attacks by the nearest synthetic record, in one pass over the distances."""
    count = len(columns)
    order = np.random.default_rng(seed).permutation(count)
    sets = np.ones((1 + len(attributes) + 2 * (count > 1), count), bool)
    for position, attribute in enumerate(attributes, 1):
        sets[position, attribute] = False
    if count > 1:
        sets[-2, order[count // 2 :]] = False
        sets[-1, order[: count // 2]] = False
    neighbors = [
        nearest(columns, rows, file, 0, sets, 2 * (count > 1)) for file, rows in enumerate(chosen, 1)
    ]
    training, control = neighbors[0], neighbors[1] if len(neighbors) > 1 else None
    outcomes: list[Outcome] = []
    values = None
    if control is not None:
        reference = [nearest(columns, rows, file, 2, sets[:1]) for file, rows in enumerate(chosen, 1)]
        outcomes, values = _membership(neighbors, reference, seed)
    if count > 1:
        outcomes.append(linkability(training, control))
    for position, attribute in enumerate(attributes, 1):
        sides = [
            (columns[attribute].parts[file][rows], nearest_rows.nearest[position])
            for file, (rows, nearest_rows) in enumerate(zip(chosen, neighbors, strict=True), 1)
        ]
        outcomes.append(inference(columns[attribute], sides[0], sides[1] if len(sides) > 1 else None))
    return outcomes, values


def _membership(
    distances: Sequence[Neighbors], reference: Sequence[Neighbors], seed: int
) -> tuple[list[Outcome], Floats]:
    logs = [np.log(neighbors.distance[0] + _DISTANCE_OFFSET) for neighbors in distances]
    ratios = [
        np.log(nearest_rows.distance[0] + _DISTANCE_OFFSET) - log
        for nearest_rows, log in zip(reference, logs, strict=True)
    ]
    near_copies, _ = membership("near copies", (-logs[0], -logs[1]), seed)
    member, values = membership("membership", (ratios[0], ratios[1]), seed)
    return [near_copies, member], values


def _problems(columns: Sequence[FileColumn], keys: Sequence[Ints]) -> tuple[str, ...]:
    """Whether the holdout has people of the training data, or those of another population."""
    problems = []
    training, holdout = keys[1], keys[2]
    values, counts = np.unique(training, return_counts=True)
    again = np.isin(training, values[counts > 1])
    repeated = np.isin(holdout, training)
    excess = difference_of(
        share_of(int(repeated.sum()), repeated.size), share_of(int(again.sum()), again.size)
    )
    if excess.low > _MAX_REPEATED_SHARE:
        problems.append(
            f"{int(repeated.sum()):,} of {repeated.size:,} records of the holdout are in the training "
            "data, so it cannot be a control group."
        )
    unlike = [column.name for column in columns if _differ(column) < _MIN_P_VALUE / len(columns)]
    if unlike:
        names = ", ".join(map(repr, unlike[:6]))
        problems.append(
            f"The holdout differs from the training data in {names}: it is not of the same population."
        )
    return tuple(problems)


def _differ(column: FileColumn) -> float:
    """The p-value of the hypothesis that training data and holdout have the same distribution."""
    training, holdout = column.parts[1], column.parts[2]
    if column.numeric:
        first, second = (part[np.isfinite(part)] for part in (training, holdout))
        return float(stats.ks_2samp(first, second).pvalue) if first.size and second.size else 1.0
    values, places = np.unique(np.concatenate([training, holdout]), return_inverse=True)
    sides = np.repeat([0, 1], [training.size, holdout.size])
    table = np.zeros((2, values.size))
    np.add.at(table, (sides, places), 1)
    frequent = table.sum(axis=0) >= 10
    grouped = np.column_stack([table[:, frequent], table[:, ~frequent].sum(axis=1)])
    grouped = grouped[:, grouped.sum(axis=0) > 0]
    return float(stats.chi2_contingency(grouped).pvalue) if grouped.shape[1] > 1 else 1.0
