"""The encoding of a text file, by its bytes.

UTF-8 is recognized by its rules, which other texts hardly meet by accident. Of texts that break
them, those of Western Europe are common: windows-1252, or latin-1 where a byte has no character in it.
"""

from __future__ import annotations

import codecs
import lzma
from collections.abc import Sequence

from crypsis.errors import SourceError
from crypsis.tables.csv.files import PACKED, damaged, stream

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHUNK = 1 << 22
_MOST_BYTES = 2_000_000_000
"""Of larger files only the beginning is inspected."""
_UNDEFINED = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))
"""The bytes without a character in windows-1252."""


def guess_encoding(paths: Sequence[str]) -> str:
    """The encoding of files that belong together."""
    found = {_guess(path) for path in paths}
    if found == {"utf-8"} or len(found) == 1:
        return found.pop()
    if found <= {"utf-8", "windows-1252", "latin-1"}:
        raise SourceError(
            "The files have different encodings.",
            code="encoding",
            hint="Set {encoding}, or convert them to utf-8.",
        )
    return "utf-8"


def _guess(path: str) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    characters = wrong = read = 0
    undefined = False
    try:
        with stream(path) as opened:
            while (chunk := bytes(opened.read(_CHUNK))) and read < _MOST_BYTES:
                known = _by_start(chunk) if not read else None
                if known is not None:
                    return known
                read += len(chunk)
                if chunk.isascii():
                    continue
                text = decoder.decode(chunk)
                characters += sum(not character.isascii() for character in set(text))
                wrong += text.count("\ufffd")
                undefined = undefined or any(byte in chunk for byte in _UNDEFINED)
    except (lzma.LZMAError, EOFError):
        raise damaged(path) from None
    except OSError as error:
        if error.strerror is None and path.lower().endswith(PACKED):
            raise damaged(path) from None
        return "utf-8"  # the reader reports it
    if not wrong or characters - 1 > wrong:  # UTF-8 with a broken line, which the reader reports
        return "utf-8"
    return "latin-1" if undefined else "windows-1252"


def _by_start(chunk: bytes) -> str | None:
    """The encoding that the first bytes show."""
    marked = next((name for mark, name in _MARKS if chunk.startswith(mark)), None)
    if marked is not None or not _alternates(chunk[:4096]):
        return marked
    return "utf-16-be" if chunk[0] == 0 else "utf-16-le"


def _alternates(start: bytes) -> bool:
    """Whether every other byte is zero, as in Western texts in utf-16 without a mark."""
    half = max(len(start) // 2, 1)
    return any(start[at::2].count(0) > 0.9 * half and start[1 - at :: 2].count(0) == 0
               for at in (0, 1))  # fmt: skip
