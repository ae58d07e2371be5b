"""The probability of each number of cracks."""

from __future__ import annotations

import math
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Ints
from crypsis.errors import ParameterError, TooLargeError
from crypsis.pseudonyms._belief import Belief, true_columns
from crypsis.pseudonyms._kinds import KindMatrix
from crypsis.pseudonyms._sampling import MatchingSample, sample_block
from crypsis.pseudonyms._scaling import scaling_factors
from crypsis.pseudonyms._solve import Block, SolverOptions, check_options
from crypsis.pseudonyms.kernels import bethe, fourier
from crypsis.pseudonyms.kernels import cracks as kernel
from crypsis.results import Result

_MAX_FOURIER_SIZE = 26
"""The largest block that is transformed where the frontier grows too large."""
_MAX_FRONTIER_SIZE = 14
"""Blocks up to this size are counted by the frontier alone."""
_MAX_DENSE_SIZE = 6000
"""Exact methods need the block item by item."""


class CrackDistribution(Result, eq=False):
    """The probability of exactly 0, 1, ..., t cracks.

    `half_widths` are 95 % half-widths where a block was sampled, and None where all is exact.
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
            raise ParameterError(f"A number of cracks is at least 0; {cracks} was given.")
        return float(self.probabilities[cracks:].sum())


class BlockHits(NamedTuple):
    """The distribution of the number of hits in one block, and how it was computed."""

    probabilities: NDArray[np.float64]
    report: Block
    half_widths: NDArray[np.float64] | None = None


def crack_distribution(belief: Belief, **options: Unpack[SolverOptions]) -> CrackDistribution:
    """The probability of each number of cracks.

    Parameters
    ----------
    belief : Belief
        With its truth.
    **options
        `method`, `seed` and `precision`, as in `anonymity`.

    Returns
    -------
    CrackDistribution
        `probabilities` of 0, 1, ..., t cracks.

    Notes
    -----
    Exact by the frontier program with polynomials, or for dense blocks up to 26 items by Glynn's
    formula at roots of unity; sampled otherwise. The distributions of the blocks are convolved.

    References
    ----------
    bagai2017, Sec. II-C2.

    Examples
    --------
    >>> crack_distribution(Belief([[1, 1], [1, 1]], truth=[0, 1])).probabilities
    array([0.5, 0. , 0.5])
    """
    truth = true_columns(belief)
    check_options(**options)
    method = options.get("method", "auto")
    seed, precision = options.get("seed", 0), options.get("precision", 0.005)
    blocks = []
    for number, (rows, columns) in enumerate(belief.structure.blocks):
        block = _TrueBlock(belief.kinds.part(rows, columns), np.searchsorted(columns, truth[rows]))
        blocks.append(_block(block, method, seed + number, precision))
    return convolve_blocks(belief.size, blocks)


def convolve_blocks(size: int, blocks: list[BlockHits]) -> CrackDistribution:
    """The distribution of a sum of independent numbers of hits."""
    total = np.ones(1)
    variance = np.zeros(1)
    for hits in blocks:
        half = np.zeros(hits.probabilities.size) if hits.half_widths is None else hits.half_widths
        variance = np.convolve(variance, hits.probabilities**2) + np.convolve(total**2, half**2)
        total = np.convolve(total, hits.probabilities)
    exact = all(hits.report.exact for hits in blocks)
    return CrackDistribution(
        size,
        float(total @ np.arange(total.size)),
        exact,
        tuple(hits.report for hits in blocks),
        total,
        None if exact else np.sqrt(variance),
    )


class _TrueBlock(NamedTuple):
    """A block and the column of each row's own pseudonym."""

    kinds: KindMatrix
    truth: Ints


def _block(block: _TrueBlock, method: str, seed: int, precision: float) -> BlockHits:
    kinds, truth = block
    size = kinds.size
    if method != "sampling" or size == 1:
        exact_hits = _exactly(kinds, truth, method)
        if exact_hits is not None:
            return exact_hits
        if method != "auto":
            raise TooLargeError(
                f"The crack distribution of a block of {size} items is out of reach of the method "
                f"{method!r}.",
                hint="Set {method=sampling}, or {method=auto}.",
            )
    bounds = bethe.bounds(bethe.problem(kinds.weights, kinds.rows, kinds.columns))
    sample = sample_block(kinds, bounds, truth, truth, seed=seed, precision=precision)
    hits = np.zeros(0, dtype=np.int64) if sample.hits is None else sample.hits.ravel()
    return _sampled_hits(hits, size, sample)


def _sampled_hits(hits: NDArray[np.int64], size: int, sample: MatchingSample) -> BlockHits:
    """Frequencies of numbers of hits, with half-widths from batches."""
    batches = np.stack(
        [np.bincount(part, minlength=size + 1) / part.size for part in np.array_split(hits, 16)]
    )
    half = 2.13 * batches.std(axis=0, ddof=1) / math.sqrt(len(batches))
    # A number never seen may still have the probability that 0 of n draws allow (rule of three).
    half = np.where(half == 0, 3 / max(3.0, sample.convergence.effective_draws), half)
    report = Block(size, "sampling", False, convergence=sample.convergence)
    return BlockHits(batches.mean(axis=0), report, half)


def _exactly(kinds: KindMatrix, truth: Ints, method: str) -> BlockHits | None:
    size = kinds.size
    if kinds.weights.shape == (1, 1):
        return BlockHits(_rencontres(size), Block(size, "closed form", True))
    if size > _MAX_DENSE_SIZE:
        return None
    cells = kinds.dense()
    level = kernel.level(cells)
    if method in ("glynn", "gpu") or (
        _MAX_FRONTIER_SIZE < size <= _MAX_FOURIER_SIZE and method != "frontier"
    ):
        if size > fourier.LARGEST:
            return None
        quick = kernel.cracks(level, truth, limit=2_000_000) if method not in ("glynn", "gpu") else None
        if quick is None:
            factors = scaling_factors(cells, tolerance=1e-13)
            scaled = factors.rows[:, None] * cells * factors.columns
            return BlockHits(fourier.cracks(scaled, truth), Block(size, "glynn", True))
        return BlockHits(quick, Block(size, "frontier", True))
    crack_counts = kernel.cracks(level, truth)
    return None if crack_counts is None else BlockHits(crack_counts, Block(size, "frontier", True))


def _rencontres(size: int) -> NDArray[np.float64]:
    """The number of fixed points of a random permutation: sum_{i <= t-c} (-1)^i / (c! i!)."""
    derangements = np.cumsum([(-1.0) ** i / math.factorial(min(i, 170)) for i in range(size + 1)])
    counts = np.arange(size + 1)
    factorials = np.array([math.lgamma(c + 1) for c in counts])
    shares = np.exp(-factorials) * derangements[size - counts]
    shares[-2 if size else 0] = 0.0 if size else 1.0
    return np.asarray(np.clip(shares, 0.0, 1.0))
