"""Values that mean the same: other spellings, typing errors, other words for yes, codes of one chapter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

_POSITIVE = re.compile(r"(?<=[^\W\d_])[\s(,:_-]*(?:\+|posi?t?i[vf]\w{0,2}|pos)\W*$")
_NEGATIVE = re.compile(r"(?<=[^\W\d_])[\s(,:_]*(?:-|negati[vf]\w{0,2}|neg)\W*$")
_YES = frozenset(
    [
        "yes",
        "y",
        "ja",
        "j",
        "oui",
        "si",
        "sim",
        "tak",
        "true",
        "t",
        "wahr",
        "vrai",
        "x",
        "+",
        "pos",
        "positive",
        "positiv",
        "positif",
        "positivo",
        "present",
        "1",
    ]
)
_CODE = re.compile(r"[a-z]{1,3}\d[a-z\d]*")
_MIN_CODE_SHARE = 0.8
"""Where fewer of the texts are codes, none has prefixes."""
_MAX_PREFIX_LETTERS = 8
"""Prefixes of codes are shorter than this."""
_MIN_WORD_LETTERS = 5
"""Shorter words differ in one letter without being alike."""
_MAX_COMPARED_WORDS = 5_000
"""Of more words none is compared with the others."""


def alike(values: Sequence[Any]) -> list[Any]:
    """A key for each value, equal for texts that are other spellings of one another.

    Texts that differ in case, blanks, accents or punctuation alone are alike, "HIV+" and "hiv
    positive", words for yes where there are several, and words that differ in one typing error.

    >>> alike(["HIV+", "hiv (pos.)", "Krebs", "cancer", "canser", None])
    ['hiv+', 'hiv+', 'krebs', 'cancer', 'cancer', None]
    """
    keys = [_plain(value) if isinstance(value, str) else value for value in values]
    words = sorted({key for key in keys if isinstance(key, str)})
    same = {word: "yes" for word in words if word in _YES}
    same.update(_misspelled([word for word in words if len(word) >= _MIN_WORD_LETTERS and word.isalpha()]))
    return [same.get(key, key) if isinstance(key, str) else key for key in keys]


def _plain(text: str) -> str:
    """The letters and digits of a text, with the sign of a result behind them."""
    folded = text.casefold().strip()
    folded = _NEGATIVE.sub("-", _POSITIVE.sub("+", folded))
    letters = unicodedata.normalize("NFKD", folded)
    return "".join(letter for letter in letters if letter.isalnum() or letter in "+-<>") or text


def _misspelled(words: Sequence[str]) -> dict[str, str]:
    """The first of the words that are one typing error apart, for each of the others."""
    if len(words) > _MAX_COMPARED_WORDS:
        return {}
    first: dict[str, str] = {}
    same: dict[str, str] = {}
    for word in words:
        similar = min((first[deletion] for deletion in _deletions(word) if deletion in first), default=word)
        if similar != word:
            same[word] = similar
        for deletion_of_word in _deletions(word):
            first.setdefault(deletion_of_word, similar)
    return same


def _deletions(word: str) -> Iterator[str]:
    """The word, and without each of its letters but the first: theist and atheist are no errors."""
    yield word
    for position in range(1, len(word)):
        yield word[:position] + word[position + 1 :]


def code_prefixes(keys: Sequence[Any]) -> list[list[Any]]:
    """The first one, two, ... characters of each code: B20 and B22 are of one chapter.

    >>> code_prefixes(["b201", "b202", "b3", None])
    [['b', 'b', 'b', None], ['b2', 'b2', 'b3', None], ['b20', 'b20', 'b3', None]]
    """
    texts = [key for key in keys if isinstance(key, str)]
    codes = [text for text in texts if _CODE.fullmatch(text)]
    if len(codes) < max(2, _MIN_CODE_SHARE * len(texts)):
        return []
    longest = min(_MAX_PREFIX_LETTERS, max(map(len, codes)))
    cuts: list[list[Any]] = []
    for width in range(1, longest):
        cut = [key[:width] if isinstance(key, str) else key for key in keys]
        if len(set(cut)) < len(set(keys)) and (not cuts or cut != cuts[-1]):
            cuts.append(cut)
    return cuts
