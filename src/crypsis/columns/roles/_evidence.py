"""The evidence about one column: its name, its type, its counts and a sample of its values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.columns.roles._identifier_search import Found
from crypsis.columns.roles._patterns import FLAGS, GIVEN_NAMES, PATTERNS, PLAIN_FORMATS, VOCABULARIES, Pattern
from crypsis.columns.roles._person_names import CHINESE, FAMILY, GIVEN, JAPANESE, KOREAN, SHAPED, plain
from crypsis.columns.roles._words import Hipaa, Sign
from crypsis.columns.roles.names import NameEvidence, read_name
from crypsis.counting.arrays import numbers, truths
from crypsis.counting.cells import ColumnSetCounts
from crypsis.options import Role
from crypsis.tables import Column, Kind

_MAX_TEXT_CHARACTERS = 4_000
"""Of longer texts the beginning is examined."""
_MIN_PARTIAL_SHARE = 0.02
"""The least share of values in a format for a column that has it in part."""
_MIN_PARTIAL_VALUES = 3
"""The least number of them."""
_NO_GAPS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]{4}"
_MAX_NAME_VALUES = 1_000
"""In so many values the words are compared with names of people."""
_MAX_NAME_WORDS = 5
"""Texts with more words are not names."""
_MIN_SHARED_NAMES = 5
"""Of fewer different values the share of names says nothing: all of them have to be full names."""


@dataclass(frozen=True)
class Match:
    """The share of the sampled values that match a pattern or a vocabulary."""

    sign: Sign
    share: float
    complete: bool
    """Whether enough values match to recognize the column, not only some."""


class Evidence:
    """What is known of a column from its name, its counts and a sample of its values.

    The sample is kept as distinct texts with their counts, so that a pattern runs once over each.
    """

    def __init__(
        self,
        column: Column,
        classes: ColumnSetCounts,
        sample: pa.ChunkedArray,
        identifiers: Found | None = None,
    ) -> None:
        self.column, self.classes, self.identifiers = column, classes, identifiers
        self.name: NameEvidence = read_name(column.name)
        self.filled = classes.rows - classes.missing
        self.distinct = round(classes.values)
        self.numbers = _numbers(sample, column.kind)
        self.values, self.counts = _counted(_texts(sample, self.kind, self.integers))

    @property
    def kind(self) -> Kind:
        """The type of the column."""
        return self.column.kind

    @cached_property
    def integers(self) -> bool:
        """Whether all values are integers, of any type; durations are measured."""
        if self.kind is Kind.INTEGER:
            return not self.column.duration
        return self.kind is Kind.NUMBER and bool(np.all(self.numbers % 1 == 0))

    @property
    def fractions(self) -> bool:
        """Whether the values are numbers that are not all integers, or durations."""
        return self.kind.numeric and not self.integers

    @property
    def distinct_share(self) -> float:
        """The number of different values divided by the number of values."""
        return self.distinct / max(1, self.filled)

    @property
    def unique(self) -> bool:
        """Whether no value occurs twice."""
        return self.distinct == self.filled

    @property
    def constant(self) -> bool:
        """Whether all rows have the same value, or none."""
        return self.classes.distinct <= 1 and self.classes.rows > 1

    def share(self, mask: np.ndarray) -> float:
        """The share of the sampled values that a mask over the distinct ones selects."""
        return float(self.counts[mask].sum() / max(1, self.counts.sum()))

    def share_like(self, regex: str, *, ignore_case: bool = True) -> float:
        """The share of the sampled values that match."""
        matched = pc.match_substring_regex(self.values, regex, ignore_case=ignore_case)
        return self.share(truths(matched))

    @cached_property
    def flags(self) -> bool:
        """Whether the values are only yes or no."""
        if self.kind is Kind.BOOLEAN:
            return True
        return self.distinct <= 3 and len(self.values) > 0 and self._share_in(FLAGS) == 1

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """The patterns and vocabularies that some of the values match, the best first."""
        fitting: dict[Sign, list[tuple[Pattern, np.ndarray]]] = {}
        for pattern in PATTERNS:
            mask = pattern.matches(self.values)
            if mask.any():
                fitting.setdefault(pattern.sign, []).append((pattern, mask))
        matches = [match for sign, fits in fitting.items() if (match := self._together(sign, fits))]
        if not self.integers:
            for sign, words, least in VOCABULARIES:
                share = self._share_in(words)
                if share >= 0.9 and self.distinct >= least:
                    matches.append(Match(sign, share, True))
        return tuple(sorted(matches, key=_rank, reverse=True))

    def _together(self, sign: Sign, fits: list[tuple[Pattern, np.ndarray]]) -> Match | None:
        """Several formats of one thing, such as dates, are counted together."""
        least = min(pattern.share for pattern, _ in fits)
        any_of = np.logical_or.reduce([mask for _, mask in fits])
        share, seen = self.share(any_of), int(any_of.sum())
        # A tiny table cannot have many different values; then all of them must match.
        wanted = min(min(pattern.distinct for pattern, _ in fits), len(self.values))
        alone = any(self.share(mask) >= pattern.share for pattern, mask in fits)
        complete = seen >= wanted and (alone or share >= max(0.6, least))
        partly = share >= _MIN_PARTIAL_SHARE and seen >= _MIN_PARTIAL_VALUES and least <= 0.5 and wanted == 1
        return Match(sign, share, complete) if complete or partly else None

    def match(self, *roles: Role, complete: bool = True) -> Match | None:
        """The best match with one of these roles."""
        candidates = (m for m in self.matches if m.sign.role in roles and m.complete >= complete)
        return next(candidates, None)

    def fits(self, hipaa: Hipaa) -> float | None:
        """The share of values in the plain format of the identifier that the name indicates."""
        regex = PLAIN_FORMATS.get(hipaa)
        shares = [match.share for match in self.matches if match.sign.hipaa is hipaa]
        if regex is None or not len(self.values):
            return max(shares, default=None)
        return max([self.share_like(rf"^(?:{regex})$"), *shares])

    @cached_property
    def people(self) -> float:
        """The confidence that the values are names of people, from 0 to 1."""
        if self.kind is not Kind.TEXT or self.distinct < 2:
            return 0.0
        if self.distinct < _MIN_SHARED_NAMES:
            return 0.85 if self._full_names else 0.0
        first = pc.replace_substring_regex(self.values, r"^([\p{L}'’-]+).*$", r"\1")
        after = pc.replace_substring_regex(self.values, r"^[^,]+, *([\p{L}'’-]+).*$", r"\1")
        listed_names = [pc.is_in(pc.utf8_lower(part), GIVEN_NAMES) for part in (first, after)]
        share = max(self.share(truths(pc.or_(*listed_names))), self._share_of_names)
        if share >= 0.25:
            return min(0.9, 0.6 + share / 2)
        eastern = max(self.share_like(regex) for regex in (CHINESE, KOREAN, JAPANESE))
        if eastern >= 0.6:
            return 0.85
        shaped = self.share_like(SHAPED, ignore_case=False)
        return 0.5 if shaped >= 0.8 and self.distinct_share >= 0.3 and self.filled >= 20 else 0.0

    @property
    def _full_names(self) -> bool:
        """Whether a few values have two or three words each, and most a name among them."""
        texts = self.values.to_pylist()
        words = [_words(text) for text in texts]
        has_name = [any(word in GIVEN or word in FAMILY for word in words_of_text) for words_of_text in words]
        western = all(2 <= len(word) <= 3 for word in words) and 2 * sum(has_name) > len(has_name)
        long = all(len(text) > 2 for text in texts)
        return western or (long and self.share_like(JAPANESE) == 1)

    @property
    def _share_of_names(self) -> float:
        """The share of values in which a word is a name of a person in some language."""
        listed_names = [
            any(word in GIVEN or word in FAMILY for word in _words(text))
            for text in self.values.slice(0, _MAX_NAME_VALUES).to_pylist()
        ]
        counts = self.counts[: len(listed_names)]
        return float(counts[np.array(listed_names, bool)].sum() / max(1, counts.sum()))

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
        """Whether it is free text: long, many words, mostly different."""
        varied = self.distinct_share >= 0.3 or self.distinct >= 1_000
        long = (self.words >= 6 and self.length >= 30) or (self.words >= 3 and self.length >= 100)
        # Scripts without gaps between words.
        long = long or (self.length >= 20 and self.share_like(_NO_GAPS) >= 0.5)
        named = self.name.prose and self.words >= 2 and self.distinct_share >= 0.5
        # Phrases that are repeated, and one among them that was written for one record.
        phrases = self.name.prose and self.words >= 3 and bool((self.counts == 1).any())
        return self.kind is Kind.TEXT and (phrases or (varied and (long or named)))

    def _share_in(self, words: pa.Array) -> float:
        mask = pc.is_in(pc.utf8_lower(self.values), words)
        return self.share(truths(mask))


def _words(text: str) -> list[str]:
    """The words of a short text, without accents; long ones are not names."""
    words = text.replace(",", " ").replace(".", " ").split()
    return [plain(word) for word in words] if len(words) <= _MAX_NAME_WORDS else []


def _rank(match: Match) -> tuple[bool, float, float]:
    return (match.complete, match.sign.confidence * match.share, match.share)


def _numbers(sample: pa.ChunkedArray, kind: Kind) -> np.ndarray:
    if kind not in (Kind.INTEGER, Kind.NUMBER):
        return np.empty(0)
    converted = numbers(sample.drop_null().cast(pa.float64(), safe=False))
    finite: np.ndarray = converted[np.isfinite(converted)]
    return finite


def _texts(sample: pa.ChunkedArray, kind: Kind, integers: bool) -> pa.ChunkedArray:
    """The values as texts; fractions, dates and truth values have no patterns."""
    column = sample.drop_null()
    if kind is Kind.TEXT:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        column = pc.utf8_slice_codeunits(column.cast(pa.string()), 0, _MAX_TEXT_CHARACTERS)
        column = pc.utf8_trim_whitespace(column)
        return column.filter(pc.match_substring_regex(column, "(?s)."))  # not empty
    if kind is Kind.NUMBER and integers and len(column):
        column = column.cast(pa.float64(), safe=False)
        column = column.filter(pc.less(pc.abs(column), 2.0**53)).cast(pa.int64())
    elif not (kind is Kind.INTEGER and integers):
        return pa.chunked_array([pa.nulls(0, pa.string())])
    return column.cast(pa.string())


def _counted(texts: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    table = pc.value_counts(texts.combine_chunks())
    values, counts = table.field("values"), table.field("counts")
    return values, numbers(counts)
