"""The parts of SciPy, each loaded when it is first used: together they take more than a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crypsis.lazy import LazyModule

if TYPE_CHECKING:
    from scipy import linalg, optimize, sparse, spatial, special, stats
    from scipy.sparse import csgraph
else:
    csgraph, linalg = LazyModule("scipy.sparse.csgraph"), LazyModule("scipy.linalg")
    optimize, sparse = LazyModule("scipy.optimize"), LazyModule("scipy.sparse")
    spatial, special = LazyModule("scipy.spatial"), LazyModule("scipy.special")
    stats = LazyModule("scipy.stats")

__all__ = ["csgraph", "linalg", "optimize", "sparse", "spatial", "special", "stats"]
