"""Masks by name, and a release that is masked first and then told less exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from crypsis.anonymize import _masks as m
from crypsis.anonymize._anonymized import Anonymized
from crypsis.anonymize._key import Key
from crypsis.anonymize._mask import mask
from crypsis.errors import ParameterError
from crypsis.release import Release, Role

MASKS: dict[str, tuple[type[m.Masking], str | None]] = {
    "noise": (m.Noise, "scale"),
    "rank-swap": (m.RankSwap, "percent"),
    "shuffle": (m.Shuffle, None),
    "microaggregate": (m.Microaggregate, "k"),
    "mdav": (m.Mdav, "k"),
    "suppress-rare": (m.SuppressRare, "k"),
    "pram": (m.Pram, "stay"),
    "round": (m.Round, "base"),
    "top": (m.TopCode, "limit"),
    "bottom": (m.BottomCode, "limit"),
    "pseudonym": (m.Pseudonym, None),
}
"""The masks that commands and forms know, each with the one amount that it takes."""


def named_mask(name: str, amount: Any = None) -> m.Masking:
    """The mask of that name with its amount, a number or the text of one.

    >>> named_mask("rank-swap", "5").percent
    5.0
    """
    if name not in MASKS:
        raise ParameterError(f"There is no such mask; they are {', '.join(MASKS)}.")
    maker, option = MASKS[name]
    try:
        return maker(**({} if option is None else {option: amount}))
    except ValidationError:
        raise ParameterError(f"The mask {name} needs an amount in its range.") from None


def masked_first(
    release: Release, masks: Mapping[str | tuple[str, ...], m.Masking]
) -> Anonymized | None:
    """The masked columns, None for no masks; pseudonyms are no identifiers any more, and stay."""
    if not masks:
        return None
    made = mask(release, masks)
    hidden = {
        name
        for target, method in masks.items()
        if isinstance(method, m.Pseudonym)
        for name in ((target,) if isinstance(target, str) else target)
    }
    roles = {n: Role.OTHER if n in hidden else role for n, role in made.release.roles.items()}
    return replace(made, release=made.release.with_roles(roles))


def together(release: Release, masked: Anonymized | None, made: Anonymized) -> Anonymized:
    """What was made of a masked release, as made of the release itself: one key, all methods."""
    if masked is None:
        return made
    key = Key(masked.key.seed, made.key.row_map, masked.key.pseudonyms)
    return replace(made, methods=masked.methods + made.methods, key=key, original=release)
