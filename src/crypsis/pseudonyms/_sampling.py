"""Blocks that are too large for exact work: drawn matchings, diagnostics and honest intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.array_types import Ints
from crypsis.pseudonyms._chains import BURN_IN, CHAINS, Chains
from crypsis.pseudonyms._kinds import KindMatrix
from crypsis.pseudonyms._sample_table import Table, TruePairs, is_flat, make_table, true_pairs
from crypsis.pseudonyms.kernels import sampler
from crypsis.pseudonyms.kernels.bethe import Bounds
from crypsis.results import Result
from crypsis.scientific import sparse, special

_CONFIDENCE = 0.95
"""Of the half-widths of all that is estimated from draws."""
_MAX_VISITED_CELLS = 5e9
"""Cells visited in smoothing at most: about half a minute on two cores."""
_STEP_COST = 8
"""A step of a walk costs as much as so many visited cells."""
_MAX_KEPT_NUMBERS = 50_000_000
"""Numbers in the matchings that are kept; of more every other matching is."""
_MAX_R_HAT = 1.05
"""Chains that vary more, relative to each of them, have not converged."""
_MIN_EFFECTIVE_DRAWS = 100
"""Of the chains, and of the importance weights; fewer have not converged."""
_JACKKNIFE_BATCHES = 32
"""Batches of weights, each omitted once, that show the error of the logarithm of their mean."""
_CELLS_PER_REPORT = 1e8
"""Cells visited between two reports of progress."""


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


class Convergence(Result):
    """How well the chains agree (Gelman and Rubin; Geyer): the worst over what was averaged.

    `r_hat` near 1 and an `effective_draws` in the hundreds are good. `converged` is false where
    they are not; intervals then reach as far as the quantity can. `bethe_cracks` are the expected
    cracks under the Bethe marginals, an approximation that was not drawn, as a check.
    """

    chains: int
    draws: int
    r_hat: float
    effective_draws: float
    refused_fraction: float
    converged: bool
    bethe_cracks: float | None = None


class MatchingSample(NamedTuple):
    """What was drawn from one block: matchings (thinned), and everything averaged.

    `cracked` and `hits` are the crack probability of each row and the cracks of each draw;
    `log_weight` is the mean logarithm of the weight of a matching under the scaled cells, where
    weights differ.
    """

    drawn: NDArray[np.int32]
    table: Table
    cracked: NDArray[np.float64] | None
    hits: NDArray[np.int64] | None
    cracks: Spread | None
    log_weight: Spread | None
    convergence: Convergence


def sample_block(
    kinds: KindMatrix, bounds: Bounds, start: Ints, truth: Ints | None, *, seed: int, precision: float
) -> MatchingSample:
    """Draw matchings of an irreducible block until the cracks are known to `precision`.

    The half-width aimed at is `precision` times the expected number of cracks, and `precision`
    times log t! for weights; the work is bounded, so it may stay wider. Same seed, same answer.
    """
    size = kinds.size
    table = make_table(kinds, bounds.scaled.cells)
    chain_seed = np.random.SeedSequence(seed).spawn(2)[0]
    weighted = not is_flat(kinds)
    pairs = None if truth is None else true_pairs(kinds, bounds.marginals, truth, precision)
    series = _run(table, start, truth, pairs, weighted, chain_seed, precision)
    averages = []
    log_weight = None
    if weighted:
        averages.append(average(series.weights))
        log_weight = Spread(averages[0].mean, averages[0].half)
    cracks = None
    if series.cracks is not None:
        averages.append(average(series.cracks))
        cracks = Spread(averages[-1].mean, averages[-1].half)
    r_hat = max((average.r_hat for average in averages), default=1.0)
    effective = min((average.effective for average in averages), default=float(series.draws))
    converged = r_hat <= _MAX_R_HAT and effective >= _MIN_EFFECTIVE_DRAWS
    if not converged:
        cracks = cracks and Spread(cracks.value, 0.0, cracks.value, size - cracks.value)
    return MatchingSample(
        series.kept,
        table,
        series.cracked,
        series.hits,
        cracks,
        log_weight,
        Convergence(
            CHAINS,
            series.draws,
            r_hat,
            effective,
            series.refused,
            converged,
            None if pairs is None else pairs.bethe,
        ),
    )


class _Series(NamedTuple):
    """The series of each chain, means over all draws, and the draws that were kept."""

    cracks: NDArray[np.float64] | None
    weights: NDArray[np.float64]
    cracked: NDArray[np.float64] | None
    hits: NDArray[np.int64] | None
    kept: NDArray[np.int32]
    draws: int
    refused: float


def _run(
    table: Table,
    start: Ints,
    truth: Ints | None,
    pairs: TruePairs | None,
    weighted: bool,
    seed: np.random.SeedSequence,
    precision: float,
) -> _Series:
    """Run the chains in pieces of a second until the cracks are known well enough."""
    size = start.size
    generator = np.random.default_rng(seed)
    chains = Chains(table, start, generator)
    visited = table.values.size if pairs is None else pairs.cost
    walks = int(min(4, max(1, visited // (32 * size))))
    cost = visited + _STEP_COST * 2 * walks * size
    most = int(min(50_000, max(32, _MAX_VISITED_CELLS / cost / CHAINS)))
    piece = max(1, int(_CELLS_PER_REPORT / cost / CHAINS))
    cracks, weights, hits = [], [], []
    kept: list[NDArray[np.int32]] = []
    total = np.zeros(0 if pairs is None else pairs.items.size)
    done = refused = 0
    goal = min(64 if cost > 2e5 else 512, most)

    with progress.step("matchings drawn", total=CHAINS * most) as work:
        for _ in range(BURN_IN):
            chains.draw(1, walks)
            work.advance(0)
        while True:
            draws = min(piece, goal - done)
            new, failed = chains.draw(draws, walks)
            refused, done = refused + failed, done + draws
            flat = new.reshape(-1, size)
            if pairs is not None and truth is not None:
                pair_hits = sampler.crack_stars(
                    flat,
                    pairs.items,
                    pairs.truth,
                    pairs.smooth,
                    table.kernel,
                    table.by_column,
                    table.row_lists,
                )
                cracks.append((pair_hits @ pairs.numbers).reshape(CHAINS, draws))
                total += pair_hits.sum(axis=0)
                hits.append((new == truth).sum(axis=2))
            if weighted:
                weights.append(sampler.log_weights(flat, table.kernel).reshape(CHAINS, draws))
            kept.append(new)
            if sum(part.size for part in kept) > _MAX_KEPT_NUMBERS:
                kept = [np.concatenate(kept, axis=1)[:, ::2]]
            work.advance(CHAINS * draws)
            if done < goal:
                continue
            series = _joined(cracks if pairs is not None else weights)
            if series is None:
                break
            aim = precision * (
                math.lgamma(size + 1) / 4 if pairs is None else max(float(series.mean()), 0.25)
            )
            enough, factor = _enough(series, aim)
            if enough or done >= most:
                break
            goal = int(min(most, max(1.1 * factor * done, done + 16), 2 * max(done, 64)))
            work.total = float(CHAINS * min(most, max(1.1 * factor * done, goal)))
        work.total = work.done
    return _Series(
        _joined(cracks),
        np.zeros((CHAINS, 1)) if not weights else np.concatenate(weights, axis=1),
        None if pairs is None else (total / (CHAINS * done))[pairs.of_row],
        None if not hits else np.concatenate(hits, axis=1),
        np.concatenate(kept, axis=1),
        CHAINS * done,
        refused / (CHAINS * done * walks),
    )


def _joined(series: list[NDArray[np.float64]]) -> NDArray[np.float64] | None:
    return np.concatenate(series, axis=1) if series else None


def _enough(series: NDArray[np.float64], goal: float) -> tuple[bool, float]:
    """Whether the interval is narrow enough, and by what factor there should be more draws."""
    average_series = average(series)
    poor = average_series.r_hat > 1.03 or average_series.effective < 1.5 * _MIN_EFFECTIVE_DRAWS
    return average_series.half <= goal and not poor, max(
        (average_series.half / goal) ** 2, 2.0 if poor else 1.0
    )


def log_permanent(
    kinds: KindMatrix, bounds: Bounds, start: Ints, *, seed: int, precision: float
) -> tuple[Spread, int]:
    """The logarithm of the permanent, and how many draws it took (0: it is bounded).

    The bounds, where they are within `precision` times log t! or importance sampling is no narrower
    (few draws carry all the weight, or too few can be afforded); importance sampling otherwise.
    """
    size, edges = kinds.size, kinds.pairs
    half = (bounds.high - bounds.low) / 2
    spread = Spread(bounds.low + half, 0.0, half, half)
    goal = precision * math.lgamma(size + 1)
    careful = edges < size * size
    cost = edges * (size if careful else 4)
    most = int(min(200_000, _MAX_VISITED_CELLS / 2 / cost))
    if half <= goal or most < 10 * _MIN_EFFECTIVE_DRAWS:
        return spread, 0
    log_mean, draws, effective = _importance(kinds, bounds, start, seed, goal, most, cost)
    shift = -float(kinds.rows @ bounds.scaled.u + kinds.columns @ bounds.scaled.v)
    if effective < _MIN_EFFECTIVE_DRAWS or log_mean.half >= half:
        return spread, 0
    return log_mean._replace(value=min(max(log_mean.value + shift, bounds.low), bounds.high)), draws


def _importance(
    kinds: KindMatrix, bounds: Bounds, start: Ints, seed: int, goal: float, most: int, cost: int
) -> tuple[Spread, int, float]:
    """The logarithm of the permanent of the scaled block, with draws and effective draws."""
    weights = kinds.weights
    cells = sparse.csr_array((bounds.scaled.cells, weights.indices, weights.indptr), shape=weights.shape)
    scaled = KindMatrix(cells, kinds.row_kind, kinds.column_kind).expand()
    rows, columns = _compressed(scaled), _compressed(sparse.csr_array(scaled.T))
    generator = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1])
    order = np.argsort(np.diff(rows[0]), kind="stable")
    careful = scaled.nnz < kinds.size**2
    logs = np.zeros(0)
    draws = min(2000, most)
    with progress.step("permanent, importance draws", total=most) as work:
        while True:
            streams = generator.integers(0, 2**63, (draws, 1)).astype(np.uint64)
            for part in np.array_split(streams, max(1, round(draws * cost / _CELLS_PER_REPORT))):
                new = sampler.importance_weights(order, start, rows, columns, careful, part)
                logs = np.concatenate([logs, new])
                work.advance(part.size)
            value, half, effective = _log_mean(logs)
            if half <= goal / 4 or logs.size >= most:
                work.total = work.done
                break
            draws = min(logs.size, most - logs.size)
    return Spread(value, max(half, 1e-9 * kinds.size)), logs.size, effective  # never certain


def _compressed(matrix: sparse.csr_array) -> tuple[Ints, Ints, NDArray[np.float64]]:
    matrix.sort_indices()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data


def _log_mean(logs: NDArray[np.float64]) -> tuple[float, float, float]:
    """Log of the mean of exp(logs), its half-width (jackknife over batches), effective draws."""
    top = float(logs.max())
    if not math.isfinite(top):
        return -math.inf, math.inf, 0.0
    weights = np.exp(logs - top)
    sums = np.array([part.sum() for part in np.array_split(weights, _JACKKNIFE_BATCHES)])
    counts = np.array([part.size for part in np.array_split(weights, _JACKKNIFE_BATCHES)])
    log_without_batch = np.log((sums.sum() - sums) / (weights.size - counts))
    batches = sums.size
    deviation = math.sqrt(
        (batches - 1) / batches * float(((log_without_batch - log_without_batch.mean()) ** 2).sum())
    )
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    return top + math.log(weights.mean()), _quantile(batches - 1) * deviation, effective


@dataclass(frozen=True)
class ChainAverage:
    """The mean of a series over chains, with its 95 % half-width and diagnostics."""

    mean: float
    half: float
    effective: float
    r_hat: float


def average(series: NDArray[np.float64]) -> ChainAverage:
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
    if total <= 1e-20 * (1e-10 + float(series.mean()) ** 2):  # rounding
        return ChainAverage(float(series.mean()), 0.0, float(series.size), 1.0)
    r_hat = math.sqrt(total / within) if within > 0 else math.inf
    centred = split - split.mean(axis=1, keepdims=True)
    padded = np.fft.rfft(centred, n=2 * draws, axis=1)
    covariance = np.fft.irfft(np.abs(padded) ** 2, axis=1)[:, :draws].mean(axis=0) / draws
    correlation = 1.0 - (within - covariance) / total
    pairs = correlation[0 : draws - draws % 2 : 2] + correlation[1:draws:2][: draws // 2]
    positive = pairs[: int(np.argmax(pairs <= 0))] if (pairs <= 0).any() else pairs
    # Pairs of autocorrelations must fall: Geyer's initial monotone sequence.
    time = max(2.0 * float(np.minimum.accumulate(positive).sum()) - 1.0, 0.0) if positive.size else 1.0
    effective = min(chains * draws / max(time, 1e-3), float(chains * draws))
    half_width = _quantile(max(effective, 3.0) - 1) * math.sqrt(total / effective)
    # Slow modes hide from autocorrelations, not from the means of separate stretches: take the
    # wider of the two intervals.
    stretches = split.mean(axis=1)
    by_stretch = _quantile(chains - 1) * float(stretches.std(ddof=1)) / math.sqrt(chains)
    return ChainAverage(float(series.mean()), max(half_width, by_stretch), effective, r_hat)


def _quantile(freedom: float) -> float:
    return float(special.stdtrit(freedom, 0.5 + _CONFIDENCE / 2))
