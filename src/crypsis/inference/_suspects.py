"""Single values that are outliers of their column or resemble errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.counting import arrays
from crypsis.inference.conditional import Conditional
from crypsis.results import Result, raw
from crypsis.tables import Kind

_FENCE_RANGES = 3.0
"""Tukey's outer fences: so many interquartile ranges beyond the quartiles."""
_MAX_UNUSUAL_SHARE = 0.01
"""Where rare values have more of the records together, being rare is not suspect."""
_MIN_NUMERIC_SHARE = 0.95
"""Where so many records have a number as text, any other text is suspect."""
_MIN_TIMES_RARER = 10
"""A spelling is suspect if a similar one is so many times as frequent."""
_MIN_SIMILARITY = 0.8
"""How similar two spellings are at least, as a share of their letters."""
_MAX_SPELLINGS = 2_000
"""Of more texts the spelling is not compared."""
_MAX_SUSPECTS = 20
"""Suspect values of a column that are listed, the rarest first."""
_NUMBER = re.compile(r"\s*[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?\s*")


class SuspectReason(StrEnum):
    """Why a value is suspect."""

    OUTLIER = "outlier"
    MISSPELLED = "misspelled"
    NOT_NUMERIC = "not numeric"
    RARE = "rare"


class SuspectValue(Result):
    """A value of few records that is an outlier or resembles an error."""

    column: str
    reason: SuspectReason
    records: int
    itpr: float
    """The term of these records in ITPR of re-identification from the column."""
    value: Any = raw(default=None)
    probable_value: Any = raw(default=None)
    """The frequent value that was probably meant, where the spelling suggests one."""


def suspects(identity: Conditional, name: str, kind: Kind, rare: int) -> dict[int, SuspectValue]:
    """The suspect values of a column by their place, those of the fewest records first."""
    values = identity.classes.values[0].take(arrays.places(identity.classes.codes[0]))
    counts = identity.sizes
    few = (counts < rare) & arrays.truths(values.is_valid())
    if not few.any():
        return {}
    odd: dict[int, tuple[SuspectReason, Any]] = {}
    if kind.ordered:
        odd.update((int(i), (SuspectReason.OUTLIER, None)) for i in _outliers(values, counts, few))
    elif kind is Kind.TEXT:
        odd.update(_texts(values, counts, few))
    if not kind.ordered and int(counts[few].sum()) <= _MAX_UNUSUAL_SHARE * identity.records:
        for i in np.flatnonzero(few):
            odd.setdefault(int(i), (SuspectReason.RARE, None))
    order = sorted(odd, key=lambda i: (odd[i][0] is SuspectReason.RARE, counts[i], i))
    return {
        i: SuspectValue(
            column=name,
            reason=odd[i][0],
            records=int(counts[i]),
            itpr=float(identity.itprs[i]),
            value=values[i].as_py(),
            probable_value=odd[i][1],
        )
        for i in order[:_MAX_SUSPECTS]
    }


def _outliers(values: pa.Array, counts: NDArray[np.int64], few: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Values beyond Tukey's outer fences; none where half of the records are alike."""
    here = arrays.truths(values.is_valid())
    numbers = np.full(len(values), np.nan)
    numbers[here] = _as_numbers(values.take(arrays.places(np.flatnonzero(here))))
    upto = np.cumsum(counts[here])
    low, high = (numbers[here][np.searchsorted(upto, share * upto[-1])] for share in (0.25, 0.75))
    if not high > low:
        return np.empty(0, np.int64)
    reach = _FENCE_RANGES * (high - low)
    return np.flatnonzero(few & ((numbers < low - reach) | (numbers > high + reach)))


def _as_numbers(values: pa.Array) -> NDArray[np.float64]:
    if pa.types.is_temporal(values.type):
        width = values.type.bit_width
        values = values.view(pa.int64() if width == 64 else pa.int32())
    return arrays.numbers(pc.cast(values, pa.float64(), safe=False))


def _texts(
    values: pa.Array, counts: NDArray[np.int64], few: NDArray[np.bool_]
) -> Iterator[tuple[int, tuple[SuspectReason, Any]]]:
    """Rare texts that are not numeric among numbers, or spelled almost as a frequent one."""
    texts = [text if text is not None else "" for text in values.to_pylist()]
    numeric = np.array([_NUMBER.fullmatch(text) is not None for text in texts])
    if int(counts[numeric].sum()) >= _MIN_NUMERIC_SHARE * int(counts.sum()):
        for i in np.flatnonzero(few & ~numeric):
            yield int(i), (SuspectReason.NOT_NUMERIC, None)
        return
    rare = [int(i) for i in np.flatnonzero(few) if not any(map(str.isdigit, texts[i]))]
    ordered = map(int, np.argsort(-counts, kind="stable"))
    often = [index for index in ordered if texts[index] and counts[index] >= _MIN_TIMES_RARER]
    if not rare or not often or len(often) + len(rare) > _MAX_SPELLINGS:
        return
    plain: dict[str, int] = {}
    for index in often:
        plain.setdefault(_plain(texts[index]), index)
    for index in rare:
        spelling = _plain(texts[index])
        similar = (
            [spelling]
            if spelling in plain
            else get_close_matches(spelling, plain, n=1, cutoff=_MIN_SIMILARITY)
        )
        if similar and counts[plain[similar[0]]] >= _MIN_TIMES_RARER * counts[index]:
            yield index, (SuspectReason.MISSPELLED, texts[plain[similar[0]]])


def _plain(text: str) -> str:
    """A text without capitals, blanks and punctuation."""
    return "".join(filter(str.isalnum, text.casefold()))
