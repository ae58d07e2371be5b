"""What was lost: numbers that compare a release with what it was made from."""

from crypsis.utility._classes import ClassCosts, class_costs, ncp
from crypsis.utility._distances import (
    ColumnLoss,
    Lost,
    PairLoss,
    lost,
    marginal_distance,
    pairwise_distances,
)
from crypsis.utility._errors import (
    NormalizedError,
    TradeOff,
    correlation_change,
    il1s,
    normalized_error,
    trade_off,
)
from crypsis.utility._propensity import Propensity, propensity
from crypsis.utility._ranks import rank_difference

__all__ = [
    "ClassCosts",
    "ColumnLoss",
    "Lost",
    "NormalizedError",
    "PairLoss",
    "Propensity",
    "TradeOff",
    "class_costs",
    "correlation_change",
    "il1s",
    "lost",
    "marginal_distance",
    "ncp",
    "normalized_error",
    "pairwise_distances",
    "propensity",
    "rank_difference",
    "trade_off",
]
