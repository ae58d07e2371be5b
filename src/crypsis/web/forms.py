"""What may be asked of the server, checked before anything is done: the bodies of the API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=1000)]
Slot = Literal["data", "original", "masked", "known", "released", "truth", "expected", "hierarchy"]
Kind = Literal["release", "comparison", "subject", "attack"]
RoleName = Literal["identifier", "quasi-identifier", "sensitive", "other"]
PolicyName = Literal[
    "default", "hipaa-safe-harbor", "hipaa-expert", "ema-0070", "cms-small-cells", "wp216",
    "strict-research",
]  # fmt: skip
Share = Annotated[float, Field(ge=0, le=1)]
Crowd = Annotated[int, Field(ge=1, le=1_000_000_000)]
People = Annotated[int, Field(ge=1, le=1_000_000_000_000)]
Levels = dict[str, Annotated[int, Field(ge=0, le=10_000)]]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]


class Form(BaseModel):
    """A body: nothing in it that is not known, no infinities."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Reading(Form):
    """How a file is read, where it does not tell itself."""

    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    encoding: Annotated[str, Field(max_length=40)] | None = None
    names: Annotated[list[Name], Field(min_length=1, max_length=5000)] | None = None
    """The columns of a file without a header."""
    missing_markers: Annotated[list[str], Field(max_length=50)] | None = None
    sheet: Name | None = None
    table: Name | None = None
    types: dict[str, Literal["text", "integer", "number", "date", "time"]] = {}


class NewTable(Form):
    """An empty piece of work, whose files come one by one."""

    kind: Kind = "release"
    title: Annotated[str, Field(max_length=200)] = ""


class GivenFile(Form):
    """A file that the server was started with, by its place on the command line."""

    place: Annotated[int, Field(ge=0, le=1000)]


class Roles(Form):
    """What somebody decided about columns; with `accept` all guesses are decided as they are."""

    roles: dict[str, RoleName] = {}
    accept: bool = False


class AssessForm(Form):
    """How to assess."""

    policy: PolicyName = "default"
    population: People | None = None
    person: Name | None = None
    weight: Name | None = None
    on: Name | None = None
    """The column of record numbers that joins the table to its original; else row by row."""
    accept_guesses: bool = False
    seed: Seed = 0


class CausesForm(Form):
    """Which finding to look behind; `reveal` shows values of the data."""

    question: Literal["singling_out", "inference"]
    columns: Annotated[list[Name], Field(min_length=1, max_length=2000)]
    crowd: Crowd = 5
    reveal: bool = False


class PlanOptions(Form):
    """What is promised, and how each column may be told; the keywords of `anonymize.plan`."""

    k: Crowd = 5
    population: People | None = None
    beta: Annotated[float, Field(gt=0, lt=1)] = 0.05
    release_k: Crowd | None = None
    diversity: Crowd | None = None
    closeness: Share | None = None
    best_guess: Annotated[float, Field(gt=0, le=1)] | None = None
    each_column: bool = False
    weights: dict[str, Annotated[float, Field(gt=0, le=1000)]] = {}
    methods: dict[str, Literal["keep", "intervals", "date", "prefix", "common", "suppress"]] = {}
    top_code: dict[str, float] = {}
    suppression: Share = 0.05
    representative: Literal["interval", "median", "mean"] = "interval"


class SketchForm(Form):
    """What to count the cells for."""

    options: PlanOptions = PlanOptions()


class WhatIfForm(Form):
    """A choice to be answered from the cells alone."""

    k: Crowd = 5
    levels: Levels = {}
    population: People | None = None
    beta: Annotated[float, Field(gt=0, lt=1)] = 0.05
    weights: dict[str, Annotated[float, Field(gt=0, le=1000)]] = {}


class CurveForm(Form):
    """From where the curve of risk against loss begins."""

    k: Crowd = 5
    levels: Levels = {}


class PlanForm(Form):
    """A plan to be shown."""

    options: PlanOptions = PlanOptions()
    levels: Levels = {}


class HierarchyForm(Form):
    """A hierarchy to be built, or `file` to take the one that was uploaded for it."""

    column: Name
    build: Literal["intervals", "prefixes", "masking", "dates", "file", "none"]
    steps: Annotated[list[Annotated[int, Field(ge=1, le=10**9)]], Field(max_length=40)] = []
    """Widths of intervals, rising, or lengths of prefixes, falling."""


class Mask(Form):
    """How a column is masked, and how much."""

    method: Literal[
        "noise", "rank-swap", "shuffle", "microaggregate", "pram", "round", "top", "bottom",
        "pseudonym",
    ]  # fmt: skip
    amount: float | None = None


class MakeForm(Form):
    """The release to be made."""

    options: PlanOptions = PlanOptions()
    levels: Levels = {}
    masks: dict[str, Mask] = {}
    same_levels: bool = False
    """Tell all rows on the same levels, as ARX does, instead of each in its cheapest crowd."""
    form: Literal["csv", "parquet"] = "csv"
    policy: PolicyName = "default"
    seed: Seed = 0


class KeyForm(Form):
    """The confirmation that the owner's key is wanted: it undoes the release."""

    confirm: Literal[True]


class CompareForm(Form):
    """How original and masked are compared."""

    on: Name | None = None
    columns: Annotated[list[Name], Field(min_length=1, max_length=2000)] | None = None
    frequency: bool = False
    """Order categories by how frequent they are."""
    acceptable: Share | None = None
    seed: Seed = 0


class SubjectForm(Form):
    """One person's own record; it is used for the answer and not kept."""

    record: dict[str, Annotated[str, Field(max_length=10_000)]]
    permutation_only: bool = False
    seed: Seed = 0


class AttackForm(Form):
    """An attack on pseudonyms."""

    kind: Literal["join", "frequencies"]
    on: dict[str, Annotated[float, Field(ge=0)]] = {}
    """For a join, the shared columns and how far numbers may be apart."""
    item: Name | None = None
    pseudonym: Name | None = None
    same_rows: bool = False
    error: Annotated[float, Field(ge=0, lt=1)] | None = None
    least_degree: Share | None = None
    most_cracks: Annotated[float, Field(ge=0, le=10**9)] | None = None
    seed: Seed = 0


class JobTold(BaseModel):
    """How far a job is. `state` is waiting, running, done, failed or cancelled."""

    id: str
    table: str
    what: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    steps: list[dict[str, Any]]
    seconds: float
    error: str | None
    page: str


class TableTold(BaseModel):
    """What is open, and how far it has come."""

    id: str
    kind: Kind
    title: str
    files: dict[str, str]
    rows: int | None
    columns: list[dict[str, Any]]
    guesses: int
    assessed: bool
    made: bool
    downloads: list[str]
    hierarchies: list[str]
    job: JobTold | None


class Wrong(BaseModel):
    """What went wrong, in words, without any value of the data."""

    error: str
