"""Do the pseudonyms hold?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crypsis._assess._questions._asked import Asked, unanswered
from crypsis.policy import Measurement, Policy
from crypsis.results import Estimate, Number

if TYPE_CHECKING:
    from crypsis.pseudonyms import Belief


def ask_pseudonyms(belief: Belief | None, policy: Policy, seed: int) -> Asked:
    """What an attack on the pseudonyms leaves."""
    if belief is None:
        text = "Not asked: an attack is needed (--attack FILE)."
        return unanswered("pseudonyms", policy, text)
    from crypsis import pseudonyms  # not before it is asked for: it takes a second to load

    found = pseudonyms.measure(belief, seed=seed)
    asked = Asked("", results={"anonymity": found})
    degree = float(found.degree)
    asked.measured.append(
        Measurement("pseudonyms.degree_of_anonymity", found.degree,
                    f"{degree:.3f} of the uncertainty between items and pseudonyms is left.")
    )  # fmt: skip
    if found.expected_cracks is None:
        why = "Cracks are counted against the truth, which the attack file does not give."
        asked.measured.append(Measurement("pseudonyms.crack_share", None, why, asked=True))
        return Asked(asked.measured[0].statement, asked.measured, asked.results)
    cracks = float(found.expected_cracks)
    text = f"{cracks:.3g} of {found.size:,} items are expected to be cracked."
    asked.measured.insert(
        0,
        Measurement("pseudonyms.crack_share", _over(found.expected_cracks, found.size), text,
                    people=round(cracks)),
    )  # fmt: skip
    return Asked(text, asked.measured, asked.results)


def _over(number: Number, size: int) -> Number:
    if isinstance(number, Estimate):
        return Estimate(number.value / size, number.low / size, number.high / size,
                        number.confidence, number.method, number.assumes)  # fmt: skip
    return float(number) / size
