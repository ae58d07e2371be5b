"""The privacy requirements that meet a policy's thresholds on classes and sensitive attributes."""

from __future__ import annotations

import math

from crypsis.policies._policy import Policy, Threshold

_CLOSENESS = (
    "inference.t_closeness",
    "inference.ordered_t_closeness",
    "inference.attribute_gain",
    "inference.value_gain",
)
_EXCESS = ("inference.baseline_excess", "inference.interval_disclosure", "inference.near_certain_values")


_AVERAGE = ("singling_out.prosecutor_average_risk", "singling_out.marketer_risk")
_MAP = ("singling_out.k_map", "singling_out.journalist_risk")
_BY_WEIGHTS = ("singling_out.journalist_risk", "singling_out.individual_risk")
_ABOVE = ("singling_out.journalist_records_at_risk", "singling_out.individual_records_at_risk")


def requirements_for(
    policy: Policy, *, sensitive: bool = True, population: bool = False, weighted: bool = False
) -> dict[str, int | float]:
    """The requirements of an anonymization that meets a policy, as far as requirements can.

    The class size is that of the policy's own measures: k itself, one over the highest risk, or one
    over the fraction of correct links where links are required. Limits of the average risk, of
    k-map, of the journalist risk (one over k-map) and of delta-presence are requirements of their
    own. For categories t-closeness bounds
    the gain of every value by t, so a limit of the gain becomes one of t (Li, Li & Venkatasubramanian
    2007). Limits of the excess over the baseline become one of the excess.

    Parameters
    ----------
    policy : Policy
        The thresholds to meet.
    sensitive : bool
        Whether the dataset has sensitive attributes; without them nothing is required of any.
    population : bool
        Whether the table of the population is known; without it nothing is required against it.
    weighted : bool
        Whether it has the weights of a sample, which limits of journalist and individual risk need.

    Returns
    -------
    dict
        Keywords of `protection.plan` and of `protection.PrivacyRequirements`: `k`, `average_risk`,
        `k_map`, `presence`, `journalist_risk`, `diversity`, `closeness`, `excess`, each where the
        policy limits it.

    Examples
    --------
    >>> from crypsis.policies import load_policy
    >>> requirements_for(load_policy("default")), requirements_for(load_policy("ema-0070"))
    ({'k': 5, 'excess': 0.2}, {'k': 11, 'diversity': 2})
    """
    required: dict[str, int | float] = {}
    sizes = [size for threshold in policy.thresholds if (size := _class_size(threshold))]
    if sizes:
        required["k"] = max(2, *sizes)
    risks = {threshold.measure: threshold.limit for threshold in policy.of("singling_out")}
    averages = [risks[name] for name in _AVERAGE if risks.get(name)]
    if averages:
        required["average_risk"] = min(averages)
    if population:
        people = [risks[_MAP[0]]] if _MAP[0] in risks else []
        people += [1 / risks[_MAP[1]] - 1e-9] if risks.get(_MAP[1]) else []
        if people:
            required["k_map"] = math.ceil(max(people))
        if risks.get("singling_out.delta_presence"):
            required["presence"] = risks["singling_out.delta_presence"]
    by_weights = [threshold.limit for threshold in policy.thresholds if threshold.measure in _BY_WEIGHTS]
    by_weights += [
        1 / threshold.k for threshold in policy.thresholds if threshold.measure in _ABOVE and threshold.k
    ]
    if weighted and not population and by_weights and min(by_weights) > 0:
        required["journalist_risk"] = min(by_weights)
    if sensitive:
        limits = {threshold.measure: threshold.limit for threshold in policy.of("inference")}
        if "inference.l_diversity" in limits:
            required["diversity"] = int(limits["inference.l_diversity"])
        close = [limits[name] for name in _CLOSENESS if name in limits]
        if close:
            required["closeness"] = min(close)
        excess = [limits[name] or _ALL for name in _EXCESS if name in limits]
        if excess:
            required["excess"] = min(excess)
    return required


_ALL = 1.0
"""Only near-certain values are limited: every excess is allowed."""


def _class_size(threshold: Threshold) -> int | None:
    """The class size from which a threshold is met, where one is enough."""
    name, limit = threshold.measure, threshold.limit
    if name == "singling_out.records_in_small_classes":
        return threshold.k
    if name == "singling_out.k_anonymity":
        return math.ceil(limit)
    if name in ("singling_out.sample_uniqueness", "singling_out.unique_on_released_columns"):
        return 2
    links = name == "linkage.correct_links_above_chance" and threshold.required
    if (name == "singling_out.prosecutor_risk" or links) and limit > 0:
        return math.ceil(1 / limit - 1e-9)
    return None
