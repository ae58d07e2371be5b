"""One shape for every attack: correct links, precision at the intruder's own confidence, chance."""

from __future__ import annotations

import numpy as np

from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage._search import share
from crypsis.linkage.suite._candidates import Candidates
from crypsis.linkage.suite._files import Files
from crypsis.results import Estimate, Result, percent_text, raw
from crypsis.scientific import optimize

CONFIDENT_PROBABILITY = 0.9
"""The probability from which an intruder is called confident of a link."""
_MAX_LEARNED_TARGETS = 3_000
"""Known matches of a half that the probabilities are learned from."""


class LinkAttack(Result, eq=False):
    """The links of one intruder.

    `records` are the original records that were attacked (a sample, if there are more), and
    `correct_share` is the expected share of correct links when one of the equally likely masked
    records is chosen at random; `chance` is that of a random guess. Where the original says whose records
    these are, a link to any record of the person is correct, and each person counts once. `true_matches`,
    `multiple_matches` and `false_matches` are those of `Link`. `confident_links` are those that the
    intruder gives a probability of at least 0.9, learned from other records than those that are
    linked, and `precision` is the share of them that is correct. What depends on the true matches is
    None where they are unknown.
    """

    method: str
    columns: tuple[str, ...]
    records: int
    masked_records: int
    true_matches: int | None
    multiple_matches: int
    false_matches: int | None
    correct_share: Estimate | None
    chance: float
    confident_links: int | None
    precision: Estimate | None
    confidence: Floats | None = raw()
    people: int | None = None
    """The people of these records, where the original says whose they are; shares are theirs then."""

    @classmethod
    def of_links(
        cls,
        method: str,
        columns: tuple[str, ...],
        partners: Ints,
        confidence: Floats,
        masked_rows: Ints | None,
        masked_records: int,
    ) -> LinkAttack:
        """The attack of an intruder who links each record to one masked record, with a confidence.

        A record that is not linked has the partner -1.
        """
        right = None if masked_rows is None else (partners == masked_rows) & (partners >= 0)
        sure = confidence >= CONFIDENT_PROBABILITY
        records, hits = len(partners), 0 if right is None else int(right.sum())
        return cls(
            method=method,
            columns=columns,
            records=records,
            masked_records=masked_records,
            true_matches=None if right is None else hits,
            multiple_matches=0,
            false_matches=None if right is None else records - hits,
            correct_share=None if right is None else share(hits, records),
            chance=1.0 / max(records, masked_records),
            confident_links=int(sure.sum()),
            precision=None
            if right is None or not sure.any()
            else share(int(right[sure].sum()), int(sure.sum())),
            confidence=confidence,
        )

    def __str__(self) -> str:
        correct = "unknown" if self.correct_share is None else percent_text(self.correct_share)
        text = f"{self.method}: correct links {correct}; by chance {percent_text(self.chance)}"
        if self.precision is not None:
            text += f"; {self.confident_links:,} confident, {percent_text(self.precision)} correct"
        return text


def attack(
    method: str,
    files: Files,
    pairs: Candidates,
    score: Floats,
    *,
    columns: tuple[str, ...] | None = None,
    target_subset: Ints | None = None,
) -> LinkAttack:
    """Link each target to the candidate with the highest score, of the targets `target_subset` if given."""
    best = pairs.best(score)
    top = score >= best[pairs.target] - 1e-9 * np.abs(best[pairs.target])
    size = files.sizes[pairs.place] * top
    tied = pairs.total(size.astype(np.float64))
    hit = None
    if files.own is not None:
        hit = pairs.total(top * files.of_target(pairs.target, pairs.place)) / tied
    confidence = None if hit is None else _confidence(files, pairs, score, best)
    return _counted(method, files, hit, tied, confidence, columns, target_subset)


def linked(method: str, files: Files, partner: Ints, *, columns: tuple[str, ...] | None = None) -> LinkAttack:
    """The attack of an intruder who links each target to one place (-1: to none)."""
    hit = None
    tied = np.where(partner >= 0, files.sizes[partner], 1).astype(np.float64)
    if files.own is not None:
        hit = files.of_target(np.arange(len(partner)), partner) / tied
    return _counted(method, files, hit, tied, None, columns, None)


def _counted(
    method: str,
    files: Files,
    hit: Floats | None,
    tied: Floats,
    confidence: Floats | None,
    columns: tuple[str, ...] | None,
    target_subset: Ints | None,
) -> LinkAttack:
    if target_subset is not None:
        tied = tied[target_subset]
        hit = None if hit is None else hit[target_subset]
        confidence = None if confidence is None else confidence[target_subset]
    by_unit = hit if hit is None or target_subset is not None else files.by_unit(hit)
    single = tied == 1
    sure = None if confidence is None else confidence >= CONFIDENT_PROBABILITY
    return LinkAttack(
        method=method,
        columns=columns or tuple(field.name for field in files.fields),
        records=len(tied),
        masked_records=files.masked,
        true_matches=None if hit is None else int((single & (hit > 0)).sum()),
        multiple_matches=int((~single).sum()),
        false_matches=None if hit is None else int((single & (hit == 0)).sum()),
        correct_share=None if by_unit is None else share(float(by_unit.sum()), len(by_unit)),
        chance=files.chance,
        confident_links=None if sure is None else int(sure.sum()),
        precision=None
        if sure is None or hit is None or not sure.any()
        else share(float(hit[sure].sum()), int(sure.sum())),
        confidence=confidence,
        people=None if by_unit is None or files.people is None or target_subset is not None else len(by_unit),
    )


def _confidence(files: Files, pairs: Candidates, score: Floats, best: Floats) -> Floats:
    """The probability that the intruder gives to each link: scores scaled on the other half.

    A conditional logit of two numbers: how much a score counts, and the weight of records that are
    not candidates.
    """
    below = np.maximum(score - best[pairs.target], -1e6)
    spread = float(np.median(-below[below < 0])) if (below < 0).any() else 1.0
    below = below / (spread or 1.0)
    confidences = np.zeros(len(files.targets))
    size = files.sizes[pairs.place].astype(np.float64)
    assert files.own is not None  # noqa: S101 - asked by the caller
    mine = pairs.place == files.own[pairs.target]
    for half in (0, 1):
        learn = files.known[files.fold[files.known] != half][:_MAX_LEARNED_TARGETS]
        test = np.flatnonzero(files.fold == half)
        if len(learn) < 10:
            return confidences
        factor, outside = _logit(pairs, below, size, mine, learn)
        total = pairs.total(size * np.exp(factor * below)) + np.exp(outside)
        confidences[test] = 1.0 / total[test]
    return confidences


def _logit(
    pairs: Candidates, below: Floats, size: Floats, mine: np.ndarray, learn: Ints
) -> tuple[float, float]:
    chosen = np.zeros(len(pairs.start) - 1, bool)
    chosen[learn] = True
    here = chosen[pairs.target]
    target = (np.cumsum(chosen) - 1)[pairs.target[here]]
    count, value, weight, matched = len(learn), below[here], size[here], mine[here]
    among = np.zeros(count, bool)
    among[target[matched]] = True
    own_value = np.zeros(count)
    own_value[target[matched]] = value[matched]

    def loss(both: Floats) -> tuple[float, Floats]:
        factor, outside = np.exp(both[0]), both[1]
        each = weight * np.exp(factor * value)
        total = np.bincount(target, each, minlength=count) + np.exp(outside)
        slope = np.bincount(target, each * value, minlength=count) / total
        beyond = np.exp(outside) / total
        lost = np.log(total).sum() - factor * own_value[among].sum() - outside * (~among).sum()
        first = factor * (slope.sum() - own_value[among].sum())
        return float(lost), np.array([first, beyond.sum() - (~among).sum()])

    fitted = optimize.minimize(
        loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(-12.0, 12.0), (-20.0, 30.0)]
    )
    return float(np.exp(fitted.x[0])), float(fitted.x[1])
