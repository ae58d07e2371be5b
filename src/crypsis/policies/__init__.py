"""Policies: thresholds with their sources, and measurements compared with them."""

from crypsis.policies._context import RECIPIENTS, Context
from crypsis.policies._evaluate import Measurement, evaluate, verdict
from crypsis.policies._measures import IF_GIVEN, MEASURES, QUESTIONS, Measure, measure
from crypsis.policies._policy import (
    PRESETS,
    ChecklistItem,
    Policy,
    QuestionScope,
    Threshold,
    load_policy,
    preset_text,
)
from crypsis.policies._requirements import requirements_for

__all__ = [
    "IF_GIVEN",
    "MEASURES",
    "PRESETS",
    "QUESTIONS",
    "RECIPIENTS",
    "ChecklistItem",
    "Context",
    "Measure",
    "Measurement",
    "Policy",
    "QuestionScope",
    "Threshold",
    "evaluate",
    "load_policy",
    "measure",
    "preset_text",
    "requirements_for",
    "verdict",
]
