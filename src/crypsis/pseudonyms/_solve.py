"""How it is computed: a method for each irreducible block, chosen by cost and always reported."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.errors import ParameterError, TooLarge
from crypsis.pseudonyms._belief import Belief
from crypsis.pseudonyms._glynn import auto_size, compute
from crypsis.pseudonyms._matchings import Indices
from crypsis.pseudonyms._sampling import Convergence, Sample, Spread, sample_block
from crypsis.pseudonyms._scaling import balance
from crypsis.pseudonyms.kernels import frontier, order
from crypsis.pseudonyms.kernels.sums import Minors
from crypsis.results import Result

METHODS = ("auto", "exact", "frontier", "glynn", "gpu", "sampling")
_EASY_STATES = 100_000  # a frontier this small always beats Glynn, and nothing cancels in it
_LARGEST_DENSE = 6000  # exact methods want the block as a dense array
_FRONTIER_MOVES = 60_000_000  # of an attempt that may fail
WORST_ROUNDING = 1e-9


@dataclass(frozen=True)
class Block(Result):
    """One irreducible block: how many items, how it was computed, and how exact that is.

    `rounding` bounds the relative error of the permanent from rounding, for exact methods; `where`
    names the GPU if one was used.
    """

    size: int
    method: str
    exact: bool
    states: int | None = None
    rounding: float | None = None
    convergence: Convergence | None = None
    where: str = "processor"


class Solved(NamedTuple):
    """A block with its numbers; `probabilities` are cells, `sample` takes their place if drawn."""

    rows: Indices
    columns: Indices
    report: Block
    log_permanent: Spread
    entropy: Spread
    probabilities: NDArray[np.float64] | None
    sample: Sample | None


class _Exact(NamedTuple):
    method: str
    log_permanent: float
    probabilities: NDArray[np.float64]
    states: int | None
    rounding: float
    where: str = "processor"


def check_options(method: str, precision: float) -> None:
    """Refuse methods that do not exist and precisions out of range."""
    if method not in METHODS:
        raise ParameterError(f"There is no method {method!r}; use one of {', '.join(METHODS)}.")
    if not 0 < precision < 1:
        raise ParameterError(f"The precision must lie between 0 and 1, not {precision}.")


def solve(
    belief: Belief, *, method: str = "auto", seed: int = 0, precision: float = 0.005
) -> list[Solved]:
    """Every block with its permanent, entropy and edge probabilities (or a sample of matchings).

    "auto": closed form, else a small frontier, else Glynn's formula up to 32 items (40 where there
    is a GPU), else a large frontier, else sampling. "exact": the same, but `TooLarge` instead of
    sampling. The others insist. Results are kept with the belief, so asking again costs nothing.
    """
    check_options(method, precision)
    key = (method, seed, precision)
    if key not in belief._solutions:
        blocks = belief.structure.blocks
        with progress.step("blocks", total=belief.size) as work:
            solved = []
            for number, (rows, columns) in enumerate(blocks):
                solved.append(_solve_block(belief, rows, columns, method, seed + number, precision))
                work.advance(rows.size)
        belief._solutions[key] = solved
    return list(belief._solutions[key])


def _solve_block(
    belief: Belief, rows: Indices, columns: Indices, method: str, seed: int, precision: float
) -> Solved:
    size = rows.size
    sparse = belief.matrix[rows][:, columns]
    hopeless = method == "sampling" or (method == "auto" and size > _LARGEST_DENSE)
    found = None if hopeless and size > 1 else _exactly(sparse.toarray(), method)
    if found is None:
        return _sampled(belief, rows, columns, seed, precision)
    cells = sparse.toarray()
    inside = (cells > 0) & (found.probabilities > 0)
    expected = math.fsum(found.probabilities[inside] * np.log(cells[inside]))
    entropy = min(max(found.log_permanent - expected, 0.0), math.lgamma(size + 1))
    report = Block(size, found.method, True, found.states, found.rounding, where=found.where)
    return Solved(
        rows,
        columns,
        report,
        Spread(found.log_permanent),
        Spread(entropy),
        found.probabilities,
        None,
    )


def _sampled(
    belief: Belief, rows: Indices, columns: Indices, seed: int, precision: float
) -> Solved:
    local = np.full(belief.size, -1, dtype=np.int64)
    local[columns] = np.arange(columns.size)
    start = local[belief.structure.matching[rows]]
    truth = None if belief.truth is None else local[belief.truth[rows]]
    block = belief.matrix[rows][:, columns]
    sample = sample_block(block, start, truth, seed=seed, precision=precision)
    report = Block(rows.size, "sampling", False, convergence=sample.convergence)
    return Solved(rows, columns, report, sample.log_permanent, sample.entropy, None, sample)


def _exactly(cells: NDArray[np.float64], method: str) -> _Exact | None:
    """The block by an exact method, or None where only sampling is left (and allowed)."""
    size = cells.shape[0]
    closed = _closed_form(cells)
    if closed is not None:
        return closed
    tried = None
    if method in ("glynn", "gpu"):
        return _by_glynn(cells, method)
    if method != "frontier":
        if _is_easy(cells):
            tried = _by_frontier(cells, frontier.STATES)
        if tried is None and size <= auto_size():
            tried = _by_glynn(cells, method)
            if tried.rounding > WORST_ROUNDING:  # too much cancels: positive terms only, then
                tried = _by_frontier(cells, frontier.STATES) or tried
    limit = frontier.STATES if method in ("frontier", "exact") else _FRONTIER_MOVES // size
    if tried is None:
        tried = _by_frontier(cells, limit)
    if tried is None and method in ("exact", "frontier"):
        raise TooLarge(
            f"A block of {size} items is out of reach of exact computation (more than {limit:,} "
            'states). Use method="sampling" for an estimate with an interval, or method="auto", '
            "which does so by itself."
        )
    return tried


def _closed_form(cells: NDArray[np.float64]) -> _Exact | None:
    """Blocks of one item, and complete blocks: equal cells, up to factors of rows and columns."""
    size = cells.shape[0]
    if (cells <= 0).any():
        return None
    outer = np.outer(cells[:, 0], cells[0]) / cells[0, 0]
    if np.abs(outer - cells).max() > 4e-16 * cells.max() or (
        np.abs(outer / cells - 1).max() > 1e-15
    ):
        return None
    logarithm = (
        math.lgamma(size + 1)
        + math.fsum(np.log(cells[:, 0]))
        + math.fsum(np.log(cells[0] / cells[0, 0]))
    )
    return _Exact("closed form", logarithm, np.full((size, size), 1.0 / size), None, 1e-15 * size)


def _is_easy(cells: NDArray[np.float64]) -> bool:
    """Whether the frontier is surely small."""
    kinds = order.classes(cells)
    support = kinds.weights > 0
    if support.all() and kinds.rows.size > 17:  # every subset of the rows is a state
        return False
    way = order.column_order(support, kinds.rows, kinds.columns)
    if way is None:
        return False
    states = order.log_states(support[:, way], kinds.rows, kinds.columns[way])
    return states <= math.log(_EASY_STATES)


def _by_frontier(cells: NDArray[np.float64], limit: int) -> _Exact | None:
    # Dividing by maxima leaves identical rows and columns identical to the last bit.
    rows = cells.max(axis=1, keepdims=True)
    level = cells / rows
    columns = level.max(axis=0)
    built = frontier.build(level / columns, limit=limit)
    if built is None:
        return None
    found = frontier.edges(built)
    logarithm = found.log_permanent + math.fsum(np.log(rows).ravel()) + math.fsum(np.log(columns))
    size = cells.shape[0]
    return _Exact("frontier", logarithm, found.probabilities, built.states, 4e-16 * size)


def _by_glynn(cells: NDArray[np.float64], method: str) -> _Exact:
    factors = balance(cells, tolerance=1e-13)
    scaled = factors.rows[:, None] * cells * factors.columns
    computed, where = compute(scaled, minors=True, method=method)
    found = cast("Minors", computed)
    logarithm = (
        math.log(found.permanent)
        - math.fsum(np.log(factors.rows))
        - math.fsum(np.log(factors.columns))
    )
    probabilities = np.clip(scaled * found.minors / found.permanent, 0.0, 1.0)
    return _Exact("glynn", logarithm, probabilities, None, found.error / found.permanent, where)
