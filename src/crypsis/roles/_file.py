"""roles.toml: the roles of the columns, written down for a person to edit and decide."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from crypsis.errors import RoleError, SourceError, unknown_columns
from crypsis.files import written_whole
from crypsis.release import Role

_HEADER = """\
# What each column is, as guessed by crypsis. A guess is not a decision: read every line, correct
# the role where it is wrong, and then give this file to any command with --roles. Every column of
# the data must be here.
#
#   identifier        names a person by itself: a name, an email address, a number of a document;
#                     free text too, because nobody can tell what is in it
#   quasi-identifier  known to others, and telling together with other columns: age, zip code, sex
#   sensitive         what must not become known of a person: a disease, an income
#   other             none of these
"""


class Judged(Protocol):
    """A column with its role, and why: a Guess, or a line of a profile."""

    @property
    def column(self) -> str:
        """Its name."""

    @property
    def role(self) -> Role:
        """Its role."""

    @property
    def reason(self) -> str:
        """Why."""

    @property
    def confidence(self) -> float:
        """How sure, from 0 to 1."""


def save(guesses: Iterable[Judged], path: str | Path, *, overwrite: bool = False) -> Path:
    """Write the roles, in the order of the columns, to a TOML file; whole or not at all.

    The reason and the confidence of a guess stand beside it as a comment; no data value does.
    """
    lines = [
        f'{_quoted(guess.column)} = "{guess.role.value}"'
        f"  # {_in_one_line(guess.reason)} (confidence {guess.confidence:.2g})"
        for guess in guesses
    ]
    text = "\n".join([_HEADER, "[roles]", *lines, ""])
    with written_whole(path, overwrite=overwrite) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)


def load(path: str | Path, names: Sequence[str]) -> dict[str, Role]:
    """The roles of the columns `names` out of a file written by `save`, in their order.

    The file is a decision about every column: one that it leaves out is an error, as is one that
    does not exist. Only identifiers may be gone: a release has none, and keeps its roles file.
    """
    given = _table(Path(path))
    roles = {name: _role(name, value) for name, value in given.items()}
    named = [name for name, role in roles.items() if role is not Role.IDENTIFIER]
    if any(name not in names for name in named):
        raise unknown_columns(named, names)
    undecided = [name for name in names if name not in roles]
    if undecided:
        listed = ", ".join(repr(name) for name in undecided[:20])
        more = f" and {len(undecided) - 20} more" if len(undecided) > 20 else ""
        raise RoleError(
            f"{Path(path).name!r} says nothing of {listed}{more}. It must give every column a "
            f"role: {_roles()}."
        )
    return {name: roles[name] for name in names}


def _table(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path.name!r} cannot be read ({error.strerror}).") from None
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SourceError(f"{path.name!r}: line {line} is not UTF-8. Save it as UTF-8.") from None
    except RecursionError:
        raise SourceError(f"{path.name!r} is nested too deeply to be a file of roles.") from None
    except tomllib.TOMLDecodeError as error:
        raise SourceError(
            f'{path.name!r} is not TOML: {error}. A line reads "column" = "role".'
        ) from None
    table = document.pop("roles", None)
    if not isinstance(table, dict):
        raise SourceError(f"{path.name!r} has no [roles] table; write one with scan --save.")
    if document:
        raise SourceError(
            f"{path.name!r} has more than [roles]: {', '.join(map(repr, document))} means nothing."
        )
    return table


def _role(name: str, value: Any) -> Role:
    if isinstance(value, dict):
        raise RoleError(f"{name!r} is given no role. Put a column name with dots between quotes.")
    if isinstance(value, str):
        try:
            return Role(value.strip().lower().replace("_", "-").replace(" ", "-"))
        except ValueError:
            near = get_close_matches(value, [role.value for role in Role], n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise RoleError(
                f"The column {name!r} has the unknown role {value!r}{hint}. "
                f"The roles are: {_roles()}."
            ) from None
    raise RoleError(f"The role of the column {name!r} must be text, one of: {_roles()}.")


def _roles() -> str:
    return ", ".join(repr(role.value) for role in Role)


def _quoted(name: str) -> str:
    """A name as a TOML key; control characters and quotes as escapes."""
    plain = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda c: f"\\u{ord(c[0]):04x}", plain) + '"'


def _in_one_line(text: str) -> str:
    return " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())
