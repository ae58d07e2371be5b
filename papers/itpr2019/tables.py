"""Tables 1 to 7 of itpr2019, and where its formulas have to be read otherwise than printed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.inference import Leakage, attribute_disclosure, leakage
from papers.comparison import NOTHING, claim, critique, erratum, number, same, underivable
from papers.itpr2019 import charts, printed
from papers.itpr2019.metric_judgment import compare_metrics
from papers.itpr2019.printed_formulas import printed_entropy_l_diversity, printed_itpr
from papers.results import Agreement, ComparedValue, Drawn, RunSettings, Values, paper_item

_CUT = "The paper truncates."


@paper_item("Table 1", "Nine records, anonymized")
def table_1(_: RunSettings) -> Values:
    return _groups(printed.FIRST, 3, "0.33", printed.FIRST_GROUP)


@paper_item("Table 2", "Fifteen records, anonymized")
def table_2(_: RunSettings) -> Values:
    return _groups(printed.SECOND, 5, "0.60", printed.SECOND_GROUP)


def _within_groups(table: pa.Table) -> list[str]:
    """The diseases of each group of equal zip code and age, in alphabetical order."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in table.to_pylist():
        groups.setdefault((row["zip"], row["age"]), []).append(row["disease"])
    return [" ".join(sorted(diseases)) for diseases in groups.values()]


def _groups(rows: list[tuple[int, int, str]], k: int, guess: str, diseases: tuple[str, ...]) -> Values:
    table = printed.anonymized(rows)
    found = attribute_disclosure(table, quasi_identifiers=["zip", "age"], sensitive=["disease"])
    known = leakage(table, "disease", ["zip", "age"])
    return (
        same("groups", 3, found.classes),
        same("diseases of each group", [" ".join(diseases)] * 3, _within_groups(table)),
        same("k", k, found.k),
        same("l", 3, found.distinct_l),
        number("t", "0", found.t),
        number("probability of guessing the disease", guess, known.best_guess.worst),
    )


@paper_item("Table 3", "Eight records, five cases of the age, three of the disease")
def table_3(_: RunSettings) -> Values:
    different = {case: _others(printed.AGES[case]) for case in printed.AGES}
    return (
        same("records", 8, len(printed.AGES[1])),
        same("age 1: distinct values (all unique)", 8, len(set(printed.AGES[1]))),
        same("age 2: distinct values (all the same)", 1, len(set(printed.AGES[2]))),
        same("age 3: records that differ", 1, different[3]),
        same("age 4: records that differ", 2, different[4]),
        same("age 5: records that differ (half)", 4, different[5]),
        same("disease 1: distinct values (all unique)", 8, len(set(printed.DISEASES[1]))),
        erratum(
            "disease 3: records that differ from most",
            1,
            _others(tuple(printed.DISEASES[3])),
            correct=3,
            note="The text says that the diseases are the first three cases of the age. They are "
            "not: in case 2 two records share a disease and in case 3 five do, and only so do the "
            "rows on inference of Tables 4 and 5 come out.",
        ),
    )


def _others(values: tuple[object, ...]) -> int:
    """How many records do not have the most frequent value."""
    return len(values) - max(values.count(value) for value in values)


def _metrics(found: Leakage) -> tuple[Any, ...]:
    return (
        found.discrimination_rate,
        found.mutual_information,
        found.conditional_privacy,
        found.max_information_leakage,
        found.entropy_l_diversity or 0.0,
    )


@paper_item("Table 4", "DR, MI, CP, MIL and ELD on the example data")
def table_4(_: RunSettings) -> Values:
    cells: list[ComparedValue] = []
    leaks = {}
    for row, values in printed.TABLE_4.items():
        table, target = printed.table_of(row)
        leaks[row] = found = leakage(table, target, ["age"])
        for metric, text, ours in zip(printed.METRICS, values, _metrics(found), strict=True):
            if metric == "MIL" and row in ("inference, disease 2", "inference, disease 3"):
                cells.append(_odd_leakage(row, text, found))
                continue
            cells.append(number(metric, text, ours, cut=True, group=row))
    order = [leaks[f"re-identification, age {case}"].max_information_leakage for case in (3, 4, 5)]
    cells.append(
        erratum(
            "order that MIL gives to ages 3, 4, 5",
            "rising",
            "falling" if order[0] > order[1] > order[2] else "rising",
            correct="falling",
            group="the text",
            note="The text says that DR, MI and MIL give the lowest value to age 3, the riskiest "
            "of the three. DR and MI do; MIL puts them in the right order, in the same table.",
        )
    )
    return cells


def _odd_leakage(row: str, text: str, found: Leakage) -> ComparedValue:
    """The two cells of MIL that have the term which formula (8) subtracts."""
    groups = found.table()
    entropies = np.array(groups["entropy_bits"]) * np.array(groups["size"]) / found.records
    subtracted = float(entropies.max())
    if abs(subtracted - float(text)) > 1e-9:
        return same("MIL", text, subtracted, group=row)
    return erratum(
        "MIL",
        text,
        found.max_information_leakage,
        correct={"inference, disease 2": "2", "inference, disease 3": "1.55"}[row],
        group=row,
        note="The reading that gives every other cell is the largest H(X) - p(y) H(X|Y=y). What is "
        "printed here, 1.0 twice, is the largest p(y) H(X|Y=y): the term that is subtracted. "
        "(H(X) - H(X|Y=y) would be 1.25 and 1.55, the divergence 1 and 0.68.)",
    )


@paper_item("Table 5", "ITPR on the example data")
def table_5(_: RunSettings) -> Values:
    sets: list[tuple[str, dict[str, Any], str]] = [
        *((f"{case}: identity from age {case}", {"age": printed.AGES[case]}, "id") for case in printed.AGES),
        ("6: identity from age 2, zip code 1", {"age": printed.AGES[2], "zip": printed.ZIP_CODES[1]}, "id"),
        ("7: identity from age 2, zip code 2", {"age": printed.AGES[2], "zip": printed.ZIP_CODES[2]}, "id"),
        *(
            (
                f"{7 + case}: disease {case} from age 5",
                {"age": printed.AGES[5], "disease": printed.DISEASES[case]},
                "disease",
            )
            for case in printed.DISEASES
        ),
    ]
    cells, literal = [], []
    values: dict[int, float] = {}
    for row, ((name, columns, target), text) in enumerate(zip(sets, printed.TABLE_5, strict=True), 1):
        table = pa.table({"id": range(8), **columns})
        found = leakage(table, target, [column for column in columns if column != target])
        cells.append(number(name, text, found.itpr, cut=True))
        values[row] = round(float(found.itpr), 12)
        if number("", text, printed_itpr(found), cut=True).agreement is not Agreement.DIFFERS:
            literal.append(row)
    order = [values[case] for case in (2, 5, 4, 3)]
    cells.append(
        claim(
            "ITPR of ages 1 and 3 the highest, then 4, 5, 2",
            "expected so",
            order == sorted(order) and values[1] == values[3] == max(values.values()),
            "in this order",
        )
    )
    cells.append(
        erratum(
            "rows that formula (10) gives to the letter",
            range(1, 11),
            literal,
            correct=[1, 2, 3, 10],
            group="formulas",
            note="H(X|Y=y) has to be read as the term p(y) H(X|Y=y) of the conditional entropy, in "
            "(8), (9), (10) and Definition 4.2. Without the weight ITPR leaves [0, 1] and only the "
            "rows with 0 and 1 come out; with it all ten do, and ITPR is never below DR.",
        )
    )
    return (*cells, *_readings())


def _readings() -> list[ComparedValue]:
    """What the formulas give to the letter, and the label of row 7."""
    found = leakage(pa.table({"id": range(8), "age": printed.AGES[5]}), "id", ["age"])
    lone = leakage(pa.table({"id": range(8), "age": printed.AGES[3]}), "id", ["age"])
    first = pa.table({"id": range(8), "age": printed.AGES[2], "zip": printed.ZIP_CODES[1]})
    spans = [_independent(values).itpr_before_scaling for values in (2, 3)]
    uneven = leakage(pa.table({"y": [0] + [1] * 99 + [0] + [1] * 99, "x": [0] * 100 + [1] * 100}), "x", ["y"])
    return [
        erratum(
            "row 7, with zip code 1 as its label says",
            "0.75",
            leakage(first, "id", ["age", "zip"]).itpr,
            correct="0.6038",
            group="labels",
            note="Rows 6 and 7 carry the same label. Row 7 is case 2 of the zip code.",
        ),
        erratum(
            "age 5 by formula (10) to the letter",
            "0.33",
            printed_itpr(found),
            correct="-1/3",
            group="formulas",
            note="See the rows above: the entropy of the group needs its weight.",
        ),
        erratum(
            "ELD of age 3 by its formula to the letter",
            "1.0",
            printed_entropy_l_diversity(lone),
            correct="1/7",
            group="formulas",
            note="The printed minimum over sums of p log p takes the group with the largest "
            "entropy; the table, and the sense of it, need the smallest.",
        ),
        number("formula (9), smallest with 2 values", "0.5", spans[0], group="formulas"),
        number(
            "formula (9), smallest with 3 values", "0.66", spans[1], cut=True, group="formulas", note=_CUT
        ),
        critique(
            "ITPR of an independent column with a rare value",
            NOTHING,
            uneven.itpr,
            correct="0.98",
            group="formulas",
            note="A weakness: if X has nothing to do with Y, ITPR is 1 - |Y| min p(y). It is near "
            "1 whenever one group is rare, although nothing can be inferred. We show it beside its "
            "value for a shuffled X and beside the probability of the best guess.",
        ),
    ]


def _independent(values: int) -> Leakage:
    """A column of equally frequent values that reveals nothing."""
    return leakage(
        pa.table(
            {"y": [i % values for i in range(6 * values)], "x": [i // values % 2 for i in range(6 * values)]}
        ),
        "x",
        ["y"],
    )


@paper_item("Table 6", "Two cases of the zip code (used by Table 5, rows 6 and 7)")
def table_6(_: RunSettings) -> Values:
    return tuple(
        same(
            f"case {case}: records of each zip code",
            wanted,
            [codes.count(code) for code in dict.fromkeys(codes)],
        )
        for (case, codes), wanted in zip(printed.ZIP_CODES.items(), ([3, 5], [3, 3, 2]), strict=True)
    )


@paper_item("Table 7", "What each metric is good for", figure="the table, judged by a rule")
def table_7(_: RunSettings) -> Drawn:
    verdicts = {one.metric: one for one in compare_metrics()}
    cells = []
    for metric, (identity, secret) in printed.TABLE_7.items():
        one = verdicts[metric]
        cells += [
            same("re-identification", identity, one.reidentification.sign, group=metric),
            same("inference", secret, one.inference.sign, group=metric),
        ]
    rule = underivable(
        "the rule",
        NOTHING,
        "see the note",
        note="The paper judges by looking at its figures. Ours, which is ours to argue with: a "
        "metric is right if it rises in every sweep in which the risk does, and easy to read if it "
        "stays within [0, 1], says 1 for certainty and is neither almost 0 nor almost 1 half-way.",
    )

    return (*cells, rule), lambda: charts.judgments(tuple(verdicts.values()))
