"""Can it be combined with earlier releases?"""

from __future__ import annotations

from typing import Any

from crypsis.assessment._questions._outcome import QuestionOutcome, not_evaluated
from crypsis.assessment._request import Request
from crypsis.errors import ParameterError
from crypsis.policies import Measurement
from crypsis.report.wording import listed, plural
from crypsis.results import Estimate, Number, percent_text

_SMALL_CLASSES = "releases.joint_small_classes"
_DIFFERENCES = "releases.small_differences"
_GAIN = "releases.inference_gain"
_NEAR_CERTAIN = "releases.near_certain_values"
_REUSED = "releases.reused_pseudonyms"
_DECIDE = "Set {earlier_roles}, or {accept_guesses}."
_RENAME = (
    "Give columns of the same meaning the same name in all releases, or set {earlier_keys} to the "
    "re-identification keys."
)
_CONNECT = (
    "Set {earlier_keys} to the re-identification keys, or {on} to a column that identifies people "
    "in all releases."
)


def check_earlier(request: Request) -> None:
    """Earlier releases are given only to a policy that limits what they disclose."""
    has_earlier = request.earlier or request.ledger is not None
    if has_earlier and not request.policy.of("releases"):
        raise ParameterError(
            f"Policy {request.policy.name!r} has no threshold on earlier releases.",
            code="no-threshold",
            hint="Set {policy} to one that has, or remove {earlier}.",
            parameter="earlier",
        )


def ask_releases(request: Request) -> QuestionOutcome:
    """The joint risk with the earlier releases, and the differences between them."""
    if not request.earlier:
        why = "No earlier release was given."
        return not_evaluated("releases", request.policy, why, hint="Set {earlier}.")
    from crypsis import releases  # loading it takes a second

    thresholds = request.policy.of("releases")
    sizes = sorted({threshold.k for threshold in thresholds if threshold.k is not None}) or [2]
    names = [set(release.names) for release in request.earlier]
    on = request.on if all(request.on in columns for columns in (request.data.names, *names)) else None
    outcome = QuestionOutcome()
    data, earlier = request.of_people.data, request.earlier_of_people
    for k in sizes:
        joint_risk = releases.joint_risk(data, earlier, k=k, on=on, row_maps=request.row_maps)
        outcome.results[f"joint_risk (k = {k})"] = joint_risk
        outcome.measured += [_small_classes(joint_risk), _small_differences(joint_risk)]
    outcome.measured += [_gain(joint_risk), _near_certain(joint_risk), _reused(joint_risk)]
    outcome.notes = [*map(_connection, joint_risk.connections), *joint_risk.not_known]
    outcome.headline = outcome.measured[0].statement
    return outcome


def _hint(joint_risk: Any) -> str:
    if any("undecided" in reason for reason in joint_risk.not_known):
        return _DECIDE
    renamed = any("other names" in reason for reason in joint_risk.not_known)
    return _RENAME if renamed else _CONNECT


def _affected(share: Number, records: int) -> int:
    return round(getattr(share, "low", float(share)) * records)


def _small_classes(joint_risk: Any) -> Measurement:
    share = joint_risk.small_classes
    text = (
        f"By {plural(joint_risk.releases, 'release')} together, {percent_text(share)} of the records "
        f"are found with a probability above 1/{joint_risk.k}."
    )
    return Measurement(
        _SMALL_CLASSES,
        share,
        text,
        (),
        _affected(share, joint_risk.records),
        k=joint_risk.k,
        lower_bound=bool(joint_risk.not_known),
        requested=True,
        hint=_hint(joint_risk),
    )


def _small_differences(joint_risk: Any) -> Measurement:
    changes = [connection.difference for connection in joint_risk.connections]
    if not all(change.same_people for change in changes):
        text = "Who was added or removed is not known: the releases may be of other people."
        return Measurement(_DIFFERENCES, None, text, k=joint_risk.k, requested=True, hint=_CONNECT)
    added, removed, changed = (
        sum(getattr(change, name) for change in changes) for name in ("added", "removed", "changed")
    )
    text = (
        f"{plural(added, 'record')} added, {removed:,} removed and {changed:,} changed since the "
        f"earlier releases; {joint_risk.small_differences:,} of them in classes smaller than {joint_risk.k}."
    )
    exact = all(change.exact for change in changes) and not joint_risk.not_known
    return Measurement(
        _DIFFERENCES,
        joint_risk.small_differences,
        text,
        (),
        joint_risk.small_differences,
        k=joint_risk.k,
        lower_bound=not exact,
        requested=True,
        hint=_hint(joint_risk),
    )


def _gain(joint_risk: Any) -> Measurement:
    if joint_risk.sensitive is None:
        return Measurement(_GAIN, None, "The data have no sensitive attribute.", applies=False)
    text = (
        f"The releases together give {percent_text(joint_risk.inference_gain)} more correct guesses of "
        f"{joint_risk.sensitive!r} than the best of them alone."
    )
    return Measurement(
        _GAIN,
        joint_risk.inference_gain,
        text,
        (joint_risk.sensitive,),
        _affected(joint_risk.inference_gain, joint_risk.records),
        lower_bound=bool(joint_risk.not_known),
        requested=True,
        hint=_hint(joint_risk),
    )


def _near_certain(joint_risk: Any) -> Measurement:
    if joint_risk.sensitive is None:
        return Measurement(_NEAR_CERTAIN, None, "The data have no sensitive attribute.", applies=False)
    share, records = joint_risk.near_certain, joint_risk.records
    count: Number = round(float(share) * records)
    if isinstance(share, Estimate):
        count = share.map(lambda near_certain_share: near_certain_share * records)
    text = (
        f"Of {percent_text(share)} of the records a sensitive value is near-certain by the releases "
        "together, and not by one of them."
    )
    return Measurement(
        _NEAR_CERTAIN,
        count,
        text,
        (joint_risk.sensitive,),
        _affected(share, records),
        lower_bound=bool(joint_risk.not_known),
        requested=True,
        hint=_hint(joint_risk),
    )


def _reused(joint_risk: Any) -> Measurement:
    names = joint_risk.reused
    verb = "connects" if len(names) == 1 else "connect"
    text = f"{plural(len(names), 'column')} {verb} the records of the releases."
    if names:
        text = f"{text[:-1]}: {listed(names)}. Pseudonyms of a new release are drawn anew."
    return Measurement(_REUSED, len(names), text, names, joint_risk.records if names else 0)


_WAYS = {
    "column": "by column {0}",
    "order": "by the order of the rows, which is the same",
    "key": "by the re-identification keys",
    "values": "by values that were not changed ({0})",
}


def _connection(connection: Any) -> str:
    columns = listed(connection.columns) if connection.columns else "none"
    way = _WAYS[connection.by].format(columns)
    return f"Earlier release {connection.release} is connected {way}."
