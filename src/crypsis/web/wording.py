"""Options in the words of the page: an error never speaks of flags or keyword arguments there."""

from __future__ import annotations

_LABELS = {
    "quasi_identifiers": "role “quasi-identifier”",
    "identifiers": "role “identifier”",
    "sensitive": "role “sensitive”",
    "insensitive": "role “insensitive”",
    "excluded": "role “excluded”",
    "person": "answer to “What is a record?” on the page Columns",
    "person_reason": "reason below “What is a record?” on the page Columns",
    "household": "household column",
    "weight": "survey weight column",
    "stratum": "column of the strata",
    "cluster": "column of the clusters",
    "population": "population",
    "missing_markers": "missing-value markers",
    "names": "column names",
    "types": "column types",
    "job_memory": "memory limit of a job",
    "job_disk": "disk limit of a job",
    "job_seconds": "time limit of a job",
    "upload_limit": "upload limit",
    "tables": "limit of open tables",
    "key": "re-identification key",
    "earlier": "earlier release",
    "earlier_keys": "key of the earlier release",
    "earlier_roles": "names of the columns of the earlier release to those of this table",
    "accept_guesses": "box “Accept guessed roles”",
    "holdout": "file of other people",
    "synthetic": "box “The records are synthetic”",
    "attack": "files of pseudonyms",
    "context": "field “Who receives it”",
    "on": "column of record numbers",
    "original": "original",
    "exact": "count exactly",
    "header": "header",
    "format": "file format",
    "k": "smallest class size (k)",
    "suppression": "suppression limit",
    "excess": "excess of a value",
    "keep": "“must keep” settings of the columns",
    "orders": "orders of categories",
    "categories": "order of categories",
}

HINTS = {
    "person-undecided": "Answer “What is a record?” on the page Columns.",
    "people-not-counted": "Open “Assess again”, and there “Other files”: give the original, its "
    "re-identification key (or the column of record numbers), and the “Person column of the "
    "original”.",
    "checklist": "Open “Assess again”, and there “Checklist of the policy”: write who checked it, and when.",
    "container-contents": "Take the clean copy, which has the rows alone, or remove it from the file.",
}
"""What to do about a reason where the page has fields of its own for it."""

_FIELDS = {
    "override": "Reason for a role that contradicts the evidence",
    "sign_off": "Signed off: the reason why nobody outside can know it",
    "harmless": "Harmless values, with commas",
    "several_people": "Or why it is not the person of a record",
}
"""The fields of a column for what is written about it besides its role."""


def page_option(name: str, value: str | None) -> str:
    """An option as the page names it.

    >>> page_option("quasi_identifiers", None), page_option("encoding", "latin-1")
    ('the role “quasi-identifier”', 'the encoding to latin-1')
    >>> page_option("names", "[...]"), page_option("exact", "True")
    ('the column names', '“count exactly”')
    """
    if name == "note":
        return f"the field “{_FIELDS.get(value or '', value)}” of the column, on the page Columns"
    label = _LABELS.get(name, name.replace("_", " "))
    if value == "True":
        return f"“{label}”"
    return f"the {label}" if value is None or "..." in value else f"the {label} to {value}"
