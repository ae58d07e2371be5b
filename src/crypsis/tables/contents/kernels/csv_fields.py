"""Where the fields of CSV text are, in one pass over its bytes."""

from __future__ import annotations

from typing import Any

from crypsis.machine_code import kernel

_QUOTE, _LINE, _RETURN = 34, 10, 13


@kernel
def find_fields(
    data: Any, delimiter: int, columns: int, start: Any, end: Any, quoted: Any, needed: Any
) -> int:
    """Fill in the bounds of each field, whether it is in quotes, and whether it needs them.

    A field needs quotes that has a delimiter, a line end or a quote in them. Returns the number of
    fields; -1 if a row has more or fewer of them than there are columns.
    """
    field = column = first = quotes = 0
    inside = special = False
    for i in range(data.size):
        byte = data[i]
        if byte == _QUOTE:
            quotes += 1
            inside = not inside
        elif byte in (delimiter, _LINE):
            if inside:
                special = True
                continue
            if (byte == _LINE) != (column == columns - 1):
                return -1
            start[field] = first
            quoted[field] = i > first and data[first] == _QUOTE
            returned = byte == _LINE and i > first and data[i - 1] == _RETURN
            end[field] = i - 1 if returned else i
            needed[field] = special or quotes > 2
            field += 1
            first, quotes, special = i + 1, 0, False
            column = 0 if byte == _LINE else column + 1
    return field if column == 0 else -1
