"""What a release must meet: every requirement that is set is measured afterwards."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from crypsis.documents import Document
from crypsis.errors import ParameterError
from crypsis.options import PeopleOptions, PlanOptions, descriptions

_OF_VALUES = (
    "diversity",
    "entropy_diversity",
    "recursive_diversity",
    "closeness",
    "best_guess",
    "beta_likeness",
    "delta_disclosure",
)
Share = Annotated[float, Field(ge=0, le=1)]
_DESCRIPTIONS = {**descriptions(PlanOptions), **descriptions(PeopleOptions)}


def _described(option: str, default: Any = None) -> Any:
    """A field with the description of an option of `plan` or `anonymize`."""
    return Field(default, description=_DESCRIPTIONS[option])


class PrivacyRequirements(Document):
    """What a release must meet.

    The names, types and descriptions of the fields are those of the options of `plan`, of the
    command line and of the page.
    """

    k: Annotated[int, Field(ge=1, le=2**53)] | None = None
    """k-anonymity: the smallest equivalence class has at least k records, or people."""
    people: bool = False
    """Whether k counts people, who may have several records, instead of records."""
    diversity: Annotated[int, Field(ge=1)] | None = _described("diversity")
    entropy_diversity: Annotated[float, Field(ge=1)] | None = _described("entropy_diversity")
    recursive_diversity: tuple[Annotated[float, Field(gt=0)], Annotated[int, Field(ge=1)]] | None = (
        _described("recursive_diversity")
    )
    closeness: Share | None = _described("closeness")
    best_guess: Annotated[float, Field(gt=0, le=1)] | None = _described("best_guess")
    excess: Share | None = _described("excess")
    beta_likeness: Annotated[float, Field(gt=0)] | None = _described("beta_likeness")
    delta_disclosure: Annotated[float, Field(gt=0)] | None = _described("delta_disclosure")
    k_map: Annotated[int, Field(ge=1)] | None = _described("k_map")
    presence: Annotated[float, Field(gt=0, le=1)] | None = _described("presence")
    average_risk: Annotated[float, Field(gt=0, le=1)] | None = _described("average_risk")
    combinations: Annotated[int, Field(ge=1)] | None = _described("combinations")
    combination_k: Annotated[int, Field(ge=1)] | None = None
    """The smallest class of every combination of that many quasi-identifiers."""
    journalist_risk: Annotated[float, Field(gt=0, le=1)] | None = _described("journalist_risk")
    weighted: bool = False
    """Whether the journalist risk is counted by the weights, not in the table of the population."""
    unicity: Share | None = _described("unicity")
    events: Annotated[int, Field(ge=1, le=12)] | None = _described("events")
    inferred: Share | None = _described("inferred")
    links: str | None = _described("links")
    order: str | None = _described("order")
    max_records: Annotated[int, Field(ge=1)] | None = _described("max_records")
    each_column: Annotated[int, Field(ge=1)] | None = None
    """k-anonymity of each quasi-identifier alone: records with each of its values."""
    population: Annotated[int, Field(ge=1)] | None = None
    """The number of people the records were drawn from."""
    population_k: Annotated[int, Field(ge=1)] | None = None
    """The smallest class in the population (lodha2007, Theorem 4)."""
    beta: Annotated[float, Field(gt=0, lt=1)] | None = _described("beta")
    suppression: Share = _described("suppression", 0.05)

    @model_validator(mode="after")
    def _consistent(self) -> PrivacyRequirements:
        if self.each_column is not None and self.about_classes:
            raise ValueError(
                "each_column requires k of every column alone and forms no equivalence classes, so "
                "requirements on classes (release_k, diversity, closeness, excess, journalist_risk) "
                "do not apply"
            )
        if self.each_column is not None and self.people:
            raise ValueError(
                "each_column counts the records of every column alone, so it cannot be used where a "
                "person has several records (person)"
            )
        if (self.combinations is None) != (self.combination_k is None):
            raise ValueError("combinations and combination_k are set together")
        if self.combinations is not None and (self.about_classes or self.each_column is not None):
            raise ValueError(
                "combinations requires k of every combination of some quasi-identifiers, so "
                "requirements on the classes of all of them (release_k, diversity, closeness, "
                "excess, average_risk, k_map, each_column) do not apply"
            )
        against = (self.population, self.population_k, self.beta)
        if any(part is None for part in against) and any(part is not None for part in against):
            raise ValueError("population, population_k and beta are set together")
        return self

    @property
    def about_sensitive(self) -> bool:
        """Whether anything is required of sensitive attributes."""
        return self.about_values or self.excess is not None

    @property
    def about_values(self) -> bool:
        """Whether anything is required of the numbers of sensitive values in a class."""
        return bool(self.values_required)

    @property
    def values_required(self) -> frozenset[str]:
        """What is required of the numbers of sensitive values in a class."""
        return frozenset(name for name in _OF_VALUES if getattr(self, name) is not None)

    @property
    def about_population(self) -> bool:
        """Whether anything is required against the table of the population."""
        return self.k_map is not None or self.presence is not None

    @property
    def about_classes(self) -> bool:
        """Whether anything is required of the equivalence classes of the release."""
        beyond_k = self.about_sensitive or self.about_population or self.average_risk is not None
        return self.k is not None or self.journalist_risk is not None or beyond_k

    def without_sensitive(self) -> PrivacyRequirements:
        """The same without what is required of sensitive attributes."""
        return self.model_copy(update=dict.fromkeys((*_OF_VALUES, "excess")))

    @property
    def compared_later(self) -> dict[str, float]:
        """The limits of distances to all records of the release, which suppression changes."""
        names = ("closeness", "beta_likeness", "delta_disclosure")
        return {name: limit for name in names if (limit := getattr(self, name)) is not None}


def checked_requirements(**fields: Any) -> PrivacyRequirements:
    """The requirements with these fields; a value out of range is a `ParameterError`."""
    try:
        return PrivacyRequirements(**fields)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        reason = str(first["msg"]).removeprefix("Value error, ")
        name = ".".join(map(str, first["loc"][:1]))
        if not name:
            raise ParameterError(f"{reason[0].upper()}{reason[1:]}.") from None
        reason = reason.replace("Input should be", "it must be")
        raise ParameterError(
            f"Parameter {name!r} is {fields.get(name)!r}; {reason}.", parameter=name
        ) from None
