"""The measures in plain words, for those who do not know the terms."""

from __future__ import annotations

from crypsis.report.wording import measure_title

_PLAIN = {
    "columns.direct_identifiers": "Columns that identify a person",
    "columns.identifiers_by_evidence": "Columns that seem to identify a person",
    "columns.undecided": "Columns whose role nobody decided",
    "columns.container_contents": "What else is in the file",
    "columns.free_text": "Columns of free text",
    "columns.hipaa_identifiers": "Columns with an identifier of the list of HIPAA",
    "columns.geographic_subdivisions": "Places smaller than a state",
    "columns.dates_finer_than_year": "Dates with a month or day",
    "columns.ages_over_89": "Ages above 89 in single years",
    "singling_out.k_anonymity": "Records in the smallest group of equal ones",
    "singling_out.records_in_small_classes": "Records with fewer than {others} others like them",
    "singling_out.sample_uniqueness": "Records with no other like them",
    "singling_out.prosecutor_risk": "Highest risk of a person known to be in the release",
    "singling_out.prosecutor_average_risk": "Average risk of a person known to be in the release",
    "singling_out.journalist_risk": "Highest risk of a person not known to be in the release",
    "singling_out.journalist_average_risk": "Average risk of a person not known to be in the release",
    "singling_out.journalist_records_at_risk": "Records at risk, of people not known to be in the release",
    "singling_out.marketer_risk": "Share of people found by someone who tries all of them",
    "singling_out.individual_risk": "Highest risk of a record, by the survey weights",
    "singling_out.individual_average_risk": "Average risk of a record, by the survey weights",
    "singling_out.individual_records_at_risk": "Records at risk, by the survey weights",
    "singling_out.unique_match_risk": "How often a match with a unique record is right",
    "singling_out.household_risk": "Highest risk of a household",
    "singling_out.household_average_risk": "Average risk of a household",
    "singling_out.households_at_risk": "Households at risk",
    "singling_out.special_uniques": "Records that few columns make unique",
    "singling_out.dis_suda": "Highest risk of a record that few columns make unique",
    "singling_out.dis_suda_records_at_risk": "Records at risk, as few columns make them unique",
    "singling_out.k_map": "People of the population who fit a record, the fewest",
    "singling_out.delta_presence": "How sure one can be that a person is in the release",
    "singling_out.population_uniqueness": "People who are unique in the population",
    "singling_out.unique_on_released_columns": "Records unique in all that is released, "
    "at most one sensitive attribute left out",
    "singling_out.unicity": "People found by a few of their records",
    "singling_out.small_classes_on_released_columns": "Records with fewer than {others} others like "
    "them in all that is released",
    "inference.attribute_gain": "How much better the best guess of a value becomes",
    "inference.value_gain": "How much likelier a value becomes",
    "inference.value_ratio": "How many times likelier a value becomes",
    "inference.baseline_excess": "How much likelier a value is in a group than one could predict",
    "inference.baseline_ratio": "How many times likelier a value is in a group than one could predict",
    "inference.near_certain_values": "Records of which a value is nearly certain",
    "inference.interval_disclosure": "How much likelier an approximate number or date becomes",
    "inference.presence_disclosure": "What is known of everybody who is in the release",
    "inference.t_closeness": "How far a group differs from all records",
    "inference.ordered_t_closeness": "How far the numbers of a group differ from those of all records",
    "inference.l_diversity": "Different values in a group, the fewest",
    "inference.itpr": "What a group reveals of a value",
    "inference.prediction_gain": "How well other columns predict a value",
    "inference.history_disclosure": "Values inferred from a few known records of a person",
    "linkage.correct_links_above_chance": "Records found again by someone who has the original",
    "linkage.match_advantage": "How much nearer the originals are than other records",
    "pseudonyms.expected_crack_fraction": "Pseudonyms expected to be resolved",
    "pseudonyms.near_certain_cracks": "Pseudonyms resolved nearly certainly",
    "pseudonyms.degree_of_anonymity": "How much uncertainty the pseudonyms leave",
    "releases.joint_small_classes": "Records found with all releases together",
    "releases.inference_gain": "How much better a guess is with all releases",
    "releases.near_certain_values": "Records of which a value is nearly certain with all releases",
    "releases.small_differences": "Few records that differ between releases",
    "releases.reused_pseudonyms": "Columns that connect a person's records in several releases",
    "synthetic.copies": "Copies of real records",
    "synthetic.membership": "Real people recognized as part of the training data",
    "synthetic.exposed_records": "The most exposed real people",
    "synthetic.singling_out": "Real people singled out by synthetic records",
    "synthetic.linkability": "Halves of real records linked by synthetic records",
    "synthetic.inference": "Values of real people inferred from synthetic records",
}


def plain_title(name: str, k: int | None = None) -> str:
    """A measure in plain words, with its term.

    Parameters
    ----------
    name : str
        The measure, such as "inference.baseline_excess".
    k : int, optional
        The class size that it refers to.

    Returns
    -------
    str
        The words, and the term in parentheses where it says something else.

    Examples
    --------
    >>> plain_title("singling_out.records_in_small_classes", 5)
    'Records with fewer than 4 others like them (records in classes smaller than 5)'
    >>> plain_title("columns.free_text")
    'Columns of free text'
    """
    term = measure_title(name, k)
    plain = _PLAIN.get(name, term).format(others=(k or 2) - 1)
    return plain if term.casefold() in plain.casefold() else f"{plain} ({term})"
