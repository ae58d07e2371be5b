"""The file itself: its values as they are written, and what it contains besides the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crypsis.columns.roles import identifier_in, visible
from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.policies import Measurement
from crypsis.policies.findings import Reason
from crypsis.report.wording import CLEAN_COPY, listed, plural
from crypsis.tables import Content, Kind, Rows

_MAX_COMPARED_VALUES = 2_000_000
"""Notations of a sensitive attribute with more values are not compared."""
_SHOWN_CONTENTS = 8
"""A reason describes so many contents of a file, and counts the others."""
_COMPUTED_HINT = f"Judge and release the clean copy, in which the rows are written out: `{CLEAN_COPY}`."
_HINT = (
    f"Judge and release the clean copy, which has the rows alone: `{CLEAN_COPY}`. Or sign it off in the "
    "roles file: the table [container] with the name and the reason."
)
_NAMED_HINT = (
    "Rename it, or sign it off in the roles file: the table [container] with the name and the reason."
)
_NAMES = ("header:", "title:")
"""Contents that a clean copy has, too."""


def file_texts(data: Dataset) -> Rows | None:
    """The released columns as texts, just as they are in the file; None if there is no such file."""
    names = _plain(data)
    return data.rows.written(names) if data.rows.written is not None and names else None


def _plain(data: Dataset) -> list[str]:
    """The released columns that may be written in another way than they are read."""
    return [
        column.name
        for column in data.rows.columns
        if column.name in data.released
        and column.kind is not Kind.NESTED
        and (data.rows.notations is None or column.name in data.rows.notations)
    ]


def as_written(data: Dataset) -> tuple[Dataset, tuple[str, ...]]:
    """The data as a recipient sees it, and the columns in which that makes a difference."""
    return data.as_written(data.released), data.finer_as_written(data.released)


def written_text(columns: Sequence[str]) -> str:
    """That the texts of the file were counted, as a note."""
    noun = "a column" if len(columns) == 1 else f"{len(columns)} columns"
    return (
        f"Equivalence classes are those of the texts in the file, which distinguish more than the "
        f"values that are read, in {noun}: {listed(columns)}."
    )


def open_contents(data: Dataset, texts: Rows | None) -> list[Content]:
    """What the file contains besides the table, without what the owner signed off."""
    contents = () if data.rows.contents is None else data.rows.contents()
    all_contents = (*_code(data), *contents, *_names(data), *_spellings(data, texts))
    return [
        content
        for content in dict.fromkeys(all_contents)
        if content.computed or content.name not in data.container
    ]


def _code(data: Dataset) -> Iterator[Content]:
    """That code of the file computes the values: a recipient may get others."""
    if data.rows.computed:
        text = (
            "The values are computed by a view or by columns of the database at each reading, "
            "and may be others for a recipient. No reason signs this off."
        )
        yield Content("computed:rows", text, computed=True)


def _names(data: Dataset) -> Iterator[Content]:
    """Names of columns, files, sheets and tables that contain an identifier."""
    for name in data.released:
        sign = identifier_in(name)
        if sign is not None:
            yield Content(f"header:{name}", f"The name of column {name!r} has {sign.noun}.")
    for name in () if data.rows.titles is None else data.rows.titles():
        sign = identifier_in(name)
        if sign is not None:
            yield Content(f"title:{name}", f"The name {name!r} of a file or table has {sign.noun}.")


def _spellings(data: Dataset, texts: Rows | None) -> Iterator[Content]:
    """Sensitive attributes whose equal values are written in different ways in the file.

    The texts are not compared as values: two notations of one value are not diverse.
    """
    if texts is None:
        return
    for name in [name for name in _plain(data) if name in data.sensitive]:
        try:
            value_counts = texts.value_counts([name], at_most=_MAX_COMPARED_VALUES)[name]
            read = len(data.rows.value_counts([name], at_most=_MAX_COMPARED_VALUES)[name])
        except (InputError, TooLargeError):
            continue
        seen = {" ".join(visible(str(text)).split()) for text in value_counts}
        if len(value_counts) > min(read, len(seen)):
            text = f"Equal values of the sensitive attribute {name!r} are written in different ways."
            yield Content(f"spelling:{name}", text)


def measure_contents(data: Dataset, contents: Sequence[Content]) -> Measurement:
    """Met if the file contains nothing else; otherwise nothing is known."""
    name = "columns.container_contents"
    if not contents:
        signed = f" {plural(len(data.container), 'item')} signed off." if data.container else ""
        return Measurement(name, 0, f"Nothing undecided is in the file besides the table.{signed}")
    return Measurement(name, None, _text(contents), requested=True, hint=_hint(contents))


def content_reasons(contents: Sequence[Content]) -> tuple[Reason, ...]:
    """Why a file with other contents is not called safe."""
    return (Reason("container-contents", _text(contents), _hint(contents)),) if contents else ()


def _hint(contents: Sequence[Content]) -> str:
    if any(content.computed for content in contents):
        return _COMPUTED_HINT
    return _NAMED_HINT if all(content.name.startswith(_NAMES) for content in contents) else _HINT


def _text(contents: Sequence[Content]) -> str:
    shown = " ".join(f"{content.description} [{content.name}]" for content in contents[:_SHOWN_CONTENTS])
    more = f" And {len(contents) - _SHOWN_CONTENTS} more." if len(contents) > _SHOWN_CONTENTS else ""
    return f"The file has, or can have, more than the table ({plural(len(contents), 'item')}). {shown}{more}"
