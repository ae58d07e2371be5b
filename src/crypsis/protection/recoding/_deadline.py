"""A limit of the time that a search takes: what was found by then is released.

A search asks `passed` where it has something to release and could try more. Without a limit it ends by
itself, and the same data give the same release. With one it goes on after that, as long as it saves
something and has time left.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

_TICK_SECONDS = 0.02
"""How often it is examined whether the time of a search is over."""


class Deadline:
    """When a search is to end, and whether it was stopped then with more to try."""

    def __init__(self, seconds: float, several: bool) -> None:
        self._end = time.monotonic() + seconds
        self.several = several
        """Whether several searches are compared, so that none of them takes all the time."""
        self.stopped = False

    def passed(self) -> bool:
        """Whether it is time to end; a search that asks has more to try."""
        self.stopped = self.stopped or time.monotonic() >= self._end
        return self.stopped


_deadline: ContextVar[Deadline | None] = ContextVar("crypsis_deadline", default=None)


@contextmanager
def time_limit(seconds: float | None, *, several: bool = False) -> Iterator[Deadline | None]:
    """Limit the searches inside; those of one release share the limit of the first.

    >>> with time_limit(0.0):
    ...     passed()
    True
    >>> passed()
    False
    """
    if seconds is None or _deadline.get() is not None:
        yield _deadline.get()
        return
    token = _deadline.set(Deadline(seconds, several))
    try:
        yield _deadline.get()
    finally:
        _deadline.reset(token)


def limited() -> bool:
    """Whether there is a limit."""
    return _deadline.get() is not None


def time_left() -> bool:
    """Whether a search that has ended by itself may go on until the limit."""
    deadline = _deadline.get()
    return deadline is not None and not deadline.several and not deadline.passed()


def passed() -> bool:
    """Whether there is a limit and it is over."""
    deadline = _deadline.get()
    return deadline is not None and deadline.passed()


@contextmanager
def ends(work: NDArray[np.int64]) -> Iterator[None]:
    """Set the work that a kernel has left to 0 once the time is over; it runs without the lock."""
    deadline = _deadline.get()
    if deadline is None:
        yield
        return
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_TICK_SECONDS):
            if deadline.passed():
                work[0] = 0

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
