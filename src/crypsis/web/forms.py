"""The bodies of the API, validated before anything is done."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from crypsis.options import ReadOptions
from crypsis.web.options import advanced
from crypsis.web.results import MAX_APART

Name = Annotated[str, Field(min_length=1, max_length=1000)]
Slot = Literal[
    "data",
    "original",
    "masked",
    "known",
    "released",
    "truth",
    "expected",
    "hierarchy",
    "roles",
    "together",
    "earlier",
    "holdout",
    "project",
    "key",
    "earlier_key",
    "population",
]
Kind = Literal["release", "comparison", "subject", "attack"]
RoleName = Literal["identifier", "quasi-identifier", "sensitive", "insensitive", "excluded", "undecided"]
PolicyName = Literal[
    "default",
    "hipaa-safe-harbor",
    "hipaa-expert",
    "ema-0070",
    "cms-small-cells",
    "wp216",
    "strict-research",
    "ehds-secondary-use",
    "nist-800-188",
    "public-use-file",
    "scientific-use-file",
]
Share = Annotated[float, Field(ge=0, le=1)]
ClassSize = Annotated[int, Field(ge=1, le=1_000_000_000)]
People = Annotated[int, Field(ge=1, le=1_000_000_000_000)]
Levels = dict[str, Annotated[int, Field(ge=0, le=10_000)]]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
Reason = Annotated[str, Field(max_length=1000)]
Unit = Literal["person", "person_reason", "household", "weight", "stratum", "cluster"]
Discard = Annotated[bool, Field(description="Whether a verdict or a release that exists may be discarded.")]


class Form(BaseModel):
    """A body: nothing in it that is not known, no infinities."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


_NOT_UPLOADED = ("format", "header", "query")


def reading_options() -> tuple[str, ...]:
    """The reading options that make sense for an upload."""
    return tuple(field.name for field in fields(ReadOptions) if field.name not in _NOT_UPLOADED)


def _read_form() -> type[Form]:
    """How a file is read: the reading options that make sense for an upload, from their model."""
    hints = get_type_hints(ReadOptions, include_extras=True)
    parts: Any = {
        name: (hints[name].__origin__, Field(None, description=hints[name].__metadata__[0]))
        for name in reading_options()
    }
    parts["discard"] = (Discard, False)
    return create_model("ReadForm", __base__=Form, __doc__=_read_form.__doc__, **parts)


if TYPE_CHECKING:
    ReadForm = Form
else:
    ReadForm = _read_form()


class NewTable(Form):
    """An empty piece of work, whose files come one by one."""

    kind: Kind = "release"
    title: Annotated[str, Field(max_length=200)] = ""


class GivenFile(Form):
    """A file that the server was started with, by its place on the command line."""

    place: Annotated[int, Field(ge=0, le=1000)]


class NoteForm(Form):
    """What is written about a column besides its role; an empty reason is removed."""

    override: Reason = ""
    """Why it has a role that contradicts the evidence."""
    sign_off: Reason = ""
    """Why an intruder cannot know it, although it is released as it is."""
    several_people: Reason = ""
    """Why it does not identify the person of a record, although it repeats."""
    public_presence: Reason = ""
    """Why it is public who is in the table, although that discloses the value."""
    known_to: Reason = ""
    """Who knows the values."""
    harmless: Annotated[list[str | int | float | bool], Field(max_length=1000)] = []
    """The values of a sensitive attribute that may become known."""
    priors: dict[str, Share] = {}
    """The share of people with each value in the population."""


class RolesForm(Form):
    """Decided roles of columns; with `accept` guesses are decided that are confident enough."""

    roles: dict[str, RoleName] = {}
    notes: dict[str, NoteForm] = {}
    units: dict[Unit, str] = {}
    """The columns of the person, the household and the sample; an empty name removes one. The person
    may be "each record", with a `person_reason` where the records indicate otherwise."""
    accept: bool = False
    file: bool = False
    """Take roles, notes and units from the uploaded file `roles`."""
    discard: Discard = False


class AssessForm(Form):
    """How to assess."""

    policy: PolicyName = "default"
    population: People | None = None
    person: Name | None = None
    weight: Name | None = None
    household: Name | None = None
    stratum: Name | None = None
    cluster: Name | None = None
    original_person: Name | None = None
    """The column of the original that says whose record each is, where the table lacks it."""
    on: Name | None = None
    """The column of record numbers that joins the table to its original; else row by row."""
    context: Literal["public", "registered", "contract", "internal"] | None = None
    synthetic: bool = False
    """Whether the records are synthetic; the file `original` is the training data then."""
    exact: bool = False
    accept_guesses: bool = False
    answers: Annotated[dict[Reason, Reason], Field(max_length=100)] = {}
    """The answers to the checklist of the policy: who checked it, and when; an empty one is none."""
    seed: Seed = 0


class RowsForm(Form):
    """A window of the records; their values are shown only if `reveal` asks for it."""

    offset: Annotated[int, Field(ge=0, le=10**9)] = 0
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    order: Literal["file", "risk", "risk-after"] = "file"
    show: Literal["all", "small", "small-after", "changed", "suppressed"] = "all"
    k: ClassSize = 5
    reveal: Literal[True]


class CausesForm(Form):
    """The finding to explain; `reveal` shows values of the data."""

    question: Literal["singling_out", "inference"]
    columns: Annotated[list[Name], Field(min_length=1, max_length=2000)]
    class_size: ClassSize = 5
    reveal: bool = False


class _NamedOptions(Form):
    """The privacy requirements and the methods of the columns; as in `crypsis.protection.plan`."""

    k: ClassSize = 5
    person: Name | None = None
    household: Name | None = None
    population: People | None = None
    beta: Annotated[float, Field(gt=0, lt=1)] = 0.05
    diversity: ClassSize | None = None
    closeness: Share | None = None
    best_guess: Annotated[float, Field(gt=0, le=1)] | None = None
    excess: Share | None = None
    journalist_risk: Annotated[float, Field(gt=0, le=1)] | None = None
    recursive_diversity: tuple[Annotated[float, Field(gt=0)], ClassSize] | None = None
    """c and l."""
    k_map: ClassSize | None = None
    """The fewest people of the uploaded file `population` that match a class."""
    presence: Annotated[float, Field(gt=0, le=1)] | None = None
    preserve: Annotated[
        list[Annotated[list[Name], Field(min_length=1, max_length=2)]], Field(max_length=100)
    ] = []
    weight: Name | None = None
    each_column: bool = False
    weights: dict[str, Annotated[float, Field(ge=0, le=1000)]] = {}
    keep: dict[str, int | str] = {}
    may_change: list[Name] = []
    apart: Annotated[list[Name], Field(max_length=MAX_APART)] = []
    """Sensitive attributes that are released apart, each in a file of its own."""
    exclude: list[Name] = []
    """Columns that are not released, whatever their role."""
    methods: dict[str, Literal["keep", "intervals", "date", "prefix", "frequent", "suppress"]] = {}
    top_code: dict[str, float] = {}
    suppression: Share = 0.05
    representative: Literal["interval", "median", "mean"] = "interval"


def _plan_form() -> type[_NamedOptions]:
    """The options with the further requirements, which their own model declares and checks."""
    parts: Any = {
        name: (kind | None, Field(None, description=text)) for name, (kind, text) in advanced().items()
    }
    doc = _NamedOptions.__doc__
    return create_model("PlanOptionsForm", __base__=_NamedOptions, __doc__=doc, **parts)


if TYPE_CHECKING:
    PlanOptionsForm = _NamedOptions
else:
    PlanOptionsForm = _plan_form()


class PreviewForm(Form):
    """What to count the cells for."""

    options: PlanOptionsForm = PlanOptionsForm()


class WhatIfForm(Form):
    """A choice to be answered from the cells alone."""

    k: ClassSize = 5
    levels: Levels = {}
    population: People | None = None
    beta: Annotated[float, Field(gt=0, lt=1)] = 0.05
    weights: dict[str, Annotated[float, Field(ge=0, le=1000)]] = {}


class CurveForm(Form):
    """From where the curve of risk against loss begins."""

    k: ClassSize = 5
    levels: Levels = {}


class PlanForm(Form):
    """A plan to be shown."""

    options: PlanOptionsForm = PlanOptionsForm()
    levels: Levels = {}


class HierarchyForm(Form):
    """A hierarchy to be built, or `file` to take the one that was uploaded for it."""

    column: Name
    build: Literal["intervals", "prefixes", "masking", "dates", "groups", "file", "none"]
    steps: Annotated[list[Annotated[int, Field(ge=1, le=10**9)]], Field(max_length=40)] = []
    """Widths of intervals, rising, or lengths of prefixes, falling."""
    groups: dict[Name, Annotated[list[Annotated[str, Field(max_length=1000)]], Field(max_length=2000)]] = {}
    """The values of each group; a value of no group is a group of its own."""
    reveal: bool = False
    """Whether the first rows of the hierarchy are shown."""


class ValuesForm(Form):
    """The values of a column, the most frequent first."""

    column: Name
    reveal: Literal[True]


class MaskForm(Form):
    """How a column is masked, and how much."""

    method: Literal[
        "noise", "rank-swap", "shuffle", "microaggregate", "pram", "round", "top", "bottom", "pseudonym"
    ]
    amount: float | None = None


class DossierForm(Form):
    """What the first page of the dossier says; what is empty is a line to be filled in."""

    title: Annotated[str, Field(max_length=200)] = ""
    purpose: Reason = ""
    recipient: Reason = ""
    author: Reason = ""
    date: Annotated[str, Field(max_length=40)] = ""
    conditions: Annotated[list[Reason], Field(max_length=20)] = []


class AnonymizeForm(Form):
    """The release to be made."""

    options: PlanOptionsForm = PlanOptionsForm()
    levels: Levels = {}
    masks: dict[str, MaskForm] = {}
    recoding: Literal["local", "subtree", "full-domain"] = "local"
    form: Literal["csv", "parquet"] = "csv"
    neutralize_formulas: bool = False
    """Put an apostrophe before texts of a CSV file that a spreadsheet would run."""
    policy: PolicyName = "default"
    seed: Seed = 0


class ChoicesForm(Form):
    """Choices that change, by the names of the fields of the page; null takes one back."""

    changes: dict[
        Annotated[str, Field(max_length=1100)], Annotated[str, Field(max_length=2000)] | bool | None
    ] = {}


class ProjectForm(Form):
    """A project file: how a table is read, what its columns are, what was chosen; no rows."""

    format: Literal["crypsis project 1"]
    title: Annotated[str, Field(max_length=200)] = ""
    reading: dict[str, Any] = {}
    roles: dict[str, RoleName] = {}
    notes: dict[str, NoteForm] = {}
    units: dict[Unit, str] = {}
    choices: dict[str, str | bool] = {}
    hierarchies: dict[str, str] = {}
    """Hierarchies as CSV; they have values of the data, so they are only there on request."""


class OpenProjectForm(Form):
    """Take up the uploaded file `project`."""

    discard: Discard = False


class KeyForm(Form):
    """The confirmation that the re-identification key is wanted."""

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
    min_degree: Share | None = None
    max_cracks: Annotated[float, Field(ge=0, le=10**9)] | None = None
    seed: Seed = 0


class JobState(BaseModel):
    """The state of a job. `state` is waiting, running, done, failed or cancelled."""

    id: str
    table: str
    what: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    steps: list[dict[str, Any]]
    share: float | None
    """How much is done, where that is known."""
    seconds: float
    error: str | None
    page: str


class TableState(BaseModel):
    """What is open, and how far it has come."""

    id: str
    kind: Kind
    title: str
    files: dict[str, str]
    rows: int | None
    columns: list[dict[str, Any]]
    guesses: int
    units: dict[str, str]
    read_as: dict[str, str]
    """What was found of a text file: delimiter, encoding, decimal mark, form of dates."""
    assessed: bool
    made: bool
    downloads: list[str]
    hierarchies: list[str]
    job: JobState | None


class ErrorBody(BaseModel):
    """What went wrong, in words, without any value of the data."""

    error: str
