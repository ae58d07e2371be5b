"""The dossier of a release, and the package with everything that goes with it."""

from __future__ import annotations

from typing import Any

from crypsis import progress
from crypsis.assessment import make_dossier, write_package
from crypsis.errors import InputError
from crypsis.web.operations._assess import PHRASING
from crypsis.web.operations._session import TableSession


def package(session: TableSession, *, conditions: list[str], **about: Any) -> dict[str, Any]:
    """Write the dossier of the release that was made last, and the package."""
    if session.made is None:
        raise InputError("The release is not there any more.", hint="Make it again.")
    anonymized, assessment, name = session.made
    file = session.folder / name
    with session.engine, progress.step("writing the dossier", total=2) as step:
        dossier = make_dossier(
            assessment,
            anonymized.data,
            anonymized.original,
            file=file,
            conditions=conditions,
            phrasing=PHRASING,
            **about,
        )
        dossier.write(session.folder / "dossier.html", overwrite=True)
        step.advance()
        manifest = write_package(session.folder / "release.zip", file, dossier, overwrite=True)
        step.advance()
    return {
        "about": about,
        "conditions": conditions,
        "files": len(manifest.files),
        "explanation": assessment.explanation,
    }
