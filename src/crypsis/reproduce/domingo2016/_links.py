"""Tables 4 and 5 and Fig. 1 of domingo2016: the intruder links, and checks his links."""

from __future__ import annotations

import numpy as np

from crypsis import linkage
from crypsis.reproduce._judge import column, erratum, holds, number, same
from crypsis.reproduce._papers import Setting
from crypsis.reproduce._results import Cell, Item
from crypsis.reproduce.domingo2016 import _printed as printed

_SECTION = "Section 5.1"


def table_4(_: Setting) -> Item:
    """The intruder's links, and what the text says of them."""
    found = linkage.link(printed.X, printed.Y)
    cells: list[Cell] = []
    told: list[list[int]] = []
    for row, line in enumerate(printed.TABLE_4):
        name = f"record {line[0]}"
        matches = found.matches[row] + 1
        cells.append(same(name, line[1].replace(",", ", "), matches, group="#Z"))
        apart = np.abs(printed.Y_RANKS[matches - 1] - printed.X_RANKS[row])
        wanted = [int(d) for d in line[2:5]]
        whose = [k for k, one in enumerate(apart.astype(int).tolist()) if one == wanted]
        ours = apart[whose[0] if whose else 0].astype(int)
        told.append(ours.tolist())
        note = (
            f"Two records match; these distances are those of Z {matches[whose[0]]}."
            if whose and len(matches) > 1
            else ""
        )
        cells.append(same(name, wanted, ours, group="d1, d2, d3", note=note))
        cells.append(number(name, line[5], float(found.distances[row]), group="d"))
    return Item(
        "Table 4",
        "The links of the intruder",
        (*cells, *_lists(found), *_said(found), *_column_claims(np.array(told))),
    )


def _lists(found: linkage.Link) -> list[Cell]:
    many = [i + 1 for i in range(20) if len(found.matches[i]) > 1]
    wanted = [i + 1 for i in range(20) if found.matched_by[i] > 1]
    return [
        same("X with several matches", [1, 9, 11, 19], many, group=_SECTION),
        same(
            "Z that nobody matches",
            [3, 8, 16, 18],
            [i + 1 for i in range(20) if found.matched_by[i] == 0],
            group=_SECTION,
        ),
        erratum(
            "Z that match several X",
            [4, 7, 10, 12, 13],
            wanted,
            correct=[4, 7, 10, 12, 13, 19, 20],
            group=_SECTION,
            note="Table 4 shows two more: Z 19 matches X 16 and 19, Z 20 matches X 13 and 20.",
        ),
    ]


def _said(found: linkage.Link) -> list[Cell]:
    single = [i + 1 for i in range(20) if found.matches[i].tolist() == [i]]
    return [
        erratum(
            "right links",
            5,
            found.correct,
            correct=6,
            group=_SECTION,
            note=f"Table 4 itself shows six records with their own number as the only match: "
            f"{', '.join(map(str, single))}.",
        ),
        same("records with several matches", 4, found.multiple, group=_SECTION),
        erratum(
            "wrong links",
            11,
            found.wrong,
            correct=10,
            group=_SECTION,
            note="What is left of twenty after six right links and four ambiguous ones.",
        ),
    ]


def _column_claims(told: printed.Floats) -> list[Cell]:
    zeros, means = (told == 0).sum(axis=0), told.mean(axis=0)
    noise, spread = (printed.Y - printed.X).std(axis=0), printed.X.std(axis=0)
    realized = noise / spread
    order = "X3, X2, X1" if realized[0] > realized[1] > realized[2] else "another"
    return [
        same("zeros among d1, d2, d3", [4, 3, 0], zeros, group=_SECTION),
        holds(
            "means of d1, d2, d3",
            "rising",
            bool(means[0] < means[1] < means[2]),
            ", ".join(f"{mean:.2f}" for mean in means),
            group=_SECTION,
        ),
        erratum(
            "least to most noise, relative to spread",
            "X1, X2, X3",
            order,
            correct="X3, X2, X1",
            group=_SECTION,
            note="From the small distances of X1 the paper concludes that it was masked least, and "
            "finds that confirmed by the standard deviations of the noise (5, 25, 100). Against "
            "the spread of each column (10, 50, 200) these are the same; as drawn the noise was "
            + ", ".join(f"{one:.2f}" for one in realized)
            + " times the spread, most for X1. A small permutation distance does not mean little "
            "noise.",
        ),
    ]


def table_5(_: Setting) -> Item:
    """Distances of originals and of all 8,000 combinations."""
    found = linkage.verify(printed.X, printed.Y).independent
    rows = {row.low: row for row in found.rows}
    names = [f"d = {line[0]}" for line in printed.TABLE_5]
    at = [float(line[0]) for line in printed.TABLE_5]
    originals = [rows[d].originals if d in rows else 0.0 for d in at]
    strangers = [rows[d].random if d in rows else 0.0 for d in at]
    a = np.array([printed.X[4, 0], printed.X[18, 1], printed.X[9, 2]])
    seen = linkage.permutation_distances(a, printed.Z)
    cells = [
        *column("X", names, [line[1] for line in printed.TABLE_5], originals),
        *column("A", names, [line[2] for line in printed.TABLE_5], strangers),
        same("random records, 20^3", 8000, found.records, group="Section 5.2"),
        same(
            "of them at distance 0, the records of Z",
            20,
            round(strangers[0] * 8000),
            group="Section 5.2",
        ),
        same("the record a matches Z", 2, seen.row + 1, group="Section 5.2"),
        same("at distances", [0, 1, 2], seen.distances, group="Section 5.2"),
    ]
    return Item(
        "Table 5", "Distances of the match: twenty originals, 8,000 random records", tuple(cells)
    )


def figure_1(_: Setting) -> Item:
    """Table 5 as curves, and what the paper concludes from it."""
    found = linkage.verify(printed.X, printed.Y)
    null = found.independent
    cells = (
        holds(
            "the two distributions",
            "quite similar",
            null.discoveries == 0 and null.hellinger < 0.3,
            f"Hellinger distance {null.hellinger:.3f}, no link too near",
        ),
        same("the masking, by the paper's test", "withstands", found.paper_verdict),
        holds(
            "random matches at distances 0, 1, 2",
            "occur",
            min(row.random for row in null.rows if row.low <= 2) > 0,
            "all three",
        ),
    )

    def draw() -> object:
        from crypsis.report.charts import linkage as charts

        return charts.match_distances(null).properties(
            title={
                "text": "Match distances, 20 originals, 8,000 combinations (Fig. 1)",
                "anchor": "start",
            }
        )

    return Item("Figure 1", "Table 5 as curves", cells, "two curves over the distance", draw)
