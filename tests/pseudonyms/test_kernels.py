"""Every kernel against rational arithmetic up to t = 8, and against closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from crypsis.pseudonyms.kernels import cracks, fourier, frontier, glynn, ryser
from tests.pseudonyms import reference


def random_matrix(size, density, seed, *, repeats=False):
    """Small whole numbers over 8, so that floats hold them exactly; a perfect matching inside."""
    generator = np.random.default_rng(seed)
    cells = generator.integers(1, 9, (size, size)) * (generator.random((size, size)) < density)
    truth = generator.permutation(size)
    cells[np.arange(size), truth] = np.maximum(cells[np.arange(size), truth], 1)
    if repeats and size > 3:
        cells[1] = cells[2] = cells[0]
        cells[:, 3] = cells[:, 2]
        cells[np.arange(size), truth] = np.maximum(cells[np.arange(size), truth], 1)
    return cells / 8, truth


CASES = [
    (size, density, seed, repeats)
    for size in (1, 2, 3, 4, 5, 6)
    for density, repeats in ((1.0, False), (0.5, False), (0.7, True))
    for seed in (0, 1)
] + [(7, 0.6, 0, True), (8, 0.6, 1, True)]


def exactly(cells):
    return [[Fraction(x) for x in row] for row in cells.tolist()]


@pytest.mark.parametrize("case", CASES)
def test_permanent_and_edges_against_rationals(case):
    size, density, seed, repeats = case
    cells, _ = random_matrix(size, density, seed, repeats=repeats)
    expected = float(reference.permanent(exactly(cells)))
    edges = np.array(reference.edge_probabilities(exactly(cells)), dtype=float)
    alone = glynn.permanent(cells)
    both = glynn.permanent_and_minors(cells)
    assert alone.permanent == pytest.approx(expected, rel=1e-12)
    assert both.permanent == pytest.approx(expected, rel=1e-12)
    assert both.absolute >= both.permanent * (1 - 1e-12)
    assert cells * both.minors / both.permanent == pytest.approx(edges, abs=1e-12)
    built = frontier.build(cells)
    found = frontier.edges(built)
    assert math.exp(found.log_permanent) == pytest.approx(expected, rel=1e-13)
    by_item = found.means[np.ix_(built.kinds.row_class, built.kinds.column_class)]
    assert by_item == pytest.approx(edges, abs=1e-14)


@pytest.mark.parametrize("case", CASES)
def test_crack_distributions_against_rationals(case):
    size, density, seed, repeats = case
    cells, truth = random_matrix(size, density, seed, repeats=repeats)
    expected = [float(p) for p in reference.crack_distribution(exactly(cells), truth)]
    assert cracks.cracks(cells, truth) == pytest.approx(expected, abs=1e-14)
    assert fourier.cracks(cells, truth) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("case", CASES[::2])
def test_marked_cells_against_rationals(case):
    size, density, seed, repeats = case
    cells, _ = random_matrix(size, density, seed, repeats=repeats)
    marks = np.random.default_rng(seed).random((size, size)) < 0.4
    expected = np.zeros(size + 1)
    for matching, weight in reference.weights(exactly(cells)):
        expected[marks[np.arange(size), matching].sum()] += float(weight)
    assert cracks.marked(cells, marks) == pytest.approx(expected / expected.sum(), abs=1e-13)


def counted(matrix):
    """The permanent of a 0-1 matrix by every kernel that counts; they must agree."""
    cells = np.asarray(matrix, dtype=float)
    size = cells.shape[0]
    by_frontier = frontier.count(frontier.build(cells), math.lgamma(size + 1) + 1)
    if size <= 18:
        assert ryser.permanent(cells.astype(np.int64)) == by_frontier
        assert glynn.permanent(cells).permanent == pytest.approx(by_frontier, rel=1e-9)
    return by_frontier


@pytest.mark.parametrize("size", [1, 2, 5, 13, 18])
def test_all_ones(size):
    assert counted(np.ones((size, size))) == math.factorial(size)


@pytest.mark.parametrize("size", [2, 5, 9, 13])
def test_derangements(size):
    subfactorial = sum((-1) ** k * math.factorial(size) // math.factorial(k) for k in range(size + 1))
    assert counted(1 - np.eye(size)) == subfactorial


@pytest.mark.parametrize(
    ("size", "menage"), [(3, 1), (4, 2), (5, 13), (6, 80), (7, 579), (8, 4738), (9, 43387), (10, 439792)]
)
def test_menage_numbers(size, menage):
    assert counted(1 - np.eye(size) - np.roll(np.eye(size), 1, axis=1)) == menage


@pytest.mark.parametrize("size", [1, 2, 10, 60, 200])
def test_tridiagonal_bands_are_fibonacci(size):
    band = np.tri(size, k=1) - np.tri(size, k=-2)
    fibonacci = [1, 1]
    while len(fibonacci) <= size:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert counted(band) == fibonacci[size]


@pytest.mark.parametrize("size", [1, 4, 12, 40, 60])
def test_hessenberg_bands_are_powers_of_two(size):
    assert counted(np.tri(size, k=1)) == 2 ** (size - 1)


@pytest.mark.parametrize("size", [3, 5, 8, 14])
def test_bands_of_width_two(size):
    """Permutations that move nothing by more than 2: a(n) from a transfer of five terms."""
    terms = [1, 1, 2, 6, 14, 31, 73, 172, 400, 932, 2177, 5081, 11854, 27662, 64554]
    assert counted(np.tri(size, k=2) - np.tri(size, k=-3)) == terms[size]


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (4, 4), (6, 6), (4, 7), (8, 8)])
def test_domino_tilings(rows, columns):
    """Kasteleyn (1961): perfect matchings of a grid, black squares against white ones."""
    tilings = math.prod(
        4 * math.cos(math.pi * j / (rows + 1)) ** 2 + 4 * math.cos(math.pi * k / (columns + 1)) ** 2
        for j in range(1, (rows + 1) // 2 + 1)
        for k in range(1, (columns + 1) // 2 + 1)
    )
    squares = [(r, c) for r in range(rows) for c in range(columns)]
    black = [s for s in squares if sum(s) % 2 == 0]
    white = [s for s in squares if sum(s) % 2 == 1]
    near = [[abs(a - c) + abs(b - d) == 1 for c, d in white] for a, b in black]
    assert counted(np.array(near, dtype=float)) == round(tilings)


@pytest.mark.parametrize("t", [24, pytest.param(30, marks=pytest.mark.heavy)])
def test_uniform_matrix(t: int) -> None:
    """Relative error below 1e-8 up to t = 30, for the permanent and all 900 minors."""
    found = glynn.permanent_and_minors(np.full((t, t), 1 / t))
    assert found.permanent == pytest.approx(math.factorial(t) / t**t, rel=1e-8)
    assert found.minors == pytest.approx(math.factorial(t - 1) / t ** (t - 1), rel=1e-8)


def test_glynn_without_minors_agrees_on_random_matrices():
    cells = np.random.default_rng(3).random((21, 21)) / 10
    both, alone = glynn.permanent_and_minors(cells), glynn.permanent(cells)
    assert both.permanent == pytest.approx(alone.permanent, rel=1e-11)
    assert (cells * both.minors).sum(axis=0) == pytest.approx(both.permanent, rel=1e-9)
    assert (cells * both.minors).sum(axis=1) == pytest.approx(both.permanent, rel=1e-9)


def test_sizes_out_of_reach_are_refused():
    with pytest.raises(ValueError, match="at most 40"):
        glynn.permanent(np.ones((41, 41)))
    with pytest.raises(ValueError, match="at most 34"):
        ryser.permanent(np.ones((35, 35), dtype=np.int64))
    assert frontier.build(np.random.default_rng(0).random((70, 70))) is None
    assert frontier.build(np.random.default_rng(0).random((20, 20)), limit=1000) is None


def test_ryser_beyond_one_word():
    """26 rows: the count needs more than 64 bits, and circulant complements have no structure."""
    matrix = np.ones((22, 22), dtype=np.int64)
    matrix[0, 0] = 0
    assert ryser.permanent(matrix) == math.factorial(22) - math.factorial(21)
