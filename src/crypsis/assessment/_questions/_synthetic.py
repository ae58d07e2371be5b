"""Does a synthetic file disclose the people of its training data?"""

from __future__ import annotations

from typing import Any

from crypsis.assessment._questions._outcome import QuestionOutcome, not_evaluated
from crypsis.assessment._request import Request
from crypsis.errors import ParameterError
from crypsis.policies import Measurement, Policy
from crypsis.report.wording import plural
from crypsis.results import Estimate, percent_text

_ATTACKS = {
    "copies": ("copies",),
    "membership": ("membership", "near copies"),
    "singling_out": ("singling out",),
    "linkability": ("linkability",),
    "inference": ("inference",),
}
_INVENTED = "The records are synthetic: classes of invented people show nothing of real ones."
_ENOUGH = "Set {holdout} to enough records of people who are not in the training data."
_MIN_EXPOSED_SHARE = 0.025
"""The share of training records whose exposure has to be seen, for the worst cases to be judged."""
_NO_CONTROL = "Without a holdout the attacks have no control group; that nothing leaks cannot be shown."


def check_synthetic(request: Request) -> None:
    """A synthetic file needs its training data, and excludes what is about records of people."""
    if not request.synthetic:
        if request.holdout is not None:
            raise ParameterError(
                "A holdout is the control group of a synthetic file.", hint="Set {synthetic}."
            )
        return
    if not request.policy.of("synthetic"):
        raise ParameterError(
            f"Policy {request.policy.name!r} has no threshold on synthetic files.",
            code="no-threshold",
            hint="Set {policy} to one that has.",
            parameter="policy",
        )
    unused: dict[str, Any] = {
        "attack": request.belief,
        "earlier": request.earlier or request.ledger,
        "on": request.on,
        "key": request.row_map,
    }
    stated = [name for name, value in unused.items() if value]
    if stated:
        raise ParameterError(
            "Records of a synthetic file are of nobody, so no record corresponds to a person.",
            hint=f"Remove {{{stated[0]}}}.",
        )


def not_of_synthetic(policy: Policy) -> list[Measurement]:
    """The other questions do not arise."""
    return [
        measurement
        for question in ("singling_out", "inference", "linkage", "pseudonyms")
        for measurement in not_evaluated(question, policy, _INVENTED, applies=False).measured
    ]


def ask_synthetic(request: Request) -> QuestionOutcome:
    """The attacks on the training data, each beside the same attack on the control group."""
    if request.original is None:
        why = "The training data of the synthetic file was not given."
        return not_evaluated("synthetic", request.policy, why, hint="Set {original}.", requested=True)
    from crypsis import synthetic  # loading it takes a second

    synthetic_risk = synthetic.synthetic_risk(
        request.data, request.original, request.holdout, seed=request.seed
    )
    outcome = QuestionOutcome(results={"synthetic_risk": synthetic_risk})
    outcome.measured = [*(_measured(synthetic_risk, name) for name in _ATTACKS), _exposed(synthetic_risk)]
    outcome.headline = outcome.measured[0].statement
    outcome.notes = [
        measurement.statement for measurement in outcome.measured[1:] if measurement.value is not None
    ]
    outcome.notes += [*synthetic_risk.problems, *([] if synthetic_risk.holdout_records else [_NO_CONTROL])]
    return outcome


def _measured(synthetic_risk: Any, name: str) -> Measurement:
    measure = f"synthetic.{name}"
    attacks = [attack for each in _ATTACKS[name] if (attack := synthetic_risk.worst(each)) is not None]
    if not attacks:
        return Measurement(measure, None, "The attack was not possible.", requested=True)
    worst = max(attacks, key=lambda attack: float(attack.advantage or attack.success))
    columns = () if worst.column is None else (worst.column,)
    if worst.advantage is None:
        text = (
            f"An intruder who knows {worst.knows} {worst.tries}: {percent_text(worst.success.value)} "
            "of the training records. How often that is chance is not known."
        )
        return Measurement(measure, None, text, columns, requested=True, hint="Set {holdout}.")
    low, high = (max(0.0, *(getattr(attack.advantage, end) for attack in attacks)) for end in ("low", "high"))
    estimate = Estimate(
        min(max(worst.advantage.value, low), high),
        low,
        high,
        worst.advantage.confidence,
        worst.advantage.method,
    )
    text = (
        f"An intruder who knows {worst.knows} {worst.tries}: "
        f"{percent_text(worst.success.value)} of the training records, "
        f"{percent_text(worst.control.value)} of the control group."
    )
    return Measurement(
        measure,
        estimate,
        text,
        columns,
        round(low * synthetic_risk.training_records),
        requested=True,
        lower_bound=bool(synthetic_risk.problems) or synthetic_risk.holdout_records is None,
        hint=_ENOUGH,
    )


def _exposed(synthetic_risk: Any) -> Measurement:
    """The worst cases: records above the complete control group."""
    measure = "synthetic.exposed_records"
    if synthetic_risk.unusual_records is None:
        return Measurement(measure, None, _NO_CONTROL, requested=True, hint="Set {holdout}.")
    targets, unusual, limit = (
        synthetic_risk.rows.size,
        synthetic_risk.unusual_records,
        synthetic_risk.unusual_by_chance,
    )
    text = (
        f"{plural(unusual, 'training record')} of {targets:,} {'is' if unusual == 1 else 'are'} "
        f"recognized with more certainty than anybody of the control group; chance explains "
        f"{plural(limit - 1, 'record')} at most."
    )
    if unusual < limit and limit > _MIN_EXPOSED_SHARE * targets:
        return Measurement(
            measure,
            None,
            f"{text} The control group is too small to see fewer.",
            requested=True,
            hint=_ENOUGH,
        )
    exposed = unusual if unusual >= limit else 0
    return Measurement(
        measure,
        exposed,
        text,
        (),
        exposed,
        requested=True,
        lower_bound=bool(synthetic_risk.problems),
        hint=_ENOUGH,
    )
