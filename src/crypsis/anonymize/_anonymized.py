"""What anonymizing hands over: the release, what it measures, what was lost, the owner's key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from crypsis.anonymize._key import Key
from crypsis.anonymize._plan import Plan
from crypsis.anonymize._promise import Promise
from crypsis.anonymize._statement import Statement, statement_of
from crypsis.anonymize._verify import Measured, check, measure
from crypsis.engine import Rows
from crypsis.engine.base import Kind
from crypsis.engine.delimited import as_it_stands
from crypsis.errors import OutputError
from crypsis.files import form_of
from crypsis.release import Release, read
from crypsis.results import Result


@dataclass(frozen=True)
class Loss(Result):
    """What keeping the promise cost."""

    rows: int
    ncp: float | None = None
    """The share of variety lost, 0 to 1; rows left out count in full."""
    rows_suppressed: int = 0
    cells_suppressed: int = 0
    rows_with_suppressed_cells: int = 0
    rows_generalized: int = 0
    columns_emptied: tuple[str, ...] = ()
    """Quasi-identifiers that no row keeps."""


@dataclass(frozen=True)
class Method(Result):
    """One thing that was done: to which column, how, and with which parameters, but no seed."""

    column: str
    method: str
    how: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    """The columns one by one, where several are masked together."""


_NO_FORMULAS = Method(
    "all texts",
    "formulas neutralized",
    "a text that a spreadsheet would run as a formula begins with an apostrophe",
)


@dataclass(frozen=True, eq=False)
class Anonymized(Result):
    """A release that keeps its promise."""

    release: Release = field(repr=False)
    plan: Plan | None = field(repr=False)
    measured: Measured | None
    """None until it is written, where measuring was left to that."""
    loss: Loss
    key: Key
    original: Release = field(repr=False)
    methods: tuple[Method, ...] = ()

    def _shown(self, reveal: bool) -> list[tuple[str, Any]]:
        return [("measured", self.measured), ("loss", self.loss), ("methods", self.methods)]

    @property
    def promise(self) -> Promise:
        """What was promised."""
        return Promise() if self.plan is None else self.plan.promise

    @property
    def frame(self) -> Any:
        """The rows as a frame of the kind that came in; of a file, a DuckDB relation."""
        given = self.original.given
        if given is None or self.release.rows.backend.name == "spark":
            return self.release.frame
        kind = nw.from_native(given, pass_through=True, allow_series=False)
        if not isinstance(kind, nw.DataFrame):
            return self.release.frame
        backend = kind.implementation
        return nw.from_arrow(self.release.to_arrow(), backend=backend).to_native()

    @property
    def statement(self) -> Statement:
        """What may be told to everyone (domingo2016, Definition 4)."""
        return statement_of(self, self._measured_now())

    @property
    def utility(self) -> Any:
        """What was lost in the columns that were changed; see `crypsis.utility.lost`."""
        from crypsis.utility import lost

        if self.plan is None:
            return lost(self.original, self.release)
        masked = [name for one in self.methods for name in one.columns]
        return lost(self.original, self.release, [c.name for c in self.plan.columns] + masked)

    def write(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        statement: bool = True,
        neutralize_formulas: bool = False,
    ) -> Path:
        """Write the release, and beside it what was done (`.statement.md` and `.statement.json`).

        The file is read back and measured before it takes its name: it appears whole and within
        its promise, or not at all, and never beside the statement of another run. For
        `neutralize_formulas` see `Release.write`.
        """
        self.written(
            path, overwrite=overwrite, statement=statement, neutralize_formulas=neutralize_formulas
        )
        return Path(path)

    def written(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        statement: bool = True,
        neutralize_formulas: bool = False,
    ) -> Anonymized:
        """The same after `write`, with what the file measures."""
        target, form = Path(path), form_of(path)
        if "://" in str(path) and statement:
            raise OutputError(
                "The statement is written beside the release, on this machine; write the release "
                "with statement=False, and the statement to a file of its own."
            )
        if self.plan is not None and self.loss.rows_suppressed == self.loss.rows:
            check(Measured(0, 0, 0), self.promise)
        rows, made = self.release.rows, self
        if neutralize_formulas:
            rows, made = rows.neutral(form), replace(self, methods=(*self.methods, _NO_FORMULAS))
        notes = statement_paths(target) if statement else ()
        with rows.written_together([path, *notes], overwrite=overwrite) as (partial, *beside):
            rows.write_file(partial, form)
            told_as = dict(zip(self.release.names, rows.names, strict=True))
            measured = self._check_file(partial, form, told_as)
            if statement:
                told = statement_of(made, measured)
                for note, text in zip(beside, (told.to_markdown(), told.to_json()), strict=True):
                    Path(note).write_text(text, encoding="utf-8")
        return replace(self, measured=measured)

    def _measured_now(self) -> Measured:
        if self.measured is not None:
            return self.measured
        names = [] if self.plan is None else [one.name for one in self.plan.columns]
        return measure(self.release, names, self.promise)

    def _check_file(self, path: Path | str, form: str, told_as: Mapping[str, str]) -> Measured:
        """What the file itself meets, counted in it; `told_as` holds its names of the columns.

        A CSV file has no types, so the sizes of groups are counted in it by its texts, and the
        sensitive columns in the rows, where their kinds are known.
        """
        if self.plan is None:
            return self._measured_now()
        names = [told_as[one.name] for one in self.plan.columns]
        rows = self._read_back(path, form, list(told_as.values()))
        if form == "parquet":
            release = Release(rows, self.release.roles)
            found = measure(release, names, self.promise)
            check(found, self.promise)
            return found
        release = Release(rows)
        sizes = Promise(k=self.promise.k, each_column=self.promise.each_column)
        counted = measure(release, names, sizes)
        check(counted, sizes)
        if self.measured is None and not self.promise.about_secrets:
            crowds = None
            if self.promise.population is not None:
                crowds = measure(release, names, self.promise).population
            return replace(counted, population=crowds)
        found = self._measured_now()
        if any(self.release.rows.column(n).kind is Kind.TEXT for n in self.release.sensitive):
            told = replace(self.release, rows=_without_empty(self.release), _cells={})
            found = measure(told, [one.name for one in self.plan.columns], self.promise)
        check(found, self.promise)
        return found

    def _read_back(self, path: Path | str, form: str, names: Sequence[str]) -> Rows:
        """The rows of the file, read by the engine that wrote it."""
        written = self.release.rows
        if written.backend.name == "spark":
            from crypsis.engine.spark_files import read_back

            return read_back(written.frame.to_native().sparkSession, path, form)
        if form == "parquet":
            return read(path, format="parquet").rows
        return as_it_stands(Path(path), names)


def _without_empty(release: Release) -> Rows:
    """The rows as CSV tells their sensitive texts: an empty text and none are written alike."""
    rows = release.rows
    parts = []
    for column in rows.columns:
        cell = nw.col(column.inner)
        if column.name in release.sensitive and column.kind is Kind.TEXT:
            cell = nw.when(cell.cast(nw.String) != "").then(cell).alias(column.inner)
        parts.append(cell)
    return Rows(rows.columns, lambda: rows.frame.select(*parts), rows.backend)


def statement_paths(release: Path) -> tuple[Path, Path]:
    """Where the statement of a release goes."""
    stem = release.with_suffix("")
    return stem.with_name(stem.name + ".statement.md"), stem.with_name(
        stem.name + ".statement.json"
    )
