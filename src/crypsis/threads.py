"""How many threads there may be, and work that is shared among them without waiting for ever.

One setting bounds them all: the environment variable CRYPSIS_THREADS, read when crypsis is imported
(Numba, OpenMP, Arrow and Polars take their numbers from the environment) and when DuckDB or Spark is
started. Without it every part uses all cores.
"""

from __future__ import annotations

import _thread
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from crypsis.errors import ParameterError

VARIABLE = "CRYPSIS_THREADS"
_OTHERS = (
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "POLARS_MAX_THREADS",
)
_TICK = 0.001  # seconds


def thread_limit() -> int | None:
    """The number that CRYPSIS_THREADS sets, or None where it is not set."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError(f"{VARIABLE} must be a whole number of at least 1.", parameter="threads")
    return int(text)


def thread_count() -> int:
    """How many threads to use: as many as there are cores, or fewer where that is set."""
    cores = os.cpu_count() or 1
    limit = thread_limit()
    return cores if limit is None else min(cores, limit)


def bound_libraries() -> None:
    """Set the numbers of threads of libraries that read them from the environment once."""
    text = os.environ.get(VARIABLE, "").strip()
    if text.isdecimal() and int(text) > 0:
        for name in _OTHERS:
            os.environ.setdefault(name, str(min(int(text), os.cpu_count() or 1)))


def one_thread() -> Any:
    """A context in which linear algebra and OpenMP use one thread.

    Small models in several threads wait for each other: on a busy machine for minutes. Only libraries
    that are loaded are limited.
    """
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)


def map_threads(
    function: Callable[..., Any], *columns: Sequence[Any], threads: int | None = None
) -> list[Any]:
    """What the function makes of each, in their order, on all cores that can be had, or `threads`.

    The caller works too and waits only for work that a thread has begun. So a thread that the system
    refuses, or that ends for want of memory before it does anything, costs time and nothing else;
    `concurrent.futures` would wait for it for ever.

    >>> map_threads(pow, [2, 3], [5, 2])
    [32, 9]
    """
    tasks = list(zip(*columns, strict=True))
    shared = _Shared(function, tasks)
    for _ in range(min(threads or thread_count(), len(tasks)) - 1):
        try:
            _thread.start_new_thread(shared.help, ())
        except (RuntimeError, MemoryError):
            break
    return shared.work()


class _Shared:
    """Tasks that are taken one by one; the first error ends it."""

    def __init__(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> None:
        self._function, self._tasks = function, tasks
        self._results: list[Any] = [None] * len(tasks)
        self._errors: list[BaseException] = []
        self._lock = threading.Lock()
        self._begun = self._helping = 0

    def work(self) -> list[Any]:
        """Do what nobody else has begun, wait for the others, return all results."""
        try:
            while (index := self._next(0)) >= 0:
                self._results[index] = self._function(*self._tasks[index])
        except BaseException as error:  # noqa: BLE001 - raised below
            self._errors.insert(0, error)
        while self._helping:
            time.sleep(_TICK)
        if self._errors:
            raise self._errors[0]
        return self._results

    def help(self) -> None:
        """Do the same in another thread."""
        while (index := self._next(1)) >= 0:
            try:
                self._results[index] = self._function(*self._tasks[index])
            except BaseException as error:  # noqa: BLE001 - raised below
                self._errors.append(error)
            finally:
                with self._lock:
                    self._helping -= 1

    def _next(self, added_threads: int) -> int:
        with self._lock:
            if self._errors or self._begun == len(self._tasks):
                return -1
            self._begun += 1
            self._helping += added_threads
            return self._begun - 1
