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
    item_by_name = {item.item: item for item in policy.checklist}
    unsigned = [item for item, answer in answers.items() if not str(answer).strip()]
    if unsigned:
        raise ParameterError(
            f"The answer to {unsigned[0]!r} is empty. It must say who checked it, and when.",
            code="empty-answer",
            parameter="answers",
        )
    required = [
        entry for entry in item_by_name.values() if entry.when == "always" or judges_postal_codes(request)
    ]
    return tuple(
        ChecklistAnswer(entry.item, entry.why, entry.source or policy.source, answers.get(entry.item, ""))
        for entry in required
    )


def unanswered(checklist: Sequence[ChecklistAnswer]) -> tuple[Reason, ...]:
    """A reason for each item without an answer: the release cannot be called safe."""
    hint = "Answer it in the table [answers] of the {roles} file: who checked it, and when."
    return tuple(
        Reason("checklist", f"The checklist of the policy is not answered: {answer.item}.", hint)
        for answer in checklist
        if not answer.answer
    )
