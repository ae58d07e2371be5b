"""Every measure that a policy may limit: its meaning, its unit, and the direction of the limit."""

from __future__ import annotations

from difflib import get_close_matches

from crypsis.errors import ParameterError
from crypsis.results import Result

QUESTIONS = {
    "columns": "Are there direct identifiers or free text?",
    "singling_out": "Can one person be singled out?",
    "inference": "Can a sensitive attribute be inferred?",
    "linkage": "Can a masked record be linked to its original?",
    "pseudonyms": "Can pseudonyms be resolved?",
    "releases": "Can it be combined with earlier releases?",
    "synthetic": "Does it disclose the people behind synthetic records?",
}
"""The four questions, that about the columns themselves, and those about what else is given."""
IF_GIVEN = ("releases", "synthetic")
"""The questions that are asked only about what is given besides the release."""


class Measure(Result):
    """A number that a policy may limit."""

    name: str
    unit: str
    limit: str
    """Whether a threshold is the most ("at_most") or the least ("at_least") that is allowed."""
    meaning: str
    parameter: str | None = None
    """A parameter of the measure itself: the class size `k`, or the number of known `events`."""

    @property
    def question(self) -> str:
        """The question it answers."""
        return self.name.split(".")[0]


_ALL = (
    Measure(
        "columns.direct_identifiers", "columns", "at_most", "columns that identify a person by themselves"
    ),
    Measure(
        "columns.identifiers_by_evidence",
        "columns",
        "at_most",
        "columns of another role whose name or values show a direct identifier, without a written reason",
    ),
    Measure(
        "columns.undecided",
        "columns",
        "at_most",
        "columns whose role is not decided; where there are any, it is not evaluated",
    ),
    Measure(
        "columns.container_contents",
        "items",
        "at_most",
        "what the file contains besides the table, or can contain (metadata, other files, what a workbook or "
        "a database hides), and nobody signed off; where there is anything, it is not evaluated",
    ),
    Measure(
        "columns.free_text", "columns", "at_most", "columns of free text, whose content cannot be measured"
    ),
    Measure(
        "columns.hipaa_identifiers",
        "columns",
        "at_most",
        "columns with one of the 18 identifiers of HIPAA, except places, dates and ages",
    ),
    Measure(
        "columns.geographic_subdivisions",
        "columns",
        "at_most",
        "columns of places smaller than a state, except the first three digits of postal "
        "codes whose area has more than 20,000 people",
    ),
    Measure(
        "columns.dates_finer_than_year",
        "columns",
        "at_most",
        "columns of dates related to a person that are finer than the year",
    ),
    Measure(
        "columns.ages_over_89", "columns", "at_most", "columns of ages with single years of age above 89"
    ),
    Measure(
        "singling_out.k_anonymity", "records", "at_least", "the size of the smallest equivalence class (k)"
    ),
    Measure(
        "singling_out.records_in_small_classes",
        "fraction",
        "at_most",
        "the fraction of records in equivalence classes smaller than `k`",
        "k",
    ),
    Measure(
        "singling_out.sample_uniqueness",
        "fraction",
        "at_most",
        "the fraction of records that are unique in the release",
    ),
    Measure(
        "singling_out.prosecutor_risk",
        "fraction",
        "at_most",
        "the highest re-identification risk of a record if the intruder knows that the person "
        "is in the release (1/k)",
    ),
    Measure(
        "singling_out.prosecutor_average_risk",
        "fraction",
        "at_most",
        "the average prosecutor risk of the records",
    ),
    Measure(
        "singling_out.journalist_risk",
        "fraction",
        "at_most",
        "the highest re-identification risk of a record if the intruder does not know that the "
        "person is in the release: by the table of the population, or by the weights",
    ),
    Measure(
        "singling_out.journalist_average_risk",
        "fraction",
        "at_most",
        "the average journalist risk of the records",
    ),
    Measure(
        "singling_out.journalist_records_at_risk",
        "fraction",
        "at_most",
        "the fraction of records whose journalist risk is above 1/`k`",
        "k",
    ),
    Measure(
        "singling_out.marketer_risk",
        "fraction",
        "at_most",
        "the average re-identification risk: the fraction of records that an intruder "
        "re-identifies who attacks all of them",
    ),
    Measure(
        "singling_out.individual_risk",
        "fraction",
        "at_most",
        "the highest individual risk of a record, by the weights (Benedetti and Franconi)",
    ),
    Measure(
        "singling_out.individual_average_risk",
        "fraction",
        "at_most",
        "the average individual risk: the expected fraction of records re-identified",
    ),
    Measure(
        "singling_out.individual_records_at_risk",
        "fraction",
        "at_most",
        "the fraction of records whose individual risk is above 1/`k`",
        "k",
    ),
    Measure(
        "singling_out.unique_match_risk",
        "fraction",
        "at_most",
        "the probability that a match with a record that is unique in the sample is correct, by "
        "the weights and clusters (data intrusion simulation)",
    ),
    Measure(
        "singling_out.household_risk",
        "fraction",
        "at_most",
        "the highest probability that at least one member of a household is re-identified",
    ),
    Measure(
        "singling_out.household_average_risk",
        "fraction",
        "at_most",
        "the average of that probability over the households",
    ),
    Measure(
        "singling_out.households_at_risk",
        "fraction",
        "at_most",
        "the fraction of households whose risk is above 1/`k`",
        "k",
    ),
    Measure(
        "singling_out.special_uniques",
        "fraction",
        "at_most",
        "the fraction of records that up to three quasi-identifiers make unique (SUDA)",
    ),
    Measure(
        "singling_out.dis_suda",
        "fraction",
        "at_most",
        "the highest DIS-SUDA score of a record: the probability that a unique match is "
        "correct, spread by the SUDA scores",
    ),
    Measure(
        "singling_out.dis_suda_records_at_risk",
        "fraction",
        "at_most",
        "the fraction of records whose DIS-SUDA score is above 1/`k`",
        "k",
    ),
    Measure(
        "singling_out.k_map",
        "records",
        "at_least",
        "the smallest number of records of the population's table that match a record (k-map)",
    ),
    Measure(
        "singling_out.delta_presence",
        "fraction",
        "at_most",
        "the highest probability that a person of the population is in the release (delta)",
    ),
    Measure(
        "singling_out.population_uniqueness",
        "fraction",
        "at_most",
        "the fraction of people who are unique in the population",
    ),
    Measure(
        "singling_out.unique_on_released_columns",
        "fraction",
        "at_most",
        "the fraction of records that are unique on all released columns except one sensitive "
        "attribute; columns that the owner signed off are not known to the intruder",
    ),
    Measure(
        "singling_out.unicity",
        "fraction",
        "at_most",
        "the fraction of people whom an intruder singles out who knows `events` of the records "
        "that a released column links, and maybe their order, their number, or which is the "
        "first and the last",
        "events",
    ),
    Measure(
        "singling_out.small_classes_on_released_columns",
        "fraction",
        "at_most",
        "the fraction of records in classes smaller than `k` of all released columns that are "
        "not sensitive and that the owner did not sign off",
        "k",
    ),
    Measure(
        "inference.attribute_gain",
        "fraction",
        "at_most",
        "in the worst equivalence class, the probability of inferring a categorical sensitive "
        "attribute correctly by its most frequent value, minus that in all records",
    ),
    Measure(
        "inference.value_gain",
        "fraction",
        "at_most",
        "the largest share of a sensitive value in an equivalence class minus the prior of the same value",
    ),
    Measure(
        "inference.value_ratio",
        "times",
        "at_most",
        "the largest ratio between the share of a sensitive value in an equivalence class and "
        "the prior of the same value, by the lower confidence limit of the share; of values "
        "that are likely with more than 10 %",
    ),
    Measure(
        "inference.baseline_excess",
        "fraction",
        "at_most",
        "the largest share of a sensitive value in an equivalence class, by its lower "
        "confidence limit unless it is rare or declared and near-certain, minus the baseline: what "
        "a model fitted without the members of the class predicts for them",
    ),
    Measure(
        "inference.baseline_ratio",
        "times",
        "at_most",
        "the same as a ratio to the baseline or, if that is larger, the prior; of values that "
        "are likely with more than 10 %",
    ),
    Measure(
        "inference.near_certain_values",
        "records",
        "at_most",
        "the records in equivalence classes where at least 90 % share a rare or declared "
        "sensitive value, group of values or interval, whatever a model explains",
    ),
    Measure(
        "inference.interval_disclosure",
        "fraction",
        "at_most",
        "the largest probability that a sensitive number or date is known within a narrow "
        "interval (10 % or 3 % of the value, or a twentieth of the spread), minus the "
        "baseline",
    ),
    Measure(
        "inference.presence_disclosure",
        "fraction",
        "at_most",
        "the largest share of a sensitive value in all records: what presence in the release discloses",
    ),
    Measure(
        "inference.t_closeness",
        "fraction",
        "at_most",
        "the largest distance between the distribution of a sensitive attribute in an "
        "equivalence class and in all records (t)",
    ),
    Measure(
        "inference.ordered_t_closeness",
        "fraction",
        "at_most",
        "t-closeness of the sensitive numbers and dates alone",
    ),
    Measure(
        "inference.l_diversity",
        "values",
        "at_least",
        "the fewest distinct values of a sensitive attribute in an equivalence class (distinct l-diversity)",
    ),
    Measure("inference.itpr", "fraction", "at_most", "the inference risk of itpr2019, Definition 4.2"),
    Measure(
        "inference.prediction_gain",
        "fraction",
        "at_most",
        "how much of a sensitive attribute a model predicts for held-out records from all "
        "other released columns: the share of its errors without them that they avoid, or of "
        "the records with a value that are predicted almost certainly",
    ),
    Measure(
        "inference.history_disclosure",
        "fraction",
        "at_most",
        "the fraction of pairs of a person and a sensitive value that an intruder infers almost "
        "certainly who knows `events` of the records that a released column links: at least 90 % "
        "of the people whose records match have the value; of values that at most half of the "
        "people have",
        "events",
    ),
    Measure(
        "linkage.correct_links_above_chance",
        "fraction",
        "at_most",
        "the fraction of original records that the worst of several intruders links "
        "correctly, minus that of random links",
    ),
    Measure(
        "linkage.match_advantage",
        "fraction",
        "at_most",
        "how much nearer the original records match than random records do",
    ),
    Measure(
        "pseudonyms.expected_crack_fraction",
        "fraction",
        "at_most",
        "expected cracks: the fraction of items assigned to their own pseudonym",
    ),
    Measure(
        "pseudonyms.near_certain_cracks",
        "items",
        "at_most",
        "items assigned to their own pseudonym with a probability of 0.9 or more, by the "
        "attack or by how often they occur together with other items",
    ),
    Measure(
        "pseudonyms.degree_of_anonymity",
        "fraction",
        "at_least",
        "the fraction of the uncertainty between items and pseudonyms that remains (Delta)",
    ),
    Measure(
        "releases.joint_small_classes",
        "fraction",
        "at_most",
        "the fraction of records that an intruder finds with a probability above 1/`k` who has "
        "all releases: the classes of a person in them are intersected",
        "k",
    ),
    Measure(
        "releases.inference_gain",
        "fraction",
        "at_most",
        "the fraction of sensitive values guessed correctly by all releases together, minus "
        "that by the best of them alone",
    ),
    Measure(
        "releases.near_certain_values",
        "records",
        "at_most",
        "the records of which a sensitive value that at most half of them have is at least 90 % "
        "likely by all releases together, and not by one of them",
    ),
    Measure(
        "releases.small_differences",
        "records",
        "at_most",
        "the records added, removed or changed between releases that are in classes of such "
        "records smaller than `k`",
        "k",
    ),
    Measure(
        "releases.reused_pseudonyms",
        "columns",
        "at_most",
        "the columns that connect the records of a person in several releases, and that the "
        "owner did not sign off",
    ),
    Measure(
        "synthetic.copies",
        "fraction",
        "at_most",
        "the fraction of training records of which an equal one is in the synthetic file, minus "
        "that of the control group",
    ),
    Measure(
        "synthetic.membership",
        "fraction",
        "at_most",
        "the fraction of training records that an intruder recognizes as such, by the nearest "
        "synthetic record or by the ratio of densities, minus that of the control group",
    ),
    Measure(
        "synthetic.exposed_records",
        "records",
        "at_most",
        "the worst cases: the training records recognized with more certainty than anybody of "
        "the control group, if they are more than chance explains",
    ),
    Measure(
        "synthetic.singling_out",
        "fraction",
        "at_most",
        "the fraction of predicates from the synthetic file that single out a training record, "
        "minus that of the control group",
    ),
    Measure(
        "synthetic.linkability",
        "fraction",
        "at_most",
        "the fraction of training records whose two halves are linked by a synthetic record, "
        "minus that of the control group",
    ),
    Measure(
        "synthetic.inference",
        "fraction",
        "at_most",
        "the fraction of training records of which a sensitive attribute is inferred from the "
        "nearest synthetic record, minus that of the control group; the worst attribute",
    ),
)
MEASURES = {measure.name: measure for measure in _ALL}
"""Every measure by its name."""


def measure(name: str) -> Measure:
    """The measure of that name.

    Parameters
    ----------
    name : str
        The question and the measure, such as `singling_out.k_anonymity`.

    Returns
    -------
    Measure

    Raises
    ------
    ParameterError
        If there is no such measure; the error names the nearest.

    Examples
    --------
    >>> measure("singling_out.k_anonymity").unit
    'records'
    """
    if name in MEASURES:
        return MEASURES[name]
    nearest = get_close_matches(name, MEASURES, n=1, cutoff=0.4)
    meant = f" (did you mean {nearest[0]!r}?)" if nearest else ""
    raise ParameterError(
        f"{name!r} is not a measure{meant}. The measures are: {', '.join(MEASURES)}.",
        code="unknown-measure",
        parameter="measure",
    )
