"""Tables 4 and 5 and Fig. 1 of domingo2016: the intruder links, and verifies the links."""

from __future__ import annotations

from itertools import product

import numpy as np

from crypsis import linkage
from crypsis.report.charts import linkage as charts
from papers.charts import titled
from papers.comparison import claim, column, critique, erratum, number, same
from papers.domingo2016 import printed
from papers.results import ComparedValue, Drawn, RunSettings, Values, paper_item

_SECTION = "Section 5.1"


@paper_item("Table 4", "The links of the intruder")
def table_4(_: RunSettings) -> Values:
    found = linkage.link(printed.X, printed.Y)
    cells: list[ComparedValue] = []
    apart_in_table: list[list[int]] = []
    for row, line in enumerate(printed.TABLE_4):
        name = f"record {line[0]}"
        matches = found.matches[row] + 1
        cells.append(same(name, line[1].replace(",", ", "), matches, group="#Z"))
        apart = np.abs(printed.Y_RANKS[matches - 1] - printed.X_RANKS[row])
        wanted = [int(d) for d in line[2:5]]
        whose = [k for k, one in enumerate(apart.astype(int).tolist()) if one == wanted]
        ours = apart[whose[0] if whose else 0].astype(int)
        apart_in_table.append(ours.tolist())
        note = (
            f"Two records match; these distances are those of Z {matches[whose[0]]}."
            if whose and len(matches) > 1
            else ""
        )
        cells.append(same(name, wanted, ours, group="d1, d2, d3", note=note))
        cells.append(number(name, line[5], float(found.distances[row]), group="d"))
    return (*cells, *_lists(found), *_said(found), *_column_claims(np.array(apart_in_table)))


def _lists(found: linkage.Link) -> list[ComparedValue]:
    many = [i + 1 for i in range(20) if len(found.matches[i]) > 1]
    wanted = [i + 1 for i in range(20) if found.matched_by[i] > 1]
    return [
        same("X with several matches", list(printed.AMBIGUOUS), many, group=_SECTION),
        same(
            "Z that nobody matches",
            list(printed.UNMATCHED),
            [i + 1 for i in range(20) if found.matched_by[i] == 0],
            group=_SECTION,
        ),
        erratum(
            "Z that match several X",
            list(printed.SEVERAL[:5]),
            wanted,
            correct=list(printed.SEVERAL),
            group=_SECTION,
            note="Table 4 shows two more: Z 19 matches X 16 and 19, Z 20 matches X 13 and 20.",
        ),
    ]


def _said(found: linkage.Link) -> list[ComparedValue]:
    single = [i + 1 for i in range(20) if found.matches[i].tolist() == [i]]
    return [
        erratum(
            "right links",
            5,
            found.true_matches,
            correct=6,
            group=_SECTION,
            note=f"Table 4 itself shows six records with their own number as the only match: "
            f"{', '.join(map(str, single))}.",
        ),
        same("records with several matches", 4, found.multiple_matches, group=_SECTION),
        erratum(
            "wrong links",
            11,
            found.false_matches,
            correct=10,
            group=_SECTION,
            note="What is left of twenty after six right links and four ambiguous ones.",
        ),
    ]


def _column_claims(apart_in_table: printed.Floats) -> list[ComparedValue]:
    zeros, means = (apart_in_table == 0).sum(axis=0), apart_in_table.mean(axis=0)
    noise, spread = (printed.Y - printed.X).std(axis=0), printed.X.std(axis=0)
    realized = noise / spread
    order = "X3, X2, X1" if realized[0] > realized[1] > realized[2] else "another"
    return [
        same("zeros among d1, d2, d3", [4, 3, 0], zeros, group=_SECTION),
        claim(
            "means of d1, d2, d3",
            "rising",
            bool(means[0] < means[1] < means[2]),
            ", ".join(f"{mean:.2f}" for mean in means),
            group=_SECTION,
        ),
        critique(
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


@paper_item("Table 5", "Distances of the match: twenty originals, 8,000 random records")
def table_5(_: RunSettings) -> Values:
    found = linkage.verify_links(printed.X, printed.Y).independent
    rows = {row.low: row for row in found.bins}
    names = [f"d = {line[0]}" for line in printed.TABLE_5]
    at = [float(line[0]) for line in printed.TABLE_5]
    originals = [rows[d].originals if d in rows else 0.0 for d in at]
    random_shares = [rows[d].random if d in rows else 0.0 for d in at]
    a = np.array([printed.X[4, 0], printed.X[18, 1], printed.X[9, 2]])
    seen = linkage.verify_record(printed.Z, a)
    return [
        *column("X", names, [line[1] for line in printed.TABLE_5], originals),
        *column("A", names, [line[2] for line in printed.TABLE_5], random_shares),
        same("random records, 20^3", printed.RANDOM_RECORDS, found.records, group="Section 5.2"),
        same("of them original records", 20, _among_combinations(), group="Section 5.2"),
        same(
            "of them at distance 0, the records of Z",
            20,
            round(random_shares[0] * printed.RANDOM_RECORDS),
            group="Section 5.2",
        ),
        same("the record a", "96.18, 990.58, 4950.48", _numbers(a), group="Section 5.2"),
        same(
            "the record that it matches",
            "96.18, 988.44, 4986.25",
            _numbers(printed.Z[seen.row]),
            group="Section 5.2",
        ),
        same("the record a matches Z", printed.MATCH_OF_A, seen.row + 1, group="Section 5.2"),
        same("at distances", printed.DISTANCES_OF_A, seen.distances, group="Section 5.2"),
    ]


def _numbers(record: printed.Floats) -> str:
    return ", ".join(f"{value:.2f}" for value in record)


def _among_combinations() -> int:
    """How many of the combinations of the values of three columns are original records."""
    combinations = set(product(*printed.X.T.tolist()))
    return sum(tuple(record) in combinations for record in printed.X.tolist())


@paper_item("Figure 1", "Table 5 as curves", figure="two curves over the distance")
def figure_1(_: RunSettings) -> Drawn:
    found = linkage.verify_links(printed.X, printed.Y)
    null = found.independent
    cells = (
        claim(
            "the two distributions",
            "quite similar",
            null.discoveries == 0 and null.hellinger < 0.3,
            f"Hellinger distance {null.hellinger:.3f}, no link too near",
        ),
        same("the masking, by the paper's test", "safe", found.paper_verdict),
        claim(
            "random matches at distances 0, 1, 2",
            "occur",
            min(row.random for row in null.bins if row.low <= 2) > 0,
            "all three",
        ),
    )

    return cells, lambda: titled(
        charts.match_distances(null), "Match distances, 20 originals, 8,000 combinations (Fig. 1)"
    )
