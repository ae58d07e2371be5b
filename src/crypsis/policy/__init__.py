"""What is allowed: thresholds with their sources, and results held against them."""

from crypsis.policy._hold import Measurement, hold, verdict
from crypsis.policy._measures import MEASURES, QUESTIONS, Measure, measure
from crypsis.policy._policy import PRESETS, Policy, Threshold, load_policy, preset_text

__all__ = [
    "MEASURES",
    "PRESETS",
    "QUESTIONS",
    "Measure",
    "Measurement",
    "Policy",
    "Threshold",
    "hold",
    "load_policy",
    "measure",
    "preset_text",
    "verdict",
]
