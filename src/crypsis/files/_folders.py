"""Private folders for what does not fit in memory or is not finished yet.

A folder belongs to the process that created it and is removed with it. A process that was killed
cannot remove anything, so each folder has a lock: a lock that no process has taken marks a folder
whose owner is gone, and the next run that uses the same place removes it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

locks: Any = import_module("fcntl") if os.name == "posix" else None
"""Locks of files; not on Windows, where a file that is open cannot be removed anyway."""

_LOCK = "lock"
_UNLOCKED_SECONDS = 3_600
"""A folder without a lock may be one that is being made; after this long it is not."""


class PrivateFolder:
    """A folder of mode 0700, removed when this object is."""

    def __init__(self, prefix: str, base: str | Path | None = None) -> None:
        """Create it in `base`, by default the temporary folder, and remove abandoned ones there."""
        base_folder = Path(tempfile.gettempdir() if base is None else base)
        remove_abandoned(base_folder, prefix)
        self.path = base_folder / f"{prefix}{secrets.token_hex(6)}"
        handles: list[int] = []
        # Before the folder exists, so that an interrupt at any moment leaves none.
        self._end = weakref.finalize(self, _remove, self.path, handles)
        self.path.mkdir(mode=0o700)
        # The lock is taken before it has its name, so a named lock is free only without an owner.
        early = self.path / f"{_LOCK}-early"
        handles.append(os.open(early, os.O_RDWR | os.O_CREAT, 0o600))
        if locks is not None:
            with contextlib.suppress(OSError):  # some network folders have no locks
                locks.flock(handles[0], locks.LOCK_EX | locks.LOCK_NB)
        early.rename(self.path / _LOCK)

    def make(self, name: str) -> Path:
        """Create a folder of mode 0700 inside."""
        folder = self.path / name
        folder.mkdir(mode=0o700)
        return folder

    def remove(self) -> None:
        """Remove it now."""
        self._end()


def _remove(path: Path, handles: list[int]) -> None:
    for handle in handles:
        os.close(handle)
    shutil.rmtree(path, ignore_errors=True)


def remove_abandoned(folder: Path, prefix: str) -> list[Path]:
    """Remove the folders in `folder` whose process is gone; returns them."""
    removed = []
    for path in _own_folders(folder, prefix):
        if _abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
    return removed


def _own_folders(folder: Path, prefix: str) -> Iterator[Path]:
    user = os.geteuid() if hasattr(os, "geteuid") else None
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(prefix) or not entry.is_dir(follow_symlinks=False):
                continue
            if user is None or entry.stat(follow_symlinks=False).st_uid == user:
                yield Path(entry.path)


def _abandoned(path: Path) -> bool:
    try:
        lock = os.open(path / _LOCK, os.O_RDWR)
    except FileNotFoundError:
        try:
            return time.time() - path.stat().st_mtime > _UNLOCKED_SECONDS
        except OSError:
            return False
    except OSError:
        return False
    try:
        if locks is None:
            return False
        locks.flock(lock, locks.LOCK_EX | locks.LOCK_NB)
    except OSError:
        return False  # its owner is running
    finally:
        os.close(lock)
    return True
