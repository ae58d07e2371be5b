"""What is left of each column of a release, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from crypsis.hierarchies.labels import unit_name
from crypsis.protection._statement import Method

_UNCHANGED = ("keep", "top")


def released_values(methods: Sequence[Method], records: int) -> dict[str, str]:
    """For each recoded column what most of its records show, and for how many of them.

    Parameters
    ----------
    methods : sequence of Method
        The methods of a statement.
    records : int
        The records that are released.

    Returns
    -------
    dict of str to str
        A sentence without its period for each recoded column.

    Examples
    --------
    >>> levels = [{"method": "date", "unit": "year", "rows": 97}, {"method": "suppress", "rows": 3}]
    >>> released_values([Method("born", "levels", "", {"levels": levels})], 100)
    {'born': 'born as year for 97 % of the records, suppressed for 3 %'}
    >>> levels = [{"method": "level", "level": n, "labels": 9, "rows": 25} for n in range(1, 5)]
    >>> print(released_values([Method("job", "levels", "", {"levels": levels})], 100)["job"])
    job on level 1 of its hierarchy (9 labels) for 25 % of the records, on level 2 of its hierarchy
    (9 labels) for 25 %, on level 3 of its hierarchy (9 labels) for 25 %, otherwise for 25 %
    """
    texts: dict[str, str] = {}
    masks: dict[str, str] = {}
    for method in methods:
        if method.method in ("removed", "not released"):
            texts[method.column] = f"{method.column} is not released"
        elif method.method == "released apart":
            texts |= {name: f"{name} apart, in a file of its own" for name in method.columns}
        elif "levels" in method.parameters:
            used = sorted(method.parameters["levels"], key=lambda level: -level["rows"])
            used = [used[0], *(level for level in used[1:] if 200 * level["rows"] >= records)]
            parts = [f"{_words(level)} for {_share(level['rows'], records)}" for level in used[:3]]
            parts[0] += " of the records"
            other_rows = sum(level["rows"] for level in used[3:])
            parts += [f"otherwise for {_share(other_rows, records)}"] if other_rows else []
            texts[method.column] = f"{method.column} {masks.get(method.column, '')}{', '.join(parts)}"
        elif method.method in _UNCHANGED:
            texts[method.column] = f"{method.column} {method.description}"
        else:
            masks |= dict.fromkeys(method.columns, f"masked ({method.description}), then ")
    return texts


def _share(rows: int, records: int) -> str:
    """How many of the records: never rounded to none or to all.

    >>> _share(100, 100), _share(999, 1_000), _share(5, 1_000)
    ('100 %', 'over 99 %', '1 %')
    """
    percent = round(100 * rows / max(1, records))
    if percent == 100 and rows < records:
        return "over 99 %"
    return f"{max(1, percent)} %"


def _words(level: dict[str, object]) -> str:
    """One level of a column."""
    method = level["method"]
    if method == "keep":
        return "as it is"
    if method == "suppress":
        return "suppressed"
    if method == "date":
        return f"as {unit_name(str(level['unit']))}"
    if method == "intervals":
        return "in 1 interval" if level["groups"] == 1 else f"in {level['groups']} intervals"
    if method == "prefix":
        return f"by its first {level['length']} of {level['width']} characters"
    if method == "frequent" and level["values_kept"] == 1:
        return f"as its most frequent value or {level['other']!r}"
    if method == "frequent":
        return f"as one of the {level['values_kept']} most frequent values or {level['other']!r}"
    if method == "level":
        return f"on level {level['level']} of its hierarchy ({level['labels']} labels)"
    return f"top coded at {level.get('limit')}"
