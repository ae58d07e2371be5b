"""Section 2 and Figs. 1 and 3 of lodha2007: who can be unique."""

from __future__ import annotations

import math

from crypsis import singling_out as so
from crypsis.dataset import read
from crypsis.report.charts import singling_out as charts
from crypsis.reproduce import _charts as papers
from crypsis.reproduce._charts import titled
from crypsis.reproduce._comparison import claim, data_absent, erratum, number, same, underivable
from crypsis.reproduce._results import Agreement, ComparedValue, Drawn, RunSettings, paper_item
from crypsis.reproduce.lodha2007 import _printed as printed

_ROUNDED = (
    "The paper goes on with 2.7 for e and with the rounded D of its own column, and sometimes "
    "truncates: so its last digit comes out. From D itself and e it is another."
)


@paper_item("Figure 1", "The quasi-identifier test", figure="the curve over D/n")
def figure_1(_: RunSettings) -> Drawn:
    n = 1e6
    left, at, right = (so.uniqueness_bound(x * n, n) for x in (1 - 1e-4, 1.0, 1 + 1e-4))
    cells = (
        number("f(1)", f"{1 / math.e:.15f}", at, text="1/e"),
        claim("continuous at D = n", "yes", abs(left - at) + abs(right - at) < 1e-4, "yes"),
        number("slope before D = n", f"{1 / math.e:.3f}", (at - left) * 1e4, text="1/e"),
        number("slope after D = n", f"{1 / math.e:.3f}", (right - at) * 1e4, text="1/e"),
        claim(
            "D < 3n",
            "no 0.75-quasi-identifier",
            so.uniqueness_bound(3 * n, n) < 0.75,
            f"at most {so.uniqueness_bound(3 * n, n):.3f}",
        ),
    )

    return cells, lambda: papers.curve(
        [(i / 50, so.uniqueness_bound(max(1.0, i / 50 * n), n)) for i in range(1, 501)],
        "D/n",
        "largest expected share of unique rows",
        title="The quasi-identifier test (Fig. 1)",
        marks=[
            ("1/e at D = n", 1.0, at),
            ("0.72 at D = 3n", 3.0, so.uniqueness_bound(3 * n, n)),
        ],
    )


@paper_item(
    "Figure 3", "Quasi-identifiers of UCI Adult", figure="the twelve sets on the curve of Fig. 1"
)
def figure_3(settings: RunSettings) -> Drawn:
    domains = dict(zip(printed.COLUMNS, printed.DOMAINS, strict=True))
    sets = {
        row: tuple(printed.COLUMNS[place - 1] for place in line[0])
        for row, line in printed.FIGURE_3.items()
    }
    found = _counted(settings, sets, domains)
    cells: list[ComparedValue] = [
        same(f"row {row}", size, len(sets[row]), group="Size")
        for row, size in zip(sets, printed.SIZES, strict=True)
    ]
    for row, (_, s, f1, *_rest) in printed.FIGURE_3.items():
        if found is None:
            cells += [
                data_absent(f"row {row}", s, group="S", what="UCI Adult, adult/adult.data"),
                data_absent(f"row {row}", f1, group="F1", what="UCI Adult, adult/adult.data"),
            ]
        else:
            cells += [
                number(f"row {row}", s, found[row].singletons, group="S"),
                number(f"row {row}", f1, found[row].unique_fraction, group="F1"),
            ]
    for row, columns in sets.items():
        cells += _from_domains(row, math.prod(domains[column] for column in columns))
    order = ("Size", "S", "F1", "D", "F2", "k-Anon")
    cells.sort(key=lambda cell: order.index(cell.group))
    values = (*cells, *_decisions(found))
    if found is None:
        return values, None
    title = "The twelve column sets of UCI Adult (Fig. 3)"
    return values, lambda: titled(charts.quasi_identifier_test(list(found.values())), title)


def _counted(
    settings: RunSettings, sets: dict[int, tuple[str, ...]], domains: dict[str, int]
) -> dict[int, so.ColumnSet] | None:
    path = settings.file("adult", "adult.data")
    if path is None:
        return None
    release = read(path, names=printed.ADULT)
    every = so.column_sets(
        release, printed.COLUMNS, alpha=0.2, population=printed.US, domains=domains
    )
    by_columns = {one.columns: one for one in every}
    return {row: by_columns[columns] for row, columns in sets.items()}


def _from_domains(row: int, distinct: int) -> list[ComparedValue]:
    """D, F2 and k-Anon, which need the printed domains only."""
    _, _, _, d, f2, k = printed.FIGURE_3[row]
    bound = so.uniqueness_bound(distinct, printed.US)
    crowd = max(1.0, printed.US / distinct)
    name = f"row {row}"
    cells = [number(name, d, distinct, group="D", cut=True, note="Truncated." if row == 12 else "")]
    corrected = {2: "1.47e-6", 6: "8.2e-4", 7: "8.2e-5", 9: "3.5e-4", 11: "6.6e-3"}
    cells.append(
        _or_rounded("F2", name, f2, bound, corrected.get(row), float(d) / 2.7 / printed.US)
    )
    crowds = {8: "74", 10: "372", 11: "56"}
    cells.append(_or_rounded("k-Anon", name, k, crowd, crowds.get(row), printed.US / float(d)))
    return cells


def _or_rounded(
    group: str, name: str, paper: str, ours: float, correct: str | None, their_way: float
) -> ComparedValue:
    """A number, or an erratum where the paper went on with rounded numbers, if that explains it."""
    explained = number(name, paper, their_way, cut=True).agreement is not Agreement.DIFFERS
    if correct is None or not explained:
        return number(name, paper, ours, group=group, text=_plain(paper))
    return erratum(name, _plain(paper), ours, correct=correct, group=group, note=_ROUNDED)


def _plain(paper: str) -> str:
    """450 and 380 as they are printed; powers of ten stay as they are."""
    return f"{float(paper):g}" if paper.endswith("e2") else paper


def _decisions(found: dict[int, so.ColumnSet] | None) -> list[ComparedValue]:
    """Section 5.1: what may be published."""
    group = "Section 5.1"
    if found is None:
        what = "UCI Adult, adult/adult.data"
        return [
            data_absent("0.2-quasi-identifiers by F1", "6, 8, 10, 11, 12", group=group, what=what),
            data_absent("0.2-quasi-identifiers by F2", "12", group=group, what=what),
            data_absent("rows of the table", "32561", group=group, what=what),
        ]
    last = found[12]
    seen = [str(one.distinct) for one in found.values() if len(one.columns) == 1]
    return [
        same("rows of the table", 32561, last.rows, group=group),
        same(
            "0.2-quasi-identifiers by F1",
            [6, 8, 10, 11, 12],
            [row for row, one in found.items() if one.unique_fraction >= one.alpha],
            group=group,
        ),
        same(
            "0.2-quasi-identifiers by F2",
            [12],
            [row for row, one in found.items() if (one.bound or 0) >= 0.2],
            group=group,
        ),
        underivable(
            "row 12, looked at more closely",
            "probably below 0.2",
            f"at most {last.population_bound:.2f}",
            group=group,
            note="The paper expects that correlations bring it down but does not compute it. "
            "What can be said without a census: the share of unique people is at most that "
            "of unique rows in a random sample, with its margin. (The "
            f"{last.distinct:,} combinations that the file shows are no D: Theorem 1 would make of "
            f"them {so.uniqueness_bound(last.distinct, printed.US):.1e}, as of any sample.)",
        ),
        underivable(
            "values of A1 in the file",
            "60",
            seen[0],
            group=group,
            note="The domain sizes of the first row are the authors' own; the file has other "
            "numbers. S and F1 come from the file, D, F2 and k-Anon from the printed sizes.",
        ),
    ]
