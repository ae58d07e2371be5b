"""Options in the words of the command line."""

from __future__ import annotations

_FLAGS = {
    "identifiers": "--id",
    "quasi_identifiers": "--qi",
    "excluded": "--exclude",
    "missing_markers": "--missing-marker",
    "types": "--type",
    "orders": "--order",
    "hierarchies": "--hierarchy",
    "methods": "--method",
    "overwrite": "--force",
    "columns": "--column",
    "weights": "--column-weight",
    "earlier_keys": "--earlier-key",
}


def cli_option(name: str, value: str | None) -> str:
    """An option as it is typed; a note about a column is in the roles file.

    >>> cli_option("quasi_identifiers", None), cli_option("encoding", "latin-1")
    ('--qi', '--encoding latin-1')
    """
    if name == "note":
        return f"{value} in the roles file"
    flag = _FLAGS.get(name, "--" + name.replace("_", "-"))
    return flag if value in (None, "True") else f"{flag} {value}"
