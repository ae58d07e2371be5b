"""The masks: what each does and its parameters (domingo2016 reasons about such methods)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Mask(BaseModel, ABC):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @abstractmethod
    def describe(self) -> str:
        """In a few words, for the statement."""


class Noise(_Mask):
    """Normal noise of `scale` standard deviations, alike in all columns if `correlated`."""

    method: Literal["noise"] = "noise"
    scale: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    correlated: bool = False

    def describe(self) -> str:
        kind = "correlated as the columns are" if self.correlated else "independent of all else"
        return f"normal noise of {self.scale:g} standard deviations added, {kind}"


class RankSwap(_Mask):
    """Values swapped with others at most `percent` of the rows away in rank."""

    method: Literal["rank swapping"] = "rank swapping"
    percent: Annotated[float, Field(gt=0, le=100)]

    def describe(self) -> str:
        return f"values swapped with others at most {self.percent:g} % of the rows away in rank"


class Shuffle(_Mask):
    """Values in another order that keeps how columns go together, also with those in `given`."""

    method: Literal["shuffling"] = "shuffling"
    given: tuple[str, ...] = ()

    def describe(self) -> str:
        beside = f", given {', '.join(self.given)}" if self.given else ""
        return f"the same values in another order that keeps rank correlations{beside}"


class Microaggregate(_Mask):
    """Each column's values by the means of optimal groups of at least k."""

    method: Literal["microaggregation"] = "microaggregation"
    k: Annotated[int, Field(ge=1)]

    def describe(self) -> str:
        return f"values replaced by the means of groups of at least {self.k} neighbours"


class Mdav(_Mask):
    """Records by the means of groups of k to 2k - 1 near records, over all columns together."""

    method: Literal["mdav"] = "mdav"
    k: Annotated[int, Field(ge=1)]

    def describe(self) -> str:
        return f"records replaced by the means of groups of at least {self.k} near ones (MDAV)"


class Round(_Mask):
    """Numbers to the nearest multiple of `base`."""

    method: Literal["rounding"] = "rounding"
    base: Annotated[float, Field(gt=0, allow_inf_nan=False)]

    def describe(self) -> str:
        return f"rounded to multiples of {self.base:g}"


class TopCode(_Mask):
    """Numbers above `limit` become `limit`."""

    method: Literal["top coding"] = "top coding"
    limit: Annotated[float, Field(allow_inf_nan=False)]

    def describe(self) -> str:
        return f"{self.limit:g} stands for that and more"


class BottomCode(_Mask):
    """Numbers below `limit` become `limit`."""

    method: Literal["bottom coding"] = "bottom coding"
    limit: Annotated[float, Field(allow_inf_nan=False)]

    def describe(self) -> str:
        return f"{self.limit:g} stands for that and less"


class Pram(_Mask):
    """Categories kept with probability `stay`, otherwise drawn anew from how often each occurs."""

    method: Literal["pram"] = "pram"
    stay: Annotated[float, Field(ge=0, le=1)]

    def describe(self) -> str:
        return (
            f"kept with probability {self.stay:g}, otherwise drawn from how often each value occurs"
        )


class SuppressRare(_Mask):
    """Values that fewer than `k` rows have become missing."""

    method: Literal["suppression"] = "suppression"
    k: Annotated[int, Field(ge=1)]

    def describe(self) -> str:
        return f"values that fewer than {self.k} rows have are left empty"


class Pseudonym(_Mask):
    """Keyed pseudonyms: equal for equal values, reversible with the owner's key only."""

    method: Literal["pseudonyms"] = "pseudonyms"

    def describe(self) -> str:
        return "replaced by keyed pseudonyms, alike for alike values"


Masking = (
    Noise | RankSwap | Shuffle | Microaggregate | Mdav | Round | TopCode | BottomCode | Pram
    | SuppressRare | Pseudonym
)  # fmt: skip
"""Any of the masks."""
