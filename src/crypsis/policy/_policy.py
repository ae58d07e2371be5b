"""Policies: TOML files with thresholds on measures, each with its source and its reason."""

from __future__ import annotations

import math
import tomllib
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from crypsis.errors import ParameterError, SourceError
from crypsis.policy._measures import measure
from crypsis.results import Severity

PRESETS = (
    "default",
    "hipaa-safe-harbor",
    "hipaa-expert",
    "ema-0070",
    "cms-small-cells",
    "wp216",
    "strict-research",
)
"""The policies that come with crypsis, by name."""


class Threshold(BaseModel):
    """The most or the least that a measure may be."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
    measure: str
    """What is limited; one of the measures."""
    unit: str
    """The unit of the measure, so that 0.2 is never taken for 0.2 %."""
    at_most: float | None = None
    """The limit of a measure of risk."""
    at_least: float | None = None
    """The limit of a measure of protection."""
    crowd: Annotated[int, Field(ge=2)] | None = None
    """How many people make a crowd; needed by `singling_out.share_in_small_crowds` alone."""
    required: bool = True
    """Whether the release cannot be called safe where this could not be measured."""
    severity: Severity = Severity.HIGH
    """How bad it is to be outside: critical, high or moderate."""
    why: Annotated[str, Field(min_length=1)]
    """The reason, shown with every finding."""
    source: str = ""
    """Where it comes from; that of the policy where it is empty."""

    @model_validator(mode="after")
    def _known(self) -> Threshold:
        try:
            known = measure(self.measure)
        except ParameterError as error:
            raise ValueError(str(error)) from None
        if self.unit != known.unit:
            raise ValueError(f"{self.measure} is measured in {known.unit!r}, not in {self.unit!r}")
        given = [way for way in ("at_most", "at_least") if getattr(self, way) is not None]
        if given != [known.limit]:
            raise ValueError(f"{self.measure} has a threshold {known.limit}, and only that")
        if (known.parameter == "crowd") != (self.crowd is not None):
            raise ValueError(f"{self.measure} has {'a' if known.parameter else 'no'} crowd")
        limit = self.limit
        if not math.isfinite(limit):  # every number would be within a limit that is none
            raise ValueError(f"the threshold of {self.measure} is a number")
        if limit < 0 or (known.unit == "fraction" and limit > 1):
            raise ValueError(f"{limit:g} is out of the range of {self.measure} ({known.unit})")
        return self

    @property
    def limit(self) -> float:
        """The number."""
        return float(self.at_most if self.at_most is not None else self.at_least or 0.0)

    @property
    def comparison(self) -> Literal["at most", "at least"]:
        """Which way it limits."""
        return "at most" if self.at_most is not None else "at least"


class Policy(BaseModel):
    """A set of thresholds with where they come from."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    """Small letters, digits and hyphens."""
    title: str
    """What people call it."""
    jurisdiction: str
    """Where it holds."""
    source: str
    """The law, guidance or decision it comes from."""
    date: date
    """Of the source, or of the decision."""
    summary: str
    """What it asks, in a sentence or two."""
    small_zip3: tuple[Annotated[str, Field(pattern=r"^\d{3}$")], ...] = ()
    """Three-digit postal codes whose area has 20,000 people or fewer."""
    small_zip3_source: str = ""
    """Where these codes were counted, and when."""
    thresholds: Annotated[tuple[Threshold, ...], Field(min_length=1)]
    """The limits, at least one."""

    @model_validator(mode="after")
    def _once(self) -> Policy:
        keys = [(one.measure, one.crowd) for one in self.thresholds]
        if len(set(keys)) < len(keys):
            raise ValueError("a measure has two thresholds; give each only once")
        if self.small_zip3 and not self.small_zip3_source:
            raise ValueError("small_zip3 needs small_zip3_source: a dated source")
        return self

    def of(self, question: str) -> tuple[Threshold, ...]:
        """The thresholds that belong to a question."""
        return tuple(one for one in self.thresholds if one.measure.split(".")[0] == question)


def load_policy(given: str | Path | Policy) -> Policy:
    """A policy by the name of a preset, or from a TOML file.

    >>> load_policy("default").thresholds[0].measure
    'columns.identifiers'
    """
    if isinstance(given, Policy):
        return given
    if str(given) in PRESETS:
        resource = files("crypsis.policy") / "presets" / f"{given}.toml"
        return _checked(tomllib.loads(resource.read_text(encoding="utf-8")), str(given))
    path = Path(given)
    if path.suffix.lower() != ".toml":
        raise ParameterError(
            f"There is no policy {str(given)!r}. Name a preset ({', '.join(PRESETS)}) or a .toml "
            "file; `crypsis policy show default` prints one to begin with."
        )
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SourceError(f"{path.name!r} cannot be read ({error.strerror}).") from None
    except RecursionError:
        raise SourceError(f"{path.name!r} is nested too deeply to be a policy.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SourceError(f"{path.name!r} is not TOML: {error}.") from None
    return _checked(document, path.name)


def preset_text(name: str) -> str:
    """The TOML of a preset as it is kept."""
    if name not in PRESETS:
        raise ParameterError(f"There is no preset {name!r}; they are: {', '.join(PRESETS)}.")
    return (files("crypsis.policy") / "presets" / f"{name}.toml").read_text(encoding="utf-8")


def _checked(document: dict[str, Any], name: str) -> Policy:
    try:
        return Policy.model_validate(document)
    except ValidationError as error:
        told = [
            f"{'.'.join(map(str, one['loc'])) or 'the file'}: "
            f"{one['msg'].removeprefix('Value error, ')}"
            for one in error.errors(include_input=False, include_url=False)
        ]
        raise SourceError(f"{name!r} is no policy. {'; '.join(told)}.") from None
