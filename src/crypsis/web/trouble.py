"""What can go wrong while serving, each with its status; messages never quote a data value."""

from __future__ import annotations

from crypsis.errors import CrypsisError


class Trouble(CrypsisError):  # noqa: N818 - reads as what it is: "raise Trouble(...)"
    """Something that is told to whoever asked."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Stopped(Trouble):
    """Someone stopped the work."""

    def __init__(self, message: str = "It was stopped on request.") -> None:
        super().__init__(message, 409)


class Ended(Trouble):
    """The process of a table is gone."""

    def __init__(self) -> None:
        super().__init__(
            "The work on this table ended early: it may have needed more memory than there is. "
            "Ask about fewer columns, or raise --job-memory.",
            409,
        )


_STATUS = {"Cancelled": 409, "TooLarge": 413, "Fault": 500, "MissingPart": 409, "OutputError": 409}


def from_worker(told: dict[str, str]) -> Trouble:
    """What a table's process told, as an error."""
    if told["kind"] == "Cancelled":
        return Stopped(told["message"])
    return Trouble(told["message"], _STATUS.get(told["kind"], 400))
