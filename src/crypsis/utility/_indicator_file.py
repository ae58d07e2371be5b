"""The indicators that a user names, and the file they are in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from crypsis.documents import Document
from crypsis.errors import ParameterError
from crypsis.files import read_toml

_COLUMNS = {"mean": (1, 1), "total": (1, 1), "quantile": (1, 1), "share": (1, 6), "regression": (2, 40)}


class Indicator(Document):
    """An estimate that must survive, and how much it may change."""

    name: Annotated[str, Field(min_length=1)]
    """The name in the result."""
    estimate: Literal["mean", "total", "share", "quantile", "regression"]
    """What is estimated; `share` is a table: the share of each combination of values."""
    columns: Annotated[tuple[str, ...], Field(min_length=1)]
    """One numeric column; of a share one or more categories; of a regression the outcome, then what
    explains it."""
    by: str | None = None
    """Estimate it in each group of this column, such as the stratum."""
    quantile: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Which quantile."""
    least_overlap: Annotated[float, Field(ge=0, le=1)] | None = None
    """The least overlap of the two confidence intervals."""
    largest_change: Annotated[float, Field(ge=0)] | None = None
    """The largest change of the estimate, relative to the original."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        least, most = _COLUMNS[self.estimate]
        if not least <= len(self.columns) <= most:
            raise ValueError(f"{self.estimate} needs {least} to {most} columns")
        if (self.estimate == "quantile") != (self.quantile is not None):
            raise ValueError("quantile is for the estimate 'quantile', which needs it")
        if self.least_overlap is None and self.largest_change is None:
            raise ValueError("set least_overlap, largest_change or both")
        return self


class Indicators(Document):
    """A file of indicators."""

    indicators: Annotated[tuple[Indicator, ...], Field(min_length=1)]
    """The indicators, at least one."""


def read_indicators(indicators: str | Path | Sequence[Indicator | dict[str, Any]]) -> tuple[Indicator, ...]:
    """The indicators of a TOML file, or those that were given."""
    if isinstance(indicators, str | Path):
        indicator_file = read_toml(Path(indicators), "indicators", Indicators.model_validate)
        return indicator_file.indicators
    try:
        return tuple(
            indicator if isinstance(indicator, Indicator) else Indicator.model_validate(indicator)
            for indicator in indicators
        )
    except ValidationError as error:
        text = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise ParameterError(f"An indicator is not valid: {text}.", parameter="indicators") from None
