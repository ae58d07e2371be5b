"""Tables 1 to 3 of domingo2016: reverse mapping, residual noise, one record's distances."""

from __future__ import annotations

import numpy as np

from crypsis import linkage
from papers.comparison import claim, column, critique, erratum, same
from papers.domingo2016 import printed
from papers.results import ComparedValue, RunSettings, Values, paper_item

_RECORDS = [f"record {i}" for i in range(1, 21)]
_THIRD = printed.X[2]


def _table(rows: list[list[str]], places: range, names: str, ours: printed.Floats) -> list[ComparedValue]:
    cells: list[ComparedValue] = []
    for place, name, values in zip(places, names.split(), ours.T, strict=True):
        cells += column(name, _RECORDS, [row[place] for row in rows], values)
    return cells


def _ranks(values: printed.Floats) -> printed.Floats:
    return np.asarray(np.argsort(np.argsort(values, axis=0), axis=0) + 1, np.float64)


@paper_item("Table 1", "The running example: ranks and reverse mapping")
def table_1(_: RunSettings) -> Values:
    rows = printed.TABLE_1
    steps = linkage.decompose_noise(printed.X, printed.Y)
    return [
        *_table(rows, range(3, 6), "(X1) (X2) (X3)", _ranks(printed.X)),
        *_table(rows, range(9, 12), "(Y1) (Y2) (Y3)", _ranks(printed.Y)),
        *_table(rows, range(12, 15), "Z1 Z2 Z3", linkage.reverse_map(printed.X, printed.Y)),
        *column(
            "rank correlation of X and Z",
            ("attribute 1", "attribute 2", "attribute 3"),
            printed.RANK_CORRELATIONS,
            [step.rank_correlation or 0.0 for step in steps],
        ),
    ]


@paper_item("Table 2", "Masking as permutation plus residual noise")
def table_2(_: RunSettings) -> Values:
    rows = printed.TABLE_2
    steps = linkage.decompose_noise(printed.X, printed.Y)
    residual = np.column_stack([step.residual_by_record for step in steps])  # type: ignore[misc]
    noise = np.column_stack([step.noise_by_record for step in steps])  # type: ignore[misc]
    means = [(step.residual_noise or 0.0) / (step.noise or 1.0) for step in steps]
    shares = [step.smaller_share or 0.0 for step in steps]
    far = linkage.decompose_noise(printed.X, 1000 * printed.X)[0]
    return [
        *_table(rows, range(3), "Z1 Z2 Z3", linkage.reverse_map(printed.X, printed.Y)),
        *_table(rows, range(3, 6), "E'1 E'2 E'3", _cents(residual)),
        *_table(rows, range(6, 9), "E1 E2 E3", _cents(noise)),
        claim(
            "mean |E'| against mean |E|",
            "in general smaller",
            max(means) < 1,
            ", ".join(f"{mean:.2f}" for mean in means) + " of it",
            group="the claim",
        ),
        claim(
            "records where |E'| is not larger",
            "in general",
            min(shares) > 0.5,
            ", ".join(f"{share:.0%}" for share in shares),
            group="the claim",
        ),
        critique(
            "residual over direct noise, Y = 1000 X",
            "necessarily small (residual)",
            float((far.residual_noise or 0.0) / (far.noise or 1.0)),
            correct="1",
            group="the claim",
            note="The residual noise is called necessarily small because it changes no rank. It "
            "need not be: Y = 1000 X keeps every rank and all of its change is residual noise. "
            "What does hold is that its mean size never exceeds that of the direct noise, because "
            "pairing values in sorted order is the cheapest way to pair them.",
        ),
    ]


def _cents(values: printed.Floats) -> printed.Floats:
    """Differences of numbers with two digits have two digits, which floats do not."""
    return np.asarray(values.round(2) + 0.0)


@paper_item("Table 3", "Permutation distances of the third record")
def table_3(_: RunSettings) -> Values:
    rows = printed.TABLE_3
    seen = linkage.verify_record(printed.Y, _THIRD)
    every = np.array([linkage.verify_record(printed.Y, _THIRD, mapping=row).distances for row in range(20)])
    owner = linkage.verify_record(printed.Y, _THIRD, mapping=2)
    ranks = _ranks(printed.Y)
    near = (np.abs(ranks[:, 0] - 8) <= 4).nonzero()[0]
    by_rank = np.sort(printed.Y, axis=0)
    stars = [by_rank[int(rank) - 1, j] for j, rank in enumerate(seen.nearest_ranks)]
    meets = linkage.permuted_privacy(
        printed.X, printed.Y, d=seen.distances, v=seen.diversities, mapping="subject"
    ).meets[2]
    strictly = all(found > float(v) for found, v in zip(seen.diversities, printed.VARIANCES, strict=True))
    return [
        *_table(rows, range(3), "(Y1) (Y2) (Y3)", ranks),
        *_table(rows, range(3, 6), "|(Y1)-8| |(Y2)-2| |(Y3)-16|", every),
        same("nearest values y*", "100.41, 903.25, 5087.9", _listed(stars), group="record 3"),
        same("their ranks", printed.NEAREST_RANKS, seen.nearest_ranks, group="record 3"),
        same("f(x3) as the subject finds it", printed.NEAREST_RECORD, seen.row + 1, group="record 3"),
        same("d of the subject", printed.SUBJECT_DISTANCES, seen.distances, group="record 3"),
        same("d of the protector", printed.PROTECTOR_DISTANCES, owner.distances, group="record 3"),
        same(
            "S1(4)",
            "96.6, 91.57, 100.41, 100.31, 103.12, 104.82, 90.83, 103.07, 104",
            _listed(printed.Y[near, 0]),
            group="record 3",
        ),
        *column(
            "variance",
            ("S1(4)", "S2(1)", "S3(4)"),
            printed.VARIANCES,
            seen.diversities,
            note="population variances: divided by n, not n - 1",
        ),
        erratum(
            "the example, under Definition 1 to the letter",
            "satisfies",
            "satisfies" if strictly else "does not satisfy",
            correct="does not satisfy",
            group="record 3",
            note="Condition (2) asks for a diversity greater than v, yet the example has the "
            "variances themselves as v (rounded, so that the first two are even smaller). It has "
            "to read at least v.",
        ),
        same(
            "the example, with at least v",
            "satisfies",
            "satisfies" if meets else "does not",
            group="record 3",
        ),
    ]


def _listed(values: object) -> str:
    return ", ".join(f"{float(v):g}" for v in np.asarray(values))


@paper_item("Definition 2", "Permuted privacy of a whole file is that of its worst record")
def definition_2(_: RunSettings) -> Values:
    found = linkage.permuted_privacy(printed.X, printed.Y)
    each = np.array([linkage.verify_record(printed.Y, printed.X[i], mapping=i).distances for i in range(20)])
    moved = int((each > 0).all(axis=1).sum())
    return (
        same("records that have to meet (d, v)", 20, len(found.meets)),
        claim(
            "the d that all of them meet",
            "the smallest distances",
            found.d == tuple(each.min(axis=0)),
            ", ".join(f"{d:g}" for d in found.d),
        ),
        claim(
            "records that moved in every column",
            "all, if no d is 0",
            (moved == 20) == all(found.d),
            f"{moved} of 20",
        ),
    )
