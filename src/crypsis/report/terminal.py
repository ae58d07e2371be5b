"""Results in the terminal: readable at 80 columns, complete when it is wider."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis.options import EACH_RECORD
from crypsis.report.wording import plural
from crypsis.results import number_text

if TYPE_CHECKING:
    from crypsis.columns.profile import ColumnProfile, Profile

_MIN_WIDE_CHARACTERS = 110
"""On a terminal of this width the table of columns has all its columns."""
_COLORS = {"identifier": "red", "quasi-identifier": "yellow", "sensitive": "magenta"}
# Control characters, direction marks and zero-width characters can make two names look alike.
_UNSEEN = dict.fromkeys(
    (
        *range(32),
        *range(127, 160),
        0x061C,
        0xFEFF,
        *range(0x200B, 0x2010),
        *range(0x2028, 0x202F),
        *range(0x2060, 0x206A),
    )
)


_MAX_NAMED_COLUMNS = 4
"""How many columns are named that a reason is given for."""


def shown(name: str, width: int = 40) -> Text:
    """A name from the data: without control and direction marks, truncated if it is too long."""
    clean = name.translate(_UNSEEN)
    return Text(clean if len(clean) <= width else clean[: width - 1] + "…")


def scan_view(profile: Profile, source: str, width: int) -> RenderableType:
    """The scan of a dataset."""
    of_people = "" if profile.people is None else f" of {number_text(profile.people, ',')} people"
    records, columns = plural(profile.rows, "record"), plural(len(profile.columns), "column")
    head = Text.assemble((source, "bold"), f": {records}{of_people}, {columns}")
    parts: list[RenderableType] = [head]
    if profile.encoding is not None:
        parts.append(Text(f"The file is not UTF-8; it was read as {profile.encoding}.", "yellow"))
    if profile.proposals:
        names = [column.column for column in profile.columns if column.links]
        person = f"--person {shlex.quote(names[0])}" if names else "--person COLUMN"
        hint = f"Decide it: --person '{EACH_RECORD}' or {person}, or in the roles file."
        parts += [Text(text, "yellow") for text in profile.proposals]
        parts.append(Text(hint, "yellow"))
    parts += ["", _columns(profile, wide=width >= _MIN_WIDE_CHARACTERS)]
    guessed = [column for column in profile.columns if column.guessed]
    if guessed and width < _MIN_WIDE_CHARACTERS:
        parts += ["", Text("Reasons for the guessed roles", "bold"), _reasons(guessed)]
    parts += ["", Text("Most identifying columns and pairs", "bold"), _identifying(profile)]
    if guessed:
        note = (
            f"{len(guessed)} of {len(profile.columns)} roles are guesses. Save them with --save "
            "roles.toml (those below 80 % as undecided), correct the file, and use it with --roles "
            "roles.toml."
        )
        parts += ["", Text(note, "yellow")]
    return Group(*parts)


def _table() -> Table:
    return Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))


def _columns(profile: Profile, *, wide: bool) -> Table:
    table = _table()
    table.add_column("column", overflow="fold")
    table.add_column("type")
    table.add_column("values", justify="right")
    for name in ("missing", "class size"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("role", no_wrap=True)
    if wide:
        table.add_column("confidence", justify="right", no_wrap=True)
        table.add_column("reason")
    for column in profile.columns:
        role = Text(column.role.value, _COLORS.get(column.role.value, ""))
        if column.guessed:
            role.append("?", "dim")
        row: list[RenderableType] = [
            shown(column.column, 40 if wide else 20),
            column.kind,
            number_text(column.distinct, ","),
            f"{column.missing:,}" if column.missing else "-",
            _class_sizes(column),
            role,
        ]
        table.add_row(*row, *([_confidence(column), column.reason] if wide else []))
    return table


def _class_sizes(column: ColumnProfile) -> str:
    if not column.largest_class or column.smallest_class is None:
        return "-"
    if column.smallest_class == column.largest_class:
        return f"{column.smallest_class:,}"
    return f"{column.smallest_class:,}-{column.largest_class:,}"


def _confidence(column: ColumnProfile) -> str:
    return f"{100 * column.confidence:.0f} %" if column.guessed else "-"


def _reasons(columns: list[ColumnProfile]) -> Table:
    """Each reason once, with the columns that it is given for."""
    table = _table()
    table.add_column("column", overflow="fold")
    table.add_column("confidence", justify="right", no_wrap=True)
    table.add_column("reason")
    grouped: dict[tuple[str, str], list[Text]] = {}
    for column in columns:
        key = _confidence(column), column.reason
        grouped.setdefault(key, []).append(shown(column.column, 20))
    for (confidence, reason), names in grouped.items():
        listed = names if len(names) <= _MAX_NAMED_COLUMNS else names[: _MAX_NAMED_COLUMNS - 1]
        more = [Text(f"and {len(names) - len(listed)} more")] * (len(names) > len(listed))
        table.add_row(Text("\n").join([*listed, *more]), confidence, Text(reason))
    return table


def _identifying(profile: Profile) -> Table:
    table = _table()
    table.add_column("columns", overflow="fold")
    for name in ("classes", "unique records", "share"):
        table.add_column(name, justify="right")
    for subset in profile.most_identifying:
        names = Text(", ").join(shown(name, 30) for name in subset.columns)
        share = f"{100 * subset.unique_fraction:.1f} %"
        counts = (number_text(n, ",") for n in (subset.distinct, subset.singletons))
        table.add_row(names, *counts, share)
    return table
