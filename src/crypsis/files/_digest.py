"""The digest of a file."""

from __future__ import annotations

import hashlib
from pathlib import Path

from crypsis.errors import SourceError

_BLOCK = 1 << 20


def digest(path: str | Path) -> str:
    """The SHA-256 of a file, as `sha256sum` prints it."""
    hasher = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while block := file.read(_BLOCK):
                hasher.update(block)
    except OSError as error:
        raise SourceError(f"{str(path)!r} cannot be read ({error.strerror}).") from None
    return hasher.hexdigest()
