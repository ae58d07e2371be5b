"""Two files: can masked records be linked, and what can a data subject verify?"""

from __future__ import annotations

from typing import Any

from crypsis import linkage
from crypsis.report.charts import linkage as charts
from crypsis.report.figures import figure
from crypsis.report.json import to_json
from crypsis.report.linkage import comparison_page, notes
from crypsis.tables import Kind
from crypsis.web.operations._figures import figure_view
from crypsis.web.operations._session import TableSession


def compare(
    session: TableSession,
    *,
    original: dict[str, Any],
    masked: dict[str, Any],
    on: str | None = None,
    columns: list[str] | None = None,
    frequency: bool = False,
    acceptable: float | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Links, their verification, permutation and noise; writes the page to the table's folder."""
    with session.engine:
        found = linkage.compare(
            session.release(original), session.release(masked), columns=columns or None, on=on,
            categories="frequency" if frequency or columns else "exclude", acceptable=acceptable,
            seed=seed,
        )  # fmt: skip
    page = comparison_page(found, f"{original['title']} and {masked['title']}")
    (session.folder / "comparison.html").write_text(page, encoding="utf-8")
    (session.folder / "comparison.json").write_text(to_json("compare", found), encoding="utf-8")
    drawn = [charts.match_distances(found.verification.dependent or found.verification.independent)]
    drawn.append(charts.column_distances(found.link))
    if found.link.true_matches is not None:
        drawn.append(charts.links(found.intruders))
    return {
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        "records": found.records,
        "masked_records": found.masked_records,
        "columns": list(found.columns),
        "notes": notes(found),
        "intruders": [
            {
                "name": name, "true_matches": link.true_matches, "records": link.records,
                "multiple_matches": link.multiple_matches, "chance": link.chance,
                "correct_share": link.correct_share and link.correct_share.to_dict(),
            }
            for name, link in found.intruders
        ],
        "figures": [figure_view(figure(chart)) for chart in drawn],
    }  # fmt: skip


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
        found = linkage.verify_record(
            released, record, permutation_only=permutation_only, seed=seed
        )
    body = found.to_dict()
    return {name: body[name] for name in ("reasons", "records", "criterion", "columns")} | {
        "notes": notes(found)
    }
