"""What a release loses: information loss, suppressed records and values, links, associations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pydantic import ConfigDict

from crypsis.protection.recoding._levels import Recoding
from crypsis.results import Result, percent_text, without_control

STOPPED = "The search stopped at its time limit; with more time it may lose less"
_ASSOCIATION = "what connects it with the other columns"


class InformationLoss(Result):
    """What a release loses: information loss (NCP), suppressed records and values."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    records: int
    """The records of the original."""
    ncp: float | None = None
    """Normalized certainty penalty, 0 (none) to 1 (all), counted from the original cell by cell;
    suppressed records count in full."""
    suppressed_records: int = 0
    suppressed_values: int = 0
    records_with_suppressed_values: int = 0
    generalized_records: int = 0
    fully_generalized_columns: tuple[str, ...] = ()
    """Quasi-identifiers that are generalized fully, to the top of their hierarchy, in every record."""
    emptied_records: int = 0
    """Records that are released without any value of a quasi-identifier that others have."""
    dropped_records: int = 0
    """Records dropped so that nobody has more than the most that are released of a person."""
    links_kept: float | None = None
    """The share of the links between a person's records, from one to the next, that are left."""
    records_per_pseudonym: float | None = None
    """How many records share a pseudonym, on average."""
    changed_sensitive: Mapping[str, float] = field(default_factory=dict)
    """The information loss (NCP) of each sensitive attribute that was generalized or dropped."""
    preserved: Mapping[str, float] = field(default_factory=dict)
    """The share of the information that is left for each use that the release was aimed at."""
    records_per_person: float | None = None
    """How many records of the original are those of one person, on average."""
    apart: tuple[str, ...] = ()
    """Sensitive attributes that are released apart: their association with other columns is lost."""
    pairs_separated: int = 0
    """Pairs of columns of which one is released apart from the other: they cannot be tabulated."""
    pairs: int = 0
    """All pairs of columns that are released, where some are released apart."""
    search_stopped: bool = False
    """Whether the search ended at its time limit, with more to try that may lose less."""

    @property
    def released_records(self) -> int:
        """The records that are neither dropped nor suppressed."""
        return self.records - self.dropped_records - self.suppressed_records

    @property
    def withheld_share(self) -> float:
        """The share of records removed or suppressed as a whole, which the suppression limits."""
        return (self.suppressed_records + self.emptied_records) / max(1, self.records)

    @property
    def separation(self) -> str:
        """What is lost by releasing attributes apart, in words."""
        counted = f"{self.pairs_separated:,} of {self.pairs:,} pairs of columns"
        return f"{_ASSOCIATION} is lost: {counted}" if self.apart else ""

    def __str__(self) -> str:
        lines = [] if self.ncp is None else [f"Information loss (NCP): {percent_text(self.ncp)}"]
        share = percent_text(self.suppressed_records / max(1, self.records))
        lines += [
            f"Suppressed records: {self.suppressed_records:,} of {self.records:,} ({share})",
            f"Suppressed values: {self.suppressed_values:,}",
            f"Generalized records: {self.generalized_records:,}",
        ]
        if self.fully_generalized_columns:
            names = ", ".join(map(cell, self.fully_generalized_columns))
            lines.append(f"Fully generalized columns: {names}")
        if self.dropped_records:
            share = percent_text(self.dropped_records / max(1, self.records))
            lines.append(f"Records dropped of people with many: {self.dropped_records:,} ({share})")
        lines += [
            f"Sensitive attribute {cell(name)} changed, information loss (NCP): {percent_text(lost)}"
            for name, lost in self.changed_sensitive.items()
        ]
        if self.apart:
            names = ", ".join(map(cell, self.apart))
            lines.append(f"Released apart: {names} ({self.separation})")
        lines += [
            f"Information for {cell(use)} that is left: {percent_text(share)}"
            for use, share in self.preserved.items()
        ]
        if self.links_kept is not None:
            lines.append(
                f"Links between the records of a person: {percent_text(self.links_kept)} are left "
                f"({self.records_per_pseudonym:.2f} records of each pseudonym, "
                f"{self.records_per_person:.2f} of each person before, on average)"
            )
        if self.search_stopped:
            lines.append(STOPPED)
        return "\n".join(lines)


def information_loss(
    records: int, recoding: Recoding | None, of_columns: float | None = None
) -> InformationLoss:
    """The information loss of a recoding; of the columns alone if no rows were searched."""
    if recoding is None:
        return InformationLoss(records, of_columns, generalized_records=records * bool(of_columns))
    return InformationLoss(
        records,
        recoding.ncp,
        recoding.suppressed_records,
        recoding.suppressed_values,
        recoding.records_with_suppressed_values,
        recoding.generalized_records,
        recoding.fully_generalized_columns,
        recoding.emptied_records,
        preserved=recoding.preserved,
    )


def cell(text: str) -> str:
    """A text on one line, as it may stand in a table of the statement."""
    return " ".join(without_control(text).replace("|", "\\|").split())
