"""The masks: perturbative methods and their parameters (domingo2016)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from crypsis.columns.safe_harbor import SMALL_AREAS_2000
from crypsis.dataset import as_columns
from crypsis.errors import ParameterError

_SUM_TOLERANCE = 1e-6
"""By so much the probabilities of a row of a matrix, as they are written, may differ from 1 together."""


def _strata(within: tuple[str, ...]) -> str:
    return f", within each {' and '.join(within)}" if within else ""


class _Mask(BaseModel, ABC):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @abstractmethod
    def describe(self) -> str:
        """A few words for the statement."""


class Noise(_Mask):
    """Noise addition: normal noise of `scale` standard deviations."""

    method: Literal["noise addition"] = "noise addition"
    scale: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """The standard deviation of the noise, in standard deviations of the column."""
    correlated: bool = False
    """Whether the noise has the correlations of the columns."""

    def describe(self) -> str:
        kind = "correlated like the columns" if self.correlated else "independent"
        return f"normal noise of {self.scale:g} standard deviations, {kind}"


class RankSwap(_Mask):
    """Rank swapping: values are swapped with others of near rank."""

    method: Literal["rank swapping"] = "rank swapping"
    percent: Annotated[float, Field(gt=0, le=100)]
    """The largest distance in rank, in per cent of the records."""

    def describe(self) -> str:
        return f"values swapped within {self.percent:g} % of the ranks"


class Shuffle(_Mask):
    """Data shuffling: the values in another order that keeps rank correlations."""

    method: Literal["data shuffling"] = "data shuffling"
    given: tuple[str, ...] = ()
    """Columns that stay, with which the rank correlations are kept too."""

    def describe(self) -> str:
        condition = f", given {', '.join(self.given)}" if self.given else ""
        return f"values in another order that keeps rank correlations{condition}"


def _means(exact: bool) -> str:
    return "exact means" if exact else "rounded means"


class Microaggregate(_Mask):
    """Microaggregation column by column: the rounded means of optimal groups of at least k values."""

    method: Literal["microaggregation"] = "microaggregation"
    k: Annotated[int, Field(ge=1)]
    """The smallest group."""
    within: tuple[str, ...] = ()
    """Columns of strata: groups have records of one stratum only."""
    exact: bool = False
    """Whether the means are exact, as other programs publish them. By default they are rounded, so that
    whoever knows all values of a group but one does not know the last."""

    def describe(self) -> str:
        means = f"{_means(self.exact)} of groups of at least {self.k}"
        return f"values replaced by the {means}{_strata(self.within)}"


class Mdav(_Mask):
    """Microaggregation of several columns together (MDAV): groups of k to 2k - 1 near records."""

    method: Literal["MDAV microaggregation"] = "MDAV microaggregation"
    k: Annotated[int, Field(ge=1)]
    """The smallest group."""
    within: tuple[str, ...] = ()
    """Columns of strata: groups have records of one stratum only."""
    exact: bool = False
    """Whether the means are exact, as other programs publish them. By default they are rounded, so that
    whoever knows all values of a group but one does not know the last."""

    def describe(self) -> str:
        groups = f"groups of at least {self.k} near records (MDAV)"
        return f"records replaced by the {_means(self.exact)} of {groups}{_strata(self.within)}"


class Round(_Mask):
    """Rounding to the nearest multiple of `base`."""

    method: Literal["rounding"] = "rounding"
    base: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """The number whose multiples remain."""

    def describe(self) -> str:
        return f"rounded to multiples of {self.base:g}"


class TopCode(_Mask):
    """Top coding: numbers above `limit` become `limit`."""

    method: Literal["top coding"] = "top coding"
    limit: Annotated[float, Field(allow_inf_nan=False)]
    """The largest number that remains."""

    def describe(self) -> str:
        return f"top coded at {self.limit:g}"


class BottomCode(_Mask):
    """Bottom coding: numbers below `limit` become `limit`."""

    method: Literal["bottom coding"] = "bottom coding"
    limit: Annotated[float, Field(allow_inf_nan=False)]
    """The smallest number that remains."""

    def describe(self) -> str:
        return f"bottom coded at {self.limit:g}"


class Pram(_Mask):
    """PRAM: categories are kept with probability `stay`, otherwise drawn by their frequencies."""

    method: Literal["PRAM"] = "PRAM"
    stay: Annotated[float, Field(ge=0, le=1)]
    """The probability that a category is kept."""

    def describe(self) -> str:
        return f"kept with probability {self.stay:g}, otherwise drawn by the frequencies"


class PramMatrix(_Mask):
    """PRAM with a matrix of one's own: what each category becomes, with which probability."""

    method: Literal["PRAM with a matrix"] = "PRAM with a matrix"
    matrix: dict[str, dict[str, Annotated[float, Field(ge=0, le=1)]]]
    """For each category the categories that it becomes, with probabilities that sum to 1. A category
    that is not in it is kept."""
    invariant: bool = False
    """Whether the invariant form of the matrix is used, which keeps the expected frequencies."""

    @model_validator(mode="after")
    def _sums(self) -> PramMatrix:
        if not self.matrix:
            raise ValueError("the matrix has no row")
        if any(abs(sum(row.values()) - 1) > _SUM_TOLERANCE for row in self.matrix.values()):
            raise ValueError("the probabilities of each row must sum to 1")
        return self

    def describe(self) -> str:
        kept = [row.get(category, 0.0) for category, row in self.matrix.items()]
        form = "the invariant form of a matrix" if self.invariant else "a matrix"
        return (
            f"{len(kept)} categories changed by {form} of probabilities (kept with {min(kept):g} "
            f"to {max(kept):g})"
        )


class SuppressRare(_Mask):
    """Suppression of values with fewer than `k` records."""

    method: Literal["suppression of rare values"] = "suppression of rare values"
    k: Annotated[int, Field(ge=1)]
    """The smallest number of records of a value that remains."""

    def describe(self) -> str:
        return f"values with fewer than {self.k} records suppressed"


class LocalSuppression(_Mask):
    """Local suppression of several columns together: values removed until k records are alike."""

    method: Literal["local suppression"] = "local suppression"
    k: Annotated[int, Field(ge=1)]
    """The smallest class."""
    importance: tuple[str, ...] = ()
    """The most important columns, the first most of all: they are suppressed last. By default as few
    values as possible are suppressed."""
    missing: Literal["value", "wildcard"] | None = None
    """How missing values count: `value`, two of them are alike, and unlike every value; `wildcard`,
    each matches every value, as in sdcMicro, which suppresses fewer values and protects less. By
    default as the data says."""
    ghosts: dict[str, tuple[str, ...]] = {}
    """Ghost variables: for a column those in which the same records lose their values, because these
    would give back what was suppressed."""

    def describe(self) -> str:
        last = f", {', '.join(self.importance)} last" if self.importance else ""
        relation = "are alike"
        if self.missing == "wildcard":
            relation = "match (a missing value matches every value)"
        too = "".join(f"; with {name} also {', '.join(more)}" for name, more in self.ghosts.items())
        return f"values suppressed until at least {self.k} records {relation}{last}{too}"

    def __hash__(self) -> int:
        return hash((self.k, self.importance, self.missing, tuple(self.ghosts)))


class Pseudonym(_Mask):
    """Pseudonymization: equal pseudonyms for equal values, reversible with the key only."""

    method: Literal["pseudonymization"] = "pseudonymization"

    def describe(self) -> str:
        return "replaced by keyed pseudonyms, equal for equal values"


class ShiftDates(_Mask):
    """Dates shifted by up to so many days, by the same number for all records of a person."""

    method: Literal["date shift"] = "date shift"
    days: Annotated[int, Field(ge=1, le=36_500)]
    """The largest shift, in days, forward or back."""
    person: str = ""
    """The column that identifies the person; by default that of the dataset."""

    def describe(self) -> str:
        return (
            f"shifted by up to {self.days:,} days forward or back, by the same number for all "
            "records of a person"
        )


class YearOfDate(_Mask):
    """Dates recoded to their year; years of birth of 90 and more years ago become one year."""

    method: Literal["recoding to the year"] = "recoding to the year"

    def describe(self) -> str:
        return "dates recoded to the year; years of birth bottom coded at the age of 90"


class PostalArea(_Mask):
    """Postal codes recoded to three digits; those of small areas become 000."""

    method: Literal["recoding to postal areas"] = "recoding to postal areas"
    small: tuple[Annotated[str, Field(pattern=r"^\d{3}$")], ...] = SMALL_AREAS_2000
    """The areas of 20,000 people or fewer."""

    def describe(self) -> str:
        return "postal codes recoded to three digits, 000 for small areas"


class TopAge(_Mask):
    """Ages above 89 recoded to one category: the number 90, or the text 90+."""

    method: Literal["top coding of ages"] = "top coding of ages"

    def describe(self) -> str:
        return "ages above 89 recoded to 90 and older"


Mask = (
    Noise
    | RankSwap
    | Shuffle
    | Microaggregate
    | Mdav
    | Round
    | TopCode
    | BottomCode
    | Pram
    | PramMatrix
    | SuppressRare
    | LocalSuppression
    | Pseudonym
    | ShiftDates
    | YearOfDate
    | PostalArea
    | TopAge
)
"""Any of the masks."""

MASKS: dict[str, tuple[type[Mask], str | None]] = {
    "noise": (Noise, "scale"),
    "rank-swap": (RankSwap, "percent"),
    "shuffle": (Shuffle, None),
    "microaggregate": (Microaggregate, "k"),
    "mdav": (Mdav, "k"),
    "suppress-rare": (SuppressRare, "k"),
    "local-suppression": (LocalSuppression, "k"),
    "pram": (Pram, "stay"),
    "round": (Round, "base"),
    "top": (TopCode, "limit"),
    "bottom": (BottomCode, "limit"),
    "pseudonym": (Pseudonym, None),
    "shift": (ShiftDates, "days"),
    "year": (YearOfDate, None),
    "zip3": (PostalArea, None),
    "age": (TopAge, None),
}
"""The masks by name, each with its one parameter."""
_JOINT = (Shuffle, Mdav, LocalSuppression)


def parse_mask(text: str) -> Mask:
    """The mask written as a name and its parameter.

    Parameters
    ----------
    text : str
        A name in `MASKS`; after a colon its parameter.

    Returns
    -------
    Mask

    Examples
    --------
    >>> parse_mask("rank-swap:5")
    RankSwap(method='rank swapping', percent=5.0)
    """
    name, _, parameter = text.partition(":")
    if name not in MASKS:
        raise ParameterError(f"{name!r} is not a mask. The masks are: {', '.join(MASKS)}.")
    kind, option = MASKS[name]
    fields: dict[str, Any] = {} if option is None else {option: parameter}
    try:
        return kind(**fields)
    except ValidationError:
        raise ParameterError(
            f"Mask {name!r} needs a number in its range after a colon, such as noise:0.5.",
            code="mask-parameter",
            parameter="methods",
        ) from None


def as_masks(masks: Mapping[Any, str | Mask]) -> dict[tuple[str, ...], Mask]:
    """The mask of each set of columns; a mask may be written as a name and its parameter."""
    return {
        as_columns(target): parse_mask(mask) if isinstance(mask, str) else mask
        for target, mask in masks.items()
    }


def split_methods(methods: Mapping[Any, str | Mask]) -> tuple[dict[str, str], dict[tuple[str, ...], Mask]]:
    """Recoding methods and masks; columns with the same joint mask are masked together."""
    recoding: dict[str, str] = {}
    masks: dict[tuple[str, ...], Mask] = {}
    joint: dict[Mask, list[str]] = {}
    for target, method in methods.items():
        if isinstance(method, str) and method.partition(":")[0] not in MASKS:
            recoding[target] = method
            continue
        mask = parse_mask(method) if isinstance(method, str) else method
        if isinstance(method, str) and isinstance(mask, _JOINT):
            joint.setdefault(mask, []).append(target)
        else:
            masks[(target,) if isinstance(target, str) else tuple(target)] = mask
    masks.update({tuple(names): mask for mask, names in joint.items()})
    return recoding, masks
