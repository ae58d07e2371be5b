"""The pages of a SQLite file: bytes that belong to no row, such as those of deleted rows.

References
----------
.. [1] SQLite Consortium. "Database File Format". https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
_HEADER = 100
_EXPANSION = slice(72, 92)
_INTERIOR_INDEX, _INTERIOR_TABLE, _LEAF_INDEX, _LEAF_TABLE = 2, 5, 10, 13
_LOCK_BYTE = 1 << 30
_LONGEST_VARINT = 9
_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]{4,}")
_CUTS = tuple((cut, more) for cut in range(5) for more in range(5))
_LEAST_LEFT = 5
_MOST_CUT = 2_000


class SqliteLayoutError(Exception):
    """Pages that do not follow the file format."""


class Pages:
    """The pages of a database, which must be of the size that its header says."""

    def __init__(self, content: Bytes) -> None:
        if content.size < 512 or bytes(content[:16]) != b"SQLite format 3\0":
            raise SqliteLayoutError
        size = int.from_bytes(bytes(content[16:18]), "big")
        self.size = 65_536 if size == 1 else size
        if self.size < 512:
            raise SqliteLayoutError
        self.usable = self.size - int(content[20])
        self.count = content.size // self.size
        self.trailing = content[self.count * self.size :]
        self.rows: Bytes = content[: self.count * self.size].reshape(self.count, self.size)
        self.automatic = self._number(0, 52) > 0
        """Whether the file has pages that point back (auto_vacuum)."""

    def _number(self, page: int, at: int, width: int = 4) -> int:
        if not 0 <= page < self.count or at + width > self.size:
            raise SqliteLayoutError
        return int.from_bytes(bytes(self.rows[page, at : at + width]), "big")

    def leftovers(self, roots: Sequence[int]) -> bool:
        """Whether there are bytes, other than zero, that no row and no index has.

        A page that was split may keep a copy of rows that are now on another page: words in it are
        in the table anyway.
        """
        trees = sorted(self._trees(roots))
        known = set(trees) | set(self._pointers_back())
        live = {page: self._free(page) for page in trees}
        overflow = [page for page in range(self.count) if page not in known and not self._lock(page)]
        if overflow and self._unused(trees, overflow):
            return True
        if bool(self.trailing.any()) or bool(self.rows[0, _EXPANSION].any()):
            return True
        if self.usable < self.size and bool(self.rows[:, self.usable :].any()):
            return True
        if any(self._deleted(page, areas) for page, areas in live.items()):
            return True
        return self._unknown_words(live)

    def _deleted(self, page: int, areas: Sequence[tuple[int, int]]) -> bool:
        """Whether rows of a table left bytes before or between others.

        Indexes, and pages that point to others, have copies of rows when they grow.
        """
        return self._kind(page) == _LEAF_TABLE and any(
            self.rows[page, start:end].any() for start, end in areas
        )

    def _unknown_words(self, free: dict[int, list[tuple[int, int]]]) -> bool:
        """Whether unused areas have words that no row has: more than copies of rows."""
        rest: list[bytes] = []
        rows = self.rows.copy()
        for page, areas in free.items():
            for start, end in areas:
                if rows[page, start:end].any():
                    rest.append(rows[page, start:end].tobytes())
                    rows[page, start:end] = 0
        if not rest:
            return False
        there = rows.tobytes()
        known = set(_WORD.findall(there))
        unknown = {word for part in rest for word in _WORD.findall(part)} - known
        # A length may seem to be a letter, and a word may be cut where another row begins.
        return len(unknown) > _MOST_CUT or any(
            not any(part in there for part in _cut(word)) for word in unknown
        )

    def _lock(self, page: int) -> bool:
        return page == _LOCK_BYTE // self.size

    def _pointers_back(self) -> Iterator[int]:
        if not self.automatic:
            return
        step = self.usable // 5 + 1
        page = 1
        while page < self.count:
            yield page + 1 if self._lock(page) else page
            page += step

    def _trees(self, roots: Sequence[int]) -> set[int]:
        """The pages of tables and indexes, from their roots."""
        found: set[int] = set()
        waiting = [root - 1 for root in roots if root]
        while waiting:
            page = waiting.pop()
            if page in found:
                raise SqliteLayoutError
            found.add(page)
            if self._kind(page) in (_INTERIOR_INDEX, _INTERIOR_TABLE):
                waiting += [self._number(page, at) - 1 for at in self._cells(page)]
                waiting.append(self._number(page, self._start(page) + 8) - 1)
        return found

    def _start(self, page: int) -> int:
        return _HEADER if page == 0 else 0

    def _kind(self, page: int) -> int:
        kind = self._number(page, self._start(page), 1)
        if kind not in (_INTERIOR_INDEX, _INTERIOR_TABLE, _LEAF_INDEX, _LEAF_TABLE):
            raise SqliteLayoutError
        return kind

    def _array(self, page: int) -> int:
        """The place of the cell pointers."""
        interior = self._kind(page) in (_INTERIOR_INDEX, _INTERIOR_TABLE)
        return self._start(page) + (12 if interior else 8)

    def _cells(self, page: int) -> list[int]:
        start, count = self._array(page), self._number(page, self._start(page) + 3, 2)
        return [self._number(page, start + 2 * i, 2) for i in range(count)]

    def _free(self, page: int) -> list[tuple[int, int]]:
        """The areas of a page that no cell has: before the cells, and between them."""
        start = self._start(page)
        count = self._number(page, start + 3, 2)
        content = self._number(page, start + 5, 2) or 65_536
        areas = [(self._array(page) + 2 * count, content)]
        block = self._number(page, start + 1, 2)
        while block:
            following, size = self._number(page, block, 2), self._number(page, block + 2, 2)
            areas.append((block + 4, block + size))
            if following and following <= block:
                raise SqliteLayoutError
            block = following
        if any(first > last or last > self.usable for first, last in areas):
            raise SqliteLayoutError
        return areas

    def _unused(self, trees: Sequence[int], overflow: Sequence[int]) -> bool:
        """Whether pages of long values have bytes after the value, or are not in use at all."""
        rest = set(overflow)
        for page in trees:
            for first, length in self._spilled(page):
                at = first - 1
                while length > 0:
                    if at not in rest:
                        raise SqliteLayoutError
                    rest.discard(at)
                    if self.rows[at, 4 + min(length, self.usable - 4) : self.usable].any():
                        return True
                    length -= self.usable - 4
                    at = self._number(at, 0) - 1
        return any(bool(self.rows[page].any()) for page in rest)

    def _spilled(self, page: int) -> Iterator[tuple[int, int]]:
        """The first page and the length of the part of each value that is not on its page."""
        kind = self._kind(page)
        if kind == _INTERIOR_TABLE:
            return
        table = kind == _LEAF_TABLE
        least = (self.usable - 12) * 32 // 255 - 23
        most = self.usable - 35 if table else (self.usable - 12) * 64 // 255 - 23
        for at in self._cells(page):
            payload, at = self._varint(page, at + (4 if kind == _INTERIOR_INDEX else 0))
            if payload <= most:
                continue
            if table:
                _, at = self._varint(page, at)
            here = least + (payload - least) % (self.usable - 4)
            here = here if here <= most else least
            yield self._number(page, at + here), payload - here

    def _varint(self, page: int, at: int) -> tuple[int, int]:
        value = 0
        for i in range(_LONGEST_VARINT):
            byte = self._number(page, at + i, 1)
            if i == _LONGEST_VARINT - 1:
                return value << 8 | byte, at + i + 1
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                return value, at + i + 1
        raise SqliteLayoutError


def _cut(word: bytes) -> Iterator[bytes]:
    """A word, and what is left of it without a few characters at its ends."""
    yield word
    for cut, more in _CUTS:
        if len(word) - cut - more >= _LEAST_LEFT:
            yield word[cut : len(word) - more]
