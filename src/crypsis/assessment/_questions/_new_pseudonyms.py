"""Identifiers that became new pseudonyms, one for each record: nobody links by them.

That they were drawn cannot be proven. Looked for is every common way to compute them from the
identifier: its order, its place in the file, the identifier within, its characters replaced or
reversed, and digests that everybody can compute. A column with any of these is linked by.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints
from crypsis.dataset import Dataset
from crypsis.hierarchies.labels import as_text
from crypsis.tables import Kind

_MIN_RECORDS = 20
"""Fewer records show nothing."""
_MAX_RECORDS = 20_000
"""So many records, at random, are compared."""
_DIGESTED_RECORDS = 50
"""Of so many of them digests are computed."""
_CLEAR_DEVIATIONS = 5.0
"""Standard deviations of a rank correlation by which two orders are not independent."""
_MIN_EQUAL_CHARACTERS = 4
"""So many equal characters, of an identifier or a digest, are no chance."""
_ALGORITHMS = tuple(
    sorted(algorithm for algorithm in hashlib.algorithms_guaranteed if "shake" not in algorithm)
)


def new_pseudonyms(original: Dataset, masked: Dataset, row_map: Sequence[int] | None) -> tuple[str, ...]:
    """The columns that the owner signed off whose values are as if drawn for each record.

    They are texts or whole numbers, none repeats, and the row map shows whose each of them is.
    """
    if row_map is None:
        return ()
    rows = np.asarray(row_map, np.int64)
    return tuple(
        name
        for name in masked.signed_off
        if name in original.names
        and name in masked.released
        and masked.rows.column(name).kind in (Kind.TEXT, Kind.INTEGER)
        and masked.rows.tally([name]).values == masked.count == rows.size
        and _drawn(original.to_arrow([name])[name], masked.to_arrow([name])[name], rows)
    )


def _drawn(before: pa.ChunkedArray, after: pa.ChunkedArray, rows: Ints) -> bool:
    """Whether nothing shows that the values were computed from those of their original records."""
    linked_rows = np.flatnonzero((rows >= 0) & (rows < len(before)))
    linked_rows = np.random.default_rng(0).permutation(linked_rows)[:_MAX_RECORDS]
    if linked_rows.size < _MIN_RECORDS:
        return False
    identifiers = _texts(before.take(pa.array(rows[linked_rows])))
    new = _texts(after.take(pa.array(linked_rows)))
    if not set(_texts(before)).isdisjoint(new):
        return False
    back = [text[::-1] for text in identifiers]
    pairs = [
        (mine, pseudonym) for texts in (identifiers, back) for mine, pseudonym in zip(texts, new, strict=True)
    ]
    orders = (_ranks(identifiers), _ranks(back), rows[linked_rows].astype(np.float64))
    far = [np.abs(order - np.median(order)) for order in orders]  # as squares of what is around zero
    return not (
        any(_dependent(order, _ranks(new)) for order in (*orders, *far))
        or any(mine in pseudonym for mine, pseudonym in pairs if len(mine) >= _MIN_EQUAL_CHARACTERS)
        or any(_replaced(texts, new) for texts in (identifiers, back))
        or any(map(_digested, identifiers[:_DIGESTED_RECORDS], new[:_DIGESTED_RECORDS]))
    )


def _texts(column: pa.ChunkedArray) -> list[str]:
    return ["" if value is None else as_text(value).strip() for value in column.to_pylist()]


def _ranks(texts: Sequence[str]) -> Floats:
    """Places in the order of the numbers, or of the texts where not all are numbers."""
    try:
        values = np.array([float(text) for text in texts])
    except ValueError:
        values = np.unique(np.array(texts), return_inverse=True)[1].astype(np.float64)
    return values.argsort().argsort().astype(np.float64)


def _dependent(order: NDArray[np.generic], ranks: Floats) -> bool:
    """Whether the rank correlation (Spearman 1904) is beyond that of independent orders."""
    correlation = np.corrcoef(order.argsort().argsort(), ranks)[0, 1]
    return bool(abs(correlation) * np.sqrt(ranks.size - 1) > _CLEAR_DEVIATIONS)


def _replaced(identifiers: Sequence[str], new: Sequence[str]) -> bool:
    """Whether at some place each old character became one new character."""
    for position in range(min(max(map(len, identifiers)), max(map(len, new)))):
        pairs = Counter(
            (mine[position], pseudonym[position])
            for mine, pseudonym in zip(identifiers, new, strict=True)
            if position < min(len(mine), len(pseudonym))
        )
        old, became = ({pair[end] for pair in pairs} for end in (0, 1))
        several = min(len(old), len(became)) > 1 and pairs.total() >= _MIN_RECORDS * len(old)
        if several and len(pairs) == len(old):
            return True
    return False


def _digested(mine: str, pseudonym: str) -> bool:
    """Whether a value is a digest of its identifier, whole or in part."""
    plain = _plain(pseudonym)
    return len(plain) >= 2 * _MIN_EQUAL_CHARACTERS and any(plain in digest for digest in _digests(mine))


def _digests(text: str) -> Iterator[str]:
    """The digests of a text that everybody can compute, as they are written."""
    for content in (text.encode(), text.lower().encode(), text.upper().encode()):
        yield f"{zlib.crc32(content):08x}"
        for algorithm in _ALGORITHMS:
            digest = hashlib.new(algorithm, content, usedforsecurity=False)
            yield digest.hexdigest()
            yield str(int(digest.hexdigest(), 16))
            yield _plain(base64.b64encode(digest.digest()).decode())
            yield _plain(base64.b32encode(digest.digest()).decode())


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
