"""Blocks that are too large for exact work: drawn matchings, diagnostics and honest intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from crypsis import progress
from crypsis.pseudonyms._matchings import Indices
from crypsis.pseudonyms._scaling import balance
from crypsis.pseudonyms.kernels import sampler
from crypsis.results import Result

_CHAINS = 4
_CONFIDENCE = 0.95
_WORK = 8e9  # cells visited in smoothing at most: about a minute on two cores
_LARGEST_R_HAT = 1.05
_SMALLEST_SIZE = 100  # effective draws, of the chain and of the importance weights
_BATCHES = 16
_PIECE = 1e8  # cells visited between two pieces of news


class Spread(NamedTuple):
    """A number with its 95 % half-width, and what may be added or taken off whatever the luck."""

    value: float
    half: float = 0.0
    below: float = 0.0
    above: float = 0.0


def add(spreads: list[Spread]) -> Spread:
    """The sum of independent numbers: half-widths add in squares, the rest as it is."""
    return Spread(
        math.fsum(s.value for s in spreads),
        math.sqrt(math.fsum(s.half**2 for s in spreads)),
        math.fsum(s.below for s in spreads),
        math.fsum(s.above for s in spreads),
    )


@dataclass(frozen=True)
class Convergence(Result):
    """How well the chains agree (Gelman and Rubin; Geyer): the worst over what was averaged.

    `r_hat` near 1 and an `effective_draws` in the hundreds are good. `converged` is false where
    they are not; intervals then reach as far as the quantity can.
    """

    chains: int
    draws: int
    r_hat: float
    effective_draws: float
    refused_fraction: float
    importance_draws: int
    effective_importance_draws: float
    converged: bool


class Sample(NamedTuple):
    """What was drawn from one block: matchings, chain by chain, and everything averaged."""

    drawn: NDArray[np.int32]
    rows: tuple[Indices, Indices, NDArray[np.float64]]
    columns: tuple[Indices, Indices, NDArray[np.float64]]
    cracked: NDArray[np.float64] | None
    cracks: Spread | None
    entropy: Spread
    log_permanent: Spread
    convergence: Convergence


def sample_block(
    block: csr_array, start: Indices, truth: Indices | None, *, seed: int, precision: float
) -> Sample:
    """Draw matchings of an irreducible block until the cracks are known to `precision`.

    The half-width aimed at is `precision` times the expected number of cracks, and `precision`
    times log t! for entropies; the work is bounded, so it may stay wider. Same seed, same answer.
    """
    size = block.shape[0]
    scaling = balance(block, tolerance=1e-10)
    scaled = csr_array(block.multiply(scaling.rows[:, None]).multiply(scaling.columns))
    scaled.sort_indices()
    rows = (scaled.indptr.astype(np.int64), scaled.indices.astype(np.int64), scaled.data)
    by_column = scaled.tocsc()
    by_column.sort_indices()
    columns = (
        by_column.indptr.astype(np.int64), by_column.indices.astype(np.int64), by_column.data,
    )  # fmt: skip
    chain_seed, weight_seed = np.random.SeedSequence(seed).spawn(2)
    drawn, cracked, refused = _chains(scaled, start, truth, rows, columns, chain_seed, precision)
    weights = sampler.log_weights(drawn.reshape(-1, size), rows).reshape(drawn.shape[:2])
    goal = precision * math.lgamma(size + 1)
    log_scaled, importance, effective = _log_permanent(
        scaled, start, rows, columns, weight_seed, goal
    )
    mean_weight = average(weights)
    averages = [mean_weight]
    cracks = None
    if cracked is not None:
        by_draw = average(cracked.sum(axis=2))
        averages.append(by_draw)
        cracks = Spread(by_draw.mean, by_draw.half)
    r_hat = max(found.r_hat for found in averages)
    size_found = min(found.effective for found in averages)
    converged = r_hat <= _LARGEST_R_HAT and size_found >= _SMALLEST_SIZE
    entropy = add([log_scaled, Spread(-mean_weight.mean, mean_weight.half)])
    most = math.lgamma(size + 1)
    entropy = entropy._replace(value=min(max(entropy.value, 0.0), most))
    if not converged:
        entropy = Spread(entropy.value, 0.0, entropy.value, most - entropy.value)
        cracks = cracks and Spread(cracks.value, 0.0, cracks.value, size - cracks.value)
    shift = -math.fsum(np.log(scaling.rows)) - math.fsum(np.log(scaling.columns))
    return Sample(
        drawn, rows, columns, None if cracked is None else cracked.mean(axis=(0, 1)), cracks,
        entropy, log_scaled._replace(value=log_scaled.value + shift),
        Convergence(
            _CHAINS, drawn.shape[0] * drawn.shape[1], r_hat, size_found, refused, importance,
            effective, converged,
        ),
    )  # fmt: skip


def _chains(
    scaled: csr_array,
    start: Indices,
    truth: Indices | None,
    rows: tuple[Indices, Indices, NDArray[np.float64]],
    columns: tuple[Indices, Indices, NDArray[np.float64]],
    seed: np.random.SeedSequence,
    precision: float,
) -> tuple[NDArray[np.int32], NDArray[np.float64] | None, float]:
    """Run the chains, doubling them until the cracks are known well enough."""
    size, edges = scaled.shape[0], scaled.nnz
    generator = np.random.default_rng(seed)
    matchings = _starts(scaled, start, generator)
    streams = generator.integers(0, 2**63, (_CHAINS, 1)).astype(np.uint64)
    cumulative = np.cumsum(rows[2])
    before = np.concatenate([[0.0], cumulative])[rows[0][:-1]]
    cumulative -= np.repeat(before, np.diff(rows[0]))
    walks = int(min(8, max(2, edges // (16 * size))))
    most = int(min(50_000, max(32, _WORK / edges / _CHAINS), max(64, 1e8 / size)))
    draws = min(64, most) if edges > 1e5 else min(512, most)
    longest = 200 * size
    parts: list[NDArray[np.int32]] = []
    smooth: list[NDArray[np.float64]] = []
    refused = attempted = 0
    with progress.step("matchings drawn", total=_CHAINS * most) as work:
        sampler.run_chains(matchings, streams, rows[0], rows[1], cumulative, 1, 20 * walks, longest)
        while True:
            new, failed = sampler.run_chains(
                matchings, streams, rows[0], rows[1], cumulative, draws, walks, longest
            )
            refused, attempted = refused + int(failed.sum()), attempted + _CHAINS * draws * walks
            parts.append(new)
            if truth is not None:
                smooth.append(_smoothed(new, truth, rows, columns, work))
            drawn = np.concatenate(parts, axis=1)
            cracked = np.concatenate(smooth, axis=1) if smooth else None
            if cracked is None:
                series = sampler.log_weights(drawn.reshape(-1, size), rows).reshape(_CHAINS, -1)
                enough, factor = _enough(series, precision * math.lgamma(size + 1) / 4)
                work.advance(new.shape[0] * new.shape[1])
            else:
                series = cracked.sum(axis=2)
                enough, factor = _enough(series, precision * max(float(series.mean()), 0.25))
            if enough or drawn.shape[1] >= most:
                work.total = work.done
                return drawn, cracked, refused / attempted
            projected = int(min(most, 1.1 * factor * drawn.shape[1]))
            draws = max(1, min(most, max(projected, drawn.shape[1] + 16)) - drawn.shape[1])
            draws = min(draws, max(64, drawn.shape[1]))
            work.total = float(_CHAINS * max(projected, drawn.shape[1] + draws))


def _smoothed(
    drawn: NDArray[np.int32],
    truth: Indices,
    rows: tuple[Indices, Indices, NDArray[np.float64]],
    columns: tuple[Indices, Indices, NDArray[np.float64]],
    work: progress.Step,
) -> NDArray[np.float64]:
    """Crack probabilities by draw, in pieces of a second: progress is seen, and may stop it."""
    chains, draws, size = drawn.shape
    flat = drawn.reshape(-1, size)
    pieces = max(1, round(flat.shape[0] * rows[2].size / _PIECE))
    smooth = []
    for piece in np.array_split(flat, pieces):
        smooth.append(sampler.crack_stars(piece, truth, rows, columns))
        work.advance(len(piece))
    return np.concatenate(smooth).reshape(chains, draws, size)


def _enough(series: NDArray[np.float64], goal: float) -> tuple[bool, float]:
    """Whether the interval is narrow enough, and by what factor there should be more draws."""
    found = average(series)
    poor = found.r_hat > 1.03 or found.effective < 1.5 * _SMALLEST_SIZE
    return found.half <= goal and not poor, max((found.half / goal) ** 2, 2.0 if poor else 1.0)


def _starts(scaled: csr_array, start: Indices, generator: np.random.Generator) -> Indices:
    """Matchings far from each other to start from: the best under random costs."""
    starts = np.tile(start, (_CHAINS, 1))
    if scaled.shape[0] <= 500:
        from scipy.optimize import linear_sum_assignment

        dense = scaled.toarray()
        for chain in range(1, _CHAINS):
            costs = np.where(dense > 0, generator.random(dense.shape), 1e6)
            starts[chain] = linear_sum_assignment(costs)[1]
    return np.ascontiguousarray(starts, dtype=np.int64)


def _log_permanent(
    scaled: csr_array,
    start: Indices,
    rows: tuple[Indices, Indices, NDArray[np.float64]],
    columns: tuple[Indices, Indices, NDArray[np.float64]],
    seed: np.random.SeedSequence,
    goal: float,
) -> tuple[Spread, int, float]:
    """The logarithm of the permanent of a doubly stochastic block, with draws and effective draws.

    Where few draws carry all the weight, or too few can be afforded (large sparse blocks), the
    interval falls back on what is proved: at least
    sum (1-b) log(1-b) over the cells (Schrijver 1998; Gurvits), at most 0.
    """
    size, edges = scaled.shape[0], scaled.nnz
    careful = edges < size * size
    cost = edges * (size if careful else 4)
    most = int(min(200_000, _WORK / 2 / cost))
    cells = np.minimum(scaled.data, 1.0)
    inside = cells < 1.0
    lowest = float(((1 - cells[inside]) * np.log1p(-cells[inside])).sum())
    lowest -= 1e-9 * size  # the block is doubly stochastic to about 1e-10 only
    if most < _SMALLEST_SIZE:
        return Spread(lowest, 0.0, 0.0, -lowest), 0, 0.0
    generator = np.random.default_rng(seed)
    order = np.argsort(np.diff(rows[0]), kind="stable")
    logs = np.zeros(0)
    draws = min(2000, most)
    with progress.step("permanent, importance draws", total=most) as work:
        while True:
            streams = generator.integers(0, 2**63, (draws, 1)).astype(np.uint64)
            for part in np.array_split(streams, max(1, round(draws * cost / _PIECE))):
                new = sampler.importance_weights(order, start, rows, columns, careful, part)
                logs = np.concatenate([logs, new])
                work.advance(part.size)
            value, half, effective = _log_mean(logs)
            if half <= goal / 4 or logs.size >= most:
                work.total = work.done
                break
            draws = min(logs.size, most - logs.size)
    value = min(max(value, lowest), 0.0)
    if effective < _SMALLEST_SIZE:
        return Spread(value, 0.0, value - lowest, -value), logs.size, effective
    return Spread(value, half), logs.size, effective


def _log_mean(logs: NDArray[np.float64]) -> tuple[float, float, float]:
    """Log of the mean of exp(logs), its half-width (jackknife over batches), effective draws."""
    top = float(logs.max())
    if not math.isfinite(top):
        return -math.inf, math.inf, 0.0
    weights = np.exp(logs - top)
    sums = np.array([part.sum() for part in np.array_split(weights, 2 * _BATCHES)])
    counts = np.array([part.size for part in np.array_split(weights, 2 * _BATCHES)])
    without = np.log((sums.sum() - sums) / (weights.size - counts))
    batches = sums.size
    deviation = math.sqrt((batches - 1) / batches * float(((without - without.mean()) ** 2).sum()))
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    return top + math.log(weights.mean()), _quantile(batches - 1) * deviation, effective


@dataclass(frozen=True)
class Average:
    """The mean of a series over chains, with its 95 % half-width and diagnostics."""

    mean: float
    half: float
    effective: float
    r_hat: float


def average(series: NDArray[np.float64]) -> Average:
    """Mean, half-width, effective size and split R-hat of a series (one row a chain).

    Gelman et al., Bayesian Data Analysis (2013), Sec. 11.4-11.5, with Geyer's initial positive
    sequence for the autocorrelations.
    """
    half = series.shape[1] // 2
    split = np.concatenate([series[:, :half], series[:, half : 2 * half]])
    chains, draws = split.shape
    within = float(split.var(axis=1, ddof=1).mean())
    between = draws * float(split.mean(axis=1).var(ddof=1))
    total = (draws - 1) / draws * within + between / draws
    if total <= 1e-30:
        return Average(float(series.mean()), 0.0, float(series.size), 1.0)
    r_hat = math.sqrt(total / within) if within > 0 else math.inf
    centred = split - split.mean(axis=1, keepdims=True)
    padded = np.fft.rfft(centred, n=2 * draws, axis=1)
    covariance = np.fft.irfft(np.abs(padded) ** 2, axis=1)[:, :draws].mean(axis=0) / draws
    correlation = 1.0 - (within - covariance) / total
    pairs = correlation[0 : draws - draws % 2 : 2] + correlation[1:draws:2][: draws // 2]
    positive = pairs[: int(np.argmax(pairs <= 0))] if (pairs <= 0).any() else pairs
    # Pairs of autocorrelations must fall: Geyer's initial monotone sequence.
    time = (
        max(2.0 * float(np.minimum.accumulate(positive).sum()) - 1.0, 0.0) if positive.size else 1.0
    )
    effective = min(chains * draws / max(time, 1e-3), float(chains * draws))
    half_width = _quantile(max(effective, 3.0) - 1) * math.sqrt(total / effective)
    # Slow modes hide from autocorrelations, not from the means of separate stretches: take the
    # wider of the two intervals.
    stretches = split.mean(axis=1)
    by_stretch = _quantile(chains - 1) * float(stretches.std(ddof=1)) / math.sqrt(chains)
    return Average(float(series.mean()), max(half_width, by_stretch), effective, r_hat)


def _quantile(freedom: float) -> float:
    return float(stdtrit(freedom, 0.5 + _CONFIDENCE / 2))
