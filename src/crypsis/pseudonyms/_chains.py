"""Markov chains of perfect matchings of a block, from starts that are far apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Ints
from crypsis.pseudonyms._matchings import random_matching
from crypsis.pseudonyms._sample_table import Table
from crypsis.pseudonyms.kernels import chain

CHAINS = 4
"""Chains of matchings from different starts, which must agree."""
BURN_IN = 32
"""Draws of each chain that are not used."""
_PILOT_DRAWS = 64
"""Draws that measure how many steps a visit takes."""


class Chains:
    """Chains that are carried on from draw to draw; the same generator, the same draws.

    If all of them began alike, they would agree on what none of them has reached yet.
    """

    def __init__(self, table: Table, start: Ints, generator: np.random.Generator) -> None:
        self._table = table
        starts = [start, *(random_matching(table.kinds, generator) for _ in range(CHAINS - 1))]
        self._matchings = np.ascontiguousarray(np.stack(starts), dtype=np.int64)
        self._streams = generator.integers(0, 2**63, (CHAINS, 1)).astype(np.uint64)
        _, _, steps = self._run(1, 0, _PILOT_DRAWS)
        self._steps = max(1.0, float(steps.sum()) / (CHAINS * _PILOT_DRAWS))

    def draw(self, draws: int, walks: int) -> tuple[NDArray[np.int32], int]:
        """Matchings of each chain, so many walks apart, and the number of walks refused.

        Visits (see `kernels.chain`) take about as many steps as the walks.
        """
        visits = max(1, round(walks * self._table.kinds.size / self._steps))
        drawn, refused, _ = self._run(draws, walks, visits)
        return drawn, int(refused.sum())

    def _run(
        self, draws: int, walks: int, visits: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        table = self._table
        chain_result: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]] = chain.run_chains(
            self._matchings, self._streams, table.kernel, table.cumulative, table.holes, draws, walks, visits
        )
        return chain_result
