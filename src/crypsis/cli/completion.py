"""What a shell completes of values that are one of a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crypsis.options import FORMATS

Completion = Callable[[str], list[str]]


def one_of(*values: str) -> Completion:
    """The values that begin with what was typed.

    >>> one_of("value", "wildcard", "drop")("v")
    ['value']
    """

    def beginning(incomplete: str) -> list[str]:
        return _beginning(incomplete, values)

    return beginning


def policy_names(incomplete: str) -> list[str]:
    """The presets that begin with what was typed."""
    from crypsis.policies import PRESETS

    return _beginning(incomplete, PRESETS)


def _beginning(incomplete: str, values: Iterable[str]) -> list[str]:
    return [value for value in values if value.startswith(incomplete)]


OF_OPTIONS: dict[str, Completion] = {
    "decimal": one_of(".", ","),
    "format": one_of(*FORMATS),
    "engine": one_of("duckdb", "spark"),
    "missing": one_of("value", "wildcard", "drop"),
    "representative": one_of("interval", "median", "mean"),
}
"""Options that are declared in the models, by name."""
