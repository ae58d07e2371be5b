"""Real baskets: an attacker who knows each item's frequency within a relative error."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crypsis import pseudonyms as ps
from crypsis.results import Estimate


@pytest.fixture(scope="module")
def baskets(data_folder):
    text = (data_folder / "groceries" / "groceries.csv").read_text(encoding="utf-8")
    lines = [line.split(",") for line in text.splitlines()]
    return [{name.strip() for name in line if name.strip()} for line in lines]


def attack(baskets, error):
    observed = ps.frequencies(baskets)
    shares = dict(zip(observed.pseudonyms, observed.shares, strict=True))
    ranges = {name: (share * (1 - error), share * (1 + error)) for name, share in shares.items()}
    return ps.frequency_attack(observed, ranges, truth="names")


@pytest.mark.parametrize(
    ("error", "log_permanent"), [(0.02, 61.2485646), (0.05, 107.8535687), (0.10, 179.4187596)]
)
def test_exact_log_permanents(baskets, error, log_permanent):
    belief = attack(baskets, error)
    assert belief.size == 169
    assert ps.log_permanent(belief) == pytest.approx(log_permanent, abs=5e-8)
    count = ps.permanent(belief)
    assert isinstance(count, int)
    assert math.log(count) == pytest.approx(log_permanent, abs=5e-8)


@pytest.mark.parametrize("error", [0.02, 0.05, 0.10, 0.20])
def test_everything_is_exact_up_to_a_fifth(baskets, error):
    belief = attack(baskets, error)
    edges = ps.edge_probabilities(belief, method="exact")
    assert edges.exact
    assert edges.probabilities.sum(axis=0) == pytest.approx(1, abs=1e-12)
    assert edges.probabilities.sum(axis=1) == pytest.approx(1, abs=1e-12)
    psi = ps.expected_cracks(belief, method="exact")
    assert psi == pytest.approx(edges.probabilities[np.arange(169), belief.truth].sum())
    delta = ps.degree_of_anonymity(belief, method="exact")
    assert delta == pytest.approx(ps.log_permanent(belief) / math.lgamma(170))
    distribution = ps.crack_distribution(belief, method="exact")
    assert distribution.exact
    assert distribution.probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert distribution.expected == pytest.approx(psi, rel=1e-12)


def test_exact_and_sampled_agree(baskets):
    belief = attack(baskets, 0.05)
    found = ps.expected_cracks(belief, method="sampling", precision=0.01)
    assert isinstance(found, Estimate)
    assert found.low <= ps.expected_cracks(belief) <= found.high


def test_binomial_likelihood_of_a_half_sample(baskets):
    """The attacker learned the frequencies from half of the baskets, the other half is released."""
    learned = ps.frequencies(baskets[::2])
    shares = dict(zip(learned.pseudonyms, learned.shares, strict=True))
    common = {name for name, share in shares.items() if share > 0.02}
    released = [basket & common for basket in baskets[1::2]]
    belief = ps.probabilistic_frequency_attack(
        released,
        {name: shares[name] for name in sorted(common)},
        experience=learned.transactions,
        negligible=1e-9,
        truth="names",
    )
    psi = float(ps.expected_cracks(belief))
    assert 5 < psi < belief.size  # several times the one crack of an attacker who knows nothing
    blind = float(ps.expected_cracks(ps.Belief(np.ones((belief.size,) * 2), truth=belief.truth)))
    assert blind == pytest.approx(1)
