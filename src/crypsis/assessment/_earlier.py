"""The earlier releases that were given, and the ledger that lists them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crypsis.assessment._columns import describe_columns, undecided
from crypsis.assessment._request import Request
from crypsis.dataset import Data, Dataset, as_dataset
from crypsis.options import Role
from crypsis.policies.findings import Reason
from crypsis.report.wording import named, plural

if TYPE_CHECKING:
    from crypsis.releases import LedgerCheck


def with_ledger(
    ledger: str | Path | LedgerCheck | None, earlier: Sequence[Data], data: Data
) -> tuple[LedgerCheck | None, Sequence[Data]]:
    """What was found in the ledger, and its releases with those that were given one by one."""
    alone: Any = earlier
    if isinstance(alone, str | Path | Dataset) or hasattr(alone, "columns"):
        earlier = (alone,)
    if not isinstance(ledger, str | Path):
        return ledger, earlier
    from crypsis.releases import check_ledger  # loading it takes a second

    checked = check_ledger(ledger, data if isinstance(data, str | Path) else None)
    return checked, (*earlier, *checked.files)


def open_earlier(earlier: Sequence[Data], seed: int, accept_guesses: bool) -> tuple[Dataset, ...]:
    """The earlier releases; confident guesses of roles count only if they are accepted."""
    releases = tuple(as_dataset(release) for release in earlier)
    if not accept_guesses:
        return releases
    guessed = []
    for release in releases:
        columns = describe_columns(release, seed)
        left = set(undecided(columns, accepted=True))
        roles = {c.column: Role(c.role) for c in columns if c.column not in left}
        guessed.append(release.with_roles({**roles, **release.roles}))
    return tuple(guessed)


def about_earlier(request: Request) -> tuple[Reason, ...]:
    """What keeps a release from being called safe because of the ledger of releases."""
    ledger = request.ledger
    if ledger is None:
        return ()
    reasons = []
    for names, what in (
        (ledger.missing, "the file of which is missing"),
        (ledger.changed, "the file of which is not the one released"),
    ):
        if names:
            text = (
                f"The ledger has {plural(len(names), 'release')} {what}: {named(names)}. "
                "What is disclosed together with it is not known."
            )
            reasons.append(Reason("earlier-release", text, "Keep the files of all releases."))
    if ledger.reused:
        text = (
            "The seed or the key of the pseudonyms was used before, for "
            f"{named(ledger.reused)}: what is equal in both releases was masked alike."
        )
        reasons.append(Reason("reused-seed", text, "Make the release again with a new seed."))
    return tuple(reasons)
