"""Everything a running server has: its limits, its tables, its jobs, its folder, its gate."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import Request

from crypsis.files import PrivateFolder
from crypsis.tables import RECORD
from crypsis.web.errors import RequestError
from crypsis.web.jobs import Job, Jobs
from crypsis.web.open_tables import OpenTable, OpenTables, TableFile
from crypsis.web.results import APART, RELEASED
from crypsis.web.security import Gate
from crypsis.web.settings import Settings
from crypsis.web.uploads import format_of

CLEAN_COPY = "clean.parquet"
DOWNLOADS = {
    "release.zip": ("application/zip", "the package: release, statement and dossier, with digests"),
    "dossier.html": ("text/html", "the dossier: one document to hand in"),
    "release.csv": ("text/csv", "the release"),
    "release.parquet": ("application/octet-stream", "the release"),
    **{
        name: (
            "text/csv" if name.endswith("csv") else "application/octet-stream",
            "a sensitive attribute that is released apart",
        )
        for name in APART
    },
    **{
        f"release.{form}.statement.{suffix}": (kind, text)
        for form in ("csv", "parquet")
        for suffix, kind, text in (
            ("md", "text/markdown", "the statement: what was done, without values of the data"),
            ("json", "application/json", "the same for programs"),
        )
    },
    CLEAN_COPY: (
        "application/octet-stream",
        "the clean copy: the rows of the table and nothing besides them",
    ),
    f"{CLEAN_COPY}{RECORD}": ("application/json", "the record of the clean copy, with its digest"),
    "plan.toml": ("text/plain", "the plan, to be used again"),
    "report.html": ("text/html", "the report of the table as it was opened"),
    "report.md": ("text/markdown", "the same as Markdown"),
    "report.json": ("application/json", "the same for programs"),
    "report-after.html": ("text/html", "the report of the release"),
    "report-after.md": ("text/markdown", "the same as Markdown"),
    "report-after.json": ("application/json", "the same for programs"),
    "comparison.html": ("text/html", "the comparison as a page"),
    "comparison.json": ("application/json", "the same for programs"),
    "attack.json": ("application/json", "the attack for programs"),
}
HANDED_OVER = ("release.zip", "dossier.html", "release.csv", "release.parquet", *APART)
"""What people take away first; the rest is for programs."""
KEY = "reidentification.key.json"


class Workspace:
    """One server."""

    def __init__(self, settings: Settings, gate: Gate) -> None:
        self.settings, self.gate = settings, gate
        self.private = PrivateFolder("crypsis-serve-", settings.folder)
        self.tables = OpenTables(settings, self.private)
        self.jobs = Jobs(settings)

    def create(self, kind: str, title: str) -> OpenTable:
        """A new table without files."""
        self.make_room()
        return self.tables.create(kind, title)

    def make_room(self) -> None:
        """Raise where no further table may be open. Of those that failed only the last one stays."""
        failed = [
            table.id
            for table in reversed(self.tables.every())
            if table.kind == "release" and table.profile is None and self.tried(table)
        ]
        for name in failed[:-1]:
            self.close(name)
        self.tables.check_room()

    @contextmanager
    def arriving(self) -> Iterator[Path]:
        """A folder for a file that is on its way, until the end of the block."""
        folder = self.private.make(secrets.token_hex(8))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def tried(self, table: OpenTable) -> bool:
        """Whether work on a table has ended, and none goes on."""
        jobs = [job for job in self.jobs.every() if job.table == table.id]
        return bool(jobs) and not any(job.active for job in jobs)

    def forget(self, table: OpenTable) -> None:
        """Drop what was found with other roles, and what is still being found with them."""
        self.jobs.drop_background(table.id)
        table.forget()

    def scan(self, table: OpenTable) -> Job:
        """Open the file of a table and profile its columns."""
        file = self.file(table, "data")
        table.profile, table.asked, table.requirements = None, {}, {}
        self.forget(table)

        def keep(profile: dict[str, Any]) -> None:
            table.profile = profile
            names = {column["column"] for column in profile["columns"]}
            decided = {**table.files["data"].roles, **table.roles}
            table.roles = {name: role for name, role in decided.items() if name in names}
            table.notes = {name: note for name, note in table.notes.items() if name in names}
            for unit, name in table.unit_columns.items():
                if name not in names:
                    del table.units[unit]
            if self.settings.prepare:
                table.worker().ask("prepare", {})  # nobody waits for it

        arguments = {"file": file}
        return self.jobs.start(
            table, "Profiling the columns", "scan", arguments, keep, f"/t/{table.id}/columns"
        )

    def rewrite(self, table: OpenTable) -> Job:
        """Write a table anew; the clean copy is the file of the table from then on."""
        if table.made is not None:
            raise RequestError("A release was made of this table; that file has nothing else in it.", 409)
        file = self.file(table, "data")
        path = table.folder / CLEAN_COPY
        if file["path"] == str(path):
            raise RequestError("The file of the table is the clean copy already.", 409)

        def keep(_: dict[str, Any]) -> None:
            title = f"{Path(table.files['data'].title).stem}.parquet"
            table.files["data"] = TableFile(str(path), title, True, {"format": "parquet"})
            table.forget()

        self.jobs.drop_background(table.id)
        arguments = {"file": file, "name": CLEAN_COPY}
        return self.jobs.start(
            table, "Writing the clean copy", "rewrite", arguments, keep, f"/t/{table.id}/verdict"
        )

    def add_given(self, table: OpenTable, slot: str, index: int) -> None:
        """Give a table one of the sources that the server was started with."""
        if index >= len(self.settings.given):
            raise RequestError("The server was not started with such a source.", 404)
        source = self.settings.given[index]
        table.files[slot] = TableFile(
            source.source, source.title, False, dict(source.reading), dict(source.roles)
        )
        table.title = table.title or source.title

    def add_upload(self, table: OpenTable, slot: str, path: str, title: str) -> None:
        """Give a table a file that was uploaded."""
        form = format_of(title)
        reading = {} if form == "toml" else {"format": form}
        table.files[slot] = TableFile(path, title, True, reading)
        table.title = table.title or title

    @staticmethod
    def file(table: OpenTable, slot: str) -> dict[str, Any]:
        """A file of a table as its process gets it."""
        if slot not in table.files:
            raise RequestError(f"The file {slot!r} is not there yet; upload it first.", 409)
        file = table.files[slot]
        file_arguments = {"path": file.path, "title": file.title, "reading": file.reading}
        if slot != "data":
            return file_arguments
        return {
            **file_arguments,
            "notes": dict(table.notes),
            "units": dict(table.units),
            "absent": dict(table.absent),
        }

    def downloads(self, table: OpenTable) -> list[str]:
        """What can be downloaded of a table, the key apart; a release only if it was measured."""
        hidden = () if table.made is not None else RELEASED
        return [name for name in DOWNLOADS if name not in hidden and (table.folder / name).is_file()]

    def state(self, table: OpenTable) -> dict[str, Any]:
        """A table as the API returns it."""
        job = self.jobs.of(table.id)
        profile = table.profile or {}
        roles = table.decided
        columns = [
            {
                **column,
                "role": roles[column["column"]],
                "guessed": column["column"] not in table.roles,
                "note": table.notes.get(column["column"], {}),
            }
            for column in profile.get("columns", [])
        ]
        for column in columns:
            column.pop("histogram", None)
        return {
            "id": table.id,
            "kind": table.kind,
            "title": table.title,
            "files": {slot: file.title for slot, file in table.files.items()},
            "rows": profile.get("rows"),
            "columns": columns,
            "guesses": table.guesses,
            "units": dict(table.units),
            "read_as": profile.get("read_as", {}),
            "assessed": table.assessed is not None,
            "made": table.made is not None,
            "downloads": self.downloads(table),
            "hierarchies": list(table.hierarchies),
            "job": None if job is None else job.to_dict(),
        }

    def close(self, name: str) -> None:
        """Close a table, whatever it is doing."""
        self.jobs.cancel_all(name)
        self.tables.close(name)

    def end(self) -> None:
        """Stop everything and leave nothing behind."""
        self.jobs.cancel_all()
        self.tables.end()
        self.jobs.end()
        self.private.remove()


def workspace_of(request: Request) -> Workspace:
    """The server that a request came to."""
    workspace: Workspace = request.app.state.workspace
    return workspace
