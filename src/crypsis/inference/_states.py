"""The states of a sensitive attribute: what an intruder may learn of a person.

Single values; groups of a hierarchy, so that similar values count as one; texts without the numbers
in them ("flu since 1990"); codes that begin alike; the parts of values that are lists; "not zero",
"not the value that most people have" and "not harmless", which classes of different values may share;
a number where others have a word, one below zero where others are above, one of the lowest or the
highest tenth; and "missing", which is a state of its own and no diversity, against "known".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.array_types import Flags, Floats, Ints
from crypsis.counting.arrays import sums_of
from crypsis.errors import ParameterError
from crypsis.hierarchies import Hierarchy
from crypsis.hierarchies.labels import as_text
from crypsis.inference._intervals import far_numbers
from crypsis.inference._parts import listed_parts
from crypsis.inference._variants import alike, code_prefixes
from crypsis.inference.conditional import Joint
from crypsis.inference.text_numbers import ReadNumbers

_FEW_BELOW = 0.25
"""Where more numbers are below zero, a difference or a score is, and its sign is as good as any interval."""
RARE_SHARE = 0.5
"""A value that at most half of the people have is rare: near-certainty of it is disclosure."""
_ABSENT = frozenset(
    [
        "0",
        "no",
        "none",
        "n",
        "false",
        "f",
        "negative",
        "neg",
        "absent",
        "healthy",
        "never",
        "normal",
        "nil",
        "-",
        "nein",
        "non",
        "nee",
        "nie",
        "não",
        "nao",
        "aucun",
        "keine",
    ]
)


THIS_TABLE = "this table"
"""The source of priors where none are given."""
COMPLEMENTS = ("not zero", "not the most frequent", "not harmless", "below zero", "low", "high")
"""The levels of one state that all values outside a set have."""


@dataclass(frozen=True, eq=False)
class States:
    """The values of an attribute mapped to states, on one level."""

    level: str
    """"value", "group", "words", "codes", "part", "kind", "known", or one of `COMPLEMENTS`."""
    of_value: Ints
    """The state of each value."""
    prior: Floats
    """The share of each state: in the population where it is known, else in this table."""
    harmless: Flags
    """The states that may become known, or that another level counts."""
    declared: Flags
    """The states that were declared sensitive, because others were declared harmless."""
    missing: int
    """The state "missing"; -1 if no value is."""

    @property
    def of_all(self) -> Flags:
        """The states that are shares of all members of a class, not of those with a known value."""
        values = np.arange(self.prior.size)
        return np.asarray((values == self.missing) | (self.level == "known"), bool)

    @property
    def rare(self) -> Flags:
        """The states of which near-certainty is disclosure."""
        return ~self.harmless & ((self.prior <= RARE_SHARE) | self.declared)


@dataclass(frozen=True, eq=False)
class Prior:
    """The share of each value of an attribute, and where it is from."""

    shares: Floats
    source: str
    """"this table", "the population" or "the rates given"."""


def value_prior(
    table: Joint, declared: Mapping[Any, float] | None, population: tuple[pa.Array, Ints] | None
) -> Prior:
    """The share of each value: by the rates given, in the population, or in this table.

    Values without a rate share what the rates leave, in proportion to their share in this table.
    """
    counted_shares = np.asarray(table.prior, np.float64)
    texts = [None if value is None else as_text(value) for value in table.values.to_pylist()]
    if declared:
        rates = {as_text(value): float(rate) for value, rate in declared.items()}
        total = sum(rates.values())
        if any(not 0 <= rate <= 1 for rate in rates.values()) or total > 1 + 1e-9:
            raise ParameterError(
                "Priors must be from 0 to 1, and those of a column at most 1 together.", parameter="priors"
            )
        has_rate = np.array([text in rates for text in texts], bool)
        left = counted_shares[~has_rate].sum()
        shares = np.where(has_rate, 0.0, counted_shares * max(0.0, 1 - total) / left if left else 0.0)
        shares[has_rate] = [rates[text] for text in texts if text in rates]
        return Prior(shares, "the rates given")
    if population is not None:
        values, counts = population
        theirs = dict(zip(map(_text_or_none, values.to_pylist()), counts, strict=True))
        people = max(1, int(counts.sum()))
        return Prior(np.array([theirs.get(text, 0) / people for text in texts]), "the population")
    return Prior(counted_shares, THIS_TABLE)


def _text_or_none(value: Any) -> str | None:
    return None if value is None else as_text(value)


def attribute_states(
    table: Joint,
    read: ReadNumbers,
    prior: Prior,
    harmless: Sequence[Any],
    hierarchy: Hierarchy | None,
    name: str,
) -> list[States]:
    """All levels of states of an attribute, the single values first."""
    values = table.values.to_pylist()
    missing = len(values) - 1 if values and values[-1] is None else -1
    is_value = np.arange(len(values)) != missing
    fine = {as_text(value) for value in harmless}
    harmless_value = np.array([v is not None and as_text(v) in fine for v in values], bool)
    declared = np.full(len(values), bool(fine)) & is_value
    states = [States("value", np.arange(len(values)), prior.shares, harmless_value, declared, missing)]
    if hierarchy is not None:
        nodes = hierarchy.nodes(values, name)
        for node in nodes[1:-1]:
            states += _level("group", np.asarray(node, np.int64), states[0])
    texts = alike(values)
    words = [_without_numbers(key) if isinstance(key, str) else key for key in texts]
    codes = [("codes", keys) for keys in ([] if read.mostly else code_prefixes(texts))]
    for level, keys in (("group", texts), ("words", words), *codes):
        merged = _merged(keys)
        if merged is not None:
            states += _level(level, merged, states[0])
    states += _kinds(read, states[0])
    if missing >= 0:
        states += _complement("known", ~is_value, -1, states[0])
    if not read.mostly:
        plain = {text.casefold() for text in fine}
        for part, inside in listed_parts(table):
            states += _complement("part", ~inside & is_value, missing, states[0], part in plain)
    zero = np.asarray(read.numbers == 0) & read.mostly
    sets = {"not zero": zero, "not harmless": harmless_value}
    below = np.asarray(read.numbers < 0) & read.mostly & (not read.dates)
    if 0 < prior.shares[below].sum() <= _FEW_BELOW:
        sets["below zero"] = is_value & ~below
    if read.mostly and not read.dates:
        low, high = _far(read.numbers, np.asarray(table.totals))
        sets |= {"low": is_value & ~low, "high": is_value & ~high}
    if prior.shares[is_value].max(initial=0.0) >= RARE_SHARE:
        top = np.argmax(np.where(is_value, prior.shares, -1.0))
        sets["not the most frequent"] = np.arange(len(values)) == top
    seen: set[bytes] = set()
    for level, inside in sets.items():
        rest = is_value & ~inside
        if inside.any() and rest.sum() > 1 and inside.tobytes() not in seen:
            seen.add(inside.tobytes())
            states += _complement(level, inside, missing, states[0])
    if table.people is not None and prior.source == THIS_TABLE:  # who has several counts once
        states = [
            replace(mapped, prior=table.prior_having(mapped.of_value, mapped.prior.size)) for mapped in states
        ]
    return states


def _far(numbers: Floats, totals: Ints | Floats) -> tuple[Flags, Flags]:
    """Which values are among the lowest tenth of the numbers, and which among the highest."""
    is_number = ~np.isnan(numbers)
    distinct, number_index = np.unique(numbers[is_number], return_inverse=True)
    first, last = far_numbers(sums_of(number_index, totals[is_number], distinct.size))
    at = np.where(is_number, np.searchsorted(distinct, numbers), -1)
    return is_number & (at < first), at >= last


def _merged(keys: Sequence[Any]) -> Ints | None:
    """One state for the values with one key; None if no two have it."""
    numbers: dict[Any, int] = {}
    states = [numbers.setdefault(key, len(numbers)) for key in keys]
    return np.array(states, np.int64) if len(numbers) < len(keys) else None


def _without_numbers(plain: str) -> str:
    """Equal for texts that differ in their numbers alone: "flu, 1990" and "1991: flu"."""
    return "".join(character for character in plain if not character.isdigit()) or plain


def _kinds(read: ReadNumbers, single: States) -> list[States]:
    """Numbers, bounds ("<20") and words as states, where the values are of several kinds."""
    kinds = np.unique(read.kinds[read.kinds >= 0])
    if kinds.size < 2:
        return []
    order = np.append(kinds, -1) if single.missing >= 0 else kinds
    state = np.argmax(read.kinds[:, None] == order, axis=1)
    return _level("kind", state.astype(np.int64), single)


def _complement(level: str, inside: Flags, missing: int, single: States, fine: bool = False) -> list[States]:
    """Inside or not; what is inside is counted with the single values."""
    state = np.where(inside, 0, 1)
    if missing >= 0:
        state[missing] = 2
    merged = _level(level, state, single)[0]
    harmless = merged.harmless.copy()
    harmless[[0, *([2] if missing >= 0 else [])]] = True
    if level == "part":  # a harmless list has harmless parts; the part itself is asked about
        harmless[1] = fine
    unknown = -1 if missing < 0 else merged.missing
    return [States(level, merged.of_value, merged.prior, harmless, merged.declared, unknown)]


def _level(level: str, state: Ints, single: States) -> list[States]:
    """States of several values: harmless if one of the values is, declared if all others are."""
    count = int(state.max()) + 1
    prior = np.bincount(state, single.prior, minlength=count)
    harmless = np.bincount(state, single.harmless, minlength=count) > 0
    declared = np.bincount(state, ~single.declared, minlength=count) == 0
    missing = -1 if single.missing < 0 else int(state[single.missing])
    if missing >= 0:  # counted with the single values
        harmless = harmless | (np.arange(count) == missing)
    return [States(level, state, np.asarray(prior, np.float64), harmless, declared, missing)]


def reads_as_absent(value: Any) -> bool:
    """Whether a value reads as "does not have it": no, none, negative, 0."""
    return value is False or as_text(value).strip().lower() in _ABSENT if value is not None else False
