"""Options in the words of the page: an error never speaks of flags or keyword arguments there."""

from __future__ import annotations

_LABELS = {
    "quasi_identifiers": "quasi-identifiers",
    "identifiers": "direct identifiers",
    "sensitive": "sensitive attributes",
    "missing_markers": "missing-value markers",
    "names": "column names",
    "types": "column types",
    "job_memory": "memory limit of a job",
    "job_disk": "disk limit of a job",
    "job_seconds": "time limit of a job",
    "upload_limit": "upload limit",
    "tables": "limit of open tables",
    "on": "column of record numbers",
    "original": "original",
    "exact": "count exactly",
    "header": "header",
    "orders": "orders of categories",
    "categories": "order of categories",
}


def page_option(name: str, value: str | None) -> str:
    """An option as the page names it.

    >>> page_option("quasi_identifiers", None), page_option("encoding", "latin-1")
    ('the quasi-identifiers', 'the encoding to latin-1')
    >>> page_option("names", "[...]"), page_option("exact", "True")
    ('the column names', '“count exactly”')
    """
    label = _LABELS.get(name, name.replace("_", " "))
    if value == "True":
        return f"“{label}”"
    return f"the {label}" if value is None or "..." in value else f"the {label} to {value}"
