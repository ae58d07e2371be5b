"""The plan of a release, and the release that applying it returns."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Unpack

import pyarrow as pa
from pydantic import Field, ValidationError

from crypsis import __version__
from crypsis.dataset import Data, Dataset, as_dataset
from crypsis.documents import Document
from crypsis.errors import OutputError, SourceError
from crypsis.files import parse_toml, replacing_file, to_toml
from crypsis.hierarchies import Hierarchy
from crypsis.inference.conditional import several_records
from crypsis.options import Role, Roles
from crypsis.protection._apart import (
    APART,
    apart_columns,
    apart_data,
    apart_method,
    apart_path,
    separated,
    without_apart,
)
from crypsis.protection._decided import check_decided, check_missing
from crypsis.protection._derived import check_derived
from crypsis.protection._key import Key, fresh_seed
from crypsis.protection._loss import InformationLoss, information_loss
from crypsis.protection._measured import Measured, check, measure
from crypsis.protection._not_required import MAX_COUNTED_ROWS, NotRequired, not_required
from crypsis.protection._order import in_random_order, order_notes
from crypsis.protection._recode import RecodedData, columns_loss, recode, with_steps
from crypsis.protection._recode_classes import RecodingKind
from crypsis.protection._rejoined import Rejoined, checked_rejoined
from crypsis.protection._release import write_release
from crypsis.protection._released_values import released_values
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection._sensitive_changes import least_change, on_steps
from crypsis.protection._statement import ApartFile, Method, Statement, recoding_methods
from crypsis.protection.recoding._choice import ColumnPlan, hierarchy_of
from crypsis.protection.recoding._deadline import time_limit
from crypsis.protection.recoding._steps import Keep
from crypsis.protection.recoding._transition import GeneralizationModel
from crypsis.results import Result
from crypsis.tables import frame_like, open_frame
from crypsis.utility import column_changes

_FORMULAS_NEUTRALIZED = Method(
    "all texts",
    "formulas neutralized",
    "a text that a spreadsheet would run as a formula begins with an apostrophe",
)


class Plan(Document):
    """The requirements of a release and the recoding of each column, without seed or rows.

    A plan prints as a table, is written to JSON or TOML, edited, and applied to the same columns
    again.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from crypsis.protection import plan
    >>> people = pa.table({"age": [30, 31, 41, 44]})
    >>> made = plan(people, k=2, quasi_identifiers=["age"])
    >>> print(made)
    column  before  after  recoding
    age     4       4      as it is
    >>> made.apply(people, quasi_identifiers=["age"]).measured.k
    2
    """

    format: Literal[1] = 1
    """The version of the file format."""
    requirements: PrivacyRequirements
    """What the release must meet."""
    columns: tuple[ColumnPlan, ...]
    """The quasi-identifiers."""
    sensitive: tuple[ColumnPlan, ...] = ()
    """Sensitive attributes that may change, or with a hierarchy, by which values are far apart."""
    preserve: tuple[tuple[str, ...], ...] = ()
    """What the release is to be used for: columns and pairs of columns whose information is kept."""
    apart: tuple[tuple[str, ...], ...] = ()
    """Sensitive attributes that are released apart, by file."""
    recoding: RecodingKind | None = None
    """How rows are recoded, once the plan was applied; applying it again does the same."""
    made_with: str = ""
    """The version whose search was applied: another version may find other classes."""
    removed: tuple[str, ...] = ()
    """Direct identifiers and excluded columns, which are not released."""
    time_limit: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """How many seconds the search takes; without it, it ends by itself and finds the same again."""
    cells_allowed: float | None = None
    """The largest number of cells that meets the requirements in the population (lodha2007,
    Theorem 4)."""

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """What the labels of quasi-identifiers cover; how far sensitive values are apart."""
        trees = {column.name: hierarchy_of(column) for column in self.columns}
        trees |= {attribute.name: hierarchy_of(attribute, released=True) for attribute in self.sensitive}
        return {name: tree for name, tree in trees.items() if tree is not None}

    def apply(
        self,
        data: Data,
        *,
        recoding: RecodingKind | None = None,
        verify: bool = True,
        shuffle: bool = True,
        seed: int | None = None,
        **roles: Unpack[Roles],
    ) -> Anonymized:
        """Recode the data by the plan and measure the result.

        Parameters
        ----------
        data : Dataset, frame or path
            The data; it is not changed.
        recoding : {"local", "subtree", "full-domain"}
            "local": each record gets the finest levels that meet the requirements, so values of
            different precision stand side by side. "subtree": each value is generalized to the same
            label in all records, rare values more than frequent ones, so the values of a column do
            not overlap and it can be tabulated. "full-domain": all values of a column are on the
            same level (as in ARX). In the last two, records in small classes are suppressed. By
            default as the plan was applied before; "local" if it was not.
        verify : bool
            Whether the result is measured now; otherwise `Anonymized.write` measures the file. k of
            people is always measured now.
        shuffle : bool
            Whether the rows are released in random order; their order is in the key.
        seed : int, optional
            The seed of that order; by default the operating system's randomness.
        **roles
            See `crypsis.read`.

        Returns
        -------
        Anonymized

        Raises
        ------
        RequirementsNotMetError
            If the requirements are not met.
        RoleError
            If a column is undecided: nothing is released that was not decided. If a column that
            is released as it is gives back a generalized one.
        """
        dataset = as_dataset(data, **roles)
        check_missing(dataset)
        original = without_apart(dataset, apart_columns(dataset, self.apart))
        released_apart = {name for group in self.apart for name in group}
        recoding = recoding or self.recoding or "local"
        requirements = self.requirements
        if original.person is not None:
            requirements = requirements.model_copy(update={"people": True})
        if released_apart and not original.sensitive:
            requirements = requirements.without_sensitive()
        check_decided(original, [column.name for column in self.columns], self.removed)
        removed = tuple(dict.fromkeys((*self.removed, *original.identifiers, *original.excluded)))
        base = self.model_copy(
            update={
                "requirements": requirements,
                "removed": removed,
                "recoding": recoding,
                "made_with": f"crypsis {__version__}",
            }
        )
        changed: dict[str, float] = {}
        several = any(attribute.may_change for attribute in self.sensitive)
        with time_limit(self.time_limit, several=several) as deadline:
            if several:
                (plan, recoded_data, measured), changed = least_change(
                    original,
                    self.sensitive,
                    len(self.columns),
                    partial(base._attempt, original),
                    {name for use in self.preserve for name in use},
                )
            else:
                # People and weights are not in the file, so they are counted here.
                about_people = requirements.people or requirements.journalist_risk is not None
                plan, recoded_data, measured = base._made(original, verify or about_people)
        if measured is not None:
            recoded_data.data.rows.known_count = measured.rows or None  # not to be counted again
        removed, requirements = plan.removed, plan.requirements
        names = [column.name for column in plan.columns]
        recoded = [
            *names,
            *(attribute.name for attribute in plan.sensitive if not isinstance(attribute.step, Keep)),
        ]
        check_derived(
            original,
            recoded_data.data,
            recoded,
            recoded_data.row_map,
            removed=removed,
            released_apart=sorted(released_apart),
        )
        joined = checked_rejoined(dataset, recoded_data.data, self.apart, recoded_data.row_map)
        removed = tuple(name for name in removed if name not in released_apart)
        plan = plan.model_copy(update={"removed": removed})
        methods = recoding_methods(plan.columns, removed, recoded_data.recoding, recoding)
        methods += tuple(map(apart_method, self.apart))
        of_columns = columns_loss(original, plan.columns) if recoded_data.recoding is None else None
        loss = information_loss(original.count, recoded_data.recoding, of_columns)
        loss = with_steps(loss, original, plan.columns, recoded_data.recoding is not None)
        stopped = deadline is not None and deadline.stopped
        loss = replace(loss, changed_sensitive=changed, search_stopped=stopped)
        loss = separated(loss, len(recoded_data.data.names), self.apart)
        methods = (
            *methods,
            *(_on_one_step(attribute) for attribute in plan.sensitive if attribute.name in changed),
        )
        data, row_map = recoded_data.data, recoded_data.row_map
        notes = () if shuffle else order_notes(original, removed)
        seed = fresh_seed() if seed is None and (shuffle or released_apart) else seed
        if shuffle and seed is not None:
            rows, row_map = in_random_order(data.rows, row_map, seed)
            data = replace(data, rows=rows)  # its cells are still those that were counted
        files = () if seed is None else apart_data(dataset, self.apart, seed)
        key = Key(seed, row_map)
        return Anonymized(data, plan, measured, loss, key, dataset, methods, shuffle, notes, files, joined)

    def transitions(self) -> tuple[GeneralizationModel, ...]:
        """How likely each released label is, given the original value: one model for each column.

        See `crypsis.protection.masking.transitions`, which has those of masks.
        """
        return tuple(GeneralizationModel(column) for column in self.columns)

    def _made(self, original: Dataset, verify: bool) -> tuple[Plan, RecodedData, Measured | None]:
        """The plan as applied, the data recoded by it and, if `verify`, what they meet."""
        recoded_data = recode(
            on_steps(original, self.sensitive),
            self.columns,
            self.removed,
            self.requirements,
            self.recoding or "local",
            self.hierarchies,
            self.preserve,
        )
        plan = self.model_copy(update={"columns": recoded_data.columns})
        measured = recoded_data.measured
        if verify:
            names = [column.name for column in plan.columns]
            measured = measured or measure(
                recoded_data.data, names, self.requirements, recoded_data.persons, plan.hierarchies
            )
            check(measured, self.requirements)
        return plan, recoded_data, measured

    def _attempt(
        self, original: Dataset, sensitive: tuple[ColumnPlan, ...], dropped: tuple[str, ...]
    ) -> tuple[tuple[Plan, RecodedData, Measured | None], float]:
        """The plan with these sensitive attributes, applied, and the information loss."""
        requirements = self.requirements
        if not {*original.sensitive} - {*dropped, *self.removed}:
            requirements = requirements.without_sensitive()
        tried = self.model_copy(
            update={
                "requirements": requirements,
                "sensitive": sensitive,
                "removed": (*self.removed, *dropped),
            }
        )
        outcome = tried._made(original, True)
        recoding = outcome[1].recoding
        return outcome, 0.0 if recoding is None else recoding.ncp

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the plan to a `.json` or `.toml` file."""
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix not in (".json", ".toml"):
            raise OutputError(f"A plan is a .json or .toml file; {target.name!r} was given.")
        fields = self.model_dump(mode="json", exclude_none=True)
        text = to_toml(fields) if suffix == ".toml" else json.dumps(fields, indent=2) + "\n"
        with replacing_file(target, overwrite=overwrite) as partial:
            partial.write_text(text, encoding="utf-8")
        return target

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan from a `.json` or `.toml` file, checked field by field."""
        source = Path(path)
        try:
            text = source.read_text(encoding="utf-8")
            toml = source.suffix.lower() == ".toml"
            return cls.model_validate(parse_toml(text) if toml else json.loads(text))
        except OSError as error:
            raise SourceError(f"{str(source)!r} could not be read ({error.strerror}).") from None
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            reason = f"not a valid plan: {where}: {first['msg']}"
        except RecursionError:
            reason = "nested too deeply for a plan"
        except ValueError as error:
            reason = f"not well formed ({error})"
        raise SourceError(f"{str(source)!r} is {reason}.", code="not-a-plan")

    def rows(self) -> list[tuple[str, str, str, str]]:
        """The plan as a table: column, values before, values after, recoding."""
        return [
            (
                column.name,
                "" if column.values_before is None else f"{round(column.values_before):,}",
                f"{round(min(column.values_after, column.values_before or column.values_after)):,}",
                column.step.describe(),
            )
            for column in self.columns
        ] + [
            *((name, "", "", "released apart") for group in self.apart for name in group),
            *((name, "", "", "removed") for name in self.removed),
        ]

    def __str__(self) -> str:
        table = [_HEAD, *self.rows()]
        widths = [max(len(row[i]) for row in table) for i in range(4)]
        lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)) for row in table]
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        required = self.requirements.model_dump(exclude_none=True)
        options = ", ".join(f"{name}={value}" for name, value in required.items())
        return f"Plan({options}, columns={[column.name for column in self.columns]})"

    def _repr_html_(self) -> str:
        rows = [f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in self.rows()]
        head = "".join(f"<th>{name}</th>" for name in _HEAD)
        body = "".join(rows)
        return f"<table class='crypsis'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _on_one_step(column_plan: ColumnPlan) -> Method:
    """A sensitive attribute that was generalized."""
    return Method(column_plan.name, column_plan.step.method, column_plan.step.describe())


_HEAD = ("column", "before", "after", "recoding")


class Anonymized(Result, eq=False):
    """A release that meets its requirements, with its statement and its re-identification key.

    Examples
    --------
    >>> import crypsis as cr, pyarrow as pa
    >>> people = pa.table({"age": [30, 31, 41, 44]})
    >>> safe = cr.anonymize(people, k=2, quasi_identifiers=["age"], person="each record")
    >>> sorted(safe.frame["age"].to_pylist()), safe.measured.k, safe.loss.suppressed_records
    (['<=31', '<=31', '>=32', '>=32'], 2, 0)
    """

    data: Dataset
    plan: Plan | None
    """None if columns were only masked."""
    measured: Measured | None
    """None until it is written, if it was not measured before."""
    loss: InformationLoss
    key: Key
    original: Dataset
    methods: tuple[Method, ...] = ()
    shuffled: bool = False
    """Whether the rows are in random order."""
    order_notes: tuple[str, ...] = ()
    """What the order of the rows shows, if it is that of the original."""
    apart: tuple[Dataset, ...] = ()
    """Sensitive attributes that are released apart, by file."""
    rejoined: tuple[Rejoined, ...] = ()
    """How many values of each of these attributes an intruder gives back to records."""

    shown_fields: ClassVar[tuple[str, ...]] = ("measured", "loss", "methods")
    """The fields that are shown; the others are rows, or the re-identification key."""

    def _shown(self, reveal: bool) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in self.shown_fields]

    def __repr__(self) -> str:
        required = self.requirements.model_dump(exclude_none=True) if self.plan is not None else {}
        options = "".join(f", {name}={value}" for name, value in required.items())
        return f"Anonymized({self.loss.released_records:,} records{options})"

    def __str__(self) -> str:
        measured = () if self.measured is None else (self.measured.text(self.requirements),)
        left = self.not_required
        more = [] if left is None else left.lines(self.requirements.k)
        return "\n".join([*measured, str(self.loss), *map(str, self.rejoined), *more])

    @cached_property
    def not_required(self) -> NotRequired | None:
        """What was not required: sensitive attributes, and columns outside the classes."""
        return not_required(self.data, tuple(self._recoded), self.requirements, self._people, self._several)

    @property
    def _several(self) -> bool:
        """Whether people have several records, or may have."""
        return several_records(self.original)

    @cached_property
    def _people(self) -> Dataset | None:
        """The rows with the people of the original; None where that is not known of each row."""
        person, rows, row_map = self.original.person, self.data.rows, self.key.row_map
        if person is None or not (rows.local and self.original.rows.local):
            return None
        if self.data.count > MAX_COUNTED_ROWS or self.data.count != len(row_map or range(self.loss.records)):
            return None
        whose = self.original.to_arrow([person])[person]
        if row_map is not None:
            whose = whose.take(pa.array(row_map))
        name = person
        while name in self.data.names:
            name += " of the original"
        table = self.data.to_arrow().append_column(name, whose)
        roles = {**self.data.roles, name: Role.EXCLUDED}
        return replace(self.data, rows=open_frame(table), roles=roles, person=name, given=None)

    @property
    def requirements(self) -> PrivacyRequirements:
        """What the release meets."""
        return PrivacyRequirements() if self.plan is None else self.plan.requirements

    @property
    def frame(self) -> Any:
        """The rows as a frame of the kind that was given; of a file, a DuckDB relation."""
        return frame_like(self.data.rows, self.original.given)

    @property
    def statement(self) -> Statement:
        """What may be published about the release (domingo2016, Definition 4)."""
        return self._statement(self.measured or self._measure())

    @property
    def utility(self) -> Any:
        """The information loss of each column that was changed; see `crypsis.utility`."""
        if self.plan is None:
            return column_changes(self.original, self.data)
        masked = [name for method in self.methods if method.method != APART for name in method.columns]
        return column_changes(self.original, self.data, [*self._recoded, *masked])

    @property
    def released_values(self) -> dict[str, str]:
        """What is left of each quasi-identifier, in plain words."""
        return released_values(self.methods, self.loss.released_records)

    def write(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        statement: bool = True,
        neutralize_formulas: bool = False,
    ) -> Anonymized:
        """Write the release, and its statement beside it.

        The statement of `safe.csv` is `safe.csv.statement.md` and `safe.csv.statement.json`;
        attributes that are released apart are in `safe.apart-1.csv` and so on.

        The file is read back and measured before it gets its name: it appears complete and meeting
        its requirements, or not at all, and never with the statement of another run.

        Parameters
        ----------
        path : str or Path
            A file; its suffix names the format, as in `Dataset.write`. Without one it has the form
            of the original.
        overwrite : bool
            Whether existing files are replaced.
        statement : bool
            Whether the statement is written too.
        neutralize_formulas : bool
            Whether texts that a spreadsheet would run get an apostrophe in front; see
            `Dataset.write`.

        Returns
        -------
        Anonymized
            The same, with what the file measures.
        """
        if self.plan is not None and not self.loss.released_records:
            check(Measured(0, 0, 0), self.requirements)
        extra = (_FORMULAS_NEUTRALIZED,) if neutralize_formulas else ()
        anonymized = replace(self, methods=(*self.methods, *extra))
        measured = write_release(
            self.data,
            path,
            anonymized._statement if statement else None,
            self._recoded,
            self.requirements,
            self.measured,
            overwrite=overwrite,
            neutralize_formulas=neutralize_formulas,
            hierarchies=self._hierarchies,
            like=self.original.rows.form,
            apart=self.apart,
            persons=self._people if self.requirements.people else None,
        )
        return replace(self, measured=measured)

    def apart_paths(self, path: str | Path) -> tuple[Path, ...]:
        """The files of attributes that are released apart, next to the release at a path."""
        return tuple(apart_path(path, number + 1) for number in range(len(self.apart)))

    @property
    def _recoded(self) -> list[str]:
        return [] if self.plan is None else [column.name for column in self.plan.columns]

    @property
    def _hierarchies(self) -> dict[str, Hierarchy]:
        return {} if self.plan is None else self.plan.hierarchies

    def _measure(self) -> Measured:
        return measure(self.data, self._recoded, self.requirements, hierarchies=self._hierarchies)

    def _statement(self, measured: Measured) -> Statement:
        changed = {name for method in self.methods for name in (method.columns or (method.column,))}
        quasi_identifiers = self.data.quasi_identifiers if self.plan is None else tuple(self._recoded)
        return Statement(
            records_before=self.loss.records,
            records_after=measured.rows,
            quasi_identifiers=quasi_identifiers,
            requirements=self.requirements,
            measured=measured,
            methods=self.methods,
            unchanged=tuple(name for name in self.data.names if name not in changed),
            apart=tuple(
                ApartFile(
                    file.names,
                    file.count,
                    rejoined=tuple(r for r in self.rejoined if r.attribute in file.names),
                )
                for file in self.apart
            ),
            information_loss=self.loss,
            row_order="random" if self.shuffled else "original",
            order_notes=self.order_notes,
            not_required=self.not_required,
        )
