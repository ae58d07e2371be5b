"""Numbers with uncertainty: a float with a confidence interval."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, TypeAlias

import numpy as np

from crypsis.errors import ParameterError

_STATE = ("confidence", "method", "assumes")


class Estimate(float):
    """A number that was estimated: a float with a confidence interval.

    It compares, sorts and formats as its value does. Sums, differences, products and quotients with
    exact numbers and with other estimates have an interval too; that of two estimates has a
    confidence that is right whatever their dependence (Bonferroni).

    Parameters
    ----------
    value, low, high : float
        The point estimate and the ends of its interval.
    confidence : float
        How often such an interval covers the true value; 1 where that is proved.
    method : str
        How it was estimated.
    assumes : str
        What has to be true for the interval to cover.

    Examples
    --------
    >>> share = Estimate(0.25, low=0.2, high=0.31, method="Wilson interval")
    >>> share < 0.3, f"{share:.1%}", str(share)
    (True, '25.0%', '0.25 (95 % CI 0.2 to 0.31)')
    >>> print(100 * share)
    25 (95 % CI 20 to 31)
    """

    __slots__ = ("assumes", "confidence", "high", "low", "method")
    __array_priority__ = 1000  # NumPy scalars on the left leave the operation to the estimate
    low: float
    high: float
    confidence: float
    method: str
    assumes: str

    def __new__(
        cls,
        value: float,
        low: float,
        high: float,
        confidence: float = 0.95,
        method: str = "",
        assumes: str = "",
    ) -> Estimate:
        value, low, high = float(value), float(low), float(high)
        if not low <= value <= high:
            raise ParameterError(f"An estimate lies within its interval; {value} is not in [{low}, {high}].")
        self = super().__new__(cls, value)
        state = (("low", low), ("high", high), ("confidence", confidence), ("method", method))
        for name, part in (*state, ("assumes", assumes)):
            object.__setattr__(self, name, part)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("An Estimate is immutable.")

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.value, self.low, self.high, self.confidence, self.method, self.assumes)

    def __getstate__(self) -> None:
        return None

    @property
    def value(self) -> float:
        """The point estimate as a plain float."""
        return float.__float__(self)

    def map(self, rule: Callable[[float], float]) -> Estimate:
        """A monotone function of the estimate, interval included."""
        return self._enclosed(rule(self.value), [rule(self.low), rule(self.high)])

    def _enclosed(self, value: float, ends: Sequence[float], **changed: Any) -> Estimate:
        low, high = min(ends), max(ends)
        state: dict[str, Any] = {name: getattr(self, name) for name in _STATE}
        return Estimate(min(max(value, low), high), low, high, **(state | changed))

    def _combined(self, other: Any, rule: Callable[[float, float], float]) -> Any:
        """`rule(self, other)` for a rule that is monotone in each of the two."""
        if isinstance(other, np.ndarray):
            return rule(self.value, other)  # type: ignore[arg-type]
        if not isinstance(other, int | float | np.number):
            return NotImplemented
        if not isinstance(other, Estimate):
            return self.map(lambda x: rule(x, float(other)))
        return self._enclosed(
            rule(self.value, other.value),
            [rule(x, y) for x in (self.low, self.high) for y in (other.low, other.high)],
            confidence=max(0.0, self.confidence + other.confidence - 1),
            method="; ".join(dict.fromkeys(filter(None, (self.method, other.method)))),
            assumes="; ".join(dict.fromkeys(filter(None, (self.assumes, other.assumes)))),
        )

    def __add__(self, other: float) -> Any:
        return self._combined(other, operator.add)

    def __radd__(self, other: float) -> Any:
        return self + other

    def __neg__(self) -> Estimate:
        return self.map(operator.neg)

    def __sub__(self, other: float) -> Any:
        return self._combined(other, operator.sub)

    def __rsub__(self, other: float) -> Any:
        return -self + other

    def __mul__(self, other: float) -> Any:
        return self._combined(other, operator.mul)

    def __rmul__(self, other: float) -> Any:
        return self * other

    def __truediv__(self, other: float) -> Any:
        if isinstance(other, Estimate):
            return self * other._inverse()
        return self._combined(other, operator.truediv)

    def __rtruediv__(self, other: float) -> Any:
        return self._inverse() * other

    def _inverse(self) -> Estimate:
        if self.low <= 0 <= self.high:
            return self._enclosed(1 / self.value, [-math.inf, math.inf])
        return self.map(lambda x: 1 / x)

    def __round__(self, digits: Any = None) -> Any:
        return round(self.value) if digits is None else self.map(lambda x: round(x, digits))

    def __repr__(self) -> str:
        return f"Estimate({self.value!r}, low={self.low!r}, high={self.high!r})"

    def __str__(self) -> str:
        return self.text(".4g")

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def text(self, spec: str = ".4g") -> str:
        """The value and its interval, each in the format of a number."""
        parts = [round(x) if spec == "," else x for x in (self.value, self.low, self.high)]
        return self.phrase(*(_spaced(format(part, spec)) for part in parts))

    def phrase(self, value: str, low: str, high: str) -> str:
        """The texts of the value and of the ends as one; an interval that is proved is "bounds".

        >>> Estimate(0.6, 0.5, 0.7, confidence=1.0).phrase("0.6", "0.5", "0.7")
        '0.6 (bounds 0.5 to 0.7)'
        """
        name = "bounds" if self.confidence >= 1 else f"{100 * self.confidence:.3g} % CI"
        return f"{value} ({name} {low} to {high})"

    def to_dict(self, *, reveal: bool = False) -> dict[str, Any]:
        """The value, the interval and how it was estimated, fit for JSON."""
        numbers = {name: getattr(self, name) for name in ("value", "low", "high", "confidence")}
        finite = {name: x if math.isfinite(x) else None for name, x in numbers.items()}
        return {**finite, "method": self.method, "assumes": self.assumes}

    def _repr_html_(self) -> str:
        return f"<span>{escape(str(self))}</span>"


Number: TypeAlias = int | float
"""A quantity: exact, or an `Estimate`, which is a float."""


def number_text(number: Number, spec: str = ".4g") -> str:
    """A number in a sentence: an estimate never without its interval.

    >>> number_text(1200, ","), number_text(Estimate(0.5, 0.4, 0.6), ".0%")
    ('1,200', '50 % (95 % CI 40 % to 60 %)')
    """
    return number.text(spec) if isinstance(number, Estimate) else _spaced(format(number, spec))


def _spaced(text: str) -> str:
    """Per cent as "5 %", everywhere."""
    return text.replace("%", " %")


def percent_text(share: Number) -> str:
    """A share in per cent: never rounded to none or to all, an estimate with its interval.

    >>> percent_text(0.9999), percent_text(0.25), percent_text(Estimate(0.5, 0.4, 0.6))
    ('over 99.9 %', '25 %', '50 % (95 % CI 40 % to 60 %)')
    >>> percent_text(0.0004), percent_text(1e-9)
    ('0.04 %', 'under 0.001 %')
    """
    if isinstance(share, Estimate):
        return share.phrase(*map(percent_text, (share.value, share.low, share.high)))
    if 0 < share < 1e-5:
        return "under 0.001 %"
    return "over 99.9 %" if 0.999 < share < 1 else f"{100 * share:.3g} %"
