"""What a release promises: every part that is set is measured afterwards."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from crypsis.errors import ParameterError

Share = Annotated[float, Field(ge=0, le=1)]


class Promise(BaseModel):
    """What the release must meet; every part that is set is measured afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
    k: Annotated[int, Field(ge=1, le=2**53)] | None = None
    """Every row shares its quasi-identifiers with at least k - 1 others in the release."""
    diversity: Annotated[int, Field(ge=1)] | None = None
    """Every group has at least so many values of each sensitive column."""
    entropy_diversity: Annotated[float, Field(ge=1)] | None = None
    """The entropy of each sensitive column in every group is at least log2 of this."""
    recursive_diversity: (
        tuple[Annotated[float, Field(gt=0)], Annotated[int, Field(ge=1)]] | None
    ) = None
    """(c, l): in every group the commonest value has fewer rows than c times those of the l-th
    commonest and all rarer ones."""
    closeness: Share | None = None
    """No group's distribution of a sensitive column is further from that of all rows (t)."""
    best_guess: Annotated[float, Field(gt=0, le=1)] | None = None
    """No sensitive value has a larger share of a group."""
    each_column: Annotated[int, Field(ge=1)] | None = None
    """Every value of each column alone is shared by that many rows."""
    population: Annotated[int, Field(ge=1)] | None = None
    """The people the rows were drawn from."""
    population_k: Annotated[int, Field(ge=1)] | None = None
    """The crowd of each cell in the population (lodha2007, Theorem 4)."""
    beta: Annotated[float, Field(gt=0, lt=1)] | None = None
    """The chance, for each cell, that its crowd in the population is smaller."""
    suppression: Share = 0.05
    """The share of rows that may be left out or have a cell emptied to keep the promise."""

    @model_validator(mode="after")
    def _fits(self) -> Promise:
        if self.each_column is not None and (self.k is not None or self.about_secrets):
            raise ValueError(
                "each_column asks k of every column alone and makes no groups of rows, so nothing "
                "else of groups (release_k, diversity, closeness, best_guess) goes with it"
            )
        against = (self.population, self.population_k, self.beta)
        if any(part is None for part in against) and any(part is not None for part in against):
            raise ValueError("population, population_k and beta are promised together")
        return self

    @property
    def about_secrets(self) -> bool:
        """Whether anything is asked of sensitive columns."""
        asked = (
            self.diversity, self.entropy_diversity, self.recursive_diversity, self.closeness,
            self.best_guess,
        )  # fmt: skip
        return any(limit is not None for limit in asked)


def promised(**given: Any) -> Promise:
    """The promise of the options of `plan`, checked."""
    people, pk = given.pop("people"), given.pop("pk")
    own = given.pop("release_k") if given["k"] is None else given.pop("release_k") or given["k"]
    beta = given.pop("beta")
    given["k"] = own
    if people is not None:
        given.update(population=people, population_k=pk, beta=beta)
    try:
        return Promise(**given)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        told = str(first["msg"]).removeprefix("Value error, ")
        name = ".".join(map(str, first["loc"]))
        if not name:
            raise ParameterError(f"{told}.") from None
        told = told.replace("Input should be", "it should be")
        raise ParameterError(f"{name} is {given.get(name)!r}; {told}.") from None
