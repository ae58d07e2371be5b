"""Every measure that a policy may set a threshold on: what it means, in which unit, which way."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from crypsis.errors import ParameterError
from crypsis.results import Result

QUESTIONS = {
    "columns": "What is in the columns?",
    "singling_out": "Can one person be picked out?",
    "inference": "Can a secret be guessed?",
    "linkage": "Can a masked record be linked back to its original?",
    "pseudonyms": "Do the pseudonyms hold?",
}
"""The four questions, and what is asked of the columns themselves."""


@dataclass(frozen=True)
class Measure(Result):
    """A number that a policy may limit."""

    name: str
    unit: str
    limit: str
    """Whether a threshold is the most ("at_most") or the least ("at_least") that is allowed."""
    meaning: str
    parameter: str | None = None
    """A number that the measure itself needs, such as the size of a crowd."""

    @property
    def question(self) -> str:
        """The question it answers."""
        return self.name.split(".")[0]


def _of(name: str, unit: str, limit: str, meaning: str, parameter: str | None = None) -> Measure:
    return Measure(name, unit, limit, meaning, parameter)


_ALL = (
    _of("columns.identifiers", "columns", "at_most",
        "columns that name a person by themselves"),
    _of("columns.free_text", "columns", "at_most",
        "columns of free text, in which anything may stand"),
    _of("columns.hipaa_identifiers", "columns", "at_most",
        "columns that hold one of the 18 identifiers of HIPAA, places, dates and ages apart"),
    _of("columns.fine_places", "columns", "at_most",
        "columns of places smaller than a state, other than the first three digits of postal "
        "codes whose area has more than 20,000 people"),
    _of("columns.fine_dates", "columns", "at_most",
        "columns of dates of a person that say more than the year"),
    _of("columns.high_ages", "columns", "at_most",
        "columns of ages with single years of age above 89"),
    _of("singling_out.smallest_crowd", "people", "at_least",
        "the fewest people alike in the columns that others may know (k)"),
    _of("singling_out.share_in_small_crowds", "fraction", "at_most",
        "the share of people who stand in a crowd smaller than `crowd`", "crowd"),
    _of("singling_out.unique_share", "fraction", "at_most",
        "the share of people who are like nobody else in the release"),
    _of("singling_out.average_risk", "fraction", "at_most",
        "the share of people found by an attacker who looks for everyone (marketer)"),
    _of("singling_out.population_unique_share", "fraction", "at_most",
        "the share of people who are unique in the population"),
    _of("inference.best_guess_gain", "fraction", "at_most",
        "in the worst group, the probability of guessing a sensitive category right, less that of "
        "guessing without the release's groups"),
    _of("inference.closeness", "fraction", "at_most",
        "the largest distance between a sensitive column in a group and in all rows (t)"),
    _of("inference.ordered_closeness", "fraction", "at_most",
        "the same for sensitive numbers and dates alone, of which single values are not guessed"),
    _of("inference.distinct_values", "values", "at_least",
        "the fewest values of a sensitive column in a group (distinct l-diversity)"),
    _of("inference.itpr", "fraction", "at_most",
        "the inference risk of itpr2019, Definition 4.2"),
    _of("linkage.right_links_above_chance", "fraction", "at_most",
        "the share of originals whose nearest masked record is their own, less a blind guess"),
    _of("linkage.nearer_than_strangers", "fraction", "at_most",
        "how much nearer originals match than people who are not in the file"),
    _of("pseudonyms.crack_share", "fraction", "at_most",
        "expected cracks: the share of items linked to their pseudonym rightly"),
    _of("pseudonyms.degree_of_anonymity", "fraction", "at_least",
        "what is left of the uncertainty between items and pseudonyms (Delta)"),
)  # fmt: skip
MEASURES = {measure.name: measure for measure in _ALL}
"""Every measure by its name."""


def measure(name: str) -> Measure:
    """The measure of that name, or an error that names the nearest.

    >>> measure("singling_out.smallest_crowd").unit
    'people'
    """
    if name in MEASURES:
        return MEASURES[name]
    near = get_close_matches(name, MEASURES, n=1, cutoff=0.4)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise ParameterError(
        f"There is no measure {name!r}{hint}. The measures are: {', '.join(MEASURES)}."
    )
