"""How far long work is: one way for the terminal, the notebook and the page.

Work announces its steps; whoever started it may listen. Nobody has to::

    with progress.step("pairs of columns", total=45) as step:
        for pair in pairs:
            ...
            step.advance()

A listener is a function of one `Progress`. It may raise `Cancelled` to stop the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

_INTERVAL_SECONDS = 0.1
_T = TypeVar("_T")


@dataclass(frozen=True)
class Progress:
    """One piece of news: what is being done, how much is done, of how much if that is known."""

    what: str
    done: float
    total: float | None
    finished: bool = False


Listener = Callable[[Progress], None]
_listener: ContextVar[Listener | None] = ContextVar("crypsis_progress", default=None)


class Step:
    """A stretch of work that is under way."""

    def __init__(self, what: str, total: float | None) -> None:
        self.what, self.total, self.done = what, total, 0.0
        self._listener = _listener.get()
        self._told = 0.0

    def advance(self, amount: float = 1.0) -> None:
        """Say that `amount` more is done."""
        self.reach(self.done + amount)

    def reach(self, done: float) -> None:
        """Say that `done` in all is done."""
        self.done = done
        now = time.monotonic()
        if self._listener is not None and now - self._told >= _INTERVAL_SECONDS:
            self._told = now
            self._listener(Progress(self.what, done, self.total))

    def _tell_end(self) -> None:
        if self._listener is not None:
            self._listener(Progress(self.what, self.done, self.total, finished=True))


@contextmanager
def report_to(listener: Listener) -> Iterator[None]:
    """Send the progress of everything done inside to `listener`.

    >>> news = []
    >>> with report_to(news.append):
    ...     total = sum(track([1, 2, 3], "numbers"))
    >>> news[-1]
    Progress(what='numbers', done=3.0, total=3, finished=True)
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def listening() -> bool:
    """Whether anyone wants to hear of progress."""
    return _listener.get() is not None


@contextmanager
def step(what: str, total: float | None = None) -> Iterator[Step]:
    """Announce a stretch of work; the listener hears of its beginning and its end."""
    work = Step(what, total)
    work.reach(0.0)
    try:
        yield work
    finally:
        work._tell_end()


def track(items: Iterable[_T], what: str, total: float | None = None) -> Iterator[_T]:
    """Iterate over `items` and announce each as it is done."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with step(what, total) as work:
        for item in items:
            yield item
            work.advance()
