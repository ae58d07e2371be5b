"""What was not required of a release and is measured all the same, so that nobody assumes it."""

from __future__ import annotations

from pydantic import ConfigDict

from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.options import Role
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.results import Result
from crypsis.tables import Kind

MAX_COUNTED_ROWS = 5_000_000
"""Tables of more rows are not counted again for this."""


class NotRequired(Result):
    """Sensitive attributes without a requirement, and columns outside the equivalence classes."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    sensitive: tuple[str, ...] = ()
    """The sensitive attributes, if nothing is required of their values in the classes."""
    near_certain: int | None = None
    """Records in classes in which a rare value of one of them is near-certain; None: not measured."""
    columns: tuple[str, ...] = ()
    """Insensitive columns that are released as they are and that the owner did not sign off."""
    k: int | None = None
    """The smallest class of quasi-identifiers and these columns together; None: not measured."""
    below: int | None = None
    """Records in such classes that are smaller than the k required."""

    def lines(self, required: int | None) -> list[str]:
        """What was not required, in sentences."""
        lines = []
        if self.sensitive:
            disclosed = "What the classes disclose of them was not measured."
            if self.near_certain is not None:
                disclosed = (
                    f"{_counted(self.near_certain)} in classes in which a rare value of one of them "
                    "is near-certain."
                )
            lines.append(
                f"Nothing is required of the sensitive attributes ({_names(self.sensitive)}). {disclosed}"
            )
        if self.columns:
            which = f"{_names(self.columns)} {'is' if len(self.columns) == 1 else 'are'} not part "
            which += "of the equivalence classes. For an intruder who knows "
            which += "it: " if len(self.columns) == 1 else "them: "
            if self.k is None:
                lines.append(f"{which}not measured.")
            else:
                smaller = f"{_counted(self.below or 0)} in classes smaller than {required or 2:,}"
                lines.append(f"{which}{smaller} (k = {self.k:,}).")
        return lines


def not_required(
    release: Dataset,
    recoded: tuple[str, ...],
    required: PrivacyRequirements,
    people: Dataset | None = None,
    several: bool = False,
) -> NotRequired | None:
    """Measure what the requirements leave out; None if they leave nothing out.

    `people` are the same rows with the people of the original. Where these have `several` records
    and it is not known which, the values of people are not measured.
    """
    sensitive = () if required.about_sensitive else release.sensitive
    not_recoded = tuple(
        name
        for name in release.knowable
        if name not in (*recoded, *release.sensitive) and release.rows.column(name).kind is not Kind.NESTED
    )
    if not recoded or not (sensitive or not_recoded):
        return None
    near_certain = k = below = None
    if release.count and release.count <= MAX_COUNTED_ROWS:
        strict = release.strict()
        if sensitive and (people is not None or not several):
            near_certain = _near_certain(strict if people is None else people.strict(), recoded)
        if not_recoded:
            try:
                sizes = strict.cells([*recoded, *not_recoded]).counts
            except (InputError, TooLargeError):
                pass
            else:
                k, below = int(sizes.min()), int(sizes[sizes < (required.k or 2)].sum())
    return NotRequired(sensitive, near_certain, not_recoded, k, below)


def _near_certain(release: Dataset, recoded: tuple[str, ...]) -> int | None:
    from crypsis.inference import value_disclosure

    try:
        dataset = release.with_roles({**release.roles, **dict.fromkeys(recoded, Role.QUASI_IDENTIFIER)})
        disclosure = value_disclosure(dataset, baseline=False)
    except (InputError, TooLargeError):
        return None
    return max(attribute.near_certain for attribute in disclosure.attributes)


def _names(columns: tuple[str, ...]) -> str:
    shown = ", ".join(map(repr, columns[:5]))
    return shown if len(columns) <= 5 else f"{shown} and {len(columns) - 5} more"


def _counted(records: int) -> str:
    return "1 record is" if records == 1 else f"{records:,} records are"
