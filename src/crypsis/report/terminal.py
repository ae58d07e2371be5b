"""Results in the terminal: readable at 80 columns, complete when it is wider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from crypsis.profile import ColumnProfile, Profile

_WIDE = 110
_COLOURS = {
    "identifier": "red",
    "quasi-identifier": "yellow",
    "sensitive": "magenta",
}
# Control characters, and marks of direction or of no width: they can make a name look like another.
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


def shown(name: str, most: int = 40) -> Text:
    """A name from the data: without control and direction marks, cut where it is too long."""
    clean = name.translate(_UNSEEN)
    return Text(clean if len(clean) <= most else clean[: most - 1] + "…")


def profile_view(profile: Profile, source: str, width: int) -> RenderableType:
    """The scan of a release."""
    head = Text.assemble(
        (source, "bold"), f": {profile.rows:,} rows, {len(profile.columns)} columns"
    )
    parts: list[RenderableType] = [head, "", _columns(profile, wide=width >= _WIDE)]
    guessed = [column for column in profile.columns if column.guessed]
    if guessed and width < _WIDE:
        parts += ["", Text("Why these roles", "bold"), _reasons(guessed)]
    parts += ["", Text("What tells people apart most", "bold"), _identifying(profile)]
    if guessed:
        note = (
            f"{len(guessed)} of {len(profile.columns)} roles are guesses. Write them down with "
            "--save roles.toml, correct them, and give them back with --roles roles.toml."
        )
        parts += ["", Text(note, "yellow")]
    return Group(*parts)


def _table() -> Table:
    return Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))


def _columns(profile: Profile, *, wide: bool) -> Table:
    table = _table()
    table.add_column("column", overflow="fold")
    table.add_column("type")
    for name in ("distinct", "missing", "group size"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("role", no_wrap=True)
    if wide:
        table.add_column("sure", justify="right", no_wrap=True)
        table.add_column("why")
    for column in profile.columns:
        role = Text(column.role.value, _COLOURS.get(column.role.value, ""))
        if column.guessed:
            role.append("?", "dim")
        row: list[RenderableType] = [
            shown(column.column, 40 if wide else 20),
            column.kind,
            f"{column.distinct:,}",
            f"{column.missing:,}" if column.missing else "-",
            _groups(column),
            role,
        ]
        table.add_row(*row, *([_sure(column), column.reason] if wide else []))
    return table


def _groups(column: ColumnProfile) -> str:
    if not column.largest_group or column.smallest_group is None:
        return "-"
    if column.smallest_group == column.largest_group:
        return f"{column.smallest_group:,}"
    return f"{column.smallest_group:,}-{column.largest_group:,}"


def _sure(column: ColumnProfile) -> str:
    return f"{100 * column.confidence:.0f} %" if column.guessed else "-"


def _reasons(columns: list[ColumnProfile]) -> Table:
    table = _table()
    table.add_column("column", overflow="fold")
    table.add_column("sure", justify="right", no_wrap=True)
    table.add_column("why")
    for column in columns:
        table.add_row(shown(column.column, 20), _sure(column), Text(column.reason))
    return table


def _identifying(profile: Profile) -> Table:
    table = _table()
    table.add_column("columns", overflow="fold")
    for name in ("distinct", "unique rows", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    for subset in profile.most_identifying:
        names = Text(", ").join(shown(name, 30) for name in subset.columns)
        share = f"{100 * subset.unique_fraction:.1f} %"
        table.add_row(names, f"{subset.distinct:,}", f"{subset.singletons:,}", share)
    return table
