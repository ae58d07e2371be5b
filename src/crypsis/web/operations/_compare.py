"""Two files: can masked records be linked, and what can a data subject verify?"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from crypsis import linkage
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, InputError
from crypsis.hierarchies.overlap import overlapping
from crypsis.protection import Key
from crypsis.report.charts import linkage as charts
from crypsis.report.figures import figure
from crypsis.report.json import to_json
from crypsis.report.linkage import comparison_page, notes
from crypsis.results import percent_text
from crypsis.tables import Kind
from crypsis.web.operations._figures import figure_view
from crypsis.web.operations._session import TableSession

_NO_RANKS = ("no-comparable-columns", "missing-values")
_ACCEPTABLE_SHARE = 0.05
"""The share of correct links that is acceptable unless the request states one."""
_DAY_FIRST = re.compile(r"^(\d{1,2})\.(\d{1,2})\.(\d{4})$")
_DECIMAL_COMMA = re.compile(r"^-?\d+,\d+$")


def compare(
    session: TableSession,
    *,
    original: dict[str, Any],
    masked: dict[str, Any],
    key: dict[str, Any] | None = None,
    on: str | None = None,
    columns: list[str] | None = None,
    frequency: bool = False,
    acceptable: float | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Links, their verification, permutation and noise; writes the page to the table's folder.

    Where no column can be ranked, as in generalized data, the intruders that compare labels link.
    """
    rows = None if key is None else key_rows(key)
    with session.engine:
        both = session.release(original), session.release(masked)
        try:
            comparison = linkage.compare(
                *both,
                columns=columns or None,
                on=on,
                row_map=rows,
                categories="frequency" if frequency or columns else "exclude",
                acceptable=acceptable,
                seed=seed,
            )
        except ColumnError as error:
            if error.code not in _NO_RANKS:
                raise
            suite_options = {"columns": columns} if columns else {}
            suite = linkage.attack_links(*both, on=on, row_map=rows, seed=seed, **suite_options)  # type: ignore[arg-type]
            for name in ("comparison.html", "comparison.json"):
                (session.folder / name).unlink(missing_ok=True)
            return _linked(suite, _ACCEPTABLE_SHARE if acceptable is None else acceptable)
    page = comparison_page(comparison, f"{original['title']} and {masked['title']}")
    (session.folder / "comparison.html").write_text(page, encoding="utf-8")
    (session.folder / "comparison.json").write_text(to_json("compare", comparison), encoding="utf-8")
    drawn = [charts.match_distances(comparison.verification.dependent or comparison.verification.independent)]
    drawn.append(charts.column_distances(comparison.link))
    if comparison.link.true_matches is not None:
        drawn.append(charts.links(comparison.intruders))
    return {
        "verdict": comparison.verdict,
        "reasons": list(comparison.reasons),
        "records": comparison.records,
        "masked_records": comparison.masked_records,
        "columns": list(comparison.columns),
        "notes": notes(comparison),
        "intruders": [
            {
                "name": name,
                "true_matches": link.true_matches,
                "records": link.records,
                "multiple_matches": link.multiple_matches,
                "chance": link.chance,
                "correct_share": link.correct_share and link.correct_share.to_dict(),
            }
            for name, link in comparison.intruders
        ],
        "figures": [figure_view(figure(chart)) for chart in drawn],
        "files": True,
    }


def key_rows(key: dict[str, Any]) -> Any:
    """The original row of each released record; None where all are in their order."""
    rows = Key.load(key["path"]).row_map
    if rows is not None and not rows:
        raise InputError(
            "The key does not have the original row of each record: the release was too large.",
            hint="Set {on} to a column that both files have.",
        )
    return rows


def _linked(suite: linkage.LinkSuite, acceptable: float) -> dict[str, Any]:
    """The links of the intruders that compare labels, and what they mean."""
    sure = suite.sure_share()
    doubts = list(suite.doubts)
    if sure is None:
        verdict = "cannot tell"
        doubts.append(
            "Which original belongs to which record is not known, because the rows are in another "
            "order. Add the re-identification key, or name a column of record numbers."
        )
        reasons = doubts
    else:
        limit = max(acceptable, suite.chance)
        verdict = "not safe" if sure.low > limit else "safe" if sure.high <= limit else "cannot tell"
        verdict = "cannot tell" if doubts and verdict == "safe" else verdict
        reasons = [suite.statement(sure), f"Acceptable are {percent_text(limit)}.", *doubts]
    return {
        "verdict": verdict,
        "reasons": list(dict.fromkeys(reasons)),
        "records": suite.records,
        "masked_records": suite.masked_records,
        "columns": list(suite.columns),
        "notes": list(suite.not_computed),
        "figures": [],
        "files": False,
        "intruders": [
            {
                "name": attack.method,
                "true_matches": attack.true_matches,
                "records": attack.records,
                "multiple_matches": attack.multiple_matches,
                "chance": attack.chance,
                "correct_share": attack.correct_share and attack.correct_share.to_dict(),
            }
            for attack in suite.attacks
        ],
    }


def verify(
    session: TableSession,
    *,
    file: dict[str, Any],
    record: dict[str, str] | None = None,
    permutation_only: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """What a data subject can verify with their own values and the release; nothing is stored."""
    with session.engine:
        released = session.release(file)
        if record is None:
            return {
                "columns": [
                    {"name": column.name, "kind": column.kind.value}
                    for column in released.rows.columns
                    if column.kind is not Kind.NESTED
                ],
                "rows": released.count,
            }
        try:
            verification = linkage.verify_record(
                released, record, permutation_only=permutation_only, seed=seed
            )
        except ColumnError as error:
            if permutation_only or error.code not in _NO_RANKS:
                raise
            return _fitting(released, record)
        compared = {column.column for column in verification.columns}
        ranked = any(released.rows.column(name).kind.numeric for name in compared)
        if not permutation_only and not ranked and compared != set(record):
            return _fitting(released, record)  # generalized: ranks would leave columns out
    body = verification.to_dict()
    return {name: body[name] for name in ("reasons", "records", "criterion", "columns")} | {
        "notes": notes(verification),
        "fits": None,
    }


def _readings(text: str) -> list[str]:
    """A value as a person writes it: also 25.03.1953 as a date, 1,5 as a number.

    >>> _readings("25.03.1953"), _readings("1,5"), _readings("Bonn")
    (['25.03.1953', '1953-03-25'], ['1,5', '1.5'], ['Bonn'])
    """
    readings, plain = [text], text.strip()
    day = _DAY_FIRST.match(plain)
    if day is not None:
        readings.append(f"{day[3]}-{int(day[2]):02d}-{int(day[1]):02d}")
    if _DECIMAL_COMMA.match(plain):
        readings.append(plain.replace(",", "."))
    return readings


def _fitting(released: Dataset, record: dict[str, str]) -> dict[str, Any]:
    """How many released records may be that of a person: their labels cover the person's values."""
    names = list(record)
    cells = released.cells(names)
    joint = np.ones(cells.counts.size, bool)
    columns = []
    for name, values, codes in zip(names, cells.values, cells.codes, strict=True):
        labels = values.to_pylist()
        any_reading = overlapping(_readings(record[name]), labels).possible.any(axis=0)
        possible = np.asarray(any_reading, bool)[codes]
        joint &= possible
        columns.append({"column": name, "fits": int(cells.counts[possible].sum())})
    fits = int(cells.counts[joint].sum())
    named = "1 record fits" if fits == 1 else f"{fits:,} records fit"
    means = (
        "If your record is in the release, these values do not show which of them it is."
        if fits > 1
        else "If your record is in the release, it is this one, and whoever knows these values finds it."
        if fits
        else "Your record is not in the release with these values, or they are written in another way."
    )
    return {
        "reasons": [f"{named} your values, intervals and suppressed values included.", means],
        "records": released.count,
        "criterion": "",
        "columns": columns,
        "notes": [],
        "fits": fits,
    }
