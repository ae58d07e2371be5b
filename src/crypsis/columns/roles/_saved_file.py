"""roles.toml is written: the roles of columns, with their reasons, for a person to decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

from crypsis.columns.roles._rules import CONFIDENT
from crypsis.dataset import ColumnNote
from crypsis.files import replacing_file
from crypsis.options import EACH_RECORD, Role

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
#              "month", "quarter", "half-year", "year", "decade", "20 years", "40 years", "80 years"
#   may_change true if a sensitive attribute may be generalized or dropped where that costs less
#
# What a record is: "each record" if each is of another person, or the column that identifies the
# person of a record; undecided, nothing is called safe or anonymized. An answer that the records
# contradict needs a reason. Further the columns of households, and of a sample its weights, strata
# and clusters:
#
#   [units]
#   person = "patient_nbr"
#   person_reason = "why each record is of one person, although it does not seem so"
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
_NOTES = tuple(part.name for part in fields(ColumnNote))


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
    evidence: Sequence[str] = (),
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
        The columns of the person, household, weight, stratum and cluster, by these names; and
        "person_reason". Without a person it is written as undecided.
    evidence : sequence of str
        What indicates that records are not of one person each, such as
        `crypsis.scan(data).record_evidence`; a comment.
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
    >>> from crypsis.columns.roles import Guess, load
    >>> with TemporaryDirectory() as folder:
    ...     guess = Guess("age", Role.QUASI_IDENTIFIER, "The name indicates an age.", 0.95)
    ...     load(save([guess], Path(folder, "roles.toml")), ["age"]).roles
    {'age': <Role.QUASI_IDENTIFIER: 'quasi-identifier'>}
    """
    lines = [_line(column, (notes or {}).get(column.column, ColumnNote())) for column in columns]
    named = [f"{name} = {_quoted(column)}" for name, column in (units or {}).items()]
    if "person" not in (units or {}):
        named.insert(0, f'person = "{Role.UNDECIDED.value}"  # {_guessed_record(evidence)}')
    text = "\n".join([_HEADER, "[units]", *named, "", "[roles]", *lines, ""])
    with replacing_file(path, overwrite=overwrite) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)


def _guessed_record(evidence: Sequence[str]) -> str:
    """The guess of what a record is, with its evidence."""
    if evidence:
        return f"Perhaps an event of a person. {_in_one_line(' '.join(evidence))}"
    return f'Perhaps "{EACH_RECORD}": nothing in the records contradicts it, which does not prove it.'


def _line(role_of_column: RoleOfColumn, note: ColumnNote) -> str:
    role, guessed = role_of_column.role, ""
    if role_of_column.confidence < CONFIDENT and role is not Role.UNDECIDED:
        role, guessed = Role.UNDECIDED, f"Perhaps {role_of_column.role.value}. "
    reason = (
        f"  # {guessed}{_in_one_line(role_of_column.reason)} (confidence {role_of_column.confidence:.2g})"
    )
    empty = ColumnNote()
    written = {name: value for name in _NOTES if (value := getattr(note, name)) != getattr(empty, name)}
    if not written:
        return f'{_quoted(role_of_column.column)} = "{role.value}"{reason}'
    parts = [f'role = "{role.value}"', *(f"{name} = {_value(v)}" for name, v in written.items())]
    return f"{_quoted(role_of_column.column)} = {{ {', '.join(parts)} }}{reason}"


def _value(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_quoted(str(k))} = {v!r}' for k, v in value.items())} }}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(name: str) -> str:
    """A name as a TOML key; control characters and quotes as escapes."""
    plain = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda c: f"\\u{ord(c[0]):04x}", plain) + '"'


def _in_one_line(text: str) -> str:
    return " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())
