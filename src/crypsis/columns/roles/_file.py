"""roles.toml: the roles of the columns in a file that a person edits and decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from crypsis.columns.roles._rules import CONFIDENT
from crypsis.dataset import SAMPLE_KEYWORDS, ColumnNote, check_priors, is_reason
from crypsis.errors import RoleError, SourceError, unknown_columns
from crypsis.files import read_toml, replacing_file
from crypsis.options import Role
from crypsis.results import Result

_HEADER = """\
# The role of each column, as guessed by crypsis. A guess is not a decision: check every line,
# correct the role where it is wrong, and decide what is undecided. Then use this file with any
# command: --roles roles.toml. A column that is not in it is undecided.
#
#   identifier        identifies a person without other columns: a name, an email address, a
#                     document number; also free text, whose content is not known
#   quasi-identifier  known to others, identifies in combination with others: age, zip code, sex
#   sensitive         must not become known of a person: a disease, an income
#   insensitive       neither identifies nor harms
#   excluded          not released, whatever it is
#   undecided         not decided yet: nothing is called safe, and nothing is anonymized
#
# A role that contradicts what the name or the values show needs a reason, and more can be noted:
#
#   "parcel" = { role = "insensitive", override = "Numbers of parcels, not of telephones." }
#
#   override   the reason for a role that contradicts the evidence; it is in every report
#   sign_off   the reason why an intruder cannot know an insensitive attribute
#   harmless   the values of a sensitive attribute that may become known: ["none"]
#   known_to   who knows the values: "holder only"
#   hierarchy  the file with the hierarchy of the values
#   priors     the share of people with a value in the population: { positive = 0.002 }
#   several_people   the reason why an identifier that repeats does not link the records of one
#              person: "the number of the doctor, who has many patients"
#   public_presence  the reason why it is public who is in the table
#
# For an anonymization:
#
#   weight     how much the detail of a quasi-identifier matters: 1 by default, 0 if it may be
#              dropped
#   keep       the coarsest level that is allowed of it: 0 as it is, 1 one level up; of dates also
#              "month", "quarter", "half-year", "year", "decade"
#   may_change true if a sensitive attribute may be generalized or dropped where that costs less
#
# Where people or households have several records, the columns that identify them; of a sample its
# weights, strata and clusters:
#
#   [units]
#   person = "patient_nbr"
#   household = "home"
#   weight = "w"
#   stratum = "region"
#   cluster = "district"
#
# What a program cannot know, a policy asks in a checklist; answers are signed:
#
#   [answers]
#   "no full-face photographs" = "checked by N.N., 2026-11-01"
#
# What the file contains besides the table (sheets, comments, metadata) is signed off by its name:
#
#   [container]
#   "sheet:Legend" = "Meaning of the codes, no data; checked by N.N."
"""
_NOT_TEXT = ("harmless", "priors", "weight", "keep", "may_change")
_REASONS = ("override", "sign_off", "public_presence")
_FEWEST_SIGNS = 3
_NOTES = tuple(part.name for part in fields(ColumnNote))
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
    the file has them."""


class RoleOfColumn(Protocol):
    """A column with its role and the reason: a `Guess` or a `ColumnProfile`."""

    @property
    def column(self) -> str:
        """The name of the column."""

    @property
    def role(self) -> Role:
        """The role of the column."""

    @property
    def reason(self) -> str:
        """The reason for the role."""

    @property
    def confidence(self) -> float:
        """The confidence of the role, from 0 to 1."""


def save(
    columns: Iterable[RoleOfColumn],
    path: str | Path,
    *,
    notes: Mapping[str, ColumnNote] | None = None,
    units: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the roles of columns to a TOML file, completely or not at all.

    Parameters
    ----------
    columns : iterable of Guess or ColumnProfile
        The columns: what `guess` returns, or `crypsis.scan(data).columns`.
    path : str or Path
        The file to write.
    notes : mapping of str to ColumnNote, optional
        What to write about columns besides the role.
    units : mapping of str to str, optional
        The columns of the person, household, weight, stratum and cluster, by these names.
    overwrite : bool
        Whether an existing file is replaced.

    Returns
    -------
    Path
        The file. Reason and confidence of each role are comments; no data value is in it, except
        the harmless values of `notes`. A role of which the confidence is below 0.8 is written as
        undecided, with the guess in the comment: an unedited file is not a decision.

    Raises
    ------
    OutputError
        If the file exists already or could not be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from crypsis.columns.roles import Guess
    >>> with TemporaryDirectory() as folder:
    ...     guess = Guess("age", Role.QUASI_IDENTIFIER, "The name indicates an age.", 0.95)
    ...     load(save([guess], Path(folder, "roles.toml")), ["age"]).roles
    {'age': <Role.QUASI_IDENTIFIER: 'quasi-identifier'>}
    """
    lines = [_line(one, (notes or {}).get(one.column, ColumnNote())) for one in columns]
    named = [f"{name} = {_quoted(column)}" for name, column in (units or {}).items()]
    text = "\n".join([_HEADER, *(["[units]", *named, ""] if named else []), "[roles]", *lines, ""])
    with replacing_file(path, overwrite=overwrite) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)


def _line(one: RoleOfColumn, note: ColumnNote) -> str:
    role, guessed = one.role, ""
    if one.confidence < CONFIDENT and role is not Role.UNDECIDED:
        role, guessed = Role.UNDECIDED, f"Perhaps {one.role.value}. "
    reason = f"  # {guessed}{_in_one_line(one.reason)} (confidence {one.confidence:.2g})"
    empty = ColumnNote()
    written = {
        name: value for name in _NOTES if (value := getattr(note, name)) != getattr(empty, name)
    }
    if not written:
        return f'{_quoted(one.column)} = "{role.value}"{reason}'
    parts = [f'role = "{role.value}"', *(f"{name} = {_value(v)}" for name, v in written.items())]
    return f"{_quoted(one.column)} = {{ {', '.join(parts)} }}{reason}"


def _value(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_quoted(str(k))} = {v!r}' for k, v in value.items())} }}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return _quoted(value) if isinstance(value, str) else repr(value)


def load(path: str | Path, columns: Sequence[str]) -> DecidedRoles:
    r"""Read the roles of columns from a TOML file.

    Parameters
    ----------
    path : str or Path
        The file, as `save` writes it.
    columns : sequence of str
        The names of the columns of the data.

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
        If the file has a column that the data does not have, unless it is a direct identifier or
        excluded: a release has none and keeps its roles file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "roles.toml")
    ...     _ = path.write_text('[roles]\nage = "quasi-identifier"')
    ...     load(path, ["age"]).roles
    {'age': <Role.QUASI_IDENTIFIER: 'quasi-identifier'>}
    """
    document = _tables(Path(path))
    given = {name: _parts(name, value) for name, value in document["roles"].items()}
    roles = {name: _role(name, parts["role"]) for name, parts in given.items()}
    folder = Path(path).parent
    notes = {name: _note(name, parts, folder) for name, parts in given.items() if len(parts) > 1}
    removed = (Role.IDENTIFIER, Role.EXCLUDED)
    named = [name for name, role in roles.items() if role not in removed]
    if any(name not in columns for name in named):
        raise unknown_columns(named, columns)
    return DecidedRoles(
        {name: roles.get(name, Role.UNDECIDED) for name in columns},
        {name: note for name, note in notes.items() if name in columns},
        _reasons("container", document.get("container", {})),
        _units(document.get("units", {}), columns),
    )


def _units(given: Any, columns: Sequence[str]) -> dict[str, str]:
    """The columns of persons, households and the sample; a release without them keeps the file."""
    if not isinstance(given, dict) or not all(
        name in SAMPLE_KEYWORDS and isinstance(column, str) for name, column in given.items()
    ):
        names = ", ".join(f'{name} = "..."' for name in SAMPLE_KEYWORDS)
        raise RoleError(f"The table [units] of a roles file names columns: {names}.", code="units")
    return {name: column for name, column in given.items() if column in columns}


def load_answers(path: str | Path) -> dict[str, str]:
    r"""Read the owner's answers to the checklist of a policy: the table [answers] of a roles file.

    Parameters
    ----------
    path : str or Path
        The roles file.

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
    return _reasons("answers", _document(Path(path)).get("answers", {}))


def _reasons(table: str, given: Any) -> dict[str, str]:
    """The texts of a table; one of white space or punctuation is not a reason."""
    if not isinstance(given, dict):
        raise RoleError(f"{table!r} of a roles file is a table: [{table}].", code=table)
    for item, reason in given.items():
        signed = isinstance(reason, str) and sum(map(str.isalnum, reason)) >= _FEWEST_SIGNS
        if not (signed if table == "answers" else is_reason(reason)):
            raise RoleError(
                f"What is written for {item!r} must be words: who checked it, when, and why.",
                code=table,
            )
    return {item: reason.strip() for item, reason in given.items()}


def _tables(path: Path) -> dict[str, Any]:
    """The tables of the file; others than those that a roles file has are refused."""
    named, document = f"Roles file {path.name!r}", _document(path)
    if not isinstance(document.get("roles"), dict):
        raise SourceError(
            f"{named} has no [roles] table.", hint="Write a roles file from a scan of the data."
        )
    others = [name for name in document if name not in ("roles", "units", "answers", "container")]
    if others:
        raise SourceError(
            f"{named} has other tables than [roles], [units], [answers] and [container]: "
            f"{', '.join(map(repr, others))}."
        )
    return document


def _document(path: Path) -> dict[str, Any]:
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
        near = get_close_matches(unknown, _NOTES, n=1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        raise RoleError(
            f"Column {name!r} has {unknown!r} besides its role{meant}. There can be: "
            f"{', '.join(_NOTES)}.",
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
            f"The harmless values of column {name!r} must be a list of texts or numbers.",
            columns=(name,),
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
        ("keep", (int, str), "a level (0, 1, ...) or a unit of dates"),
        ("may_change", (bool,), "true or false"),
    ):
        value = settings.get(part)
        if value is None:
            continue
        wrong = not isinstance(value, kinds) or (isinstance(value, bool) and part != "may_change")
        if wrong or (not isinstance(value, str) and value < 0):
            raise RoleError(f"The {part} of column {name!r} must be {form}.", columns=(name,))


def _role(name: str, value: Any) -> Role:
    if not isinstance(value, str):
        raise RoleError(
            f"The role of column {name!r} must be text, one of: {_ROLES}.", columns=(name,)
        )
    try:
        return Role(value.strip().lower().replace("_", "-").replace(" ", "-"))
    except ValueError:
        near = get_close_matches(value, [role.value for role in Role], n=1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        raise RoleError(
            f"Column {name!r} has the unknown role {value!r}{meant}. The roles are: {_ROLES}.",
            code="unknown-role",
            columns=(name,),
        ) from None


def _quoted(name: str) -> str:
    """A name as a TOML key; control characters and quotes as escapes."""
    plain = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda c: f"\\u{ord(c[0]):04x}", plain) + '"'


def _in_one_line(text: str) -> str:
    return " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())
