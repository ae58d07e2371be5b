"""What a table's process has before it: files opened once, with what was counted of them."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from crypsis.dataset import ColumnNote, Dataset, read
from crypsis.errors import InputError, SourceError, TooLargeError
from crypsis.options import Role

if TYPE_CHECKING:
    from crypsis.assessment import Assessment
    from crypsis.protection import Anonymized, Preview
    from crypsis.tables import Rows


class TableSession:
    """The files that are open, by where they are and how they are read."""

    def __init__(self) -> None:
        self.folder = Path()
        self.memory_limit: str | None = None
        self.rows = self.columns = 0
        self.preview: Preview | None = None
        self.records: tuple[Any, Any] | None = None
        """The records that are shown, with what they were read for."""
        self.made: tuple[Anonymized, Assessment, str] | None = None
        """The release that was made last, its assessment and the name of its file."""
        self.tried: tuple[str, int | None] | None = None
        """The choices that were tried last, and the seed of their masks: a release of them has the same."""
        self.samples: WeakKeyDictionary[Rows, dict[int, Rows]] = WeakKeyDictionary()
        """The records on which a release of a large table is tried, by their number."""
        self.engine = threading.Lock()
        """One question at a time goes to the rows; what is counted may be asked meanwhile."""
        self._open: dict[tuple[Any, ...], Dataset] = {}

    @property
    def spill(self) -> Path:
        """Where what does not fit in memory goes."""
        spill_folder = self.folder / "spill"
        spill_folder.mkdir(mode=0o700, exist_ok=True)
        return spill_folder

    def release(
        self,
        file: Mapping[str, Any],
        roles: Mapping[str, str] | None = None,
        *,
        population: int | None = None,
        person: str | None = None,
        weight: str | None = None,
        household: str | None = None,
        stratum: str | None = None,
        cluster: str | None = None,
    ) -> Dataset:
        """A file as a Dataset with these roles; what was counted of it before is still known."""
        reading = dict(file.get("reading") or {})
        path = Path(file["path"])
        stamp = path.stat().st_mtime_ns if path.is_file() else 0  # a release may be made again
        key = (file["path"], stamp, repr(sorted(reading.items())))
        if key not in self._open:
            try:
                self._open[key] = self._opened(file["path"], reading)
            except SourceError as error:  # by the name that its owner knows
                file_name, known_as = Path(file["path"]).name, file.get("title", "")
                message = error.message.replace(repr(file_name), repr(known_as))
                raise SourceError(message, code=error.code, hint=error.hint, **error.parameters) from None
        opened = self._open[key]
        if population is not None and population < opened.count:
            raise InputError(
                f"The population ({population:,}) is smaller than the table ({opened.count:,} rows)."
            )
        decided = {name: Role(role) for name, role in (roles or {}).items()}
        written = (file.get("notes") or {}).items()
        notes = {name: ColumnNote(**note) for name, note in written if name in decided}
        units_by_name = {
            "person": person,
            "weight": weight,
            "household": household,
            "stratum": stratum,
            "cluster": cluster,
        }
        units: dict[str, Any] = dict(file.get("units") or {}) if roles else {}
        units |= {unit: name for unit, name in units_by_name.items() if name is not None}
        units["absent"] = dict(file.get("absent") or {}) if roles else {}
        return replace(opened, roles=decided, notes=notes, population=population, **units)

    def _opened(self, path: str, reading: dict[str, Any]) -> Dataset:
        dataset = read(
            path, memory_limit=self.memory_limit, spill_folder=self.spill, max_rows=self.rows, **reading
        )
        if len(dataset.names) > self.columns:
            raise TooLargeError(
                f"The table has {len(dataset.names):,} columns; {self.columns:,} are allowed."
            )
        return dataset


def begin(
    session: TableSession, *, folder: str, memory_limit: str, rows: int, columns: int
) -> dict[str, Any]:
    """Take note of the limits; what is temporary goes to the table's folder, and goes with it."""
    session.folder, session.memory_limit = Path(folder), memory_limit
    session.rows, session.columns = rows, columns
    tempfile.tempdir = str(session.spill)
    return {}
