"""Histories: what several records of one person disclose together."""

from crypsis.histories.events import Knowledge
from crypsis.singling_out.histories._classes import HistoryClasses, history_classes
from crypsis.singling_out.histories._smallest import SmallestEvents, smallest_events
from crypsis.singling_out.histories._unicity import Unicity, unicity

__all__ = [
    "HistoryClasses",
    "Knowledge",
    "SmallestEvents",
    "Unicity",
    "history_classes",
    "smallest_events",
    "unicity",
]
