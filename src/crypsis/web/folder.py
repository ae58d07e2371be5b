"""The private folder: everything the server writes, for its owner alone, gone when it ends."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "crypsis-serve-"
_LOCK = ".in-use"


class PrivateFolder:
    """A folder of mode 0700 that is removed at the end.

    What a server that was killed left behind is removed by the next one: it holds no lock any more.
    """

    def __init__(self, base: Path | None = None) -> None:
        place = Path(base or tempfile.gettempdir())
        _sweep(place)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))  # made with 0700
        self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        _locked(self._lock)

    def make(self, name: str) -> Path:
        """A folder inside, for its owner alone."""
        made = self.path / name
        made.mkdir(mode=0o700)
        return made

    def remove(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self._lock)


def _sweep(place: Path) -> None:
    """Remove the folders of servers of ours that are no more."""
    for left in place.glob(f"{_PREFIX}*"):
        try:
            if left.is_symlink() or left.stat().st_uid != os.getuid():
                continue
            handle = os.open(left / _LOCK, os.O_RDWR)
        except OSError:
            continue
        try:
            if _locked(handle):
                shutil.rmtree(left, ignore_errors=True)
        finally:
            os.close(handle)


def _locked(handle: int) -> bool:
    """Take the lock, unless a living process has it."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
