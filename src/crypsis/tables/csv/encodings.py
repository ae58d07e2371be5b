"""The encoding of a text file, by its bytes.

UTF-8 is recognized by its rules, which other texts hardly meet by accident. Of texts that break
them, those of Western Europe are common: windows-1252, or latin-1 where a byte has no character in it.
A text that has both characters of UTF-8 and bytes that break its rules is damaged in every encoding:
it counts as UTF-8, and its reader refuses it with the number of the line.

charset-normalizer 3.5.2 was compared: of the files of `tests/tables/test_encodings.py` in windows-1252
it names windows-1250, cp864 or iso8859-10, and it reads UTF-8 with one broken byte as windows-1250.
"""

from __future__ import annotations

import codecs
import lzma
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import SourceError
from crypsis.tables.csv.files import PACKED, damaged, stream

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHUNK_BYTES = 1 << 22
"""Bytes that are inspected at a time."""
_MAX_INSPECTED_BYTES = 2_000_000_000
"""Of larger files only the beginning is inspected."""
_UNDEFINED = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))
"""The bytes without a character in windows-1252."""


def guess_encoding(paths: Sequence[str]) -> str:
    """The encoding of files that belong together."""
    encodings = {_guess(path) for path in paths}
    if encodings == {"utf-8"} or len(encodings) == 1:
        return encodings.pop()
    if encodings <= {"utf-8", "windows-1252", "latin-1"}:
        raise SourceError(
            "The files have different encodings.",
            code="encoding",
            hint="Set {encoding}, or convert them to utf-8.",
        )
    return "utf-8"


def _guess(path: str) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape")
    counts: NDArray[np.int64] = np.zeros(3, np.int64)
    read = 0
    undefined = False
    try:
        with stream(path) as opened:
            while (chunk := bytes(opened.read(_CHUNK_BYTES))) and read < _MAX_INSPECTED_BYTES:
                marked = _by_start(chunk) if not read else None
                if marked is not None:
                    return marked
                read += len(chunk)
                if chunk.isascii():
                    counts += _count(decoder.decode(b" "))  # ends a sequence of the last chunk
                    continue
                counts += _count(decoder.decode(chunk))
                undefined = undefined or any(byte in chunk for byte in _UNDEFINED)
    except (lzma.LZMAError, EOFError):
        raise damaged(path) from None
    except OSError as error:
        if error.strerror is None and path.lower().endswith(PACKED):
            raise damaged(path) from None
        return "utf-8"  # the reader reports it
    counts += _count(decoder.decode(b"", final=read < _MAX_INSPECTED_BYTES))
    broken, clear, unclear = counts.tolist()
    if not broken or clear or unclear > broken:
        return "utf-8"  # with broken bytes the reader refuses it and names the line
    return "latin-1" if undefined else "windows-1252"


def _count(text: str) -> NDArray[np.int64]:
    """How many bytes break the rules of UTF-8; how many characters are clearly of UTF-8, or may not be.

    A capital letter from Æ to Í or from Ô to ß before a quote, as in «CAFÉ», is
    valid UTF-8 by accident: the letters of phonetics, of Armenian, Hebrew, Arabic and their neighbors.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    codes = codes[codes > 0x7F]
    broken = (codes >= 0xDC80) & (codes <= 0xDCFF)
    unclear = ((codes >= 0x180) & (codes < 0x380)) | ((codes >= 0x500) & (codes < 0x800))
    clear = ~broken & ~unclear
    counts: NDArray[np.int64] = np.array([broken.sum(), clear.sum(), unclear.sum()], np.int64)
    return counts


def _by_start(chunk: bytes) -> str | None:
    """The encoding that the first bytes show."""
    marked = next((name for mark, name in _MARKS if chunk.startswith(mark)), None)
    if marked is not None or not _alternates(chunk[:4096]):
        return marked
    return "utf-16-be" if chunk[0] == 0 else "utf-16-le"


def _alternates(start: bytes) -> bool:
    """Whether every other byte is zero, as in Western texts in utf-16 without a mark."""
    half = max(len(start) // 2, 1)
    return any(start[at::2].count(0) > 0.9 * half and start[1 - at :: 2].count(0) == 0 for at in (0, 1))
