"""The progress of long computations, for the terminal, the notebook and the page.

A computation reports its steps to a listener, if there is one::

    with progress.step("pairs of columns", total=45) as step:
        for pair in pairs:
            ...
            step.advance()

`with progress.bars():` shows them. A listener is a function of one `Progress`. It may raise `CancelledError`
to cancel.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any, TypeVar

_INTERVAL_SECONDS = 0.1
_T = TypeVar("_T")


@dataclass(frozen=True)
class Progress:
    """What is being done, how much is done, and of how much, if that is known."""

    what: str
    done: float
    total: float | None
    finished: bool = False


Listener = Callable[[Progress], None]
_listener: ContextVar[Listener | None] = ContextVar("crypsis_progress", default=None)


class Step:
    """A step that is running."""

    def __init__(self, what: str, total: float | None) -> None:
        self.what, self.total, self.done = what, total, 0.0
        self._listener = _listener.get()
        self._reported = 0.0

    def advance(self, amount: float = 1.0) -> None:
        """Report that `amount` more is done."""
        self.reach(self.done + amount)

    def reach(self, done: float) -> None:
        """Report that `done` in total is done."""
        self.done = done
        now = time.monotonic()
        if self._listener is not None and now - self._reported >= _INTERVAL_SECONDS:
            self._reported = now
            self._listener(Progress(self.what, done, self.total))

    def _report_end(self) -> None:
        if self._listener is not None:
            self._listener(Progress(self.what, self.done, self.total, finished=True))


@contextmanager
def report_to(listener: Listener) -> Iterator[None]:
    """Report the progress of everything done inside to `listener`.

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


@contextmanager
def bars() -> Iterator[None]:
    """Show the progress of everything done inside as bars, in a terminal or a notebook.

    Where neither is there, nothing is shown.

    >>> with bars():
    ...     total = sum(track([1, 2, 3], "numbers"))
    >>> total
    6
    """
    display = _notebook_display()
    if display is not None:
        with report_to(_NotebookBars(display)):
            yield
    elif sys.stderr.isatty():
        with _terminal_bars() as listener, report_to(listener):
            yield
    else:
        yield


def _notebook_display() -> Any:
    """The module that shows things in the notebook that runs this, if one does."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return import_module("IPython.display")


class _NotebookBars:
    """One bar for each step, in one place of the output."""

    def __init__(self, display: Any) -> None:
        self.display = display
        self.handle: Any = None
        self.steps: dict[str, Progress] = {}

    def __call__(self, news: Progress) -> None:
        """Show what is known by now; a step that is finished is removed."""
        self.steps[news.what] = news
        if news.finished:
            del self.steps[news.what]
        shown = self.display.HTML("".join(map(self._bar, self.steps.values())))
        if self.handle is None:
            self.handle = self.display.display(shown, display_id=True)
        else:
            self.handle.update(shown)

    @staticmethod
    def _bar(news: Progress) -> str:
        amount = f" value='{news.done:g}' max='{news.total:g}'" if news.total else ""
        return f"<div><progress{amount}></progress> {escape(news.what)}</div>"


@contextmanager
def _terminal_bars() -> Iterator[Listener]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, TaskID] = {}

    def listen(news: Progress) -> None:
        if news.finished:
            if news.what in tasks:
                bars.remove_task(tasks.pop(news.what))
            return
        if news.what not in tasks:
            tasks[news.what] = bars.add_task(news.what[:50], total=news.total)
        bars.update(tasks[news.what], completed=news.done)

    with bars:
        yield listen


def listening() -> bool:
    """Whether there is a listener."""
    return _listener.get() is not None


@contextmanager
def step(what: str, total: float | None = None) -> Iterator[Step]:
    """A step whose start and end are reported."""
    work = Step(what, total)
    work.reach(0.0)
    try:
        yield work
    finally:
        work._report_end()


def track(items: Iterable[_T], what: str, total: float | None = None) -> Iterator[_T]:
    """Iterate over `items` and report each when it is done."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with step(what, total) as work:
        for item in items:
            yield item
            work.advance()
