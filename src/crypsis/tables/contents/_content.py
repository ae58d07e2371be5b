"""A part of a file that is not in the table."""

from __future__ import annotations

from crypsis.results import Result

CHUNK_BYTES = 1 << 24
"""Bytes of a text file that are read at a time."""


class Content(Result):
    """Something in the file, the folder or the database besides the table.

    Examples
    --------
    >>> Content("sheet:Notes", "Sheet 'Notes' is hidden.").name
    'sheet:Notes'
    """

    name: str
    """What it is and what it is called; the key to sign it off in the roles file."""
    description: str
    """A sentence without data values."""
    computed: bool = False
    """Whether it is code that computes the values of the table at each reading. What a
    recipient gets is not known before the rows are written out, so it cannot be signed off."""
