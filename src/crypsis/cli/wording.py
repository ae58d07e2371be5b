"""Options in the words of the command line."""

from __future__ import annotations

import shlex

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
    """An option as it is typed in a shell; a reason is written in the roles file.

    >>> cli_option("quasi_identifiers", None), cli_option("delimiter", ";")
    ('--qi', "--delimiter ';'")
    """
    if name == "note":
        return f"{value} in the roles file"
    if name == "person_reason":
        return f"{name} under [units] in the roles file"
    flag = _FLAGS.get(name, "--" + name.replace("_", "-"))
    return flag if value in (None, "True") else f"{flag} {shlex.quote(value)}"
