"""What is open: each table with its files, its roles, what was found of it and what it became."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crypsis.web.folder import PrivateFolder
from crypsis.web.link import Crew, Worker
from crypsis.web.settings import Settings
from crypsis.web.trouble import Trouble

_QUICK_SECONDS = 60.0


@dataclass(frozen=True)
class File:
    """A file of a table: where it is, what it was called, and how it is read."""

    path: str
    title: str
    uploaded: bool
    reading: dict[str, Any] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    """What was decided on the command line."""


class Table:
    """One piece of work: a table on its way to release, or files to be compared or attacked."""

    def __init__(self, kind: str, title: str, folder: Path, settings: Settings, crew: Crew) -> None:
        self.id = secrets.token_hex(8)
        self.kind, self.title, self.folder = kind, title, folder
        self.files: dict[str, File] = {}
        self.hierarchies: dict[str, str] = {}
        """For a column the slot of the file that holds its hierarchy."""
        self.roles: dict[str, str] = {}
        """What somebody decided; guesses are in `looked`."""
        self.looked: dict[str, Any] | None = None
        self.assessed: dict[str, Any] | None = None
        self.sketched: dict[str, Any] | None = None
        self.made: dict[str, Any] | None = None
        self.found: dict[str, Any] | None = None
        """What a comparison, a check or an attack brought."""
        self.used = time.monotonic()
        self._settings, self._crew = settings, crew
        self._worker: Worker | None = None
        self._lock = threading.Lock()
        self._closed = False

    def touch(self) -> None:
        """Somebody is here."""
        self.used = time.monotonic()

    def worker(self) -> Worker:
        """The process of this table; a new one that has opened the file, if the last one ended."""
        with self._lock:
            if self._closed:
                raise Trouble("This table was closed.", 404)
            if self._worker is None or not self._worker.alive:
                self._worker = self._crew.take()
                self._worker.ask("begin", self._beginning())
            return self._worker

    def _beginning(self) -> dict[str, Any]:
        limits = self._settings
        return {
            "folder": str(self.folder),
            "memory_limit": f"{max(100, int(limits.job_bytes * 0.5 / 1e6))}MB",
            "rows": limits.rows,
            "columns": limits.columns,
        }

    async def quick(self, do: str, given: dict[str, Any]) -> dict[str, Any]:
        """An answer that takes no job: from what is counted already."""
        self.touch()
        worker = await asyncio.to_thread(self.worker)
        question = worker.ask(do, given)
        try:
            answer: dict[str, Any] = await asyncio.wait_for(
                asyncio.wrap_future(question.answer), _QUICK_SECONDS
            )
        except TimeoutError:
            raise Trouble("That took too long; try it with fewer columns.", 409) from None
        except asyncio.CancelledError:
            worker.cancel(question)
            raise
        return answer

    @property
    def decided(self) -> dict[str, str]:
        """The role of every column: decided, else guessed."""
        guessed = {one["column"]: one["role"] for one in (self.looked or {}).get("columns", ())}
        return {**guessed, **self.roles}

    @property
    def guesses(self) -> int:
        """How many roles nobody decided."""
        return len(self.decided) - len(self.roles)

    def forget(self) -> None:
        """Roles have changed: what was found with others does not hold any more."""
        self.assessed = self.sketched = self.made = None

    def close(self) -> None:
        """End the process and remove every file of ours."""
        with self._lock:
            self._closed = True
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Tables:
    """All tables of a server."""

    def __init__(self, settings: Settings, private: PrivateFolder) -> None:
        self._settings, self._private = settings, private
        self._crew = Crew()
        self._tables: dict[str, Table] = {}
        self._lock = threading.Lock()

    def create(self, kind: str, title: str) -> Table:
        """A new table without files."""
        with self._lock:
            if len(self._tables) >= self._settings.tables:
                raise Trouble(
                    f"{len(self._tables)} tables are open, which is the most (--tables); close "
                    "one first.", 429,
                )  # fmt: skip
            folder = self._private.make(secrets.token_hex(8))
            table = Table(kind, title, folder, self._settings, self._crew)
            self._tables[table.id] = table
        return table

    def get(self, name: str) -> Table:
        """The table of that name."""
        table = self._tables.get(name)
        if table is None:
            raise Trouble("There is no such table; it may have been closed.", 404)
        table.touch()
        return table

    def every(self) -> list[Table]:
        """All tables, the latest first."""
        return list(self._tables.values())[::-1]

    def close(self, name: str) -> None:
        """Close a table and remove its files."""
        with self._lock:
            table = self._tables.pop(name, None)
        if table is None:
            raise Trouble("There is no such table; it may have been closed.", 404)
        table.close()

    def idle(self) -> list[str]:
        """The tables that nobody has looked at for too long."""
        limit = time.monotonic() - self._settings.idle_seconds
        return [table.id for table in list(self._tables.values()) if table.used < limit]

    def end(self) -> None:
        """Close everything."""
        for name in list(self._tables):
            self.close(name)
        self._crew.end()
