"""The checklist of a policy: what a program cannot verify, and the owner's signed answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crypsis.assessment._request import Request
from crypsis.assessment._safe_harbor import judges_postal_codes
from crypsis.errors import ParameterError
from crypsis.policies.assessed import ChecklistAnswer
from crypsis.policies.findings import Reason


def answered_checklist(request: Request, answers: Mapping[str, str]) -> tuple[ChecklistAnswer, ...]:
    """The items that apply to this release, each with its answer or without."""
    policy = request.policy
    known = {one.item: one for one in policy.checklist}
    unsigned = [item for item, answer in answers.items() if not str(answer).strip()]
    if unsigned:
        raise ParameterError(
            f"The answer to {unsigned[0]!r} is empty. It must say who checked it, and when.",
            code="empty-answer",
            parameter="answers",
        )
    asked = [one for one in known.values() if one.when == "always" or judges_postal_codes(request)]
    return tuple(
        ChecklistAnswer(one.item, one.why, one.source or policy.source, answers.get(one.item, ""))
        for one in asked
    )


def unanswered(checklist: Sequence[ChecklistAnswer]) -> tuple[Reason, ...]:
    """A reason for each item without an answer: the release cannot be called safe."""
    hint = "Answer it in the table [answers] of the {roles} file: who checked it, and when."
    return tuple(
        Reason("checklist", f"The checklist of the policy is not answered: {one.item}.", hint)
        for one in checklist
        if not one.answer
    )
