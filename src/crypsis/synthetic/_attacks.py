"""Attacks on the people behind a synthetic file, each also on people who are not behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.counting.proportions import difference_of, share_of
from crypsis.results import Estimate, Result
from crypsis.synthetic._columns import FileColumn
from crypsis.synthetic._neighbors import Neighbors

_MAX_FALSE_SHARE = 0.1
"""The largest share of the control group that is taken for training records."""
_MAX_TRIALS = 4
"""Sets of columns that are tried for each record."""
_MAX_DEVIATION = 0.05
"""A number is inferred if the guess is within this part of its spread."""


class SyntheticAttack(Result):
    """An attack on training records, beside the same attack on the control group.

    The advantage is what the training of the generator adds to the attack: everything that can be
    known of people who are not in the training data is statistics, not disclosure.
    """

    name: str
    """copies, near copies, membership, singling out, linkability or inference."""
    knows: str
    """What the intruder knows of a person."""
    tries: str
    """What the intruder tries."""
    column: str | None
    """The column that is inferred."""
    targets: int
    success: Estimate
    """The share of attacks on training records that succeed."""
    control: Estimate | None
    """The same against the control group; None without a holdout."""
    baseline: float
    """The share by chance, without the synthetic file."""
    advantage: Estimate | None
    """Success minus control, with the interval of both."""


@dataclass(frozen=True)
class Outcome:
    """Which attacks on the training records and on the control group succeeded."""

    name: str
    knows: str
    tries: str
    training: Flags
    control: Flags | None
    baseline: float = 0.0
    column: str | None = None

    def result(self, confidence: float) -> SyntheticAttack:
        """The shares with their intervals at this confidence."""
        success = share_of(int(self.training.sum()), self.training.size, confidence)
        control = advantage = None
        if self.control is not None:
            control = share_of(int(self.control.sum()), self.control.size, confidence)
            advantage = difference_of(success, control)
        return SyntheticAttack(
            self.name,
            self.knows,
            self.tries,
            self.column,
            self.training.size,
            success,
            control,
            self.baseline,
            advantage,
        )


def copies(keys: Sequence[Ints]) -> Outcome:
    """Records of which an equal one is in the synthetic file.

    Without a holdout the control group are the synthetic records themselves: a record drawn from
    the generator has an equal one as often as one of the synthetic records has.
    """
    synthetic = keys[0]
    values, counts = np.unique(synthetic, return_counts=True)
    control = np.isin(synthetic, values[counts > 1]) if len(keys) < 3 else np.isin(keys[2], synthetic)
    return Outcome(
        "copies",
        "the complete record of a person",
        "finds an equal synthetic record",
        np.isin(keys[1], synthetic),
        control,
    )


def membership(name: str, scores: tuple[Floats, Floats], seed: int) -> tuple[Outcome, Floats]:
    """Whether people were in the training data, by a score; also the p-value of each record.

    The threshold that separates both groups best is found on one half of them and tried on the
    other half, and the other way round.
    """
    draw = np.random.default_rng(seed)
    halves = [draw.permutation(score.size) % 2 for score in scores]
    decided = [np.zeros(score.size, bool) for score in scores]
    for half in (0, 1):
        fitted_scores = [score[part != half] for score, part in zip(scores, halves, strict=True)]
        threshold = _threshold(*fitted_scores)
        for group_scores, part, answer in zip(scores, halves, decided, strict=True):
            answer[part == half] = group_scores[part == half] >= threshold
    control = np.sort(scores[1])
    above = control.size - np.searchsorted(control, scores[0], side="left")
    values = (1 + above) / (1 + control.size)
    ways = {
        "near copies": "tests whether a synthetic record is unusually near",
        "membership": "compares the density of synthetic records with that of other people",
    }
    knows = "the complete record of a person"
    return Outcome(name, knows, ways[name], decided[0], decided[1]), values


def _threshold(training: Floats, control: Floats) -> float:
    """The score from which the excess of training records is the most standard errors.

    Few of the control group may have it: an intruder who is wrong about many has learned little of
    anybody (Carlini et al. 2022, Membership Inference Attacks From First Principles).
    """
    thresholds = np.unique(np.concatenate([training, control]))
    here = 1 - np.searchsorted(np.sort(training), thresholds, side="left") / training.size
    control_share = 1 - np.searchsorted(np.sort(control), thresholds, side="left") / control.size
    both = (here * training.size + control_share * control.size) / (training.size + control.size)
    spread = np.maximum(both * (1 - both), 0.25 / thresholds.size) * (1 / training.size + 1 / control.size)
    excess = np.where(control_share <= _MAX_FALSE_SHARE, (here - control_share) / np.sqrt(spread), -np.inf)
    return float(thresholds[np.argmax(excess)]) if np.isfinite(excess).any() else float("inf")


def linkability(training: Neighbors, control: Neighbors | None) -> Outcome:
    """Two halves of a record that are near to the same synthetic record."""

    def linked(neighbors: Neighbors) -> Flags:
        first, second = neighbors.closest
        return np.asarray((first[:, :, None] == second[:, None, :]).any(axis=(1, 2)))

    return Outcome(
        "linkability",
        "the two halves of a record, each from another file,",
        "links them by a synthetic record that is near to both",
        linked(training),
        None if control is None else linked(control),
    )


def inference(
    column: FileColumn, training: tuple[Floats, Ints], control: tuple[Floats, Ints] | None
) -> Outcome:
    """The value of a column guessed from the nearest synthetic record in all other columns."""
    synthetic = column.parts[0]

    def right(neighbors: tuple[Floats, Ints]) -> Flags:
        values, nearest = neighbors
        guess = synthetic[nearest]
        if not column.numeric:
            return np.asarray(values == guess)
        both = np.isnan(values) & np.isnan(guess)
        return np.asarray((np.abs(values - guess) <= _MAX_DEVIATION) | both)

    draw = np.random.default_rng(0).integers(0, synthetic.size, training[0].size)
    return Outcome(
        "inference",
        f"all of a record but {column.name!r}",
        f"takes {column.name!r} of the nearest synthetic record",
        right(training),
        None if control is None else right(control),
        float(right((training[0], draw)).mean()),
        column.name,
    )


def singling_out(
    columns: Sequence[FileColumn], training: Ints, control: Ints | None, seed: int, tries: int
) -> Outcome | None:
    """Predicates that single out one synthetic record, tried on both groups of the same size.

    Giomi et al. (2023): a category is equal, a number is at most or at least that of a synthetic
    record, in three to six columns.
    """
    draw = np.random.default_rng(seed)
    size = training.size if control is None else min(training.size, control.size)
    groups = [training[:size], *([] if control is None else [control[:size]])]
    middle = [float(np.nanmedian(column.parts[0])) if column.numeric else 0.0 for column in columns]
    outcomes: list[list[bool]] = [[] for _ in groups]
    # One predicate of each synthetic record: those of one record would succeed together.
    for row in draw.permutation(columns[0].parts[0].size)[: 4 * tries].tolist():
        chosen = _unique_predicate(columns, row, middle, draw)
        if chosen is None:
            continue
        for position, rows in enumerate(groups):
            matching = _matching(columns, chosen, row, position + 1, rows, middle)
            outcomes[position].append(matching == 1)
        if len(outcomes[0]) >= tries:
            break
    if len(outcomes[0]) < 10:
        return None
    masks = [np.array(outcome, bool) for outcome in outcomes]
    return Outcome(
        "singling out",
        "the synthetic file",
        "finds values that only one person has",
        masks[0],
        masks[1] if len(masks) > 1 else None,
    )


def _unique_predicate(
    columns: Sequence[FileColumn], row: int, middle: Sequence[float], draw: np.random.Generator
) -> tuple[int, ...] | None:
    """Columns in which a synthetic record is singled out among all of them, if a few trials find any."""
    for _ in range(_MAX_TRIALS):
        count = int(draw.integers(min(3, len(columns)), min(6, len(columns)) + 1))
        chosen = tuple(sorted(draw.choice(len(columns), count, replace=False).tolist()))
        if _matching(columns, chosen, row, 0, None, middle) == 1:
            return chosen
    return None


def _matching(
    columns: Sequence[FileColumn],
    chosen: Sequence[int],
    row: int,
    file: int,
    rows: Ints | None,
    middle: Sequence[float],
) -> int:
    """How many records of a file meet the predicate of a synthetic record."""
    matched: Flags | None = None
    for c in chosen:
        column = columns[c]
        value, values = (
            column.parts[0][row],
            column.parts[file] if rows is None else column.parts[file][rows],
        )
        if not column.numeric:
            fit = values == value
        elif np.isnan(value):
            fit = np.isnan(values)
        else:
            fit = values >= value if value > middle[c] else values <= value
        matched = fit if matched is None else matched & fit
    return 0 if matched is None else int(matched.sum())
