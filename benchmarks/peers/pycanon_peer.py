"""pyCANON in its own environment: timed, and asked where it is known to be wrong.

Each case has its twin in tests/inference/test_diversity.py, with the right answer worked out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
from pycanon import anonymity  # type: ignore[import-not-found]


def k(path: str, columns: list[str]) -> Callable[[], Any]:
    frame = pd.read_csv(path)
    return lambda: int(anonymity.k_anonymity(frame, columns))


def klt(path: str, columns: list[str]) -> Callable[[], Any]:
    frame = pd.read_csv(path)

    def call() -> list[float]:
        return [
            int(anonymity.k_anonymity(frame, columns)),
            int(anonymity.l_diversity(frame, columns, ["income"])),
            float(anonymity.t_closeness(frame, columns, ["income"])),
        ]

    return call


def k_of_sets(path: str, sets: list[list[str]]) -> Callable[[], Any]:
    frame = pd.read_csv(path)
    return lambda: [int(anonymity.k_anonymity(frame, columns)) for columns in sets]


def cases() -> dict[str, Any]:
    """What it answers where the right answer is known; the key says which."""

    def frame(q: list[Any], s: Any, **options: Any) -> pd.DataFrame:
        return pd.DataFrame({"q": q, "s": s}, **options)

    four = ["a", "a", "b", "b"]
    skewed = frame(four, list("xxxy"))
    mixed = frame(four, list("xyxy"), index=[0, 2, 1, 3])
    dates = pd.to_datetime(["2020-01-01", "2020-01-02"] * 2)
    asked: dict[str, Callable[[], Any]] = {
        "recursive c of counts 3 and 1 (right: above 3)": lambda: anonymity.recursive_c_l_diversity(
            frame(["a"] * 4, list("xxxy")), ["q"], ["s"]
        )[0],
        "k with a missing quasi-identifier (right: 1)": lambda: anonymity.k_anonymity(
            frame(["a", "a", None], list("xyx")), ["q"]
        ),
        "l with labels that are no places (right: 2)": lambda: anonymity.l_diversity(mixed, ["q"], ["s"]),
        "t with labels that are no places (right: 0)": lambda: anonymity.t_closeness(mixed, ["q"], ["s"]),
        "entropy l of two equal values (right: 2)": lambda: anonymity.entropy_l_diversity(
            frame(["a"] * 2, list("xy")), ["q"], ["s"]
        ),
        "enhanced beta where no beta is met (right: none)": lambda: anonymity.enhanced_beta_likeness(
            skewed, ["q"], ["s"]
        ),
        "delta where a class lacks a value (right: infinite)": lambda: anonymity.delta_disclosure(
            skewed, ["q"], ["s"]
        ),
        "t of a constant number (right: 0)": lambda: anonymity.t_closeness(
            frame(["a", "a", "b"], [1, 1, 1]), ["q"], ["s"]
        ),
        "t of dates (right: 0)": lambda: anonymity.t_closeness(frame(four, dates), ["q"], ["s"]),
        "l of text with missing values (right: 2)": lambda: anonymity.l_diversity(
            frame(four, ["x", None, "x", None]), ["q"], ["s"]
        ),
        "t of numbers with missing values (right: 0.5)": lambda: anonymity.t_closeness(
            frame(four, [1.5, 1.5, None, None]), ["q"], ["s"]
        ),
    }
    found: dict[str, Any] = {}
    for name, ask in asked.items():
        try:
            found[name] = float(ask())
        except (ArithmeticError, TypeError, ValueError) as error:
            found[name] = f"raises {type(error).__name__}"
    return found
