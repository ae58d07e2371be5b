"""What this process writes, made or removed outside a folder, as Python itself tells it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

_ALLOWED: list[tuple[Path, list[str]]] = []
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = {"os.mkdir": 0, "os.rename": 1, "os.remove": 0, "os.rmdir": 0, "os.symlink": 1, "os.link": 1}


@cache
def _hooked() -> None:
    sys.addaudithook(_audit)


def _audit(event: str, given: tuple[Any, ...]) -> None:
    """Take note of every change to a file outside the allowed folder."""
    if not _ALLOWED:
        return
    if event == "open" and isinstance(given[2], int) and given[2] & _WRITING:
        where = given[0]
    elif event in _CHANGES:
        where = given[_CHANGES[event]]
    else:
        return
    if not isinstance(where, str | bytes | os.PathLike) or (event != "open" and given[-1] not in (-1, None)):
        return  # a descriptor, which was opened before
    path = Path(os.fsdecode(where)).resolve()
    allowed, written = _ALLOWED[-1]
    if allowed not in path.parents and path != Path(os.devnull) and "__pycache__" not in path.parts:
        written.append(f"{event} {path}")


@contextmanager
def changes_outside(folder: Path) -> Iterator[list[str]]:
    """What is written outside a folder meanwhile."""
    _hooked()
    written: list[str] = []
    _ALLOWED.append((folder, written))
    try:
        yield written
    finally:
        _ALLOWED.pop()
