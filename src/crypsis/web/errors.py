"""Errors of the server, each with its HTTP status; messages never quote a data value."""

from __future__ import annotations

from crypsis.errors import CrypsisError


class RequestError(CrypsisError):
    """An error with an HTTP status, shown to whoever sent the request."""

    def __init__(self, message: str, status: int = 400, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status


class StoppedError(RequestError):
    """The job was cancelled."""

    def __init__(self, message: str = "The job was cancelled.") -> None:
        super().__init__(message, 409)


class ProcessEndedError(RequestError):
    """The process of a table ended."""

    def __init__(self) -> None:
        super().__init__(
            "The process of this table ended early; it may have run out of memory.",
            409,
            hint="Use fewer columns, or raise {job_memory}.",
        )


_STATUS = {
    "CancelledError": 409,
    "TooLargeError": 413,
    "Fault": 500,
    "MissingDependencyError": 409,
    "OutputError": 409,
}


def from_worker(body: dict[str, str]) -> RequestError:
    """The error that the process of a table reported."""
    if body["kind"] == "CancelledError":
        return StoppedError(body["message"])
    return RequestError(body["message"], _STATUS.get(body["kind"], 400))
