"""The canonical form: a file that crypsis wrote, by the digest in the record beside it.

The record protects an owner from remains in a file of their own that nobody knows of. It is no
signature: who hands over a file may have written its record, too. Rewrite such a file before it is judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crypsis.files import digest

RECORD = ".record.json"
"""What follows the name of a rewritten file in the name of its record."""
_RECORDS = ("*.statement.json", f"*{RECORD}")
_FORMATS = ("crypsis statement ", "crypsis record ")
_MAX_RECORD_BYTES = 50_000_000
"""A statement lists intervals and labels; no release has that many."""
_LOGS = (".wal", "-wal", "-journal")
"""A database with such a file beside it is read with changes that are not in its own bytes."""


def is_canonical(path: str) -> bool:
    """Whether a file is one that crypsis wrote, and has not been changed since."""
    file = Path(path)
    if not file.is_file() or any(Path(path + suffix).exists() for suffix in _LOGS):
        return False
    digests = set(_recorded_digests(file.absolute().parent))
    return bool(digests) and digest(file) in digests


def _recorded_digests(folder: Path) -> Iterator[str]:
    """The digests of files in the records of a folder."""
    for pattern in _RECORDS:
        for path in folder.glob(pattern):
            try:
                if path.stat().st_size > _MAX_RECORD_BYTES:
                    continue
                record = json.loads(path.read_bytes())
            except (OSError, ValueError, RecursionError):
                continue
            if isinstance(record, dict) and str(record.get("format", "")).startswith(_FORMATS):
                parts = record.get("apart", ())
                yield from (_digest_of(part) for part in (record, *parts) if isinstance(part, dict))


def _digest_of(record: dict[str, Any]) -> str:
    return str(record.get("sha256", ""))
