"""Jobs: a limited number at once, each with limits of time and memory, cancellable."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crypsis.web.errors import RequestError, StoppedError
from crypsis.web.limits import watched
from crypsis.web.settings import Settings
from crypsis.web.wording import page_option

if TYPE_CHECKING:
    from crypsis.web.open_tables import OpenTable

_MAX_JOBS_PER_THREAD = 8
"""Jobs that run or wait, for each that may run; more are refused."""
_MAX_FINISHED_JOBS = 200
"""Finished jobs whose answers are kept: the last ones."""
_MAIN = {"assess": "assessing", "anonymize": "making the release", "explore": "alternatives"}
"""The step of an operation whose parts are those of the job; others come before or inside it."""
_PARTLY_KNOWN = "assess"
"""The operation that shows what is known by then when it is cancelled."""


@dataclass(eq=False)
class Job:
    """One piece of work on a table."""

    id: str
    table: str
    what: str
    page: str
    """Where to go when it is done."""
    state: str = "waiting"
    error: str | None = None
    status: int = 200
    background: bool = False
    """Whether other work on the table cancels it instead of being refused."""
    question: Any = None
    """What is asked: two windows that ask the same of a table wait for the same job."""
    waited_for: bool = False
    """Whether it is waited for after it was cancelled, because it then has a part of its result."""
    main: str | None = None
    """The step that says how much of the job is done."""
    share: float | None = None
    """How much is done, where that is known; it never falls."""
    started: float | None = None
    ended: float | None = None
    steps: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    stop: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def active(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("waiting", "running")

    def cancel(self) -> None:
        """Stop it; for whoever asked it is over at once, even if its process takes longer to stop."""
        self.stop.set()
        if self.active and not self.waited_for:
            self.end("cancelled", StoppedError())

    def end(self, state: str, error: RequestError | None = None) -> None:
        """It is over."""
        self.steps.clear()
        if error is not None:
            self.error, self.status = error.text(page_option), error.status
        self.ended, self.state = time.monotonic(), state

    def hear(self, news: dict[str, Any]) -> None:
        """Take note of how far it is."""
        if news["finished"]:
            self.steps.pop(news["what"], None)
        else:
            self.steps[news["what"]] = (news["done"], news["total"])
        if news["what"] == self.main and news["total"] and news["done"]:
            self.share = max(self.share or 0.0, min(1.0, news["done"] / news["total"]))

    def to_dict(self) -> dict[str, Any]:
        """The job as the API returns it."""
        steps = [
            {"what": what, "done": done, "total": total} for what, (done, total) in list(self.steps.items())
        ]
        end = time.monotonic() if self.ended is None else self.ended
        seconds = 0.0 if self.started is None else round(end - self.started, 1)
        return {
            "id": self.id,
            "table": self.table,
            "what": self.what,
            "state": self.state,
            "steps": steps,
            "share": self.share,
            "seconds": seconds,
            "error": self.error,
            "page": self.page,
        }


class Jobs:
    """All jobs of a server."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._threads = ThreadPoolExecutor(settings.jobs, thread_name_prefix="job")
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(
        self,
        table: OpenTable,
        what: str,
        do: str,
        arguments: dict[str, Any],
        then: Callable[[dict[str, Any]], None],
        page: str,
        *,
        background: bool = False,
    ) -> Job:
        """Put work in line; `then` takes what comes out, before the job counts as done.

        Background work, such as a preview, gives way to whatever else is asked of the table next.
        """
        with self._lock:
            active = [job for job in self._jobs.values() if job.active]
            if any(not job.background for job in active if job.table == table.id):
                raise RequestError("A job is running on this table; wait for it or cancel it first.", 409)
            same = [job for job in active if (job.table, job.question) == (table.id, (do, arguments))]
            if background and same:
                return same[0]
            if len(active) >= _MAX_JOBS_PER_THREAD * self._settings.jobs:
                raise RequestError("Too many jobs are waiting; try again later.", 429)
            job = Job(
                secrets.token_hex(8),
                table.id,
                what,
                page,
                background=background,
                question=(do, arguments) if background else None,
                waited_for=do == _PARTLY_KNOWN,
                main=_MAIN.get(do),
            )
            before = [job for job in self._jobs.values() if job.table == table.id]
            for earlier_job in before:
                earlier_job.cancel()
            self._jobs[job.id] = job
            for old in [job for job in self._jobs.values() if not job.active][:-_MAX_FINISHED_JOBS]:
                del self._jobs[old.id]
        self._threads.submit(self._run, job, before, table, do, arguments, then)
        return job

    def get(self, name: str) -> Job:
        """The job of that name."""
        if name not in self._jobs:
            raise RequestError("The job does not exist.", 404)
        return self._jobs[name]

    def of(self, table: str) -> Job | None:
        """The work going on at a table, without what gives way to other work."""
        mine = [job for job in list(self._jobs.values()) if job.table == table and job.active]
        return next((job for job in mine if not job.background), None)

    def every(self) -> list[Job]:
        """All jobs that are remembered."""
        return list(self._jobs.values())

    def cancel(self, name: str) -> Job:
        """Cancel a job."""
        job = self.get(name)
        with self._lock:
            job.cancel()
        return job

    def drop_background(self, table: str) -> None:
        """Stop the background work at a table; nothing that it finds is taken after this."""
        with self._lock:
            for job in self._jobs.values():
                if job.background and job.table == table:
                    job.cancel()

    def cancel_all(self, table: str | None = None) -> None:
        """Stop everything, or everything at a table."""
        for job in list(self._jobs.values()):
            if table in (None, job.table):
                job.stop.set()

    def end(self) -> None:
        """Stop everything and wait for it."""
        self.cancel_all()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _run(
        self,
        job: Job,
        before: list[Job],
        table: OpenTable,
        do: str,
        arguments: dict[str, Any],
        then: Callable[[dict[str, Any]], None],
    ) -> None:
        for earlier_job in before:  # one that does not stop when asked ends with the table's process
            earlier_job.over.wait()
        end: tuple[str, RequestError | None] = ("done", None)
        try:
            with self._lock:
                if job.stop.is_set():
                    raise StoppedError  # noqa: TRY301 - it ends like one that was stopped later
                job.started, job.state = time.monotonic(), "running"
            worker = table.worker()
            question = worker.ask(do, arguments, job.hear)
            result = watched(worker, question, self._settings, table.folder, job.stop)
            with self._lock:
                if job.active:
                    then(result)
        except StoppedError as stopped:
            end = "cancelled", stopped
        except RequestError as error:
            end = "failed", error
        except Exception as error:  # noqa: BLE001 - its text may quote data
            end = "failed", RequestError(f"An internal fault ({type(error).__name__}).", 500)
        finally:
            with self._lock:
                if job.active:
                    job.end(*end)
            job.over.set()
            table.tidy()
            table.touch()
