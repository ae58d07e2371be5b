"""What a belief accepts, refuses and says about it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csr_matrix

from crypsis import pseudonyms as ps
from crypsis.errors import InputError, ParameterError, TooLargeError


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 1, 1], [1, 1, 1]], "2 by 3"),
        ([[1, 1]], "1 by 2"),
        (np.zeros((0, 0)), "empty"),
        ([], "dimensions"),
        ([1, 2], "1 dimensions"),
        ([[1, -0.5], [1, 1]], "negative"),
        ([[1, np.nan], [1, 1]], "NaN"),
        ([[1, np.inf], [1, 1]], "infinite"),
        ([["a", "b"], ["c", "d"]], "table of numbers"),
        (csr_matrix([[1.0, -1.0], [1.0, 1.0]]), "negative"),
        (csr_matrix([[1.0, np.nan], [1.0, 1.0]]), "NaN"),
    ],
)
def test_invalid_matrices(matrix, message):
    with pytest.raises(InputError, match=message):
        ps.Belief(matrix)


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ([0, 0, 2], "not a permutation"),
        ([0, 1, 3], "not a permutation"),
        ([0, 1], "shape"),
        ([0.0, 1.0, 2.0], "integers"),
        ([2, 1, 0], "rules out the truth"),
        ({0: 0, 1: 1}, "2 of 3"),
        ({0: 0, 1: 1, 7: 2}, "not among"),
    ],
)
def test_invalid_truths(truth, message):
    with pytest.raises(InputError, match=message):
        ps.Belief([[1, 1, 0], [1, 1, 1], [0, 1, 1]], truth=truth)


def test_a_deficient_set_is_named():
    names = ["Ann", "Bob", "Cy", "Di"]
    with pytest.raises(ps.NoPerfectMatchingError, match="rows 1, 3, 4") as caught:
        ps.Belief([[1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]], items=names)
    assert caught.value.items == ("Ann", "Cy", "Di")
    assert "Ann" not in str(caught.value)  # names of people stay out of messages
    assert ps.permanent([[1, 1, 0], [1, 1, 0], [1, 1, 0]]) == 0
    assert ps.log_permanent([[0.0]]) == -np.inf


def test_every_kind_of_matrix_is_the_same_belief():
    cells = np.array([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25], [0.0, 0.25, 0.75]])
    kinds = [
        cells,
        cells.tolist(),
        coo_array(cells),
        csr_matrix(cells),
        pd.DataFrame(cells, columns=list("abc")),
        pl.DataFrame(cells, schema=list("abc")),
    ]
    found = [ps.Belief(kind, truth=[0, 1, 2]) for kind in kinds]
    assert len({ps.expected_cracks(belief) for belief in found}) == 1
    assert found[-1].pseudonyms == ("a", "b", "c") == found[-2].pseudonyms


def test_labels_and_truth_by_name():
    belief = ps.Belief(
        [[1, 1], [1, 1]], items=["Ann", "Bob"], pseudonyms=["x", "y"], truth={"Ann": "y", "Bob": "x"}
    )
    assert belief.truth.tolist() == [1, 0]
    assert ps.matching_probability(belief, {"Ann": "x", "Bob": "y"}) == pytest.approx(0.5)
    with pytest.raises(InputError, match="all different"):
        ps.Belief([[1, 1], [1, 1]], items=["Ann", "Ann"])


def test_print_shows_no_names():
    belief = ps.Belief([[1, 1], [1, 1]], items=["Ann", "Bob"], truth=[0, 1])
    assert repr(belief) == "Belief(2 items, 4 possible pairs, infeasibility, with the truth)"
    found = ps.anonymity(belief)
    assert "Ann" not in str(found) + str(found.to_dict()) + found._repr_html_()
    assert found.to_dict(reveal=True)["most_exposed"][0]["item"] == "Ann"


def test_partial_knowledge():
    belief = ps.Belief(np.ones((4, 4)), truth=[0, 1, 2, 3])
    known = belief.knowing({0: 0})
    assert ps.expected_cracks(known) == pytest.approx(2)  # one known, one of the other three
    assert ps.permanent(known) == 6
    wrong = belief.knowing({}, not_pairs=[(0, 1)])
    assert ps.crack_probabilities(wrong)[0] == pytest.approx(1 / 3)
    with pytest.raises(InputError):
        belief.knowing({0: 0, 1: 0})
    with pytest.raises(InputError):
        belief.knowing({0: 1})  # known, but not true


def test_from_distances():
    distances = np.array([[0.1, 3.0], [2.0, 0.2]])
    belief = ps.Belief.from_distances(distances, bandwidth=1.0, truth=[0, 1])
    ratio = np.exp(-(0.1**2 + 0.2**2 - 3**2 - 2**2) / 2)
    assert ps.expected_cracks(belief) == pytest.approx(2 * ratio / (1 + ratio))
    far = ps.Belief.from_distances(distances * 1e6, bandwidth=1.0, truth=[0, 1])
    assert ps.expected_cracks(far) == pytest.approx(2)
    for bad in (0, -1, np.nan):
        with pytest.raises(ParameterError):
            ps.Belief.from_distances(distances, bandwidth=bad)
    with pytest.raises(InputError):
        ps.Belief.from_distances([[np.nan]], bandwidth=1)


def test_options_out_of_range():
    belief = ps.Belief([[1, 1], [1, 1]], truth=[0, 1])
    with pytest.raises(ParameterError, match="not a valid method"):
        ps.expected_cracks(belief, method="rysr")
    with pytest.raises(ParameterError, match="precision"):
        ps.degree_of_anonymity(belief, precision=0)
    with pytest.raises(ParameterError, match="tolerance"):
        ps.doubly_stochastic(belief, tolerance=0)
    with pytest.raises(InputError, match="truth"):
        ps.expected_cracks(ps.Belief([[1, 1], [1, 1]]))


def test_too_large_names_sampling():
    cells = np.random.default_rng(0).random((70, 70))
    with pytest.raises(TooLargeError, match="method='sampling'"):
        ps.degree_of_anonymity(cells, method="exact")
    with pytest.raises(TooLargeError, match="sampling"):
        ps.degree_of_anonymity(cells, method="glynn")
    ring = (np.random.default_rng(1).random((50, 50)) < 0.4) | np.eye(50, dtype=bool)
    with pytest.raises(TooLargeError, match="method='sampling'"):
        ps.permanent(ring.astype(float), method="exact")


def test_from_sparse_distances():
    """What is not stored is infeasible; a stored zero is a distance of zero."""
    from scipy.sparse import coo_array

    dense = np.array([[0.0, 1.0, np.inf], [2.0, 0.0, 1.0], [np.inf, 1.0, 0.5]])
    rows, columns = np.nonzero(np.isfinite(dense))
    sparse = coo_array((dense[rows, columns], (rows, columns)), shape=dense.shape)
    one = ps.Belief.from_distances(dense, bandwidth=1.0, truth=[0, 1, 2])
    other = ps.Belief.from_distances(sparse, bandwidth=1.0, truth=[0, 1, 2])
    np.testing.assert_array_equal(one.matrix.toarray(), other.matrix.toarray())
    assert one.matrix.nnz == 7
