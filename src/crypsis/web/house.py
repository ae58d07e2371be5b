"""Everything a running server has: its limits, its tables, its jobs, its folder, its gate."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from crypsis.web.folder import PrivateFolder
from crypsis.web.jobs import Job, Jobs
from crypsis.web.security import Gate
from crypsis.web.settings import Settings
from crypsis.web.tables import File, Table, Tables
from crypsis.web.trouble import Trouble
from crypsis.web.uploads import format_of

DOWNLOADS = {
    "release.csv": ("text/csv", "the release"),
    "release.parquet": ("application/octet-stream", "the release"),
    "release.statement.md": ("text/markdown", "what was done, for everyone to read"),
    "release.statement.json": ("application/json", "the same for programs"),
    "plan.toml": ("text/plain", "the plan, to be used again"),
    "report.html": ("text/html", "the report of the table as it is"),
    "report.md": ("text/markdown", "the same as Markdown"),
    "report.json": ("application/json", "the same for programs"),
    "report-after.html": ("text/html", "the report of the release"),
    "report-after.md": ("text/markdown", "the same as Markdown"),
    "report-after.json": ("application/json", "the same for programs"),
    "comparison.html": ("text/html", "the comparison as a page"),
    "comparison.json": ("application/json", "the same for programs"),
    "attack.json": ("application/json", "the attack for programs"),
}
KEY = "owner.key.json"


class House:
    """One server."""

    def __init__(self, settings: Settings, gate: Gate) -> None:
        self.settings, self.gate = settings, gate
        self.private = PrivateFolder(settings.folder)
        self.tables = Tables(settings, self.private)
        self.jobs = Jobs(settings)

    def look(self, table: Table) -> Job:
        """Open the file of a table and look at its columns."""
        file = self.file(table, "data")
        table.looked, table.roles = None, {}
        table.forget()

        def keep(found: dict[str, Any]) -> None:
            table.looked = found
            names = {one["column"] for one in found["columns"]}
            table.roles = {
                name: r for name, r in table.files["data"].roles.items() if name in names
            }

        given = {"file": file}
        return self.jobs.start(
            table, "Looking at the columns", "look", given, keep, f"/t/{table.id}/columns"
        )

    def add_given(self, table: Table, slot: str, place: int) -> None:
        """Give a table one of the sources that the server was started with."""
        if place >= len(self.settings.given):
            raise Trouble("The server was not started with such a source.", 404)
        given = self.settings.given[place]
        table.files[slot] = File(
            given.source, given.title, False, dict(given.reading), dict(given.roles)
        )
        table.title = table.title or given.title

    def add_upload(self, table: Table, slot: str, path: str, title: str) -> None:
        """Give a table a file that was uploaded."""
        form = format_of(title)
        reading = {} if form == "toml" else {"format": form}
        table.files[slot] = File(path, title, True, reading)
        table.title = table.title or title

    @staticmethod
    def file(table: Table, slot: str) -> dict[str, Any]:
        """A file of a table as its process is told of it."""
        if slot not in table.files:
            raise Trouble(f"The file {slot!r} is not there yet; upload it first.", 409)
        file = table.files[slot]
        return {"path": file.path, "title": file.title, "reading": file.reading}

    def downloads(self, table: Table) -> list[str]:
        """What can be downloaded of a table, the key apart."""
        return [name for name in DOWNLOADS if (table.folder / name).is_file()]

    def told(self, table: Table) -> dict[str, Any]:
        """A table as the API tells it."""
        job = self.jobs.of(table.id)
        looked = table.looked or {}
        roles = table.decided
        columns = [
            {**one, "role": roles[one["column"]], "guessed": one["column"] not in table.roles}
            for one in looked.get("columns", [])
        ]
        for one in columns:
            one.pop("histogram", None)
        return {
            "id": table.id, "kind": table.kind, "title": table.title,
            "files": {slot: file.title for slot, file in table.files.items()},
            "rows": looked.get("rows"), "columns": columns, "guesses": table.guesses,
            "assessed": table.assessed is not None, "made": table.made is not None,
            "downloads": self.downloads(table), "hierarchies": list(table.hierarchies),
            "job": None if job is None else job.to_dict(),
        }  # fmt: skip

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


def house_of(request: Request) -> House:
    """The server that a request came to."""
    house: House = request.app.state.house
    return house
