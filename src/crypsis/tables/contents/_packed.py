"""Compressed files: what follows after the compressed table, and frames that readers skip.

References
----------
.. [1] Collet, Y. and Kucherawy, M. (2021). "Zstandard Compression and the 'application/zstd' Media
   Type". RFC 8878.
"""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crypsis.tables.contents._content import Content

_CHUNK = 1 << 20
_FRAME = b"\x28\xb5\x2f\xfd"
_WINDOW = (0, 1, 2, 4)
"""The bytes of a dictionary's number, by the two lowest bits of the descriptor."""
_REPEATED = 1


def packed_contents(path: str) -> Iterator[Content]:
    """What a compressed file has besides one compressed table."""
    name = path.lower()
    try:
        if name.endswith(".bz2"):
            more = _follows(path, bz2.BZ2Decompressor())
        elif name.endswith(".xz"):
            more = _follows(path, lzma.LZMADecompressor())
        elif name.endswith(".zst"):
            more = not _is_one_frame(Path(path).read_bytes())
        else:
            more = name.endswith((".lz4", ".br"))  # whose inside is not known here
    except (OSError, EOFError, lzma.LZMAError, IndexError):
        more = True
    if more:
        yield Content("compressed:more", "The compressed file has more than one compressed table.")


def _follows(path: str, stream: Any) -> bool:
    with Path(path).open("rb") as file:
        while chunk := file.read(_CHUNK):
            if stream.eof:
                return True
            stream.decompress(chunk)
    return not stream.eof or bool(stream.unused_data)


def _is_one_frame(data: bytes) -> bool:
    """Whether the bytes are one frame of blocks, with nothing before and behind."""
    if data[:4] != _FRAME:
        return False
    descriptor = data[4]
    single, size = descriptor >> 5 & 1, descriptor >> 6
    length = (1, 2, 4, 8)[size] if size or single else 0
    at = 5 + (1 - single) + _WINDOW[descriptor & 3] + length
    last = 0
    while not last:
        block = int.from_bytes(data[at : at + 3], "little")
        if at + 3 > len(data):
            return False
        last, kind, size = block & 1, block >> 1 & 3, block >> 3
        at += 3 + (1 if kind == _REPEATED else size)
    return at + 4 * (descriptor >> 2 & 1) == len(data)
