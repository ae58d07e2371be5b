"""Decisions that are milder than strong evidence: a diagnosis that is called insensitive."""

from __future__ import annotations

import re

from crypsis.columns.roles._rules import Guess
from crypsis.columns.roles.names import read_name
from crypsis.options import Role
from crypsis.tables import Kind

_MIN_KNOWN_CONFIDENCE = 0.95
"""Ages, dates and years of birth, sexes and postal codes: known of everybody."""
_MIN_SENSITIVE_CONFIDENCE = 0.85
"""The evidence of a sensitive attribute is strong from this confidence on."""
# Special categories of personal data (GDPR, Articles 9 and 10), and income. Race and ethnic origin
# are not among them: others see them, so they are quasi-identifiers.
_CATEGORIES = re.compile(
    r"diagnos|(?<![a-z])diag(?![a-z])|(?<![a-z])dx(?![a-z])|(?<![a-z])icd|disease|illness|krankheit|"
    r"erkrankung|maladie|enfermedad|(?<![a-z])(hiv|aids|sti|std)(?![a-z])|hepatitis|psychiatr|"
    r"mental[ _-]?(health|disorder|illness)|addict|overdose|abortion|pregnan|schwanger|cancer|tumou?r|"
    r"genotype|mutation|sexual|orientation|religio|konfession|denomination|political|"
    r"(?<![a-z])party(?![a-z])|union[ _-]?member|convict|criminal|offen[cs]e|vorstrafe",
    re.IGNORECASE,
)
_ALWAYS = ("genetics", "belief or politics", "sexual life", "crime")
"""What a name in any language indicates that is always such a category; health is not: a blood
pressure, a treatment.
"""
_AMOUNTS = re.compile(
    r"salar|income|(?<![a-z])wages?(?![a-z])|earning|net[ _-]?worth|(?<![a-z])debts?(?![a-z])|gehalt|"
    r"einkommen|(?<![a-z])lohn|salaire|revenu(?!e)|ingreso|sueldo|remuneration",
    re.IGNORECASE,
)
_MIN_VALUES = 2
"""A column with one value has no categories."""
_MIN_AMOUNTS = 5
"""Fewer different numbers are not amounts of money."""
_NUMBERS = (Kind.INTEGER, Kind.NUMBER)


def stricter_role(guess: Guess, decided: Role | None, kind: Kind, distinct: float) -> Role | None:
    """The role that name and values indicate, where the decided one is milder; else None.

    Strong is the evidence of a quasi-identifier that is known of everybody (age, birth, sex, postal
    code) in an insensitive column, and that of a special category of personal data, or of income,
    in an insensitive column or a quasi-identifier.

    Parameters
    ----------
    guess : Guess
        What the name and the values indicate.
    decided : Role, optional
        The role decided; None if none is.
    kind : Kind
        The type of the column.
    distinct : float
        The number of different values.

    Returns
    -------
    Role or None

    Examples
    --------
    >>> found = Guess("diagnosis", Role.SENSITIVE, "The name indicates health.", 0.9)
    >>> stricter_role(found, Role.INSENSITIVE, Kind.TEXT, 4).value
    'sensitive'
    >>> stricter_role(found, Role.SENSITIVE, Kind.TEXT, 4) is None
    True
    """
    if decided is Role.INSENSITIVE and guess.role is Role.QUASI_IDENTIFIER:
        return guess.role if guess.confidence >= _MIN_KNOWN_CONFIDENCE else None
    if decided not in (Role.INSENSITIVE, Role.QUASI_IDENTIFIER):
        return None
    strong = guess.role is Role.SENSITIVE and guess.confidence >= _MIN_SENSITIVE_CONFIDENCE
    return guess.role if strong and _fits(guess.column, kind, distinct) else None


def _fits(name: str, kind: Kind, distinct: float) -> bool:
    """Whether the values are of the kind that the name indicates: categories, or amounts."""
    if _AMOUNTS.search(name):
        return distinct >= (_MIN_AMOUNTS if kind in _NUMBERS else _MIN_VALUES)
    if _CATEGORIES.search(name):
        return distinct >= _MIN_VALUES
    sign = read_name(name).sign
    special = sign is not None and (sign.noun in _ALWAYS or not name.isascii())
    return special and distinct >= _MIN_VALUES
