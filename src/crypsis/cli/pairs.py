"""Options that say something of a column, written COLUMN=..., and options that are pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_TOGETHER = ("shuffle", "mdav")


def _pairs(flag: str, given: Sequence[str] | None) -> dict[str, str]:
    from crypsis.errors import ParameterError

    pairs = {}
    for pair in given or ():
        name, equals, value = pair.rpartition("=")
        if not equals or not name:
            raise ParameterError(f"{flag} is written COLUMN=..., not {pair!r}.")
        pairs[name] = value
    return pairs


def numbers(flag: str, given: Sequence[str] | None) -> dict[str, float]:
    """Columns with a number each."""
    from crypsis.errors import ParameterError

    pairs = _pairs(flag, given)
    try:
        return {name: float(value) for name, value in pairs.items()}
    except ValueError:
        raise ParameterError(f"{flag} needs a number after the equals sign.") from None


def pair(given: str | None) -> tuple[float, int] | None:
    """C and l, written c,l."""
    from crypsis.errors import ParameterError

    if given is None:
        return None
    try:
        factor, least = given.split(",")
        return float(factor), int(least)
    except ValueError:
        raise ParameterError(
            "--recursive-diversity is a number and a whole number, for example 3,2."
        ) from None


def hierarchies(given: Sequence[str] | None) -> dict[str, Any]:
    """Columns with the hierarchy in a file each."""
    from crypsis.anonymize import Hierarchy

    return {name: Hierarchy.read(path) for name, path in _pairs("--hierarchy", given).items()}


def split_methods(given: Sequence[str]) -> tuple[dict[str, str], dict[str | tuple[str, ...], Any]]:
    """What tells a column less exactly, and what masks it."""
    from crypsis.anonymize import MASKS, named_mask
    from crypsis.errors import ParameterError

    told: dict[str, str] = {}
    masks: dict[str | tuple[str, ...], Any] = {}
    joined: dict[Any, list[str]] = {}
    for name, text in _pairs("--method", given).items():
        word, _, number = text.partition(":")
        if word not in MASKS:
            told[name] = text
            continue
        try:
            one = named_mask(word, number)
        except ParameterError:
            raise ParameterError(
                f"--method {word} needs a number in its range after a colon, for example noise:0.5."
            ) from None
        if word in _TOGETHER:  # these look at columns together: all that ask for the same one
            joined.setdefault(one, []).append(name)
        else:
            masks[name] = one
    masks.update({tuple(names): one for one, names in joined.items()})
    return told, masks
