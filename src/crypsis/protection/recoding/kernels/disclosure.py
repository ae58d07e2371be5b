# mypy: disable-error-code="no-any-return"
"""Whether a group of rows discloses values of a sensitive attribute beyond a baseline.

The rules of all attributes are one tuple, `rules` (see `crypsis.inference.rules`): (slot_edges,
bin_edges, level_edges, state_edges, window_edges, missing, bin_of, within, state_of, state_starts,
states, windows, lower, limits). Slots of attribute a are numbered from `slot_edges[a]`, its bins
from `bin_edges[a]`, its levels from `level_edges[a]`, the states of level l from `state_edges[l]`,
the kinds of its intervals from `window_edges[a]`. `states` has the prior of each state, whether it
is rare, whether it is harmless, and whether it is "missing"; `lower[n, x]` is the lower confidence
limit of x of n. The group has `rows[s]` rows of each slot, and a model expects `expected[b]` of each
bin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Floats
from crypsis.protection.recoding.kernels.inner import inner

_CERTAIN, _MODELED, _RARE = 0.9, 0.1, 0.5
_Z = 1.6448536269514722  # 95 %, one-sided
_SLACK = 1e-9


@inner
def _sure(count: float, trials: float, lower: Floats) -> float:
    """The lower confidence limit of a share (Clopper-Pearson, or Wilson's)."""
    share = count / trials
    if trials < lower.shape[0]:
        return lower[int(trials), int(count)]
    spread = _Z * np.sqrt(share * (1 - share) / trials + _Z**2 / (4 * trials**2))
    return max(0.0, (share + _Z**2 / (2 * trials) - spread) / (1 + _Z**2 / trials))


@inner
def _allowed(
    count: float, trials: float, base: float, prior: float, rare: bool, lower: Floats, limits: Floats
) -> bool:
    """Whether a state or interval with these rows is disclosed neither much nor certainly."""
    share = count / trials
    if share <= min(_MODELED, limits[0]):
        return True
    if rare and share >= _CERTAIN:
        return False
    sure = _sure(count, trials, lower)
    if sure <= _MODELED:
        return sure <= limits[0]
    return sure - base <= limits[0] + _SLACK and sure <= limits[1] * max(base, prior)


@inner
def undisclosed(rows: Floats, expected: Floats, total: float, rules: Any) -> bool:
    """Whether a group of `total` rows discloses nothing."""
    (
        slot_edges,
        _,
        level_edges,
        state_edges,
        window_edges,
        missing,
        bin_of,
        within,
        state_of,
        state_starts,
        states,
        windows,
        harmless,
        lower,
        limits,
    ) = rules
    for a in range(slot_edges.size - 1):
        first, last = slot_edges[a], slot_edges[a + 1]
        known, chance = total, 1.0
        if missing[a, 0] >= 0:
            known = total - rows[missing[a, 0]]
            chance = max(1 - expected[missing[a, 1]] / total, 1e-9)
        enough = known > 0 and 2 * known >= total
        trials = known if enough else total
        scale = total * (chance if enough else 1.0)
        for level in range(level_edges[a], level_edges[a + 1]):
            size = state_edges[level + 1] - state_edges[level]
            count, base = np.zeros(size), np.zeros(size)
            for s in range(first, last):
                state = state_of[state_starts[level] + s - first]
                count[state] += rows[s]
                base[state] += min(expected[bin_of[s]] / scale, 1.0) * within[s]
            for state in range(size):
                if count[state] == 0:
                    continue
                about = states[state_edges[level] + state]
                if about[2] > 0:
                    continue
                n, b = trials, base[state]
                if about[3] > 0:  # the state "missing" is one of all rows
                    n, b = total, base[state] * scale / total
                if not _allowed(count[state], n, b, about[0], about[1] > 0, lower, limits):
                    return False
        for w in range(window_edges[a], window_edges[a + 1]):
            count_in, base_in, prior_in, end = 0.0, 0.0, 0.0, first
            for s in range(first, last):
                if end < s:
                    end = s
                while end < windows[w, s]:
                    count_in += rows[end]
                    base_in += min(expected[bin_of[end]] / scale, 1.0) * within[end]
                    prior_in += harmless[end, 1]
                    end += 1
                alone = end == s + 1 and harmless[s, 0] > 0
                if s != missing[a, 0] and end > s and rows[s] > 0 and not alone:
                    rare = prior_in <= _RARE
                    if not _allowed(count_in, trials, base_in, 1.0, rare, lower, limits):
                        return False
                if end > s:
                    count_in -= rows[s]
                    base_in -= min(expected[bin_of[s]] / scale, 1.0) * within[s]
                    prior_in -= harmless[s, 1]
    return True
