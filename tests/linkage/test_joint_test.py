"""The joint test of all originals against controls: exact size, power, and the scores themselves."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis import linkage
from crypsis.linkage import _joint_test as module

CORRELATED = np.linalg.cholesky(np.full((3, 3), 0.9) + 0.1 * np.eye(3))


def people(rng: np.random.Generator, number: int) -> np.ndarray:
    return rng.normal(size=(number, 3)) @ CORRELATED.T


@pytest.fixture
def few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The power from few simulated files: coarser, and faster."""
    monkeypatch.setattr(module, "_SIMULATED_FILES", 2)


def test_shares_received_against_loops() -> None:
    rng = np.random.default_rng(0)
    kernel = rng.random((6, 4))
    place = np.tile(np.arange(4), (6, 1))
    found = module._received(kernel, place, 4, 1.0)
    wish = np.ones(6)
    for _ in range(module._SINKHORN_SWEEPS):
        offer = [1 / sum(kernel[z, y] * wish[z] for z in range(6)) for y in range(4)]
        offered = [sum(kernel[z, y] * offer[y] for y in range(4)) for z in range(6)]
        low, high = 1e-9, 1e9
        for _ in range(200):  # the constant c with sum c o / (1 + c o) = 4
            c = (low * high) ** 0.5
            total = sum(c * o / (1 + c * o) for o in offered)
            low, high = (c, high) if total < 4 else (low, c)
        wish = np.array([c / (1 + c * o) for o in offered])
        received = [o * w for o, w in zip(offered, wish, strict=True)]
    assert found == pytest.approx(received, rel=1e-5)
    assert found.sum() == pytest.approx(4)
    assert found.max() <= 1


def test_scores_do_not_depend_on_who_is_an_original() -> None:
    rng = np.random.default_rng(1)
    both, masked = people(rng, 120), people(rng, 60)
    order = rng.permutation(120)
    scores = module._fit(module.normal_scores(both), module.normal_scores(masked), 1.0)
    mixed = module._fit(module.normal_scores(both[order]), module.normal_scores(masked), 1.0)
    assert mixed == pytest.approx(scores[order])


def test_the_size_is_the_level() -> None:
    rng = np.random.default_rng(2)
    p = []
    for _ in range(60):
        both = module.normal_scores(people(rng, 100))
        scores = module._fit(both, module.normal_scores(people(rng, 50)), 1.0)
        p.append(module._null(scores, 50, rng).p_value)
    # Uniform on 1/1000, ..., 1: 6 of 60 at 0.1, with a standard deviation of 2.3.
    assert 1 <= (np.array(p) <= 0.1).sum() <= 14
    assert 0.38 < np.mean(p) < 0.62


def test_a_leak_that_single_links_do_not_show_is_never_safe(few_files: None) -> None:
    """Noise of 0.3: a tenth of the links is correct, and no single one is too near for chance."""
    seen = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x, controls = people(rng, 300), people(rng, 300)
        masked = (x + 0.3 * rng.normal(size=x.shape))[rng.permutation(300)]
        found = linkage.verify_links(x, masked, controls=controls, row_map="unknown", seed=seed)
        assert found.verdict != "safe"
        assert found.joint is not None
        seen += found.joint.seen
    assert seen >= 1


def test_rows_in_another_order_are_not_taken_for_matches(few_files: None) -> None:
    """With controls and the release shuffled, nobody having said so, the verdict is not safe."""
    rng = np.random.default_rng(0)
    x, controls = people(rng, 300), people(rng, 300)
    masked = (x + 0.3 * rng.normal(size=x.shape))[rng.permutation(300)]
    for found in (
        linkage.verify_links(x, masked, controls=controls),
        linkage.compare(x, masked, controls=controls).verification,
    ):
        assert found.correct_share is None
        assert found.joint is not None
        assert found.verdict != "safe"
    aligned = linkage.verify_links(x, x + 0.3 * rng.normal(size=x.shape), controls=controls)
    assert aligned.correct_share is not None
    assert aligned.joint is None


def test_a_leak_of_half_the_links_is_seen() -> None:
    rng = np.random.default_rng(7)
    x, controls = people(rng, 300), people(rng, 300)
    masked = (x + 0.1 * rng.normal(size=x.shape))[rng.permutation(300)]
    found = linkage.verify_links(x, masked, controls=controls, row_map="unknown")
    assert found.verdict == "not safe"
    assert found.joint is not None
    assert (found.joint.p_value, found.joint.power) == (0.001, None)
    accepted = linkage.verify_links(x, masked, controls=controls, row_map="unknown", acceptable=0.9)
    assert accepted.joint is not None
    assert accepted.joint.seen
    assert "does not measure" in accepted.reasons[-1]


def test_many_records_of_an_unrelated_file_are_safe(few_files: None) -> None:
    rng = np.random.default_rng(11)
    x, masked, controls = people(rng, 1000), people(rng, 1000), people(rng, 1000)
    options = {"controls": controls, "row_map": "unknown", "acceptable": 0.1}
    found = linkage.verify_links(x, masked, **options)
    assert found.joint is not None
    assert found.joint.sufficient  # to see 15 % of correct links
    assert found.verdict == "safe"


def test_power_grows_with_the_leak(few_files: None) -> None:
    rng = np.random.default_rng(5)
    x, masked, controls = people(rng, 200), people(rng, 200), people(rng, 200)
    little, much = (module.joint_test(x, controls, masked, leak, 0).power for leak in (0.05, 0.6))
    assert little is not None
    assert much is not None
    assert little < 0.5 < 0.9 < much


def test_people_who_are_all_alike_cannot_be_linked() -> None:
    alike = np.ones((50, 2))
    assert module.joint_test(alike, alike, alike, 0.07, 0) == module.JointTest(
        1.0, 50, 50, 0.07, 1.0, subsets=3
    )


def test_a_sample_of_large_files_does_not_overstate_the_power(
    few_files: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """5 % of correct links among 2,000 records: 100 of the records do not show them."""
    rng = np.random.default_rng(4)
    x, masked, controls = (people(rng, 2000) for _ in range(3))
    every = module.joint_test(x, controls, masked, 0.05, 0).power
    monkeypatch.setattr(module, "_MAX_TESTED_RECORDS", 100)
    few = module.joint_test(x, controls, masked, 0.05, 0).power
    assert every is not None
    assert few is not None
    assert few < 0.5 < 0.7 < every
