"""Files that are being read: if one changes meanwhile, numbers would mix two versions of it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from pathlib import Path

from crypsis.errors import SourceError

_reading: weakref.WeakSet[Sources] = weakref.WeakSet()
_lock = threading.Lock()


class Sources:
    """The files behind some rows, as they were when they were opened."""

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self._marks = {str(path): mark for path in paths if (mark := _mark(path)) is not None}
        self._settled = False
        with _lock:
            _reading.add(self)

    def check(self) -> None:
        """Raise if a file is another one than when it was opened."""
        if self._settled:
            return
        for path, mark in self._marks.items():
            if _mark(path) != mark:
                raise SourceError(
                    f"{Path(path).name!r} changed while it was being read, so the numbers would "
                    "mix two versions of it.",
                    code="file-changed",
                    hint="Read it again when no program writes to it.",
                )

    def settle(self) -> None:
        """Check for the last time: everything has been read, and later changes do not matter."""
        self.check()
        self._settled = True

    def contains(self, path: Path) -> bool:
        """Whether `path` is one of the files, under this or another name."""
        mark = _mark(path)
        return mark is not None and any(mark[:2] == own_mark[:2] for own_mark in self._marks.values())


def is_read(path: Path) -> bool:
    """Whether rows that are still in use come from this file."""
    with _lock:
        readers = list(_reading)
    return any(reader.contains(path) for reader in readers)


def _mark(path: str | Path) -> tuple[int, int, int, int] | None:
    """The state of a file: which file it is, its size and its time."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
