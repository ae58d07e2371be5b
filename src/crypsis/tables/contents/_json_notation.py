"""JSON files whose records are written in different ways: blanks, order of keys, escapes.

The records of one writer have the same order of keys, the same blanks and the same escapes. What
varies otherwise can distinguish rows that have the same values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise

from crypsis.options import ReadOptions
from crypsis.tables.contents._content import Content
from crypsis.tables.csv.files import stream

_CHUNK = 1 << 24
_MOST_SHAPES = 100_000
_STRING = rb'"(?:[^"\\]|\\.)*"'
_SCALAR = re.compile(rb"(" + _STRING + rb")(\s*:)?|-?\d[\d.eE+-]*|\btrue\b|\bfalse\b|\bnull\b")
_RECORD = re.compile(rb"\{[^{}]*\}")
_MEMBER = re.compile(rb"([\s,]*)(" + _STRING + rb")(\s*:)([^\"]*)", re.DOTALL)
_ESCAPED = re.compile(_STRING)
_STYLES = [
    (ascii_, slash, upper) for ascii_ in (True, False) for slash in (True, False) for upper in (True, False)
]


def json_contents(path: str, reading: ReadOptions) -> Iterator[Content]:
    """Blanks, orders of keys and escapes that vary between the records."""
    del reading
    checked = _Checked()
    rest = b""
    with stream(path) as opened:
        while chunk := bytes(opened.read(_CHUNK)):
            block = rest + chunk
            end = block.rfind(b"}\n") + 1
            checked.read(block[:end])
            rest = block[end:]
    checked.read(rest)
    if checked.nested:
        yield Content("spelling", "Records have others inside, whose spelling is not inspected.")
    elif checked.varies:
        yield Content("spelling", f"The records are written in different ways: {checked.varies}.")


class _Checked:
    """What the records had in common so far."""

    def __init__(self) -> None:
        self.shapes: set[bytes] = set()
        self.between: set[bytes] = set()
        self.blanks: dict[str, bytes] = {}
        self.different_blanks = False
        self.order: set[tuple[bytes, bytes]] = set()
        self.styles = list(_STYLES)
        self.varies = ""
        self.nested = False
        self._first = True

    def read(self, block: bytes) -> None:
        """Compare the records of a block, which ends between two of them."""
        if self.varies or self.nested or not block:
            return
        if b"\\" in block:
            self._escapes(block)
        shape = _SCALAR.sub(_placeholder, block)
        at = 0
        for record in _RECORD.finditer(shape):
            gap = shape[at : record.start()]
            at = record.end()
            if self._first:
                self._first = False
            else:
                self.between.add(gap)
            self._record(record[0])
        if b"{" in _RECORD.sub(b"", shape):
            self.nested = True
        if len(self.between) > 1:
            self.varies = "the blanks between them"
        elif self.different_blanks:
            self.varies = "the blanks inside of them"
        elif any((two, one) in self.order for one, two in self.order):
            self.varies = "the order of the keys"
        elif not self.styles:
            self.varies = "the escapes of characters"
        elif len(self.shapes) > _MOST_SHAPES:
            self.varies = "the keys"

    def _record(self, shape: bytes) -> None:
        if shape in self.shapes or len(self.shapes) > _MOST_SHAPES:
            return
        self.shapes.add(shape)
        members = _MEMBER.findall(shape[1:-1])
        keys = [key for _, key, _, _ in members]
        for position, (before, _, colon, value) in enumerate(members):
            last = position == len(members) - 1
            kind = "first" if position == 0 else "later"
            after = re.sub(rb"[^\s]", b"", value)
            if b"[" in value:
                after = b""  # the blanks inside of a list depend on its length
            self._same(f"before the {kind}", before)
            self._same("colon", colon)
            self._same("last" if last else "value", after)
        self.order |= (
            {(key, two) for i, key in enumerate(keys) for two in keys[i + 1 :]}
            if len(keys) <= 60
            else set(pairwise(keys))
        )

    def _same(self, place: str, blanks: bytes) -> None:
        self.different_blanks |= self.blanks.setdefault(place, blanks) != blanks

    def _escapes(self, block: bytes) -> None:
        """Keep the styles of escapes in which each text of the block can be written."""
        for raw in set(_ESCAPED.findall(block)):
            if b"\\" not in raw and raw.isascii() and b"/" not in raw:
                continue
            try:
                text = json.loads(raw)
            except ValueError:
                continue
            self.styles = [style for style in self.styles if _written(text, style) == raw]
            if not self.styles:
                return


def _placeholder(match: re.Match[bytes]) -> bytes:
    """A key as it is, a value as a sign."""
    return match[0] if match[2] else b"#"


def _written(text: str, style: tuple[bool, bool, bool]) -> bytes:
    ascii_, slash, upper = style
    made = json.dumps(text, ensure_ascii=ascii_)
    if slash:
        made = made.replace("/", "\\/")
    if upper:
        made = re.sub(r"\\u[0-9a-f]{4}", lambda found: "\\u" + found[0][2:].upper(), made)
    return made.encode("utf-8", "surrogatepass")
