"""Compare our value with the printed one: the agreement is always computed, never stated.

A printed number is given as text, because its digits show how far it was rounded. An erratum has to
give the value that the note explains, and ours has to be that; so has a critique, a case of our own
against a statement of the paper. What the paper does not let anybody derive has to lie in the range
that follows from what it does say. Where the paper prints nothing, a dash stands for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, SupportsFloat

import numpy as np

from papers.results import Agreement, ComparedValue

_SAME = 1e-9
NOTHING = "-"
"""What stands in the column of the paper where it prints nothing."""


def number(
    name: str,
    paper: str,
    ours: SupportsFloat,
    *,
    group: str = "",
    unit: float | None = None,
    cut: bool = False,
    text: str = "",
    note: str = "",
) -> ComparedValue:
    """A number of the paper. `unit` is that of its last digit; `cut` if the paper truncates there.

    `text` is what the paper prints where that is an expression, `paper` then being its value.

    >>> number("d", "0.782", 0.78190).agreement.value, number("d", "4/3", 4 / 3).agreement.value
    ('equal after rounding', 'equal')
    >>> [number("d", "0.54", 0.5499, cut=cut).agreement.value for cut in (True, False)]
    ['equal after rounding', 'differs']
    """
    agreement = _agreement(paper, float(ours), unit, cut)
    return ComparedValue(group, name, text or paper, shown(ours), agreement, note)


def same(name: str, paper: Any, ours: Any, *, group: str = "", note: str = "") -> ComparedValue:
    """Something that is equal or is not: a whole number, a list, a word.

    >>> same("rows", [1, 2], (1, 2)).agreement.value
    'equal'
    """
    left, right = listed(paper), listed(ours)
    agreement = Agreement.EQUAL if left == right else Agreement.DIFFERS
    return ComparedValue(group, name, left, right, agreement, note)


def claim(name: str, text: str, true: bool, evidence: str, *, group: str = "") -> ComparedValue:
    """A statement of the paper that was tried on cases; `evidence` names them."""
    agreement = Agreement.EQUAL if true else Agreement.DIFFERS
    return ComparedValue(group, name, text, evidence if true else f"fails: {evidence}", agreement)


def erratum(name: str, paper: Any, ours: Any, *, correct: Any, note: str, group: str = "") -> ComparedValue:
    """Where the paper errs: ours has to be `correct`, and not what is printed.

    >>> erratum("right links", 5, 6, correct=6, note="Table 4 shows six.").agreement.value
    'erratum'
    >>> erratum("right links", 5, 7, correct=6, note="Table 4 shows six.").agreement.value
    'differs'
    """
    agrees = _agrees(correct, ours) and not _agrees(paper, ours)
    agreement = Agreement.ERRATUM if agrees else Agreement.DIFFERS
    return ComparedValue(group, name, listed(paper), shown(ours), agreement, note)


def critique(name: str, paper: str, ours: Any, *, correct: Any, note: str, group: str = "") -> ComparedValue:
    """A case of ours against a statement, `paper` being its words, or NOTHING where it is silent.

    >>> critique("c for k = 10", "small", 0.45, correct="0.45", note="Not small.").agreement.value
    'critique'
    """
    agreement = Agreement.CRITIQUE if _agrees(correct, ours) else Agreement.DIFFERS
    return ComparedValue(group, name, paper, shown(ours), agreement, note)


def underivable(
    name: str,
    paper: str,
    ours: Any,
    *,
    note: str,
    within: tuple[float, float] | None = None,
    group: str = "",
    timed: bool = False,
) -> ComparedValue:
    """A value whose data is not printed; with `within`, ours and theirs have to lie there.

    >>> underivable("d = 0", "0.027", 0.03, within=(0.01, 0.05), note="random data").agreement.value
    'not derivable'
    """
    agreement = Agreement.NOT_DERIVABLE
    if within is not None:
        low, high = within
        values = [_exact(paper), float(ours)] if _is_number(paper) else [float(ours)]
        if not all(low <= value <= high for value in values):
            agreement = Agreement.DIFFERS
    return ComparedValue(group, name, paper, shown(ours), agreement, note, timed)


def data_absent(name: str, paper: str, *, group: str = "", what: str = "") -> ComparedValue:
    """A value that needs real data which is absent."""
    note = f"{what}: set its folder with --data DIR or CRYPSIS_DATA." if what else ""
    return ComparedValue(group, name, paper, "-", Agreement.DATA_ABSENT, note)


def column(
    group: str, names: Iterable[Any], paper: Sequence[str], ours: Iterable[float], **options: Any
) -> list[ComparedValue]:
    """A column of a printed table."""
    return [
        number(str(name), text, float(value), group=group, **options)
        for name, text, value in zip(names, paper, ours, strict=True)
    ]


def shown(value: Any) -> str:
    """Our value as text: whole numbers in full, others with six digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if isinstance(value, Iterable):
        return listed(value)
    return _float_text(float(value))


def listed(value: Any) -> str:
    """A value, or the values of a sequence, as text."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return shown(value)
    return ", ".join(map(shown, value))


def _float_text(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.6g}"


def _agreement(paper: str, ours: float, unit: float | None, cut: bool) -> Agreement:
    printed = _exact(paper)
    if math.isclose(printed, ours, rel_tol=_SAME, abs_tol=_SAME * 1e-3):
        return Agreement.EQUAL
    step = _last_digit(paper) if unit is None else unit
    if step is None:
        return Agreement.DIFFERS
    if abs(printed - ours) <= step / 2 * (1 + _SAME):
        return Agreement.ROUNDED
    if cut and math.trunc(ours / step + math.copysign(_SAME, ours)) == round(printed / step):
        return Agreement.ROUNDED
    return Agreement.DIFFERS


def _agrees(wanted: Any, ours: Any) -> bool:
    """Whether ours is the wanted value, to the digits with which that is written."""
    if isinstance(wanted, str) and _is_number(wanted) and hasattr(ours, "__float__"):
        return _agreement(wanted, float(ours), None, False) is not Agreement.DIFFERS
    return listed(wanted) == listed(ours)


def _is_number(text: str) -> bool:
    try:
        _exact(text)
    except (ValueError, ArithmeticError):
        return False
    return True


def _exact(text: str) -> float:
    """`text` as a number: "1183/1398", "2.4e6", "87 %"."""
    plain = text.replace(",", "").replace("%", "").strip()
    return float(Fraction(plain)) if "/" in plain else float(Decimal(plain))


def _last_digit(text: str) -> float | None:
    """The unit of the last digit printed; None for a fraction, which is exact."""
    if "/" in text:
        return None
    exponent = Decimal(text.replace(",", "").replace("%", "").strip()).as_tuple().exponent
    return 10.0 ** int(exponent)
