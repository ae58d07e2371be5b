"""The method of each irreducible block: chosen by cost and always reported."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.array_types import Ints
from crypsis.errors import ParameterError, TooLargeError
from crypsis.pseudonyms._belief import Belief
from crypsis.pseudonyms._glynn import auto_size, compute
from crypsis.pseudonyms._kinds import KindMatrix
from crypsis.pseudonyms._sample_table import is_flat
from crypsis.pseudonyms._sampling import Convergence, MatchingSample, Spread, add, log_permanent, sample_block
from crypsis.pseudonyms._scaling import scaling_factors
from crypsis.pseudonyms.kernels import bethe, frontier, order
from crypsis.pseudonyms.kernels.sums import Minors
from crypsis.results import Estimate, Number, Result
from crypsis.scientific import sparse

BOUNDS = "bounds (Bethe)"
METHODS = ("auto", "exact", "frontier", "glynn", "gpu", "sampling")
_MAX_EASY_STATES = 100_000
"""A frontier this small always beats Glynn, and nothing cancels in it."""
_MAX_FRONTIER_MOVES = 60_000_000
"""Of an attempt that may fail: its states times the size of the block."""
WORST_ROUNDING = 1e-9
"""Of a permanent, relative to it; beyond, too much cancels, and another method is taken."""


class SolverOptions(TypedDict, total=False):
    """How permanents are computed: `method` (default "auto"), `seed` (0), `precision` (0.005)."""

    method: str
    seed: int
    precision: float


class Block(Result):
    """One irreducible block: its size, how it was computed, and how exact that is.

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


class SolvedBlock:
    """A block with its numbers: `means` are edge probabilities by kind, None where not exact.

    What is not exact is bounded or sampled when it is first asked for.
    """

    def __init__(
        self,
        belief: Belief,
        rows: Ints,
        columns: Ints,
        kinds: KindMatrix,
        exact: _Exact | None,
        seed: int,
        precision: float,
    ) -> None:
        self.rows, self.columns, self.kinds = rows, columns, kinds
        self.means = None if exact is None else exact.means
        self._exact, self._belief, self._seed, self._precision = exact, belief, seed, precision

    @property
    def report(self) -> Block:
        """How the block was computed, as far as it was."""
        size, exact = self.rows.size, self._exact
        if exact is not None:
            return Block(size, exact.method, True, exact.states, exact.rounding, where=exact.where)
        sample = self.__dict__.get("sample")
        ways = [BOUNDS] if self._permanent[1] == 0 else []
        if sample is not None or not ways:
            ways.append("sampling")
        convergence = None if sample is None else sample.convergence
        return Block(size, ", ".join(ways), False, convergence=convergence)

    @cached_property
    def bounds(self) -> bethe.Bounds:
        """The Bethe permanent and what it proves."""
        kinds = self.kinds
        with progress.step("bounds of the permanent") as work:
            return bethe.bounds(
                bethe.problem(kinds.weights, kinds.rows, kinds.columns), on_round=work.advance
            )

    @cached_property
    def _permanent(self) -> tuple[Spread, int]:
        return log_permanent(
            self.kinds,
            self.bounds,
            self.local(self._belief.structure.matching),
            seed=self._seed,
            precision=self._precision,
        )

    @property
    def log_permanent(self) -> Spread:
        """The logarithm of the permanent."""
        return self._permanent[0] if self._exact is None else Spread(self._exact.log_permanent)

    @cached_property
    def sample(self) -> MatchingSample:
        """Matchings drawn from a block that is not exact."""
        truth = self._belief.truth
        return sample_block(
            self.kinds,
            self.bounds,
            self.local(self._belief.structure.matching),
            None if truth is None else self.local(truth),
            seed=self._seed,
            precision=self._precision,
        )

    @cached_property
    def entropy(self) -> Spread:
        """The entropy of the matching, in nats."""
        kinds, most = self.kinds, math.lgamma(self.rows.size + 1)
        logs = np.log(kinds.weights.data)
        if is_flat(kinds):
            spread = _less(self.log_permanent, Spread(float(logs[0]) * kinds.size))
        elif self.means is not None:
            shares = self.means[kinds.cell_rows, kinds.cell_columns]
            pairs = kinds.rows[kinds.cell_rows] * kinds.columns[kinds.cell_columns]
            spread = _less(self.log_permanent, Spread(math.fsum(pairs * shares * logs)))
        else:
            weight, scaled = self.sample.log_weight or Spread(0.0), self.bounds.scaled
            shift = float(kinds.rows @ scaled.u + kinds.columns @ scaled.v)
            spread = _less(self.log_permanent, weight._replace(value=weight.value - shift))
            if not self.sample.convergence.converged:
                value = min(max(spread.value, 0.0), most)
                return Spread(value, 0.0, value, most - value)
        return spread._replace(value=min(max(spread.value, 0.0), most))

    def local(self, columns: Ints) -> Ints:
        """Columns of all rows as positions in the block."""
        return np.searchsorted(self.columns, columns[self.rows])


def _less(spread: Spread, subtracted: Spread) -> Spread:
    return add([spread, Spread(-subtracted.value, subtracted.half, subtracted.above, subtracted.below)])


class _Exact(NamedTuple):
    method: str
    log_permanent: float
    means: NDArray[np.float64]
    states: int | None
    rounding: float
    where: str = "processor"


def check_options(method: str = "auto", seed: int = 0, precision: float = 0.005) -> None:
    """Refuse methods that do not exist and precisions out of range."""
    if method not in METHODS:
        raise ParameterError(
            f"{method!r} is not a valid method. The methods are {', '.join(METHODS)}.", parameter="method"
        )
    if not 0 < precision < 1:
        raise ParameterError(
            f"Parameter 'precision' must be between 0 and 1; {precision} was given.", parameter="precision"
        )


def solve(
    belief: Belief, *, method: str = "auto", seed: int = 0, precision: float = 0.005
) -> list[SolvedBlock]:
    """Every block with its permanent, entropy and edge probabilities (or a sample of matchings).

    "auto": closed form, else a small frontier, else Glynn's formula up to 32 items (40 where there
    is a GPU), else a large frontier, else sampling. "exact": the same, with `TooLargeError` instead
    of sampling. The others use that method alone. The belief keeps the blocks for later calls.
    """
    check_options(method, seed, precision)
    key = (method, seed, precision)
    if key not in belief.solutions:
        with progress.step("blocks", total=belief.size) as work:
            solved = []
            for number, (rows, columns) in enumerate(belief.structure.blocks):
                solved.append(solve_block(belief, rows, columns, method, seed + number, precision))
                work.advance(rows.size)
        belief.solutions[key] = solved
    return list(belief.solutions[key])


def reports(solved: Sequence[SolvedBlock]) -> tuple[Block, ...]:
    """How each block was computed."""
    return tuple(part.report for part in solved)


def as_number(
    spread: Spread, solved: Sequence[SolvedBlock], *, method: str, low: float, high: float
) -> Number:
    """A float where every block is exact, an estimate with its interval otherwise.

    An interval that is proved has confidence 1, and its method says so.
    """
    value = min(max(spread.value, low), high)
    if all(part.means is not None for part in solved):
        return value
    if spread.half == 0:
        method = method if "NOT converged" in method else BOUNDS
    elif spread.below + spread.above > 0:
        method = f"{BOUNDS}, and {method}"
    return Estimate(
        value,
        min(value, max(low, spread.value - spread.half - spread.below)),
        max(value, min(high, spread.value + spread.half + spread.above)),
        confidence=1.0 if spread.half == 0 else 0.95,
        method=method,
    )


def solve_block(
    belief: Belief, rows: Ints, columns: Ints, method: str, seed: int, precision: float
) -> SolvedBlock:
    """One block with its permanent, entropy and edge probabilities."""
    kinds = belief.kinds.part(rows, columns)
    exact = None
    if rows.size == 1 or method != "sampling":
        exact = _exactly(kinds, method)
    return SolvedBlock(belief, rows, columns, kinds, exact, seed, precision)


def _exactly(kinds: KindMatrix, method: str) -> _Exact | None:
    """The block by an exact method, or None where only bounds and sampling are left."""
    size = kinds.size
    closed = _closed_form(kinds)
    if closed is not None:
        return closed
    if method in ("glynn", "gpu"):
        return _by_glynn(kinds, method)
    tried = None
    limit = frontier.STATES if method in ("frontier", "exact") else _MAX_FRONTIER_MOVES // size
    if np.diff(sparse.csr_array(kinds.weights.T).indptr).max() <= order.MOST_OPEN:
        merged = _leveled(kinds)
        if method != "frontier" and _is_easy(merged):
            tried = _by_frontier(merged, frontier.STATES)
        if tried is None and size <= auto_size() and method != "frontier":
            tried = _by_glynn(kinds, method)
            if tried.rounding > WORST_ROUNDING:  # too much cancels: positive terms only, then
                tried = _by_frontier(merged, frontier.STATES) or tried
        if tried is None:
            tried = _by_frontier(merged, limit)
    if tried is None and method in ("exact", "frontier"):
        raise TooLargeError(
            f"A block of {size} items is out of reach of exact computation (more than {limit:,} states).",
            hint="Set {method=sampling} for an estimate with an interval, or {method=auto}.",
        )
    return tried


def _closed_form(kinds: KindMatrix) -> _Exact | None:
    """Blocks of one item, and complete blocks: equal cells, up to factors of rows and columns."""
    size, (many, wide) = kinds.size, kinds.weights.shape
    if kinds.weights.nnz < many * wide:
        return None
    cells = kinds.weights.toarray()
    outer = np.outer(cells[:, 0], cells[0]) / cells[0, 0]
    if np.abs(outer - cells).max() > 4e-16 * cells.max() or (np.abs(outer / cells - 1).max() > 1e-15):
        return None
    logarithm = (
        math.lgamma(size + 1)
        + math.fsum(kinds.rows * np.log(cells[:, 0]))
        + math.fsum(kinds.columns * np.log(cells[0] / cells[0, 0]))
    )
    return _Exact("closed form", logarithm, np.full((many, wide), 1 / size), None, 1e-15 * size)


@dataclass(frozen=True, eq=False)
class _Leveled:
    """A block for the frontier: rows and columns divided by their largest cells."""

    kinds: order.MergedMatrix
    logarithm: float

    @cached_property
    def way(self) -> order.ColumnOrder | None:
        """The order in which the frontier takes the columns."""
        return order.column_order(self.kinds.weights > 0, self.kinds.rows, self.kinds.columns)


def _leveled(kinds: KindMatrix) -> _Leveled:
    # Dividing by maxima leaves identical rows and columns identical to the last bit.
    cells = kinds.weights.toarray()
    rows = cells.max(axis=1, keepdims=True)
    level = cells / rows
    columns = level.max(axis=0)
    merged = order.MergedMatrix(level / columns, kinds.rows, kinds.columns, kinds.row_kind, kinds.column_kind)
    shift = math.fsum(kinds.rows * np.log(rows).ravel()) + math.fsum(kinds.columns * np.log(columns))
    return _Leveled(merged, shift)


def _is_easy(leveled: _Leveled) -> bool:
    """Whether the frontier is surely small."""
    kinds = leveled.kinds
    if kinds.rows.size > 17 and (kinds.weights > 0).all():  # every subset of the rows is a state
        return False
    return leveled.way is not None and leveled.way.log_states <= math.log(_MAX_EASY_STATES)


def _by_frontier(leveled: _Leveled, limit: int) -> _Exact | None:
    if limit < leveled.kinds.columns.sum():  # every column adds a state
        return None
    built = frontier.build(leveled.kinds, limit=limit, way=leveled.way)
    if built is None:
        return None
    frontier_edges = frontier.edges(built)
    size = int(leveled.kinds.rows.sum())
    logarithm = frontier_edges.log_permanent + leveled.logarithm
    return _Exact("frontier", logarithm, frontier_edges.means, built.states, 4e-16 * size)


def _by_glynn(kinds: KindMatrix, method: str) -> _Exact:
    cells = kinds.dense()
    factors = scaling_factors(cells, tolerance=1e-13)
    scaled = factors.rows[:, None] * cells * factors.columns
    computed, where = compute(scaled, minors=True, method=method)
    minors = cast("Minors", computed)
    logarithm = (
        math.log(minors.permanent) - math.fsum(np.log(factors.rows)) - math.fsum(np.log(factors.columns))
    )
    probabilities = np.clip(scaled * minors.minors / minors.permanent, 0.0, 1.0)
    rows, columns = (np.unique(kind, return_index=True)[1] for kind in (kinds.row_kind, kinds.column_kind))
    means = probabilities[np.ix_(rows, columns)]
    return _Exact("glynn", logarithm, means, None, minors.error / minors.permanent, where)
