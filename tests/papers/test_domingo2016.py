"""domingo2016: every table, from the printed numbers; the shape of what rests on unprinted data."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis import linkage
from papers.domingo2016 import printed

X, X_RANKS, Y, Y_RANKS, Z = np.hsplit(np.array(printed.TABLE_1, float), 5)
TABLE_2 = printed.columns(printed.TABLE_2, *range(3, 9))  # E'1 E'2 E'3 E1 E2 E3
TABLE_3 = printed.columns(printed.TABLE_3, 3, 4, 5)  # |(Y1) - 8| |(Y2) - 2| |(Y3) - 16|


def test_table_1_reverse_mapping() -> None:
    np.testing.assert_array_equal(linkage.reverse_map(X, Y), Z)


def test_table_1_ranks() -> None:
    by_rank = np.take_along_axis(X, np.argsort(X, axis=0), axis=0)
    np.testing.assert_array_equal(np.take_along_axis(by_rank, X_RANKS.astype(int) - 1, axis=0), X)
    np.testing.assert_array_equal(np.take_along_axis(by_rank, Y_RANKS.astype(int) - 1, axis=0), Z)


def test_table_1_rank_correlations_as_disclosure_risk() -> None:
    found = [step.rank_correlation for step in linkage.decompose_noise(X, Y)]
    assert found == pytest.approx([*map(float, printed.RANK_CORRELATIONS)], abs=5e-4)


def test_table_2_permutation_plus_residual_noise() -> None:
    steps = linkage.decompose_noise(X, Y)
    residual = np.column_stack([step.residual_by_record for step in steps])
    noise = np.column_stack([step.noise_by_record for step in steps])
    np.testing.assert_array_equal(residual.round(2), TABLE_2[:, :3])
    np.testing.assert_array_equal(noise.round(2), TABLE_2[:, 3:])
    for j, step in enumerate(steps):
        assert step.residual_noise == pytest.approx(np.abs(TABLE_2[:, j]).mean(), abs=1e-9)
        assert step.noise == pytest.approx(np.abs(TABLE_2[:, 3 + j]).mean(), abs=1e-9)
        assert step.residual_noise < step.noise
        claim = np.abs(TABLE_2[:, j]) <= np.abs(TABLE_2[:, 3 + j])
        assert step.smaller_share == claim.mean()


def test_table_3_subject() -> None:
    seen = linkage.verify_record(Y, X[2])
    assert seen.nearest_ranks == printed.NEAREST_RANKS
    assert seen.row + 1 == printed.NEAREST_RECORD
    assert seen.candidates == 1
    assert seen.distances == printed.SUBJECT_DISTANCES
    assert seen.diversities == pytest.approx([*map(float, printed.VARIANCES)], abs=5e-3)


def test_table_3_protector() -> None:
    assert linkage.verify_record(Y, X[2], mapping=2).distances == printed.PROTECTOR_DISTANCES


def test_table_3_every_deviation() -> None:
    for row, wanted in enumerate(TABLE_3):
        assert linkage.verify_record(Y, X[2], mapping=row).distances == tuple(wanted)


def test_definition_1_is_met_by_the_third_record_as_in_the_example() -> None:
    """The example claims d and v of its own record, so "greater than v" has to be "at least"."""
    seen = linkage.verify_record(Y, X[2])
    found = linkage.permuted_privacy(X, Y, d=seen.distances, v=seen.diversities, mapping="subject")
    assert found.meets[2]


def test_definition_2_of_the_file_is_near_zero() -> None:
    assert linkage.permuted_privacy(X, Y).d == (1, 0, 0)


def test_table_4_links() -> None:
    found = linkage.link(X, Y)
    ranks_x, ranks_z = X_RANKS, Y_RANKS
    for record, matches, *distances in printed.TABLE_4:
        row = int(record) - 1
        rows = [int(match) - 1 for match in matches.split(",")]
        assert found.matches[row].tolist() == rows
        assert found.distances[row] == int(distances[3])
        wanted = [int(d) for d in distances[:3]]
        assert wanted in np.abs(ranks_z[rows] - ranks_x[row]).tolist()


def test_table_4_counts_with_the_errata() -> None:
    """The text counts otherwise than the table, which is right."""
    found = linkage.link(X, Y)
    right = [record for record, matches, *_ in printed.TABLE_4 if record == matches]
    wrong = len(printed.TABLE_4) - len(right) - len(printed.AMBIGUOUS)
    assert found.true_matches == len(right)
    assert found.multiple_matches == len(printed.AMBIGUOUS)
    assert found.false_matches == wrong
    assert [i + 1 for i in range(20) if len(found.matches[i]) > 1] == list(printed.AMBIGUOUS)
    assert [i + 1 for i in range(20) if found.matched_by[i] == 0] == list(printed.UNMATCHED)
    assert [i + 1 for i in range(20) if found.matched_by[i] > 1] == list(printed.SEVERAL)
    assert found.unmatched == len(printed.UNMATCHED)
    assert found.multiply_matched == len(printed.SEVERAL)


def test_table_5_all_8000_random_records() -> None:
    found = linkage.verify_links(X, Y).independent
    assert found.exhaustive
    assert found.records == printed.RANDOM_RECORDS
    for distance, originals, random in np.array(printed.TABLE_5, float):
        row = next((row for row in found.bins if row.low == distance), None)
        assert (row.originals if row else 0.0) == pytest.approx(originals, abs=1e-12)
        # 0.058625 is printed as 0.0586, 0.12875 as 0.1288: half a unit of the last digit.
        assert (row.random if row else 0.0) == pytest.approx(random, abs=5.001e-5)
    exact = [0.0025, 0.058625, 0.189875, 0.301375, 0.2595, 0.12875, 0.04275, 0.01425, 0.002375]
    assert [row.random for row in found.bins] == pytest.approx(exact, abs=1e-12)


def test_section_5_2_the_synthetic_record() -> None:
    """a = (x1 of record 5, x2 of 19, x3 of 10) matches the second record of Z at (0, 1, 2)."""
    a = np.array([X[4, 0], X[18, 1], X[9, 2]])
    seen = linkage.verify_record(Z, a)
    assert (seen.row + 1, seen.distances) == (printed.MATCH_OF_A, printed.DISTANCES_OF_A)


def test_figure_1_is_safe_by_the_papers_test() -> None:
    assert linkage.verify_links(X, Y).paper_verdict == "safe"


def thousand(noise: tuple[float, float, float], seed: int) -> linkage.LinkVerification:
    rng = np.random.default_rng(seed)
    x = rng.normal(printed.MEANS, printed.DEVIATIONS, size=(1000, 3))
    return linkage.verify_links(x, x + rng.normal(0, noise, size=x.shape), seed=seed)


@pytest.mark.parametrize("seed", range(5))
def test_figure_2_large_noise_is_safe_by_the_papers_test(seed: int) -> None:
    found = thousand(printed.LARGE_NOISE, seed)
    assert found.paper_verdict == "safe"
    assert found.independent.records == 10_000
    assert found.independent.hellinger < 0.15
    assert found.independent.discoveries == 0
    # And yet the links are right some fifty times as often as chance, so the file is not safe.
    assert 30 < float(found.correct_share) / found.chance < 80
    assert found.verdict == "not safe"


@pytest.mark.parametrize("seed", range(5))
def test_figure_3_and_table_6_small_noise_fails(seed: int) -> None:
    found = thousand(printed.SMALL_NOISE, seed)
    assert (found.verdict, found.paper_verdict) == ("not safe", "not safe")
    originals, null = found.independent.distances, found.independent
    assert 0.005 < (originals == 0).mean() < 0.08
    assert 0.85 < (originals <= 5).mean() <= 1
    assert (originals >= 15).mean() == 0
    near = null.random_within(5)
    expected = linkage.random_match_probability(1000, 3, [5])[0]
    assert near.low < expected < near.high
    assert 0.0003 < near.value < 0.003
    assert null.random_within(14).value < 0.04
    row = null.bins[0]
    assert row.random_if_within is not None
    assert row.random_if_within < row.within_if_random  # not the same thing at all


def test_table_6_closed_form() -> None:
    """The printed shares are a sample of this."""
    five, fourteen = linkage.random_match_probability(1000, 3, [5, 14])
    shares = [float(line[2]) for line in printed.TABLE_6]
    assert five == pytest.approx(sum(shares[:6]), abs=0.0005)
    assert fourteen == pytest.approx(1 - shares[-1], abs=0.003)
