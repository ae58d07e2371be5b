"""The evidence about one column: its name, its kind, its tally, and a sample of its values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.arrays import numbers, truths
from crypsis.engine.base import Column, Kind, Tally
from crypsis.release import Role
from crypsis.roles._names import NameEvidence, said_by
from crypsis.roles._patterns import FLAGS, GIVEN_NAMES, NAMED, PATTERNS, VOCABULARIES, Pattern
from crypsis.roles._words import Hipaa, Sign

_LONGEST_TEXT = 4_000
_SOME_SHARE, _SOME_VALUES = 0.02, 3
_NO_GAPS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]{4}"
_TWO_NAMES = r"^\p{Lu}[\p{L}'’-]+(,? \p{Lu}[\p{L}'’.-]*){1,3}$"


@dataclass(frozen=True)
class Look:
    """How many of the sampled values look like something."""

    sign: Sign
    share: float
    whole: bool
    """Whether enough match to call the column so, not just some."""


class Evidence:
    """What is known of a column without having looked at all its values.

    The sample is held as distinct texts with their counts, so that a pattern runs once over each.
    """

    def __init__(self, column: Column, tally: Tally, sample: pa.ChunkedArray) -> None:
        self.column, self.tally = column, tally
        self.name: NameEvidence = said_by(column.name)
        self.filled = tally.rows - tally.missing
        self.distinct = tally.distinct - (tally.missing > 0)
        self.numbers = _numbers(sample, column.kind)
        self.values, self.counts = _counted(_texts(sample, column.kind, self.whole_numbers))

    @property
    def kind(self) -> Kind:
        """The kind of the column."""
        return self.column.kind

    @cached_property
    def whole_numbers(self) -> bool:
        """Whether it holds integers, whatever their type."""
        if self.kind is Kind.INTEGER:
            return True
        return self.kind is Kind.NUMBER and bool(np.all(self.numbers % 1 == 0))

    @property
    def fractions(self) -> bool:
        """Whether it holds numbers that are not all whole."""
        return self.kind is Kind.NUMBER and not self.whole_numbers

    @property
    def distinct_share(self) -> float:
        """The number of different values for each value there is."""
        return self.distinct / max(1, self.filled)

    @property
    def unique(self) -> bool:
        """Whether no value is there twice."""
        return self.distinct == self.filled

    @property
    def constant(self) -> bool:
        """Whether all rows hold the same, or nothing."""
        return self.tally.distinct <= 1 and self.tally.rows > 1

    def share(self, mask: np.ndarray) -> float:
        """The share of the sampled values that a mask over the distinct ones selects."""
        return float(self.counts[mask].sum() / max(1, self.counts.sum()))

    def share_like(self, regex: str, *, ignore_case: bool = True) -> float:
        """The share of the sampled values that match."""
        found = pc.match_substring_regex(self.values, regex, ignore_case=ignore_case)
        return self.share(truths(found))

    @cached_property
    def flags(self) -> bool:
        """Whether it says no more than yes or no."""
        if self.kind is Kind.BOOLEAN:
            return True
        return self.distinct <= 3 and len(self.values) > 0 and self._share_in(FLAGS) == 1

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """The patterns and vocabularies that some of the values fit, the best first."""
        fitting: dict[Sign, list[tuple[Pattern, np.ndarray]]] = {}
        for pattern in PATTERNS:
            mask = pattern.matches(self.values)
            if mask.any():
                fitting.setdefault(pattern.sign, []).append((pattern, mask))
        found = [look for sign, fits in fitting.items() if (look := self._together(sign, fits))]
        if not self.whole_numbers:
            for sign, words, least in VOCABULARIES:
                share = self._share_in(words)
                if share >= 0.9 and self.distinct >= least:
                    found.append(Look(sign, share, True))
        return tuple(sorted(found, key=_rank, reverse=True))

    def _together(self, sign: Sign, fits: list[tuple[Pattern, np.ndarray]]) -> Look | None:
        """Several spellings of one thing (dates in two formats) count together."""
        least = min(pattern.share for pattern, _ in fits)
        any_of = np.logical_or.reduce([mask for _, mask in fits])
        share, seen = self.share(any_of), int(any_of.sum())
        # A tiny table cannot show many different values; all of its own will do.
        wanted = min(min(pattern.distinct for pattern, _ in fits), len(self.values))
        alone = any(self.share(mask) >= pattern.share for pattern, mask in fits)
        whole = seen >= wanted and (alone or share >= max(0.6, least))
        some = share >= _SOME_SHARE and seen >= _SOME_VALUES and least <= 0.5 and wanted == 1
        return Look(sign, share, whole) if whole or some else None

    def look(self, *roles: Role, whole: bool = True) -> Look | None:
        """The best of the looks with one of these roles."""
        fit = (look for look in self.looks if look.sign.role in roles and look.whole >= whole)
        return next(fit, None)

    def fits(self, hipaa: Hipaa) -> float | None:
        """The share of values with the plain shape of an identifier that the name already says."""
        regex = NAMED.get(hipaa)
        known = [look.share for look in self.looks if look.sign.hipaa is hipaa]
        if regex is None or not len(self.values):
            return max(known, default=None)
        return max([self.share_like(rf"^(?:{regex})$"), *known])

    @cached_property
    def people(self) -> float:
        """How much the values look like names of people, from 0 to 1."""
        if self.kind is not Kind.TEXT or self.distinct < 5:
            return 0.0
        first = pc.replace_substring_regex(self.values, r"^([\p{L}'’-]+).*$", r"\1")
        after = pc.replace_substring_regex(self.values, r"^[^,]+, *([\p{L}'’-]+).*$", r"\1")
        known = [pc.is_in(pc.utf8_lower(part), GIVEN_NAMES) for part in (first, after)]
        given = self.share(truths(pc.or_(*known)))
        if given >= 0.25:
            return min(0.9, 0.6 + given / 2)
        shaped = self.share_like(_TWO_NAMES, ignore_case=False)
        return 0.5 if shaped >= 0.8 and self.distinct_share >= 0.3 and self.filled >= 20 else 0.0

    @cached_property
    def words(self) -> float:
        """The mean number of words of a text."""
        if self.kind is not Kind.TEXT or not len(self.values):
            return 0.0
        spaces = numbers(pc.count_substring_regex(self.values, r"\s+"))
        return float(np.average(spaces + 1, weights=self.counts))

    @cached_property
    def length(self) -> float:
        """The mean number of characters of a text."""
        if self.kind is not Kind.TEXT or not len(self.values):
            return 0.0
        lengths = numbers(pc.utf8_length(self.values))
        return float(np.average(lengths, weights=self.counts))

    @property
    def free_text(self) -> bool:
        """Whether somebody wrote it in words of their own: long, many words, mostly different."""
        varied = self.distinct_share >= 0.3 or self.distinct >= 1_000
        long = (self.words >= 6 and self.length >= 30) or (self.words >= 3 and self.length >= 100)
        # Scripts without gaps between words.
        long = long or (self.length >= 20 and self.share_like(_NO_GAPS) >= 0.5)
        named = self.name.prose and self.words >= 2 and self.distinct_share >= 0.5
        return self.kind is Kind.TEXT and varied and (long or named)

    def _share_in(self, words: pa.Array) -> float:
        mask = pc.is_in(pc.utf8_lower(self.values), words)
        return self.share(truths(mask))


def _rank(look: Look) -> tuple[bool, float, float]:
    return (look.whole, look.sign.confidence * look.share, look.share)


def _numbers(sample: pa.ChunkedArray, kind: Kind) -> np.ndarray:
    if kind not in (Kind.INTEGER, Kind.NUMBER):
        return np.empty(0)
    found = numbers(sample.drop_null().cast(pa.float64(), safe=False))
    finite: np.ndarray = found[np.isfinite(found)]
    return finite


def _texts(sample: pa.ChunkedArray, kind: Kind, whole: bool) -> pa.ChunkedArray:
    """The values as texts; fractions, dates and truth values have no pattern to look for."""
    column = sample.drop_null()
    if kind is Kind.TEXT:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        column = pc.utf8_slice_codeunits(column.cast(pa.string()), 0, _LONGEST_TEXT)
        column = pc.utf8_trim_whitespace(column)
        return column.filter(pc.match_substring_regex(column, "(?s)."))  # not empty
    if kind is Kind.NUMBER and whole and len(column):
        column = column.cast(pa.float64(), safe=False)
        column = column.filter(pc.less(pc.abs(column), 2.0**53)).cast(pa.int64())
    elif kind is not Kind.INTEGER:
        return pa.chunked_array([pa.array([], pa.string())])
    return column.cast(pa.string())


def _counted(texts: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    table = pc.value_counts(texts.combine_chunks())
    values, counts = table.field("values"), table.field("counts")
    return values, numbers(counts)
