"""Findings about pseudonyms: suppress the items that are most likely resolved."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crypsis.assessment._questions import ask_pseudonyms
from crypsis.assessment._remedies._tried import with_outcome
from crypsis.assessment._request import Request
from crypsis.policies import evaluate
from crypsis.policies.findings import Finding, Remedy, Status

if TYPE_CHECKING:
    from crypsis.pseudonyms import Belief

_MAX_ITEMS = 1_000
"""Of more items the number to suppress is not tried."""
_UNTRIED_LIMIT = 10
"""How many items are proposed where nothing is tried."""


def suppress_items_remedy(finding: Finding, request: Request, *, tried: bool) -> Remedy:
    """The fewest of the most exposed items whose suppression meets the threshold."""
    belief = request.belief
    text = "Suppress or merge the items that are most likely resolved."
    if belief is None or belief.truth is None:
        return Remedy("suppress_items", text)
    remedy = Remedy("suppress_items", text, {"limit": _UNTRIED_LIMIT})
    if not tried or belief.size > _MAX_ITEMS:
        return remedy
    from crypsis.pseudonyms import crack_probabilities

    exposed = np.argsort(-crack_probabilities(belief, seed=request.seed), kind="stable")
    low, high, enough = 1, belief.size - 1, None
    while low <= high:
        count = (low + high) // 2
        after = _suppressed(finding, request, belief, exposed[:count])
        if after is not None and after.status is Status.MET:
            high, enough = count - 1, (count, after)
        else:
            low = count + 1
    if enough is None:
        outcome = "Tried: no number of suppressed items meets the threshold."
        return replace(remedy, parameters={"limit": belief.size}, tried=True, outcome=outcome)
    count, after = enough
    loss = f"{count:,} of {belief.size:,} items {'is' if count == 1 else 'are'} suppressed."
    return with_outcome(replace(remedy, parameters={"limit": count}), finding, after, loss)


def _suppressed(
    finding: Finding, request: Request, belief: Belief, items: NDArray[np.intp]
) -> Finding | None:
    """The same finding without these items and their pseudonyms."""
    from crypsis.pseudonyms import Belief

    rows = np.setdiff1d(np.arange(belief.size), items)
    theirs = np.asarray(belief.truth)[rows]
    columns = np.sort(theirs)
    truth = np.searchsorted(columns, theirs)
    rest = Belief(belief.matrix[rows][:, columns], truth=truth.tolist())
    outcome = ask_pseudonyms(replace(request, belief=rest))
    findings = evaluate(request.policy, outcome.measured)
    return next((repeated for repeated in findings if repeated.measure == finding.measure), None)
