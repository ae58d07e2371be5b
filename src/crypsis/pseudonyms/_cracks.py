"""How many items are cracked: the whole distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import ParameterError, TooLarge
from crypsis.pseudonyms._belief import Belief
from crypsis.pseudonyms._metrics import _truth
from crypsis.pseudonyms._sampling import Sample, sample_block
from crypsis.pseudonyms._scaling import balance
from crypsis.pseudonyms._solve import Block, check_options
from crypsis.pseudonyms.kernels import cracks as kernel
from crypsis.pseudonyms.kernels import fourier
from crypsis.results import Result

_FOURIER_SIZE = 26
_SMALL = 14


@dataclass(frozen=True)
class CrackDistribution(Result):
    """The probability of exactly 0, 1, ..., t cracks.

    `half_widths` are 95 % half-widths where a block had to be sampled, and None where all is exact.
    """

    size: int
    expected: float
    exact: bool
    blocks: tuple[Block, ...]
    probabilities: NDArray[np.float64]
    half_widths: NDArray[np.float64] | None = None

    def at_least(self, cracks: int) -> float:
        """The probability of that many cracks or more."""
        if cracks < 0:
            raise ParameterError(f"A number of cracks is at least 0, not {cracks}.")
        return float(self.probabilities[cracks:].sum())


class Hits(NamedTuple):
    """The distribution of the number of hits in one block, and how it was found."""

    probabilities: NDArray[np.float64]
    report: Block
    half_widths: NDArray[np.float64] | None = None


def crack_distribution(
    belief: Belief, *, method: str = "auto", seed: int = 0, precision: float = 0.005
) -> CrackDistribution:
    """How likely each number of cracks is (bagai2017, Sec. II-C2: the sum over subsets, weighted).

    Exact by the frontier program with polynomials, or for dense blocks up to 26 items by Glynn's
    formula at roots of unity; sampled otherwise. Blocks are independent: their distributions fold.

    >>> crack_distribution(Belief([[1, 1], [1, 1]], truth=[0, 1])).probabilities
    array([0.5, 0. , 0.5])
    """
    truth = _truth(belief)
    check_options(method, precision)
    local = np.empty(belief.size, dtype=np.int64)
    found = []
    for number, (rows, columns) in enumerate(belief.structure.blocks):
        local[columns] = np.arange(columns.size)
        cells = belief.block(rows, columns)
        found.append(_block(cells, local[truth[rows]], method, seed + number, precision))
    return fold(belief.size, found)


def fold(size: int, found: list[Hits]) -> CrackDistribution:
    """The distribution of a sum of independent numbers of hits."""
    total = np.ones(1)
    variance = np.zeros(1)
    for hits in found:
        half = np.zeros(hits.probabilities.size) if hits.half_widths is None else hits.half_widths
        variance = np.convolve(variance, hits.probabilities**2) + np.convolve(total**2, half**2)
        total = np.convolve(total, hits.probabilities)
    exact = all(hits.report.exact for hits in found)
    return CrackDistribution(
        size, float(total @ np.arange(total.size)), exact, tuple(hits.report for hits in found),
        total, None if exact else np.sqrt(variance),
    )  # fmt: skip


def _block(
    cells: NDArray[np.float64], truth: NDArray[np.int64], method: str, seed: int, precision: float
) -> Hits:
    size = cells.shape[0]
    if method != "sampling" or size == 1:
        found = _exactly(cells, truth, method)
        if found is not None:
            return found
        if method != "auto":
            raise TooLarge(
                f"The crack distribution of a block of {size} items is out of reach of this "
                'method. Use method="sampling", or method="auto", which does so by itself.'
            )
    sample = _drawn(cells, truth, seed, precision)
    hits = (sample.drawn == truth).sum(axis=2).ravel()
    return sampled_hits(hits, size, sample)


def _drawn(
    cells: NDArray[np.float64], truth: NDArray[np.int64], seed: int, precision: float
) -> Sample:
    from scipy.sparse import csr_array

    return sample_block(csr_array(cells), truth, truth, seed=seed, precision=precision)


def sampled_hits(hits: NDArray[np.int64], size: int, sample: Sample) -> Hits:
    """Frequencies of numbers of hits, with half-widths from batches."""
    batches = np.stack(
        [np.bincount(part, minlength=size + 1) / part.size for part in np.array_split(hits, 16)]
    )
    half = 2.13 * batches.std(axis=0, ddof=1) / math.sqrt(len(batches))
    # A number never seen may still have the probability that 0 of n draws allow (rule of three).
    half = np.where(half == 0, 3 / max(3.0, sample.convergence.effective_draws), half)
    report = Block(size, "sampling", False, convergence=sample.convergence)
    return Hits(batches.mean(axis=0), report, half)


def _exactly(cells: NDArray[np.float64], truth: NDArray[np.int64], method: str) -> Hits | None:
    size = cells.shape[0]
    if (cells == cells[0, 0]).all():
        return Hits(_rencontres(size), Block(size, "closed form", True))
    rows = cells.max(axis=1, keepdims=True)
    level = cells / rows
    level = level / level.max(axis=0)
    if method in ("glynn", "gpu") or (_SMALL < size <= _FOURIER_SIZE and method != "frontier"):
        if size > fourier.LARGEST:
            return None
        quick = (
            kernel.cracks(level, truth, limit=2_000_000) if method not in ("glynn", "gpu") else None
        )
        if quick is None:
            factors = balance(cells, tolerance=1e-13)
            scaled = factors.rows[:, None] * cells * factors.columns
            return Hits(fourier.cracks(scaled, truth), Block(size, "glynn", True))
        return Hits(quick, Block(size, "frontier", True))
    found = kernel.cracks(level, truth)
    return None if found is None else Hits(found, Block(size, "frontier", True))


def _rencontres(size: int) -> NDArray[np.float64]:
    """The number of fixed points of a random permutation: sum_{i <= t-c} (-1)^i / (c! i!)."""
    derangements = np.cumsum([(-1.0) ** i / math.factorial(min(i, 170)) for i in range(size + 1)])
    counts = np.arange(size + 1)
    factorials = np.array([math.lgamma(c + 1) for c in counts])
    shares = np.exp(-factorials) * derangements[size - counts]
    shares[-2 if size else 0] = 0.0 if size else 1.0
    return np.asarray(np.clip(shares, 0.0, 1.0))
