"""The open tables: each with its files, its roles, its results and its process."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crypsis.files import PrivateFolder
from crypsis.options import EACH_RECORD
from crypsis.web.draft import (
    PlanDraft,
    StaleError,
    Value,
    check_names,
    counted_for,
    defaults_of,
    differing,
    plan_form,
)
from crypsis.web.errors import RequestError
from crypsis.web.forms import AnonymizeForm
from crypsis.web.limits import watched
from crypsis.web.results import RELEASED, REPORTS, remove, stamp
from crypsis.web.settings import Settings
from crypsis.web.worker_process import WorkerPool, WorkerProcess

_QUICK_SECONDS = 60.0
"""An answer without a job that takes longer is stopped."""


@dataclass(frozen=True)
class TableFile:
    """A file of a table: where it is, what it was called, and how it is read."""

    path: str
    title: str
    uploaded: bool
    reading: dict[str, Any] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    """What was decided on the command line."""


class OpenTable:
    """One piece of work: a table on its way to release, or files to be compared or attacked."""

    def __init__(self, kind: str, title: str, folder: Path, settings: Settings, pool: WorkerPool) -> None:
        self.id = secrets.token_hex(8)
        self.kind, self.title, self.folder = kind, title, folder
        self.files: dict[str, TableFile] = {}
        self.hierarchies: dict[str, str] = {}
        """For a column the slot of the file with its hierarchy."""
        self.roles: dict[str, str] = {}
        """What was decided; guesses are in `profile`."""
        self.notes: dict[str, dict[str, Any]] = {}
        """What was written about columns besides the role, by the fields of `ColumnNote`."""
        self.units: dict[str, str] = {}
        """The columns of the person, the household, the weight, the stratum and the cluster; the person
        may be "each record", with a `person_reason`."""
        self.absent: dict[str, str] = {}
        """The columns of the person and the household that its roles file has, and the table lacks."""
        self.profile: dict[str, Any] | None = None
        self.draft = PlanDraft()
        """What is chosen: the plan of the preview, of the trial and of the release."""
        self.requirements: dict[str, Any] = {}
        """What the policy that was asked last requires; it stays when the roles change."""
        self.tried: dict[str, Any] | None = None
        """What recipients would get, by the choices when it was tried."""
        self.explored: dict[str, Any] | None = None
        self.asked: dict[str, Any] = {}
        """How the table was assessed last: policy, population, weights and the like."""
        self.assessed: dict[str, Any] | None = None
        self.preview: dict[str, Any] | None = None
        self._made: dict[str, Any] | None = None
        self.found: dict[str, Any] | None = None
        """The result of a comparison, a verification or an attack."""
        self.used = time.monotonic()
        self._settings, self._pool = settings, pool
        self._worker: WorkerProcess | None = None
        self._lock = threading.Lock()
        self._closed = False

    def touch(self) -> None:
        """The table was used now."""
        self.used = time.monotonic()

    def worker(self) -> WorkerProcess:
        """The process of this table; a new one that has opened the file, if the last one ended."""
        with self._lock:
            if self._closed:
                raise RequestError("This table was closed.", 404)
            if self._worker is None or not self._worker.alive:
                self._worker = self._pool.take()
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

    async def quick(self, do: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """An answer that takes no job: from what is counted already."""
        self.touch()
        worker, stop = await asyncio.to_thread(self.worker), threading.Event()
        question = worker.ask(do, arguments)
        try:
            return await asyncio.to_thread(
                watched, worker, question, self._settings, self.folder, stop, _QUICK_SECONDS
            )
        except asyncio.CancelledError:
            stop.set()
            raise
        finally:
            self.tidy()

    def tidy(self) -> None:
        """Remove the temporary files of a process that was killed."""
        with self._lock:
            if self._worker is not None and not self._worker.alive:
                shutil.rmtree(self.folder / "spill", ignore_errors=True)

    @property
    def decided(self) -> dict[str, str]:
        """The role of every column: decided, else guessed."""
        guessed = {column["column"]: column["role"] for column in (self.profile or {}).get("columns", ())}
        return {**guessed, **self.roles}

    @property
    def guesses(self) -> int:
        """How many columns are undecided: their role is a guess or none."""
        return sum(self.roles.get(name, "undecided") == "undecided" for name in self.decided)

    @property
    def defaults(self) -> dict[str, Value]:
        """What each field of the page begins with."""
        return defaults_of(self.requirements, self.asked)

    @property
    def plan(self) -> AnonymizeForm:
        """The release that the list of choices comes to."""
        return plan_form({**self.defaults, **self.draft.chosen})

    def choose(self, changes: Mapping[str, Value | None]) -> None:
        """Change the list of choices in one step; one that is no plan is refused."""
        check_names(changes, self.decided)
        defaults = self.defaults
        plan_form({**defaults, **differing({**self.draft.chosen, **changes}, defaults)})
        self.draft.choose(changes, defaults)

    @property
    def previewed(self) -> bool:
        """Whether the cells are counted for the list of choices as it is."""
        return self.preview is not None and self.preview["counted_for"] == counted_for(self.plan)

    @property
    def version(self) -> int:
        """The number of what is shown of the plan; it grows whenever any part of it changes."""
        uploaded = [(slot, file.path, file.title) for slot, file in self.files.items()]
        return self.draft.numbered(
            repr((self.defaults, self.decided, self.notes, self.units, self.hierarchies, uploaded))
        )

    def check_version(self, version: str | None) -> None:
        """Refuse what was asked by whoever was shown another list."""
        if version is not None and version.strip('" ') != str(self.version):
            raise StaleError

    def accept(self) -> None:
        """Decide the columns by their guesses, where those are confident enough."""
        from crypsis.columns.roles import CONFIDENT

        for column in (self.profile or {}).get("columns", ()):
            if column["confidence"] >= CONFIDENT:
                self.roles.setdefault(column["column"], column["role"])

    @property
    def made(self) -> dict[str, Any] | None:
        """The release; None once its file was written again and not measured to the end."""
        release = self._made
        if release is None or release["stamp"] != stamp(self.folder / f"release.{release['form']}"):
            return None
        return release

    @made.setter
    def made(self, result: dict[str, Any] | None) -> None:
        file = None if result is None else self.folder / f"release.{result['form']}"
        self._made = None if result is None or file is None else {**result, "stamp": stamp(file)}

    @property
    def results(self) -> str:
        """What would be lost with other roles, in words; empty if there is nothing."""
        if self.made is not None:
            return "the verdict, the release and its re-identification key"
        return "the verdict" if self.assessed is not None else ""

    @property
    def unit_columns(self) -> dict[str, str]:
        """The units that are columns of the table."""
        return {
            unit: name
            for unit, name in self.units.items()
            if unit != "person_reason" and (unit, name) != ("person", EACH_RECORD)
        }

    def forget(self) -> None:
        """Roles have changed: results with other roles are no longer valid, nor are their files."""
        self.assessed = self.preview = self.made = self.tried = self.explored = None
        remove(self.folder, (*REPORTS, *RELEASED))

    def close(self) -> None:
        """End the process and remove every file of ours."""
        with self._lock:
            self._closed = True
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class OpenTables:
    """All tables of a server."""

    def __init__(self, settings: Settings, private: PrivateFolder) -> None:
        self._settings, self._private = settings, private
        self._pool = WorkerPool()
        self._tables: dict[str, OpenTable] = {}
        self._lock = threading.Lock()

    def create(self, kind: str, title: str) -> OpenTable:
        """A new table without files."""
        with self._lock:
            self.check_room()
            folder = self._private.make(secrets.token_hex(8))
            table = OpenTable(kind, title, folder, self._settings, self._pool)
            self._tables[table.id] = table
        return table

    def check_room(self) -> None:
        """Raise where no further table may be open."""
        if len(self._tables) >= self._settings.tables:
            raise RequestError(
                f"{len(self._tables)} tables are open, which is the limit.",
                429,
                hint="Close one first, or raise {tables}.",
            )

    def get(self, name: str) -> OpenTable:
        """The table of that name."""
        table = self._tables.get(name)
        if table is None:
            raise RequestError("The table does not exist; it may have been closed.", 404)
        table.touch()
        return table

    def every(self) -> list[OpenTable]:
        """All tables, the latest first."""
        return list(self._tables.values())[::-1]

    def close(self, name: str) -> None:
        """Close a table and remove its files."""
        with self._lock:
            table = self._tables.pop(name, None)
        if table is None:
            raise RequestError("The table does not exist; it may have been closed.", 404)
        table.close()

    def idle(self) -> list[str]:
        """The tables that were not used for too long."""
        limit = time.monotonic() - self._settings.idle_seconds
        return [table.id for table in list(self._tables.values()) if table.used < limit]

    def end(self) -> None:
        """Close everything."""
        for name in list(self._tables):
            self.close(name)
        self._pool.end()
