"""Sensitive values that pseudonyms share: known without knowing which pseudonym is whose."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import InputError, TooLargeError
from crypsis.pseudonyms._belief import Belief, true_columns
from crypsis.pseudonyms._cracks import BlockHits, CrackDistribution, convolve_blocks
from crypsis.pseudonyms._edges import edge_probabilities
from crypsis.pseudonyms._solve import Block, SolverOptions
from crypsis.pseudonyms.kernels import cracks as kernel
from crypsis.results import Result, raw

Values: TypeAlias = Sequence[Hashable] | Mapping[Hashable, Hashable]


class SensitiveValueRisk(Result, eq=False):
    """How well the intruder knows the sensitive values, whoever has which pseudonym.

    `expected` values are correct in a matching that the intruder draws; `best_guesses_right` counts
    items whose likeliest value is the true one; `certain` those whose value is known for sure.
    `by_chance` is expected of an intruder who knows only the frequency of each value.
    """

    size: int
    kinds: int
    expected: float
    by_chance: float
    best_guesses_right: int
    certain: int
    exact: bool
    blocks: tuple[Block, ...]
    probabilities: NDArray[np.float64] = raw()


def sensitive_value_risk(
    belief: Belief, values: Values, **options: Unpack[SolverOptions]
) -> SensitiveValueRisk:
    """The probability that the intruder knows each item's sensitive value.

    Two people may have pseudonyms a and b in either order; if a and b have the same disease, the
    order does not matter.

    Parameters
    ----------
    belief : Belief
        With its truth.
    values : sequence or dict
        The sensitive value of each pseudonym, in column order or by pseudonym. A missing value
        (None or NaN) is never known.
    **options
        `method`, `seed` and `precision`, as in `anonymity`.

    Returns
    -------
    SensitiveValueRisk
        Expected and certain values, and the same by chance.

    References
    ----------
    bagai2017, Sec. VII, which names it as open for probabilistic attacks.

    Examples
    --------
    >>> belief = Belief([[1, 1, 0], [1, 1, 0], [0, 0, 1]], truth=[0, 1, 2])
    >>> found = sensitive_value_risk(belief, ["AIDS", "AIDS", "flu"])
    >>> found.expected, found.certain
    (3.0, 3)
    """
    truth = true_columns(belief)
    codes = _codes(belief, values)
    edges = edge_probabilities(belief, **options)
    kinds = int(codes.max()) + 1
    by_value = np.stack([edges.probabilities[:, codes == code].sum(1) for code in range(kinds)], 1)
    own_code = codes[truth]
    has_value = own_code >= 0
    right = np.where(has_value, by_value[np.arange(belief.size), np.maximum(own_code, 0)], 0.0)
    counts = np.bincount(codes[codes >= 0], minlength=kinds)
    return SensitiveValueRisk(
        belief.size,
        kinds,
        float(right.sum()),
        float((counts**2).sum() / belief.size),
        int((has_value & (by_value.argmax(axis=1) == own_code)).sum()),
        int((right >= 1 - 1e-12).sum()),
        edges.exact,
        edges.blocks,
        np.clip(right, 0.0, 1.0),
    )


def sensitive_value_distribution(belief: Belief, values: Values) -> CrackDistribution:
    """The probability of each number of correctly known sensitive values.

    Parameters
    ----------
    belief, values
        See `sensitive_value_risk`.

    Returns
    -------
    CrackDistribution
        Exact, with correctly known values in place of cracks.

    Raises
    ------
    TooLargeError
        If a block is out of reach of exact computation.

    Examples
    --------
    >>> belief = Belief([[1, 1], [1, 1]], truth=[0, 1])
    >>> sensitive_value_distribution(belief, ["flu", "flu"]).probabilities
    array([0., 0., 1.])
    """
    truth = true_columns(belief)
    codes = _codes(belief, values)
    block_hits = []
    for rows, columns in belief.structure.blocks:
        marks = (codes[truth[rows]][:, None] == codes[columns]) & (codes[columns] >= 0)
        shares = kernel.marked(kernel.level(belief.block(rows, columns)), marks)
        if shares is None:
            raise TooLargeError(
                f"The distribution over a block of {rows.size} items is out of reach of exact computation.",
                hint="Use `sensitive_value_risk` for the expected number, by sampling.",
            )
        block_hits.append(BlockHits(shares, Block(rows.size, "frontier", True)))
    return convolve_blocks(belief.size, block_hits)


def _codes(belief: Belief, values: Values) -> NDArray[np.int64]:
    """The value of each column as a number, -1 where it is missing."""
    if isinstance(values, Mapping):
        names = belief.pseudonyms or tuple(range(belief.size))
        if not set(names) <= set(values):
            raise InputError("Some pseudonyms have no sensitive value; None marks a missing one.")
        values = [values[name] for name in names]
    if len(values) != belief.size:
        raise InputError(f"There are {belief.size} pseudonyms; {len(values)} sensitive values were given.")
    codes: dict[Hashable, int] = {}
    value_codes = [
        -1 if value is None or value != value else codes.setdefault(value, len(codes)) for value in values
    ]
    if not codes:
        raise InputError("All sensitive values are missing.")
    return np.array(value_codes, dtype=np.int64)
