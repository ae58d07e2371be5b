"""Examples 1 to 11 of lodha2007, and Fig. 2."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pyarrow as pa

from crypsis import Dataset
from crypsis import singling_out as so
from crypsis.hierarchies import Hierarchy
from crypsis.protection import Plan, cluster, plan, quantile_groups
from crypsis.utility import rank_difference
from papers.comparison import NOTHING, claim, erratum, number, same, underivable
from papers.lodha2007 import printed
from papers.results import RunSettings, Values, paper_item

_GENDER, _BIRTH, _ZIP = 2, 60 * 365, 10**5


@paper_item("Example 1", "Most people in the U.S. are unique")
def example_1(_: RunSettings) -> Values:
    bound = so.uniqueness_bound(printed.TRIPLE, printed.US)
    return (
        underivable(
            "share unique by gender, birth date, zip code",
            "0.87",
            f"at most {bound:.2f}",
            note="A count of the U.S. census by Sweeney, who is cited; its data is not "
            "public. It does not exceed the bound of Theorem 2.",
        ),
        claim("within the bound of Example 3", "0.87", bound >= 0.87, f"at most {bound:.3f}"),
    )


@paper_item("Example 2", "The multiple domain assumption")
def example_2(_: RunSettings) -> Values:
    return (
        number("dates of birth, 60 * 365", "2e4", _BIRTH),
        number(
            "D of gender, birth date, zip code",
            "4e9",
            _multiplied(gender=_GENDER, birth=20_000, zipcode=_ZIP),
        ),
        number(
            "D of nationality, birth date, occupation",
            "4e8",
            _multiplied(nationality=200, birth=20_000, occupation=100),
        ),
    )


def _multiplied(**domains: int) -> float:
    """D of all columns together by the multiple domain assumption, for a table of one row."""
    columns = list(domains)
    row = pa.table({name: [0] for name in columns})
    found = so.column_sets(row, columns, population=printed.US, domains=domains)
    return float(next(one.domain_product or 0 for one in found if len(one.columns) == 3))


@paper_item("Example 3", "Gender, date of birth and zip code")
def example_3(_: RunSettings) -> Values:
    found = so.uniqueness_bound(printed.TRIPLE, printed.US)
    return (
        number("the bound", f"{math.exp(-0.075):.15f}", found, text="exp(-0.075)"),
        number("largest expected share of unique people", "0.93", found),
    )


@paper_item("Example 4", "Nationality, date of birth and occupation")
def example_4(_: RunSettings) -> Values:
    found = so.uniqueness_bound(4e8, printed.WORLD)
    return (
        number("largest expected share of unique people", "0.025", found),
        claim("a 0.05-quasi-identifier", "almost certainly not", found < 0.05, "not even at most"),
    )


@paper_item("Example 5", "Zip codes without their last digit")
def example_5(_: RunSettings) -> Values:
    prefixes = Hierarchy.prefixes(["02138", "02139"], lengths=[4])
    return (
        same("02138 generalized", "0213*", prefixes.labels("02138")[1]),
        same("02139 generalized", "0213*", prefixes.labels("02139")[1]),
    )


def census(people: int = 3_000) -> pa.Table:
    """Gender, date of birth over 60 years, five-digit zip code, age."""
    rng = np.random.default_rng(4)
    days = rng.integers(0, 60 * 365, people)
    days[:2] = 0, 60 * 365 + 14
    first = datetime.date(1947, 1, 1)
    return pa.table(
        {
            "gender": rng.choice(["f", "m"], people),
            "birth": [first + datetime.timedelta(int(day)) for day in days],
            "zipcode": [f"{code:05d}" for code in rng.integers(0, 100_000, people)],
            "age": np.r_[np.arange(100), rng.integers(0, 100, people - 100)],
        }
    )


def _plan(columns: list[str], k: int, **weights: float) -> Plan:
    release = Dataset.from_frame(census(), quasi_identifiers=columns, population=printed.US)
    return plan(release, k=k, beta=0.1, weights=weights or None)


def _planned(columns: list[str], k: int, **weights: float) -> dict[str, str]:
    return {one.name: one.step.describe() for one in _plan(columns, k, **weights).columns}


@paper_item("Example 6", "Half-year of birth and four digits of the zip code")
def example_6(_: RunSettings) -> Values:
    limit = so.max_cells(printed.US, printed.K, printed.BETA)
    made = _plan(["gender", "birth", "zipcode"], printed.K, birth=120.0, zipcode=10_000.0)
    steps = {one.name: one.step.describe() for one in made.columns}
    left = math.prod(one.values_after for one in made.columns)
    return (
        claim("D' = n/125 = 2.4e6", "enough", limit >= printed.US / 125, f"up to {limit:,.0f}"),
        number("exact expression of Theorem 4", "2.4e6", limit),
        claim("D/D'", "below 1700", printed.TRIPLE / limit < 1700, f"{printed.TRIPLE / limit:.0f}"),
        number("D' of the plan, 2 * 120 * 10^4", "2.4e6", left),
        same("date of birth, planned", "half-year only", steps["birth"]),
        same("zip code, planned", "first 4 of 5 characters", steps["zipcode"]),
    )


@paper_item("Example 7", "Month of birth and three digits of the zip code")
def example_7(_: RunSettings) -> Values:
    equal = so.values_per_column(printed.CELLS, [math.inf] * 3)
    birth, code = so.values_per_column(printed.CELLS, [_GENDER, _BIRTH, _ZIP])[1:]
    steps = _planned(["gender", "birth", "zipcode"], 100)
    return (
        number("values of each of three columns", "133", equal[0], cut=True, note="Truncated."),
        number("left for two, once gender is kept", "1.2e6", birth * code),
        number("values of each of them", "1.1e3", birth),
        same("date of birth, planned", "month only", steps["birth"]),
        same("zip code, planned", "first 3 of 5 characters", steps["zipcode"]),
    )


@paper_item("Example 8", "Equivalence classes of 20,000, as HIPAA asks")
def example_8(_: RunSettings) -> Values:
    limit = so.max_cells(printed.US, printed.HIPAA_K, printed.BETA)
    allowed = so.values_per_column(printed.US / printed.HIPAA_K, [2, 100, _ZIP], weights=[1, 4, 1])[2]
    steps = _planned(["gender", "age", "zipcode"], printed.HIPAA_K, age=4.0)
    return (
        number(
            "zip codes allowed", str(printed.HIPAA_ZIP_CODES), allowed, note="n/(k * 2 * 100), without beta."
        ),
        erratum(
            "the same with beta = 0.1",
            str(printed.HIPAA_ZIP_CODES),
            limit / 200,
            correct="73.9",
            note="n/k cells hold k people on average, so half of them hold fewer: the example "
            "leaves beta out of Theorem 4.",
        ),
        erratum(
            "zip code, planned",
            "first two digits",
            steps["zipcode"],
            correct="first 1 of 5 characters",
            note="Two digits of a zip code make 100 values, more than the 75 allowed. By the "
            "example's own rule only one digit may stay.",
        ),
    )


@paper_item("Example 9", "A 2-anonymous transformation")
def example_9(_: RunSettings) -> Values:
    ours = [printed.MAP[value] for value in printed.SET]
    counts = [ours.count(value) for value in sorted(set(ours))]
    return (
        same("values that share an image", [3, 2], counts),
        same(
            "the optimal clusters for the k-median cost",
            ours,
            [int(x) for x in cluster(printed.SET, 2, cost="median").transformed()],
        ),
    )


@paper_item("Example 10", "Ranks")
def example_10(_: RunSettings) -> Values:
    ranks = {value: place for place, value in enumerate(sorted(printed.SET), 1)}
    from_top = {value: place for place, value in enumerate(sorted(printed.SET)[::-1], 1)}
    return (
        same("rank of 7", 4, ranks[7]),
        same("rank of 3", 2, ranks[3]),
        erratum(
            "rank of 7, the r-th largest as Definition 7 says",
            4,
            from_top[7],
            correct=2,
            note="The example counts from the smallest, and so does everything else: the "
            "definition has to say r-th smallest.",
        ),
    )


@paper_item("Example 11", "The rank difference of a transformation")
def example_11(_: RunSettings) -> Values:
    mapped = [printed.MAP[value] for value in printed.SET]
    ranks = {value: place for place, value in enumerate(sorted(printed.SET), 1)}
    return (
        same("ranks of S", [1, 5, 3, 4, 2], [ranks[value] for value in printed.SET]),
        same("ranks of f(S)", [2, 4, 2, 4, 2], [ranks[value] for value in mapped]),
        number("rank difference of f", "3", rank_difference(printed.SET, mapped)),
        number("rank difference of the quantile transformation", "3", quantile_groups(printed.SET, 2).cost),
    )


@paper_item("Section 3.2", "The curse of dimensionality")
def section_3_2(_: RunSettings) -> Values:
    values = so.values_per_column(
        so.max_cells(printed.US, printed.CURSE_K, printed.BETA), [math.inf] * printed.CURSE_COLUMNS
    )
    cell = number("values left to each of 25 columns, k = 10", "2", values[0])
    return (cell,)


@paper_item("Figure 2", "A categorical attribute")
def figure_2(_: RunSettings) -> Values:
    rows = tuple(
        (f"zip {state}-{county}-{code}", f"county {state}-{county}", f"state {state}", "USA", "*")
        for state in range(50)
        for county in range(60)
        for code in range(2)
    )
    tree = Hierarchy(rows)
    sizes = tree.level_sizes
    level = {most: max(count for count in sizes if count <= most) for most in (50, 3000)}
    names = dict(zip(sizes, ("zip code", "county", "state", "country", "all"), strict=False))
    return (
        same("50 values keep", "state", names[level[50]]),
        same("3,000 values keep", "county", names[level[3000]]),
        underivable(
            "the tree",
            NOTHING,
            "50 states of 60 counties",
            note="The figure is lost from the text; a tree of the size that the text speaks "
            "of stands for it.",
        ),
    )
