"""Findings about pseudonyms: leave out the items that are cracked most surely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crypsis._assess._questions import ask_pseudonyms
from crypsis._assess._remedies._setting import Setting, line, seen
from crypsis.policy import hold
from crypsis.results import Finding, Remedy, Status

if TYPE_CHECKING:
    from crypsis.pseudonyms import Belief

_TRIED_UP_TO = 1_000
_TEXT = "Leave out or merge the items that are cracked most surely; this lists them."


def without_exposed(finding: Finding, setting: Setting, *, tried: bool) -> Remedy:
    """The fewest of the most exposed items whose absence meets the policy, where it is tried."""
    belief = setting.belief
    if belief is None or belief.truth is None:
        return Remedy(_TEXT, None)
    if not tried or belief.size > _TRIED_UP_TO:
        return Remedy(_TEXT, _command(setting, 10))
    from crypsis.pseudonyms import crack_probabilities

    exposed = np.argsort(-crack_probabilities(belief, seed=setting.seed), kind="stable")
    least, most, enough = 1, belief.size - 1, None
    while least <= most:
        number = (least + most) // 2
        after = _without(finding, setting, belief, exposed[:number])
        if after is not None and after.status is Status.WITHIN:
            most, enough = number - 1, (number, after)
        else:
            least = number + 1
    if enough is None:
        told = "Tried: however many are left out, it is not enough."
        return Remedy(_TEXT, _command(setting, belief.size), True, None, told)
    number, after = enough
    lost = f"{number:,} of {belief.size:,} items are left out."
    return seen(_TEXT, _command(setting, number), finding, after, lost)


def _without(
    finding: Finding, setting: Setting, belief: Belief, gone: NDArray[np.intp]
) -> Finding | None:
    """The same finding once these items and their pseudonyms are out of the release."""
    from crypsis.pseudonyms import Belief

    rows = np.setdiff1d(np.arange(belief.size), gone)
    theirs = np.asarray(belief.truth)[rows]
    columns = np.sort(theirs)
    truth = np.searchsorted(columns, theirs)
    left = Belief(belief.matrix[rows][:, columns], truth=truth.tolist())
    found = hold(setting.policy, ask_pseudonyms(left, setting.policy, setting.seed).measured)
    return next((one for one in found if one.measure == finding.measure), None)


def _command(setting: Setting, items: int) -> str:
    return line(["crypsis", "attack", "file", setting.attack, "--most", str(items), "--reveal"])
