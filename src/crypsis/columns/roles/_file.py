"""roles.toml: the roles of the columns in a file that a person edits and decides."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from crypsis.columns.roles._metadata import SUFFIXES, roles_document
from crypsis.dataset import SAMPLE_KEYWORDS, UNIT_KEYWORDS, ColumnNote, check_priors, is_reason
from crypsis.errors import InputError, RoleError, SourceError, unknown_columns
from crypsis.files import read_toml
from crypsis.hierarchies import Hierarchy
from crypsis.hierarchies.labels import UNITS
from crypsis.options import EACH_RECORD, Role
from crypsis.results import Result

_NOT_TEXT = ("harmless", "priors", "weight", "keep", "may_change")
_REASONS = ("override", "sign_off", "public_presence")
_MIN_REASON_CHARACTERS = 3
"""A reason has so many letters and digits or more."""
_NOTES = tuple(part.name for part in fields(ColumnNote))
_NOT_RELEASED = "If it is not released, give it the role 'excluded', or set {excluded}."
_LEVELS = f"a level (0, 1, ...) or a unit of dates: {', '.join(UNITS)}"
_WHY = "person_reason"
"""The reason why each record is of one person, where the records indicate otherwise."""
_ROLES = ", ".join(repr(role.value) for role in Role)


class DecidedRoles(Result):
    """The roles and the notes of a roles file, for `Dataset.with_roles`."""

    roles: Mapping[str, Role]
    """The role of each column of the data; undecided where the file has none."""
    notes: Mapping[str, ColumnNote]
    """What the owner wrote besides the role, of the columns where there is something."""
    container: Mapping[str, str] = field(default_factory=dict)
    """What the file may contain besides the table, with the reason."""
    units: Mapping[str, str] = field(default_factory=dict)
    """The columns of the person, the household, the weight, the stratum and the cluster, as far as
    the file has them; the person may be "each record", with a `person_reason`."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """The columns of the person and the household that the file has, and the data do not."""


def load(
    path: str | Path,
    columns: Sequence[str],
    table: str | None = None,
    *,
    excluded: Collection[str] = (),
    others: bool = False,
) -> DecidedRoles:
    r"""Read the roles of columns from a TOML file, a data contract or Frictionless metadata.

    Parameters
    ----------
    path : str or Path
        The file, as `roles.save` writes it; or a data contract (ODCS 3, .yaml) or a Frictionless package
        or schema (.json), whose property `crypsis` of a column has the same.
    columns : sequence of str
        The names of the columns of the data.
    table : str, optional
        The name of the table or of its file, where the metadata describe several.
    excluded : collection of str
        Columns of the file that were not released, whatever role it gives them.
    others : bool
        Whether the file may have columns of further files of the same release, too.

    Returns
    -------
    DecidedRoles
        The role of each column, in the order of `columns`, and the notes. A column that is not in
        the file is undecided.

    Raises
    ------
    RoleError
        If a role does not exist, or a note is not valid.
    ColumnError
        If the file decides a role of a column that the data does not have, unless that is a direct
        identifier or excluded: a release has none and keeps its roles file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "roles.toml")
    ...     _ = path.write_text('[roles]\nage = "quasi-identifier"')
    ...     load(path, ["age"]).roles
    {'age': <Role.QUASI_IDENTIFIER: 'quasi-identifier'>}
    """
    tables = _tables(Path(path), table)
    if others:
        excluded = [name for name in tables.get("roles", {}) if name not in columns]
    with _named(Path(path)):
        return decided_roles(tables, columns, Path(path).parent, excluded=excluded)


def decided_roles(
    document: Mapping[str, Any],
    columns: Sequence[str],
    folder: str | Path = ".",
    *,
    excluded: Collection[str] = (),
) -> DecidedRoles:
    """The roles and notes that the content of a roles file gives to these columns.

    Parameters
    ----------
    document : mapping
        The tables `roles`, `units`, `answers` and `container`.
    columns : sequence of str
        The names of the columns of the data.
    folder : str or Path
        Where the files of hierarchies are.
    excluded : collection of str
        Columns of the document that were not released, whatever role it gives them.

    Returns
    -------
    DecidedRoles

    Examples
    --------
    >>> decided_roles({"roles": {"age": "quasi-identifier"}}, ["age"]).roles
    {'age': <Role.QUASI_IDENTIFIER: 'quasi-identifier'>}
    """
    roles_by_column = {name: _parts(name, value) for name, value in document["roles"].items()}
    roles = {name: _role(name, parts["role"]) for name, parts in roles_by_column.items()}
    notes = {
        name: _note(name, parts, Path(folder)) for name, parts in roles_by_column.items() if len(parts) > 1
    }
    if any(name not in roles for name in excluded):
        raise unknown_columns(excluded, {**dict.fromkeys(columns), **roles})
    optional = (Role.IDENTIFIER, Role.EXCLUDED, Role.UNDECIDED)
    named = [n for n, role in roles.items() if role not in optional and n not in excluded]
    if any(name not in columns for name in named):
        raise unknown_columns(named, columns, hint=_NOT_RELEASED)
    notes = {name: note for name, note in notes.items() if name in columns}
    for note in notes.values():
        if note.hierarchy:
            Hierarchy.read(note.hierarchy)  # which refuses a file that cannot be read
    units = _units(document.get("units", {}), columns, roles)
    return DecidedRoles(
        {name: roles.get(name, Role.UNDECIDED) for name in columns},
        notes,
        _reasons("container", document.get("container", {})),
        {
            unit: name
            for unit, name in units.items()
            if name in columns or (unit, name) == ("person", EACH_RECORD) or unit == _WHY
        },
        {
            unit: name
            for unit, name in units.items()
            if unit in UNIT_KEYWORDS and name not in (*columns, EACH_RECORD)
        },
    )


def _units(units_table: Any, columns: Sequence[str], decided: Collection[str]) -> dict[str, str]:
    """The columns of persons, households and the sample.

    A release without them keeps the file, where [roles] still has such a column.
    """
    items = units_table.items() if isinstance(units_table, dict) else [("units", units_table)]
    wrong = [name for name, column in items if not isinstance(column, str)]
    wrong = wrong or [name for name, _ in items if name not in (*SAMPLE_KEYWORDS, _WHY)]
    if wrong:
        names = ", ".join(f'{name} = "..."' for name in SAMPLE_KEYWORDS)
        raise RoleError(
            f"{wrong[0]!r} does not name a column. The table [units] of a roles file names columns: {names}.",
            code="units",
        )
    if not is_reason(units_table.get(_WHY, "why")):
        raise RoleError(
            f"{_WHY!r} of [units] must say why each record is of one person, in words.", code="units"
        )
    units = {
        unit: name
        for unit, name in units_table.items()
        if (unit, name) != ("person", Role.UNDECIDED.value) or name in columns
    }
    named = [name for unit, name in units.items() if unit != _WHY and (unit, name) != ("person", EACH_RECORD)]
    if any(column not in columns and column not in decided for column in named):
        known_names = {**dict.fromkeys(columns), **dict.fromkeys(decided)}
        raise unknown_columns(named, known_names, hint=_NOT_RELEASED)
    return units


def load_answers(path: str | Path, table: str | None = None) -> dict[str, str]:
    r"""Read the owner's answers to the checklist of a policy: the table [answers] of a roles file.

    Parameters
    ----------
    path : str or Path
        The roles file, or metadata as `load` reads them.
    table : str, optional
        The name of the table, where the metadata describe several.

    Returns
    -------
    dict of str to str
        The answer to each item: who checked it, and when. Empty if the file has no answers.

    Raises
    ------
    RoleError
        If an answer is not text, or empty.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "roles.toml")
    ...     _ = path.write_text('[roles]\n[answers]\n"no photographs" = "N.N., 2026-11-01"')
    ...     load_answers(path)
    {'no photographs': 'N.N., 2026-11-01'}
    """
    with _named(Path(path)):
        return _reasons("answers", _document(Path(path), table).get("answers", {}))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file of a mistake in it."""
    try:
        yield
    except InputError as error:
        error.message = f"{path.name!r}: {error.message}"
        raise


def _reasons(table: str, reasons: Any) -> dict[str, str]:
    """The texts of a table; one of white space or punctuation is not a reason."""
    if not isinstance(reasons, dict):
        raise RoleError(f"{table!r} of a roles file is a table: [{table}].", code=table)
    for item, reason in reasons.items():
        signed = isinstance(reason, str) and sum(map(str.isalnum, reason)) >= _MIN_REASON_CHARACTERS
        if not (signed if table == "answers" else is_reason(reason)):
            raise RoleError(
                f"What is written for {item!r} must be words: who checked it, when, and why.", code=table
            )
    return {item: reason.strip() for item, reason in reasons.items()}


def _tables(path: Path, table: str | None) -> dict[str, Any]:
    """The tables of the file; others than those that a roles file has are refused."""
    named, document = f"Roles file {path.name!r}", _document(path, table)
    if not isinstance(document.get("roles"), dict):
        raise SourceError(
            f"{named} has no [roles] table.", hint="Write a roles file from a scan of the data."
        )
    unknown = [name for name in document if name not in ("roles", "units", "answers", "container")]
    if unknown:
        raise SourceError(
            f"{named} has other tables than [roles], [units], [answers] and [container]: "
            f"{', '.join(map(repr, unknown))}."
        )
    return document


def _document(path: Path, table: str | None) -> dict[str, Any]:
    if path.suffix.lower() in SUFFIXES:
        return roles_document(path, table)
    return read_toml(path, "roles file", dict)


def _parts(name: str, value: Any) -> dict[str, Any]:
    """The role and the notes of a column; a text is the role alone."""
    if not isinstance(value, dict):
        return {"role": value}
    if "role" not in value:
        raise RoleError(
            f'Column {name!r} lacks its role. The form of its table is {{ role = "insensitive" }}.',
            columns=(name,),
            hint="Write a column name with dots between quotes.",
        )
    unknown = next((part for part in value if part not in ("role", *_NOTES)), None)
    if unknown is not None:
        similar = get_close_matches(unknown, _NOTES, n=1)
        meant = f" (did you mean {similar[0]!r}?)" if similar else ""
        raise RoleError(
            f"Column {name!r} has {unknown!r} besides its role{meant}. There can be: {', '.join(_NOTES)}.",
            columns=(name,),
        )
    return value


def _note(name: str, parts: Mapping[str, Any], folder: Path) -> ColumnNote:
    """What is written besides the role; a reason has words."""
    texts = {part: parts[part] for part in _NOTES if part not in _NOT_TEXT and part in parts}
    for part, text in texts.items():
        if not isinstance(text, str):
            raise RoleError(f"The {part} of column {name!r} must be text.", columns=(name,))
        if not (is_reason(text) if part in _REASONS else text.strip()):
            why = "say why, in words" if part in _REASONS else "not be empty"
            raise RoleError(f"The {part} of column {name!r} must {why}.", columns=(name,))
    if "hierarchy" in texts:
        texts["hierarchy"] = str(folder / texts["hierarchy"].strip())
    values = parts.get("harmless", [])
    if not isinstance(values, list) or not all(isinstance(v, str | int | float) for v in values):
        raise RoleError(
            f"The harmless values of column {name!r} must be a list of texts or numbers.", columns=(name,)
        )
    rates = parts.get("priors", {})
    check_priors(name, rates)
    settings = {part: parts[part] for part in ("weight", "keep", "may_change") if part in parts}
    _check_settings(name, settings)
    return ColumnNote(
        **{part: text.strip() for part, text in texts.items()},
        harmless=tuple(values),
        priors=rates,
        **settings,
    )


def _check_settings(name: str, settings: Mapping[str, Any]) -> None:
    """Raise unless the settings of an anonymization have their types."""
    for part, kinds, form in (
        ("weight", (int, float), "a number of at least 0"),
        ("keep", (int, str), _LEVELS),
        ("may_change", (bool,), "true or false"),
    ):
        value = settings.get(part)
        if value is None:
            continue
        wrong = not isinstance(value, kinds) or (isinstance(value, bool) and part != "may_change")
        wrong = wrong or (isinstance(value, str) and value not in UNITS)
        if wrong or (not isinstance(value, str) and value < 0):
            raise RoleError(f"The {part} of column {name!r} must be {form}.", columns=(name,))


def _role(name: str, value: Any) -> Role:
    if not isinstance(value, str):
        raise RoleError(f"The role of column {name!r} must be text, one of: {_ROLES}.", columns=(name,))
    try:
        return Role(value.strip().lower().replace("_", "-").replace(" ", "-"))
    except ValueError:
        similar = get_close_matches(value, [role.value for role in Role], n=1)
        meant = f" (did you mean {similar[0]!r}?)" if similar else ""
        raise RoleError(
            f"Column {name!r} has the unknown role {value!r}{meant}. The roles are: {_ROLES}.",
            code="unknown-role",
            columns=(name,),
        ) from None
