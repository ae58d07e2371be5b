"""Findings about what an intruder knows besides the quasi-identifiers: which columns to exclude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crypsis import inference, singling_out
from crypsis.assessment._questions import NEAR_CERTAIN, SMALL, as_known, known_insensitive
from crypsis.assessment._request import Request
from crypsis.columns.codes import codes_of, mode_of_others
from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.policies.findings import Finding, Remedy
from crypsis.report.wording import named, number
from crypsis.tables import Kind
from crypsis.tables.sampling import sample

_MAX_COLUMNS = 60
"""So many columns, the first, are tried; of sets of columns the others are excluded."""
_MODEL_RECORDS = 3_000
"""So many records a model learns from that tries which columns must go."""
_SINGLE_TRIALS = 4
"""So many columns are excluded one after the other, those that say most first; then all of them."""
_TEXT = (
    "Exclude these columns, generalize them as quasi-identifiers, or write with their roles why "
    "an intruder cannot know them."
)
_NOT_ENOUGH = ", threshold exceeded: generalize the quasi-identifiers too"


def about_released_columns(finding: Finding, data: Dataset) -> bool:
    """Whether a value is near-certain only with columns besides the quasi-identifiers."""
    candidates = set(finding.columns[1:])
    return finding.measure == NEAR_CERTAIN and bool(candidates) and candidates <= {*known_insensitive(data)}


def released_columns_remedy(finding: Finding, request: Request, *, tried: bool) -> Remedy:
    """The columns without which the threshold is met, tried if there is time."""
    predicted = finding.measure == "inference.prediction_gain"
    small, certain = finding.measure == SMALL, finding.measure == NEAR_CERTAIN
    insensitive = small or certain
    candidates = list(known_insensitive(request.data)) if insensitive else other_columns(request.data)
    if predicted:
        candidates = [name for name in candidates if name != finding.columns[0]]
    remedy = Remedy("exclude_columns", _TEXT, {"columns": tuple(candidates)})
    if not candidates:
        return Remedy("none", "Generalize the quasi-identifiers.", {})
    if not tried:
        return replace(remedy, outcome=_sentence(tuple(candidates), None))
    try:
        if predicted:
            columns, after = _without_prediction(finding, request.data, candidates, request.seed)
        elif certain:
            columns, after = _without_certainty(finding, request.data, candidates)
        else:
            size = (finding.k or 2) if small else 2
            columns, after = _without_small_classes(
                finding.threshold, request.data, candidates, request.seed, size
            )
    except (InputError, TooLargeError):
        return replace(remedy, outcome=_sentence(tuple(candidates), None))
    met = after <= finding.threshold
    text = _sentence(columns, number(after, finding.unit) + ("" if met else _NOT_ENOUGH))
    parameters = {"columns": columns}
    return replace(remedy, parameters=parameters, tried=True, value_after=after, outcome=text)


def _sentence(columns: tuple[str, ...], after: str | None) -> str:
    is_single = len(columns) == 1
    them, role = ("it", "a quasi-identifier") if is_single else ("them", "quasi-identifiers")
    text = (
        f"Exclude {named(columns)}, generalize {them} as {role}, or write with the role "
        f"why an intruder cannot know {them}."
    )
    return text if after is None else f"{text} Tried: without {them} the value becomes {after}."


def identifying_columns(
    data: Dataset, threshold: float, seed: int, size: int | None = None
) -> tuple[str, ...]:
    """Columns besides the quasi-identifiers without which few records are unique.

    With a size: the insensitive ones without which few are in smaller classes.
    """
    candidates = other_columns(data) if size is None else list(known_insensitive(data))
    if not candidates:
        return ()
    return _without_small_classes(threshold, data, candidates, seed, size or 2)[0]


def columns_unique_alone(data: Dataset, threshold: float) -> tuple[str, ...]:
    """Columns besides the quasi-identifiers on which alone more records are unique."""
    unique_columns = []
    for name in other_columns(data)[:_MAX_COLUMNS]:
        counts = data.cells([name]).counts
        if counts.size and float((counts == 1).sum() / counts.sum()) > threshold:
            unique_columns.append(name)
    return tuple(unique_columns)


def other_columns(data: Dataset) -> list[str]:
    """What an intruder may know besides the quasi-identifiers; not the only sensitive attribute."""
    sought = data.sensitive if len(data.sensitive) == 1 else ()
    return [
        name
        for name in data.knowable
        if name not in data.quasi_identifiers
        and name not in sought
        and data.rows.column(name).kind is not Kind.NESTED
    ]


def _without_small_classes(
    threshold: float, data: Dataset, candidates: list[str], seed: int, size: int
) -> tuple[tuple[str, ...], float]:
    """Columns are added to the quasi-identifiers, few values first, while the threshold is met."""
    strict = data.strict()
    kept: list[str] = []
    excluded: list[str] = []
    after = 0.0
    if data.quasi_identifiers:
        after = _share_below(strict, data.quasi_identifiers, size, seed)
    distinct = {name: len(strict.cells([name])) for name in candidates[:_MAX_COLUMNS]}
    for name in sorted(distinct, key=lambda column: distinct[column]):
        columns = [*data.quasi_identifiers, *kept, name]
        share = _share_below(strict, columns, size, seed)
        if share <= threshold:
            kept.append(name)
            after = share
        else:
            excluded.append(name)
    return (*excluded, *candidates[_MAX_COLUMNS:]), after


def _share_below(data: Dataset, columns: Sequence[str], size: int, seed: int) -> float:
    return float(singling_out.equivalence_classes(data, columns, seed=seed).share_below(size))


def _without_certainty(
    finding: Finding, data: Dataset, candidates: list[str]
) -> tuple[tuple[str, ...], float]:
    """Columns are added to the quasi-identifiers, few values first, while nothing is near-certain."""
    kept: list[str] = []
    target = finding.columns[0]
    distinct = {name: len(data.cells([name])) for name in candidates}
    for name in sorted(candidates, key=lambda column: distinct[column]):
        if _near_certain(data, target, [*kept, name]) <= finding.threshold:
            kept.append(name)
    excluded = tuple(name for name in candidates if name not in kept)
    return excluded, _near_certain(data, target, kept)


def _near_certain(data: Dataset, target: str, known_columns: Sequence[str]) -> float:
    strict = as_known(data, known_columns)
    if not strict.quasi_identifiers:
        return 0.0
    return float(inference.value_disclosure(strict, baseline=False)[target].near_certain)


def _without_prediction(
    finding: Finding, data: Dataset, candidates: list[str], seed: int
) -> tuple[tuple[str, ...], float]:
    """The columns that say most of the attribute, as many as must go."""
    target = finding.columns[0]
    table = sample(data.rows, _MODEL_RECORDS, seed=seed, names=[target, *candidates])
    target_codes = codes_of(table[target]) + 1
    share = {
        n: (mode_of_others(codes_of(table[n]) + 1, target_codes)[0] == target_codes).mean()
        for n in candidates
    }
    ranked = sorted(candidates, key=lambda name: -share[name])
    count, after = 0, float(finding.value or 0)
    for count in dict.fromkeys([*range(1, min(_SINGLE_TRIALS, len(ranked)) + 1), len(ranked)]):
        known_columns = [name for name in data.knowable if name not in (target, *ranked[:count])]
        (prediction,) = inference.prediction_gain(data, target, known_columns, size=_MODEL_RECORDS, seed=seed)
        after = float(prediction.gain)
        if after <= finding.threshold:
            break
    return tuple(ranked[:count]), after
