"""JSON files whose records are written in different ways: blanks, order of keys, escapes.

The records of one writer have the same blanks, the same order of keys and one way to write each
character. What varies otherwise can distinguish rows that have the same values.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, pairwise

from crypsis.options import ReadOptions
from crypsis.tables.contents._content import CHUNK_BYTES, Content
from crypsis.tables.csv.files import stream

_MAX_SHAPES = 100_000
"""The most sets of keys that are compared; more are as good as a number of the record."""
_STRING = rb'"(?:[^"\\]|\\.)*"'
_SCALAR = re.compile(rb"(" + _STRING + rb")(\s*:)?|-?\d[\d.eE+-]*|\btrue\b|\bfalse\b|\bnull\b")
_RECORD = re.compile(rb"\{[^{}]*\}")
_KEY = re.compile(_STRING)
_LIST = re.compile(rb"\[([^\[\]{}]*)\]")
_BETWEEN = re.compile(rb"[\s,:{}]*")
_ESCAPE = re.compile(rb"(?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.)")
_ALWAYS_ESCAPED = frozenset('"\\') | frozenset(map(chr, range(32)))
_MAX_COMPARED_KEYS = 60
"""Of records with more keys only neighbors are compared: all pairs would take minutes."""


def json_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """Blanks, orders of keys and escapes that vary between the records."""
    del reading
    notation = _Notation()
    rest = b""
    with stream(path) as opened:
        while chunk := bytes(opened.read(CHUNK_BYTES)):
            block = rest + chunk
            end = block.rfind(b"}\n") + 1
            notation.read(block[:end])
            rest = block[end:]
    notation.read(rest)
    if notation.unknown:
        yield Content("spelling", "Records have others inside, whose spelling is not inspected.")
    elif notation.varies:
        yield Content("spelling", f"The records are written in different ways: {notation.varies}.")


class _Notation:
    """How the records were written so far."""

    def __init__(self) -> None:
        self.unknown = False
        self._shapes: set[bytes] = set()
        self._blanks: dict[str, set[bytes]] = defaultdict(set)
        self._order: set[tuple[bytes, bytes]] = set()
        self._characters: set[str] = set()
        self._escapes: dict[str, set[bytes]] = defaultdict(set)
        self._started = False

    @property
    def varies(self) -> str:
        """What is not the same in all records."""
        if any(len(blanks) > 1 for blanks in self._blanks.values()):
            return "the blanks"
        if any((later, first) in self._order for first, later in self._order):
            return "the order of the keys"
        if len(self._shapes) > _MAX_SHAPES:
            return "the keys"
        plain = self._characters - _ALWAYS_ESCAPED
        if any(len(ways) > 1 or character in plain for character, ways in self._escapes.items()):
            return "the escapes of characters"
        return ""

    def read(self, block: bytes) -> None:
        """Compare the records of a block, which ends between two of them."""
        for escape in set(_ESCAPE.findall(block)):
            try:
                self._escapes[json.loads(b'"' + escape + b'"')].add(escape)
            except ValueError:
                self.unknown = True
        self._characters |= set(_ESCAPE.sub(b"", block).decode("utf-8", "replace"))
        shape = _SCALAR.sub(lambda match: match[0] if match[2] else b"#", block)
        position = 0
        for record in _RECORD.finditer(shape):
            if self._started:
                self._blanks["between the records"].add(shape[position : record.start()])
            self._started, position = True, record.end()
            if record[0] not in self._shapes and len(self._shapes) <= _MAX_SHAPES:
                self._shapes.add(record[0])
                self._compare(record[0])
        self.unknown |= b"{" in _RECORD.sub(b"", shape)

    def _compare(self, shape: bytes) -> None:
        """Compare the blanks and the keys of a record in which values are signs."""
        while (plain := _LIST.sub(self._list, shape)) != shape:
            shape = plain
        keys = _KEY.findall(shape)
        between = re.split(rb"[k#]", _KEY.sub(b"k", shape))
        self.unknown |= not all(map(_BETWEEN.fullmatch, between)) or len(between) != 2 * len(keys) + 1
        if keys:
            self._blanks["first"].add(between[0])
            self._blanks["after a key"].update(between[1::2])
            self._blanks["after a value"].update(between[2:-1:2])
            self._blanks["last"].add(between[-1])
            self._order.update(combinations(keys, 2) if len(keys) <= _MAX_COMPARED_KEYS else pairwise(keys))

    def _list(self, match: re.Match[bytes]) -> bytes:
        """A list as one value."""
        first, *others = match[1].split(b"#")
        self._blanks["first of a list" if others else "empty list"].add(first)
        if others:
            self._blanks["between values of a list"].update(others[:-1])
            self._blanks["last of a list"].add(others[-1])
        return b"#"
