"""Can a masked record be linked to its original?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.assessment._questions._new_pseudonyms import new_pseudonyms
from crypsis.assessment._questions._outcome import QuestionOutcome, not_evaluated
from crypsis.assessment._request import Request
from crypsis.columns.codes import codes_of
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, ParameterError, TooLargeError, unknown_columns
from crypsis.hierarchies.labels import as_text
from crypsis.options import Role
from crypsis.policies import Measurement
from crypsis.report.wording import named, plural
from crypsis.results import number_text, percent_text
from crypsis.tables import Kind

if TYPE_CHECKING:
    from crypsis.linkage import LinkSuite

LINKS = "linkage.correct_links_above_chance"
_ADVANTAGE = "linkage.match_advantage"
_MAX_COPIED_ROWS = 2_000_000
"""Copies of records are not sought in larger files."""
_MAX_OMITTED_COLUMNS = 20
"""So many columns, the first, are left out in turn: in one a copy may differ."""
_Marks = tuple[NDArray[np.uint64], NDArray[np.uint64]]
_MAX_LINKED_ROWS = 5_000_000
"""Larger files are not linked: the records of both come into memory for it."""


def check_record_numbers(request: Request) -> None:
    """Record numbers are a column of the release and of the files that it is compared with."""
    if request.on is None:
        return
    compared = request.earlier if request.original is None else (request.original,)
    if not compared:
        raise ParameterError(
            "Record numbers are compared with those of the original or of earlier releases.",
            code="option-without-effect",
            hint="Set {original} or {earlier}, or remove {on}.",
            parameter="on",
        )
    for dataset in (request.data, *compared):
        if request.on not in dataset.names:
            raise unknown_columns([request.on], dataset.names)


def ask_linkage(request: Request, *, most_records: int | None = None) -> QuestionOutcome:
    """How often an intruder links records correctly, by any method or because they are copies.

    At most so many original records are linked, or as many as usual.
    """
    outcome = _linked(request, most_records)
    if request.original is not None:
        outcome.notes += [
            f"{name!r} has new pseudonyms, by which nobody links: the owner signed them off, and none "
            "of the common ways to compute them from the identifier was found."
            for name in new_pseudonyms(request.original, request.data, request.row_map)
        ]
    _add_rejoined(request, outcome)
    copies = _copies(request)
    if copies is None:
        return outcome
    for position, measurement in enumerate(outcome.measured):
        if measurement.measure == LINKS and (
            measurement.value is None or float(measurement.value) < float(copies.value or 0)
        ):
            outcome.measured[position] = copies
            outcome.headline = f"{outcome.headline} {copies.statement}"
    return outcome


def _add_rejoined(request: Request, outcome: QuestionOutcome) -> None:
    """What connects attributes of the original that are released apart with the release.

    Most values back at their records are links, beyond those of the policy.
    """
    original, masked = request.original, request.data
    if original is None or (request.row_map is None and original.count != masked.count):
        return
    if request.on is not None:
        return
    from crypsis.protection import MAX_REJOINED, rejoined

    files = [
        file.data.names
        for file in request.together
        if {*file.data.names} <= {*original.names} - {*masked.names}
    ]
    for result in rejoined(original, masked, files, request.row_map, request.seed):
        outcome.notes.append(str(result))
        if result.gain > MAX_REJOINED:
            links = Measurement(LINKS, result.gain, str(result), (result.attribute, *result.by))
            outcome.measured = [
                links
                if measurement.measure == LINKS
                and (measurement.value is None or measurement.value < result.gain)
                else measurement
                for measurement in outcome.measured
            ]
            outcome.headline = f"{outcome.headline} {result}"


def _copies(request: Request) -> Measurement | None:
    """Records that are one record of the original, wherever they are; None if they are few.

    Such a record is linked by whoever has the original, whatever the order of the rows. One of the
    columns may differ.
    """
    original, masked = request.original, request.data
    if original is None or not masked.rows.local or not original.rows.local:
        return None
    names = list(_known_columns(request, original))
    if not names or max(original.count, masked.count) > _MAX_COPIED_ROWS or not masked.count:
        return None
    marks = _marks(original.to_arrow(names), masked.to_arrow(names))
    fewer = [[name for name in names if name != omitted] for omitted in names[:_MAX_OMITTED_COLUMNS]]
    sets = [names, *(fewer if len(names) > 2 else ())]
    copied, names = max((_copied([marks[name] for name in subset]), subset) for subset in sets)
    limits = [threshold.limit for threshold in request.policy.of("linkage") if threshold.measure == LINKS]
    if copied / masked.count <= min(limits, default=1.0):
        return None
    text = (
        f"{copied:,} of {masked.count:,} records are copies of one record of the original in "
        f"{plural(len(names), 'column')} that an intruder may know."
    )
    return Measurement(LINKS, copied / masked.count, text, tuple(names), copied)


def _texts(column: pa.ChunkedArray) -> pa.Array:
    """The values as text, equal for 5 and 5.0; missing ones equal each other."""
    encoded = column.combine_chunks().dictionary_encode()
    values = [None if value is None else as_text(value) for value in encoded.dictionary.to_pylist()]
    return pc.fill_null(pa.array(values, pa.string()).take(encoded.indices), "\x00")


def _marks(before: pa.Table, after: pa.Table) -> dict[str, _Marks]:
    """A random number of 64 bits for each value of a column, the same in both tables.

    Of 2 x 10^6 records two that differ have the same sum with a probability below 10^-6.
    """
    drawn, marks_of_column = np.random.default_rng(0), {}
    for name in before.column_names:
        coded = codes_of(pa.chunked_array([_texts(before[name]), _texts(after[name])]))
        values = drawn.integers(0, 2**64, int(coded.max(initial=-1)) + 1, dtype=np.uint64)
        marks = values[coded]
        marks_of_column[name] = marks[: before.num_rows], marks[before.num_rows :]
    return marks_of_column


def _copied(marks: list[_Marks]) -> int:
    """The records that are equal to a record of the original that is unique in these columns."""
    before, after = (
        np.sum(column_marks, axis=0, dtype=np.uint64) for column_marks in zip(*marks, strict=True)
    )
    records, counts = np.unique(before, return_counts=True)
    unique = records[counts == 1]
    if not unique.size:
        return 0
    position = np.minimum(np.searchsorted(unique, after), unique.size - 1)
    return int((unique[position] == after).sum())


def _linked(request: Request, most_records: int | None) -> QuestionOutcome:
    """How often an intruder links records correctly: a bound from classes, then by every intruder.

    Records that are equal in all columns that the intruder knows cannot be distinguished, so the
    fraction of correct links is at most the number of such classes divided by the number of
    records, or of people where they are known, whatever the method of linking. Where the bound is
    above the threshold, or sensitive attributes were perturbed, the records are linked by all intruders
    of the suite.
    """
    original, masked = request.original, request.data
    if original is None:
        why = "The original was not given."
        return not_evaluated("linkage", request.policy, why, hint="Set {original}.")
    known_columns = _known_columns(request, original)
    bound = _classes_bound(request, known_columns)
    limits = [threshold.limit for threshold in request.policy.of("linkage") if threshold.measure == LINKS]
    perturbed = _perturbed(request, original, masked)
    alone = _not_in(original, masked)
    met = bound is not None and bound.value <= min(limits, default=0.0)
    if bound is not None and met and not perturbed and not alone:
        return _bounded(bound)
    more = perturbed if met else _linking_values(original, masked, all_values=bound is None)
    columns = dict.fromkeys((*known_columns, *perturbed, *more))
    outcome = _by_suite(request, original, masked, list(columns), alone, most_records)
    outcome.notes += _signed_off(request)
    return outcome


def without_signed_off(request: Request) -> tuple[tuple[str, ...], float] | None:
    """The columns that were signed off, and the largest share of links by the others; None if there
    are none, or if changed sensitive attributes link, too.
    """
    masked, original = request.data, request.original
    if original is None or not masked.signed_off:
        return None
    known_columns = _known_columns(request, original)
    signed = tuple(name for name in known_columns if name in masked.signed_off)
    if not signed or _not_in(original, masked) or _perturbed(request, original, masked):
        return None
    bound = _classes_bound(request, tuple(name for name in known_columns if name not in signed))
    return None if bound is None else (signed, bound.classes / bound.units)


def _signed_off(request: Request) -> list[str]:
    """What is left to link by, of an intruder who does not know what was signed off."""
    bounded = without_signed_off(request)
    if bounded is None:
        return []
    signed, share = bounded
    return [
        f"{named(signed)} {'was' if len(signed) == 1 else 'were'} signed off, and whoever has the "
        f"original knows {'it' if len(signed) == 1 else 'these'}, too. By the other columns at most "
        f"{percent_text(share)} can be linked correctly."
    ]


def _linking_values(original: Dataset, masked: Dataset, *, all_values: bool) -> list[str]:
    """The sensitive attributes that a maximum-knowledge intruder links by: numbers, or all."""
    return [
        name
        for name in masked.sensitive
        if name in original.names
        and masked.rows.column(name).kind is not Kind.NESTED
        and original.rows.column(name).kind is not Kind.NESTED
        and (all_values or masked.rows.column(name).kind.numeric)
    ]


def _not_in(original: Dataset, masked: Dataset) -> list[str]:
    """The released columns that the original does not have under their name."""
    return [
        name
        for name in masked.released
        if name not in original.names and masked.rows.column(name).kind is not Kind.NESTED
    ]


@dataclass(frozen=True)
class _Bound:
    """The largest fraction of correct links above chance, of an intruder who knows `columns`."""

    value: float
    columns: tuple[str, ...]
    classes: int
    units: int
    unit: str

    @property
    def text(self) -> str:
        return (
            f"The {self.units:,} {self.unit} form {plural(self.classes, 'class')} of equal values in "
            f"the {plural(len(self.columns), 'column')} that an intruder may know: at most "
            f"{percent_text(self.classes / self.units)} can be linked correctly, by any method."
        )


def _known_columns(request: Request, original: Dataset) -> tuple[str, ...]:
    """The released columns that the original has too, but sensitive ones, record numbers, pseudonyms."""
    masked, known_roles = request.data, (Role.QUASI_IDENTIFIER, Role.INSENSITIVE)
    drawn = new_pseudonyms(original, masked, request.row_map)
    return tuple(
        column.name
        for column in masked.rows.columns
        if column.name in original.names
        and column.name not in (request.on, *drawn)
        and column.kind is not Kind.NESTED
        and masked.roles.get(column.name) in known_roles
    )


def _classes_bound(request: Request, names: tuple[str, ...]) -> _Bound | None:
    """The bound over the columns that an intruder may know: a person counts once in each class."""
    masked = request.of_people.data
    if not masked.quasi_identifiers or not names or not masked.count:
        return None
    counted = masked.rows.tally(names)
    if counted.estimated:
        return None
    classes, units = int(counted.distinct), masked.count
    if masked.person is not None:
        people = masked.rows.tally([*names, masked.person])
        if people.estimated:
            return None
        units = int(people.distinct)
    of_people = units < masked.count
    return _Bound(
        max(0.0, (classes - 1) / units), names, classes, units, "people" if of_people else "records"
    )


_KNOWN = (
    "Sensitive attributes are not among the columns that the intruder knows here: what can be "
    "inferred of them, and what an intruder does who knows them, are questions of their own."
)


def _bounded(bound: _Bound) -> QuestionOutcome:
    measured = [
        Measurement(LINKS, bound.value, bound.text, bound.columns, 0),
        Measurement(
            _ADVANTAGE,
            None,
            "The values have classes, not ranks: a true "
            "match is at no other distance than the rest of its class.",
            applies=False,
        ),
    ]
    return QuestionOutcome(bound.text, measured, notes=[_KNOWN])


def _perturbed(request: Request, original: Dataset, masked: Dataset) -> list[str]:
    """The sensitive attributes that were changed: whether the mask protects them is to be decided.

    Sensitive attributes that are released as they are are not known to the intruder. Without an
    alignment it is not known which were changed, and numbers are taken as if they were.
    """
    names = _linking_values(original, masked, all_values=True)
    if not names:
        return []
    if request.on is not None or (request.row_map is None and original.count != masked.count):
        return [name for name in names if masked.rows.column(name).kind.numeric]
    before, after = original.to_arrow(names), masked.to_arrow(names)
    if request.row_map is not None:
        before = before.take(pa.array(request.row_map))
    return [name for name in names if not _equal(before[name], after[name])]


def _equal(first: pa.ChunkedArray, second: pa.ChunkedArray) -> bool:
    return bool(_texts(first).equals(_texts(second)))


def _by_suite(
    request: Request,
    original: Dataset,
    masked: Dataset,
    columns: list[str],
    alone: list[str],
    most_records: int | None,
) -> QuestionOutcome:
    """Every original record linked by every intruder of the suite; the worst of them counts."""
    from crypsis import linkage  # loading it takes a second

    on, row_map = request.on, request.row_map
    if not columns and not alone:
        why = "The files share no column that an intruder may know."
        return not_evaluated("linkage", request.policy, why, requested=True)
    if max(original.count, masked.count) > _MAX_LINKED_ROWS:
        raise TooLargeError(
            f"Files of more than {_MAX_LINKED_ROWS:,} records are not linked.",
            hint="Assess a sample of both, with {on}.",
        )
    excluded = {*original.identifiers, on} - {original.person}
    person = None if original.person in columns else original.person
    before = original.to_arrow(
        [
            name
            for name in original.names
            if name not in excluded
            and original.rows.column(name).kind is not Kind.NESTED
            and (name in columns or name not in masked.names or name == person)
        ]
        + ([] if on is None else [on])
    )
    after = masked.to_arrow([*columns, *alone, *([] if on is None else [on])])
    options: Any = {"on": on, "row_map": row_map, "seed": request.seed}
    if most_records is not None:
        options["max_records"] = most_records
    of_people = (
        before
        if original.person is None
        else Dataset.from_frame(
            before, person=original.person, identifiers=[] if person is None else [person]
        )
    )
    suite = linkage.attack_links(of_people, after, **options)
    outcome = QuestionOutcome(results={"suite": suite}, notes=list(suite.notes))
    sure = suite.sure_share()
    if sure is None:
        text = "The true matches are not known: the two files have different rows."
        hint = "Set {on} to a column of record numbers, or {key}."
        outcome.measured = _unknown(text, hint)
    elif suite.misaligned and sure.low <= _limit(request):
        outcome.measured = _unknown(suite.misaligned, "Set {key}, or {on} to a column of record numbers.")
    else:
        above = (sure - suite.worst.chance).map(lambda gain: max(0.0, gain))
        affected = round(sure.value * suite.records)
        outcome.measured = [
            Measurement(
                LINKS,
                above,
                _stated(suite, sure),
                suite.columns,
                affected,
                lower_bound=bool(suite.alone),
                hint=_hint(suite),
            ),
            _advantage(request, before if person is None else before.drop_columns([person]), after, suite),
        ]
    outcome.headline = outcome.measured[0].statement
    return outcome


def _stated(link_suite: LinkSuite, sure: Any) -> str:
    """The most correct links, and by which columns nobody tried."""
    text = link_suite.statement(sure)
    if not link_suite.alone:
        return text
    return f"{text} Links by {named(link_suite.alone)} were not tried, so there may be more."


def _hint(link_suite: LinkSuite) -> str:
    return "Set {excluded} for the columns that were not tried." if link_suite.alone else ""


def _limit(request: Request) -> float:
    limits = [threshold.limit for threshold in request.policy.of("linkage") if threshold.measure == LINKS]
    return min(limits, default=0.0)


def _unknown(text: str, hint: str) -> list[Measurement]:
    return [Measurement(name, None, text, requested=True, hint=hint) for name in (LINKS, _ADVANTAGE)]


def _advantage(request: Request, before: pa.Table, after: pa.Table, link_suite: LinkSuite) -> Measurement:
    """How much nearer the true matches are than random records, by ranks, if a policy asks."""
    from crypsis import linkage

    if not any(threshold.measure == _ADVANTAGE for threshold in request.policy.of("linkage")):
        return Measurement(_ADVANTAGE, None, "The policy does not limit it.", applies=False)
    options: Any = {"on": request.on, "row_map": request.row_map}
    try:
        names = linkage.comparable_columns(before, after, on=request.on).columns
        check = linkage.verify_links(before, after, columns=names, seed=request.seed, **options)
    except ColumnError:
        return Measurement(_ADVANTAGE, None, "No column has ranks.", applies=False)
    dependent = check.dependent
    if dependent is None:
        return _unknown("The true matches are not known.", "Set {on}.")[1]
    statement = (
        f"The original records match nearer than random records by "
        f"{number_text(dependent.advantage, '.3f')}; {plural(dependent.discoveries, 'link')} "
        f"{'is' if dependent.discoveries == 1 else 'are'} nearer than chance explains."
    )
    omitted = bool({*link_suite.columns} - {*names})
    return Measurement(
        _ADVANTAGE, dependent.advantage, statement, tuple(names), dependent.discoveries, lower_bound=omitted
    )
