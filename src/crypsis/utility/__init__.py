"""Utility: the information loss and the changed distributions of a masked file."""

from crypsis.utility._column_changes import (
    ColumnChange,
    ColumnChanges,
    PairDistance,
    column_changes,
    pairwise_distances,
)
from crypsis.utility._indicator_file import Indicator
from crypsis.utility._indicators import IndicatorCheck, IndicatorResult, check_indicators
from crypsis.utility._information_loss import average_class_size, discernibility, information_loss
from crypsis.utility._masked_values import (
    NormalizedError,
    correlation_change,
    il1s,
    normalized_error,
    rank_difference,
)
from crypsis.utility._propensity import Propensity, propensity

__all__ = [
    "ColumnChange",
    "ColumnChanges",
    "Indicator",
    "IndicatorCheck",
    "IndicatorResult",
    "NormalizedError",
    "PairDistance",
    "Propensity",
    "average_class_size",
    "check_indicators",
    "column_changes",
    "correlation_change",
    "discernibility",
    "il1s",
    "information_loss",
    "normalized_error",
    "pairwise_distances",
    "propensity",
    "rank_difference",
]
