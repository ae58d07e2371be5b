"""Can pseudonyms be resolved?"""

from __future__ import annotations

from typing import Any

from crypsis.assessment._questions._outcome import QuestionOutcome, not_evaluated
from crypsis.assessment._request import Request
from crypsis.policies import Measurement
from crypsis.results import number_text

_CRACKS = ("expected_crack_fraction", "near_certain_cracks")


def ask_pseudonyms(request: Request) -> QuestionOutcome:
    """Expected cracks and degree of anonymity under the given attack."""
    if request.belief is None:
        why = "No attack on the pseudonyms was given."
        return not_evaluated("pseudonyms", request.policy, why, hint="Set {attack}.")
    from crypsis import pseudonyms  # loading it takes a second

    degree_result = pseudonyms.anonymity(request.belief, seed=request.seed)
    degree = Measurement(
        "pseudonyms.degree_of_anonymity",
        degree_result.degree,
        f"The degree of anonymity is {number_text(degree_result.degree, '.3f')}.",
    )
    cracks = degree_result.expected_cracks
    if cracks is None or degree_result.worse_than_chance:
        why = "Expected cracks need the true assignment, which the attack does not include."
        if cracks is not None:
            why = (
                f"Expected cracks are {number_text(cracks, '.2g')}; a random assignment has 1. The "
                "attack does far worse than chance, so its belief and the true assignment are "
                "probably not aligned."
            )
        missing = [Measurement(f"pseudonyms.{name}", None, why, requested=True) for name in _CRACKS]
        return QuestionOutcome(degree.statement, [degree, *missing], {"anonymity": degree_result})
    headline = f"{number_text(cracks, '.3g')} of {degree_result.size:,} items are expected to be resolved."
    results: dict[str, Any] = {"anonymity": degree_result}
    certain = degree_result.near_certain_cracks or 0
    text = f"{certain:,} of {degree_result.size:,} items are resolved with a probability of 0.9 or more."
    expected, affected, complete = cracks / degree_result.size, round(cracks), True
    if degree_result.pairs is not None:
        pairs = results["pairs"] = degree_result.pairs
        complete = pairs.assigned_jointly
        if pairs.with_pairs > certain:
            certain = pairs.with_pairs
            text = f"{text} {pairs}"
        if pairs.expected > float(cracks):
            expected, affected = pairs.expected / degree_result.size, round(pairs.expected)
            headline = (
                f"{number_text(pairs.expected, '.3g')} of {degree_result.size:,} items are expected to be "
                "resolved by the frequencies of their pairs, "
                f"{number_text(cracks, '.3g')} without these."
            )
        if not complete:
            text = f"{text} There are too many items to assign all at once by their pairs."
    measured = Measurement(
        "pseudonyms.expected_crack_fraction", expected, headline, affected=affected, lower_bound=not complete
    )
    measurement = Measurement(
        "pseudonyms.near_certain_cracks", certain, text, affected=certain, lower_bound=not complete
    )
    return QuestionOutcome(headline, [measured, measurement, degree], results)
